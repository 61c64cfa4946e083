"""Inspects, controls and rehearses a crawl from outside its process. Like `wiring` it uses concrete classes, not only
ports."""

import logging
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Final

from goodbot.clock import SystemClock
from goodbot.config import Settings
from goodbot.crawl_bounds import CrawlBounds, refusal_of
from goodbot.crawl_folder import SOFTWARE, CrawlFolder, open_ledger
from goodbot.crawl_preparation import add_seeds, reconsider
from goodbot.errors import DamagedError, InputError, RunError
from goodbot.host_removal import remove_host
from goodbot.human import in_shell
from goodbot.index import TantivySearch
from goodbot.index_opening import Indexing, Sources, Watch, close_all, open_to_remove, rebuild
from goodbot.lesson_values import Lesson, lesson_id
from goodbot.report_values import HostAhead, MachineView
from goodbot.robot.crawl.remote_control import REPLY_TIMEOUT_S, CrawlFigures, CrawlView, RemoteControl
from goodbot.robot.fetch.identity import identity_of
from goodbot.robot.fetch.signing import signer_of
from goodbot.robot.manners.plan import CrawlPlan, plan, plan_host
from goodbot.robot.manners.politeness import Politeness
from goodbot.robot.scope.scope import Scope
from goodbot.robot.scope.seeding import Seeding, guard_of, typed_seeds
from goodbot.store.control.control_files import ControlFolder
from goodbot.store.control.control_token import load_token
from goodbot.store.control.seed_file import SeedFolder, SeedSpool
from goodbot.store.warc.warc_archive import WarcArchive
from goodbot.url import Url, authority_of
from goodbot.values import Lease
from goodbot.wiring import drop_lessons

_LOG: Final = logging.getLogger(__name__)

HOSTS_SHOWN: Final = 10
ENDED_SHOWN: Final = 5
"""Machines that take part no more and are shown beside those that do."""
KEPT_S: Final = 5.0
"""So many seconds the figures of a crawl in a database are kept, however often a program asks for them."""


def look_at(path: Path) -> CrawlView:
    """Returns the current state of the crawl in `path`. Raises InputError if there is none."""
    with open_ledger(path) as ledger:
        status = ledger.status()
    control = ControlFolder(path)
    live = control.live()
    return CrawlView(status, live is not None or control.is_running(), live)


class CrawlConsole:
    """Gives the web pages their view of a crawl, its remote control, and the token that permits using it. It may be
    used in any thread. Raises InputError if there is no crawl, DamagedError if it is damaged."""

    def __init__(
        self,
        path: Path,
        reply_timeout_s: float = REPLY_TIMEOUT_S,
        passed: Callable[[], float] = time.monotonic,
    ) -> None:
        from goodbot.web.operator.crawl_reports import CrawlReports  # noqa: PLC0415  (loads the web server)

        folder = CrawlFolder(path)
        folder.check()
        _check_readable(path)
        self._folder = folder
        self._token: str | None = None
        self.control = open_control(path, reply_timeout_s)
        settings = folder.settings_before()
        robot = identity_of(settings, version("goodbot")).token
        self.reports = CrawlReports(folder.open_reader, robot, settings.retry_after_most)
        self._passed = passed
        self._asking = threading.Lock()
        self._figures: CrawlFigures | None = None
        self._figures_at = 0.0

    @property
    def token(self) -> str | None:
        """The token of the crawl; None if it cannot be read. It is made when the crawl runs for the first time, so it
        may appear later."""
        if self._token is None:
            self._token = load_token(self._folder.path)
        return self._token

    @property
    def path(self) -> Path:
        """The folder of the crawl."""
        return self._folder.path

    def look(self) -> CrawlView:
        """Returns the current state of the crawl."""
        return look_at(self._folder.path)

    def hosts(self) -> list[HostAhead]:
        """Returns the hosts with the most URLs still to fetch."""
        with self._folder.open_reader() as reader:
            return reader.hosts_ahead(HOSTS_SHOWN)

    def machines(self) -> Sequence[MachineView]:
        """Returns the machines that share the crawl, and the latest of those that take part no more; none if the
        folder keeps the crawl. Raises StoreAwayError if its database does not answer."""
        return self._folder.machines(ENDED_SHOWN)

    def figures(self) -> CrawlFigures:
        """Returns the state of the crawl for programs that watch it. If a database keeps the crawl, it is asked every
        `KEPT_S` at most, and if it does not answer, the figures say so."""
        if self._folder.database is None:
            view = self.look()
            return CrawlFigures(view.status, view.running, view.live)
        with self._asking:
            if self._figures is None or self._passed() - self._figures_at >= KEPT_S:
                self._figures = self._ask()
                self._figures_at = self._passed()
            return self._figures

    def _ask(self) -> CrawlFigures:
        live = self.control.live()
        running = live is not None or self.control.is_running()
        try:
            status, machines = self._folder.watched()
        except (InputError, RunError) as error:
            if self._figures is None or self._figures.is_up:
                _LOG.warning("/metrics lacks the figures of the database: %s", error)
            return CrawlFigures(None, running, live, is_up=False)
        return CrawlFigures(status, running, live, is_up=True, machines=tuple(machines))


