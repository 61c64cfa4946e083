"""Rules laid over a robots.txt mean the same to every robot."""

from urllib.robotparser import RobotFileParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from protego import Protego

from goodbot.exclusion import DIALECTS, RobotsTxt
from goodbot.watch.study.overlay import Overlay, laid_over

BASE = "Sitemap: https://a.example/s\nUser-agent: a\nUser-agent: b\nDisallow: /ab\nCrawl-delay: 5\n\n# all\n\
User-agent: *\nDisallow: /all\n"

LAID = [
    ("every-other-robot", Overlay(("*",), ("/new",)), "c", {"/new": False, "/all": False, "/ab": True}),
    ("not-those-with-a-group", Overlay(("*",), ("/new",)), "a", {"/new": True, "/ab": False}),
    ("a-new-name-keeps-the-rules-of-all", Overlay(("c",), ("/new",)), "c", {"/new": False, "/all": False}),
    ("a-name-of-the-base", Overlay(("a",), ("/new",)), "a", {"/new": False, "/ab": False, "/all": True}),
    ("its-neighbour", Overlay(("a",), ("/new",)), "b", {"/new": True, "/ab": False}),
]


@pytest.mark.parametrize(("overlay", "agent", "urls"), [case[1:] for case in LAID], ids=[case[0] for case in LAID])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
def test_rules_laid_over_a_base(overlay: Overlay, agent: str, urls: dict[str, bool], end: str) -> None:
    rules = RobotsTxt.parse(laid_over(BASE.replace("\n", end), overlay))
    assert {url: rules.allows(url, agent) for url in urls} == urls
    assert rules.sitemaps == ["https://a.example/s"]


OWN = """# ours
User-agent: GPTBot
Disallow: /x
Allow: /folder/pub

# everybody else
User-agent: *
Disallow: /mine
Crawl-delay: 2
Request-rate: 1/20

Sitemap: https://a.example/s
"""

DELAYED = """# ours
User-agent: *
Disallow: /mine
Crawl-delay: 10

User-agent: GPTBot
Disallow: /x
Allow: /folder/pub

# everybody else
Sitemap: https://a.example/s
"""

NAMED = """# ours
User-agent: bingbot
Disallow: /mine
Disallow: /folder/
Crawl-delay: 0.5

User-agent: GPTBot
Allow: /folder/pub
Disallow: /folder/
Disallow: /x
Crawl-delay: 0.5

# everybody else
User-agent: *
Disallow: /mine
Crawl-delay: 2
Request-rate: 1/20

Sitemap: https://a.example/s
"""

TWO = """User-agent: a
Crawl-delay: 5
User-agent: b
Crawl-delay: 6
Disallow: /ab
"""

ONE_OF_TWO = """User-agent: a
Disallow: /ab
Disallow: /new
Crawl-delay: 5

User-agent: b
Crawl-delay: 6
Disallow: /ab
"""

NEW = """User-agent: Xbot
Allow: /
Disallow:
Crawl-delay: 0.00001

User-agent: x
Allow: /
Disallow:
Crawl-delay: 0.00001
"""

TEXTS = [
    ("delay", OWN, Overlay(("*",), (), 10), DELAYED),
    ("named", OWN, Overlay(("GPTBot", "bingbot"), ("/folder/",), 0.5), NAMED),
    ("one-of-two-agents", TWO, Overlay(("a",), ("/new",)), ONE_OF_TWO),
    ("no-base", "", Overlay(("X", "Xbot", "x"), (), 0.00001), NEW),
]


@pytest.mark.parametrize(("base", "overlay", "text"), [case[1:] for case in TEXTS], ids=[case[0] for case in TEXTS])
def test_each_agent_has_one_group(base: str, overlay: Overlay, text: str) -> None:
    assert laid_over(base, overlay) == text


# ---- properties -----------------------------------------------------------------------------------------------------

