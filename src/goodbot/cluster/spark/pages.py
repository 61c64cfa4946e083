"""Finds the pages that belong in an index now. The crawl table says which they are; the segments of all cycles have
their links and documents, also older ones, and those of pages that have left."""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import repeat
from typing import Final, Literal, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col, lit

from goodbot.cluster.spark.page_rows import PAGE_SCHEMA
from goodbot.cluster.spark.parquet_files import damage_named, open_parquet
from goodbot.cluster.spark.part_files import PartNote
from goodbot.cluster.spark.plan import load_notes
from goodbot.cluster.spark.store_files import StoreFiles
from goodbot.cluster.spark.table_version import TableVersion
from goodbot.cluster.spark.worker_process import in_task
from goodbot.errors import DamagedError
from goodbot.partitions import part_of
from goodbot.store.merge.coding import CODED

Column = Literal["links", "document"]

_PAGES_AT_ONCE: Final = 500
_ROWS_AT_ONCE: Final = 16_384
_TASKS_PER_CORE: Final = 4

_TYPES: Final = {
    **dict.fromkeys(("part", "segment"), "int"),
    **dict.fromkeys(("url", "host"), "string"),
    "at": "double",
    **dict.fromkeys(("links", "document"), "binary"),
}
_KEY: Final = ("part", "host", "url")
_TABLE_COLUMNS: Final = ("host", "url", "state", "was", "seen_indexed", "leaving")
_VISITED: Final = pa.array([code for code, state in enumerate(CODED) if state == "visited"], pa.int8())

Batches = Iterator[pa.RecordBatch]


class PagesJob(NamedTuple):
    """What all tasks are given. `segments`: the paths of the files with pages. `columns`: those that are read besides
    the URL and the host. The parts of the crawl table are divided into `groups`: part 5 is in group 5 % `groups`."""

    files: StoreFiles
    parts: tuple[PartNote | None, ...]
    segments: tuple[str, ...]
    columns: tuple[Column, ...]
    groups: int


def current_pages(
    spark: SparkSession, files: StoreFiles, version: TableVersion, columns: Sequence[Column]
) -> DataFrame:
    """Returns one row for each page that belongs in an index now: `url`, `host`, and of `links` and `document` (see
    `PAGE_SCHEMA`) those that `columns` names. Each partition has the pages of one part of the crawl table, ordered by
    host and URL.

    A page belongs there if it was visited and may be indexed; also while it is visited again. Its document is that of
    the last visit that brought one. Memory does not grow with the number of pages.

    Raises DamagedError if the notes of a cycle are damaged or missing. A task raises it, with the name of the file, for
    a damaged segment or part; Spark passes its text on in an exception of its own.
    """
    segments = page_segments(files, version)
    job = PagesJob(files, version.parts, segments, tuple(columns), len(version.parts))
    return sorted_pages(spark, job).mapInArrow(in_task(partial(_current, job)), _schema(("url", "host", *columns)))


def page_segments(files: StoreFiles, version: TableVersion) -> tuple[str, ...]:
    """Returns the paths of the files with the pages of all cycles. Raises DamagedError if the notes of a cycle are
    damaged or missing."""
    notes = (note for number in version.cycles for note in load_notes(files, number))
    return tuple(note.pages for note in notes if note.pages is not None)


def sorted_pages(spark: SparkSession, job: PagesJob) -> DataFrame:
    """Returns all rows of the segments, the older ones too, as `CurrentPages` takes them: partition N has group N."""
    count = len(job.segments)
    tasks = min(max(count, 1), _TASKS_PER_CORE * max(spark.sparkContext.defaultParallelism, job.groups))
    columns = (*_KEY, "at", "segment", *job.columns)
    rows = spark.range(0, count, 1, numPartitions=tasks).mapInArrow(in_task(partial(_read, job)), _schema(columns))
    by_group = rows.repartitionById(job.groups, col("part") % lit(job.groups))
    return by_group.sortWithinPartitions(*_KEY, col("at").desc())


def _schema(columns: Sequence[str]) -> str:
    return ", ".join(f"{name} {_TYPES[name]}" for name in columns)


# ---- reading segments -----------------------------------------------------------------------------------------------


def _read(job: PagesJob, batches: Batches) -> Batches:
    for batch in batches:
        for segment in batch.column("id").to_pylist():
            yield from segment_rows(job, segment)


