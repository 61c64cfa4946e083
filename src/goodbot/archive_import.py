"""Imports the archives of other programs into the folder of a crawl. Like `wiring` it uses concrete classes of several
packages, not only ports. Nothing is fetched."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import BinaryIO

from goodbot.capture_import import CaptureImport, ImportCounts, Progress
from goodbot.clock import SystemClock
from goodbot.config import Settings
from goodbot.crawl_folder import SOFTWARE, CrawlFolder
from goodbot.crawl_stores import drop_killed_import
from goodbot.errors import InputError, RunError
from goodbot.index_opening import Sources, Watch, index_pending, open_index, refresh_if_needed
from goodbot.robot.fetch.identity import identity_of
from goodbot.settings_file import save_settings
from goodbot.store.control.writer_id import writer_id
from goodbot.store.foreign.capture_reader import OtherRecord, SkippedCapture, is_arc, looks_like_archive, read_archive
from goodbot.store.foreign.foreign_values import MAX_DAMAGED, Damage, ForeignCapture
from goodbot.store.sqlite.frontier import SqliteFrontier
from goodbot.store.warc.warc_archive import WarcArchive
from goodbot.values import Status


@dataclass(slots=True)
class ImportReport:
    """The result of an import. `records` counts all records of the files, including those that are not captures.
    `damage_count` counts the damaged places in the files; `damaged` lists the first `MAX_DAMAGED`. `status` is that of
    the crawl afterwards; `has_index`: it has an index, so it can be searched."""

    files: int = 0
    bytes: int = 0
    records: int = 0
    damage_count: int = 0
    damaged: list[Damage] = field(default_factory=list)
    counts: ImportCounts = field(default_factory=ImportCounts)
    status: Status | None = None
    has_index: bool = False

    def take(self, damage: Damage) -> None:
        """Counts damage, and lists it if the list is not full."""
        self.damage_count += 1
        if len(self.damaged) < MAX_DAMAGED:
            self.damaged.append(damage)


def check_archives(files: Sequence[Path]) -> int:
    """Returns the size of the files together. Raises InputError for one that cannot be read, or is neither a WARC nor a
    WACZ file."""
    size = 0
    for path in files:
        try:
            if not path.is_file():
                raise InputError(f"cannot read {path}: " + ("not a file" if path.exists() else "no such file"))
            size += path.stat().st_size
            with path.open("rb") as file:
                if not looks_like_archive(file):
                    raise InputError(_refusal(path, file))
        except (OSError, ValueError) as error:
            raise InputError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error
    return size


def _refusal(path: Path, file: BinaryIO) -> str:
    """Returns why a file is not imported, and what to do."""
    if is_arc(file):
        new = path.with_name(re.sub(r"\.arc(?:\.gz)?\Z", "", path.name, flags=re.IGNORECASE) + ".warc.gz")
        return f"{path} is an ARC file, not a WARC file: convert it first (warcio recompress {path} {new})"
    what = "neither a WARC nor a WACZ file" if path.stat().st_size else "empty, not a WARC or WACZ file"
    return f"{path} is {what}: leave it out"


async def import_archives(
    path: Path, files: Sequence[Path], base: Settings, progress: Progress, watch: Watch
) -> ImportReport:
    """Imports files into the folder `path`, which is made if it is missing and may have a crawl. Other tasks run
    between its steps; if it is cancelled, what was imported stays, and importing again continues. `watch` is called
    while pages of an earlier, interrupted import are indexed.

    Raises InputError if a file or the folder cannot be used, BusyError while a crawl runs there, RunError if a disk
    fails."""
    size = check_archives(files)
    folder = CrawlFolder(path)
    settings = _settings(folder, base)
    folder.create()
    report = ImportReport(has_index=settings.index)
    async with _importing(folder, settings, watch) as (importing, frontier):
        report.counts = importing.counts
        for file in files:
            await _import_file(file, importing, report, settings.answer_limit, lambda done: progress(done, size))
        importing.finish()
        report.status = frontier.status()
    return report


def _settings(folder: CrawlFolder, base: Settings) -> Settings:
    """Returns the settings of the crawl in the folder, or those of a new one. Raises InputError if it cannot take what
    is imported."""
    real = folder.path.resolve()
    if (above := next((each for each in (real, *real.parents) if _is_archive(each)), None)) is not None:
        raise InputError(f"{folder.path} is in the archive of the crawl in {above.parent}: import into another folder")
    settings = folder.settings(base)
    if settings.frontier is not None:
        raise InputError(f"the crawl in {folder.path} is in a database: import into a folder of its own")
    if not settings.archive:
        raise InputError(f"the crawl in {folder.path} keeps no archive (--no-archive): import into another folder")
    return settings


def _is_archive(path: Path) -> bool:
    """Whether this is the archive of a crawl."""
    crawl = CrawlFolder(path.parent)
    return path == crawl.warc and crawl.is_of_goodbot


async def _import_file(
    path: Path, importing: CaptureImport, report: ImportReport, most_bytes: int, progress: Callable[[int], object]
) -> None:
    importing.source = path.name
    before = report.bytes
    try:
        with path.open("rb") as file:
            for number, item in enumerate(
                read_archive(file, str(path), most_bytes, lambda done: progress(before + done))
            ):
                _take(item, importing, report)
                if not number % 64:
                    await asyncio.sleep(0)
            report.bytes += file.seek(0, 2)
    except OSError as error:
        raise RunError(f"cannot read {path}: {error.strerror}; what was imported before is kept") from error
    importing.commit()
    report.files += 1


def _take(item: object, importing: CaptureImport, report: ImportReport) -> None:
    report.records += not isinstance(item, Damage)
    match item:
        case ForeignCapture():
            importing.add(item)
        case SkippedCapture():
            importing.counts.skipped[item.why] += 1
        case Damage():
            report.take(item)
        case OtherRecord():
            pass


@asynccontextmanager
async def _importing(
    folder: CrawlFolder, settings: Settings, watch: Watch
) -> AsyncIterator[tuple[CaptureImport, SqliteFrontier]]:
    clock, token = SystemClock(), identity_of(settings, version("goodbot")).token
    with ExitStack() as stack:
        frontier = SqliteFrontier.open(folder.frontier, create=True, now=clock.now)
        stack.callback(frontier.close)
        drop_killed_import(folder, frontier)
        writer = writer_id(folder.path) if settings.archive_to is not None else ""
        archive = WarcArchive(
            *(folder.warc, clock, SOFTWARE),
            size_limit_bytes=settings.warc_size,
            writer=writer,
            move_to=settings.archive_to,
        )
        stack.callback(archive.close)
        save_settings(folder.settings_file, settings)
        index = None
        if settings.index:
            sources = Sources(folder, settings, token, frontier, archive)
            index = await open_index(sources, watch)
            stack.callback(index.close)
            await index_pending(sources, index, watch)
        importing = CaptureImport(replace(settings, host_pages=None), token, frontier, archive, index, clock)
        importing.prepare()
        try:
            yield importing, frontier
        except asyncio.CancelledError:
            importing.save()
            raise
        refresh_if_needed(folder, index, lambda state: None)
