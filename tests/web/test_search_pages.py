"""The pages of results over HTTP: what a hit shows, filters, and the interface in Russian."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html import unescape
from urllib.parse import parse_qs, quote, urlsplit

import pytest

from goodbot.search_values import Hit, OtherPage, Results
from goodbot.web import Site, create_app, running
from web.library import Library, Visitor, served
from web.test_templates_env import text_of
from web.visitor_desks import Desk

DAY = 86_400.0
MAY_3 = 1_714_694_400.0
RUSSIAN = {"Accept_Language": "ru-RU,ru;q=0.9,en;q=0.8"}
PAGE = Hit(
    id="1",
    url="https://docs.example:8443/guide/",
    title="A guide for robots",
    snippet="How a robot behaves.",
    score=2.0,
    language="en",
    fetched_at=MAY_3 + 9 * DAY,
    modified_at=MAY_3,
    size_bytes=34_512,
    media_type="text/html",
    has_copy=True,
)
HITS = [
    PAGE,
    replace(
        PAGE, id="2", url="https://docs.example/a.pdf", media_type="application/pdf", modified_at=None, has_copy=False
    ),
    replace(PAGE, id="3", url="https://ru.example/", title="Робот robot", language="ru", modified_at=MAY_3 - 400 * DAY),
    Hit("4", "ftp://odd.example/robot", "A bare robot", "", 1.0),
]
NOTES = ("only the first 1,024 words count", "a note that <b>nobody</b> has translated")


class Noting(Library):
    """A library that has something to say about every query."""

    def search(self, *arguments: object, **named: object) -> Results:
        found = super().search(*arguments, **named)  # type: ignore[arg-type]
        return replace(found, corrected="<robot>", suggestion="robots & more", notes=NOTES)


@pytest.fixture(scope="module")
def visitor() -> Iterator[Visitor]:
    with running(create_app(Library(HITS), Site("Sample"), visitors=Desk())) as url:
        yield Visitor(url)


def hits_of(html: str) -> list[str]:
    """Returns the HTML of each hit."""
    return re.findall(r'<h2 id="hit-.*?</div>\s*</li>', html, re.DOTALL)


def links_of(html: str, path: str) -> list[dict[str, str]]:
    """Returns the parameters of all links to a path."""
    links = [urlsplit(unescape(link)) for link in re.findall(r'href="([^"]*)"', html)]
    return [{name: values[0] for name, values in parse_qs(link.query).items()} for link in links if link.path == path]


@pytest.mark.parametrize(
    ("number", "headers", "facts"),
    [
        (0, {}, "Changed 3 May 2024 34.5 kB English Cached copy Why this result? More from this site"),
        (1, {}, "Fetched 12 May 2024 PDF 34.5 kB English Why this result? More from this site"),
        (3, {}, "Why this result?"),
        (
            0,
            RUSSIAN,
            "Изменена 3 мая 2024 г. 34,5 КБ English Сохранённая копия Почему этот результат? Ещё с этого сайта",
        ),
        (1, RUSSIAN, "Загружена 12 мая 2024 г. PDF 34,5 КБ English Почему этот результат? Ещё с этого сайта"),
    ],
)
def test_facts_about_a_hit(visitor: Visitor, number: int, headers: dict[str, str], facts: str) -> None:
    hit = hits_of(visitor.ask("/search?q=robot", **headers).text)[number]
    about = hit[hit.index('<div class="about">') :]
    assert text_of(about.replace("<", " <")) == facts


def test_links_of_a_hit(visitor: Visitor) -> None:
    html = hits_of(visitor.ask("/search?q=robot&lang=en&hl=en").text)[0]
    assert links_of(html, "/cached") == [{"url": PAGE.url, "hl": "en"}]
    assert links_of(html, "/explain") == [{"q": "robot", "lang": "en", "url": PAGE.id, "hl": "en"}]
    assert links_of(html, "/search") == [{"q": "robot", "lang": "en", "site": "docs.example:8443", "hl": "en"}]
    assert "<b>docs.example:8443</b>/guide/" in html
    assert '<time datetime="2024-05-03">' in html


def test_without_an_archive_there_are_no_copies() -> None:
    with served(Library(HITS)) as visitor:
        html = visitor.ask("/search?q=robot").text
    assert "Cached copy" not in html
    assert not {"/cached", "/submit", "/why"} & {urlsplit(link).path for link in re.findall(r'href="([^"]*)"', html)}


def test_translations_and_copies_are_named_in_the_readers_language() -> None:
    others = (OtherPage("https://docs.example/ru", "ru"), OtherPage("https://docs.example/b", "en"))
    hit = replace(PAGE, others=(*others, OtherPage("https://docs.example/x", "")))
    with served(Library([hit])) as visitor:
        english, russian = visitor.ask("/search?q=robot").text, visitor.ask("/search?q=robot&hl=ru").text
    assert "Also: русский, copy, another language" in text_of(english)
    assert "Также: русский, копия, другой язык" in text_of(russian)


# ---- filters ----

FILTERS = [
    ("site=ru.example", ["3"]),
    ("lang=ru", ["3"]),
    ("type=application/pdf", ["2"]),
    ("after=2024-05-03", ["1", "2"]),
    ("before=2024-05-03", ["3", "4"]),
    ("after=2024-05-04&before=2024-06-01&lang=en", ["2"]),
    ("lang=", ["1", "2", "3", "4"]),
]


@pytest.mark.parametrize(("parameters", "found"), FILTERS)
def test_filters(visitor: Visitor, parameters: str, found: list[str]) -> None:
    expected = [hit for hit in HITS if hit.id in found]
    html = visitor.ask(f"/search?q=robot&{parameters}").text
    for hit, one in zip(hits_of(html), expected, strict=True):
        assert text_of(hit).startswith(one.title)
    answer = json.loads(visitor.ask(f"/api/search?q=robot&{parameters}").text)
    assert [hit["url"] for hit in answer["hits"]] == [hit.url for hit in expected]


def test_filters_in_force_are_shown_and_each_can_be_removed(visitor: Visitor) -> None:
    html = visitor.ask("/search?q=robot&lang=en&after=2024-05-02").text
    chips = html[html.index('<ul class="chips"') : html.index("</ul>", html.index('<ul class="chips"'))]
    assert "Remove the filter Language: English" in text_of(chips)
    assert "Remove the filter Date from: 2 May 2024" in text_of(chips)
    assert links_of(chips, "/search") == [
        {"q": "robot", "after": "2024-05-02"},
        {"q": "robot", "lang": "en"},
        {"q": "robot"},
    ]
    assert '<option value="en" lang="en" selected>English (2)</option>' in html
    assert '<input id="after" name="after" form="search" type="date" value="2024-05-02">' in html


def test_every_link_of_a_page_of_results_keeps_the_filters() -> None:
    with served(Library(replace(PAGE, id=str(number)) for number in range(35))) as visitor:
        html = visitor.ask("/search?q=robot&lang=en&page=2").text
        pager = html[html.index('<nav class="pager"') : html.index("</nav>")]
        assert [state.get("page") for state in links_of(pager, "/search")] == [None, None, "2", "3", "4", "3"]
        assert {state["lang"] for state in links_of(pager, "/search")} == {"en"}
        assert links_of(html, "/search.atom") == [{"q": "robot", "lang": "en"}] * 2
        beyond = visitor.ask("/search?q=robot&lang=en&page=99")
        assert (beyond.status, beyond.headers["Location"]) == (303, "/search?q=robot&lang=en&page=4")


def test_the_form_without_scripts_leads_to_a_short_url(visitor: Visitor) -> None:
    answer = visitor.ask("/search?q=+robot+&site=&lang=en&type=&within=&after=&before=&hl=ru")
    assert (answer.status, answer.headers["Location"]) == (303, "/search?q=robot&lang=en&hl=ru")


def test_a_period_becomes_a_day_so_that_the_url_means_the_same_tomorrow(visitor: Visitor) -> None:
    before = datetime.now(UTC).date()
    location = visitor.ask("/search?q=robot&within=week&after=2001-01-01&before=2002-01-01").headers["Location"]
    after = datetime.now(UTC).date()
    assert location in {f"/search?q=robot&after={day - timedelta(days=7)}" for day in (before, after)}


@pytest.mark.parametrize(
    ("parameters", "english", "russian"),
    [
        ("after=tomorrow", "after: needs a date, such as 2024-05-01.", "after: нужна дата, например 2024-05-01."),
        (
            "within=decade&lang=en",
            "The period must be day, week, month or year.",
            "Период может быть только day, week, month или year.",
        ),
        (
            "page=0&site=x.example",
            "The page must be a whole number from 1 to 100.",
            "Номер страницы должен быть целым числом от 1 до 100.",
        ),
    ],
)
def test_what_cannot_be_used_is_said_and_the_form_stays_filled_in(
    visitor: Visitor, parameters: str, english: str, russian: str
) -> None:
    answer = visitor.ask(f"/search?q=robot&{parameters}")
    assert answer.status == 400
    assert english in text_of(answer.text)
    assert russian in text_of(visitor.ask(f"/search?q=robot&{parameters}", **RUSSIAN).text)
    assert 'value="robot"' in answer.text
    assert "<details open>" in answer.text
    sent = dict(pair.split("=") for pair in parameters.split("&"))
    for name in {"lang", "site", "after"} & sent.keys():
        assert re.search(rf'value="{sent[name]}"', answer.text)
    assert visitor.ask(f"/api/search?q=robot&{parameters.replace('within', 'before')}").status == 400


def test_hostile_filters_are_text(visitor: Visitor) -> None:
    evil = quote('"><script>alert(1)</script>')
    for name in ("site", "lang", "type", "after", "before"):
        html = visitor.ask(f"/search?q=robot&{name}={evil}").text
        assert "<script>alert" not in html
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html


def test_without_a_hit_the_page_helps(visitor: Visitor) -> None:
    html = visitor.ask("/search?q=robot&site=nowhere.example&lang=de").text
    assert "No page matches this query and these filters." in text_of(html)
    assert {"q": "robot"} in links_of(html, "/search")
    assert "Search without the filters." in text_of(html)
    paths = {urlsplit(link).path for link in re.findall(r'href="([^"]*)"', html)}
    assert {"/help", "/submit", "/why"} <= paths
    assert "None of the 4 indexed pages matches this query." in text_of(visitor.ask("/search?q=zeppelin").text)


def test_what_the_search_says_about_a_query() -> None:
    with served(Noting(HITS)) as visitor:
        english = visitor.ask("/search?q=robot&lang=en").text
        russian = visitor.ask("/search?q=robot&lang=en", **RUSSIAN).text
    assert {"q": "robots & more", "lang": "en"} in links_of(english, "/search")
    assert "<b><bdi>&lt;robot&gt;</bdi></b>" in english
    assert "<span>Only the first 1,024 words count.</span>" in english
    assert "<span>Учитываются только первые слова, не больше 1\u00a0024.</span>" in russian
    note = "A note that &lt;b&gt;nobody&lt;/b&gt; has translated."
    assert f"<span>{note}</span>" in english
    assert f'<span lang="en">{note}</span>' in russian


# ---- languages ----


@pytest.mark.parametrize(
    ("path", "headers", "language"),
    [
        ("/", {}, "en"),
        ("/", RUSSIAN, "ru"),
        ("/", {"Accept_Language": "de,ru;q=0.5,en;q=0.4"}, "ru"),
        ("/", {"Accept_Language": "en,ru"}, "en"),
        ("/?hl=ru", {}, "ru"),
        ("/?hl=en", RUSSIAN, "en"),
        ("/?hl=xx", RUSSIAN, "ru"),
        ("/search?q=robot", RUSSIAN, "ru"),
        ("/nowhere", RUSSIAN, "ru"),
    ],
)
def test_the_language_of_a_page(visitor: Visitor, path: str, headers: dict[str, str], language: str) -> None:
    answer = visitor.ask(path, **headers)
    assert f'<html lang="{language}">' in answer.text
    assert answer.headers["Content-Language"] == language
    assert "Accept-Language" in answer.headers["Vary"]


def test_the_switch_keeps_everything_else(visitor: Visitor) -> None:
    html = visitor.ask("/search?q=robot&lang=en&page=1&hl=en").text
    assert 'href="/search?q=robot&amp;lang=en&amp;page=1&amp;hl=ru" hreflang="ru" lang="ru"' in html


@pytest.mark.parametrize("path", ["/", "/search?q=robot&lang=en", "/search?q=zeppelin", "/help", "/about", "/nowhere"])
def test_a_chosen_language_stays(visitor: Visitor, path: str) -> None:
    html = visitor.ask(f"{path}{'&' if '?' in path else '?'}hl=ru").text
    links = [unescape(link) for link in re.findall(r'(?:href|action)="(/[^"]*)"', html)]
    lost = [link for link in links if "hl=" not in link and not link.startswith("/static/")]
    assert lost == []
    assert '<input type="hidden" name="hl" value="ru">' in html


def test_russian_numbers_and_plurals() -> None:
    for count, words in [(1, "Найдена 1 страница"), (3, "Найдено 3 страницы"), (25, "Найдено 25 страниц")]:
        with served(Library(replace(PAGE, id=str(number)) for number in range(count))) as visitor:
            assert words in text_of(visitor.ask("/search?q=robot", **RUSSIAN).text)
    with served(Library(replace(PAGE, id=str(number)) for number in range(1_234))) as visitor:
        assert "В индексе 1\u00a0234 страницы" in visitor.ask("/", **RUSSIAN).text
