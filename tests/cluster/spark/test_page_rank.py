"""PageRank on Spark gives the ranks of one machine."""

import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession

from goodbot.cluster.spark import page_rank
from goodbot.cluster.spark.page_rank import page_ranks_of
from goodbot.errors import DamagedError, RunError
from goodbot.index import TantivyIndex, refresh_links
from goodbot.index.keys import hash_of
from goodbot.index.link_texts import LinkTexts
from goodbot.index.page_rank import page_ranks
from goodbot.index.stored_page import encode_links
from goodbot.search_values import Document
from goodbot.url import Url
from goodbot.values import Link

PAGES: Final = 500
SETTING: Final = "spark.sql.autoBroadcastJoinThreshold"

Graph = list[list[int]]
"""The pages that each page links to, in order. Numbers from the number of pages on are unknown pages."""


def url(page: int) -> str:
    return f"https://host{page % 7}.example/folder/{page}"


def random_graph(pages: int, seed: int) -> Graph:
    """Links to few pages and to many, to unknown ones, to a page itself, and to the same page several times."""
    draw = random.Random(seed)
    return [
        [int(draw.random() ** 2 * (pages + 20)) for _ in range(draw.choice((0, 0, 1, 5, 30)))] + [page] * (page % 3)
        for page in range(pages)
    ]


def frame(spark: SparkSession, graph: Graph, seed: int = 0) -> DataFrame:
    """The pages in an order of `seed`."""
    rows = [
        (url(page), bytearray(encode_links([(url(target), "text", ()) for target in linked], url(page))))
        for page, linked in enumerate(graph)
    ]
    random.Random(seed).shuffle(rows)
    return spark.createDataFrame(rows, "url string, links binary")


def on_spark(pages: DataFrame, folder: Path, **settings: int) -> dict[str, float]:
    found = page_ranks_of(pages, str(folder), **settings).collect()
    assert len({row["url"] for row in found}) == len(found)
    return {row["url"]: row["rank"] for row in found}


def on_one_machine(graph: Graph, most: int | None = None) -> dict[str, float]:
    known = range(len(graph))
    links = (
        [one for one in dict.fromkeys(linked) if one in known and one != page] for page, linked in enumerate(graph)
    )
    return {url(page): rank for page, rank in enumerate(page_ranks(len(graph), (one[:most] for one in links)))}


def index_ranks(graph: Graph, folder: Path) -> dict[str, float]:
    """The ranks in an index of these pages, which have 32 bits."""
    index = TantivyIndex(folder)
    for page, linked in enumerate(graph):
        links = tuple(Link(Url(url(target)), "text", (), ()) for target in linked)
        index.add(Document(url(page), url(page), f"Page {page}", "lion", links=links))
    index.commit()
    index.close()
    refresh_links(folder)
    numbers = {hash_of(url(page)): url(page) for page in range(len(graph))}
    return {numbers[number]: rank for number, rank in LinkTexts(folder).ranks(numbers).items()}


@pytest.fixture(scope="module")
def graph() -> Graph:
    """Pages of all kinds: many have no links, some are linked to by a hundred others."""
    return random_graph(PAGES, seed=24)


def test_ranks_are_those_of_one_machine(spark: SparkSession, graph: Graph, tmp_path: Path) -> None:
    before = spark.conf.get(SETTING)
    found = on_spark(frame(spark, graph), tmp_path / "checkpoints", partitions=3)
    assert spark.conf.get(SETTING) == before
    expected = on_one_machine(graph)
    assert expected.keys() == found.keys()
    assert max(expected.values()) > 5
    assert found == pytest.approx(expected, rel=1e-12)
    assert found == pytest.approx(index_ranks(graph, tmp_path / "index"), rel=1e-6)


def test_another_order_of_sums_changes_little(spark: SparkSession, graph: Graph, tmp_path: Path) -> None:
    shuffled = frame(spark, graph, seed=1).repartition(5)
    found = on_spark(shuffled, tmp_path, partitions=7)
    assert found == pytest.approx(on_one_machine(graph), rel=1e-9)


def test_the_first_links_of_each_page_count(spark: SparkSession, graph: Graph, tmp_path: Path) -> None:
    found = on_spark(frame(spark, graph), tmp_path, partitions=2, most_links=2)
    assert found == pytest.approx(on_one_machine(graph, most=2), rel=1e-12)
    assert found != pytest.approx(on_one_machine(graph), rel=1e-3)


def test_no_pages_have_no_ranks(spark: SparkSession, tmp_path: Path) -> None:
    assert on_spark(frame(spark, []), tmp_path, partitions=1) == {}


def test_a_folder_that_cannot_be_written_to(spark: SparkSession, graph: Graph, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(RunError, match="Spark cannot write to"):
        page_ranks_of(frame(spark, graph), str(tmp_path / "file" / "folder"))


def decoded(pages: Iterable[tuple[str, bytes | None]]) -> list[dict[str, object]]:
    """What a task makes of these pages, in batches of two."""
    batch = pa.RecordBatch.from_pylist(
        [{"url": one, "links": links} for one, links in pages],
        schema=pa.schema([("url", pa.string()), ("links", pa.binary())]),
    )
    pieces = (batch.slice(start, 2) for start in range(0, len(batch), 2))
    return [row for made in page_rank._numbered(pieces) for row in made.to_pylist()]


@given(st.lists(st.lists(st.integers(0, 9), max_size=12), max_size=7))
def test_each_other_page_is_a_target_once_in_order(graph: Sequence[Sequence[int]]) -> None:
    pages = [
        (url(page), encode_links([(url(target), "text", ()) for target in linked], url(page)))
        for page, linked in enumerate(graph)
    ]
    assert decoded(pages) == [
        {
            "url": url(page),
            "id": hash_of(url(page)),
            "targets": [hash_of(url(target)) for target in dict.fromkeys(linked) if target != page],
        }
        for page, linked in enumerate(graph)
    ]


def test_a_page_without_links_has_no_targets() -> None:
    assert [row["targets"] for row in decoded([(url(0), None), (url(1), b"")])] == [[], []]


def test_links_that_cannot_be_read_name_their_page() -> None:
    with pytest.raises(DamagedError, match=f"the links of {url(1)} in the segments of pages cannot be read"):
        decoded([(url(0), b""), (url(1), b"no links")])
