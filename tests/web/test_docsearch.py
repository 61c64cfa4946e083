"""The answers for DocSearch: what its requests may be, and what hits its front end gets."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.errors import InputError
from goodbot.index.query_words import QueryWords
from goodbot.search_values import Hit, SectionLink
from goodbot.web import Site, create_app, running
from goodbot.web.search.docsearch_hits import HitMaker, excerpt, place_of
from goodbot.web.search.docsearch_requests import MAX_SEARCHES, Asked, parse_searches
from web.library import SPECIMENS, Answer, Library, Visitor, page, served

PATH = "/1/indexes/*/queries"
HOSTILE = "<img src=x onerror=alert(1)> & \"quoted\" 'robot' <mark>"
ESCAPED = "&lt;img src=x onerror=alert(1)&gt; &amp; &quot;quoted&quot; &#039;robot&#039; &lt;mark&gt;"
GUIDE = Hit(
    id="a",
    url="https://docs.example/guide/install.html?v=1",
    title="Installing robots",
    snippet="How a robot is installed",
    score=9.0,
    highlights=((6, 11),),
    sections=(SectionLink("https://docs.example/guide/install.html?v=1#on-linux", "Robots on Linux"),),
    language="en",
)


def ask(here: Visitor, *requests: dict[str, Any], **headers: str) -> Answer:
    body = {"requests": [{"indexName": "docs", **request} for request in requests]}
    return here.ask(PATH, "POST", json.dumps(body).encode(), **headers)


def results(here: Visitor, *requests: dict[str, Any], **headers: str) -> list[dict[str, Any]]:
    answer = ask(here, *requests, **headers)
    assert answer.status == 200, answer.text
    found: list[dict[str, Any]] = json.loads(answer.text)["results"]
    return found


def made(hit: Hit, query: str = "robot", most: int = 20) -> list[dict[str, Any]]:
    return HitMaker(QueryWords(query), "<mark>", "</mark>").hits([hit], most)


@pytest.fixture(scope="module")
def here() -> Iterator[Visitor]:
    with served(Library([GUIDE, *SPECIMENS])) as visitor:
        yield visitor


# ---- hits -----------------------------------------------------------------------------------------------------------


def test_a_page_its_section_and_its_snippet() -> None:
    first, section, content = made(GUIDE)
    nothing = {f"lvl{number}": None for number in range(3, 7)}
    assert first["hierarchy"] == {"lvl0": "docs.example › guide", "lvl1": GUIDE.title, "lvl2": None, **nothing}
    assert (first["type"], first["url"], first["anchor"], first["content"]) == ("lvl1", GUIDE.url, None, None)
    marked = {"value": "Installing <mark>robots</mark>", "matchLevel": "partial", "matchedWords": ["robots"]}
    assert first["_snippetResult"]["hierarchy"]["lvl1"] == marked
    assert first["_snippetResult"]["hierarchy"]["lvl0"]["matchLevel"] == "none"
    assert (section["type"], section["url"]) == ("lvl2", GUIDE.sections[0].url)
    assert (section["url_without_anchor"], section["anchor"]) == (GUIDE.url, "on-linux")
    assert section["hierarchy"] == {**first["hierarchy"], "lvl2": "Robots on Linux"}
    assert section["_highlightResult"]["hierarchy"]["lvl2"]["value"] == "<mark>Robots</mark> on Linux"
    assert (content["type"], content["content"], content["hierarchy"]) == ("content", GUIDE.snippet, first["hierarchy"])
    assert content["_snippetResult"]["content"]["value"] == "How a <mark>robot</mark> is installed"
    assert len({hit["objectID"] for hit in (first, section, content)}) == 3


def test_a_snippet_without_a_word_of_the_query_describes_the_page() -> None:
    (only,) = made(page(1, "Robots", "what they are"))
    assert (only["type"], only["content"]) == ("lvl1", "what they are")
    (only,) = made(page(1, "Robots", ""))
    assert only["content"] is None


def test_texts_are_escaped_also_where_docsearch_shows_them_unmarked() -> None:
    """A search that the visitor made before is shown without `_snippetResult`, as HTML too."""
    hostile = Hit(
        "a", "https://x.example/", HOSTILE, HOSTILE, 1.0, ((0, 4),), (SectionLink("https://x.example/#a", HOSTILE),)
    )
    first, section, content = made(hostile)
    assert first["hierarchy"]["lvl1"] == section["hierarchy"]["lvl2"] == content["content"] == ESCAPED
    marked = ESCAPED.replace("robot", "<mark>robot</mark>")
    assert section["_snippetResult"]["hierarchy"]["lvl2"]["value"] == marked
    assert content["_snippetResult"]["content"]["value"] == f"<mark>&lt;img</mark>{ESCAPED.removeprefix('&lt;img')}"


@given(st.text(), st.text(), st.lists(st.text(), max_size=2))
def test_no_text_of_a_page_becomes_markup(title: str, snippet: str, headings: list[str]) -> None:
    sections = tuple(SectionLink(f"https://x.example/#{number}", text) for number, text in enumerate(headings))
    hit = Hit("a", "https://x.example/", title, snippet, 1.0, ((0, 1),) if snippet else (), sections)
    for each in made(hit, title):
        texts = [*each["hierarchy"].values(), each["content"]]
        marked = each["_snippetResult"]
        values = [*(part["value"] for part in marked["hierarchy"].values()), marked.get("content", {}).get("value")]
        texts += [value.replace("<mark>", "").replace("</mark>", "") for value in values if value is not None]
        assert not any(character in text for text in texts if text is not None for character in "<>\"'")


@given(st.text(max_size=200), st.data())
def test_an_excerpt_begins_near_the_first_word_found(text: str, data: st.DataObject) -> None:
    ends = sorted(data.draw(st.sets(st.integers(0, len(text)), min_size=2, max_size=6))) if text else []
    spans = list(zip(ends[::2], ends[1::2], strict=False))
    part, found = excerpt(text, spans)
    assert [part[start:end] for start, end in found] == [text[start:end] for start, end in spans]
    assert not found or found[0][0] <= 32
    assert part == text or text.endswith(part.removeprefix("… "))


PLACES = [
    ("https://docs.example/", "docs.example"),
    ("https://docs.example", "docs.example"),
    ("https://docs.example/a.html", "docs.example"),
    ("https://docs.example/guide/", "docs.example"),
    ("https://docs.example/guide/install/", "docs.example › guide"),
    ("https://docs.example:8080/a/b/c.html?q=a/b#c/d", "docs.example:8080 › a › b"),
    ("https://docs.example/%D1%81/a", "docs.example › с"),
]


@pytest.mark.parametrize(("url", "place"), PLACES)
def test_the_heading_over_hits_is_where_their_pages_are(url: str, place: str) -> None:
    assert place_of(url) == place


def test_each_page_is_there_before_sections_take_room() -> None:
    pages = [Hit(str(n), f"https://docs.example/{n}", f"Robot {n}", "a robot", 1.0, ((2, 7),)) for n in range(4)]
    maker = HitMaker(QueryWords("robot"), "", "")
    assert [hit["type"] for hit in maker.hits(pages, 6)] == ["lvl1", "content", "lvl1", "content", "lvl1", "lvl1"]
    assert [hit["url"][-1] for hit in maker.hits(pages, 2)] == ["0", "1", "2", "3"]


def test_a_hit_that_is_no_link_is_left_out() -> None:
    assert made(Hit("e", "javascript:alert(1)", "robot", "robot", 1.0)) == []
    bad = (SectionLink("javascript:alert(1)", "robot"),)
    assert [hit["type"] for hit in made(Hit("e", "https://x.example/", "robot", "", 1.0, (), bad))] == ["lvl1"]


# ---- requests -------------------------------------------------------------------------------------------------------


def parsed(request: dict[str, Any]) -> Asked:
    (asked,) = parse_searches(json.dumps({"requests": [{"indexName": "d", **request}]}).encode())
    return asked


READ = [
    ({}, Asked("d", "")),
    ({"query": "a", "page": 2, "hitsPerPage": 5.0, "attributesToRetrieve": ["url"]}, Asked("d", "a", 2, 5)),
    ({"query": None, "page": None, "hitsPerPage": 1000}, Asked("d", "", 0, 40)),
    ({"highlightPreTag": "<mark>", "highlightPostTag": "</mark>"}, Asked("d", "", before="<mark>", after="</mark>")),
    ({"query": "old", "params": "query=a%20b&hitsPerPage=3&page=1&x=y"}, Asked("d", "a b", 1, 3)),
    ({"params": "hitsPerPage=-1&page=many&highlightPreTag=" + "x" * 101}, Asked("d", "")),
    ({"params": "&".join(f"a{n}=b" for n in range(200))}, Asked("d", "")),
    ({"facetFilters": ["version:1", ["lang:de", "lang:fr"], ["language:en"]]}, Asked("d", "", language="en")),
    ({"facetFilters": "lang:pt-BR"}, Asked("d", "", language="pt-BR")),
    ({"facetFilters": ["language:", 5, None, {}, "language:no such thing"]}, Asked("d", "")),
    ({"params": "facetFilters=%5B%22language%3Aru%22%5D"}, Asked("d", "", language="ru")),
    ({"params": "facetFilters=%5B%22language"}, Asked("d", "")),
]


@pytest.mark.parametrize(("request_", "asked"), READ)
def test_parameters_are_read(request_: dict[str, Any], asked: Asked) -> None:
    assert parsed(request_) == asked


REFUSED = [
    b"",
    b"x",
    b"[]",
    b"{}",
    b'{"requests": {}}',
    b'{"requests": []}',
    b'{"requests": [1]}',
    b'{"requests": [{}]}',
    b'{"requests": [{"indexName": 1}]}',
    b'{"requests": [{"indexName": "a", "query": 1}]}',
    b'{"requests": [{"indexName": "a", "page": -1}]}',
    b'{"requests": [{"indexName": "a", "page": 1.5}]}',
    b'{"requests": [{"indexName": "a", "page": true}]}',
    b'{"requests": [{"indexName": "a", "page": NaN}]}',
    b'{"requests": [{"indexName": "a", "page": Infinity}]}',
    b'{"requests": [{"indexName": "a", "params": {}}]}',
    b'{"requests": [{"indexName": "a", "highlightPreTag": "%b"}]}' % (b"x" * 101),
    b'{"requests": [%b]}' % b",".join([b'{"indexName": "a"}'] * (MAX_SEARCHES + 1)),
    b"[" * 60_000,
]


@pytest.mark.parametrize("body", REFUSED, ids=range(len(REFUSED)))
def test_what_no_client_sends_is_refused(here: Visitor, body: bytes) -> None:
    answer = here.ask(PATH, "POST", body)
    assert answer.status == 400
    assert set(json.loads(answer.text)) == {"error"}


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=12), inner, max_size=3),
    max_leaves=8,
)
NAMES = ("indexName", "query", "page", "hitsPerPage", "params", "facetFilters", "highlightPreTag", "highlightPostTag")
REQUESTS = st.fixed_dictionaries({}, optional={name: JSON_VALUES | st.text() for name in NAMES})


@given(st.binary() | st.lists(REQUESTS, max_size=3).map(lambda some: json.dumps({"requests": some}).encode()))
def test_any_body_is_read_or_refused(body: bytes) -> None:
    try:
        searches = parse_searches(body)
    except InputError:
        return
    assert all(each.page >= 0 and 0 <= each.hits <= 40 for each in searches)
    for each in searches:
        f"{each.index}{each.query}{each.before}{each.after}".encode()  # raises at a lone surrogate


# ---- the endpoint ---------------------------------------------------------------------------------------------------


def test_several_searches_and_pages(here: Visitor) -> None:
    requests = [{"query": "robot", "hitsPerPage": 10, "page": number} for number in (0, 1, 10**20)]
    first, second, beyond = results(here, *requests)
    total = len([hit for hit in SPECIMENS if hit.id != "f"]) + 1
    assert (first["nbHits"], first["nbPages"], first["page"], first["index"]) == (total, -(-total // 5), 0, "docs")
    urls = [list(dict.fromkeys(hit["url_without_anchor"] for hit in each["hits"])) for each in (first, second)]
    assert [len(each) for each in urls] == [5, 4]  # one of the pages has no URL that may be a link
    assert not set(urls[0]) & set(urls[1])
    assert len(first["hits"]) <= 10
    assert (beyond["hits"], beyond["nbHits"], beyond["nbPages"]) == ([], total, first["nbPages"])


def test_the_tags_are_those_of_the_request(here: Visitor) -> None:
    (one,) = results(here, {"query": "robot", "highlightPreTag": "[", "highlightPostTag": "]"})
    assert one["hits"][0]["_snippetResult"]["hierarchy"]["lvl1"]["value"] == "Installing [robots]"


def test_a_query_without_a_word_finds_nothing(here: Visitor) -> None:
    found = results(here, {"query": ""}, {"query": "?"}, {})
    assert [(each["hits"], each["nbHits"], each["nbPages"]) for each in found] == [([], 0, 0)] * 3
    (one,) = results(here, {"query": "robot", "hitsPerPage": 0})
    assert (one["hits"], one["nbHits"] > 0, one["nbPages"]) == ([], True, 0)


def test_a_word_that_is_half_typed_is_completed(here: Visitor) -> None:
    (one,) = results(here, {"query": "crawling polit"})
    assert [hit["hierarchy"]["lvl1"] for hit in one["hits"]] == ["Crawling politely"]
    assert one["query"] == "crawling polit"


def test_a_language_may_be_demanded(here: Visitor) -> None:
    (one,) = results(here, {"query": "robot", "facetFilters": ["language:en"]})
    assert {hit["url_without_anchor"] for hit in one["hits"]} == {GUIDE.url}


def test_lone_surrogates_are_answered(here: Visitor) -> None:
    request = {"indexName": "\ud800", "query": "robot \udfff", "highlightPreTag": "\udc80"}
    assert results(here, request)[0]["index"] == "\ufffd"


def test_it_is_limited_as_other_pages_are() -> None:
    from goodbot.web import Rate

    with running(create_app(Library(SPECIMENS), Site(page_rate=Rate(60, 2)))) as url:
        sent = [ask(Visitor(url), {"query": "robot"}, X_Forwarded_For="192.0.2.7") for _ in range(3)]
    assert [each.status for each in sent] == [200, 200, 429]
    assert int(sent[-1].headers["Retry-After"]) > 0


def test_a_body_that_is_too_long_is_refused(here: Visitor) -> None:
    assert ask(here, {"query": "x" * 70_000}).status == 413


def test_without_a_search_there_is_an_error() -> None:
    with running(create_app(None, Site())) as url:
        answer = ask(Visitor(url), {"query": "robot"})
    assert (answer.status, set(json.loads(answer.text))) == (404, {"error"})
