"""Documents that no search shows: hidden ones, and those whose time has ended."""

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from goodbot.index import TantivyIndex, TantivySearch, refresh_links
from goodbot.search_values import NOTHING_HIDDEN, Choices, Document, Hidden
from goodbot.url import Url
from goodbot.values import Link

NOW = 1_780_000_000.0
TEXT = "The whistling kettle is on the stove, and there it is for all who like to drink their tea at five. " * 3


def page(name: str, title: str, site: str = "a.example", **more: object) -> Document:
    url = f"https://{site}/{name}"
    return replace(Document(url, url, title, f"A kettle page of {title}.", language="en"), **more)  # type: ignore[arg-type]


FILLERS = [page(f"filler-{number}", f"Filler{number}") for number in range(40)]
SECRET = page("secret", "Samovar secrets", headings="Zarf", media_type="application/pdf")
PORT = page("port", "Harbour", "b.example:8443")
SUBDOMAIN = page("sub", "Lighthouse", "www.b.example")
COPY, ORIGINAL = page("copy", "One", text=TEXT), page("original", "Two", text=TEXT)
SOURCE = page("source", "Links", links=(Link(Url(SECRET.url), "zebra crossing"),))
PAGES = [*FILLERS, SECRET, PORT, SUBDOMAIN, COPY, ORIGINAL, SOURCE]


@dataclass
class Shown:
    """A search whose hidden pages and time may be changed."""

    folder: Path
    hidden: Hidden = NOTHING_HIDDEN
    now: float = NOW

    def __post_init__(self) -> None:
        self.search = TantivySearch(self.folder, hidden=lambda: self.hidden, now=lambda: self.now)

    def ids(self, query: str) -> set[str]:
        return {hit.id for hit in self.search.search(query, 100).hits}


def written(folder: Path, pages: list[Document]) -> Shown:
    index = TantivyIndex(folder)
    for number, one in enumerate(pages):
        index.add(one)
        if number == len(pages) // 2:
            index.commit()
    index.commit()
    index.close()
    refresh_links(folder)
    return Shown(folder)


@pytest.fixture
def shown(tmp_path: Path) -> Shown:
    return written(tmp_path, PAGES)


HIDDEN = [
    ("a page", Hidden(frozenset({SECRET.url})), {SECRET.url}),
    (
        "two pages, and one that is not there",
        Hidden(frozenset({SECRET.url, PORT.url, "https://x.example/"})),
        {SECRET.url, PORT.url},
    ),
    ("a site with its subdomains", Hidden(sites=frozenset({"b.example"})), {PORT.url, SUBDOMAIN.url}),
    ("one host of it", Hidden(sites=frozenset({"www.b.example"})), {SUBDOMAIN.url}),
    ("a host with a port", Hidden(sites=frozenset({"b.example:8443"})), {PORT.url}),
    (
        "pages and sites",
        Hidden(frozenset({SECRET.url}), frozenset({"b.example", "c.example"})),
        {SECRET.url, PORT.url, SUBDOMAIN.url},
    ),
    ("names that cannot be encoded", Hidden(frozenset({"\ud800"}), frozenset({"\ud800", ""})), set[str]()),
]


@pytest.mark.parametrize(("name", "hidden", "gone"), HIDDEN)
def test_hidden_pages_are_neither_found_nor_counted(shown: Shown, name: str, hidden: Hidden, gone: set[str]) -> None:
    everything = {one.id for one in PAGES}
    queries = ("kettle", "-zeppelin", "kettle OR stove", "kettle page", "site:example kettle")
    before = {query: shown.search.search(query, 100) for query in queries}
    shown.hidden = hidden
    assert shown.search.count() == len(PAGES) - len(gone)
    for query in queries:
        results = shown.search.search(query, 100)
        listed = {hit.id for hit in results.hits} | {other.url for hit in results.hits for other in hit.others}
        assert listed == everything - gone
        assert results.total == before[query].total - len(gone)
        assert results.complete == before[query].complete - len(gone)
    assert {url for url in everything if shown.search.explain("kettle", url) is None} == gone
    shown.hidden = NOTHING_HIDDEN
    assert shown.search.count() == len(PAGES)
    assert gone <= shown.ids("kettle")


