"""Fills an empty store with the crawl of one folder: its URLs and hosts, its archive, and the documents of its pages,
which are read from the archive."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple, TypeVar

import msgspec

from goodbot.cluster.spark.page_rows import PageWriter
from goodbot.cluster.spark.part_files import PartNote, PartWriter
from goodbot.cluster.spark.plan import SegmentNote, notes_path, segment_folder, warc_folder
from goodbot.cluster.spark.scratch_folder import scratch_folder
from goodbot.cluster.spark.segment import SegmentCounts
from goodbot.cluster.spark.store_files import StoreFiles
from goodbot.cluster.spark.table_columns import host_batch, url_batch
from goodbot.cluster.spark.table_version import Current, TableVersion, flip, write_version
from goodbot.config import Settings
from goodbot.exclusion import Access
from goodbot.index import prepare
from goodbot.partitions import part_of
from goodbot.ports import Archive
from goodbot.robot.crawl.replay import replay
from goodbot.robot.manners.search_preferences import StoredPreferences
from goodbot.search_values import Document, IndexMark, PreparedDocument
from goodbot.settings_file import settings_text
from goodbot.store.merge.crawl_rows import HostRow, UrlRow
from goodbot.store.merge.row_rules import requeued
from goodbot.store.sqlite.crawl_dump import CrawlDump
from goodbot.store.warc.archive_files import ArchiveFiles
from goodbot.store.warc.cdxj import index_path
from goodbot.url import Url
from goodbot.values import RecordRef

_READ_AT_ONCE: Final = 4096
_ROWS_AT_ONCE: Final = 4096
"""Rows of a row group: fewer than usual, since all parts have one in memory."""
_PIECE_BYTES: Final = 1 << 20

_IMPORTED: Final = 0
"""The number of the cycle whose segment has what was imported."""


class Imported(NamedTuple):
    """What was imported. `documents`: pages that belong in an index. `again`: pages that the archive does not have, so
    they are requested again."""

    urls: int
    hosts: int
    warcs: int
    documents: int
    again: int


Watch = Callable[[str, int], object]
"""Takes what is copied, and how many so far."""


def import_crawl(
    files: StoreFiles,
    dump: CrawlDump,
    warcs: ArchiveFiles | None,
    archive: Archive | None,
    settings: Settings,
    token: str,
    seeds: Iterable[Url],
    parts: int,
    watch: Watch = lambda what, count: None,
) -> Imported:
    """Writes the crawl of `dump` and the files of its archive to an empty store, as its first version. `archive` reads
    the same files. `token`: the product token of the robot; `seeds`: those of lists.

    Raises DamagedError for rows that goodbot has not written, RunError if the store or a place of the archive cannot be
    used. Until the end, the store stays without a crawl."""
    sizes = _copy_warcs(files, warcs, watch) if warcs is not None else {}
    warc_paths = tuple(sizes)
    with scratch_folder() as local:
        pages = PageWriter(str(local / "pages"))
        lost = _write_pages(dump, archive, settings, token, pages, watch)
        pages.close()
        page_path = f"{segment_folder(_IMPORTED)}/import.pages.parquet"
        sizes[page_path] = files.upload(local / "pages", page_path)
        notes = _Table(files, local, parts).write(dump, lost, watch)
    lists = _write_seeds(files, seeds)
    counts = SegmentCounts(documents=pages.count)
    note = SegmentNote(0, None, page_path, warc_paths, sizes, counts, 0, time.time(), time.time())
    files.write(notes_path(_IMPORTED), msgspec.json.encode([note]))
    version = TableVersion(
        number=0,
        cycle=0,
        made_at=time.time(),
        settings=settings_text(settings),
        parts=tuple(notes),
        seed_lists=lists,
        bytes=dump.size_bytes,
        cycles=(_IMPORTED,),
    )
    _flipped(files, version)
    urls = sum(sum(part.states.values()) for part in notes)
    return Imported(urls, sum(part.host_count for part in notes), len(warc_paths), pages.count, len(lost))


def _flipped(files: StoreFiles, version: TableVersion) -> Current:
    return flip(files, version, write_version(files, version), None)


def _copy_warcs(files: StoreFiles, warcs: ArchiveFiles, watch: Watch) -> dict[str, int]:
    """Copies the files of the archive, moved ones too, and their indexes; returns their paths in the store, and their
    sizes in bytes."""
    sizes: dict[str, int] = {}
    for number, path in enumerate(warcs.paths(), start=1):
        with warcs.open(path, all_of_it=True) as source:
            sizes[_place_of(path)] = _copy(files, source, _place_of(path))
        index = index_path(path)
        if index.exists():
            with index.open("rb") as source:
                sizes[_place_of(index)] = _copy(files, source, _place_of(index))
        watch("WARC files", number)
    return sizes


def _place_of(path: Path) -> str:
    return f"{warc_folder(_IMPORTED)}/{path.name}"


def _copy(files: StoreFiles, source: BinaryIO, place: str) -> int:
    """Copies a file into the store; returns its size in bytes."""
    size = 0
    with files.open_output(place) as out:
        while piece := source.read(_PIECE_BYTES):
            out.write(piece)
            size += len(piece)
    return size


def _write_seeds(files: StoreFiles, seeds: Iterable[Url]) -> tuple[str, ...]:
    lines = [f"{seed.text}\n" for seed in seeds]
    if not lines:
        return ()
    files.write("seeds/import.txt", "".join(lines).encode())
    return ("seeds/import.txt",)


# ---- pages ----------------------------------------------------------------------------------------------------------


def _write_pages(
    dump: CrawlDump, archive: Archive | None, settings: Settings, token: str, pages: PageWriter, watch: Watch
) -> frozenset[str]:
    """Writes the documents of the pages that the index has; returns the URLs of those that the archive does not
    have."""
    if not settings.index:
        return frozenset()
    robots = {origin: access for host in dump.hosts() for origin, access in host.robots}
    queue = _IndexedPages(dump.urls())
    preferences = StoredPreferences(_KnownRobots(robots), token, settings.dialect)
    for _ in replay(settings, token, queue, archive, _PageIndex(pages), preferences):
        watch("pages", pages.count)
    return frozenset(queue.lost)


class _IndexedPages:
    """Implements `IndexQueue` over the rows of a crawl: each page that the index has is pending, once."""

    def __init__(self, rows: Iterator[UrlRow]) -> None:
        self._rows = (row for row in rows if row.seen is not None and row.seen.indexed)
        self.lost: set[str] = set()

    def pending(self, most: int | None = None) -> list[tuple[Url, RecordRef | None]]:
        """See `IndexQueue.pending`."""
        return [(Url(row.url), _record_of(row)) for row in islice(self._rows, most)]

    def leaving(self) -> list[Url]:
        """See `IndexQueue.leaving`."""
        return []

    def indexed(self, urls: Iterable[Url], mark: IndexMark | None = None) -> None:
        """See `IndexQueue.indexed`."""

    def passed_over(self, urls: Iterable[Url]) -> None:
        """See `IndexQueue.passed_over`."""

    def requeue(self, urls: Iterable[Url]) -> None:
        """See `IndexQueue.requeue`."""
        self.lost.update(url.text for url in urls)

    def copies_of(self, url: Url) -> list[Url]:
        """See `IndexQueue.copies_of`."""
        return []


def _record_of(row: UrlRow) -> RecordRef | None:
    return None if row.seen is None or row.seen.rendered else row.seen.record


class _KnownRobots:
    """Implements `RobotsStore` for reading."""

    def __init__(self, known: dict[str, Access]) -> None:
        self._known = known

    def load_robots(self, origin: str) -> Access | None:
        """See `RobotsStore.load_robots`."""
        return self._known.get(origin)

    def load_all_robots(self, origins: Iterable[str]) -> dict[str, Access]:
        """See `RobotsStore.load_all_robots`."""
        return {origin: self._known[origin] for origin in origins if origin in self._known}

    def save_robots(self, origin: str, access: Access) -> None:
        """See `RobotsStore.save_robots`."""
        self._known[origin] = access


class _PageIndex:
    """Implements `Index`: documents are written as pages."""

    def __init__(self, pages: PageWriter) -> None:
        self._pages = pages

    def add(self, document: Document) -> None:
        """See `Index.add`."""
        self._pages.add(prepare(document), document.fetched_at)

    def add_prepared(self, prepared: PreparedDocument) -> None:
        """See `Index.add_prepared`."""
        self._pages.add(prepared, 0.0)

    def remove(self, document_id: str) -> None:
        """See `Index.remove`."""

    def commit(self) -> IndexMark:
        """See `Index.commit`."""
        return IndexMark("", 0)

    def close(self) -> None:
        """See `Index.close`."""


# ---- the table ------------------------------------------------------------------------------------------------------


_Row = TypeVar("_Row", UrlRow, HostRow)


def _batches(rows: Iterator[_Row]) -> Iterator[list[_Row]]:
    while some := list(islice(rows, _READ_AT_ONCE)):
        yield some


class _Table:
    """The parts of a new crawl table, all written at once."""

    def __init__(self, files: StoreFiles, local: Path, parts: int) -> None:
        self._files = files
        self._local = local
        self._parts = parts

    def write(self, dump: CrawlDump, lost: frozenset[str], watch: Watch) -> list[PartNote]:
        """Writes the rows, which are sorted by host and URL, to their parts. Those of `lost` pages become ready."""
        writers = []
        for part in range(self._parts):
            folder = self._local / str(part)
            folder.mkdir()
            writers.append(PartWriter(folder, rows_at_once=_ROWS_AT_ONCE))
        gone: dict[str, int] = {}
        count = 0
        for some in _batches(self._changed(dump.urls(), lost, gone)):
            for part, rows in self._by_part(some):
                writers[part].add_urls(url_batch(rows))
            count += len(some)
            watch("URLs", count)
        for hosts in _batches(dump.hosts()):
            fewer = [host._replace(pages=host.pages - gone.get(host.host, 0)) for host in hosts]
            for part, rows_of_hosts in self._by_part(fewer):
                writers[part].add_hosts(host_batch(rows_of_hosts))
        return [
            writer.finish(self._files, f"table/{0:08}/{part:05}-import", part, time.time())
            for part, writer in enumerate(writers)
        ]

    def _changed(self, rows: Iterator[UrlRow], lost: frozenset[str], gone: dict[str, int]) -> Iterator[UrlRow]:
        for row in rows:
            if row.url in lost:
                gone[row.host] = gone.get(row.host, 0) + 1
                yield requeued(row)
            else:
                yield row

    def _by_part(self, rows: Sequence[_Row]) -> Iterator[tuple[int, list[_Row]]]:
        by_part: dict[int, list[_Row]] = {}
        for row in rows:
            by_part.setdefault(part_of(row.host, self._parts), []).append(row)
        yield from by_part.items()
