"""Which pages belong in an index now, and which of their documents: by hand-made stores, with and without Spark."""

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cluster.spark.small_store import VISITED, VISITED_AGAIN, Page, SmallStore, row_of, rows_in_order
from goodbot.cluster.spark.local_files import LocalFiles
from goodbot.cluster.spark.opening import open_files
from goodbot.cluster.spark.page_rows import PAGE_SCHEMA
from goodbot.cluster.spark.pages import CurrentPages, PagesJob, current_pages, page_segments
from goodbot.cluster.spark.plan import notes_path
from goodbot.cluster.spark.table_version import TableVersion
from goodbot.errors import DamagedError
from goodbot.index.stored_page import decode_links, decode_page
from goodbot.partitions import part_of
from goodbot.search_values import PreparedDocument
from goodbot.store.merge.coding import CODES, LATER, READY
from goodbot.store.merge.crawl_rows import UrlRow

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HOSTS = [f"site{number}.example" for number in range(6)]
Harm = Callable[[SmallStore, str], None]
URLS = [f"https://{host}/{name}" for host, name in product(HOSTS, ("", "b", "ä", "Z"))]


@pytest.fixture
def store(tmp_path: Path) -> SmallStore:
    return SmallStore(LocalFiles(tmp_path / "store"), tmp_path)


def job_of(store: SmallStore, version: TableVersion, groups: int | None = None) -> PagesJob:
    segments = page_segments(store.files, version)
    return PagesJob(store.files, version.parts, segments, ("document",), groups or len(version.parts))


def current(job: PagesJob) -> tuple[dict[str, float], int]:
    """The pages that belong in an index, with the times of their documents, and the number of those without one."""
    found: dict[str, float] = {}
    missing = 0
    for group in range(job.groups):
        pages = CurrentPages(job, group)
        for batch in pages.of(rows_in_order(job, group)):
            for url, data in zip(batch.column("url").to_pylist(), batch.column("document").to_pylist(), strict=True):
                assert url not in found
                found[url] = fetched_at(data)
        missing += pages.missing
    return found, missing


def fetched_at(data: bytes) -> float:
    document = msgspec.msgpack.decode(data, type=PreparedDocument)
    return decode_page(dict(document.stored)["shown"]).fetched_at


def page(url: str, at: float = 1.0, text: str = "some words") -> Page:
    return Page(url, at, text)


# ---- which pages ----------------------------------------------------------------------------------------------------


def test_of_a_page_fetched_twice_the_later_document_counts(store: SmallStore) -> None:
    one, other = URLS[0], URLS[4]
    store.add_cycle([page(one, 1.0)], [page(other, 2.0)])
    store.add_cycle([page(other, 1.5), page(one, 5.0), page(one, 4.0)])
    assert current(job_of(store, store.write_table([row_of(one, 5.0), row_of(other, 2.0)]))) == (
        {one: 5.0, other: 2.0},
        0,
    )


def test_a_page_that_has_not_changed_keeps_its_document(store: SmallStore) -> None:
    store.add_cycle([page(URLS[0], 1.0)])
    store.add_cycle([])
    assert current(job_of(store, store.write_table([row_of(URLS[0], 9.0)]))) == ({URLS[0]: 1.0}, 0)


def test_a_page_being_visited_again_stays(store: SmallStore) -> None:
    waiting, due, retried = URLS[:3]
    store.add_cycle([page(url) for url in URLS[:3]])
    rows = [
        row_of(waiting, state=VISITED_AGAIN),
        row_of(due, state=LATER, was=VISITED_AGAIN),
        row_of(retried, state=READY, was=VISITED),
    ]
    assert set(current(job_of(store, store.write_table(rows)))[0]) == {waiting, due, retried}


@pytest.mark.parametrize(
    "row",
    [
        row_of(URLS[0], indexed=False),
        row_of(URLS[0], indexed=None),
        row_of(URLS[0], leaving=True),
        row_of(URLS[0], state="gone"),
        row_of(URLS[0], state="disallowed"),
        row_of(URLS[0], state="failed"),
        row_of(URLS[0], state="out-of-scope"),
        row_of(URLS[0], state=READY),
        row_of(URLS[0], state=CODES["gone"], was=CODES["gone"]),
        row_of(URLS[1]),
    ],
)
def test_a_page_that_has_left_is_not_there(store: SmallStore, row: UrlRow) -> None:
    store.add_cycle([page(URLS[0])])
    assert current(job_of(store, store.write_table([row])))[0] == {}


def test_pages_without_a_document_are_counted(store: SmallStore) -> None:
    store.add_cycle([page(URLS[4])])
    version = store.write_table(map(row_of, URLS))
    assert current(job_of(store, version)) == ({URLS[4]: 1.0}, len(URLS) - 1)


kinds = st.sampled_from(["current", "not indexed", "gone", "unknown"])
fetches = st.lists(st.tuples(st.sampled_from(URLS), st.integers(1, 50)), max_size=30)


@pytest.mark.long
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    cycles=st.lists(st.lists(fetches, max_size=3), max_size=3),
    state=st.fixed_dictionaries(dict.fromkeys(URLS, kinds)),
    parts=st.integers(1, 5),
    data=st.data(),
)
def test_any_store(
    tmp_path_factory: pytest.TempPathFactory,
    cycles: list[list[list[tuple[str, int]]]],
    state: dict[str, str],
    parts: int,
    data: st.DataObject,
) -> None:
    folder = tmp_path_factory.mktemp("any")
    store = SmallStore(LocalFiles(folder / "store"), folder, parts)
    latest: dict[str, float] = {}
    for cycle in cycles:
        store.add_cycle(*([page(url, float(at)) for url, at in segment] for segment in cycle))
        for url, at in (each for segment in cycle for each in segment):
            latest[url] = max(latest.get(url, 0.0), float(at))
    rows = [
        row_of(url, state="gone" if kind == "gone" else "visited", indexed=kind != "not indexed")
        for url, kind in state.items()
        if kind != "unknown"
    ]
    version = store.write_table(rows)
    belonging = {url for url, kind in state.items() if kind == "current"}
    groups = data.draw(st.integers(1, parts))
    found, missing = current(job_of(store, version, groups))
    assert found == {url: at for url, at in latest.items() if url in belonging}
    assert missing == len(belonging - latest.keys())