def _check_readable(path: Path) -> None:
    """Raises DamagedError if the crawl in `path` is damaged. One of an older format can still be searched."""
    try:
        look_at(path)
    except DamagedError:
        raise
    except RunError as error:
        _LOG.warning("%s", error)


def open_control(
    path: Path, reply_timeout_s: float = REPLY_TIMEOUT_S, bounds: CrawlBounds | None = None
) -> RemoteControl:
    """Opens the remote control of the crawl in `path`. `bounds`: those of the crawl, if it is used for long. Raises
    InputError if there is none."""
    folder = CrawlFolder(path)
    folder.check()
    known = bounds or CrawlBounds(folder)

    return RemoteControl(
        ControlFolder(path),
        ledger=lambda: open_ledger(path),
        frontier=lambda: folder.open_store(host_pages=folder.settings_before().host_pages),
        scope=lambda urls: refusal_of(known.current(), folder, urls),
        timeout_s=reply_timeout_s,
    )


# ---- forgetting a host ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Forgotten:
    """Counts of what was removed for a host.

    `running`: a crawl is running; it stops requesting the host now, and removes its data when it ends. If not `known`,
    the crawl has no data of the host but bars it all the same; `similar` then has up to 5 known hosts with the same
    name or address and another port. `damaged_bytes` of the archive could not be read, and may have belonged to this
    host.
    """

    host: str
    running: bool = False
    known: bool = True
    urls: int = 0
    captures: int = 0
    documents: int = 0
    damaged_bytes: int = 0
    similar: tuple[str, ...] = ()


def forget(path: Path, host: str) -> Forgotten:
    """Bars a host (`Url.host_key`) from the crawl in `path`, and removes its data; a running crawl removes it when it
    ends. May be called again after a kill. Raises InputError if there is no crawl."""
    folder = CrawlFolder(path)
    folder.check()
    with folder.open_reader() as ledger:
        is_known = ledger.knows_host(host)
        if open_control(path).forget(Url(f"http://{authority_of(host)}/")):
            known = is_known or host in ledger.hosts_to_remove()
            return Forgotten(host, running=True, known=known, similar=() if known else ledger.similar_hosts(host))
    with folder.open_store() as frontier:
        if not frontier.bar_host(host):
            return Forgotten(host, known=False, similar=frontier.similar_hosts(host))
        indexes = open_to_remove(folder, frontier)
        archive = None
        try:
            archive = WarcArchive(folder.warc, SystemClock(), SOFTWARE) if folder.warc.is_dir() else None
            before = _documents(folder)
            urls, removed = remove_host(host, frontier, archive, indexes, folder)
            gone = before - _documents(folder)
        finally:
            close_all(indexes)
            if archive is not None:
                archive.close()
    return Forgotten(host, urls=urls, captures=removed.captures, documents=gone, damaged_bytes=removed.damaged_bytes)


def _documents(folder: CrawlFolder) -> int:
    """Returns the number of indexed documents."""
    return TantivySearch(folder.index).count() if folder.index.is_dir() else 0


