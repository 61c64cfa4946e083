"""Feeds of search results, read back by other programs: feedparser, a RELAX NG schema and goodbot's own reader."""

import calendar
import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote, urlencode

import feedparser
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from goodbot.errors import DamagedError
from goodbot.index import META_FILE, AwaitedSearch, TantivyIndex, TantivySearch
from goodbot.page.sitemap import ListReader
from goodbot.search_values import Document, Hit
from goodbot.web import Site, create_app, running
from goodbot.web.search.atom import Feed, feed_xml
from web.library import SPECIMENS, Library, Visitor, served

SCHEMA = etree.RelaxNG(etree.parse(Path(__file__).parent / "atom.rng"))
AS_OF = 1_780_000_000.0
WRITTEN = "2026-05-28T20:26:40Z"
HOSTILE = [
    Hit(
        "a", "https://a.example/?x=1&y=<2>", "<script>alert(1)</script> & robot", "a \x00\x0b\ud800\uffff robot ]]>", 1
    ),
    Hit("b", "javascript:alert(1)", "no link", "a robot without a page", 1, fetched_at=1_795_000_000.0),
    Hit("c", "https://c.example/", "", "", 1, modified_at=1e18, fetched_at=1_790_000_000.0, media_type="no type"),
    Hit("https://d.example/", "https://d.example/", "d", "robot", 1, modified_at=-5.0, language="<x>"),
    Hit("e" * 3000, "", "", "robot", 1, modified_at=float("nan")),
    Hit("https://f.example/ж", "https://f.example/ж", "ж" * 500, "robot", 1, language="ru", media_type="text/html"),
]


def feed_of(found: list[Hit], query: str = "robot", name: str = "Sample") -> Feed:
    links = {"self": "https://example.org/search.atom", "alternate": "https://example.org/search"}
    return Feed(links["self"], query, name, query, links, len(found), 0, 10, tuple(found), AS_OF)


def validated(body: str) -> feedparser.FeedParserDict:
    """Checks the feed against the schema, and parses it."""
    SCHEMA.assertValid(etree.fromstring(body.encode()))
    parsed = feedparser.parse(body.encode(), response_headers={"content-type": "application/atom+xml"})
    assert not parsed.bozo
    assert parsed.version == "atom10"
    return parsed


@pytest.fixture(scope="module")
def here() -> Iterator[Visitor]:
    dated = [replace(hit, fetched_at=1_790_000_000.0 + number) for number, hit in enumerate(SPECIMENS)]
    with served(Library(dated)) as visitor:
        yield visitor


def links_of(parsed: feedparser.FeedParserDict) -> dict[str, str]:
    return {link.rel: link.href for link in parsed.feed.links}


def test_a_feed(here: Visitor) -> None:
    answer = here.ask("/search.atom?q=robot")
    assert answer.headers["Content-Type"] == "application/atom+xml"
    parsed = validated(answer.text)
    assert parsed.feed.title == "robot – Sample library"
    assert parsed.feed.author == "Sample library"
    assert (parsed.feed.opensearch_totalresults, parsed.feed.opensearch_startindex) == ("134", "1")
    assert parsed.feed.opensearch_itemsperpage == "10"
    assert links_of(parsed) == {
        "self": f"{here.base}search.atom?q=robot",
        "alternate": f"{here.base}search?q=robot",
        "first": f"{here.base}search.atom?q=robot",
        "next": f"{here.base}search.atom?q=robot&page=2",
        "last": f"{here.base}search.atom?q=robot&page=14",
    }
    assert len(parsed.entries) == 10
    first = parsed.entries[0]
    assert (first.title, first.link) == (SPECIMENS[0].title, SPECIMENS[0].url)
    assert first.summary == SPECIMENS[0].snippet
    newest = max(calendar.timegm(entry.updated_parsed) for entry in parsed.entries)
    assert calendar.timegm(parsed.feed.updated_parsed) == newest


def test_pages_of_a_feed_lead_to_each_other(here: Visitor) -> None:
    url, titles, ids = "/search.atom?q=robot", list[str](), set[str]()
    for _ in range(14):
        parsed = validated(here.ask(url).text)
        titles += [entry.title for entry in parsed.entries]
        ids.add(parsed.feed.id)
        links = links_of(parsed)
        assert links["self"].endswith(url)
        url = links.get("next", "").removeprefix(here.base.rstrip("/"))
    assert url == ""
    assert len(titles) == 134
    assert len(ids) == 1
    assert links["previous"] == f"{here.base}search.atom?q=robot&page=13"


def test_filters_are_kept(here: Visitor) -> None:
    answer = here.ask("/search.atom?q=robot&site=handbook.example&lang=&before=2030-01-01&hl=ru&x=1&page=2")
    parsed = validated(answer.text)
    assert {entry.link.partition("/chapter")[0] for entry in parsed.entries} == {"https://handbook.example"}
    links = links_of(parsed)
    kept = "q=robot&site=handbook.example&before=2030-01-01"
    assert links["next"] == f"{here.base}search.atom?{kept}&page=3"
    assert links["alternate"] == f"{here.base}search?{kept}&page=2"
    assert parsed.feed.id == links["first"] == f"{here.base}search.atom?{kept}"


