"""What is indexed of a page: its directives decide which parts may be shown."""

from typing import Any

import pytest

from goodbot.page.document import read_page
from goodbot.robot.crawl.indexable import document_of
from goodbot.search_values import Document
from goodbot.url import Url
from goodbot.values import Response

DATE = "Mon, 01 Jan 2024 00:00:00 GMT"
BODY = '<title>Kettle</title>{meta}<h2 id="a">Steam</h2><p>Water boils.<img src="x.png" alt="a steaming kettle">'
READ_BYTES = 1 << 20


def document(meta: str = "", headers: tuple[tuple[str, str], ...] = ()) -> Document:
    url = Url("https://a.example/kettle")
    body = BODY.format(meta=f'<meta name="robots" content="{meta}">' if meta else "").encode()
    response = Response(200, (("Content-Type", "text/html; charset=utf-8"), *headers), body)
    return document_of(read_page(url, response, "goodbot", READ_BYTES), response, 1_700_000_000.0)


PLAIN = {"has_copy": True, "snippet_chars": None, "available_until": None, "alternative_texts": "a steaming kettle"}
WISHES = [
    ("", PLAIN),
    ("noarchive", PLAIN | {"has_copy": False}),
    ("nocache", PLAIN | {"has_copy": False}),
    ("nosnippet", PLAIN | {"has_copy": False, "snippet_chars": 0}),
    ("max-snippet:0", PLAIN | {"has_copy": False, "snippet_chars": 0}),
    ("max-snippet:50", PLAIN | {"snippet_chars": 50}),
    ("max-snippet:-1", PLAIN),
    ("noimageindex", PLAIN | {"alternative_texts": ""}),
    ("unavailable_after: 2030-01-01", PLAIN | {"available_until": 1_893_456_000.0}),
    ("notranslate", PLAIN),
]


@pytest.mark.parametrize(("wish", "expected"), WISHES)
@pytest.mark.parametrize("is_header", [False, True], ids=["META", "header"])
def test_what_the_wishes_of_a_page_leave(wish: str, expected: dict[str, Any], is_header: bool) -> None:
    made = document(headers=(("X-Robots-Tag", wish),)) if is_header else document(wish)
    assert {name: getattr(made, name) for name in expected} == expected


def test_the_facts_of_a_page() -> None:
    made = document(headers=(("Last-Modified", DATE),))
    assert (made.modified_at, made.fetched_at) == (1_704_067_200.0, 1_700_000_000.0)
    assert (made.size_bytes, made.media_type) == (len(BODY.format(meta="")), "text/html")
