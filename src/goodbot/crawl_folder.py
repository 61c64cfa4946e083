"""Opens the parts of a crawl's folder for reading, also while the crawl is running."""

import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from goodbot.archive_values import ArchivedResponse, DamagedRange
from goodbot.clock import SystemClock
from goodbot.config import Settings
from goodbot.errors import DamagedError, GoodbotError, InputError, NoIndexError, RunError, SettingError
from goodbot.files import lock_folder, make_folder
from goodbot.human import counted, in_shell
from goodbot.index import (
    META_FILE,
    SWAP_WAIT_S,
    AwaitedSearch,
    NoSearch,
    Ranking,
    TantivySearch,
    load_mark,
    load_synonyms,
    remedy,
)
from goodbot.ports import Archive, CrawlReader, CrawlStore, Ledger, Rehearsal, Search
from goodbot.report_values import MachineView
from goodbot.robot.crawl.settings_check import check_form
from goodbot.search_values import NOTHING_HIDDEN, Hidden, IndexMark
from goodbot.settings_file import FILE_NAME, invalid_setting, line_of, load_settings, load_usable
from goodbot.store.control.control_files import ControlFolder
from goodbot.store.control.removals import RemovalFile
from goodbot.store.control.seed_file import SeedFolder
from goodbot.store.control.writer_id import WRITER_FILE, find_writer_id, writer_id
from goodbot.store.requests.requests_file import FILE_NAME as SPIDER_FILE
from goodbot.store.sqlite.frontier import SqliteFrontier
from goodbot.store.sqlite.rehearsal import SqliteRehearsal
from goodbot.store.warc.deadly_answers import DeadlyPages
from goodbot.store.warc.warc_archive import WarcArchive
from goodbot.values import REDIRECTS, RecordRef, Status, UrlRecord

KEEPS_NO_INDEX: Final = "this crawl runs with --no-index"
CHANGES_NO_INDEX: Final = "to change that: goodbot crawl --index"
_REBUILD: Final = "goodbot index rebuild"
NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
SOFTWARE = f"goodbot/{version('goodbot')}"


