"""A policy and the file written from it allow the same URLs to each robot."""

import itertools
import re
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.check import Subject, check
from goodbot.check.policy_writer import Policy, RobotLimits, merge_robotstxt, write_robotstxt
from goodbot.errors import InputError
from goodbot.exclusion import RobotsTxt
from goodbot.registry import tokens_for

POLICIES: list[tuple[str, Policy, dict[tuple[str, str], bool]]] = [
    ("all is open", Policy(), {("Any", "/a"): True}),
    ("all is closed", Policy(everyone="closed"), {("Any", "/a"): False}),
    (
        "but for a path",
        Policy(everyone="closed", bounds=RobotLimits(open=("/a/",))),
        {("Any", "/a/b"): True, ("Any", "/"): False},
    ),
    (
        "a path is closed, a part of it open",
        Policy(bounds=RobotLimits(close=("/a/",), open=("/a/b/",))),
        {("Any", "/a/c"): False, ("Any", "/a/b/c"): True, ("Any", "/b"): True},
    ),
    (
        "only these",
        Policy(only=("Googlebot",), bounds=RobotLimits(close=("/a/",))),
        {("Googlebot", "/"): True, ("Googlebot", "/a/"): False, ("Other", "/"): False},
    ),
    (
        "no AI training",
        Policy(no=("ai-training",), bounds=RobotLimits(close=("/a/",))),
        {("GPTBot", "/"): False, ("Googlebot", "/"): True, ("Googlebot", "/a/x"): False},
    ),
    (
        "but for one of them",
        Policy(no=("ai-training",), only=("GPTBot",)),
        {("GPTBot", "/"): True, ("CCBot", "/"): False, ("Other", "/"): False},
    ),
    (
        "one robot with bounds of its own keeps the common ones",
        Policy(bounds=RobotLimits(close=("/a/",)), robots={"OneBot": RobotLimits(close=("/b/",), delay=5)}),
        {("OneBot", "/a/"): False, ("OneBot", "/b/"): False, ("Other", "/b/"): True, ("OneBot", "/c"): True},
    ),
    (
        "closed, and one robot with a delay of its own",
        Policy(everyone="closed", robots={"OneBot": RobotLimits(delay=5)}),
        {("OneBot", "/"): False, ("Other", "/"): False},
    ),
    (
        "closed, and one robot with a path of its own",
        Policy(everyone="closed", bounds=RobotLimits(open=("/a/",)), robots={"OneBot": RobotLimits(open=("/b/",))}),
        {("OneBot", "/"): False, ("OneBot", "/a/"): True, ("OneBot", "/b/"): True, ("Other", "/b/"): False},
    ),
    (
        "only one, and another with a delay of its own",
        Policy(only=("OneBot",), robots={"TwoBot": RobotLimits(delay=5)}),
        {("OneBot", "/"): True, ("TwoBot", "/"): False, ("Other", "/"): False},
    ),
    (
        "a table opens to a purpose that may not come only what it names",
        Policy(
            no=("ai-training",),
            bounds=RobotLimits(open=("/a/",)),
            robots={"GPTBot": RobotLimits(open=("/b/",), delay=5)},
        ),
        {("GPTBot", "/"): False, ("GPTBot", "/a/"): False, ("GPTBot", "/b/"): True, ("Other", "/"): True},
    ),
    (
        "a closed path inside an open one of a closed site",
        Policy(everyone="closed", bounds=RobotLimits(open=("/a/",), close=("/a/b/",))),
        {("Any", "/a/"): True, ("Any", "/a/b/"): False, ("Any", "/"): False},
    ),
    (
        "closed to all but those of `only`",
        Policy(everyone="closed", only=("OneBot",)),
        {("OneBot", "/"): True, ("Other", "/"): False},
    ),
    (
        "a table that opens all to a purpose that may not come",
        Policy(no=("ai-training",), robots={"GPTBot": RobotLimits(open=("/",))}),
        {("GPTBot", "/"): True, ("CCBot", "/"): False},
    ),
    (
        "two tables of one robot",
        Policy(robots={"OneBot": RobotLimits(close=("/a",)), "onebot": RobotLimits(close=("/b",))}),
        {("OneBot", "/a"): False, ("OneBot", "/b"): False, ("OneBot", "/c"): True},
    ),
    ("one robot not", Policy(no_robots=("OneBot",)), {("OneBot", "/"): False, ("Other", "/"): True}),
]


