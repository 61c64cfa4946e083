"""Why a page is where it is: the page and its JSON."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

import pytest

from goodbot.index import CONDITIONS, REASONS, TantivyIndex, TantivySearch
from goodbot.index.schema import WEIGHTS
from goodbot.search_values import NO_FILTERS, Document, ExplainedWord, Explanation, Filters
from goodbot.web import Site, create_app, running
from goodbot.web.search.explain_page import BONUSES, FACTORS, FIELDS, Row, WordRow, view_explanation
from web.library import SPECIMENS, Library, Visitor
from web.test_templates_env import text_of
from web.visitor_desks import Desk

CHAPTER = "https://handbook.example/chapter/77"
EXCLUSION = "https://robots.example/guide/exclusion.html"
EVIL = '"><script>alert(1)</script>'
EXPLANATION = Explanation(
    url=CHAPTER,
    title="A <b>title</b>",
    is_found=True,
    score=7.5,
    position=1_234,
    words=(
        ExplainedWord("robot", (("body", 3.25), ("links", 0.5), ("odd field", 0.25))),
        ExplainedWord(EVIL, (("title", 2.0),)),
        ExplainedWord("zeppelin"),
    ),
    bonuses=(("complete", 1.0), ("near", 0.5), ("odd bonus", 0.0)),
    factors=(("rank", 1.1), ("language", 0.8)),
    notes=("the page is a translation or copy of https://x.example/, which is shown as the result", "an <i>odd</i>"),
)


class Explained(Library):
    """A library with one explanation. Remembers what it was asked."""

    def __init__(self) -> None:
        super().__init__(SPECIMENS)
        self.asked: list[tuple[str, str, tuple[str, ...], Filters]] = []

    def explain(
        self, query: str, url: str, languages: Sequence[str] = (), filters: Filters = NO_FILTERS
    ) -> Explanation | None:
        self.asked.append((query, url, tuple(languages), filters))
        return EXPLANATION


@pytest.fixture(scope="module")
def visitor() -> Iterator[Visitor]:
    with running(create_app(Library(SPECIMENS), Site("Sample"), visitors=Desk())) as url:
        yield Visitor(url)


@pytest.fixture(scope="module")
def explained() -> Iterator[Visitor]:
    with running(create_app(Explained(), Site("Sample"))) as url:
        yield Visitor(url)


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        (f"q=robot&url={CHAPTER}", 200, "For the query robot, this page is result number 82."),
        (f"q=zeppelin&url={CHAPTER}", 200, "The query zeppelin does not find this page."),
        ("q=robot&url=https://nowhere.example/", 404, "This page is not in the index, so no search finds it."),
        ("q=robot", 400, "Give the URL of a page as well."),
        (f"url={CHAPTER}", 400, "The query is empty: type a word to search for."),
        ("q=%21&url=x", 400, "The query contains no word to search for."),
        (f"q=robot&url={CHAPTER}&after=x", 400, "after: needs a date, such as 2024-05-01."),
    ],
)
def test_pages(visitor: Visitor, path: str, status: int, words: str) -> None:
    answer = visitor.ask(f"/explain?{path}")
    assert (answer.status, answer.headers["Content-Type"]) == (status, "text/html; charset=utf-8")
    assert words in text_of(answer.text)


def test_a_page_that_is_not_in_the_index_leads_to_its_story(visitor: Visitor) -> None:
    assert (
        'href="/why?url=https%3A%2F%2Fnowhere.example%2F"'
        in visitor.ask("/explain?q=a&url=https://nowhere.example/").text
    )


def test_the_explanation_in_words_and_numbers(explained: Visitor) -> None:
    html = explained.ask(f"/explain?q=robot&url={CHAPTER}").text
    text = text_of(html.replace("<", " <"))
    assert "this page is result number 1,234" in text
    assert "robot text 3.25 texts of links to the page 0.50 odd field 0.25" in text
    assert "zeppelin not on the page 0.00" in text
    assert "The word robot 4.00" in text
    assert "The page has every word of the query. + 1.00" in text
    assert "Pages that many pages link to rank higher. × 1.10" in text
    assert "Score 7.50" in text
    assert '<meter min="0" max="4.0" value="3.25" aria-hidden="true"></meter>' in html


def test_the_explanation_in_russian(explained: Visitor) -> None:
    html = explained.ask(f"/explain?q=robot&url={CHAPTER}&hl=ru").text
    text = text_of(html.replace("<", " <"))
    assert "robot текст 3,25 тексты ссылок на страницу 0,50 odd field 0,25" in text
    assert "Это перевод или копия страницы https://x.example/ , которая показана в результатах." in text
    for english in ("odd field", "odd bonus", "An &lt;i&gt;odd&lt;/i&gt;."):
        assert f'<span lang="en">{english}</span>' in html


def test_what_comes_from_pages_and_queries_stays_text(explained: Visitor) -> None:
    html = explained.ask(f"/explain?q={quote(EVIL)}&url={quote(EVIL)}").text
    assert "<script>alert" not in html
    assert "<b>title" not in html
    assert "A &lt;b&gt;title&lt;/b&gt;" in html


def test_the_search_gets_languages_and_filters() -> None:
    library = Explained()
    with running(create_app(library, Site("Sample"))) as url:
        Visitor(url).ask(f"/explain?q=robot&url={CHAPTER}&lang=en&site=x", Accept_Language="ru,en;q=0.5")
        Visitor(url).ask(f"/api/explain?q=robot&url={CHAPTER}")
    assert library.asked == [
        ("robot", CHAPTER, ("ru", "en"), Filters(site="x", language="en")),
        ("robot", CHAPTER, (), NO_FILTERS),
    ]


def test_back_to_the_same_results(explained: Visitor) -> None:
    html = explained.ask(f"/explain?q=robot&url={CHAPTER}&lang=en&hl=en").text
    assert 'href="/search?q=robot&amp;lang=en&amp;hl=en">Back to the results' in html


def test_as_json(visitor: Visitor) -> None:
    answer = visitor.ask(f"/api/explain?q=robot+zebra&url={EXCLUSION}")
    assert (answer.status, answer.headers["Content-Type"]) == (200, "application/json")
    assert json.loads(answer.text)["found"] is False
    found = json.loads(visitor.ask(f"/api/explain?q=robot&url={EXCLUSION}").text)
    assert (found["query"], found["url"], found["position"]) == ("robot", EXCLUSION, 1)


@pytest.mark.parametrize(
    ("path", "status", "line"),
    [
        ("q=robot&url=https://nowhere.example/", 404, "this page is not in the index"),
        ("q=robot", 400, "give the URL of a page as well"),
        ("url=x", 400, "the query is empty: type a word to search for"),
    ],
)
def test_errors_as_json(visitor: Visitor, path: str, status: int, line: str) -> None:
    answer = visitor.ask(f"/api/explain?{path}")
    assert (answer.status, json.loads(answer.text)) == (status, {"error": line})


def test_the_view_of_an_explanation() -> None:
    view = view_explanation(EXPLANATION)
    assert view.words[0] == WordRow(
        "robot", (Row("text", 3.25), Row("texts of links to the page", 0.5), Row("odd field", 0.25))
    )
    assert (view.most, view.href) == (4.0, CHAPTER)
    bare = view_explanation(Explanation("id-7", " ", is_found=False))
    assert (bare.title, bare.href, bare.most) == ("id-7", None, 0.0)


def test_every_part_that_a_search_names_has_words(tmp_path: Path) -> None:
    index = TantivyIndex(tmp_path)
    for number in range(3):
        url = f"https://a.example/docs/{number}"
        text = "The function os.path.join joins paths of a polite robot."
        index.add(Document(url, url, "os.path.join", text, headings="polite robot", terms="robot", language="en"))
    index.commit()
    index.close()
    search = TantivySearch(tmp_path)
    found = search.explain("os.path.join polite robot", "https://a.example/docs/1", ("en",))
    bare = search.explain("-zeppelin", "https://a.example/docs/1")
    assert found is not None
    assert bare is not None
    assert {name for _, fields in found.words for name, _ in fields} <= FIELDS.keys()
    assert {name for name, _ in found.bonuses} == BONUSES.keys() - {CONDITIONS}
    assert [name for name, _ in bare.bonuses] == [CONDITIONS]
    assert {name for name, _ in found.factors} == FACTORS.keys()
    assert FIELDS.keys() == {*WEIGHTS, "links"}
    assert BONUSES.keys() | FACTORS.keys() <= REASONS.keys()