class CrawlFolder:
    """The folder of a crawl: `goodbot.toml`, `frontier.sqlite`, `warc/`, `index/`, `synonyms.txt`, lists of `seeds/`,
    and `deadly/`, pages that killed worker processes."""

    def __init__(self, path: Path, database: str | None = None) -> None:
        """`database`: the address of the database that keeps the crawl, if its settings are not in the folder yet, or
        do not say all: passwords are not saved."""
        self._database = database
        self.path = path
        self.settings_file = path / FILE_NAME
        self.frontier = path / "frontier.sqlite"
        self.warc = path / "warc"
        self.deadly = DeadlyPages(path / "deadly", SystemClock(), SOFTWARE)
        self.index = path / "index"
        self.index_draft = path / "index.new"
        self.index_old = path / "index.old"
        self.synonyms = path / "synonyms.txt"
        self.seeds = SeedFolder(path / "seeds")

    @property
    def is_crawl(self) -> bool:
        """Whether the folder has a crawl to resume or to read, in it or in a database."""
        return self.frontier.is_file() or self.database is not None

    @property
    def database(self) -> str | None:
        """The address of the database that keeps the crawl; None: the folder keeps it. Raises InputError if there is
        no frontier in the folder, and its settings cannot be read."""
        if self._database is not None:
            return self._database
        try:
            return self.settings_before().frontier
        except InputError:
            if self.frontier.is_file():  # it can be read without settings
                return None
            raise

    @property
    def is_import(self) -> bool:
        """Whether the folder has no crawl, but an index of imported documents."""
        return not self.is_crawl and (self.index / META_FILE).is_file()

    @property
    def is_of_goodbot(self) -> bool:
        """Whether the folder has a crawl or imported documents. Settings alone are not enough, since a folder with
        several crawls may have some for all; if the frontier of a crawl is in a database, its folder also has an id."""
        has_id = os.path.isfile(self.settings_file) and os.path.isfile(self.path / WRITER_FILE)
        return has_id or os.path.isfile(self.frontier) or os.path.isfile(self.index / META_FILE)

    def settings(self, base: Settings, options: Mapping[str, Any] = NOTHING) -> Settings:
        """Merges settings: `options` override `goodbot.toml` in this folder, which overrides `base`. Raises InputError
        for an invalid value; if it comes from this folder's file, the message names the line. The file's values of
        settings in `options` are not read, so an option replaces an invalid value."""
        kept = load_settings(self.settings_file, base, options) if self.settings_file.is_file() else base
        settings = replace(kept, **options)
        with self.naming_lines(options):
            check_form(settings)
        return settings

    def settings_before(self) -> Settings:
        """Returns the settings of the last run. Invalid values in `goodbot.toml` are left out: the last run cannot have
        had them."""
        return load_usable(self.settings_file) if self.settings_file.is_file() else Settings()

    @contextmanager
    def naming_lines(self, options: Mapping[str, Any]) -> Iterator[None]:
        """Adds file and line to a SettingError if `goodbot.toml` in this folder sets the value and `options` do
        not."""
        try:
            yield
        except SettingError as error:
            if error.name in options or line_of(self.settings_file, error.name) is None:
                raise
            raise invalid_setting(self.settings_file, error) from error

    def check(self) -> None:
        """Raises InputError, which says what to do, if there is no readable crawl here."""
        try:
            if not self.path.is_dir():
                raise InputError(f"no such folder: {self.path}")
            if self.is_import:
                raise InputError(f"{self.path} has imported documents, not a crawl")
            if not self.is_crawl:
                raise InputError(
                    f"no crawl in {self.path}; start one with: goodbot crawl URL --into {in_shell(self.path)}"
                )
        except OSError as error:
            raise InputError(f"cannot read {self.path}: {error.strerror}") from error

    def check_name(self) -> None:
        """Raises InputError if the folder's name is not UTF-8: the index library could not open it."""
        try:
            str(self.path).encode()
        except UnicodeEncodeError as error:
            raise InputError(f"the name of the folder {self.path} is not valid UTF-8: choose another") from error

    def create(self) -> None:
        """Makes the folder if it is missing. Raises InputError if its name is not UTF-8, if it has imported documents,
        if it is that of a Scrapy spider, or if a file is in the way; RunError if that fails."""
        self.check_name()
        if (self.path / SPIDER_FILE).is_file():
            raise InputError(f"{self.path} is the folder of a Scrapy spider: use another folder")
        if self.is_import:
            raise InputError(f"{self.path} has imported documents: use another folder")
        make_folder(self.path)

    @contextmanager
    def open_reader(self) -> Iterator[CrawlReader]:
        """Opens what the crawl has stored for reading; the crawl may be running. Raises InputError if there is none,
        StoreAwayError if it is in a database whose server does not answer."""
        dsn = self.database
        if dsn is None:
            with SqliteFrontier.open(self.frontier, read_only=True) as reader:
                yield reader
            return
        from goodbot.cluster.postgres.reader import PostgresReader  # noqa: PLC0415  (loads psycopg)

        with PostgresReader.open(dsn, find_writer_id(self.path) or "") as shared:
            yield shared

    def keeps(self) -> Callable[[RecordRef], bool]:
        """Returns whether a record belongs to the archive of this folder, and not to that of another machine that takes
        part in the crawl."""
        if self.database is None:
            return lambda record: True
        ending = f"-{find_writer_id(self.path) or ''}.warc.gz"
        return lambda record: record.file.endswith(ending)

    def machines(self, most_ended: int) -> Sequence[MachineView]:
        """Returns the machines that share the crawl, and up to `most_ended` that take part no more; none if the folder
        keeps the crawl. Raises the errors of `open_reader`."""
        dsn = self.database
        if dsn is None:
            return ()
        from goodbot.cluster.postgres.overview import machines_of  # noqa: PLC0415  (loads psycopg)

        return machines_of(dsn, most_ended)[1]

    def watched(self) -> tuple[Status, Sequence[MachineView]]:
        """Returns the state of the crawl and the machines that share it. A database that does not answer is given up
        sooner than by the other methods. Raises the errors of `open_reader`."""
        dsn = self.database
        if dsn is None:
            with self.open_reader() as reader:
                return reader.status(), ()
        from goodbot.cluster.postgres.overview import watched  # noqa: PLC0415  (loads psycopg)

        return watched(dsn)

    @contextmanager
    def open_store(self, *, host_pages: int | None = None) -> Iterator[CrawlStore]:
        """Opens what the crawl has stored for a command that changes it. At most `host_pages` URLs of one host are
        visited. Raises InputError if there is none, BusyError while a crawl runs in this folder."""
        dsn = self.database
        if dsn is None:
            with SqliteFrontier.open(self.frontier, host_pages=host_pages) as store:
                yield store
            return
        with self.open_reader():  # makes no tables where there is no crawl
            pass
        from goodbot.cluster.postgres.frontier import PostgresFrontier  # noqa: PLC0415  (loads psycopg)
        from goodbot.cluster.postgres.machines import Identity  # noqa: PLC0415

        lock = lock_folder(self.frontier)
        try:
            identity = Identity(writer_id(self.path), socket.gethostname(), os.getpid())
            with PostgresFrontier.open(dsn, identity, host_pages=host_pages) as shared:
                yield shared
        finally:
            os.close(lock)

    @contextmanager
    def open_rehearsal(self, scratch: Path, host_pages: int | None) -> Iterator[Rehearsal]:
        """Opens a frontier for a dry run: that of the crawl, or an empty one in the folder `scratch` if there is no
        crawl. Raises BusyError while a crawl runs here, InputError if a database keeps it."""
        if self.database is not None:
            raise InputError(f"a dry run needs a frontier in the folder; that of {self.path} is in a database")
        if self.is_crawl:
            with self.open_reader():  # refuses a frontier of an older format, which a rehearsal must not migrate
                pass
        file = self.frontier if self.is_crawl else scratch / self.frontier.name
        with SqliteRehearsal.open(file, create=not self.is_crawl, host_pages=host_pages) as rehearsal:
            yield rehearsal