@pytest.mark.parametrize(("query", "page", "entries"), [("zeppelin", 1, 0), ("robot", 50, 0), ("chapter 77", 1, 1)])
def test_few_hits(here: Visitor, query: str, page: int, entries: int) -> None:
    parsed = validated(here.ask("/search.atom?" + urlencode({"q": query, "page": page})).text)
    assert len(parsed.entries) == entries
    assert "next" not in links_of(parsed)


def test_without_a_hit_it_was_updated_when_the_index_was_written(tmp_path: Path) -> None:
    index = TantivyIndex(tmp_path)
    index.add(Document("1", "https://a.example/", "Robots", "A robot."))
    index.commit()
    index.close()
    os.utime(tmp_path / META_FILE, (AS_OF, AS_OF))
    with served(TantivySearch(tmp_path)) as visitor:
        feeds = [validated(visitor.ask(f"/search.atom?q={query}").text) for query in ("zeppelin", "zeppelin", "robot")]
    assert [feed.feed.updated for feed in feeds] == [WRITTEN] * 3
    assert [len(feed.entries) for feed in feeds] == [0, 0, 1]


def test_without_an_index_it_was_updated_when_the_server_started() -> None:
    before = int(time.time())
    with served(AwaitedSearch(lambda: None)) as visitor:
        first, second = [validated(visitor.ask("/search.atom?q=robot").text).feed for _ in range(2)]
    assert first.updated == second.updated
    assert before <= calendar.timegm(first.updated_parsed) <= time.time()


@pytest.mark.parametrize("query", ["<&>\"'", "\x00\x0b\x1f", "\ufffe\uffff", "😀 робот", "]]>", "a" * 3000, "%00%FF"])
def test_any_query(here: Visitor, query: str) -> None:
    answer = here.ask("/search.atom?q=" + quote(f"robot {query}"))
    assert answer.status == 200
    validated(answer.text)


def test_hostile_pages() -> None:
    parsed = validated(feed_xml(feed_of(HOSTILE)).decode())
    titles = [entry.title_detail for entry in parsed.entries]
    assert len(titles) == len(HOSTILE)
    assert {title.type for title in titles} == {"text/plain"}
    assert titles[0].value == "<script>alert(1)</script> & robot"
    assert [next((link.href for link in entry.get("links", [])), None) for entry in parsed.entries] == [
        "https://a.example/?x=1&y=%3C2%3E",
        None,
        "https://c.example/",
        "https://d.example/",
        None,
        "https://f.example/%D0%B6",
    ]
    assert [entry.updated for entry in parsed.entries][2:5] == ["2026-09-21T14:13:20Z", WRITTEN, WRITTEN]
    assert len({entry.id for entry in parsed.entries}) == len(HOSTILE)


@pytest.mark.parametrize(
    ("query", "status"), [("", 400), ("q=+", 400), ("q=a&page=0", 400), ("q=a&page=101", 400), ("q=!", 400)]
)
def test_errors_are_json(here: Visitor, query: str, status: int) -> None:
    answer = here.ask(f"/search.atom?{query}")
    assert (answer.status, answer.headers["Content-Type"]) == (status, "application/json")


def test_a_damaged_index() -> None:
    library = Library(SPECIMENS)
    library.trouble = DamagedError("secret file")
    with served(library) as visitor:
        answer = visitor.ask("/search.atom?q=robot")
    assert (answer.status, "secret" in answer.text) == (503, False)


def test_a_public_url() -> None:
    site = Site("Sample", public_url="https://example.org/find/")
    with running(create_app(Library(SPECIMENS), site)) as url:
        parsed = validated(Visitor(url).ask("/search.atom?q=robot").text)
    assert {link.partition("?")[0] for link in links_of(parsed).values()} == {
        "https://example.org/find/search.atom",
        "https://example.org/find/search",
    }
    assert parsed.feed.id == "https://example.org/find/search.atom?q=robot"


def test_our_own_robot_reads_it(here: Visitor) -> None:
    reader = ListReader(None)
    listed = list(reader.read([here.ask("/search.atom?q=chapter").text]))
    assert (reader.kind, reader.error) == ("feed", "")
    assert [entry.url.text for entry in listed if "/chapter/" in entry.url.text] == [
        f"https://handbook.example/chapter/{number}" for number in range(1, 11)
    ]


numbers = st.floats(allow_nan=True, allow_infinity=True)
hits = st.builds(
    Hit,
    id=st.text(min_size=1),
    url=st.text() | st.just("https://example.org/") | st.text().map(lambda text: f"http://{text}"),
    title=st.text(),
    snippet=st.text(),
    score=numbers,
    language=st.text() | st.sampled_from(["en", "pt-BR", "A" * 9]),
    fetched_at=numbers,
    modified_at=st.none() | numbers,
    media_type=st.text() | st.just("text/html"),
)


@given(st.lists(hits, max_size=3, unique_by=lambda hit: hit.id), st.text(), st.text(min_size=1))
def test_whatever_is_found_is_a_valid_feed(found: list[Hit], query: str, name: str) -> None:
    SCHEMA.assertValid(etree.fromstring(feed_xml(feed_of(found, query, name))))
