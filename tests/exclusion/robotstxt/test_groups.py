"""RFC 9309 §2.1, §2.2.1, §2.2.4: lines, records, groups, and the robots that they apply to."""

import pytest

from goodbot.errors import InputError
from goodbot.exclusion import DIALECTS, RobotsTxt, find_dialect, product_token

# RFC 9309 §5.1, its file written anew: three groups and one without rules.
SIMPLE_EXAMPLE = """User-Agent: *
Disallow: *.gif$
Disallow: /example/
Allow: /publications/

User-Agent: foobot
Disallow:/
Allow:/example/page.html
Allow:/example/allowed.gif

User-Agent: barbot
User-Agent: bazbot
Disallow: /example/page.html

User-Agent: quxbot
"""

LONGEST_MATCH_EXAMPLE = """User-Agent: foobot
Allow: /example/page/
Disallow: /example/page/disallowed.gif
"""


@pytest.mark.parametrize(
    ("agent", "path", "allowed"),
    [
        ("foobot", "/example/page.html", True),
        ("foobot", "/example/allowed.gif", True),
        ("foobot", "/", False),
        ("foobot", "/publications/", False),
        ("barbot", "/example/page.html", False),
        ("bazbot", "/example/page.html", False),
        ("barbot", "/a.gif", True),
        ("quxbot", "/example/page.html", True),
        ("quxbot", "/a.gif", True),
        ("otherbot", "/a.gif", False),
        ("otherbot", "/a.gif?x", True),
        ("otherbot", "/example/", False),
        ("otherbot", "/publications/a.gif", True),
        ("otherbot", "/elsewhere", True),
    ],
)
def test_simple_example(agent: str, path: str, allowed: bool) -> None:
    """RFC 9309 §5.1."""
    assert RobotsTxt.parse(SIMPLE_EXAMPLE).allows(path, agent) is allowed


@pytest.mark.parametrize(
    ("path", "allowed"),
    [("/example/page/", True), ("/example/page/disallowed.gif", False), ("/example/page/disallow.gif", True)],
)
def test_longest_match_example(path: str, allowed: bool) -> None:
    """RFC 9309 §5.2, erratum 7124."""
    assert RobotsTxt.parse(LONGEST_MATCH_EXAMPLE).allows(path, "foobot") is allowed