# ---- reading a crawl ------------------------------------------------------------------------------------------------


@contextmanager
def open_ledger(path: Path) -> Iterator[CrawlReader]:
    """Opens the frontier of the crawl in `path` for reading; the crawl may be running. Raises InputError if there is
    none."""
    folder = CrawlFolder(path)
    folder.check()
    with folder.open_reader() as reader:
        yield reader


@contextmanager
def open_archive(path: Path) -> Iterator[WarcArchive]:
    """Opens the archive of the crawl in `path` for reading; if its folder is missing, it has no files. Raises
    InputError if the crawl keeps no archive."""
    folder = CrawlFolder(path)
    folder.check()
    if not (folder.warc.is_dir() or folder.settings_before().archive or _last_records(folder)):
        raise InputError(f"{path} has no archive (it was crawled with --no-archive)")
    archive = WarcArchive(folder.warc, SystemClock(), SOFTWARE, read_only=True)
    try:
        yield archive
    finally:
        archive.close()


def missing_records(path: Path, archive: WarcArchive) -> list[DamagedRange]:
    """Returns where `archive` lacks records that the frontier of the crawl in `path` knows: files that are missing or
    too short. Looks at 100,000 visits at most."""
    return archive.missing(_last_records(CrawlFolder(path)))


def _last_records(folder: CrawlFolder) -> dict[str, int]:
    with folder.open_reader() as frontier:
        return frontier.last_records()


