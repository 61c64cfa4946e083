"""Compares every dialect with the naive reference of naive.py, on files and URLs that nearly match."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exclusion.robotstxt.naive import DIALECTS as NAIVE
from exclusion.robotstxt.naive import naive_allows, naive_delay
from goodbot.exclusion import DIALECTS, RobotsTxt

AGENTS = st.sampled_from(
    [
        *["me", "MeBot/1.0", "Mozilla/5.0 (compatible; Me-Bot/2.1; +http://h/)", "Lycos_Spider_(Rex)/1.0 libwww/3.1"],
        *["you", "me.bot; +http://h/", "*"],
    ]
)
NAMES = st.sampled_from(
    [
        *["me", "ME", "MeBot", "mebot/1.0", "Me-Bot", "bot", "rex", "you", "* rex", "*", "*", "*x", ""],
        *["me, you", "you;me", "MeBot*", "me.bot", "me.", "méBot"],
    ]
)
SIGNS = [
    "a",
    "b",
    "/",
    "/",
    "*",
    "*",
    "$",
    "?",
    "=",
    "&",
    ":",
    "%",
    "%61",
    "%2f",
    "%2F",
    "%2A",
    "%24",
    "%e9",
    "é",
    "aa",
]
PATHS = st.lists(st.sampled_from([*SIGNS, "index.html", "robots.txt", "robots%2Etxt", " "]), max_size=6).map("".join)
RULES = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["Allow: ", "Disallow: ", "Disallow:", "disallow : ", "\tALLOW:\t", "disalow: ", "Allowed: "]),
    st.sampled_from(["/", "/", "/", "*", ""]),
    PATHS,
    st.sampled_from(["", "", " ", "#c", " # c", " /b"]),
)
OTHERS = st.sampled_from(
    [
        *["", "", " \t", "# note", "Sitemap: x", "Crawl-delay: 3", "nothing", "Disallow", "Disallow /a", "Allow:"],
        *["Disallow:", "Disallow: /", "Allow: /robots.txt", "Robot-version: 2.0", "Robot-version: 1.0", "Unknown: /a"],
        "Content-Usage: train-ai=n",
        "Crawl-delay: 1",
        "Crawl-delay: 7",
        "Host: h",
        "Comment: c",
    ]
)
LINES = st.one_of(st.builds("User-agent: {}".format, NAMES), RULES, RULES, OTHERS)
GROUPS = st.builds(lambda names, lines: [*(f"User-agent: {name}" for name in names), *lines],
                   st.lists(NAMES, min_size=1, max_size=3), st.lists(LINES, max_size=6))  # fmt: skip
FILES = st.lists(GROUPS, min_size=1, max_size=3).map(lambda groups: [line for group in groups for line in group])
TAILS = st.sampled_from(["", "", "", "a", "/", "?", "?a=b", "#a", "/index.html"])


@st.composite
def paths_near(draw: st.DrawFn, lines: list[str]) -> str:
    """A pattern of the file made a path, with an octet more or less; or any path."""
    patterns: list[str] = [found[1] for line in lines if (found := re.search(r":\s*([/*][^#]*)", line))]
    path = draw(st.sampled_from(patterns) if patterns else PATHS) if draw(st.booleans()) else "/" + draw(PATHS)
    path = path.strip().replace("*", draw(st.sampled_from(["", "a", "/", "*"])))
    path = path.removesuffix("$") if draw(st.booleans()) else path
    path = path[:-1] if draw(st.booleans()) else path + draw(TAILS)
    return path if path.startswith("/") else "/" + path


@st.composite
def cases(draw: st.DrawFn) -> tuple[bytes, str, str]:
    lines = draw(FILES)
    body = draw(st.sampled_from(["\n", "\n", "\r\n", "\r"])).join(lines).encode()
    return draw(st.sampled_from([b"", b"", b"\xef\xbb\xbf"])) + body, draw(paths_near(lines)), draw(AGENTS)


def test_every_dialect_is_tested() -> None:
    assert set(DIALECTS) == set(NAIVE)


@pytest.mark.parametrize("dialect", NAIVE)
@given(case=cases())
def test_verdict_is_the_naive_one(dialect: str, case: tuple[bytes, str, str]) -> None:
    body, path, agent = case
    url = f"http://h{path}"
    expected = naive_allows(body, url, agent, dialect)
    robots = RobotsTxt.parse(body, dialect)
    assert robots.allows(url, agent) is expected
    assert robots.matcher(agent).allows(url) is expected
    assert robots.answers([(url, "nobody else"), (url, agent)])[1] is expected
    verdict = robots.verdict(url, agent)
    assert verdict.allowed is expected
    if dialect == "rfc9309":
        assert robots.crawl_delay(agent) == verdict.delay_s == naive_delay(body, agent)
    assert verdict.rule is None or verdict.rule.startswith("Allow" if expected else "Disallow")


@pytest.mark.parametrize("dialect", NAIVE)
@given(rules=st.lists(RULES, min_size=1, max_size=14), data=st.data())
def test_many_rules_of_one_group(dialect: str, rules: list[str], data: st.DataObject) -> None:
    body = "\n".join(["User-agent: *", *rules]).encode()
    robots = RobotsTxt.parse(body, dialect)
    urls = [f"http://h{path}" for path in data.draw(st.lists(paths_near(rules), min_size=1, max_size=5))]
    expected = [naive_allows(body, url, "me", dialect) for url in urls]
    assert [robots.matcher("me").allows(url) for url in urls] == expected
    assert robots.answers([(url, "me") for url in urls]) == expected