GROUPING = [
    ("a blank line ends nothing", "User-agent: me\n\n\nDisallow: /x", False, "2.1"),
    ("a comment line ends nothing", "User-agent: me\n# note\nDisallow: /x", False, "2.1"),
    ("two names share a group", "User-agent: you\nUser-agent: me\nDisallow: /x", False, "2.1"),
    ("a rule closes the names", "User-agent: me\nAllow: /\nUser-agent: you\nDisallow: /x", True, "2.1"),
    ("an empty rule closes them too", "User-agent: me\nDisallow:\nUser-agent: you\nDisallow: /x", True, "2.1"),
    ("Sitemap closes nothing", "User-agent: me\nSitemap: https://h/s\nUser-agent: you\nDisallow: /x", False, "2.2.4"),
    ("Crawl-delay closes nothing", "User-agent: me\nCrawl-delay: 1\nUser-agent: you\nDisallow: /x", False, "2.2.4"),
    ("an unknown record closes nothing", "User-agent: me\nFoo: 1\nUser-agent: you\nDisallow: /x", False, "2.2.4"),
    (
        "Content-Usage closes the names",
        "User-agent: me\nContent-Usage: a=n\nUser-agent: you\nDisallow: /x",
        True,
        "2.1",
    ),
    (
        "Content-Signal closes nothing",
        "User-agent: me\nContent-Signal: a\nUser-agent: you\nDisallow: /x",
        False,
        "2.2.4",
    ),
    ("a line without colon closes nothing", "User-agent: me\nfoo\nUser-agent: you\nDisallow: /x", False, "2.1"),
    ("a rule of nobody", "Disallow: /x\nUser-agent: me\nDisallow: /y", True, "2.1"),
    ("own groups add up, first", "User-agent: me\nDisallow: /x\n\nUser-agent: me\nDisallow: /y", False, "2.2.1"),
    ("own groups add up, last", "User-agent: me\nDisallow: /y\n\nUser-agent: me\nDisallow: /x", False, "2.2.1"),
    ("own group instead of *", "User-agent: *\nDisallow: /x\nUser-agent: me\nDisallow: /y", True, "2.2.1"),
    ("own group without rules instead of *", "User-agent: *\nDisallow: /x\nUser-agent: me", True, "2.2.1"),
    ("else *", "User-agent: you\nDisallow: /y\nUser-agent: *\nDisallow: /x", False, "2.2.1"),
    ("all groups of *", "User-agent: *\nDisallow: /y\nUser-agent: *\nDisallow: /x", False, "2.2.1"),
    ("else nothing", "User-agent: you\nDisallow: /x", True, "2.2.1"),
    ("case of the token", "User-agent: ME\nDisallow: /x", False, "2.2.1"),
    ("the whole token, not a part", "User-agent: m\nDisallow: /x\nUser-agent: meme\nDisallow: /x", True, "2.2.1"),
    ("version in the file", "User-agent: me/2.0\nDisallow: /x", False, "2.2.1"),
    ("blank in the file", "User-agent: me and you\nDisallow: /x", False, "2.2.1"),
    ("* with something behind it", "User-agent: * me\nDisallow: /x", True, "2.2.1"),
    ("* in front of a name", "User-agent: *me\nDisallow: /x", True, "2.2.1"),
    ("a list names its first", "User-agent: me, you\nDisallow: /x", False, "2.2.1"),
    ("a list does not name its second", "User-agent: you, me\nDisallow: /x", True, "2.2.1"),
    *((f"{sign} ends a name", f"User-agent: me{sign}\nDisallow: /x", False, "2.2.1") for sign in ",;*+!:(/.é\t"),
    ("a dot inside a name ends nothing", "User-agent: me.you\nDisallow: /x", True, "2.2.1"),
    ("a group of nobody", "User-agent:\nDisallow: /x", True, "2.2.1"),
    ("named twice", "User-agent: me\nUser-agent: Me\nDisallow: /x", False, "2.2.1"),
    ("case of fields", "uSER-aGENT: me\ndISALLOW: /x", False, "2.2"),
    ("blanks", " \tUser-agent \t: \tme\t \n \tDisallow\t:\t /x \t", False, "2.2"),
    ("no blanks", "User-agent:me\nDisallow:/x", False, "2.2"),
    ("comments at the end", "User-agent: me#you\nDisallow: /x#y", False, "2.2.3"),
    ("comment before the colon", "User-agent: me\nDisallow#: /x", True, "2.2.3"),
    ("CR", "User-agent: me\rDisallow: /x\r", False, "2.2"),
    ("CRLF", "User-agent: me\r\nDisallow: /x\r\n", False, "2.2"),
    ("LF CR mixed", "User-agent: me\n\rDisallow: /x", False, "2.2"),
    ("byte order mark", "\ufeffUser-agent: me\nDisallow: /x", False, "2.3.1.5"),
    ("U+2028 is no line end", "User-agent: me\nAllow: /\u2028Disallow: /x", True, "2.2"),
    ("VT and FF are no line ends", "User-agent: me\nAllow: /\x0bDisallow: /x\x0cDisallow: /x", True, "2.2"),
    ("HTML around the lines", "<html>\nUser-agent: me\n<p>\nDisallow: /x\n</html>", False, "2.3.1.5"),
]


@pytest.mark.parametrize(("name", "text", "allowed", "section"), GROUPING, ids=[case[0] for case in GROUPING])
@pytest.mark.parametrize("as_bytes", [False, True], ids=["text", "bytes"])
def test_groups(name: str, text: str, allowed: bool, section: str, as_bytes: bool) -> None:
    robots = RobotsTxt.parse(text.encode() if as_bytes else text)
    assert robots.allows("/x", "me") is allowed
    verdict = robots.verdict("https://example.org/x", "me")
    assert verdict.allowed is allowed
    assert verdict.section.startswith("RFC 9309 2.")