def remember(path: Path, host: str) -> bool:
    """Lifts the bar of a forgotten host; returns False if it was not barred. If a removal was killed, it is finished
    first, as the host's pages may already be missing from the index. Raises RunError while a crawl runs."""
    folder = CrawlFolder(path)
    folder.check()
    with folder.open_store() as frontier:
        unfinished = host in frontier.hosts_to_remove()
    if unfinished:
        forget(path, host)
    with folder.open_store() as frontier:
        return frontier.unbar_host(host)


# ---- the index ------------------------------------------------------------------------------------------------------


async def rebuild_index(path: Path, watch: Watch) -> tuple[Indexing, int]:
    """Rebuilds the search index of the crawl in `path` from its archive, or continues a rebuild. Returns the progress,
    and how many documents the index has. Raises InputError if there is no crawl, BusyError while one runs."""
    folder = CrawlFolder(path)
    folder.check()
    settings = folder.settings(Settings())
    token = identity_of(settings, version("goodbot")).token
    with folder.open_store(host_pages=settings.host_pages) as frontier:
        archive = WarcArchive(folder.warc, SystemClock(), SOFTWARE, read_only=True) if folder.warc.is_dir() else None
        try:
            done = await rebuild(Sources(folder, settings, token, frontier, archive), "", watch)
        finally:
            if archive is not None:
                archive.close()
    return done, TantivySearch(folder.index).count()


# ---- lessons --------------------------------------------------------------------------------------------------------


def lessons_of(path: Path, host: str | None = None) -> list[Lesson]:
    """Returns the lessons of the crawl in `path` about a host (`Url.host_key`), or about all hosts. Raises InputError
    if there is no crawl."""
    folder = CrawlFolder(path)
    folder.check()
    with folder.open_reader() as frontier:
        return frontier.lessons(host)


def unlearn(path: Path, ids: Sequence[str]) -> list[Lesson]:
    """Drops lessons and returns them; the URLs they left out become ready. A running crawl drops them at once, too.
    Raises InputError for an unknown id before anything is dropped."""
    known = {lesson_id(lesson): lesson for lesson in lessons_of(path)}
    for name in ids:
        if name not in known:
            raise InputError(f"no lesson {name}; see goodbot lessons list --in {in_shell(path)}")
    if not open_control(path).unlearn(ids):
        with CrawlFolder(path).open_store() as frontier:
            drop_lessons(frontier, ids)
    return [known[name] for name in dict.fromkeys(ids)]


# ---- dry run --------------------------------------------------------------------------------------------------------


def rehearse(
    path: Path, settings: Settings, listed: SeedSpool, *, max_pages: int | None, urls_per_host: int
) -> CrawlPlan:
    """Plans what `goodbot crawl` would do in `path` with these settings and seeds; fetches and writes nothing.

    It estimates for the first `MAX_HOSTS` hosts only, and counts up to `MAX_COUNT` of their URLs. Raises InputError
    as a crawl would, RunError while one runs.
    """
    typed, networks = typed_seeds(settings)
    folder, politeness = CrawlFolder(path), Politeness(settings)
    token = identity_of(settings, version("goodbot")).token
    signer_of(settings)  # refuses an unusable key, as a crawl would
    before = folder.settings_before()
    with (
        tempfile.TemporaryDirectory(prefix="goodbot-") as scratch,
        folder.open_rehearsal(Path(scratch), settings.host_pages) as frontier,
    ):
        more = SeedFolder(Path(scratch) / "seeds")
        more.take(listed)
        guard = guard_of(settings, (*networks, *Seeding(settings).networks(chain(folder.seeds, more))))
        scope = Scope(settings, chain(typed, folder.seeds, more), guard)
        same_answers = (before.types, before.max_size) == (settings.types, settings.max_size)
        if folder.is_crawl:
            reconsider(folder, frontier, scope, same_answers)
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


def _origins(leases: Iterable[Lease]) -> set[str]:
    return {leased.url.origin for lease in leases for leased in lease.urls}
