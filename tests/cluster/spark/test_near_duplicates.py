"""Pairs of near-duplicates on Spark, beside a comparison of all pages with each other."""

import random
from array import array
from collections.abc import Iterable, Sequence
from itertools import combinations
from operator import itemgetter
from typing import Final

import msgspec
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession

from goodbot.cluster.spark import near_duplicates
from goodbot.cluster.spark.near_duplicates import NEIGHBOURS, near_duplicate_pairs
from goodbot.errors import DamagedError
from goodbot.index.preparation import prepare
from goodbot.page.fingerprint import SLOTS, Fingerprint, stable_fingerprint
from goodbot.robot.lessons.copies import ALIKE, LONG_WORDS
from goodbot.search_values import Document

WORDS: Final = [f"word{number}" for number in range(5000)]
RECALL: Final = 0.97
"""99 % of pairs share a band at a likeness of 0.95."""

Pairs = dict[tuple[str, str], float]


def url(page: int) -> str:
    return f"https://host{page % 5}.example/{page:05}"


def document(page: int, text: str, snippet_chars: int | None = None) -> bytes:
    return msgspec.msgpack.encode(
        prepare(Document(url(page), url(page), f"Page {page}", text, snippet_chars=snippet_chars))
    )


def frame(spark: SparkSession, texts: Iterable[str], snippet_chars: int | None = None) -> DataFrame:
    rows = [
        (url(page), bytearray(document(page, text, snippet_chars=snippet_chars))) for page, text in enumerate(texts)
    ]
    random.Random(0).shuffle(rows)
    return spark.createDataFrame(rows, "url string, document binary")


def pairs_on_spark(pages: DataFrame, neighbours: int = NEIGHBOURS) -> Pairs:
    found = near_duplicate_pairs(pages, neighbours=neighbours).collect()
    pairs = {(row["url_1"], row["url_2"]): row["likeness"] for row in found}
    assert len(pairs) == len(found)
    assert all(one < other for one, other in pairs)
    return pairs


def versions(draw: random.Random, count: int, words: int, changed: int) -> list[str]:
    """Texts with the same words but for a few, each of which `changed` gives the mean of."""
    base = draw.sample(WORDS, words)
    texts = []
    for _ in range(count):
        own = list(base)
        for _ in range(draw.randint(0, 2 * changed)):
            own[draw.randrange(words)] = f"own{draw.random()}"
        texts.append(" ".join(own))
    return texts


def compared(texts: Sequence[str], likeness: float, words: int) -> Pairs:
    """All pairs of texts that are almost equal, but not equal."""
    marks = sorted(((url(page), stable_fingerprint(text)) for page, text in enumerate(texts)), key=itemgetter(0))
    found = {
        (first, second): one.likeness(other)
        for (first, one), (second, other) in combinations(marks, 2)
        if min(one.words, other.words) >= words and one.exact != other.exact
    }
    return {pair: share for pair, share in found.items() if share >= likeness}


def test_almost_equal_texts_are_found(spark: SparkSession) -> None:
    draw = random.Random(24)
    texts = [one for _ in range(40) for one in versions(draw, count=8, words=draw.randint(210, 900), changed=4)]
    texts = [" ".join([text, f"page{number}"]) for number, text in enumerate(texts)]  # none are equal
    texts += [one for _ in range(20) for one in versions(draw, count=4, words=LONG_WORDS - 20, changed=2)]
    expected = compared(texts, ALIKE, LONG_WORDS)
    assert len(expected) > 400
    found = {pair: share for pair, share in pairs_on_spark(frame(spark, texts)).items() if share < 1.0}
    assert found.items() <= expected.items()
    assert len(found) >= RECALL * len(expected)


def test_equal_texts_are_paired_with_the_first_page(spark: SparkSession) -> None:
    short, long = "Page not found.", " ".join(WORDS[:300])
    almost, other = long.replace("word7 ", "bird "), " ".join(WORDS[300:600])
    texts = ["another text", long, short, "", short, other, almost, f"{long}\n", short, almost, " "]
    found = pairs_on_spark(frame(spark, texts))
    urls = [url(page) for page in range(len(texts))]
    groups = [sorted(urls[page] for page in pages) for pages in ((1, 7), (2, 4, 8), (6, 9))]
    equal = {(first, same) for first, *rest in groups for same in rest}
    assert {pair for pair, share in found.items() if share == 1.0} == equal
    alike = tuple(sorted((groups[0][0], groups[2][0])))
    assert [(pair, share >= ALIKE) for pair, share in found.items() if share < 1.0] == [(alike, True)]