def archived_pages(
    ledger: Ledger, archive: Archive, keeps: Callable[[RecordRef], bool], lost: Callable[[UrlRecord], object]
) -> Iterator[ArchivedResponse]:
    """Yields the last capture of every visited page, in the order found, without redirects and error answers, and
    without those of other archives (`keeps`: see `CrawlFolder.keeps`). Calls `lost` with those whose record is
    damaged."""
    for record in ledger.records():
        if record.state != "visited" or record.record is None or record.status in REDIRECTS:
            continue
        if not keeps(record.record):
            continue
        try:
            archived = archive.read(record.record)
        except DamagedError:
            lost(record)
            continue
        if 200 <= archived.response.status < 300:  # the ledger has the status of the last visit, such as 304
            yield archived


Folders = Path | Sequence[Path]
"""The folder of a crawl or of imported documents, or several that are searched as one. They are all different."""


def open_search(
    path: Folders, ranking: Ranking | None = None, hidden: Callable[[], Hidden] | None = None
) -> TantivySearch:
    """Opens the search index of the crawl in `path`, or that of imported documents, with the synonyms beside it.
    Several folders are searched as one index, with the synonyms of all. `hidden` returns the pages that must not be
    shown; without it, these are the removals that the crawls keep. Raises InputError if a crawl keeps no index, the
    synonyms cannot be read or two folders are the same, RunError if an index is missing or is not the one that its
    crawl wrote, DamagedError if it cannot be read."""
    folders = _folders(path)
    synonyms = dict.fromkeys(pair for folder in folders for pair in load_synonyms(folder.synonyms))
    hidden = hidden or together([RemovalFile(folder.path).hidden for folder in folders])
    for folder in folders:
        _wait_for_index(folder)
    return TantivySearch([folder.index for folder in folders], ranking, tuple(synonyms), hidden)


def _folders(path: Folders) -> list[CrawlFolder]:
    """Returns the folders. Raises InputError if two are the same."""
    paths = [path] if isinstance(path, Path) else path
    known: dict[Path, Path] = {}
    for each in paths:
        if (place := each.resolve()) in known:
            is_same = (
                "is given twice" if each == known[place] else f"is the same folder as {known[place]}: give it once"
            )
            raise InputError(f"{each} {is_same}")
        known[place] = each
    return [CrawlFolder(each) for each in paths]


def _wait_for_index(folder: CrawlFolder) -> None:
    """Waits a moment for the index of a crawl, which may be replaced at the moment. Raises the errors of
    `open_search`."""
    if folder.is_import:
        return
    folder.check()
    until = time.monotonic() + SWAP_WAIT_S
    while (error := _no_index(folder)) is not None:
        if time.monotonic() > until:
            raise error
        time.sleep(0.02)


def together(sources: Sequence[Callable[[], Hidden]]) -> Callable[[], Hidden]:
    """Returns what hides the pages that any of the sources hides."""
    if len(sources) == 1:
        return sources[0]
    known: tuple[tuple[Hidden, ...], Hidden] = (), NOTHING_HIDDEN

    def hidden() -> Hidden:
        nonlocal known
        found = tuple(source() for source in sources)
        if found != known[0]:
            urls, sites = (each.urls for each in found), (each.sites for each in found)
            known = found, Hidden(frozenset().union(*urls), frozenset().union(*sites))
        return known[1]

    return hidden


class IndexLag(NamedTuple):
    """How far the index is behind its crawl: `missing` counts visited pages that it lacks, `leaving` pages that it must
    drop. `why` says so in one line, with what to do; it is empty if the index is complete, or if a running crawl will
    complete it."""

    missing: int = 0
    leaving: int = 0
    why: str = ""