@pytest.mark.parametrize("kind", ["local", "s3"])
def test_in_any_kind_of_store(request: pytest.FixtureRequest, tmp_path: Path, kind: str) -> None:
    url = str(tmp_path / "store") if kind == "local" else request.getfixturevalue("s3_url")
    store = SmallStore(open_files(url), tmp_path)
    store.add_cycle([page(url) for url in URLS])
    assert current(job_of(store, store.write_table(map(row_of, URLS)))) == (dict.fromkeys(URLS, 1.0), 0)


# ---- bad files ------------------------------------------------------------------------------------------------------


def cut(store: SmallStore, path: str) -> None:
    content = store.files.read(path)
    assert content is not None
    store.files.write(path, content[: len(content) // 2])


def garble(store: SmallStore, path: str) -> None:
    """Damages the content, and not the description of the columns at the end."""
    content = store.files.read(path)
    assert content is not None
    store.files.write(path, content[:4] + bytes(len(content) // 2) + content[4 + len(content) // 2 :])


def rename_column(store: SmallStore, path: str) -> None:
    with store.files.open_output(path) as out:
        pq.write_table(pa.table({"url": ["x"], "at": [1.0]}), out)


def leave_out_value(store: SmallStore, path: str) -> None:
    with store.files.open_output(path) as out:
        rows = {"url": ["x"], "host": [None], "at": [1.0], "links": [b""], "document": [b""]}
        pq.write_table(pa.table(rows, PAGE_SCHEMA), out)


def remove(store: SmallStore, path: str) -> None:
    store.files.remove([path])


@pytest.mark.parametrize("harm", [cut, garble, rename_column, leave_out_value, remove])
def test_a_damaged_segment_is_named(store: SmallStore, harm: Harm) -> None:
    store.add_cycle([page(URLS[0])])
    (path,) = store.add_cycle([page(URLS[1])])
    job = job_of(store, store.write_table(map(row_of, URLS)))
    harm(store, path)
    with pytest.raises(DamagedError, match=path):
        current(job)


@pytest.mark.parametrize("harm", [cut, garble, rename_column, remove])
def test_a_damaged_part_of_the_table_is_named(store: SmallStore, harm: Harm) -> None:
    store.add_cycle([page(URLS[0])])
    version = store.write_table([row_of(URLS[0])])
    (note,) = filter(None, version.parts)
    harm(store, note.urls)
    with pytest.raises(DamagedError, match=note.urls):
        current(job_of(store, version))


@pytest.mark.parametrize("harm", [cut, remove])
def test_damaged_notes_are_named(store: SmallStore, harm: Harm) -> None:
    store.add_cycle([page(URLS[0])])
    version = store.write_table([row_of(URLS[0])])
    harm(store, notes_path(1))
    with pytest.raises(DamagedError, match=notes_path(1)):
        page_segments(store.files, version)


# ---- with Spark -----------------------------------------------------------------------------------------------------


def test_on_spark(spark: "SparkSession", store: SmallStore) -> None:
    target = "https://site1.example/b"
    store.add_cycle([page(url) for url in URLS[:12]], [page(url) for url in URLS[12:]])
    store.add_cycle([], [Page(URLS[0], 3.0, "newer words", (target,))])
    left = {URLS[3], URLS[20]}
    version = store.write_table(row_of(url, indexed=url not in left) for url in URLS)

    rows = current_pages(spark, store.files, version, ["links", "document"]).collect()
    assert [row.asDict().keys() for row in rows[:1]] == [{"url": 0, "host": 0, "links": 0, "document": 0}.keys()]
    found = {row.url: row for row in rows}
    assert len(rows) == len(found)
    assert found.keys() == set(URLS) - left
    assert all(row.host in row.url for row in rows)
    assert fetched_at(found[URLS[0]].document) == 3.0
    assert decode_links(found[URLS[0]].links) == [(target, "about b", ())]
    assert found[URLS[1]].links == b""

    only_urls = current_pages(spark, store.files, version, [])
    assert only_urls.columns == ["url", "host"]
    parts = [{part_of(row.host, 3) for row in some} for some in only_urls.rdd.glom().collect()]
    assert parts == [{number} for number in range(3)]
    in_order = [[(row.host, row.url) for row in some] for some in only_urls.rdd.glom().collect()]
    assert in_order == [sorted(some) for some in in_order]


def test_a_store_without_pages_on_spark(spark: "SparkSession", store: SmallStore) -> None:
    store.add_cycle([])
    version = store.write_table([row_of(URLS[0])])
    assert current_pages(spark, store.files, version, ["document"]).collect() == []


def test_a_damaged_segment_is_named_on_spark(spark: "SparkSession", store: SmallStore) -> None:
    from pyspark.errors import PySparkException

    (path,) = store.add_cycle([page(URLS[0])])
    version = store.write_table([row_of(URLS[0])])
    cut(store, path)
    with pytest.raises(PySparkException, match=f"DamagedError: .*{path}"):
        current_pages(spark, store.files, version, ["links"]).collect()