def test_what_only_a_hidden_page_has_is_neither_completed_nor_suggested(shown: Shown) -> None:
    assert shown.search.suggest("samo") == ("Samovar secrets", "samovar")
    assert "kettle samovar" in shown.search.suggest("kettle samo")
    assert shown.search.search("samovars samovra").corrected == "samovars samovar"
    assert shown.ids("zebra") == {SECRET.url}
    assert ("pdf", 1) in shown.search.choices().types
    shown.hidden = Hidden(frozenset({SECRET.url}))
    assert shown.search.suggest("samo") == shown.search.suggest("kettle samo") == ()
    assert shown.search.suggest("light") == ("Lighthouse",)
    assert shown.search.search("samovra").corrected is None
    assert shown.ids("zebra") == set()
    assert shown.search.choices() == Choices((("en", len(PAGES) - 1),), ())


def test_a_hidden_copy_is_not_listed_with_the_other_one(shown: Shown) -> None:
    (hit,) = shown.search.search("whistling stove").hits
    assert {hit.id, *(other.url for other in hit.others)} == {COPY.url, ORIGINAL.url}
    for one, other in ((COPY, ORIGINAL), (ORIGINAL, COPY)):
        shown.hidden = Hidden(frozenset({one.url}))
        (hit,) = shown.search.search("whistling stove").hits
        assert (hit.id, hit.others) == (other.url, ())


def test_many_hidden_pages(shown: Shown) -> None:
    shown.hidden = Hidden(frozenset(f"https://x.example/{number}" for number in range(3_000)) | {SECRET.url})
    assert shown.search.count() == len(PAGES) - 1
    assert SECRET.url not in shown.ids("kettle")


ENDS = [
    ("in the past", NOW - 1, False),
    ("now", NOW, False),
    ("within this second", NOW + 0.5, False),
    ("in a second", NOW + 1, True),
    ("before all time", -1e300, False),
    ("1970", 0.0, False),
    ("after all time", 1e300, True),
    ("no time", float("nan"), True),
    ("never", None, True),
]


@pytest.mark.parametrize(("name", "end", "is_found"), ENDS)
def test_a_page_is_not_found_from_the_end_of_its_time_on(
    tmp_path: Path, name: str, end: float | None, is_found: bool
) -> None:
    shown = written(tmp_path, [*FILLERS, replace(SECRET, available_until=end), COPY])
    every = len(FILLERS) + 2
    assert (SECRET.url in shown.ids("kettle"), shown.search.count()) == (is_found, every - (not is_found))
    assert shown.search.suggest("samo") == (("Samovar secrets", "samovar") if is_found else ())
    assert (shown.search.explain("kettle", SECRET.url) is not None) is is_found
    assert dict(shown.search.choices().languages)["en"] == shown.search.count()


def test_the_clock_decides_and_no_crawl_is_needed(tmp_path: Path) -> None:
    early, late = replace(COPY, available_until=NOW + 10), replace(ORIGINAL, available_until=NOW + 20)
    shown = written(tmp_path, [*FILLERS, early, late])
    seen, every = [], len(FILLERS) + 2
    for shown.now in (NOW, NOW + 10, NOW + 20):
        hits = shown.search.search("whistling").hits
        urls = {url for hit in hits for url in (hit.url, *(other.url for other in hit.others))}
        seen.append((urls, every - shown.search.count(), every - dict(shown.search.choices().languages)["en"]))
    assert seen == [({COPY.url, ORIGINAL.url}, 0, 0), ({ORIGINAL.url}, 1, 1), (set(), 2, 2)]


def test_both_together(tmp_path: Path) -> None:
    shown = written(tmp_path, [*FILLERS, replace(SECRET, available_until=NOW), PORT])
    shown.hidden = Hidden(sites=frozenset({"b.example"}))
    assert shown.ids("kettle") == {one.id for one in FILLERS}
    assert shown.search.count() == len(FILLERS)
