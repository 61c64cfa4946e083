"""Where the dialects differ, one row for each thing that a text says: lines, records, names, rules, escapes.

The rows on Google's dialect follow its parser (robots.cc, April 2026)."""

from collections.abc import Iterator
from typing import Final

from goodbot.vectors.case import ALL, HISTORIC, TODAY, About, Case, Kind, case, expect

Row = tuple[str, str, str | bytes, str, str, bool]
"""Dialect, name, robots.txt, robot, path or URL, whether it is allowed."""

_INDEX_ONLY = "User-agent: *\nRobot-version: 2.0.0\nAllow: */index.html\n"

GOOGLE_LINES: Final[tuple[Row, ...]] = (
    ("google", "two words without a colon", "User-agent me\nDisallow /x", "me", "/x", False),
    ("google", "two words with spaces and tabs between them", "User-agent\t me\nDisallow \t/x", "me", "/x", False),
    ("google", "three words are no record", "User-agent: me\nDisallow /x y", "me", "/x", True),
    ("google", "one word is no record", "User-agent: me\nDisallow\nDisallow: /x", "me", "/x", False),
    ("google", "misspelt: dissallow", "User-agent: me\nDissallow: /x", "me", "/x", False),
    ("google", "misspelt: dissalow", "User-agent: me\nDissalow: /x", "me", "/x", False),
    ("google", "misspelt: disalow", "User-agent: me\nDisalow: /x", "me", "/x", False),
    ("google", "misspelt: diasllow", "User-agent: me\nDiasllow: /x", "me", "/x", False),
    ("google", "misspelt: disallaw", "User-agent: me\nDisallaw: /x", "me", "/x", False),
    ("google", "misspelt: useragent", "Useragent: me\nDisallow: /x", "me", "/x", False),
    ("google", "misspelt: user agent", "User agent: me\nDisallow: /x", "me", "/x", False),
    ("google", "a field by how it begins", "User-agents: me\nDisallowed: /x", "me", "/x", False),
    ("google", "a field is not recognized by how it ends", "User-agent: me\nNoDisallow: /x", "me", "/x", True),
    ("google", "NUL ends a line", "User-agent: me\nDisallow: /x\0y", "me", "/x", False),
    ("google", "NUL before the field", "User-agent: me\n\0Disallow: /x", "me", "/x", True),
    ("google", "all spaces of ASCII", "\v\fUser-agent\v:\fme\v\n\vDisallow\f: /x\f", "me", "/x", False),
    ("google", "a no-break space is no space", "\u00a0User-agent: me\nDisallow: /x", "me", "/x", True),
    (
        "google",
        "16,663 octets of a line",
        f"User-agent: me\nDisallow: /{'x' * 16_652}y",
        "me",
        "/" + "x" * 16_652,
        False,
    ),
    (
        "google",
        "a line of 16,662 octets",
        f"User-agent: me\nDisallow: /{'x' * 16_651}y",
        "me",
        "/" + "x" * 16_652,
        True,
    ),
    (
        "google",
        "16,663 octets, not characters",
        f"User-agent: me\nDisallow: /{'é' * 8_326}y",
        "me",
        "/" + "%C3%A9" * 8_326,
        False,
    ),
    ("google", "UTF-16 is not decoded", "\ufeffUser-agent: *\nDisallow: /x".encode("utf-16-le"), "me", "/x", True),
    ("google", "a byte order mark", b"\xef\xbb\xbfUser-agent: *\nDisallow: /x", "me", "/x", False),
    ("google", "two octets of a byte order mark", b"\xef\xbbUser-agent: *\nDisallow: /x", "me", "/x", False),
    ("google", "one octet of a byte order mark", b"\xefUser-agent: *\nDisallow: /x", "me", "/x", False),
    ("google", "the last octet of a byte order mark alone", b"\xbbUser-agent: *\nDisallow: /x", "me", "/x", True),
)

