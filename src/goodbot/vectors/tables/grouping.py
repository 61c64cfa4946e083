"""RFC 9309 2.1 to 2.2.4: lines, records and groups. Each row is about /x and the robot `me`."""

from collections.abc import Iterator
from typing import Final

from goodbot.vectors.case import About, Case, Kind, case, expect

_ENDS_A_NAME = ",;*+!:(/.é\t"

Row = tuple[str, str, bool, About, Kind]
"""Name, robots.txt, whether it allows /x, subject, kind."""

GROUPING: Final[tuple[Row, ...]] = (
    ("a blank line ends no group", "User-agent: me\n\n\nDisallow: /x", False, "groups", "must"),
    ("a comment line ends no group", "User-agent: me\n# note\nDisallow: /x", False, "groups", "must"),
    ("two names share a group", "User-agent: you\nUser-agent: me\nDisallow: /x", False, "groups", "must"),
    ("a rule ends the names", "User-agent: me\nAllow: /\nUser-agent: you\nDisallow: /x", True, "groups", "must"),
    (
        "an empty rule ends them too",
        "User-agent: me\nDisallow:\nUser-agent: you\nDisallow: /x",
        True,
        "groups",
        "choice",
    ),
    *(
        (f"{line.partition(':')[0]} between two names", f"User-agent: me\n{line}\nUser-agent: you\nDisallow: /x", False,
         "other", "must")
        for line in ("Sitemap: https://h/s", "Crawl-delay: 1", "Foo: 1", "Content-Signal: a")
    ),
    (
        "Content-Usage ends the names",
        "User-agent: me\nContent-Usage: a=n\nUser-agent: you\nDisallow: /x",
        True,
        "other",
        "choice",
    ),
    (
        "a line without a colon ends no group",
        "User-agent: me\nfoo\nUser-agent: you\nDisallow: /x",
        False,
        "errors",
        "must",
    ),
    ("a rule before the first group", "Disallow: /x\nUser-agent: me\nDisallow: /y", True, "groups", "reading"),
    ("own groups add up", "User-agent: me\nDisallow: /x\n\nUser-agent: me\nDisallow: /y", False, "names", "must"),
    ("own groups add up, last", "User-agent: me\nDisallow: /y\n\nUser-agent: me\nDisallow: /x", False, "names", "must"),
    ("own group instead of *", "User-agent: *\nDisallow: /x\nUser-agent: me\nDisallow: /y", True, "names", "must"),
    ("own group without rules instead of *", "User-agent: *\nDisallow: /x\nUser-agent: me", True, "names", "must"),
    ("else *", "User-agent: you\nDisallow: /y\nUser-agent: *\nDisallow: /x", False, "names", "must"),
    ("all groups of *", "User-agent: *\nDisallow: /y\nUser-agent: *\nDisallow: /x", False, "names", "reading"),
    ("else no rules", "User-agent: you\nDisallow: /x", True, "names", "must"),
    ("case of the token", "User-agent: ME\nDisallow: /x", False, "names", "must"),
    (
        "the whole token, not a part",
        "User-agent: m\nDisallow: /x\nUser-agent: meme\nDisallow: /x",
        True,
        "names",
        "must",
    ),
    ("version in the file", "User-agent: me/2.0\nDisallow: /x", False, "names", "reading"),
    ("space in the file", "User-agent: me and you\nDisallow: /x", False, "names", "reading"),
    ("* followed by a name", "User-agent: * me\nDisallow: /x", True, "names", "choice"),
    ("* before a name", "User-agent: *me\nDisallow: /x", True, "names", "choice"),
    ("a list names its first", "User-agent: me, you\nDisallow: /x", False, "names", "reading"),
    ("a list does not name its second", "User-agent: you, me\nDisallow: /x", True, "names", "reading"),
    *(
        (f"{sign!a} ends a name", f"User-agent: me{sign}\nDisallow: /x", False, "names",
         "must" if sign == "\t" else "reading")
        for sign in _ENDS_A_NAME
    ),
    ("a dot inside a name ends nothing", "User-agent: me.you\nDisallow: /x", True, "names", "choice"),
    ("a group without a name", "User-agent:\nDisallow: /x", True, "names", "reading"),
    ("named twice", "User-agent: me\nUser-agent: Me\nDisallow: /x", False, "names", "must"),
    ("case of fields", "uSER-aGENT: me\ndISALLOW: /x", False, "lines", "must"),
    ("spaces", " \tUser-agent \t: \tme\t \n \tDisallow\t:\t /x \t", False, "lines", "must"),
    ("no spaces", "User-agent:me\nDisallow:/x", False, "lines", "must"),
    ("comments at the end", "User-agent: me#you\nDisallow: /x#y", False, "special", "must"),
    ("comment before the colon", "User-agent: me\nDisallow#: /x", True, "special", "must"),
    ("CR", "User-agent: me\rDisallow: /x\r", False, "lines", "must"),
    ("CRLF", "User-agent: me\r\nDisallow: /x\r\n", False, "lines", "must"),
    ("LF CR mixed", "User-agent: me\n\rDisallow: /x", False, "lines", "must"),
    ("byte order mark", "\ufeffUser-agent: me\nDisallow: /x", False, "errors", "choice"),
    ("U+2028 is no line end", "User-agent: me\nAllow: /\u2028Disallow: /x", True, "lines", "must"),
    (
        "VT and FF are no line ends",
        "User-agent: me\nAllow: /\x0bDisallow: /x\x0cDisallow: /x",
        True,
        "lines",
        "reading",
    ),
    ("HTML around the lines", "<html>\nUser-agent: me\n<p>\nDisallow: /x\n</html>", False, "errors", "must"),
)  # fmt: skip


def grouping_cases() -> Iterator[Case]:
    """Yields every row for RFC 9309."""
    for name, text, allowed, about, kind in GROUPING:
        yield case("group", text, "/x", expect(about, allowed, ("rfc9309",), kind), name, agent="me")
