"""One robot, many sites: origins, freshness, visits, and hostile texts."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.errors import InputError
from goodbot.exclusion.access.access import Access
from goodbot.exclusion.access.robot_rules import MAX_PARSED_BYTES, MemoryRulesStore, RobotRules
from goodbot.exclusion.robotstxt.dialects import DIALECTS
from goodbot.exclusion.robotstxt.robots_txt import RobotsTxt

NOW = 1_800_000_000.0
DAY_S = 86_400.0
SITE = "https://example.org/robots.txt"
RULES = "User-agent: me\nDisallow: /x\n\nUser-agent: *\nDisallow: /\n"


class Clock:
    """Shows what it is set to."""

    def __init__(self) -> None:
        self.at = NOW

    def __call__(self) -> float:
        return self.at


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def rules(clock: Clock) -> RobotRules:
    return RobotRules("me/1.0 (+https://me.example/)", clock)


# ---- the calls of WWW::RobotRules, in the order of its manual page --------------------------------------------------


def test_one_robot_two_sites(rules: RobotRules) -> None:
    assert rules.allowed("https://example.org/y") is None
    assert rules.parse(SITE, RULES)
    assert rules.parse("https://other.example/robots.txt", b"")
    assert [rules.allowed(f"https://example.org/{path}") for path in ("x", "y")] == [False, True]
    assert rules.allowed("https://other.example/x") is True
    assert rules.allowed("https://third.example/x") is None
    assert rules.agent == "me/1.0 (+https://me.example/)"


def test_the_verdict_says_why(rules: RobotRules) -> None:
    assert rules.verdict("https://example.org/x") is None
    rules.parse(SITE, RULES)
    verdict = rules.verdict("https://example.org/x")
    assert verdict is not None
    assert (verdict.allowed, verdict.line, verdict.rule) == (False, 2, "Disallow: /x")
    assert verdict.valid_until == NOW + DAY_S


def test_robots_txt_itself_is_allowed(rules: RobotRules) -> None:
    """RFC 9309 §2.2.2."""
    rules.parse(SITE, "User-agent: *\nDisallow: /")
    assert rules.allowed(SITE) is True
    assert rules.allowed("https://example.org/") is False


def test_the_last_one_parsed_counts(rules: RobotRules) -> None:
    rules.parse(SITE, "User-agent: *\nDisallow: /")
    assert rules.allowed("https://example.org/") is False
    rules.parse(SITE, "")
    assert rules.allowed("https://example.org/") is True


def test_visits(rules: RobotRules, clock: Clock) -> None:
    url = "https://example.org/a"
    assert (rules.visits(url), rules.last_visit(url)) == (0, None)
    rules.visit(url)
    clock.at += 5
    rules.visit("https://example.org/b")
    assert (rules.visits(url), rules.last_visit(url)) == (2, NOW + 5)
    rules.visit(url, NOW + 60)
    clock.at = NOW - DAY_S
    rules.visit(url)
    rules.visit(url, 0.0)
    assert (rules.visits(url), rules.last_visit(url)) == (5, NOW + 60)
    assert rules.visits("https://other.example/") == 0


@pytest.mark.parametrize("at", [math.nan, math.inf, -math.inf, 10**400, -(10**400)])
def test_a_visit_without_a_valid_time_counts_as_now(rules: RobotRules, at: float) -> None:
    rules.visit(SITE, at)
    assert (rules.visits(SITE), rules.last_visit(SITE)) == (1, NOW)


def test_visits_are_those_of_one_robot() -> None:
    store = MemoryRulesStore()
    first, second = (RobotRules(agent, store=store) for agent in ("Me/2.0", "you"))
    first.visit(SITE)
    assert (first.visits(SITE), second.visits(SITE)) == (1, 0)
    assert RobotRules("Mozilla/5.0 (compatible; ME/1; +https://me.example/)", store=store).visits(SITE) == 1


# ---- freshness ------------------------------------------------------------------------------------------------------

FRESHNESS: list[tuple[str, float | None, float, bool | None]] = [
    # name, fresh_until, seconds from the parse to the question, answer
    ("24 hours unless said", None, DAY_S - 1, True),
    ("24 hours are over (RFC 9309 2.4)", None, DAY_S, None),
    ("said", NOW + 10, 9, True),
    ("said, and over", NOW + 10, 10, None),
    ("said, and longer than a day", NOW + 30 * DAY_S, 29 * DAY_S, True),
    ("past from the beginning", NOW - 1, 0, None),
    ("zero", 0, 0, None),
    ("negative", -5.0, 0, None),
    ("no number", math.nan, 0, None),
    ("no number, and the clock went back", math.nan, -5, True),
    ("for ever", math.inf, 1e12, True),
    ("never", -math.inf, 0, None),
    ("400 digits", 10**400, 1e12, True),
    ("minus 400 digits", -(10**400), 0, None),
    ("the clock went back a little", None, -59, True),
    ("the clock went back", None, -61, None),
]


@pytest.mark.parametrize(("name", "fresh_until", "later", "answer"), FRESHNESS, ids=[row[0] for row in FRESHNESS])
def test_freshness(
    rules: RobotRules, clock: Clock, name: str, fresh_until: float | None, later: float, answer: bool | None
) -> None:
    rules.parse(SITE, RULES, fresh_until)
    clock.at += later
    assert rules.allowed("https://example.org/y") is answer
    assert (rules.verdict("https://example.org/y") is None) is (answer is None)


def test_fresh_until(rules: RobotRules, clock: Clock) -> None:
    assert rules.fresh_until(SITE) is None
    rules.parse(SITE, RULES)
    assert rules.fresh_until("https://example.org/any") == NOW + DAY_S
    rules.parse(SITE, RULES, NOW + 5)
    clock.at += 10
    assert rules.fresh_until(SITE) == NOW + 5
    rules.parse(SITE, RULES, math.nan)
    assert rules.fresh_until(SITE) == NOW + 10


# ---- any answer -----------------------------------------------------------------------------------------------------


def test_any_result_of_a_fetch_can_be_learned(rules: RobotRules, clock: Clock) -> None:
    """RFC 9309 §2.3.1: unavailable opens the site, unreachable closes it, and the last good copy goes on ruling."""
    url = "https://example.org/y"
    assert rules.learn(SITE, Access.from_response(404, [], b"", NOW))
    assert rules.allowed(url) is True
    assert rules.learn(SITE, Access.from_failure("timeout", NOW, last_good=rules.access(SITE)))
    assert rules.allowed(url) is False
    rules.parse(SITE, RULES)
    clock.at += 2 * DAY_S
    assert rules.allowed(url) is None
    assert rules.learn(SITE, Access.from_failure("timeout", clock.at, last_good=rules.access(SITE)))
    assert [rules.allowed(f"https://example.org/{path}") for path in ("x", "y")] == [False, True]


def test_an_access_of_another_dialect_is_read_in_that_of_the_robot(clock: Clock) -> None:
    store = MemoryRulesStore()
    modern, old = RobotRules("me", clock, store), RobotRules("me", clock, store, dialect="1994")
    modern.parse(SITE, "User-agent: me\nDisallow: /\nAllow: /a\n")
    assert (modern.allowed("https://example.org/a"), old.allowed("https://example.org/a")) == (True, False)
    old.learn(SITE, Access.from_response(403, [], b"", NOW, "1994"))
    assert (modern.allowed("https://example.org/a"), old.allowed("https://example.org/a")) == (True, False)


def test_an_unknown_dialect_is_an_error() -> None:
    with pytest.raises(InputError):
        RobotRules("me", dialect="esperanto")


def test_more_than_500_kib_is_cut(rules: RobotRules) -> None:
    rules.parse(SITE, b"#" * 600 * 1024 + b"\nUser-agent: *\nDisallow: /\n")
    assert rules.allowed("https://example.org/") is True
    access = rules.access(SITE)
    assert access is not None
    assert access.cut_bytes > 0


# ---- where a URL leads ----------------------------------------------------------------------------------------------

SAME: list[tuple[str, str, str]] = [
    # why, what was parsed, what is asked
    ("case", "HTTPS://Example.ORG/robots.txt", "https://example.org/y"),
    ("default port", "https://example.org:443/robots.txt", "https://example.org/y"),
    ("default port", "http://example.org/robots.txt", "http://example.org:80/y"),
    ("zeros before the port", "http://example.org:00080/", "http://example.org/y"),
    ("1 MB of zeros before the port", "http://example.org:" + "0" * 1_000_000 + "80/", "http://example.org/y"),
    ("empty port", "http://example.org:/", "http://example.org/y"),
    ("port 0 is one", "http://example.org:0/", "http://example.org:000/y"),
    ("user information", "https://user:secret@example.org/", "https://example.org/y"),
    ("@ in it", "https://a@b@example.org/", "https://example.org/y"),
    ("no path", "https://example.org", "https://example.org?y"),
    ("fragment", "https://example.org#a", "https://example.org/y"),
    ("any URL of the origin", "https://example.org/deep/page?q=https://other.example/", "https://example.org/y"),
    ("IPv4", "http://127.0.0.1:8000/robots.txt", "http://127.0.0.1:8000/y"),
    ("IPv6", "http://[::1]:8000/robots.txt", "http://[::1]:8000/y"),
    ("IPv6, case", "http://[2001:DB8::A]/robots.txt", "http://[2001:db8::a]:80/y"),
    ("another alphabet", "https://Bücher.example/", "https://bücher.example/y"),
]


@pytest.mark.parametrize(("why", "parsed", "asked"), SAME, ids=range(len(SAME)))
def test_the_same_origin(rules: RobotRules, why: str, parsed: str, asked: str) -> None:
    assert rules.parse(parsed, RULES)
    assert rules.allowed(asked) is True


OTHER = [
    "http://example.org/",
    "https://example.org:8443/",
    "https://www.example.org/",
    "https://example.org./",
    "https://example.org:80/",
    "https://example.org@other.example/",
]


@pytest.mark.parametrize("url", OTHER)
def test_another_origin(rules: RobotRules, url: str) -> None:
    """RFC 9309 §2.3: a robots.txt speaks for its own scheme, host and port."""
    rules.parse(SITE, RULES)
    assert rules.allowed(url) is None
    assert rules.parse(url, RULES)
    assert rules.allowed(url) is True


NO_ORIGIN = [
    "",
    "/x",
    "example.org/x",
    "//example.org/x",
    "mailto:me@example.org",
    "ftp://example.org/x",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "https:",
    "https:/example.org/",
    "https://",
    "https:///x",
    "https://:443/",
    "https://user@/",
    " https://example.org/",
    "https://example.org /",
    "https://exam\nple.org/",
    "https://example.org\n",
    "https://example.org\x00/",
    "https://example.org:port/",
    "https://example.org:443:443/",
    "https://example.org:65536/",
    "https://example.org:-1/",
    "https://example.org:\u0664\u0664\u0663/",
    "https://example.org:" + "9" * 1_000_000,
    "https://[::1/",
    "https://::1/",
    "https://[::1]x/",
    "https://[]/",
    "https://[fe80::1%25eth0]/",
    "https://other.example\\@example.org/",
    "https://example.org\\x",
    "https://\ud800.example/",
    "\ud800://example.org/",
    "https://" + "@" * 1_000_000,
    "https://" + "a:" * 500_000,
    "https://" + "[" * 1_000_000,
]


@pytest.mark.parametrize("url", NO_ORIGIN, ids=range(len(NO_ORIGIN)))
def test_nothing_is_known_about_other_urls(rules: RobotRules, url: str) -> None:
    """Of other schemes, too, nothing is known, where WWW::RobotRules says that everything is allowed."""
    rules.parse(SITE, RULES)
    assert rules.parse(url, RULES) is False
    assert rules.learn(url, Access.from_response(200, [], b"", NOW)) is False
    rules.visit(url)
    assert (rules.allowed(url), rules.verdict(url), rules.access(url), rules.fresh_until(url)) == (None,) * 4
    assert (rules.visits(url), rules.last_visit(url)) == (0, None)


HOSTS: list[tuple[str, str, bool]] = [
    # a URL, another one, is it the same host for visits: host and port, whatever the scheme
    ("https://example.org/", "https://EXAMPLE.org:443/x", True),
    ("http://example.org:443/", "https://example.org/", True),
    ("http://example.org/", "https://example.org/", False),
    ("http://example.org/", "http://example.org:8080/", False),
    ("http://example.org/", "http://www.example.org/", False),
]


@pytest.mark.parametrize(("url", "other", "same"), HOSTS)
def test_visits_are_counted_for_host_and_port(rules: RobotRules, url: str, other: str, same: bool) -> None:
    rules.visit(url)
    assert rules.visits(other) == int(same)


# ---- strangers ------------------------------------------------------------------------------------------------------

AUTHORITIES = st.text(st.sampled_from("aA1:@[]./\\%?# \t\n\ud800é"), max_size=12).map("https://{}".format)
URLS = st.one_of(st.text(max_size=40), AUTHORITIES)
CONTENTS = st.one_of(st.binary(max_size=200), st.text(max_size=200))


@given(URLS, CONTENTS, st.text(max_size=20), st.none() | st.floats())
def test_never_raises(url: str, content: bytes | str, agent: str, at: float | None) -> None:
    rules = RobotRules(agent, lambda: NOW)
    kept = rules.parse(url, content, at)
    rules.visit(url, at)
    assert (rules.access(url) is not None) is (rules.fresh_until(url) is not None) is kept
    assert (rules.visits(url), rules.last_visit(url) is not None) == (int(kept), kept)
    verdict = rules.verdict(url)
    assert rules.allowed(url) is (None if verdict is None else verdict.allowed)


PATHS = st.one_of(st.text(max_size=20), st.sampled_from(["x", "y", "robots.txt", "x?y=z#"])).map("/{}".format)
TEXTS = st.lists(st.sampled_from(["User-agent: *", "User-agent: me", "Disallow: /x", "Allow: /", "Disallow: /*y"]))
BODIES = st.one_of(CONTENTS, TEXTS.map("\n".join), TEXTS.map(lambda lines: "\n".join(lines).encode()))


@pytest.mark.parametrize("dialect", DIALECTS)
@given(body=BODIES, path=PATHS)
def test_answers_as_the_robots_txt_does(dialect: str, body: bytes | str, path: str) -> None:
    rules = RobotRules("me", lambda: NOW, dialect=dialect)
    rules.parse(SITE, body)
    url = "https://example.org" + path
    assert rules.allowed(url) is RobotsTxt.parse(body, dialect).allows(url, "me")


# ---- what is kept at hand -------------------------------------------------------------------------------------------


def test_a_robots_txt_is_parsed_once(rules: RobotRules) -> None:
    rules.parse(SITE, RULES)
    first, second = rules.access(SITE), rules.access("https://example.org/x")
    assert first is not None
    assert first is second
    rules.allowed(SITE)
    assert "rules" in vars(first)
    rules.parse(SITE, RULES + "#")
    assert rules.access(SITE) is not first


def test_parsed_files_are_bounded_and_stored_ones_are_not(clock: Clock) -> None:
    store = MemoryRulesStore()
    rules = RobotRules("me", clock, store)
    body = b"User-agent: *\nDisallow: /x\n#".ljust(400 * 1024, b"#")
    sites = [f"https://{number}.example/x" for number in range(40)]
    for site in sites:
        rules.parse(site, body)
        assert rules.allowed(site) is False
    entries = rules._parsed_files._entries
    assert (
        sum(1024 + len(stored.body) for stored, _ in entries.values()) == rules._parsed_files._bytes <= MAX_PARSED_BYTES
    )
    assert list(entries) == [site[:-2] for site in sites[-len(entries) :]]
    assert 15 < len(entries) < 40
    assert not any("rules" in vars(store.load_robots(site[:-2])) for site in sites)
    assert rules.allowed(sites[0]) is False


def test_an_access_is_stored_without_its_parsed_rules() -> None:
    store = MemoryRulesStore()
    access = Access.from_response(200, [], RULES.encode(), NOW)
    assert access.rules.groups
    store.save_robots("https://example.org", access)
    loaded = store.load_robots("https://example.org")
    assert loaded == access
    assert "rules" not in vars(loaded)
