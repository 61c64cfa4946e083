"""Where the dialects differ, one row for each thing a text says: lines, records, names, rules, escapes."""

import pytest

from goodbot.errors import InputError
from goodbot.exclusion import DIALECTS, Access, RobotsTxt, find_dialect
from goodbot.vectors.tables.dialect_points import BLOCKS

CASES = [row for _, rows in BLOCKS for row in rows]


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
