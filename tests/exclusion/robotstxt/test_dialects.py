"""Where the dialects differ, one row for each thing a text says: lines, records, names, rules, escapes."""

import pytest

from goodbot.errors import InputError
from goodbot.exclusion import DIALECTS, Access, RobotsTxt, find_dialect

HISTORIC = ("1996", "book", "1994", "kollar", "conner")

INDEX_ONLY = "User-agent: *\nRobot-version: 2.0.0\nAllow: */index.html\n"

CASES = [
    # dialect, name, text, robot, path, allowed
    # ---- google: lines (robots.cc, April 2026)
    ("google", "two words without a colon", "User-agent me\nDisallow /x", "me", "/x", False),
    ("google", "blanks and tabs between them", "User-agent\t me\nDisallow \t/x", "me", "/x", False),
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
    ("google", "not by how it ends", "User-agent: me\nNoDisallow: /x", "me", "/x", True),
    ("google", "NUL ends a line", "User-agent: me\nDisallow: /x\0y", "me", "/x", False),
    ("google", "NUL before the field", "User-agent: me\n\0Disallow: /x", "me", "/x", True),
    ("google", "all blanks of ASCII", "\v\fUser-agent\v:\fme\v\n\vDisallow\f: /x\f", "me", "/x", False),
    ("google", "a no-break space is none", "\u00a0User-agent: me\nDisallow: /x", "me", "/x", True),
    (
        "google",
        "16,663 octets of a line",
        f"User-agent: me\nDisallow: /{'x' * 16_652}y",
        "me",
        "/" + "x" * 16_652,
        False,
    ),
    ("google", "all of them", f"User-agent: me\nDisallow: /{'x' * 16_651}y", "me", "/" + "x" * 16_652, True),
    ("google", "octets, not signs", f"User-agent: me\nDisallow: /{'é' * 8_326}y", "me", "/" + "%C3%A9" * 8_326, False),
    ("google", "UTF-16 is not bridged", "\ufeffUser-agent: *\nDisallow: /x".encode("utf-16"), "me", "/x", True),
    ("google", "a byte order mark", b"\xef\xbb\xbfUser-agent: *\nDisallow: /x", "me", "/x", False),
    ("google", "two octets of one", b"\xef\xbbUser-agent: *\nDisallow: /x", "me", "/x", False),
    ("google", "one octet of one", b"\xefUser-agent: *\nDisallow: /x", "me", "/x", False),
    ("google", "other octets are not skipped", b"\xbbUser-agent: *\nDisallow: /x", "me", "/x", True),
    # ---- google: groups and names
    (
        "google",
        "Sitemap splits no group",
        "User-agent: me\nSitemap: s\nUser-agent: you\nDisallow: /x",
        "me",
        "/x",
        False,
    ),
    ("google", "* and a blank", "User-agent: * all\nDisallow: /x", "me", "/x", False),
    ("google", "* and a letter", "User-agent: *x\nDisallow: /x", "me", "/x", True),
    ("google", "the file's token is cut", "User-agent: me2\nDisallow: /x", "me", "/x", False),
    ("google", "and ours", "User-agent: me\nDisallow: /x", "me2/1.0", "/x", False),
    ("google", "nothing is left of it", "User-agent: 2me\nDisallow: /x", "2me", "/x", True),
    ("google", "groups add up", "User-agent: me\nDisallow: /y\nUser-agent: me\nDisallow: /x", "me", "/x", False),
    ("google", "own group without rules", "User-agent: *\nDisallow: /\nUser-agent: me", "me", "/x", True),
    # ---- google: rules
    ("google", "index.htm allows its directory", "User-agent: *\nAllow: /a/index.html\nDisallow: /", "me", "/a/", True),
    ("google", "exactly that", "User-agent: *\nAllow: /a/index.html\nDisallow: /", "me", "/a/b", False),
    ("google", "any index.htm…", "User-agent: *\nAllow: /a/index.htmlx\nDisallow: /", "me", "/a/", True),
    ("google", "with its own octets", "User-agent: *\nAllow: /a/index.html\nDisallow: /a/*$", "me", "/a/", False),
    ("google", "not for Disallow", "User-agent: *\nDisallow: /a/index.html", "me", "/a/", True),
    ("google", "not in another case", "User-agent: *\nAllow: /a/Index.html\nDisallow: /", "me", "/a/", False),
    ("google", "with a wildcard", "User-agent: *\nAllow: /*/index.html\nDisallow: /", "me", "/b/", True),
    ("google", "the pattern is not decoded", "User-agent: *\nDisallow: /%61", "me", "/a", True),
    ("google", "hexadecimal in upper case", "User-agent: *\nDisallow: /%c3%a9", "me", "/%C3%A9", False),
    ("google", "the URL is as it is", "User-agent: *\nDisallow: /%c3%a9", "me", "/%c3%a9", True),
    ("google", "octets beyond ASCII", "User-agent: *\nDisallow: /é", "me", "/%C3%A9", False),
    ("google", "octets that are no UTF-8", b"User-agent: *\nDisallow: /\xe9", "me", "/%E9", False),
    ("google", "a path may begin with ;", "User-agent: *\nDisallow: /;", "me", "http://h;x", False),
    ("google", "a URL without a path", "User-agent: *\nDisallow: /$", "me", "http://h", False),
    ("google", "a fragment before it", "User-agent: *\nDisallow: /$", "me", "http://h#/x", False),
    ("google", ":// behind the path", "User-agent: *\nDisallow: /r?u=http://", "me", "/r?u=http://h/", False),
    ("google", "equal: Allow", "User-agent: *\nDisallow: /x\nAllow: /x", "me", "/x", True),
    # ---- records
    *((dialect, "a blank line ends it", "User-agent: me\n\nDisallow: /x", "me", "/x", True) for dialect in HISTORIC),
    *(
        (dialect, "blanks are a blank line", "User-agent: me\n \t\nDisallow: /x", "me", "/x", True)
        for dialect in HISTORIC
    ),
    *((dialect, "a comment is none", "User-agent: me\n # a\nDisallow: /x", "me", "/x", False) for dialect in HISTORIC),
    *((dialect, "nor is other text", "User-agent: me\nhello\nDisallow: /x", "me", "/x", False) for dialect in HISTORIC),
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
        (dialect, "wherever * stands", "User-agent: *\nDisallow: /\n\nUser-agent: me\nDisallow: /x", "me", "/y", True)
        for dialect in HISTORIC
    ),
    *(
        (dialect, "the first *", "User-agent: *\nDisallow: /x\n\nUser-agent: *\nDisallow: /y", "me", "/y", True)
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
    ("1994", "Allow is one", "User-agent: me\nAllow: /x\nUser-agent: you\nDisallow: /x", "me", "/x", False),
    (
        "1996",
        "unknown fields are rule lines",
        "User-agent: me\nFoo: 1\nUser-agent: you\nDisallow: /x",
        "me",
        "/x",
        True,
    ),
    ("1996", "and make a record", "User-agent: me\nFoo: 1\n\nUser-agent: *\nDisallow: /", "me", "/", True),
    # ---- names
    ("1994", "the file's name in ours", "User-agent: bot\nDisallow: /", "Robot/1.0", "/", False),
    ("1994", "not ours in the file's", "User-agent: robots\nDisallow: /", "Robot", "/", True),
    ("1994", "in the whole value", "User-agent: libwww\nDisallow: /", "Me/1.0 libwww/3.1", "/", False),
    ("1994", "without version", "User-agent: me/2.0\nDisallow: /", "Me/1.0", "/", False),
    ("1994", "versions are no name", "User-agent: 1.0\nDisallow: /", "Me/1.0", "/", True),
    ("1994", "one name on a line", "User-agent: me you\nDisallow: /", "me", "/", True),
    ("kollar", "several names on a line", "User-agent: you\tme  he\nDisallow: /", "me", "/", False),
    ("kollar", "a part of ours", "User-agent: Rex\nDisallow: /", "Lycos_Spider_(Rex)/1.0 libwww/3.1", "/", False),
    ("kollar", "* among them", "User-agent: you *\nDisallow: /", "me", "/", False),
    ("1996", "our name in the file's", "User-agent: robots of all kinds\nDisallow: /", "Robot/1.0", "/", False),
    ("1996", "not the file's in ours", "User-agent: bot\nDisallow: /", "Robot/1.0", "/", True),
    ("1996", "our token only", "User-agent: libwww\nDisallow: /", "Me/1.0 libwww/3.1", "/", True),
    ("conner", "as 1996", "User-agent: robots\nDisallow: /", "Robot/1.0", "/", False),
    ("book", "the file's name in ours", "User-agent: bot\nDisallow: /", "Robot/1.0", "/", False),
    *((dialect, "a name of nothing", "User-agent:\nDisallow: /", "me", "/", True) for dialect in HISTORIC),
    *((dialect, "* with a version", "User-agent: */1\nDisallow: /", "me", "/", True) for dialect in HISTORIC),
    # ---- rules
    ("1994", "any Disallow", "User-agent: *\nDisallow: /y\nDisallow: /x", "me", "/x", False),
    ("1994", "no Allow", "User-agent: *\nAllow: /x\nDisallow: /", "me", "/x", False),
    ("kollar", "several paths on a line", "User-agent: *\nDisallow: /y\t/x", "me", "/x", False),
    ("1994", "one path on a line", "User-agent: *\nDisallow: /y /x", "me", "/x", True),
    ("1996", "the first that matches", "User-agent: *\nAllow: /\nDisallow: /x", "me", "/x", True),
    ("1996", "the first, not the longest", "User-agent: *\nDisallow: /\nAllow: /x", "me", "/x", False),
    ("book", "the first that matches", "User-agent: *\nDisallow: /\nAllow: /x", "me", "/x", False),
    *((dialect, "no wildcards", "User-agent: *\nDisallow: /*x", "me", "/ax", True) for dialect in HISTORIC),
    *((dialect, "* is a sign", "User-agent: *\nDisallow: /*x", "me", "/*xy", False) for dialect in HISTORIC),
    *((dialect, "$ is a sign", "User-agent: *\nDisallow: /x$", "me", "/x$y", False) for dialect in HISTORIC),
    *((dialect, "case counts", "User-agent: *\nDisallow: /X", "me", "/x", True) for dialect in HISTORIC),
    *(
        (dialect, "? may stand in a path", "User-agent: *\nDisallow: /x?a", "me", "/x?ab", False)
        for dialect in HISTORIC
    ),
    *((d, "empty Disallow", "User-agent: *\nDisallow:", "me", "/", True) for d in DIALECTS if d != "book"),
    *((d, "it opens nothing", "User-agent: *\nDisallow:\nDisallow: /x", "me", "/x", False) for d in DIALECTS),
    *(
        (d, "nor does an empty Allow", "User-agent: *\nAllow:\nDisallow: /", "me", "/", False)
        for d in DIALECTS
        if d != "book"
    ),
    ("book", "empty Disallow matches everything", "User-agent: *\nDisallow:", "me", "/", False),
    ("book", "in its place", "User-agent: *\nAllow: /x\nDisallow:", "me", "/x", True),
    ("book", "so does an empty Allow", "User-agent: *\nAllow:\nDisallow: /", "me", "/", True),
    # ---- conner
    ("conner", "version 2: exact", "User-agent: *\nRobot-version: 2.0\nDisallow: /x", "me", "/xy", True),
    ("conner", "version 2.0.0", "User-agent: *\nRobot-version: 2.0.0\nDisallow: /x", "me", "/xy", True),
    ("conner", "version 1: prefix", "User-agent: *\nRobot-version: 1.0\nDisallow: /x", "me", "/xy", False),
    ("conner", "no version: prefix", "User-agent: *\nDisallow: /x", "me", "/xy", False),
    ("conner", "a later version", "User-agent: *\nDisallow: /x\nRobot-version: 2.0", "me", "/xy", False),
    ("conner", "the whole path", "User-agent: *\nRobot-version: 2.0\nDisallow: *.gif", "me", "/a.gif?x", True),
    (
        "conner",
        "exact before long",
        "User-agent: *\nRobot-version: 2.0\nAllow: /x\nDisallow: /*******",
        "me",
        "/x",
        True,
    ),
    ("conner", "the longest", "User-agent: *\nRobot-version: 2.0\nDisallow: /x*\nAllow: /xy*", "me", "/xyz", True),
    ("conner", "equal: Disallow", "User-agent: *\nRobot-version: 2.0\nAllow: /x*\nDisallow: /*x", "me", "/xx", False),
    ("conner", "the mail of 1996: what is allowed", INDEX_ONLY, "me", "/a/index.html", True),
    ("conner", "the mail of 1996: all else", INDEX_ONLY, "me", "/a/b.html", False),
    ("conner", "the mail of 1996: to others", INDEX_ONLY.replace("*", "you", 1), "me", "/a/b.html", True),
    ("conner", "Allow and an empty Disallow", INDEX_ONLY + "Disallow:", "me", "/a/b.html", True),
    ("conner", "Allow and a Disallow", INDEX_ONLY + "Disallow: *.gif", "me", "/a/b.html", True),
    ("conner", "an empty Allow", "User-agent: *\nRobot-version: 2.0\nAllow:", "me", "/a", True),
    ("conner", "version 1: Allow only", "User-agent: *\nAllow: /a", "me", "/b", True),
    ("conner", "version 1: first match", "User-agent: *\nDisallow: /\nAllow: /x", "me", "/x", False),
    # ---- escapes
    ("1996", "decoded on both sides", "User-agent: *\nDisallow: /%c3%a9%3F", "me", "/é?", False),
    ("1996", "%25 is a percent sign", "User-agent: *\nDisallow: /%2541", "me", "/A", True),
    ("1996", "%252F is no encoded slash", "User-agent: *\nDisallow: /a%252Fb", "me", "/a%2Fb", True),
    ("1996", "a broken one stays", "User-agent: *\nDisallow: /a%2", "me", "/a%2Fb", True),
    ("1996", "a broken one is itself", "User-agent: *\nDisallow: /a%zz", "me", "/a%zzb", False),
    *((d, "as written", "User-agent: *\nDisallow: /%61", "me", "/a", True) for d in ("1994", "kollar", "conner")),
    # ---- robots.txt itself
    *(
        (d, "itself", "User-agent: *\nDisallow: /", "me", "/robots.txt", d != "google")
        for d in ("rfc9309", "google", "1996", "book", "1994", "kollar", "conner")
    ),
]


