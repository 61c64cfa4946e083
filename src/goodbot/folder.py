"""The folder of a crawl: what lies in it, opened to be read; the crawl may be running."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

from goodbot.clock import SystemClock
from goodbot.config import (
    Settings,
)
from goodbot.errors import InputError
from goodbot.index import NoSearch, TantivySearch
from goodbot.ports import Archive, Ledger, Search
from goodbot.robot.reading import REDIRECTS
from goodbot.settings_file import (
    FILE_NAME,
    load_settings,
)
from goodbot.store.frontier import SqliteFrontier
from goodbot.store.seeds import SeedFolder
from goodbot.store.warc import WarcArchive
from goodbot.values import Archived

SOFTWARE = f"goodbot/{version('goodbot')}"


class CrawlFolder:
    """Where a crawl keeps what it needs: `goodbot.toml`, `frontier.sqlite`, `warc/`, `index/`, lists of `seeds/`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.settings_file = path / FILE_NAME
        self.frontier = path / "frontier.sqlite"
        self.warc = path / "warc"
        self.index = path / "index"
        self.seeds = SeedFolder(path / "seeds")

    @property
    def is_crawl(self) -> bool:
        """Whether there is one to resume or to read."""
        return self.frontier.is_file()

    def settings(self, base: Settings) -> Settings:
        """`base`, with what `goodbot.toml` in this folder says, if there is one."""
        return load_settings(self.settings_file, base) if self.settings_file.is_file() else base

    def check(self) -> None:
        """InputError, saying what to do, if there is no crawl here that can be read."""
        try:
            if not self.path.is_dir():
                raise InputError(f"no such folder: {self.path}")
            if not self.is_crawl:
                raise InputError(f"no crawl in {self.path}; start one with: goodbot crawl URL --into {self.path}")
        except OSError as error:
            raise InputError(f"cannot read {self.path}: {error.strerror}") from error

    def create(self) -> None:
        """Makes the folder if it is missing; InputError if it cannot be."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot make the folder {self.path}: {error.strerror}") from error


# ---- reading a crawl ------------------------------------------------------------------------------------------------


@contextmanager
def open_ledger(path: Path) -> Iterator[Ledger]:
    """What the frontier in `path` knows, read only; the crawl may be running."""
    folder = CrawlFolder(path)
    folder.check()
    frontier = SqliteFrontier.open(folder.frontier, read_only=True)
    try:
        yield frontier
    finally:
        frontier.close()


@contextmanager
def open_archive(path: Path) -> Iterator[Archive]:
    """The archive in `path`, read only. Raises InputError if the crawl keeps none."""
    folder = CrawlFolder(path)
    folder.check()
    if not folder.warc.is_dir():
        raise InputError(f"{path} has no archive (it was crawled with --no-archive)")
    archive = WarcArchive(folder.warc, SystemClock(), SOFTWARE, read_only=True)
    try:
        yield archive
    finally:
        archive.close()


def archived_pages(ledger: Ledger, archive: Archive) -> Iterator[Archived]:
    """The last capture of every page visited, in the order found; redirects and what is no page are left out."""
    for record in ledger.records():
        if record.state != "visited" or record.record is None or record.status in REDIRECTS:
            continue
        archived = archive.read(record.record)
        if 200 <= archived.response.status < 300:  # of a page asked for again the ledger has the last status, say 304
            yield archived


def open_search(path: Path) -> TantivySearch:
    """The index in `path`. Raises InputError if the crawl has none."""
    folder = CrawlFolder(path)
    folder.check()
    if not folder.index.is_dir():
        raise InputError(_without_index(path))
    return TantivySearch(folder.index)


def open_search_or_nothing(path: Path) -> Search:
    """The index in `path`; if the crawl has none, a search that says so. Raises InputError if there is no crawl."""
    folder = CrawlFolder(path)
    folder.check()
    return TantivySearch(folder.index) if folder.index.is_dir() else NoSearch(_without_index(path))


def _without_index(path: Path) -> str:
    return f"{path} has no index (it was crawled with --no-index)"