GOOGLE_NAMES: Final[tuple[Row, ...]] = (
    (
        "google",
        "Sitemap splits no group",
        "User-agent: me\nSitemap: s\nUser-agent: you\nDisallow: /x",
        "me",
        "/x",
        False,
    ),
    ("google", "* and a space", "User-agent: * all\nDisallow: /x", "me", "/x", False),
    ("google", "* and a letter", "User-agent: *x\nDisallow: /x", "me", "/x", True),
    ("google", "the file's token is cut", "User-agent: me2\nDisallow: /x", "me", "/x", False),
    ("google", "the robot's token is cut too", "User-agent: me\nDisallow: /x", "me2/1.0", "/x", False),
    ("google", "nothing is left of the token", "User-agent: 2me\nDisallow: /x", "2me", "/x", True),
    ("google", "groups add up", "User-agent: me\nDisallow: /y\nUser-agent: me\nDisallow: /x", "me", "/x", False),
    ("google", "own group without rules", "User-agent: *\nDisallow: /\nUser-agent: me", "me", "/x", True),
)

GOOGLE_RULES: Final[tuple[Row, ...]] = (
    ("google", "index.htm allows its directory", "User-agent: *\nAllow: /a/index.html\nDisallow: /", "me", "/a/", True),
    (
        "google",
        "index.htm allows its directory and nothing in it",
        "User-agent: *\nAllow: /a/index.html\nDisallow: /",
        "me",
        "/a/b",
        False,
    ),
    (
        "google",
        "any name that begins with index.htm",
        "User-agent: *\nAllow: /a/index.htmlx\nDisallow: /",
        "me",
        "/a/",
        True,
    ),
    (
        "google",
        "the directory counts its own octets",
        "User-agent: *\nAllow: /a/index.html\nDisallow: /a/*$",
        "me",
        "/a/",
        False,
    ),
    ("google", "index.htm in a Disallow", "User-agent: *\nDisallow: /a/index.html", "me", "/a/", True),
    ("google", "Index.htm in another case", "User-agent: *\nAllow: /a/Index.html\nDisallow: /", "me", "/a/", False),
    ("google", "index.htm after a wildcard", "User-agent: *\nAllow: /*/index.html\nDisallow: /", "me", "/b/", True),
    ("google", "the pattern is not decoded", "User-agent: *\nDisallow: /%61", "me", "/a", True),
    (
        "google",
        "hexadecimal digits of the pattern become upper case",
        "User-agent: *\nDisallow: /%c3%a9",
        "me",
        "/%C3%A9",
        False,
    ),
    (
        "google",
        "hexadecimal digits of the URL stay as they are",
        "User-agent: *\nDisallow: /%c3%a9",
        "me",
        "/%c3%a9",
        True,
    ),
    ("google", "octets beyond ASCII", "User-agent: *\nDisallow: /é", "me", "/%C3%A9", False),
    ("google", "octets that are not UTF-8", b"User-agent: *\nDisallow: /\xe9", "me", "/%E9", False),
    ("google", "a path may begin with ;", "User-agent: *\nDisallow: /;", "me", "http://h;x", False),
    ("google", "a URL without a path", "User-agent: *\nDisallow: /$", "me", "http://h", False),
    ("google", "a fragment before the path", "User-agent: *\nDisallow: /$", "me", "http://h#/x", False),
    ("google", ":// after the path", "User-agent: *\nDisallow: /r?u=http://", "me", "/r?u=http://h/", False),
    ("google", "equal: Allow", "User-agent: *\nDisallow: /x\nAllow: /x", "me", "/x", True),
)

