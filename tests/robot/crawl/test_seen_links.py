"""Which URLs go to the frontier: new ones, less deep ones, and those found twice as often."""

import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from goodbot.robot.crawl.seen_links import MAX_RECENT_URLS, SeenLinks
from goodbot.url import Url


def new(known: SeenLinks, url: str, depth: int) -> int:
    """How often it was found, if the frontier is to hear of it; else 0."""
    return sum(times for _, times in known.new([Url(url)], depth))


def test_the_first_time_and_each_doubling() -> None:
    known = SeenLinks()
    assert [new(known, "http://h/", 1) for _ in range(9)] == [1, 2, 0, 4, 0, 0, 0, 8, 0]


def test_less_deep_is_news() -> None:
    known = SeenLinks()
    assert [new(known, "http://h/", depth) for depth in (5, 5, 5, 4, 4, 9)] == [1, 2, 0, 4, 0, 0]
    assert new(known, "http://h/", 0) == 7


def test_what_was_forgotten_is_new_again() -> None:
    known = SeenLinks(10)
    assert new(known, "http://h/first", 1) == 1
    for number in range(10):
        new(known, f"http://h/{number}", 1)
    assert new(known, "http://h/first", 1) == 2  # it was in the older half
    for number in range(100, 125):
        new(known, f"http://h/{number}", 1)
    assert new(known, "http://h/first", 1) == 1


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 5)), max_size=60))
def test_the_frontier_hears_of_every_url_and_its_least_depth(found: list[tuple[str, int]]) -> None:
    known = SeenLinks()
    told: dict[str, int] = {}
    for url, depth in found:
        if new(known, url, depth):
            told[url] = min(depth, told.get(url, depth))
    assert told == {url: min(depth for each, depth in found if each == url) for url in {url for url, _ in found}}


def test_long_urls_take_no_more_memory_than_short_ones() -> None:
    known = SeenLinks()
    tracemalloc.start()
    for number in range(2 * MAX_RECENT_URLS):
        known.new([Url(f"http://h/{number}/" + "x" * 8000)], 1)
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 16_000_000  # as text they would take 500 MB