NAMES = st.sampled_from(["*", "GPTBot", "ccbot", "CCBot/2", "x"]).map("User-agent: {}".format)
PATHS = st.sampled_from(["/", "/a", "/a/b", "/f/p", ""])
RULES = st.tuples(st.sampled_from(["Allow", "Disallow"]), PATHS).map(": ".join)
LINES = """
# c
Crawl-delay: 3
Crawl-delay: 7.5
Request-rate: 1/20
Sitemap: /s
Content-Signal: search=yes
Content-Usage: train=n
junk
dissallow: /z
Visit-time: 0600-0700
Host: h
Robot-version: 2.0"""
RECORDS = st.sampled_from(LINES.split("\n"))
BASES = st.lists(st.one_of(NAMES, NAMES, RULES, RECORDS), max_size=14).map("\n".join)
OVERLAYS = st.builds(
    Overlay,
    st.lists(st.sampled_from(["*", "GPTBot", "CCBot", "new"]), min_size=1, max_size=3).map(tuple),
    st.sampled_from([("/f/",), ("/a", "/b")]),
    st.sampled_from([None, 10.0, 2]),
)
ASKED = ["/", "/a", "/a/b", "/a/x", "/f/", "/f/p", "/f/q", "/b", "/z"]


def combined(rules: RobotsTxt, robot: str, overlay: Overlay) -> RobotsTxt:
    """The rules of a robot with those of an overlay, by RFC 9309."""
    records = rules.matcher(robot).records()
    lines = [f"{field}: {path}" for _, field, path in records if field in ("allow", "disallow")]
    return RobotsTxt.parse("\n".join(["User-agent: *", *lines, *(f"Disallow: {path}" for path in overlay.disallow)]))


@given(BASES, OVERLAYS)
def test_the_agents_get_the_rules_of_both_and_others_keep_theirs(base: str, overlay: Overlay) -> None:
    old, new = RobotsTxt.parse(base), RobotsTxt.parse(laid_over(base, overlay))
    agents = {agent.lower() for agent in overlay.agents}
    named = {agent.partition("/")[0].lower() for group in old.groups for agent in group.agents}
    for robot in ("gptbot", "ccbot", "x", "new", "other"):
        is_meant = robot in agents or ("*" in agents and robot not in named)
        before, after = old.timing(robot), new.timing(robot)
        delay = overlay.crawl_delay if is_meant else None
        assert (after.delay_s, after.rates) == ((before.delay_s, before.rates) if delay is None else (delay, ()))
        assert (after.windows, old.content_signals(robot)) == (before.windows, new.content_signals(robot))
        rules = combined(old, robot, overlay) if is_meant else old
        assert [rules.allows(path, robot) for path in ASKED] == [new.allows(path, robot) for path in ASKED]
    assert (old.sitemaps, old.host) == (new.sitemaps, new.host)


@given(BASES, OVERLAYS)
def test_every_robot_reads_the_group_of_an_agent_alike(base: str, overlay: Overlay) -> None:
    text = laid_over(base, overlay)
    protego, robotparser, rules = Protego.parse(text), RobotFileParser(), RobotsTxt.parse(text)
    robotparser.parse(text.splitlines())
    for agent in overlay.agents:
        robot = "other" if agent == "*" else agent
        verdicts, delay = [rules.allows(path, robot) for path in ASKED], rules.crawl_delay(robot)
        for name in DIALECTS:
            other = RobotsTxt.parse(text, name)
            if "Allow:" not in base or name not in ("1994", "kollar"):  # which know no Allow
                assert [other.allows(path, robot) for path in ASKED] == verdicts
            assert other.crawl_delay(robot) == delay or name == "google"  # which reads none
        assert [protego.can_fetch(path, robot) for path in ASKED] == verdicts
        assert [robotparser.can_fetch(robot, path) for path in ASKED] == verdicts
        found: list[object] = [protego.crawl_delay(robot), robotparser.crawl_delay(robot)]
        assert found == [delay, None if delay == 7.5 else delay]  # robotparser reads whole numbers only
