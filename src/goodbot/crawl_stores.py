"""Opens what a crawl writes to: its control files, frontier and archive. The frontier is in the folder of the crawl, or
in a database that several machines share."""

import os
import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Final

from goodbot.clock import SystemClock
from goodbot.config import Settings
from goodbot.crawl_folder import SOFTWARE, CrawlFolder
from goodbot.errors import InputError
from goodbot.files import lock_folder
from goodbot.ports import Clock, CrawlStore, Membership
from goodbot.robot.scope.scope import Scope
from goodbot.robot.scope.seeding import parse_seeds
from goodbot.settings_file import save_settings, settings_text
from goodbot.store.control.control_files import ControlFolder
from goodbot.store.control.control_token import make_token
from goodbot.store.control.writer_id import writer_id
from goodbot.store.sqlite.frontier import SqliteFrontier
from goodbot.store.warc.warc_archive import WarcArchive
from goodbot.store.warc.warc_files import cut_back
from goodbot.url import Url

Beginning = Callable[[], AbstractContextManager[tuple[str, ...]]]

_NO_OTHERS: Final[tuple[str, ...]] = ()


@dataclass(frozen=True, slots=True)
class CrawlStores:
    """What a crawl writes to. `listed` yields the seeds of all lists of the crawl. `membership` is None if the frontier
    is in the folder.

    `beginning` is a context in which seeds are added and the scope is applied. It gives the names of the other machines
    that take part: if there are any, they have done this already. After it, hosts can be leased."""

    control: ControlFolder
    frontier: CrawlStore
    archive: WarcArchive | None
    clock: Clock
    listed: Callable[[], Iterable[Url]]
    beginning: Beginning
    membership: Membership | None = None


@contextmanager
def open_stores(folder: CrawlFolder, settings: Settings, revisit_until: float | None) -> Iterator[CrawlStores]:
    """Opens the stores of a crawl. Makes the folder if it is missing, and saves `settings` there. Raises BusyError if
    another process uses the folder, InputError for a database that cannot be used, StoreAwayError if its server does
    not answer."""
    before = folder.settings_before()
    folder.create()
    opened = _in_folder if settings.frontier is None else _in_database
    with opened(folder, settings, revisit_until) as stores:
        make_token(folder.path)
        if settings.index and not before.index:
            stores.frontier.index_skipped()
        save_settings(folder.settings_file, settings)
        yield stores


@contextmanager
def _in_folder(folder: CrawlFolder, settings: Settings, revisit_until: float | None) -> Iterator[CrawlStores]:
    clock = SystemClock()
    with ExitStack() as stack:
        frontier = SqliteFrontier.open(
            folder.frontier,
            create=True,
            now=clock.now,
            host_pages=settings.host_pages,
            revisit_until=revisit_until,
            host_lists=settings.host_lists,
        )
        stack.callback(frontier.close)
        drop_killed_import(folder, frontier)
        control = _attended(folder, stack)
        writer = writer_id(folder.path) if settings.archive_to is not None else ""
        archive = _archive(folder, settings, clock, stack, writer)
        yield CrawlStores(control, frontier, archive, clock, lambda: folder.seeds, lambda: nullcontext(_NO_OTHERS))


def has_imports(store: CrawlStore) -> bool:
    """Returns whether archives of other programs were imported."""
    return isinstance(store, SqliteFrontier) and store.has_imports()


def plan_imported(store: CrawlStore, scope: Scope) -> None:
    """Plans visits to the imported pages in scope. An import plans none, because the pages of other scopes would be
    dropped when they are due."""
    if isinstance(store, SqliteFrontier) and store.has_imports():
        store.plan_visits(scope.refuse)


def drop_killed_import(folder: CrawlFolder, frontier: SqliteFrontier) -> None:
    """Removes from the archive what a killed import has written there without committing it. To be called before the
    archive is opened for writing. Raises RunError."""
    end = frontier.unfinished_import()
    if end is not None:
        cut_back(folder.warc, *end)
        with frontier.together():
            frontier.import_notes().drop_killed()


@contextmanager
def _in_database(folder: CrawlFolder, settings: Settings, revisit_until: float | None) -> Iterator[CrawlStores]:
    from goodbot.cluster.postgres.frontier import PostgresFrontier  # noqa: PLC0415  (loads psycopg)
    from goodbot.cluster.postgres.machines import Identity  # noqa: PLC0415
    from goodbot.cluster.postgres.membership import PostgresMembership  # noqa: PLC0415
    from goodbot.cluster.postgres.shared_settings import listed_seeds, starting  # noqa: PLC0415

    dsn = settings.frontier or ""
    with ExitStack() as stack:
        lock = lock_folder(folder.frontier)
        stack.callback(os.close, lock)
        writer = writer_id(folder.path)
        frontier = PostgresFrontier.open(
            dsn,
            Identity(writer, socket.gethostname(), os.getpid()),
            host_pages=settings.host_pages,
            revisit_until=revisit_until,
            host_lists=settings.host_lists,
        )
        stack.callback(frontier.close)
        _refuse_twin(folder, frontier.twin())
        control = _attended(folder, stack)
        text = settings_text(settings, of_machine=False)
        membership = PostgresMembership(frontier, text, lambda: control.shown)
        stack.callback(membership.close)
        archive = _archive(folder, settings, frontier.clock, stack, writer)

        @contextmanager
        def beginning() -> Iterator[tuple[str, ...]]:
            typed = {seed.text for seed in parse_seeds(settings.seeds)}
            with starting(dsn, writer, text, (seed for seed in folder.seeds.new() if seed.text not in typed)) as others:
                yield others
                frontier.take_part()

        def listed() -> Iterable[Url]:
            return chain(folder.seeds, listed_seeds(dsn))

        yield CrawlStores(control, frontier, archive, frontier.clock, listed, beginning, membership)


def _refuse_twin(folder: CrawlFolder, twin: tuple[str, int] | None) -> None:
    """Raises InputError if a machine with the same folder crawls: one of the two folders is a copy. One that was killed
    on this machine is taken for ended at once."""
    if twin is None:
        return
    name, pid = twin
    if name == socket.gethostname() and not _is_alive(pid):
        return
    raise InputError(
        f"a crawl with the same id in {folder.path / 'writer'} runs on {name} (process {pid}): if one of the folders"
        " is a copy, remove the file writer from it; if that crawl was killed, try again after 30 seconds"
    )


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[0]
    except ProcessLookupError:
        return False
    except OSError:  # a process of another user, or a system without /proc
        return True
    return state != "Z"  # it has ended, and its parent has not noticed yet


def _attended(folder: CrawlFolder, stack: ExitStack) -> ControlFolder:
    control = ControlFolder(folder.path)
    control.attend()
    stack.callback(control.close)
    return control


def _archive(
    folder: CrawlFolder, settings: Settings, clock: Clock, stack: ExitStack, writer: str
) -> WarcArchive | None:
    """Opens the archive; with --no-archive too if there is one, since it is read, and hosts are removed from it."""
    if not settings.archive and not folder.warc.is_dir():
        return None
    archive = WarcArchive(
        *(folder.warc, clock, SOFTWARE),
        size_limit_bytes=settings.warc_size,
        writer=writer,
        move_to=settings.archive_to,
    )
    stack.callback(archive.close)
    return archive