@pytest.mark.parametrize(
    ("dialect", "name", "body", "robot", "path", "allowed"), CASES, ids=[f"{case[0]}: {case[1]}" for case in CASES]
)
def test_dialect(dialect: str, name: str, body: bytes | str, robot: str, path: str, allowed: bool) -> None:
    robots = RobotsTxt.parse(body, dialect)
    assert robots.allows(path, robot) is allowed
    verdict = robots.verdict("http://h" + path if path.startswith("/") else path, robot)
    assert (verdict.allowed, verdict.dialect) == (allowed, dialect)


def test_deviation_two_slashes_begin_a_path_in_google_too() -> None:
    robots = RobotsTxt.parse("User-agent: *\nDisallow: //x", "google")
    assert not robots.allows("//x/y", "me")
    assert not robots.allows("http://h//x/y", "me")


DELAYS = [(dialect, None if dialect == "google" else 5.0) for dialect in DIALECTS]


@pytest.mark.parametrize(("dialect", "delay_s"), DELAYS)
def test_google_ignores_crawl_delay(dialect: str, delay_s: float | None) -> None:
    robots = RobotsTxt.parse("User-agent: *\nDisallow: /x\nCrawl-delay: 5", dialect)
    assert robots.crawl_delay("me") == robots.verdict("/x", "me").delay_s == delay_s