def test_a_page_that_forbids_snippets_is_left_out(spark: SparkSession) -> None:
    assert pairs_on_spark(frame(spark, ["the same text"] * 3, snippet_chars=0)) == {}
    assert len(pairs_on_spark(frame(spark, ["the same text"] * 3, snippet_chars=5))) == 2


def test_thousands_of_equal_pages_and_of_one_template_stay_linear(spark: SparkSession) -> None:
    equal, template = 3000, 1000
    words = " ".join(WORDS[:250])
    texts = ["The same text of some words."] * equal + [f"{words} number{page}" for page in range(template)]
    found = pairs_on_spark(frame(spark, texts), neighbours=4)
    assert sum(share == 1.0 for share in found.values()) == equal - 1
    almost = {pair for pair, share in found.items() if share < 1.0}
    assert template - 1 <= len(almost) <= 4 * 4 * template
    assert groups_of(almost) == 1


def groups_of(pairs: Iterable[tuple[str, str]]) -> int:
    """How many groups of pages there are, of which each is in a pair with another one."""
    leader: dict[str, str] = {}

    def leader_of(page: str) -> str:
        while leader.setdefault(page, page) != page:
            page = leader[page]
        return page

    for one, other in pairs:
        leader[leader_of(one)] = leader_of(other)
    return len({leader_of(page) for page in leader})


Row = tuple[int, str, int, Sequence[int]]
"""Band, URL, characters and sketch."""


@st.composite
def bands(draw: st.DrawFn) -> list[Row]:
    """Pages sorted by bands, with sketches that are often alike."""
    slots = st.lists(st.integers(0, 63), max_size=6)
    rows = draw(st.lists(st.tuples(st.integers(0, 3), st.integers(950, 1050), slots), max_size=12))
    return [
        (band, url(page), chars, [int(slot in changed) * page for slot in range(SLOTS)])
        for page, (band, chars, changed) in enumerate(sorted(rows))
    ]


def neighbours_of(rows: Sequence[Row], size: int, likeness: float, neighbours: int) -> Pairs:
    """What a task finds in these rows, in batches of `size`."""
    batches = [rows[start : start + size] for start in range(0, len(rows), size)]
    made = near_duplicates._neighbours(map(batch_of, batches), likeness, neighbours)
    return {(row["url_1"], row["url_2"]): row["likeness"] for batch in made for row in batch.to_pylist()}


def batch_of(rows: Sequence[Row]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(
        [
            pa.array([row[0] for row in rows], pa.int64()),
            pa.array([row[1] for row in rows], pa.string()),
            pa.array([row[2] for row in rows], pa.int64()),
            pa.array([array("I", row[3]).tobytes() for row in rows], pa.binary()),
        ],
        ["band", "url", "chars", "sketch"],
    )


@given(bands(), st.integers(1, 5), st.sampled_from((0.8, 0.95, 0.99)), st.integers(1, 12))
def test_neighbours_within_a_band_are_compared(rows: list[Row], size: int, likeness: float, neighbours: int) -> None:
    marks = [Fingerprint(page, 300, chars, array("I", sketch)) for page, (_, _, chars, sketch) in enumerate(rows)]
    near = {
        (url(one), url(other)): marks[one].likeness(marks[other])
        for one, other in combinations(range(len(rows)), 2)
        if rows[one][0] == rows[other][0] and other - one <= neighbours
    }
    expected = {tuple(sorted(pair)): share for pair, share in near.items() if share >= likeness}
    assert neighbours_of(rows, size, likeness, neighbours) == expected


def test_a_document_that_cannot_be_read_names_its_page() -> None:
    for damaged in (b"no document", msgspec.msgpack.encode({"stored": [("shown", b"no page")]})):
        batch = pa.RecordBatch.from_pylist(
            [{"url": url(0), "document": document(0, "text")}, {"url": url(1), "document": damaged}]
        )
        with pytest.raises(DamagedError, match=f"the document of {url(1)} in the segments of pages cannot be read"):
            list(near_duplicates._marks([batch], LONG_WORDS))


def test_a_document_without_a_page_has_no_text() -> None:
    batch = pa.RecordBatch.from_pylist([{"url": url(0), "document": msgspec.msgpack.encode({"stored": []})}])
    assert [made.num_rows for made in near_duplicates._marks([batch], LONG_WORDS)] == [0]