@pytest.mark.parametrize(("name", "policy", "answers"), POLICIES, ids=[case[0] for case in POLICIES])
def test_the_file_allows_what_the_policy_allows(
    name: str, policy: Policy, answers: dict[tuple[str, str], bool]
) -> None:
    text = write_robotstxt(policy)
    robots = RobotsTxt.parse(text)
    assert {(agent, url): robots.allows(url, agent) for agent, url in answers} == answers
    assert not [finding for finding in check(Subject(text)) if finding.severity == "error"]


def test_all_robots_of_a_purpose_are_named() -> None:
    robots = RobotsTxt.parse(write_robotstxt(Policy(no=("seo",))))
    assert tokens_for("seo")
    assert not any(robots.allows("/", token) for token in tokens_for("seo"))


def test_delays_and_sitemaps() -> None:
    policy = Policy(
        bounds=RobotLimits(delay=2), robots={"OneBot": RobotLimits(delay=5)}, sitemaps=("https://example.org/s.xml",)
    )
    robots = RobotsTxt.parse(write_robotstxt(policy))
    assert (robots.crawl_delay("Any"), robots.crawl_delay("OneBot")) == (2, 5)
    assert robots.sitemaps == ["https://example.org/s.xml"]


def test_common_rules_are_in_every_group_of_admitted_robots() -> None:
    policy = Policy(
        no=("ai-training",), only=("TwoBot",), bounds=RobotLimits(delay=2), robots={"OneBot": RobotLimits()}
    )
    robots = RobotsTxt.parse(write_robotstxt(policy))
    for agent in ("OneBot", "TwoBot", "Other"):
        assert str(robots.preferences("/", agent)) == str(robots.preferences("/", "Other"))
        assert robots.crawl_delay(agent) == 2
    assert write_robotstxt(policy).count(b"Content-Signal: ai-train=no") == 3


# ---- the same, read naively from the policy -------------------------------------------------------------------------

PATTERNS = ["/", "/a", "/a/", "/a/b", "/a/b/c", "/b", "/*c", "/a*c", "/*.x$", "/a/b$", "*b"]
URLS = ["/", "/a", "/a/", "/a/b", "/a/b/", "/a/b/c", "/a/b/c.x", "/b", "/b/a", "/c", "/xc", "/a/xc", "/d.x", "/d.xy"]
TOKENS = ["OneBot", "onebot", "TwoBot", "GPTBot"]
SOME_PATHS = st.lists(st.sampled_from(PATTERNS), max_size=3).map(tuple)
BOUNDS = st.builds(RobotLimits, close=SOME_PATHS, open=SOME_PATHS, delay=st.sampled_from([None, 2.0, 5.0]))
SOME_TOKENS = st.lists(st.sampled_from(TOKENS), max_size=2).map(tuple)


def lower(tokens: Iterable[str]) -> set[str]:
    return {token.lower() for token in tokens}


def fits(pattern: str, url: str) -> bool:
    said = ".*".join(re.escape(part) for part in pattern.removesuffix("$").split("*"))
    return re.match(said + ("$" if pattern.endswith("$") else ""), url) is not None


def may_fetch(policy: Policy, agent: str, url: str) -> bool:
    """Returns whether the policy lets a robot fetch a path."""
    welcome = agent in lower(policy.only)
    barred = agent in lower(policy.no_robots) or (agent in lower(tokens_for(*policy.no)) and not welcome)
    own = [bounds for token, bounds in policy.robots.items() if token.lower() == agent]
    bounds = own if barred else [policy.bounds, *own]
    longest_open = max((len(path) for each in bounds for path in each.open if fits(path, url)), default=0)
    longest_closed = max((len(path) for each in bounds for path in each.close if fits(path, url)), default=0)
    if longest_open or longest_closed:
        return longest_open >= longest_closed
    return not barred and (welcome or not (policy.only or policy.everyone == "closed"))


@given(
    everyone=st.sampled_from(["open", "closed"]),
    bounds=BOUNDS,
    only=SOME_TOKENS,
    no=st.sampled_from([(), ("ai-training",)]),
    no_robots=SOME_TOKENS,
    robots=st.dictionaries(st.sampled_from(TOKENS), BOUNDS, max_size=3),
)
def test_each_robot_may_fetch_what_the_policy_allows(only: tuple[str, ...], **rest: Any) -> None:
    policy = Policy(only=tuple(token for token in only if token.lower() not in lower(rest["no_robots"])), **rest)
    written = RobotsTxt.parse(write_robotstxt(policy))
    for agent in ("onebot", "twobot", "gptbot", "other"):
        for url in URLS:
            assert written.allows(url, agent) is may_fetch(policy, agent, url), (agent, url)