def test_sitemaps_are_read_in_every_dialect() -> None:
    text = "Sitemap: http://h/1\n\nUser-agent: *\nDisallow: /\nSitemap: http://h/2\n\nSitemap:"
    assert all(RobotsTxt.parse(text, dialect).sitemaps == ["http://h/1", "http://h/2"] for dialect in DIALECTS)
    assert RobotsTxt.parse("Site-map: x\nSitemaps y", "google").sitemaps == ["x", "y"]


# ---- sections and sentences

SENTENCES = [
    # dialect, agent, path, section, reason
    (
        "rfc9309",
        "me",
        "/x",
        "RFC 9309 2.2.2",
        "Disallow: /x (line 2) is the longest rule that matches in the group for me (line 1).",
    ),
    (
        "google",
        "me",
        "/x",
        "Google, precedence of rules",
        "Disallow: /x (line 2) is the longest rule that matches in the group for me (line 1).",
    ),
    (
        "1996",
        "me",
        "/x",
        "draft-koster-robots-00 3.2.2",
        "Disallow: /x (line 2) is the first rule that matches in the record for me (line 1).",
    ),
    (
        "book",
        "me",
        "/x",
        "HTTP book 9.4, the Disallow and Allow lines",
        "Disallow: /x (line 2) is the first rule that matches in the record for me (line 1).",
    ),
    (
        "1994",
        "me",
        "/x",
        "Koster 1994, Disallow",
        "Disallow: /x (line 2) is a rule that matches in the record for me (line 1).",
    ),
    (
        "kollar",
        "me",
        "/x",
        "Kollar, Disallow",
        "Disallow: /x (line 2) is a rule that matches in the record for me (line 1).",
    ),
    (
        "conner",
        "me",
        "/x",
        "Conner 2.0, Allow and Disallow",
        "Disallow: /x (line 2) is the first rule that matches in the record for me (line 1).",
    ),
    (
        "conner",
        "v2",
        "/x",
        "Conner 2.0, Allow and Disallow",
        (
            "Disallow: /* (line 6) is the exact path or else the longest pattern that matches in the record "
            "for v2 (line 4)."
        ),
    ),
    (
        "conner",
        "only",
        "/x",
        "Conner 2.0, Allow and Disallow",
        "No rule matches in the record for only (line 8); it has only Allow rules, so everything else is disallowed.",
    ),
    ("google", "you", "/x", "Google, user agents", "No group applies to you."),
    ("1996", "you", "/x", "draft-koster-robots-00 3.2.1", "No record applies to you."),
    ("book", "you", "/x", "HTTP book 9.4, the User-Agent line", "No record applies to you."),
    ("1994", "you", "/x", "Koster 1994, User-agent", "No record applies to you."),
    ("kollar", "you", "/x", "Kollar, User-Agent", "No record applies to you."),
    ("conner", "you", "/x", "Conner 2.0, User-agent", "No record applies to you."),
]
SENTENCES_TEXT = (
    "User-agent: me\nDisallow: /x\n\nUser-agent: v2\nRobot-version: 2.0\nDisallow: /*\n\n"
    "User-agent: only\nRobot-version: 2.0\nAllow: /y\n"
)


