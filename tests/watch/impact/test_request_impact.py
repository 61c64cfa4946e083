"""What the change of a robots.txt means for the requests of a log."""

import random
import string
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.watch.counting.counting_options import CountingOptions
from goodbot.watch.counting.judged_target import judged_target
from goodbot.watch.impact import RobotLabel
from goodbot.watch.impact.changed_paths import ChangedPaths
from goodbot.watch.impact.rule_changes import Change, path_of
from impact_one_by_one import Request, count, requests_of
from watch.impact.impacts import as_counts, impact_of, line
from watch.labelled_log import IMPOSTORS, agent_of, make_log

EMPTY = b""
ALL = b"User-agent: *\n"

CHANGES = [
    ("rule-added", ALL + b"Disallow: /help/\n", ALL + b"Disallow: /help/\nDisallow: /shop/\n"),
    ("rule-removed", ALL + b"Disallow: /help/\nDisallow: /shop/\n", ALL + b"Disallow: /help/\n"),
    ("everything-closed", EMPTY, ALL + b"Disallow: /\n"),
    ("everything-opened", ALL + b"Disallow: /\n", EMPTY),
    ("allow-within", ALL + b"Disallow: /blog/\n", ALL + b"Disallow: /blog/\nAllow: /blog/1\n"),
    ("allow-within-removed", ALL + b"Allow: /blog/1\nDisallow: /blog\n", ALL + b"Disallow: /blog\n"),
    ("wildcard", ALL, ALL + b"Disallow: /*5.html\n"),
    ("wildcard-of-query", ALL, ALL + b"Disallow: /*?*sort=\n"),
    ("end", ALL + b"Disallow: /news/3\n", ALL + b"Disallow: /news/3.html$\nDisallow: /blog/$\n"),
    ("end-and-wildcard", ALL, ALL + b"Disallow: /*.html$\nAllow: /shop/*.html$\n"),
    ("group-of-a-robot", ALL + b"Disallow: /help/\n", ALL + b"Disallow: /help/\n\nUser-agent: GPTBot\nDisallow: /\n"),
    ("group-that-opens", ALL + b"Disallow: /\n", ALL + b"Disallow: /\n\nUser-agent: bingbot\nDisallow:\n"),
    ("empty-group", ALL + b"Disallow: /shop/\n", ALL + b"Disallow: /shop/\n\nUser-agent: CCBot\n"),
    (
        "crawl-delay-only",
        ALL + b"Disallow: /shop/\n",
        ALL + b"Disallow: /shop/\n\nUser-agent: DotBot\nCrawl-delay: 9\n",
    ),
    ("google", b"User-agent: Googlebot\nDisallow: /news\n", b"User-agent: Googlebot/2.1\nDisallow: /news/index.html\n"),
    ("only-the-named", ALL + b"Disallow: /\n", b"User-agent: Applebot\nUser-agent: MJ12bot\nDisallow: /shop\n"),
    ("browsers-are-named", EMPTY, b"User-agent: Mozilla\nDisallow: /news/\n"),
    ("equal-rules", ALL + b"Disallow: /news/\n", ALL + b"Disallow: /news/\nAllow: /news/\n"),
    ("robots-txt", ALL + b"Allow: /robots.txt\n", ALL + b"Disallow: /robots.txt\n"),
    (
        "two-groups-of-one",
        ALL + b"Disallow: /help\n",
        b"User-agent: *\nDisallow: /help\n\nUser-agent: *\nDisallow: /blog\n",
    ),
    ("order", ALL + b"Disallow: /shop/1\nAllow: /shop/1\n", ALL + b"Allow: /shop/1\nDisallow: /shop/1\n"),
    ("encoded", ALL + b"Disallow: /n%65ws/\n", ALL + b"Disallow: /blo%67/\n"),
]
UNCHANGED = ("robots-txt", "order")


@cache
def known_log() -> tuple[bytes, list[Request]]:
    """A log of a few thousand lines of people, robots and impostors, with some odd requests."""
    choose = random.Random(1)
    text = make_log().text().splitlines(keepends=True)
    odd = [
        line(target, agent_of(token), f"203.0.113.{place}", place)
        for place, target in enumerate(
            ("http://shop.example/news/1.html?x", "/n%65ws/", "/blog?sort=1", "*", "//a/b", "/\\xC3\\xA9")
        )
        for token in (*IMPOSTORS, "CCBot", "DotBot")
    ]
    robots = [one for one in text if b"compatible" in one]
    people = choose.sample([one for one in text if b"compatible" not in one], 3000)
    log = b"".join([*robots, *people, *(one.encode() for one in odd)])
    return log, [*requests_of(log)]


@pytest.mark.parametrize(("name", "old", "new"), CHANGES, ids=[case[0] for case in CHANGES])
def test_the_numbers_are_those_of_a_count_one_by_one(name: str, old: bytes, new: bytes) -> None:
    log, requests = known_log()
    impact, expected = impact_of(log, old, new, blocks=3), count(requests, old, new)
    assert as_counts(impact) == expected
    assert impact.requests == len(requests) > 3000
    assert (impact.changed == 0) is (name in UNCHANGED)
    assert impact.changed == expected.opened.total() + expected.closed.total()
    assert impact.paths_changed == len({path.path for path in expected.paths})
    assert (impact.bytes, impact.paths_are_exact) == (expected.bytes.total(), True)


