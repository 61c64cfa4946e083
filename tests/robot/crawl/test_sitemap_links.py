"""Discoveries from sitemaps, feeds and robots.txt, with their hints."""

import pytest

from goodbot.page.entries import ListKind
from goodbot.robot.crawl.sitemap_links import MAX_LISTS, SITEMAP_DEPTH, discoveries_of, list_refusal, sitemaps_of
from goodbot.url import Url
from goodbot.values import Discovery, LeasedUrl, ListedUrl

MAP = Url("http://h.example/sitemap.xml")
PAGE = Url("http://h.example/1")
NOW = 1_000_000.0
DAY = 86_400.0


def refuse(url: Url, depth: int) -> str | None:
    return None if url.host == "h.example" else f"not here, at {depth}"


@pytest.mark.parametrize(
    ("listed", "discovery"),
    [
        (ListedUrl(PAGE), Discovery(PAGE, 2, MAP, lists=2, hops=2)),
        (
            ListedUrl(PAGE, "title", 5.0, DAY, 0.5),
            Discovery(PAGE, 2, MAP, lists=2, hops=2, modified_at=5.0, interval_s=DAY),
        ),
        (ListedUrl(PAGE, modified_at=NOW + DAY), Discovery(PAGE, 2, MAP, lists=2, hops=2, modified_at=NOW + DAY)),
        (ListedUrl(PAGE, modified_at=NOW + 2 * DAY), Discovery(PAGE, 2, MAP, lists=2, hops=2)),
        (ListedUrl(PAGE, priority=1.0), Discovery(PAGE, 2, MAP, lists=2, hops=2, priority=5)),
        (ListedUrl(PAGE, priority=0.0), Discovery(PAGE, 2, MAP, lists=2, hops=2, priority=-5)),
        (
            ListedUrl(Url("http://x.example/")),
            Discovery(Url("http://x.example/"), 2, MAP, "not here, at 2", lists=2, hops=2),
        ),
    ],
)
def test_what_a_list_names(listed: ListedUrl, discovery: Discovery) -> None:
    assert discoveries_of(LeasedUrl(MAP, 2, hops=1), "sitemap", [listed], NOW, refuse) == (discovery,)


def test_a_url_listed_twice_is_named_once_as_at_first() -> None:
    (found,) = discoveries_of(
        LeasedUrl(MAP, 0), "sitemap", [ListedUrl(PAGE, modified_at=1.0), ListedUrl(PAGE)], NOW, refuse
    )
    assert found.modified_at == 1.0


def test_what_an_index_names_is_expected_to_be_a_list() -> None:
    (found,) = discoveries_of(LeasedUrl(MAP, 1), "sitemap index", [ListedUrl(PAGE)], NOW, refuse)
    assert (found.lists, found.expects_list) == (1, True)


@pytest.mark.parametrize(
    ("kind", "lists", "hops", "refusal"),
    [
        ("sitemap index", 0, 0, None),
        ("sitemap index", 1, 1, "a sitemap index inside a sitemap index: the protocol allows one level"),
        ("sitemap index", 2, 1, "a sitemap index inside a sitemap or feed: the protocol allows one level"),
        ("sitemap", 0, MAX_LISTS - 1, None),
        ("sitemap", 1, MAX_LISTS - 1, None),
        ("sitemap", 2, 1, "a sitemap inside a sitemap or feed: these name pages, not lists"),
        ("feed", 1, 1, None),
        ("feed", 2, 1, "a feed inside a sitemap or feed: these name pages, not lists"),
        ("feed", 0, MAX_LISTS, f"more than {MAX_LISTS} sitemaps, feeds and redirects in a row"),
    ],
)
def test_lists_nest_one_level(kind: ListKind, lists: int, hops: int, refusal: str | None) -> None:
    assert list_refusal(LeasedUrl(MAP, 0, hops=hops, lists=lists), kind) == refusal


def test_sitemaps_of_a_robots_txt() -> None:
    robots = Url("http://h.example/robots.txt")
    found = sitemaps_of(robots, [MAP, Url("http://x.example/s"), MAP], refuse)
    assert found == (
        Discovery(MAP, SITEMAP_DEPTH, robots, expects_list=True),
        Discovery(Url("http://x.example/s"), SITEMAP_DEPTH, robots, "not here, at 1", expects_list=True),
    )