RECORDS: Final[tuple[Row, ...]] = (
    *(
        (dialect, "a blank line ends a record", "User-agent: me\n\nDisallow: /x", "me", "/x", True)
        for dialect in HISTORIC
    ),
    *(
        (dialect, "a line of spaces is a blank line", "User-agent: me\n \t\nDisallow: /x", "me", "/x", True)
        for dialect in HISTORIC
    ),
    *(
        (dialect, "a comment line is no blank line", "User-agent: me\n # a\nDisallow: /x", "me", "/x", False)
        for dialect in HISTORIC
    ),
    *(
        (dialect, "other text is no blank line", "User-agent: me\nhello\nDisallow: /x", "me", "/x", False)
        for dialect in HISTORIC
    ),
    *(
        (
            dialect,
            "User-agent after a rule",
            "User-agent: a\nDisallow: /\nUser-agent: me\nDisallow: /x",
            "me",
            "/y",
            True,
        )
        for dialect in HISTORIC
    ),
    *(
        (dialect, "without a rule it is no record", "User-agent: me\n\nUser-agent: *\nDisallow: /", "me", "/", False)
        for dialect in HISTORIC
    ),
    *(
        (
            dialect,
            "the first record counts",
            "User-agent: me\nDisallow: /y\n\nUser-agent: me\nDisallow: /x",
            "me",
            "/x",
            True,
        )
        for dialect in HISTORIC
    ),
    *(
        (
            dialect,
            "the own record, wherever * stands",
            "User-agent: *\nDisallow: /\n\nUser-agent: me\nDisallow: /x",
            "me",
            "/y",
            True,
        )
        for dialect in HISTORIC
    ),
    *(
        (
            dialect,
            "the first record of *",
            "User-agent: *\nDisallow: /x\n\nUser-agent: *\nDisallow: /y",
            "me",
            "/y",
            True,
        )
        for dialect in HISTORIC
    ),
    *((dialect, "CR alone", "User-agent: me\rDisallow: /x\r", "me", "/x", False) for dialect in HISTORIC),
    ("1994", "unknown fields are ignored", "User-agent: me\nFoo: 1\nUser-agent: you\nDisallow: /x", "me", "/x", False),
    (
        "kollar",
        "unknown fields are ignored",
        "User-agent: me\nFoo: 1\nUser-agent: you\nDisallow: /x",
        "me",
        "/x",
        False,
    ),
    (
        "1994",
        "Allow is an unknown field",
        "User-agent: me\nAllow: /x\nUser-agent: you\nDisallow: /x",
        "me",
        "/x",
        False,
    ),
    (
        "1996",
        "unknown fields are rule lines",
        "User-agent: me\nFoo: 1\nUser-agent: you\nDisallow: /x",
        "me",
        "/x",
        True,
    ),
    (
        "1996",
        "a line of an unknown field makes a record",
        "User-agent: me\nFoo: 1\n\nUser-agent: *\nDisallow: /",
        "me",
        "/",
        True,
    ),
)

NAMES: Final[tuple[Row, ...]] = (
    ("1994", "the file's name in ours", "User-agent: bot\nDisallow: /", "Robot/1.0", "/", False),
    ("1994", "not ours in the file's", "User-agent: robots\nDisallow: /", "Robot", "/", True),
    ("1994", "the name in the whole User-Agent", "User-agent: libwww\nDisallow: /", "Me/1.0 libwww/3.1", "/", False),
    ("1994", "without the version", "User-agent: me/2.0\nDisallow: /", "Me/1.0", "/", False),
    ("1994", "versions are no name", "User-agent: 1.0\nDisallow: /", "Me/1.0", "/", True),
    ("1994", "one name on a line", "User-agent: me you\nDisallow: /", "me", "/", True),
    ("kollar", "several names on a line", "User-agent: you\tme  he\nDisallow: /", "me", "/", False),
    ("kollar", "a part of ours", "User-agent: Rex\nDisallow: /", "Lycos_Spider_(Rex)/1.0 libwww/3.1", "/", False),
    ("kollar", "* among several names", "User-agent: you *\nDisallow: /", "me", "/", False),
    ("1996", "our name in the file's", "User-agent: robots of all kinds\nDisallow: /", "Robot/1.0", "/", False),
    ("1996", "not the file's in ours", "User-agent: bot\nDisallow: /", "Robot/1.0", "/", True),
    ("1996", "our token only", "User-agent: libwww\nDisallow: /", "Me/1.0 libwww/3.1", "/", True),
    ("conner", "the robot's name in the file's", "User-agent: robots\nDisallow: /", "Robot/1.0", "/", False),
    ("book", "the file's name in ours", "User-agent: bot\nDisallow: /", "Robot/1.0", "/", False),
    *((dialect, "an empty name", "User-agent:\nDisallow: /", "me", "/", True) for dialect in HISTORIC),
    *((dialect, "* with a version", "User-agent: */1\nDisallow: /", "me", "/", True) for dialect in HISTORIC),
)