def test_impostors_are_counted_apart() -> None:
    log = "".join(line("/", agent_of("Googlebot"), address) for address in ("66.249.64.1", "203.0.113.9")).encode()
    impact = impact_of(log, EMPTY, b"User-agent: Googlebot\nDisallow: /\n")
    assert [(one.label, one.closed) for one in impact.robots] == [
        (RobotLabel("Googlebot", "impostor"), 1),
        (RobotLabel("Googlebot", "verified"), 1),
    ]


def test_a_period() -> None:
    log = line("/").encode()
    assert impact_of(log, EMPTY, ALL, CountingOptions(until=0)).requests == 0
    assert impact_of(log, EMPTY, ALL, CountingOptions(since=0)).requests == 1


TARGETS = [
    ("GET /a?b HTTP/1.1", "/a?b"),
    ("GET http://example.org/a HTTP/1.1", "http://example.org/a"),
    ("GET HTTPS://example.org HTTP/2", "HTTPS://example.org"),
    ("OPTIONS * HTTP/1.1", None),
    ("CONNECT example.org:443 HTTP/1.1", None),
    ("-", None),
    ("", None),
    ("GET a HTTP/1.1", None),
    ("GET /caf\xc3\xa9 HTTP/1.1", "/caf%C3%A9"),
    ("GET /caf\\xc3\\xA9 HTTP/1.1", "/caf%C3%A9"),
    ("GET /a b HTTP/1.1", "/a b"),
]


@pytest.mark.parametrize(("request_line", "target"), TARGETS)
def test_what_is_judged(request_line: str, target: str | None) -> None:
    assert judged_target(request_line) == target


@pytest.mark.parametrize(
    ("url", "path"),
    [("/a?b#c", "/a"), ("/a#b?c", "/a"), ("http://x.example", "/"), ("http://x.example?a", "/"), ("HTTP://x/b", "/b")],
)
def test_the_path_of_a_url(url: str, path: str) -> None:
    assert path_of(url) == path


def test_the_most_frequent_paths_are_kept() -> None:
    paths, robot = ChangedPaths(kept=10), RobotLabel("a")
    for number in range(1000):
        paths.add(Change(f"/{number}", True, "Disallow: /", 2), [robot], 1)
        paths.add(Change("/often", True, "Disallow: /", 2), [robot], 1)
    top = paths.top(5)
    assert top[0].path == "/often"
    assert top[0].requests <= 1000 <= top[0].at_most
    assert top[0].requests > 500
    assert all(one.requests <= 1 <= one.at_most for one in top[1:])
    count, is_exact = paths.paths
    assert abs(count - 1001) < 100
    assert not is_exact
    assert len(paths.top(1000)) <= 20


# ---- any log, any files ---------------------------------------------------------------------------------------------

AGENTS = ["", "Mozilla/5.0 (X11)", "MyBot/1.0", "x", "*", *map(agent_of, ("Googlebot", "GPTBot", "bingbot", "CCBot"))]
WORDS = st.sampled_from(["/", "/a", "/b", "*", "$", "%61", "?", "=", "/a/b", "\u00e9", "http://x.example", "#"])
LINES = st.lists(
    st.tuples(
        st.sampled_from(["Allow", "Disallow", "User-agent", "Crawl-delay", "#", "Sitemap"]),
        WORDS | st.sampled_from(["Googlebot", "GPTBot", "MyBot", "*", "Mozilla", "", "/a*b$"]),
    ),
    max_size=12,
)
FILES = LINES.map(lambda lines: "".join(f"{name}: {value}\n" for name, value in lines).encode())
PATHS = st.lists(WORDS, max_size=4).map(lambda words: "/" + "".join(words))
LOGS = st.lists(st.tuples(PATHS, st.sampled_from(AGENTS), st.integers(0, 999)), max_size=20)


@given(LOGS, FILES, FILES)
def test_any_log_and_any_files(lines: list[tuple[str, str, int]], old: bytes, new: bytes) -> None:
    log = "".join(line(path, agent or "-", size=size) for path, agent, size in lines).encode()
    expected = count(requests_of(log), old, new)
    assert as_counts(impact_of(log, old, new, blocks=2)) == expected


@given(st.binary(max_size=300), st.binary(max_size=200), st.binary(max_size=200))
def test_any_bytes(log: bytes, old: bytes, new: bytes) -> None:
    wrapped = log + b"\n" + line("/x").encode().replace(b"/x", b"/" + log.replace(b"\n", b"").replace(b'"', b""))
    impact = impact_of(wrapped, old, new)
    assert impact.changed == impact.opened + impact.closed <= impact.requests


@given(st.text(string.printable), st.text())
def test_any_request_line(ascii_text: str, text: str) -> None:
    for request in (ascii_text, f"GET {text} HTTP/1.1"):
        target = judged_target(request)
        assert target is None or path_of(target)
