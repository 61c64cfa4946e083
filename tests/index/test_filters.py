"""Conditions that are given besides the query."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goodbot.errors import InputError
from goodbot.index import TantivyIndex, TantivySearch
from goodbot.index.filters import MAX_VALUE_CHARS
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
    assert search.search("crocus", filters=filters).searched_for == "crocus, on old.example, changed since 2024-01-01"
    long = search.search(PROSE * 3, filters=filters).searched_for
    assert len(long) <= 200
    assert long.endswith("…, on old.example, changed since 2024-01-01")


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
