"""A crawl from outside: told what to do, looked at, tried without being done. Names concrete classes, as `wiring`."""

import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Final

from goodbot.clock import SystemClock
from goodbot.config import Settings
from goodbot.crawl_folder import SOFTWARE, CrawlFolder, open_ledger
from goodbot.errors import InputError
from goodbot.host_removal import remove_host
from goodbot.index import TantivyIndex, TantivySearch
from goodbot.index_opening import Indexing, Sources, Watch, close_all, open_to_remove, rebuild
from goodbot.lesson_values import Lesson
from goodbot.ports import Frontier
from goodbot.robot.crawl.remote_control import PATIENCE_S, CrawlView, Refuse, RemoteControl
from goodbot.robot.fetch.guard import AddressGuard
from goodbot.robot.fetch.identity import identity_of
from goodbot.robot.fetch.signing import signer_of
from goodbot.robot.lessons.site_knowledge import SiteKnowledge
from goodbot.robot.manners.plan import CrawlPlan, plan, plan_host
from goodbot.robot.manners.politeness import Politeness
from goodbot.robot.scope.scope import Scope
from goodbot.robot.scope.seeding import Seeding, opened_networks, parse_seeds, typed_seeds
from goodbot.store.control.control_files import ControlFolder
from goodbot.store.control.control_token import load_token
from goodbot.store.control.seed_file import SeedFolder, SeedSpool
from goodbot.store.sqlite.frontier import SqliteFrontier
from goodbot.store.sqlite.host_queries import HostAhead, hosts_ahead
from goodbot.store.sqlite.lesson_table import lesson_id
from goodbot.store.sqlite.rehearsal import Rehearsal
from goodbot.store.warc.warc_archive import WarcArchive
from goodbot.url import Url, authority_of
from goodbot.values import Lease, UrlRecord
from goodbot.wiring import add_seeds, drop_lessons, reconsider

HOSTS_SHOWN: Final = 10
FORGOTTEN: Final = "its host is forgotten (goodbot forget HOST --undo)"


def look_at(path: Path) -> CrawlView:
    """The crawl in `path` now. Raises InputError if there is none."""
    with open_ledger(path) as ledger:
        status = ledger.status()
    control = ControlFolder(path)
    live = control.live()
    return CrawlView(status, live is not None or control.is_running(), live)


@dataclass(frozen=True, slots=True)
class Found:
    """What is known of a URL, or of `asked_as`, what a crawl makes of a link to it; `lesson`: what keeps it out now, or
    has it asked for under another name."""

    asked_as: Url
    record: UrlRecord | None
    lesson: Lesson | None


def look_up(path: Path, url: Url) -> Found:
    """What the crawl in `path` knows of `url`; if nothing, of what it makes of a link to it, and that. Raises
    InputError if there is no crawl."""
    folder = CrawlFolder(path)
    folder.check()
    with SqliteFrontier.open(folder.frontier, read_only=True) as frontier:
        experience = SiteKnowledge(folder.settings_before(), lambda url, depth: True)
        experience.take(frontier.load_lessons([url.host_key]))
        lesson = experience.lesson_about(url)
        record = frontier.record(url)
        if record is not None:
            return Found(url, record, lesson)
        access = frontier.load_robots(url.origin)
        if access is not None:
            experience.hears(url.origin, access.rules.clean_params)
        cleaned = experience.cleaned(url)
        return Found(cleaned, frontier.record(cleaned) if cleaned != url else None, lesson)


class CrawlDesk:
    """A crawl as the web sees it: a look at it, the desk, the token of who may use the desk. For any thread."""

    def __init__(self, path: Path, patience_s: float = PATIENCE_S) -> None:
        folder = CrawlFolder(path)
        folder.check()
        self._folder = folder
        self.token = load_token(path)
        self.desk = open_desk(path, patience_s)

    def look(self) -> CrawlView:
        """How it goes now."""
        return look_at(self._folder.path)

    def hosts(self) -> list[HostAhead]:
        """Those with most to be fetched."""
        return hosts_ahead(self._folder.frontier, HOSTS_SHOWN)