def index_lag(path: Path, database: str | None = None) -> IndexLag:
    """Compares the index in `path`, which must be searchable, with its crawl. `database`: see `CrawlFolder`."""
    folder = CrawlFolder(path, database)
    known = None if folder.is_import else _known_index(folder)
    keeps_index = folder.settings_before().index
    if known is None or (keeps_index and ControlFolder(path).is_running()):
        return IndexLag()
    if _mark_of(folder.index, known) is None:
        is_rebuilt = _mark_of(folder.index_draft, known) is not None
        why = f"the search index is being rebuilt, or a rebuild was interrupted ({_REBUILD} --in {in_shell(path)})"
        return IndexLag(why=f"{why}: searches use the old index" if is_rebuilt else "")
    with folder.open_reader() as ledger:
        missing, leaving = ledger.pending_count(), ledger.leaving_count()
    parts = [f"{counted(missing, 'page')} visited {_are(missing)} not in the search index"] if missing else []
    parts += [f"{counted(leaving, 'page')} must be removed from it"] if leaving else []
    by_hand = f"{KEEPS_NO_INDEX}; to bring the index up to date: {_REBUILD} --in {in_shell(path)}"
    because = "the next goodbot crawl brings it up to date" if keeps_index else by_hand
    return IndexLag(missing, leaving, f"{' and '.join(parts)}; {because}" if parts else "")


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def open_search_or_nothing(path: Folders, hidden: Callable[[], Hidden] | None = None) -> Search:
    """Does the same as `open_search`; if the crawl keeps no index, returns a search that says so, and if it has made
    none yet, one that finds nothing until then. If one of several crawls keeps no index, raises NoIndexError."""
    folders = _folders(path)

    def opened() -> Search | None:
        for folder in folders:
            if not folder.is_import:
                folder.check()
                if isinstance(_no_index(folder), _NoIndexYetError):
                    return None
        return open_search(path, None, hidden)

    def opened_later() -> Search | None:
        try:
            return opened()
        except NoIndexError:
            raise
        except InputError as error:  # not about the query: the folder is no longer as it was
            raise RunError(str(error)) from error

    try:
        return opened() or AwaitedSearch(opened_later)
    except NoIndexError as error:
        if len(folders) > 1:
            raise
        return NoSearch(str(error))


def why_no_index(path: Path) -> str | None:
    """Returns why the crawl in `path` keeps no index; None: it keeps one, which may not be made yet."""
    folder = CrawlFolder(path)
    error = None if folder.is_import else _no_index(folder)
    return str(error) if isinstance(error, NoIndexError) else None


class _NoIndexYetError(RunError):
    """The crawl has not made its index yet."""


def _no_index(folder: CrawlFolder) -> GoodbotError | None:
    """Returns why the index cannot be searched; None: it can."""
    path, known = folder.path, _known_index(folder)  # read before the index, which may be written meanwhile
    found = _mark_of(folder.index)
    fault = found.fault_for(known) if found and known else None
    if found and not fault:
        return None
    if known and _mark_of(folder.index_draft, known):
        if found:  # during a rebuild, searches use the old index
            return None
        if ControlFolder(path).is_running():
            return _NoIndexYetError(f"the search index of the crawl in {path} is being built")
        fault = "the search index is being rebuilt, or a rebuild was interrupted"
    elif known is None and not folder.settings_before().index:
        return NoIndexError(f"{path} has no index (it was crawled with --no-index): {remedy(folder.index)}")
    elif known is None:
        return _NoIndexYetError(f"this crawl has no search index yet: {remedy(folder.index)}")
    return RunError(f"{fault or 'the search index is missing'}: {remedy(folder.index)}")


def _known_index(folder: CrawlFolder) -> IndexMark | None:
    """Returns the mark of the index that the frontier knows; None if it knows none. A frontier of an older format, or a
    damaged one, counts as knowing none, so that searching still works."""
    try:
        with folder.open_reader() as ledger:
            return ledger.index_mark()
    except RunError:
        return None


def _mark_of(place: Path, known: IndexMark | None = None) -> IndexMark | None:
    """Returns the mark of the index in `place`; None if there is none, or if `known` is given and is another index. A
    damaged index is detected when it is opened."""
    try:
        mark = load_mark(place)
    except InputError:
        return None
    return mark if known is None or mark.identity == known.identity else None