REFUSED = [
    lambda: Policy(bounds=RobotLimits(close=("a",))),
    lambda: Policy(bounds=RobotLimits(open=("/a b",))),
    lambda: Policy(bounds=RobotLimits(close=("/a\nAllow: /",))),
    lambda: Policy(bounds=RobotLimits(delay=-1)),
    lambda: Policy(bounds=RobotLimits(delay=float("nan"))),
    lambda: Policy(no_robots=("*",)),
    lambda: Policy(only=("One Bot",)),
    lambda: Policy(no=("evil",)),  # type: ignore[arg-type]
    lambda: Policy(sitemaps=("/sitemap.xml",)),
    lambda: Policy(sitemaps=("https://example.org/\nDisallow: /",)),
    lambda: Policy(only=("OneBot",), no_robots=("onebot",)),
]


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_malformed_policies_are_refused(number: int) -> None:
    with pytest.raises(InputError):
        REFUSED[number]()


# ---- several files --------------------------------------------------------------------------------------------------

MERGED = [
    (
        "rules of both",
        "User-agent: *\nDisallow: /~a/\n",
        "User-agent: *\nDisallow: /~b/\n",
        "User-agent: *\nDisallow: /~a/\nDisallow: /~b/\n",
    ),
    (
        "a group of its own in one",
        "User-agent: One\nDisallow: /a\n",
        "User-agent: *\nDisallow: /b\n",
        "User-agent: one\nDisallow: /a\nDisallow: /b\n\nUser-agent: *\nDisallow: /b\n",
    ),
    (
        "the longest delay, all sitemaps",
        "User-agent: *\nCrawl-delay: 2\nSitemap: https://a.example/\n",
        "User-agent: *\nCrawl-delay: 5\nSitemap: https://b.example/\n",
        "User-agent: *\nDisallow:\nCrawl-delay: 5\n\nSitemap: https://a.example/\nSitemap: https://b.example/\n",
    ),
    (
        "an Allow that both have",
        "User-agent: *\nDisallow: /a\nAllow: /a/b\n",
        "User-agent: *\nAllow: /a/b\nDisallow: /a\n",
        "User-agent: *\nDisallow: /a\nAllow: /a/b\n",
    ),
    (
        "each robot its own delay",
        "User-agent: bingbot\nCrawl-delay: 1\nUser-agent: msnbot\nCrawl-delay: 2\nUser-agent: *\nDisallow: /a\n",
        "User-agent: *\nDisallow: /a\n",
        (
            "User-agent: bingbot\nDisallow: /a\nCrawl-delay: 1\n\nUser-agent: msnbot\nDisallow: /a\nCrawl-delay: 2\n\n"
            "User-agent: *\nDisallow: /a\n"
        ),
    ),
    (
        "delays as they can be read",
        "User-agent: *\nDisallow:\nCrawl-delay: 1000000.25\n",
        "User-agent: *\nDisallow:\nCrawl-delay: 0.0000001\n",
        "User-agent: *\nDisallow:\nCrawl-delay: 1000000.25\n",
    ),
    (
        "records of the whole file, each once",
        "User-agent: *\nDisallow: /a\nLicense: https://a.example/l.xml\nClean-param: sid /forum/\nHost: a.example\n",
        "License: https://a.example/l.xml\nLicense: https://b.example/m\nClean-param: ref\nClean-param: sid /forum/\n",
        (
            "User-agent: *\nDisallow: /a\n\nHost: a.example\nClean-param: sid /forum/\nClean-param: ref\n"
            "License: https://a.example/l.xml\nLicense: https://b.example/m\n"
        ),
    ),
    (
        "names as robots compare them",
        "User-agent: Onebot/2.0\nUser-agent: *bot\nUser-agent: Two, Three\nDisallow: /a\n",
        "User-agent: ONEBOT*\nDisallow: /b\n",
        "User-agent: onebot\nDisallow: /a\nDisallow: /b\n\nUser-agent: two\nDisallow: /a\n",
    ),
    ("nothing", "", "", ""),
]


@pytest.mark.parametrize(("name", "one", "other", "expected"), MERGED, ids=[case[0] for case in MERGED])
def test_two_files_become_one(name: str, one: str, other: str, expected: str) -> None:
    assert merge_robotstxt([one.encode(), other.encode()]) == (expected.encode(), [])


def test_an_allow_rule_that_another_file_disallows_is_left_out_and_reported() -> None:
    text, said = merge_robotstxt([b"User-agent: *\nDisallow: /a\nAllow: /a/b\n", b"User-agent: *\nDisallow: /a/b\n"])
    assert not RobotsTxt.parse(text).allows("/a/b", "Any")
    assert said == ["`Allow: /a/b` for * is left out: another file has `Disallow: /a/b`"]


