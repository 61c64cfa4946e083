"""RFC 9309 §2.1, §2.2.1, §2.2.4: lines, records, groups, and the robots that they apply to."""

import pytest

from goodbot.errors import InputError
from goodbot.exclusion import DIALECTS, RobotsTxt, find_dialect, product_token
from goodbot.vectors.case import About, Kind
from goodbot.vectors.tables.example_files import LONGEST, SIMPLE
from goodbot.vectors.tables.grouping import GROUPING


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
    assert RobotsTxt.parse(SIMPLE).allows(path, agent) is allowed


@pytest.mark.parametrize(
    ("path", "allowed"),
    [("/example/page/", True), ("/example/page/disallowed.gif", False), ("/example/page/disallow.gif", True)],
)
def test_longest_match_example(path: str, allowed: bool) -> None:
    """RFC 9309 §5.2, erratum 7124."""
    assert RobotsTxt.parse(LONGEST).allows(path, "foobot") is allowed


@pytest.mark.parametrize(("name", "text", "allowed", "about", "kind"), GROUPING, ids=[case[0] for case in GROUPING])
@pytest.mark.parametrize("as_bytes", [False, True], ids=["text", "bytes"])
def test_groups(name: str, text: str, allowed: bool, about: About, kind: Kind, as_bytes: bool) -> None:
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
    verdict = RobotsTxt.parse(SIMPLE).verdict(url, agent)
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