AGENTS = [
    ("goodbot", "goodbot"),
    ("goodbot/1.0", "goodbot"),
    ("goodbot/1.0 (+https://example.org/bot)", "goodbot"),
    ("goodbot (x)", "goodbot"),
    ("goodbot(x)", "goodbot"),
    ("  goodbot ", "goodbot"),
    ("MJ12bot/v1.4.8", "MJ12bot"),
    ("360Spider", "360Spider"),
    ("Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "Googlebot"),
    ("Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://x)", "GPTBot"),
    ("mozilla/5.0 (Compatible;bingbot)", "bingbot"),
    ("Mozilla/5.0 (X11; Linux x86_64) Gecko", "Mozilla"),
    ("Mozilla", "Mozilla"),
    ("Mozilla/5.0 (compatible; )", "Mozilla"),
    ("*", "*"),
    ("", ""),
    ("/", ""),
    ("MyBot; +http://x", "MyBot"),
    ("MyBot,other", "MyBot"),
    ("AhrefsBot*", "AhrefsBot"),
    ("Baiduspider+(+http://www.baidu.com/search/spider.htm)", "Baiduspider"),
    ("Mozilla; x", "Mozilla"),
    ("Mozilla/5.0 (compatible; +x) (compatible; MyBot, x)", "MyBot"),
    ("Mozilla/5.0 (COMPATIBLE; \u212abot)", "Mozilla"),  # a sign beyond ASCII whose lower case is `k`
    ("Mail.RU_Bot/2.0", "Mail.RU_Bot"),
    ("archive.org_bot", "archive.org_bot"),
    ("search.marginalia.nu", "search.marginalia.nu"),
    ("bot.", "bot"),
    ("bot..x", "bot"),
    (".bot", ""),
    ("+bot", ""),
    ("*bot", ""),
    ("Uniböt/1", "Unib"),
    ("Ünibot/1", ""),
    ("\udcff bot", ""),
]


@pytest.mark.parametrize(("agent", "token"), AGENTS)
def test_product_token(agent: str, token: str) -> None:
    """RFC 9309 §2.2.1."""
    assert product_token(agent) == token


def test_deviation_digits_in_a_product_token() -> None:
    robots = RobotsTxt.parse("User-agent: MJ12bot\nDisallow: /x\nUser-agent: MJ\nDisallow: /y")
    assert robots.matcher("MJ12bot/v1.4").allows("/y")
    assert not robots.matcher("MJ12bot/v1.4").allows("/x")


VERDICTS = [
    ("rule", "foobot", "/example/x", False, "Disallow: /", 7, "2.2.2", "the group for foobot (line 6)"),
    ("allow", "foobot", "/example/page.html", True, "Allow: /example/page.html", 8, "2.2.2", "longest rule"),
    ("as written", "otherbot", "/a.gif", False, "Disallow: *.gif$", 2, "2.2.2", "all robots (*) (line 1)"),
    ("no rule", "quxbot", "/x", True, None, None, "2.2.2", "No rule matches in the group for quxbot (line 15)"),
    ("itself", "foobot", "/robots.txt", True, None, None, "2.2.2", "robots.txt itself"),
]


@pytest.mark.parametrize(
    ("name", "agent", "path", "allowed", "rule", "line", "section", "reason"), VERDICTS, ids=[c[0] for c in VERDICTS]
)
def test_verdict_says_why(
    name: str, agent: str, path: str, allowed: bool, rule: str | None, line: int | None, section: str, reason: str
) -> None:
    url = "https://example.org" + path
    verdict = RobotsTxt.parse(SIMPLE_EXAMPLE).verdict(url, agent)
    assert (verdict.allowed, verdict.rule, verdict.line) == (allowed, rule, line)
    assert verdict.section == f"RFC 9309 {section}"
    assert reason in verdict.reason
    assert verdict.reason.endswith(".")
    assert (verdict.url, verdict.agent, verdict.dialect) == (url, agent, "rfc9309")
    assert (verdict.access, verdict.valid_until) == ("successful", None)


def test_verdict_without_a_group_and_with_several() -> None:
    alone = RobotsTxt.parse("User-agent: you\nDisallow: /").verdict("/x", "me")
    assert (alone.allowed, alone.section) == (True, "RFC 9309 2.2.1")
    assert alone.reason == "No group applies to me."
    assert RobotsTxt.parse("").verdict("/x", "").reason == "No group applies to a robot without a name."
    several = RobotsTxt.parse("User-agent: me\nAllow: /\n\nUser-agent: me\nDisallow: /x").verdict("/x", "me")
    assert "the 2 groups for me (from line 1)" in several.reason
    assert several.line == 5


def test_a_long_pattern_makes_no_long_reason() -> None:
    verdict = RobotsTxt.parse("User-agent: *\nDisallow: /" + "x" * 100_000).verdict("/" + "x" * 100_000, "me")
    assert len(verdict.reason) < 300
    assert verdict.rule == "Disallow: /" + "x" * 100_000


DELAYS = [
    ("5", 5.0),
    ("0", 0.0),
    ("2.5", 2.5),
    ("10.", 10.0),
    (".5", 0.5),
    ("5 # seconds", 5.0),
    ("-1", None),
    ("+1", None),
    ("1e3", None),
    ("10s", None),
    ("1,5", None),
    ("nan", None),
    ("inf", None),
    ("", None),
    ("٣", None),
    ("9999999999", 9999999999.0),
    ("10000000001", 1e10),
    ("9" * 5000, 1e10),
    ("9" * 5000 + ".5", 1e10),
    ("0" * 5000 + "7", 7.0),
    ("0." + "1" * 5000, 0.1111111111),
    ("9" * 5000 + "s", None),
]


@pytest.mark.parametrize(("value", "seconds"), DELAYS)
def test_crawl_delay_is_a_plain_number(value: str, seconds: float | None) -> None:
    """§2.2.4 lets other records be read; Crawl-delay is in no standard."""
    reading = [name for name in DIALECTS if find_dialect(name).reads_timing]
    assert len(reading) > 1
    for dialect in reading:
        robots = RobotsTxt.parse(f"User-agent: me\nCrawl-delay: {value}\nDisallow: /x", dialect=dialect)
        assert robots.crawl_delay("me") == seconds
        assert robots.verdict("/x", "me").delay_s == seconds


def test_crawl_delay_belongs_to_its_groups() -> None:
    robots = RobotsTxt.parse(
        "Crawl-delay: 99\nUser-agent: a\nCrawl-delay: 1\nDisallow: /\n\nUser-agent: *\nDisallow: /\ncrawl-DELAY: 7\n"
        "User-agent: a\nDisallow: /y\nCrawl-delay: 3\nUser-agent: b\nDisallow:"
    )
    assert robots.crawl_delay("a") == 3.0
    assert robots.crawl_delay("other") == 7.0
    assert robots.crawl_delay("b") is None


def test_sitemaps_groups_and_rules_are_there_for_readers() -> None:
    robots = RobotsTxt.parse(
        "Sitemap: https://h/1\nUser-agent: A/1\nUser-agent: b\nsitemap : https://h/2?x=:#y\nDisallow: /x\n"
        "Sitemap:\nDisallow:\nAllow: /y"
    )
    assert robots.sitemaps == ["https://h/1", "https://h/2?x=:"]
    (group,) = robots.groups
    assert (group.line, group.agents) == (2, ("A/1", "b"))
    assert [(str(rule), rule.line) for rule in group.rules] == [("Disallow: /x", 5), ("Allow: /y", 8)]
    assert robots.rules == list(group.rules)
    assert robots.dialect == "rfc9309"


def test_an_unknown_dialect_is_an_input_error() -> None:
    with pytest.raises(InputError, match=r"^unknown dialect of robots.txt 'latin': known are rfc9309"):
        RobotsTxt.parse("", dialect="latin")
