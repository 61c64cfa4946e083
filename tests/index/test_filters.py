"""Conditions that are given besides the query."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goodbot.errors import InputError
from goodbot.index import TantivyIndex, TantivySearch
from goodbot.index.filters import MAX_VALUE_CHARS
from goodbot.index.keys import hash_of
from goodbot.search_values import Document, Filters

MAY = 1_714_521_600.0
PAGES = [
    Document("en", "https://garden.example/en", "Crocus", "A crocus grows in the garden.", language="en"),
    Document("de", "https://garden.example/de", "Krokus", "Der crocus ist im Garten und er ist schön.", language="de"),
    Document("pdf", "https://garden.example:8443/a", "Bed", "The crocus bed.", media_type="application/pdf"),
    Document("old", "https://old.example/page.html", "Old", "A crocus of old.", modified_at=930_000_000.0),
    Document("may", "https://old.example/may.html", "May", "A crocus in May.", modified_at=MAY),
    Document("rare", "https://rare.example/", "Rare", "The crockus and the lily.", fetched_at=MAY),
    *(
        Document(f"crocus-{number}", f"https://many.example/{number}", "Many", f"The crocus {number} is for the bees.")
        for number in range(60)
    ),
]
PROSE = "tell me please about every crocus that grows in a garden of this town or another one"


@pytest.fixture(scope="module")
def search(tmp_path_factory: pytest.TempPathFactory) -> TantivySearch:
    folder = tmp_path_factory.mktemp("filters")
    index = TantivyIndex(folder)
    for page in PAGES:
        index.add(page)
    index.commit()
    index.close()
    return TantivySearch(folder)


FILTERED = [
    (Filters(site="garden.example"), {"en", "de", "pdf"}),
    (Filters(site="https://garden.example:8443/any/page"), {"pdf"}),
    (Filters(site="*.OLD.example"), {"old", "may"}),
    (Filters(language="de"), {"de"}),
    (Filters(language="DE_AT"), {"de"}),
    (Filters(filetype="pdf"), {"pdf"}),
    (Filters(filetype=".HTML"), {"old", "may"}),
    (Filters(filetype="application/pdf"), {"pdf"}),
    (Filters(before="2000"), {"old"}),
    (Filters(after="2024-05", site="old.example"), {"may"}),
    (Filters(after="2024-05-02"), set[str]()),
    (Filters(site=" garden.example ", language="en"), {"en"}),
    (Filters(site="nowhere.example"), set[str]()),
]


@pytest.mark.parametrize("query", ["crocus", PROSE, "crocus -lily", "crocus OR lily", '"crocus"', "crocu*", "(crocus)"])
@pytest.mark.parametrize(("filters", "expected"), FILTERED)
def test_only_documents_that_meet_the_conditions(
    search: TantivySearch, query: str, filters: Filters, expected: set[str]
) -> None:
    results = search.search(query, 100, filters=filters)
    assert {hit.id for hit in results.hits} == expected
    assert results.total == len(expected)
    assert results.complete <= results.total


DAY = 86_400.0
FETCHED = 1_780_000_000.0  # 2026-05-28
DATES = [
    ("stated", FETCHED - 1000 * DAY, FETCHED, FETCHED - 1000 * DAY),
    ("a clock that is ahead", FETCHED + DAY, FETCHED, FETCHED + DAY),
    ("the future", FETCHED + 1.01 * DAY, FETCHED, None),
    ("a year ahead", FETCHED + 365 * DAY, FETCHED, None),
    ("not stated", None, FETCHED, None),
    ("no time", 0.0, FETCHED, None),
    ("of ZIP archives", 315_532_800.0, FETCHED, None),
    ("of npm", 499_162_500.0, FETCHED, None),
    ("just before the Web", 631_151_999.0, FETCHED, None),
    ("as old as the Web", 631_152_000.0, FETCHED, 631_152_000.0),
    ("before 1970", -1e9, FETCHED, None),
    ("no number", float("nan"), FETCHED, None),
    ("no end", float("inf"), FETCHED, None),
    ("unknown fetch", FETCHED, 0.0, FETCHED),
]


@pytest.fixture(scope="module")
def dated(tmp_path_factory: pytest.TempPathFactory) -> TantivySearch:
    folder = tmp_path_factory.mktemp("dated")
    index = TantivyIndex(folder)
    for name, stated, fetched_at, _ in DATES:
        page = Document(name, f"https://a.example/{hash_of(name)}", name, f"crocus {name}", modified_at=stated)
        index.add(replace(page, fetched_at=fetched_at))
    index.commit()
    index.close()
    return TantivySearch(folder)


def day_of(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).date().isoformat()


@pytest.mark.parametrize(("name", "stated", "fetched_at", "believed"), DATES, ids=[name for name, *_ in DATES])
def test_a_page_has_the_date_that_it_states_if_that_can_be_true_else_that_of_its_fetch(
    dated: TantivySearch, name: str, stated: float | None, fetched_at: float, believed: float | None
) -> None:
    (hit,) = [hit for hit in dated.search("crocus", 100).hits if hit.id == name]
    assert (hit.modified_at, hit.fetched_at) == (believed, fetched_at)
    date = fetched_at if believed is None else believed
    found = {
        filters: name in {hit.id for hit in dated.search("crocus", 100, filters=filters).hits}
        for filters in (
            Filters(after=day_of(date)),
            Filters(before=day_of(date + DAY)),
            Filters(after=day_of(date + DAY)),
            Filters(before=day_of(date)),
        )
    }
    assert list(found.values()) == [True, True, False, False]


UNUSABLE = [
    (Filters(site="http://"), "site: needs a host, such as example.org"),
    (Filters(language="English"), "lang: needs a language, such as de"),
    (Filters(filetype="a b"), "filetype: needs a type, such as pdf"),
    (Filters(after="soon"), "after: needs a date, such as 2024-05-01"),
    (Filters(before="2024-13-01"), "before: needs a date, such as 2024-05-01"),
    (Filters(site="x" * (MAX_VALUE_CHARS + 1)), "site: needs a host, such as example.org"),
]


@pytest.mark.parametrize(("filters", "said"), UNUSABLE)
def test_a_value_that_cannot_be_used(search: TantivySearch, filters: Filters, said: str) -> None:
    with pytest.raises(InputError) as raised:
        search.search("crocus", filters=filters)
    assert str(raised.value) == said
    with pytest.raises(InputError):
        search.explain("crocus", PAGES[0].url, filters=filters)


@pytest.mark.parametrize(
    "query", ["crocus)", '"crocus', "crocus OR", "crocus -", "site:many.example OR crocus", "crocus NOT"]
)
def test_no_text_of_a_query_takes_a_condition_away(search: TantivySearch, query: str) -> None:
    assert {hit.id for hit in search.search(query, filters=Filters(site="rare.example")).hits} <= {"rare"}


def test_a_correction_counts_only_what_meets_the_conditions(search: TantivySearch) -> None:
    """`crockus` is on one page, `crocus` on sixty others; the conditions decide whether anything is found."""
    assert search.search("crockus").suggestion == "crocus"
    rare = search.search("crockus", filters=Filters(site="rare.example"))
    assert ([hit.id for hit in rare.hits], rare.corrected, rare.suggestion) == (["rare"], None, None)
    many = search.search("crockus", filters=Filters(site="many.example"))
    assert (many.total, many.corrected, many.suggestion) == (60, "crocus", None)


def test_the_query_in_plain_words_has_the_conditions(search: TantivySearch) -> None:
    filters = Filters(site="old.example", after="2024")
    assert search.search("crocus", filters=filters).searched_for == "crocus, on old.example, dated 2024-01-01 or later"
    long = search.search(PROSE * 3, filters=filters).searched_for
    assert len(long) <= 200
    assert long.endswith("…, on old.example, dated 2024-01-01 or later")


VALUES = st.one_of(
    st.text(max_size=20), st.sampled_from(["garden.example", "de", "pdf", "2024", "[::1]", "\ud800", "1"])
)


@settings(deadline=None)
@given(st.builds(Filters, VALUES, VALUES, VALUES, VALUES, VALUES), st.sampled_from(["crocus", PROSE, '"']))
def test_any_values(search: TantivySearch, filters: Filters, query: str) -> None:
    try:
        results = search.search(query, 3, filters=filters)
    except InputError:
        return
    assert results.total <= search.search(query, 0).total or query == '"'


def test_conditions_of_a_query_that_only_excludes(tmp_path: Path) -> None:
    index = TantivyIndex(tmp_path)
    index.add(replace(PAGES[0], id="only", url="https://only.example/"))
    index.commit()
    index.close()
    assert [hit.id for hit in TantivySearch(tmp_path).search("-lily", filters=Filters(site="only.example")).hits] == [
        "only"
    ]