def segment_rows(job: PagesJob, segment: int) -> Batches:
    """Yields the rows of a segment, with the number of the part that each belongs to. Raises DamagedError."""
    path = job.segments[segment]
    names = ["url", "host", "at", *job.columns]
    with damage_named(f"{job.files.url}/{path}"):
        file = open_parquet(job.files, path)
        if file.schema_arrow.remove_metadata() != PAGE_SCHEMA:
            raise DamagedError(f"{job.files.url}/{path} is damaged: it has other columns than pages have")
        for batch in file.iter_batches(batch_size=_PAGES_AT_ONCE, columns=names):
            if any(batch.column(name).null_count for name in names):
                raise DamagedError(f"{job.files.url}/{path} is damaged: a row lacks a value")
            yield _numbered(batch, len(job.parts), segment, job.columns)


def _numbered(batch: pa.RecordBatch, parts: int, segment: int, columns: Sequence[str]) -> pa.RecordBatch:
    """Adds the numbers of the part and of the segment to rows of a segment."""
    hosts = batch.column("host").to_pylist()
    known = {host: part_of(host, parts) for host in set(hosts)}
    columns_of = {
        "part": pa.array([known[host] for host in hosts], pa.int32()),
        **{name: batch.column(name) for name in ("host", "url", "at")},
        "segment": pa.array(repeat(segment, batch.num_rows), pa.int32()),
        **{name: batch.column(name) for name in columns},
    }
    return pa.record_batch(columns_of)


# ---- which of them count --------------------------------------------------------------------------------------------


def _current(job: PagesJob, batches: Batches) -> Batches:
    for batch in CurrentPages(job, partition_number()).of(batches):
        yield batch.select(["url", "host", *job.columns])


def partition_number() -> int:
    """Returns the number of the partition that this task works on."""
    from pyspark import TaskContext  # noqa: PLC0415

    context = TaskContext.get()
    return 0 if context is None else context.partitionId()


class CurrentPages:
    """Picks the rows of the pages of a group that belong in an index now. `missing` counts pages that belong there and
    have no row; it is complete when all rows have been read."""

    def __init__(self, job: PagesJob, group: int) -> None:
        self._belonging = _belonging(job, group)
        self._next = next(self._belonging, None)
        self._last: _PageKey | None = None
        self.missing = 0

    def of(self, batches: Batches) -> Batches:
        """Yields the rows that count of those of `sorted_pages`. Raises DamagedError if a part of the crawl table is
        damaged."""
        for batch in batches:
            keys = zip(*(batch.column(name).to_pylist() for name in _KEY), strict=True)
            counting = [self._counts(key) for key in keys]
            if any(counting):
                yield batch.filter(pa.array(counting))
        while self._next is not None:
            self._pass()

    def _counts(self, key: "_PageKey") -> bool:
        """Whether the row of this page counts: of several, the first one does, which is the latest."""
        if key == self._last:
            return False
        self._last = key
        while self._next is not None and self._next < key:
            self._pass()
        if self._next != key:
            return False
        self._next = next(self._belonging, None)
        return True

    def _pass(self) -> None:
        self.missing += 1
        self._next = next(self._belonging, None)


_PageKey = tuple[int, str, str]
"""Part, host and URL."""


def _belonging(job: PagesJob, group: int) -> Iterator[_PageKey]:
    """Yields the pages of a group that belong in an index, in the order of `sorted_pages`."""
    for part in range(group, len(job.parts), job.groups):
        if (note := job.parts[part]) is None:
            continue
        with damage_named(f"{job.files.url}/{note.urls}"):
            for batch in open_parquet(job.files, note.urls).iter_batches(_ROWS_AT_ONCE, columns=[*_TABLE_COLUMNS]):
                rows = batch.filter(_belongs(batch))
                yield from zip(
                    repeat(part), rows.column("host").to_pylist(), rows.column("url").to_pylist(), strict=False
                )


def _belongs(batch: pa.RecordBatch) -> pa.Array:
    """Returns which rows are those of pages in an index. A page that is being visited again is in its `was` state."""
    visited, visited_before = (pc.is_in(batch.column(name), value_set=_VISITED) for name in ("state", "was"))
    stays = pc.and_(batch.column("seen_indexed"), pc.invert(batch.column("leaving")))
    return pc.and_(pc.or_(visited, visited_before), stays)
