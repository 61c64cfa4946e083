"""What a sitemap, a feed or a robots.txt lists, as discoveries with their hints."""

import pytest

from goodbot.robot.listings import LISTS_MOST, SITEMAP_DEPTH, discoveries_of, is_one_too_many, sitemaps_of
from goodbot.url import Url
from goodbot.values import Discovery, LeasedUrl, Listed

MAP = Url("http://h.example/sitemap.xml")
PAGE = Url("http://h.example/1")
NOW = 1_000_000.0
DAY = 86_400.0


def refuse(url: Url, depth: int) -> str | None:
    return None if url.host == "h.example" else f"not here, at {depth}"


@pytest.mark.parametrize(
    ("listed", "discovery"),
    [
        (Listed(PAGE), Discovery(PAGE, 2, MAP, hops=2)),
        (Listed(PAGE, "title", 5.0, DAY, 0.5), Discovery(PAGE, 2, MAP, hops=2, modified_at=5.0, interval_s=DAY)),
        (Listed(PAGE, modified_at=NOW + DAY), Discovery(PAGE, 2, MAP, hops=2, modified_at=NOW + DAY)),
        (Listed(PAGE, modified_at=NOW + 2 * DAY), Discovery(PAGE, 2, MAP, hops=2)),
        (Listed(PAGE, priority=1.0), Discovery(PAGE, 2, MAP, hops=2, priority=5)),
        (Listed(PAGE, priority=0.0), Discovery(PAGE, 2, MAP, hops=2, priority=-5)),
        (Listed(Url("http://x.example/")), Discovery(Url("http://x.example/"), 2, MAP, "not here, at 2", hops=2)),
    ],
)
def test_what_a_list_names(listed: Listed, discovery: Discovery) -> None:
    assert discoveries_of(LeasedUrl(MAP, 2, hops=1), [listed], NOW, refuse) == (discovery,)


def test_a_url_listed_twice_is_named_once_as_at_first() -> None:
    (found,) = discoveries_of(LeasedUrl(MAP, 0), [Listed(PAGE, modified_at=1.0), Listed(PAGE)], NOW, refuse)
    assert found.modified_at == 1.0


def test_a_chain_of_lists_comes_to_an_end() -> None:
    assert [is_one_too_many(LeasedUrl(MAP, 0, hops=hops)) for hops in (0, LISTS_MOST - 1, LISTS_MOST)] == [
        False,
        False,
        True,
    ]


def test_sitemaps_of_a_robots_txt() -> None:
    robots = Url("http://h.example/robots.txt")
    found = sitemaps_of(robots, [MAP, Url("http://x.example/s"), MAP], refuse)
    assert found == (
        Discovery(MAP, SITEMAP_DEPTH, robots),
        Discovery(Url("http://x.example/s"), SITEMAP_DEPTH, robots, "not here, at 1"),
    )
