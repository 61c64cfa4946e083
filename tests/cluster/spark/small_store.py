"""Stores of crawls on Spark that are written by hand: a few rows of the crawl table, and segments with pages."""

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import pyarrow as pa

from goodbot.cluster.spark.page_rows import PageWriter
from goodbot.cluster.spark.pages import PagesJob, segment_rows
from goodbot.cluster.spark.part_files import PartNote, PartWriter
from goodbot.cluster.spark.plan import SegmentNote, notes_path, segment_folder
from goodbot.cluster.spark.segment import SegmentCounts
from goodbot.cluster.spark.store_files import StoreFiles
from goodbot.cluster.spark.table_columns import host_batch, url_batch
from goodbot.cluster.spark.table_version import Current, TableVersion, flip, write_version
from goodbot.index import prepare
from goodbot.partitions import part_of, partition_of
from goodbot.search_values import Document
from goodbot.store.merge.coding import CODES, CODES_AGAIN, READY
from goodbot.store.merge.crawl_rows import HostRow, UrlRow
from goodbot.url import Url
from goodbot.values import LastVisit, Link, State

VISITED = CODES["visited"]
VISITED_AGAIN = CODES_AGAIN["visited"]


class Page(NamedTuple):
    """A page as a task has fetched it at `at`."""

    url: str
    at: float
    text: str
    links: tuple[str, ...] = ()


def row_of(
    url: str,
    at: float = 1.0,
    state: int | State = "visited",
    *,
    indexed: bool | None = True,
    was: int | None = None,
    leaving: bool = False,
) -> UrlRow:
    """Returns the row of a URL. `indexed`: None: it has not been visited."""
    code = state if isinstance(state, int) else CODES[state]
    seen = None if indexed is None else LastVisit(at, at + 1e6, 1e6, at, indexed=indexed)
    ready_at = None if code in (READY, VISITED) else at + 1e6
    return UrlRow(Url(url).host_key, url, code, 0, 0.0, ready_at=ready_at, was=was, seen=seen, leaving=leaving)


class SmallStore:
    """A store with the segments and the table that its methods write."""

    def __init__(self, files: StoreFiles, local: Path, parts: int = 3) -> None:
        self.files = files
        self._local = local
        self._parts = parts
        self._cycles: list[int] = []
        self._current: Current | None = None

    def add_cycle(self, *segments: Sequence[Page]) -> list[str]:
        """Writes a cycle, with these pages in its segments. Returns the paths of its files with pages."""
        number = len(self._cycles) + 1
        notes = [self._segment(number, task, pages) for task, pages in enumerate(segments)]
        self.files.write(notes_path(number), msgspec.json.encode(notes))
        self._cycles.append(number)
        return [note.pages for note in notes if note.pages is not None]

    def _segment(self, number: int, task: int, pages: Sequence[Page]) -> SegmentNote:
        name = f"{segment_folder(number)}/{task:05}"
        path = f"{name}.pages.parquet" if pages else None
        if path is not None:
            with self.files.open_output(path) as out:
                writer = PageWriter(out)
                for page in pages:
                    writer.add(prepare(document_of(page)), page.at)
                writer.close()
        return SegmentNote(task, f"{name}.changes.parquet", path, (), {}, SegmentCounts(), 0, 0.0, 0.0)

    def write_table(self, rows: Iterable[UrlRow], settings: str = "") -> TableVersion:
        """Writes a version of the crawl table with these rows, and makes it the current one."""
        number = 0 if self._current is None else self._current.version.number + 1
        parts: list[list[UrlRow]] = [[] for _ in range(self._parts)]
        for row in sorted(rows, key=lambda row: (row.host, row.url)):
            parts[part_of(row.host, self._parts)].append(row)
        notes = tuple(self._part(number, part, some) if some else None for part, some in enumerate(parts))
        cycles = tuple(self._cycles)
        version = TableVersion(number, len(cycles), 0.0, settings, notes, cycles=cycles)
        self._current = flip(self.files, version, write_version(self.files, version), self._current)
        return version

    def _part(self, number: int, part: int, rows: list[UrlRow]) -> PartNote:
        with tempfile.TemporaryDirectory(dir=self._local) as local:
            writer = PartWriter(Path(local))
            writer.add_urls(url_batch(rows))
            hosts = dict.fromkeys(row.host for row in rows)
            writer.add_hosts(host_batch([HostRow(host, partition_of(host)) for host in hosts]))
            return writer.finish(self.files, f"table/{number:08}/{part:05}", part, 0.0)


def document_of(page: Page) -> Document:
    """Returns the document of a page, whose title is the last part of its URL."""
    links = tuple(Link(Url(link), f"about {link.rpartition('/')[2]}") for link in page.links)
    title = page.url.rpartition("/")[2]
    return Document(page.url, page.url, title, page.text, fetched_at=page.at, links=links, language="en")


def rows_in_order(job: PagesJob, group: int) -> Iterator[pa.RecordBatch]:
    """Yields the rows of a group as `sorted_pages` does it on Spark."""
    batches = [batch for number in range(len(job.segments)) for batch in segment_rows(job, number)]
    if batches:
        key = [*((name, "ascending") for name in ("part", "host", "url")), ("at", "descending")]
        table = pa.Table.from_batches(batches).sort_by(key)
        mine = [part % job.groups == group for part in table.column("part").to_pylist()]
        yield from table.filter(pa.array(mine, pa.bool_())).to_batches(max_chunksize=3)
