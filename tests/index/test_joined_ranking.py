"""Several indexes searched as one give the hits of one index of all documents: the same ones, in the same order, with
the same scores."""

import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goodbot.index import Ranking, TantivyIndex, TantivySearch, refresh_links, refresh_together
from goodbot.search_values import Document, Filters, Results
from goodbot.url import Url
from goodbot.values import Link

WORDS = ("zebra", "lion", "tiger", "okapi", "gnu", "the", "of", "os.path", "haus", "katze", "zebras", "qwert")
HOSTS = ("a.example", "b.example", "www.a.example", "c.example")
TEXT = st.lists(st.sampled_from(WORDS), min_size=0, max_size=25).map(" ".join)
MAX_PAGES = 40
AT_ONCE = 20
"""The number of documents in a segment. Tantivy merges segments if there are eight."""
NO_NEARNESS = Ranking(frozenset({"near"}))


def url_of(number: int) -> str:
    """Some pages are translations of others, and they are in folders of different depth."""
    folder = ("", "en/", "de/", "deep/folder/")[number % 4]
    return f"https://{HOSTS[number % 3]}/{folder}{number // 4}.html"


@st.composite
def documents(draw: st.DrawFn) -> list[Document]:
    count = draw(st.integers(0, MAX_PAGES))
    texts = draw(st.lists(TEXT, min_size=1, max_size=8))
    made = []
    for number in range(count):
        targets = draw(st.lists(st.integers(0, MAX_PAGES), max_size=4))
        links = tuple(Link(Url(url_of(target)), draw(st.sampled_from(WORDS)), ()) for target in targets)
        made.append(
            Document(
                url_of(number),
                url_of(number),
                draw(TEXT),
                draw(st.sampled_from(texts)),
                headings=draw(TEXT),
                language=draw(st.sampled_from(["en", "de", None])),
                links=links,
                media_type=draw(st.sampled_from(["text/html", "application/pdf"])),
                fetched_at=float(draw(st.integers(1, 5))) * 1e8,
            )
        )
    return made


QUERY = st.one_of(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join),
    st.sampled_from(
        [
            '"zebra lion"',
            "zebra OR okapi -gnu",
            "zebr*",
            "intitle:lion tiger",
            "site:a.example",
            "lang:de",
            "filetype:pdf lion",
            "-zebra",
            "the of",
            "ziger lion",
            f"link:{url_of(3)}",
            "os.path zebra",
        ]
    ),
)
FILTERS = st.sampled_from([Filters(), Filters(site="a.example"), Filters(language="en"), Filters(after="1980")])


def write(folder: Path, *parts: list[Document]) -> None:
    """Writes documents, of which some make a segment."""
    index = TantivyIndex(folder)
    for part in parts:
        for start in range(0, len(part), AT_ONCE):
            for one in part[start : start + AT_ONCE]:
                index.add(one)
            index.commit()
    index.commit()
    index.close()


def ignoring_time(results: Results) -> Results:
    """The results without their scores, and without times."""
    hits = tuple(replace(hit, score=0.0) for hit in results.hits)
    return replace(results, took_ms=0.0, as_of=0.0, hits=hits)


def check_equal(one: TantivySearch, joined: TantivySearch, query: str, filters: Filters, limit: int) -> None:
    """Compares all that a search gives."""
    expected, found = (search.search(query, limit, filters=filters) for search in (one, joined))
    assert ignoring_time(found) == ignoring_time(expected)
    assert [hit.score for hit in found.hits] == pytest.approx([hit.score for hit in expected.hits], rel=1e-5)
    for hit in expected.hits[:2]:
        explained, again = (search.explain(query, hit.url, filters=filters) for search in (one, joined))
        assert explained is not None
        assert again is not None
        assert (again.position, again.is_found, again.notes) == (
            explained.position,
            explained.is_found,
            explained.notes,
        )
        assert again.score == pytest.approx(explained.score, rel=1e-5)


@settings(max_examples=settings().max_examples // 2, deadline=None)
@given(
    pages=documents(),
    shares=st.lists(st.integers(0, 3), min_size=MAX_PAGES, max_size=MAX_PAGES),
    count=st.integers(1, 4),
    queries=st.lists(st.tuples(QUERY, FILTERS, st.sampled_from([1, 10, 50])), min_size=1, max_size=6),
    is_refreshed=st.booleans(),
    same_segments=st.booleans(),
)
def test_joined_indexes_rank_as_one_index(
    pages: list[Document],
    shares: list[int],
    count: int,
    queries: list[tuple[str, Filters, int]],
    is_refreshed: bool,
    same_segments: bool,
) -> None:
    """Which occurrences of two words count as near each other depends, in Tantivy, on which of the words is in fewer
    documents of the segment. So nearness only counts here if the one index has the segments of the others."""
    with tempfile.TemporaryDirectory() as place:
        whole, parts = Path(place) / "whole", [Path(place) / f"part{number}" for number in range(count)]
        split = [
            [page for page, share in zip(pages, shares, strict=False) if share % count == number]
            for number in range(count)
        ]
        write(whole, *(split if same_segments else [pages]))
        for part, some in zip(parts, split, strict=True):
            write(part, some)
        if is_refreshed:
            refresh_links(whole)
            refresh_together(parts)
        ranking = Ranking() if same_segments else NO_NEARNESS
        one, joined = TantivySearch(whole, ranking), TantivySearch(parts, ranking)
        assert joined.count() == one.count() == len(pages)
        assert joined.choices() == one.choices()
        for typed in ("z", "li", "zebra l"):
            assert joined.suggest(typed) == one.suggest(typed)
        for query, filters, limit in queries:
            check_equal(one, joined, query, filters, limit)