RULES: Final[tuple[Row, ...]] = (
    ("1994", "any Disallow", "User-agent: *\nDisallow: /y\nDisallow: /x", "me", "/x", False),
    ("1994", "no Allow", "User-agent: *\nAllow: /x\nDisallow: /", "me", "/x", False),
    ("kollar", "several paths on a line", "User-agent: *\nDisallow: /y\t/x", "me", "/x", False),
    ("1994", "one path on a line", "User-agent: *\nDisallow: /y /x", "me", "/x", True),
    ("1996", "the first that matches", "User-agent: *\nAllow: /\nDisallow: /x", "me", "/x", True),
    ("1996", "the first, not the longest", "User-agent: *\nDisallow: /\nAllow: /x", "me", "/x", False),
    ("book", "the first that matches", "User-agent: *\nDisallow: /\nAllow: /x", "me", "/x", False),
    *((dialect, "no wildcards", "User-agent: *\nDisallow: /*x", "me", "/ax", True) for dialect in HISTORIC),
    *(
        (dialect, "* is an ordinary character", "User-agent: *\nDisallow: /*x", "me", "/*xy", False)
        for dialect in HISTORIC
    ),
    *(
        (dialect, "$ is an ordinary character", "User-agent: *\nDisallow: /x$", "me", "/x$y", False)
        for dialect in HISTORIC
    ),
    *((dialect, "case counts", "User-agent: *\nDisallow: /X", "me", "/x", True) for dialect in HISTORIC),
    *((dialect, "? may be in a path", "User-agent: *\nDisallow: /x?a", "me", "/x?ab", False) for dialect in HISTORIC),
    *((d, "empty Disallow", "User-agent: *\nDisallow:", "me", "/", True) for d in ALL if d != "book"),
    *((d, "an empty Disallow opens nothing", "User-agent: *\nDisallow:\nDisallow: /x", "me", "/x", False) for d in ALL),
    *(
        (d, "an empty Allow opens nothing", "User-agent: *\nAllow:\nDisallow: /", "me", "/", False)
        for d in ALL
        if d != "book"
    ),
    ("book", "empty Disallow matches everything", "User-agent: *\nDisallow:", "me", "/", False),
    ("book", "an empty Disallow counts in its place", "User-agent: *\nAllow: /x\nDisallow:", "me", "/x", True),
    ("book", "an empty Allow matches everything", "User-agent: *\nAllow:\nDisallow: /", "me", "/", True),
)

CONNER: Final[tuple[Row, ...]] = (
    ("conner", "version 2: exact", "User-agent: *\nRobot-version: 2.0\nDisallow: /x", "me", "/xy", True),
    ("conner", "version 2.0.0", "User-agent: *\nRobot-version: 2.0.0\nDisallow: /x", "me", "/xy", True),
    ("conner", "version 1: prefix", "User-agent: *\nRobot-version: 1.0\nDisallow: /x", "me", "/xy", False),
    ("conner", "no version: prefix", "User-agent: *\nDisallow: /x", "me", "/xy", False),
    ("conner", "a later version", "User-agent: *\nDisallow: /x\nRobot-version: 2.0", "me", "/xy", False),
    (
        "conner",
        "a pattern matches the whole path",
        "User-agent: *\nRobot-version: 2.0\nDisallow: *.gif",
        "me",
        "/a.gif?x",
        True,
    ),
    (
        "conner",
        "an exact path before a longer pattern",
        "User-agent: *\nRobot-version: 2.0\nAllow: /x\nDisallow: /*******",
        "me",
        "/x",
        True,
    ),
    (
        "conner",
        "the longest pattern",
        "User-agent: *\nRobot-version: 2.0\nDisallow: /x*\nAllow: /xy*",
        "me",
        "/xyz",
        True,
    ),
    (
        "conner",
        "equal length: Disallow",
        "User-agent: *\nRobot-version: 2.0\nAllow: /x*\nDisallow: /*x",
        "me",
        "/xx",
        False,
    ),
    ("conner", "the mail of 1996: what is allowed", _INDEX_ONLY, "me", "/a/index.html", True),
    ("conner", "the mail of 1996: all else", _INDEX_ONLY, "me", "/a/b.html", False),
    ("conner", "the mail of 1996: to others", _INDEX_ONLY.replace("*", "you", 1), "me", "/a/b.html", True),
    ("conner", "Allow and an empty Disallow", _INDEX_ONLY + "Disallow:", "me", "/a/b.html", True),
    ("conner", "Allow and a Disallow", _INDEX_ONLY + "Disallow: *.gif", "me", "/a/b.html", True),
    ("conner", "an empty Allow", "User-agent: *\nRobot-version: 2.0\nAllow:", "me", "/a", True),
    ("conner", "version 1: Allow only", "User-agent: *\nAllow: /a", "me", "/b", True),
    ("conner", "version 1: first match", "User-agent: *\nDisallow: /\nAllow: /x", "me", "/x", False),
)

