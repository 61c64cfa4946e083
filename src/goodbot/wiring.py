"""Assembles the objects of a crawl from its settings. Only this module, `crawl_folder`, `crawl_admin`, `one_shot`,
`api` and the other modules beside them use concrete classes of several packages."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from goodbot.archive_values import DamagedRange
from goodbot.config import Settings
from goodbot.crawl_folder import CrawlFolder
from goodbot.crawl_preparation import add_seeds, answer_limits, reconsider, workers_of
from goodbot.crawl_stores import CrawlStores, open_stores, plan_imported
from goodbot.errors import InputError
from goodbot.host_removal import RemovedHosts, remove_hosts
from goodbot.index import TantivyIndex, prepare
from goodbot.index_opening import RefreshWatch, Sources, Watch, index_pending, open_index, refresh_if_needed
from goodbot.lesson_values import LeftOut, Lesson, lesson_id
from goodbot.logs import SILENT, LogSettings
from goodbot.ports import CrawlStore, Ledger
from goodbot.robot.client.page_stream import PageStream
from goodbot.robot.crawl.assembly import WorkerSetup, crawler_of
from goodbot.robot.crawl.batch import Batch
from goodbot.robot.crawl.crawler import Crawler
from goodbot.robot.crawl.store_calls import DirectCalls, StoreCalls, StoreThread
from goodbot.robot.crawl.supervisor import Supervisor
from goodbot.robot.fetch.identity import identity_of
from goodbot.robot.fetch.signing import signer_of
from goodbot.robot.lessons.site_knowledge import applies
from goodbot.robot.processes.coordinator import Coordinator
from goodbot.robot.processes.spawning import Start, start_process
from goodbot.robot.render.rendering import Browser
from goodbot.robot.scope.scope import Scope
from goodbot.robot.scope.seeding import Seeding, guard_of, typed_seeds
from goodbot.store.control.seed_file import SeedSpool
from goodbot.store.warc.deadly_answers import DeadlyPages
from goodbot.store.warc.warc_archive import WarcArchive
from goodbot.store.warc.warc_record import encode_capture
from goodbot.url import Url
from goodbot.values import Outcome, Status, UrlRecord

# ---- crawling -------------------------------------------------------------------------------------------------------


class FailedSeed(NamedTuple):
    """A seed that could not be fetched, with the reason."""

    url: Url
    why: str


def failed_seed(
    seeds: Iterable[Url], record_of: Callable[[Url], UrlRecord | None], forgotten: Collection[str] = ()
) -> FailedSeed | None:
    """Returns the first seed if none could be fetched, since each failed or belongs to a forgotten host; else None."""
    first = None
    for seed in seeds:
        record = record_of(seed)
        if record is not None and record.state != "failed":
            return None
        if record is not None:
            first = first or FailedSeed(record.url, record.why)
        elif seed.host_key in forgotten:
            first = first or FailedSeed(seed, f"{seed.host_key} is forgotten")
    return first


@dataclass(frozen=True, slots=True)
class Crawl:
    """An open crawl.

    `replayed` counts the pages that were indexed from the archive before the crawl continued. `damage` lists the
    damaged ranges of the archive, found on opening it after a kill, or by comparing it with the frontier. `left_out`
    counts what lessons have left out, `not_indexed` the visited pages that the index lacks. `forgotten` are the hosts
    barred before this run. `refresh` rebuilds the index's link texts if many pages have changed, and returns whether
    it did. `others` are the names of other machines on which the crawl runs."""

    crawler: Crawler | Coordinator
    supervisor: Supervisor
    ledger: Ledger
    settings: Settings
    replayed: int
    damage: Sequence[DamagedRange]
    seeds: Callable[[], Iterable[Url]]
    left_out: Callable[[], LeftOut]
    not_indexed: Callable[[], int]
    remove_forgotten: Callable[[Callable[[str], object]], list[RemovedHosts]]
    forgotten: frozenset[str]
    refresh: Callable[[RefreshWatch], bool]
    others: Sequence[str] = ()
    archive: WarcArchive | None = None

    def failed_seed(self) -> FailedSeed | None:
        """Calls `failed_seed` for this crawl."""
        return failed_seed(self.seeds(), self.ledger.record, self.forgotten)

    def status(self) -> Status:
        """Returns the state of the crawl in numbers."""
        return self.ledger.status()


@asynccontextmanager
async def open_crawl(
    path: Path,
    settings: Settings,
    observe: Callable[[Outcome], None] = lambda outcome: None,
    listed: SeedSpool | None = None,
    revisit_until: float | None = None,
    stream: PageStream | None = None,
    watch: Watch = lambda state: None,
    logs: LogSettings = SILENT,
    start: Start = start_process,
) -> AsyncIterator[Crawl]:
    """Opens the crawl in `path` to begin or resume it with `settings`, whose seeds include the earlier ones.

    `listed` are more seeds, already checked. `revisit_until`: pages that are due again by then are visited again;
    infinity: whenever they are due; None: never. With a `stream`, pages go to the program that reads it, and the crawl
    uses one process. `watch` is called while pages are indexed from the archive, before the crawl continues. `logs`
    says where worker processes send their log messages; this process logs as its program has set up. `start`
    starts worker processes (see `forking`)."""
    parts = path, settings, observe, listed, revisit_until, stream, watch, logs, start
    async with _browsing(settings) as browser, _opened(*parts, browser) as crawl:
        yield crawl


@asynccontextmanager
async def _browsing(settings: Settings) -> AsyncIterator[Browser | None]:
    """Starts the browser if pages are rendered. Raises InputError, which says what to install, if that fails."""
    if not settings.render:
        yield None
        return
    browser = await open_browser(settings)
    try:
        yield browser
    finally:
        await browser.close()


async def open_browser(settings: Settings) -> Browser:
    """Starts a browser. Raises InputError, which says what to install, if that fails."""
    try:
        from goodbot.robot.render.chromium import open_chromium  # noqa: PLC0415  (takes 0.2 s)
    except ModuleNotFoundError as error:
        raise InputError("rendering needs Playwright: pip install playwright") from error
    identity = identity_of(settings, version("goodbot"))
    return await open_chromium(settings.render_executable, identity.user_agent)


@asynccontextmanager
async def _opened(
    path: Path,
    settings: Settings,
    observe: Callable[[Outcome], None],
    listed: SeedSpool | None,
    revisit_until: float | None,
    stream: PageStream | None,
    watch: Watch,
    logs: LogSettings,
    start: Start,
    browser: Browser | None,
) -> AsyncIterator[Crawl]:
    typed, networks = typed_seeds(settings)
    identity = identity_of(settings, version("goodbot"))
    signer_of(settings)  # refuses an unusable key before anything is made
    if stream is not None and settings.frontier is not None:
        raise InputError("a program reads pages only of a crawl with its frontier in the folder: omit `frontier`")
    folder = CrawlFolder(path, settings.frontier)
    same_answers = answer_limits(folder.settings_before()) == answer_limits(settings)

    def seeds() -> Iterable[Url]:
        return chain(typed, stores.listed())

    def observed(outcome: Outcome) -> None:
        supervisor.observe(outcome)
        observe(outcome)

    def fail(error: BaseException) -> None:
        crawler.fail(error)

    with open_stores(folder, settings, revisit_until) as stores:
        frontier, archive, clock = stores.frontier, stores.archive, stores.clock
        sources = Sources(folder, settings, identity.token, frontier, archive)
        async with _indexed(sources, watch) as index, _calls(stores, fail) as calls:
            folder.seeds.take(listed)
            guard = guard_of(settings, (*networks, *Seeding(settings).networks(stores.listed())))
            scope = Scope(settings, seeds(), guard)
            remove_hosts(sources, index)
            replayed = (await index_pending(sources, index, watch)).documents if index is not None else 0
            with stores.beginning() as others:
                if not others:
                    reconsider(folder, frontier, scope, same_answers)
                    add_seeds(frontier, scope, chain(typed, folder.seeds.new()), same_answers)
                    if revisit_until is not None:
                        plan_imported(frontier, scope)
                folder.seeds.settle()
            workers = workers_of(settings, seeds()) if stream is None else 1
            writable = archive if settings.archive else None
            batch = Batch(frontier, frontier, writable, index, clock, observed, courtesies=frontier, calls=calls)
            forgotten = frontier.forgotten_hosts()
            encode, prepared = encode_capture if writable else None, prepare if index else None
            setup = WorkerSetup(
                settings,
                identity,
                guard,
                scope,
                encode,
                prepared,
                forgotten=forgotten,
                evidence=encode_capture,
                logs=logs,
            )
            async with _crawler(workers, setup, stores, batch, calls, stream, browser, folder.deadly, start) as crawler:
                revisits = partial(_revisits, frontier) if revisit_until is not None else None
                supervisor = _supervisor(crawler, folder, stores, batch, calls, scope, workers, revisits)
                damage = damage_of(archive, frontier) if archive else ()
                left_out = partial(frontier.left_out, partial(applies, settings))
                yield Crawl(
                    crawler,
                    supervisor,
                    frontier,
                    settings,
                    replayed,
                    damage,
                    seeds,
                    left_out,
                    frontier.pending_count,
                    partial(remove_hosts, sources, index),
                    forgotten,
                    partial(refresh_if_needed, folder, index),
                    others,
                    archive,
                )
                remove_hosts(sources, index)


@asynccontextmanager
async def _indexed(sources: Sources, watch: Watch) -> AsyncIterator[TantivyIndex | None]:
    """Opens the index for writing, if the crawl keeps one."""
    index = await open_index(sources, watch) if sources.settings.index else None
    try:
        yield index
    finally:
        if index is not None:
            index.close()


@asynccontextmanager
async def _calls(stores: CrawlStores, fail: Callable[[BaseException], object]) -> AsyncIterator[StoreCalls]:
    """Calls on a frontier in a database run in a thread of their own. `fail` gets an error of one of them."""
    if stores.membership is None:
        yield DirectCalls()
        return
    calls = StoreThread(fail).start()
    try:
        yield calls
    finally:
        calls.close()
        await asyncio.to_thread(calls.wait_closed)


def _supervisor(
    crawler: Crawler | Coordinator,
    folder: CrawlFolder,
    stores: CrawlStores,
    batch: Batch,
    calls: StoreCalls,
    scope: Scope,
    workers: int,
    revisits: Callable[[], tuple[int, float | None]] | None,
) -> Supervisor:
    frontier = stores.frontier

    def visited_on(host: str) -> Iterator[list[Url]]:
        with folder.open_reader() as reader:  # the connection of the frontier may be used by another thread
            yield from reader.visited_on(host)

    return Supervisor(
        crawler,
        inbox=stores.control,
        frontier=frontier,
        refuse=scope.refuse,
        to_fetch=frontier.to_fetch,
        bar=frontier.bar_host,
        remove_from_index=lambda host: batch.unlist(host, visited_on(host)),
        workers=workers,
        clock=stores.clock,
        calls=calls,
        drop=partial(drop_lessons, frontier),
        revisits=revisits,
    )


def damage_of(archive: WarcArchive, frontier: CrawlStore) -> list[DamagedRange]:
    """Returns the damage of the archive that is known without reading it."""
    known = {gap.file for gap in archive.damage}
    return [*archive.damage, *(gap for gap in archive.missing(frontier.last_records()) if gap.file not in known)]


@asynccontextmanager
async def _crawler(
    workers: int,
    setup: WorkerSetup,
    stores: CrawlStores,
    batch: Batch,
    calls: StoreCalls,
    stream: PageStream | None,
    browser: Browser | None,
    deadly: DeadlyPages,
    start: Start,
) -> AsyncIterator[Crawler | Coordinator]:
    """Makes the coordinator of several processes or machines, or a crawler in this process, whose transport is closed
    at the end."""
    frontier, clock = stores.frontier, stores.clock
    if workers > 1 or stores.membership is not None:
        yield Coordinator(
            setup.settings,
            workers,
            setup=setup,
            frontier=frontier,
            robots=frontier,
            batch=batch,
            clock=clock,
            lessons=frontier,
            start=start,
            keep_deadly=deadly.keep,
            calls=calls,
            membership=stores.membership,
        )
        return
    if stream is None:
        crawler, transport = crawler_of(setup, frontier, batch, frontier, clock, browser, lessons=frontier)
    else:
        fitted = stream.fitted(batch, frontier)
        streaming = replace(setup, encode=stream.encoding(setup.encode))
        crawler, transport = crawler_of(
            *(streaming, fitted, fitted, frontier, clock, browser), lessons=frontier, keeps_answers=True
        )
    try:
        yield crawler
    finally:
        await transport.close()


def drop_lessons(frontier: CrawlStore, ids: Iterable[str]) -> list[Lesson]:
    """Removes the lessons with these ids from the frontier, and makes the URLs they left out ready. Returns the
    lessons, marked as lapsed and never learned."""
    chosen = set(ids)
    dropped = [lesson for lesson in frontier.lessons() if lesson_id(lesson) in chosen]
    frontier.drop_lessons(dropped)
    return [lesson._replace(lapsed=True, times=0) for lesson in dropped]


def _revisits(ledger: Ledger) -> tuple[int, float | None]:
    """Returns how many pages will be visited again, and when the first is due."""
    status = ledger.status()
    return status.pages, status.next_ready_at
