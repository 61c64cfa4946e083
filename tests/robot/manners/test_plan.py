"""Tests the plan of a dry run: gaps, order, and the least time it takes."""

import pytest

from goodbot.config import Settings
from goodbot.exclusion import Access
from goodbot.robot.manners.plan import PlannedHost, plan, plan_host
from goodbot.robot.manners.politeness import Politeness
from goodbot.url import Url
from goodbot.values import Lease, LeasedUrl

NOW = 1_000_000.0


def robots(text: str) -> Access:
    return Access.from_response(200, [("Content-Type", "text/plain")], text.encode(), NOW)


def lease(*urls: str, backoff_s: float = 0.0) -> Lease:
    return Lease(Url(urls[0]).host_key, tuple(LeasedUrl(Url(url), 0) for url in urls), backoff_s)


GAPS = [
    ("public, unknown", "http://a.example/", None, None, 1.0),
    ("private, unknown", "http://127.0.0.1:8000/", None, None, 0.0),
    ("a floor", "http://127.0.0.1:8000/", None, 3.0, 3.0),
    ("Crawl-delay", "http://a.example/", "User-agent: *\nCrawl-delay: 7", None, 7.0),
    ("Crawl-delay below the floor", "http://a.example/", "User-agent: *\nCrawl-delay: 2", 5.0, 5.0),
    ("another robot's delay", "http://a.example/", "User-agent: x\nCrawl-delay: 7", None, 1.0),
]


@pytest.mark.parametrize(("url", "text", "delay", "gap"), [case[1:] for case in GAPS], ids=[case[0] for case in GAPS])
def test_gaps(url: str, text: str | None, delay: float | None, gap: float) -> None:
    known = {} if text is None else {Url(url).origin: robots(text)}
    planned = plan_host(lease(url), 5, NOW, known, Politeness(Settings(delay=delay)), "goodbot")
    assert (planned.gap_s, planned.robots_known, planned.ready) == (gap, text is not None, 5)


def test_what_robots_txt_forbids_is_told_apart() -> None:
    known = {"http://a.example": robots("User-agent: *\nDisallow: /private")}
    both = lease("http://a.example/", "http://a.example/private/x", backoff_s=4.0)
    planned = plan_host(both, 2, NOW, known, Politeness(Settings()), "goodbot")
    assert [url.text for url in planned.urls] == ["http://a.example/"]
    assert [url.text for url in planned.disallowed] == ["http://a.example/private/x"]
    assert planned.gap_s == 5.0


def host(ready: int, gap_s: float, *, wait_s: float = 0.0, known: bool = True) -> PlannedHost:
    return PlannedHost("x", ready, NOW + wait_s, gap_s, known, (), ())


TIMES = [
    ("nothing", [], None, 0, 0.0),
    ("one page", [host(1, 10.0)], None, 1, 0.0),
    ("robots.txt first", [host(1, 10.0, known=False)], None, 1, 10.0),
    ("side by side", [host(11, 10.0), host(101, 2.0)], None, 112, 200.0),
    ("a wait", [host(2, 1.0, wait_s=60.0)], None, 2, 61.0),
    ("due long ago", [host(3, 1.0, wait_s=-60.0)], None, 3, 2.0),
    ("some of them", [host(100, 10.0), host(100, 10.0)], 20, 20, 90.0),
    ("more than there are", [host(3, 1.0)], 50, 3, 2.0),
    ("no pause", [host(1000, 0.0), host(5, 0.0)], 100, 100, 0.0),
]


@pytest.mark.parametrize(("hosts", "most", "pages", "least_s"), [c[1:] for c in TIMES], ids=[c[0] for c in TIMES])
def test_times(hosts: list[PlannedHost], most: int | None, pages: int, least_s: float) -> None:
    made = plan(hosts, NOW, most)
    assert made.pages == pages
    assert made.least_s == pytest.approx(least_s, abs=1e-6)
