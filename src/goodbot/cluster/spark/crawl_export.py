"""Brings the crawl of a store back to one machine: its table becomes the frontier of a folder, its archive the archive
there."""

from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from goodbot.cluster.spark.parquet_files import damage_named, open_parquet
from goodbot.cluster.spark.plan import load_notes
from goodbot.cluster.spark.store_files import StoreFiles, damage_of
from goodbot.cluster.spark.table_columns import host_rows, url_rows
from goodbot.cluster.spark.table_version import TableVersion
from goodbot.store.merge.crawl_rows import HostRow, UrlRow
from goodbot.store.sqlite.crawl_writing import write_crawl

_PIECE_BYTES = 1 << 20

Watch = Callable[[str, int], object]
"""Takes what is copied, and how many so far."""


class Exported(NamedTuple):
    """What was exported. `damaged`: a line for each file of the archive that the store has lost, wholly or in part."""

    urls: int
    hosts: int
    warcs: int
    damaged: tuple[str, ...] = ()


def export_crawl(
    files: StoreFiles, version: TableVersion, frontier: Path, warc: Path, watch: Watch = lambda what, count: None
) -> Exported:
    """Copies the archive into the folder `warc`, then makes the `frontier` file, which is the last to be made: a folder
    without it has no crawl. A file of the archive that is there already, with the right size, is not copied again; what
    is left of a damaged one is copied.

    Raises InputError if there is a frontier, DamagedError if a file of the table is missing or cannot be read, RunError
    if the disk or the store fails."""
    warc.mkdir(parents=True, exist_ok=True)
    copied, damaged = _copy_archive(files, version, warc, watch)
    counts = {"URLs": 0}

    def counted() -> Iterator[UrlRow]:
        for row in urls_of(files, version):
            counts["URLs"] += 1
            if counts["URLs"] % 10_000 == 0:
                watch("URLs", counts["URLs"])
            yield row

    write_crawl(frontier, hosts_of(files, version), counted(), size_bytes=version.bytes)
    hosts = sum(part.host_count for part in version.parts if part is not None)
    return Exported(counts["URLs"], hosts, copied, damaged)


def _copy_archive(files: StoreFiles, version: TableVersion, warc: Path, watch: Watch) -> tuple[int, tuple[str, ...]]:
    """Returns the number of files copied, and a line for each damaged one."""
    notes = chain.from_iterable(load_notes(files, number) for number in version.cycles)
    wanted = {path: note.sizes[path] for note in notes for path in note.warcs}
    found = {entry.path: entry.size for entry in files.list("warc")}
    paths = [path for path in wanted if path in found]
    for number, path in enumerate(paths, start=1):
        target = warc / path.rpartition("/")[2]
        if not target.exists() or target.stat().st_size != found[path]:
            _fetch(files, path, target)
        watch("files of the archive", number)
    return len(paths), tuple(clause for _, clause in damage_of(files, wanted, found))


def hosts_of(files: StoreFiles, version: TableVersion) -> Iterator[HostRow]:
    """Yields the hosts of all parts."""
    for part in version.parts:
        if part is not None:
            for batch in _batches(files, part.hosts):
                yield from host_rows(batch)


def urls_of(files: StoreFiles, version: TableVersion) -> Iterator[UrlRow]:
    """Yields the URLs of all parts."""
    for part in version.parts:
        if part is not None:
            for batch in _batches(files, part.urls):
                yield from url_rows(batch)


def _batches(files: StoreFiles, path: str) -> Iterator[pa.RecordBatch]:
    with damage_named(f"{files.url}/{path}"):
        yield from open_parquet(files, path).iter_batches(batch_size=8192)


def _fetch(files: StoreFiles, path: str, target: Path) -> None:
    draft = target.with_name(f"{target.name}.new")
    with files.open_input(path) as source, draft.open("wb") as out:
        while piece := source.read(_PIECE_BYTES):
            out.write(piece)
    draft.replace(target)