ESCAPES: Final[tuple[Row, ...]] = (
    ("1996", "decoded on both sides", "User-agent: *\nDisallow: /%c3%a9%3F", "me", "/é?", False),
    ("1996", "%25 is a percent sign", "User-agent: *\nDisallow: /%2541", "me", "/A", True),
    ("1996", "%252F is no encoded slash", "User-agent: *\nDisallow: /a%252Fb", "me", "/a%2Fb", True),
    ("1996", "a broken encoding stays", "User-agent: *\nDisallow: /a%2", "me", "/a%2Fb", True),
    ("1996", "a broken encoding matches itself", "User-agent: *\nDisallow: /a%zz", "me", "/a%zzb", False),
    *(
        (d, "nothing is decoded", "User-agent: *\nDisallow: /%61", "me", "/a", True)
        for d in ("1994", "kollar", "conner")
    ),
)

ITSELF: Final[tuple[Row, ...]] = (
    *((d, "robots.txt itself", "User-agent: *\nDisallow: /", "me", "/robots.txt", d != "google") for d in ALL),
)

BLOCKS: Final[tuple[tuple[About, tuple[Row, ...]], ...]] = (
    ("lines", GOOGLE_LINES),
    ("names", GOOGLE_NAMES),
    ("rules", GOOGLE_RULES),
    ("groups", RECORDS),
    ("names", NAMES),
    ("rules", RULES),
    ("rules", CONNER),
    ("rules", ESCAPES),
    ("rules", ITSELF),
)

_CHOICES: Final = frozenset({
    "empty Disallow", "an empty Disallow opens nothing", "an empty Allow opens nothing",
})  # fmt: skip
"""Rows that RFC 9309 does not mention."""

_READINGS: Final = frozenset({
    "a line of spaces is a blank line", "User-agent after a rule", "without a rule it is no record",
    "the first record of *", "the first record counts", "the name in the whole User-Agent", "* with a version",
    "an empty name", "nothing is decoded", "an empty Disallow opens nothing", "an empty Allow opens nothing",
    "%252F is no encoded slash", "a broken encoding stays", "a broken encoding matches itself",
    "* is an ordinary character", "$ is an ordinary character", "without the version",
})  # fmt: skip
"""Rows of the historic texts that can be read in several ways."""

_READINGS_OF_ONE: Final = frozenset({
    ("1994", "the file's name in ours"), ("1994", "not ours in the file's"), ("1994", "one name on a line"),
    ("1994", "robots.txt itself"), ("kollar", "robots.txt itself"), ("1996", "unknown fields are rule lines"),
})  # fmt: skip
"""Dialect and row: what only these texts leave open. The text of 1994 recommends a substring match, but does not say
which of the two names is the substring. Neither it nor Kollar's mentions robots.txt itself. By the draft's grammar a
line of an unknown field is a rule line; it does not say what a User-agent line after one begins."""


def dialect_cases() -> Iterator[Case]:
    """Yields every row."""
    for about, rows in BLOCKS:
        for dialect, name, text, robot, path, allowed in rows:
            expected = expect(about, allowed, (dialect,), _kind(dialect, name))
            yield case("dialect", text, path, expected, name, agent=robot)


def _kind(dialect: str, name: str) -> Kind:
    if dialect in TODAY:
        return "choice" if name in _CHOICES else "must"
    return "reading" if name in _READINGS or (dialect, name) in _READINGS_OF_ONE else "must"
