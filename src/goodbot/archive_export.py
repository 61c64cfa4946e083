"""Writes the archive of a crawl as one WACZ file."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from tempfile import gettempdir
from typing import BinaryIO

from goodbot.archive_values import DamagedRange
from goodbot.clock import SystemClock
from goodbot.crawl_folder import SOFTWARE, CrawlFolder, missing_records, open_archive, open_ledger
from goodbot.errors import DamagedError
from goodbot.ports import Archive, Ledger
from goodbot.store.foreign.wacz_writer import WaczPage, WaczWriter
from goodbot.values import RecordRef, UrlRecord

Progress = Callable[[int, int], object]
"""Called with the number of bytes done and the number of all bytes."""


@dataclass(slots=True)
class WaczExport:
    """What was written. `lost`: the damaged ranges of the archive, which are left out; `pages`: the entries of its
    list of pages."""

    files: int = 0
    records: int = 0
    captures: int = 0
    pages: int = 0
    lost: list[DamagedRange] = field(default_factory=list)


def write_wacz(path: Path, output: BinaryIO, progress: Progress) -> WaczExport:
    """Writes all records of the crawl in `path`, which may be running, to `output`. Raises InputError if there is no
    archive, OSError if `output` cannot be written."""
    done = WaczExport()
    with open_archive(path) as archive, open_ledger(path) as ledger:
        missing = missing_records(path, archive)
        size, copied = archive.export()[0], 0
        writer = WaczWriter(output, Path(gettempdir()), SOFTWARE, SystemClock().now())
        try:
            for name, records in archive.records(done.lost.append):
                done.files += 1
                with writer.warc(name) as warc:
                    for record in records:
                        warc.add(record.pieces, record.entry)
                        done.records += 1
                        done.captures += record.entry is not None
                        copied += record.length
                        progress(copied, size)
            writer.finish(_pages(ledger, archive, CrawlFolder(path), done))
        finally:
            writer.close()
    known = {gap.file for gap in done.lost}
    done.lost += (gap for gap in missing if gap.file not in known)
    return done


def _pages(ledger: Ledger, archive: Archive, folder: CrawlFolder, done: WaczExport) -> Iterator[WaczPage]:
    """Yields the pages that the archive has, and counts them."""
    keeps = folder.keeps()
    for known in ledger.records():
        at = _page_at(known, archive, keeps)
        if at is not None:
            done.pages += 1
            name = blake2b(known.url.text.encode(), digest_size=10).hexdigest()
            yield WaczPage(name, known.url.text, at, known.title or known.url.text)


def _page_at(known: UrlRecord, archive: Archive, keeps: Callable[[RecordRef], bool]) -> float | None:
    """Returns when the page of a URL was fetched, also if later answers were errors; None: the archive has no page."""
    if known.is_closed:
        return None
    if known.state == "visited" and known.record is not None and keeps(known.record) and _is_page(known.status):
        return known.fetched_at
    seen = None if known.seen is None else known.seen.record
    if seen is None or _is_page(known.status) or not keeps(seen):
        return None
    try:
        archived = archive.read(seen)
    except DamagedError:
        return None
    return archived.fetched_at if _is_page(archived.response.status) else None


def _is_page(status: int | None) -> bool:
    return status is not None and (200 <= status < 300 or status == 304)
