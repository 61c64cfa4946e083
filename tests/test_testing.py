"""The simulated web is the same each time, all its pages can be reached, and it has the size that was requested."""

import asyncio
from collections import deque

import pytest

from goodbot.exclusion import Access
from goodbot.page import read_page
from goodbot.testing import FakeClock, SimulatedWeb
from goodbot.url import Url, parse_url
from goodbot.values import Request, Response


def answer(web: SimulatedWeb, url: Url) -> Response:
    verdict = Access.from_response(404, [], b"", 0.0).verdict(url.text, "goodbot")
    capture = asyncio.run(web.send(Request(url, verdict)))
    assert isinstance(capture.result, Response)
    return capture.result


def links(web: SimulatedWeb, url: Url) -> list[Url]:
    page = read_page(url, answer(web, url), "goodbot", 1 << 20)
    return [link.url for link in page.links]


def test_the_same_numbers_give_the_same_web() -> None:
    first, second = (SimulatedWeb(1000, FakeClock()) for _ in range(2))
    for host, page in ((0, 0), (999, 0), (7, 3)):
        assert answer(first, first.url(host, page)) == answer(second, first.url(host, page))


def test_every_page_can_be_reached_from_the_first() -> None:
    web = SimulatedWeb(40, FakeClock(), pages=30)
    known = {web.url(0, 0)}
    todo = deque(known)
    while todo:
        new = set(links(web, todo.popleft())) - known
        known |= new
        todo.extend(new)
    assert known == {web.url(host, page) for host in range(40) for page in range(web.pages_of(host))}


def test_a_page_of_a_large_web_has_the_requested_number_of_links() -> None:
    web = SimulatedWeb(1_000_000, FakeClock(), pages=10_000)
    url = web.url(999_999, 0)
    assert len(set(links(web, url))) == 84
    assert links(web, url) == web.links_of(999_999, 0)
    assert all(parse_url(link.text) == link and answer(web, link).status == 200 for link in links(web, url))


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("https://h0.example/robots.txt", 200),
        ("https://h0.example/0/0.html", 200),
        ("https://h0.example/0/00.html", 404),
        ("https://h0.example/1/0.html", 404),
        ("https://h0.example/", 404),
        ("https://h0.example/0/" + "9" * 5000 + ".html", 404),
        ("https://h5.example/0/0.html", 404),
        ("https://elsewhere.example/", 404),
    ],
)
def test_other_urls_are_not_found(text: str, status: int) -> None:
    assert answer(SimulatedWeb(5, FakeClock()), Url(text)).status == status