def open_desk(path: Path, patience_s: float = PATIENCE_S) -> RemoteControl:
    """Where the crawl in `path` is told what to do. Raises InputError if there is none."""
    folder = CrawlFolder(path)
    folder.check()

    @contextmanager
    def frontier() -> Iterator[Frontier]:
        opened = SqliteFrontier.open(folder.frontier, host_pages=folder.settings_before().host_pages)
        try:
            yield opened
        finally:
            opened.close()

    return RemoteControl(
        ControlFolder(path),
        ledger=lambda: open_ledger(path),
        frontier=frontier,
        scope=lambda urls: _scope_for(folder, urls),
        patience_s=patience_s,
    )


def _scope_for(folder: CrawlFolder, urls: Iterable[Url]) -> Refuse:
    """What the crawl says to URLs submitted. They open no private range. Raises InputError for a public one if the
    crawl does not say whose it is."""
    settings = folder.settings(Settings())
    in_scope = _scope(settings, folder.seeds).refuse
    check = Seeding(settings).check
    with SqliteFrontier.open(folder.frontier, read_only=True) as ledger:
        forgotten = ledger.forgotten_hosts()

    def refuse(url: Url, depth: int) -> str | None:
        return FORGOTTEN if url.host_key in forgotten else in_scope(url, depth)

    for url in urls:
        if refuse(url, 0) is None:
            check(url)
    return refuse


def _scope(settings: Settings, listed: SeedFolder) -> Scope:
    typed = parse_seeds(settings.seeds)
    networks = {*opened_networks(settings, typed), *Seeding(settings).networks(listed)}
    return Scope(settings, chain(typed, listed), AddressGuard(networks))