def test_a_merge_reports_what_it_leaves_out() -> None:
    one = b"User-agent: *\nDisallow: /a\nNoindex: /b\nHost: a.example\n"
    text, said = merge_robotstxt([one, one + b"Noindex: /c\nHost: A.example\nHost: b.example\nNoindex:\n"])
    assert b"noindex" not in text.lower()
    assert said == [
        "`Noindex: /b` and 1 more are left out: no robot reads Noindex in robots.txt any more",
        "the files name different hosts, and a site has one; all are kept: `Host: a.example`, `Host: b.example`",
    ]
    assert merge_robotstxt([one, b"Host: a.example\nnoindex : /b"])[1] == [
        "`Noindex: /b` is left out: no robot reads Noindex in robots.txt any more"
    ]


OVERRIDES: list[tuple[str, str, str, str]] = [
    # an Allow rule, a Disallow rule that it would override, a URL both match
    ("octets, not letters", "/ééé*", "/*abcdefghij", "/%C3%A9%C3%A9%C3%A9abcdefghij"),
    ("written in two ways", "/%61bcdefgh*", "/a*x", "/abcdefghx"),
    ("query values in two forms", "/x?u=:abcdef*", "/x?u=%3A*z", "/x?u=:abcdefz"),
    ("both end", "/*abcde$", "/abcde$", "/abcde"),
]


@pytest.mark.parametrize(("name", "opens", "closes", "url"), OVERRIDES, ids=[case[0] for case in OVERRIDES])
def test_no_allow_rule_overrides_another_file(name: str, opens: str, closes: str, url: str) -> None:
    bodies = [f"User-agent: *\nAllow: {opens}\n".encode(), f"User-agent: *\nDisallow: {closes}\n".encode()]
    together = RobotsTxt.parse(f"User-agent: *\nAllow: {opens}\nDisallow: {closes}\n")
    assert together.allows(url, "Any")
    text, left_out = merge_robotstxt(bodies)
    assert not RobotsTxt.parse(text).allows(url, "Any")
    assert len(left_out) == 1


def test_a_very_long_delay_is_written_so_that_robots_can_read_it() -> None:
    assert RobotsTxt.parse(write_robotstxt(Policy(bounds=RobotLimits(delay=1e6)))).crawl_delay("Any") == 1e6
    assert b"Crawl-delay: 1000000\n" in write_robotstxt(Policy(bounds=RobotLimits(delay=1e6)))


RULES = st.builds(
    "{}: {}".format,
    st.sampled_from(["Allow", "Disallow"]),
    st.sampled_from(
        ["/", "/a", "/a/", "/a/b", "/a/b/c", "/*b", "/a*c", "/*.x$", "/a/b$", "", "/é*", "/*abcd", "/%61*"]
    ),
)
RECORDS = st.one_of(
    RULES, RULES, RULES, st.sampled_from(["Crawl-delay: 1", "Crawl-delay: 2.5", "Crawl-delay: 3000000"])
)
NAMES = st.sampled_from(["User-agent: *", "User-agent: One", "User-agent: Two/1", "Crawl-delay: 7", "Crawl-delay: 0.1"])
GROUP = st.builds(
    lambda first, names, records: [first, *names, *records],
    st.sampled_from(["User-agent: *", "User-agent: One", "User-agent: Two"]),
    st.lists(NAMES, max_size=3),
    st.lists(RECORDS, max_size=4),
)
FILE = st.builds(lambda groups: "\n".join(itertools.chain(*groups)).encode(), st.lists(GROUP, max_size=3))


@given(st.lists(FILE, min_size=2, max_size=3))
def test_a_merge_keeps_every_disallow_rule_and_the_longest_delay(bodies: list[bytes]) -> None:
    text, left_out = merge_robotstxt(bodies)
    merged, files = RobotsTxt.parse(text), [RobotsTxt.parse(body) for body in bodies]
    for agent in ("One", "Two", "Other"):
        delays = [delay for file in files if (delay := file.crawl_delay(agent)) is not None]
        assert merged.crawl_delay(agent) == max(delays, default=None)
        for url in ("/", "/a", "/a/", "/a/b", "/a/b/c", "/a/b/c.x", "/b", "/c", "/a/xc", "/éabcd", "/abcd"):
            together = all(file.allows(url, agent) for file in files)
            if not together:
                assert not merged.allows(url, agent), (agent, url)
            elif not left_out:
                assert merged.allows(url, agent), (agent, url)