@pytest.mark.parametrize(("dialect", "agent", "path", "section", "reason"), SENTENCES)
def test_one_sentence_and_its_section(dialect: str, agent: str, path: str, section: str, reason: str) -> None:
    verdict = RobotsTxt.parse(SENTENCES_TEXT, dialect).verdict(path, agent)
    assert (verdict.section, verdict.reason) == (section, reason)
    assert verdict.allowed is RobotsTxt.parse(SENTENCES_TEXT, dialect).matcher(agent).allows(path)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_closing_rule_closes_in_every_dialect(dialect: str) -> None:
    """What is in force while a site is unreachable."""
    assert not Access.from_failure("dns", 0.0, dialect).rules.allows("/", "me")
    assert find_dialect(dialect).name == dialect


def test_compare_reads_each_dialect_once() -> None:
    robots = RobotsTxt.parse(b"User-agent: *\nDisallow: /*x", "1996")
    verdicts = robots.compare("/ax", "me")
    assert list(verdicts) == list(DIALECTS)
    assert {name for name, verdict in verdicts.items() if not verdict.allowed} == {"rfc9309", "google"}
    assert all(verdict.dialect == name for name, verdict in verdicts.items())
    assert robots.in_dialect("1996") is robots
    assert robots.in_dialect("google") is robots.in_dialect("google")
    with pytest.raises(InputError):
        robots.in_dialect("latin")


@pytest.mark.parametrize(
    ("dialect", "closed_to"),
    [
        ("rfc9309", ["goodbot"]),  # a name ends at the comma
        ("google", ["goodbot"]),
        ("1996", ["goodbot", "otherbot"]),  # the value contains our token
        ("conner", ["goodbot", "otherbot"]),
        ("1994", []),  # the value is the name of one robot, to be found in ours
        ("book", []),
        ("kollar", ["otherbot"]),  # a name is anything without a blank: the first one here is `goodbot,`
    ],
)
def test_a_list_of_names_with_commas(dialect: str, closed_to: list[str]) -> None:
    robots = RobotsTxt.parse("User-agent: goodbot, otherbot\nDisallow: /", dialect)
    assert [agent for agent in ("goodbot", "otherbot") if not robots.allows("/x", agent)] == closed_to