# ---- a host that is to be forgotten ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was removed of a host. `running`: nothing yet; the crawl requests nothing more of it, and removes what it
    keeps when it ends. Not `known`: nothing is kept of it, and it is barred all the same; `similar` are known hosts of
    the same name or address with another port, at most 5.
    `damaged_bytes` of the archive could not be read, so they may have been of this host."""

    host: str
    running: bool = False
    known: bool = True
    urls: int = 0
    captures: int = 0
    documents: int = 0
    damaged_bytes: int = 0
    similar: tuple[str, ...] = ()


def forget(path: Path, host: str) -> Forgotten:
    """Stops asking a host (`Url.host_key`), and removes what the crawl in `path` keeps of it; a running crawl does so
    at its end. May be called again after a kill. Raises InputError if there is no crawl."""
    folder = CrawlFolder(path)
    folder.check()
    with SqliteFrontier.open(folder.frontier, read_only=True) as ledger:
        is_known = ledger.knows_host(host)
        if open_desk(path).forget(Url(f"http://{authority_of(host)}/")):
            known = is_known or host in ledger.hosts_to_remove()
            return Forgotten(host, running=True, known=known, similar=() if known else ledger.similar_hosts(host))
    indexes: list[TantivyIndex] = []
    archive = None
    frontier = SqliteFrontier.open(folder.frontier)
    try:
        if not frontier.bar_host(host):
            return Forgotten(host, known=False, similar=frontier.similar_hosts(host))
        indexes = open_to_remove(folder, frontier)
        archive = WarcArchive(folder.warc, SystemClock(), SOFTWARE) if folder.warc.is_dir() else None
        before = _documents(folder)
        urls, removed = remove_host(host, frontier, archive, indexes, folder.deadly)
        gone = before - _documents(folder)
        return Forgotten(
            host, urls=urls, captures=removed.captures, documents=gone, damaged_bytes=removed.damaged_bytes
        )
    finally:
        close_all(indexes)
        for part in (archive, frontier):
            if part is not None:
                part.close()


def _documents(folder: CrawlFolder) -> int:
    """How many can be found."""
    return TantivySearch(folder.index).count() if folder.index.is_dir() else 0


def remember(path: Path, host: str) -> bool:
    """A host that was forgotten may be found again; False if it was not. What a crawl that was killed has left of it is
    removed first, as its pages may have left the search already. Raises RunError while a crawl runs."""
    folder = CrawlFolder(path)
    folder.check()
    with SqliteFrontier.open(folder.frontier) as frontier:
        unfinished = host in frontier.hosts_to_remove()
    if unfinished:
        forget(path, host)
    with SqliteFrontier.open(folder.frontier) as frontier:
        return frontier.unbar_host(host)


# ---- its index ------------------------------------------------------------------------------------------------------


async def rebuild_index(path: Path, watch: Watch) -> tuple[Indexing, int]:
    """Makes the search index of the crawl in `path` anew from its archive, or goes on with that; gives how it went, and
    how many documents the index has. Raises InputError if there is no crawl, BusyError while one runs."""
    folder = CrawlFolder(path)
    folder.check()
    settings = folder.settings(Settings())
    token = identity_of(settings, version("goodbot")).token
    with SqliteFrontier.open(folder.frontier, host_pages=settings.host_pages) as frontier:
        archive = WarcArchive(folder.warc, SystemClock(), SOFTWARE, read_only=True) if folder.warc.is_dir() else None
        try:
            done = await rebuild(Sources(folder, settings, token, frontier, archive), "", watch)
        finally:
            if archive is not None:
                archive.close()
    return done, TantivySearch(folder.index).count()


# ---- what was learned -----------------------------------------------------------------------------------------------


def lessons_of(path: Path, host: str | None = None) -> list[Lesson]:
    """What the crawl in `path` has learned about a host (`Url.host_key`), or about all. Raises InputError if there is
    no crawl."""
    folder = CrawlFolder(path)
    folder.check()
    with SqliteFrontier.open(folder.frontier, read_only=True) as frontier:
        return frontier.lessons(host)


def unlearn(path: Path, ids: Sequence[str]) -> list[Lesson]:
    """Drops lessons, so that what they have left out is ready; gives them. A running crawl does so at once. Raises
    InputError for an id that no lesson has, before anything is dropped."""
    known = {lesson_id(lesson): lesson for lesson in lessons_of(path)}
    for name in ids:
        if name not in known:
            raise InputError(f"no lesson {name}; see goodbot lessons list --in {path}")
    if not open_desk(path).unlearn(ids):
        with SqliteFrontier.open(CrawlFolder(path).frontier) as frontier:
            drop_lessons(frontier, ids)
    return [known[name] for name in dict.fromkeys(ids)]


# ---- a crawl that is only tried -------------------------------------------------------------------------------------


def rehearse(
    path: Path, settings: Settings, listed: SeedSpool, *, max_pages: int | None, urls_per_host: int
) -> CrawlPlan:
    """What `goodbot crawl` would do in `path` with these settings and seeds; fetches and writes nothing.

    Estimates are for the first hosts only (`HOSTS_MOST`), and for their URLs as far as counted (`COUNT_MOST`).
    Raises InputError as a crawl would, RunError while one runs.
    """
    typed, networks = typed_seeds(settings)
    folder, politeness = CrawlFolder(path), Politeness(settings)
    token = identity_of(settings, version("goodbot")).token
    signer_of(settings)  # a crawl would refuse what this refuses
    before = folder.settings_before()
    with (
        tempfile.TemporaryDirectory(prefix="goodbot-") as scratch,
        _rehearsal(folder, settings, Path(scratch)) as frontier,
    ):
        more = SeedFolder(Path(scratch) / "seeds")
        more.take(listed)
        guard = AddressGuard({*networks, *Seeding(settings).networks(chain(folder.seeds, more))})
        scope = Scope(settings, chain(typed, folder.seeds, more), guard)
        same_answers = (before.types, before.max_size) == (settings.types, settings.max_size)
        if folder.is_crawl:
            reconsider(folder.frontier, frontier, scope, same_answers)
        add_seeds(frontier, scope, chain(typed, folder.seeds.new(), more), same_answers)
        now = time.time()
        ahead = frontier.lease_all(urls_per_host)
        known = {origin: frontier.load_robots(origin) for origin in _origins(lease for _, lease in ahead)}
        robots = {
            origin: access.in_dialect(settings.dialect)
            for origin, access in known.items()
            if access is not None and access.is_fresh(now)
        }
        hosts = (plan_host(lease, host.ready, host.ready_at, robots, politeness, token) for host, lease in ahead)
        return plan(hosts, now, max_pages)


@contextmanager
def _rehearsal(folder: CrawlFolder, settings: Settings, scratch: Path) -> Iterator[Rehearsal]:
    """Over the frontier in the folder; over an empty one if there is none."""
    there = folder.is_crawl
    if there:
        with open_ledger(folder.path):  # one of an older format would be brought up to date
            pass
    file = folder.frontier if there else scratch / "frontier.sqlite"
    with Rehearsal.open(file, create=not there, host_pages=settings.host_pages) as frontier:
        if isinstance(frontier, Rehearsal):
            yield frontier


def _origins(leases: Iterable[Lease]) -> set[str]:
    return {leased.url.origin for lease in leases for leased in lease.urls}
