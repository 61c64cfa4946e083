"""Settings → assembled objects. With `folder`, `library`, `outside` and `testing`, the only place that names concrete
classes."""

import os
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from itertools import chain, islice
from pathlib import Path

from goodbot.clock import SystemClock
from goodbot.config import (
    Settings,
)
from goodbot.errors import InputError
from goodbot.folder import SOFTWARE, CrawlFolder
from goodbot.index import TantivyIndex, prepare
from goodbot.ports import Ledger, Transport
from goodbot.robot.assembly import crawler_of
from goodbot.robot.batch import Batch
from goodbot.robot.crawler import Crawler
from goodbot.robot.guard import AddressGuard
from goodbot.robot.identity import identity_of
from goodbot.robot.messages import Setup
from goodbot.robot.owner import Owner
from goodbot.robot.rendering import Browser
from goodbot.robot.replay import replay
from goodbot.robot.scope import Scope
from goodbot.robot.seeding import Seeding, parse_seeds, typed_seeds
from goodbot.robot.signing import signer_of
from goodbot.robot.steward import Steward
from goodbot.robot.tap import Tap
from goodbot.settings_file import (
    save_settings,
)
from goodbot.store.control import ControlFolder
from goodbot.store.frontier import SqliteFrontier
from goodbot.store.seeds import SeedSpool
from goodbot.store.token import make_token
from goodbot.store.warc import WarcArchive
from goodbot.store.warc_record import encode_capture
from goodbot.url import Url
from goodbot.values import Discovery, Outcome, Status, UrlRecord

SEEDS_AT_ONCE = 10_000


# ---- crawling -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Crawl:
    """A crawl that is open: its loop, its numbers, its seeds. `damage`: what was found wrong in its archive when what a
    kill has left was put in order."""

    crawler: Crawler | Owner
    steward: Steward
    ledger: Ledger
    settings: Settings
    replayed: int
    damage: Sequence[str]
    seeds: Callable[[], Iterable[Url]]

    def failed_seed(self) -> UrlRecord | None:
        """The first seed if every one of them failed; else None."""
        first = None
        for seed in self.seeds():
            record = self.ledger.record(seed)
            if record is not None and record.state != "failed":
                return None
            first = first or record
        return first

    def status(self) -> Status:
        """The crawl in numbers."""
        return self.ledger.status()


@asynccontextmanager
async def open_crawl(
    path: Path,
    settings: Settings,
    observe: Callable[[Outcome], None] = lambda outcome: None,
    listed: SeedSpool | None = None,
    revisit_until: float | None = None,
    tap: Tap | None = None,
) -> AsyncIterator[Crawl]:
    """A crawl in `path`, begun or resumed with `settings`, whose seeds include those of before. `listed`: more seeds,
    already checked. `revisit_until`: what was visited and is due again by then is asked for again; infinity: always,
    None: nothing is. With a `tap` its pages go to a program, and there is one process."""
    parts = path, settings, observe, listed, revisit_until, tap
    async with _browsing(settings) as browser, _opened(*parts, browser) as crawl:
        yield crawl


@asynccontextmanager
async def _browsing(settings: Settings) -> AsyncIterator[Browser | None]:
    """The browser that renders, if pages are to be rendered. Raises InputError, saying what to install, if it cannot be
    had. Playwright is loaded here and not before: it takes 0.2 s."""
    if not settings.render:
        yield None
        return
    try:
        from goodbot.robot.chromium import open_chromium  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise InputError("rendering needs Playwright: pip install 'goodbot[render]'") from error
    identity = identity_of(settings, version("goodbot"))
    browser = await open_chromium(settings.render_executable, identity.user_agent)
    try:
        yield browser
    finally:
        await browser.close()


@asynccontextmanager
async def _opened(
    path: Path,
    settings: Settings,
    observe: Callable[[Outcome], None],
    listed: SeedSpool | None,
    revisit_until: float | None,
    tap: Tap | None,
    browser: Browser | None,
) -> AsyncIterator[Crawl]:
    typed, networks = typed_seeds(settings)
    identity = identity_of(settings, version("goodbot"))
    signer_of(settings)  # a key that cannot be used is told before anything is made
    folder = CrawlFolder(path)
    same_answers = _answers_asked_for(folder.settings(Settings())) == _answers_asked_for(settings)

    def seeds() -> Iterable[Url]:
        return chain(typed, folder.seeds)

    folder.create()
    clock = SystemClock()
    frontier = SqliteFrontier.open(
        folder.frontier, create=True, now=clock.now, host_pages=settings.host_pages, revisit_until=revisit_until
    )
    archive = index = transport = None
    control = ControlFolder(path)

    def observed(outcome: Outcome) -> None:
        steward.observe(outcome)
        observe(outcome)

    try:
        control.attend()
        make_token(path)
        save_settings(folder.settings_file, settings)
        if settings.archive:
            archive = WarcArchive(folder.warc, clock, SOFTWARE, size_limit_bytes=settings.warc_size)
        index = TantivyIndex(folder.index) if settings.index else None
        folder.seeds.take(listed)
        guard = AddressGuard({*networks, *Seeding(settings).networks(folder.seeds)})
        scope = Scope(settings, seeds(), guard)
        replayed = _catch_up(settings, identity.token, frontier, archive, index)
        reconsider(folder.frontier, frontier, scope, same_answers)
        add_seeds(frontier, scope, chain(typed, folder.seeds.new()), same_answers)
        folder.seeds.settle()
        workers = workers_of(settings, seeds()) if tap is None else 1
        batch = Batch(frontier, frontier, archive, index, clock, observed, courtesies=frontier)
        encode, prepared = encode_capture if archive else None, prepare if index else None
        setup = Setup(settings, identity, guard, scope, encode, prepared)
        crawler, transport = _run_by(workers, setup, frontier, batch, clock, tap, browser)
        steward = Steward(
            crawler,
            wishes=control,
            frontier=frontier,
            refuse=scope.refuse,
            to_fetch=frontier.to_fetch,
            bar=frontier.bar_host,
            workers=workers,
            clock=clock,
            again=partial(_again, frontier) if revisit_until is not None else None,
        )
        damage = archive.damage if archive else ()
        yield Crawl(crawler, steward, frontier, settings, replayed, damage, seeds)
        remove_hosts(frontier, archive, index)
    finally:
        if transport is not None:
            await transport.close()
        for part in (index, archive, frontier, control):
            if part is not None:
                part.close()


def _run_by(
    workers: int,
    setup: Setup,
    frontier: SqliteFrontier,
    batch: Batch,
    clock: SystemClock,
    tap: Tap | None,
    browser: Browser | None,
) -> tuple[Crawler | Owner, Transport | None]:
    """What runs the crawl: an owner of several processes, or the loop itself, with its transport to be closed."""
    if workers > 1:
        owner = Owner(
            setup.settings,
            workers,
            setup=setup,
            frontier=frontier,
            robots=frontier,
            batch=batch,
            clock=clock,
            lessons=frontier,
        )
        return owner, None
    if tap is None:
        return crawler_of(setup, frontier, batch, frontier, clock, browser, lessons=frontier)
    fitted = tap.fitted(batch, frontier, clock)
    tapped = replace(setup, encode=tap.encoding(setup.encode))
    return crawler_of(tapped, fitted, fitted, frontier, clock, browser, lessons=frontier)


def _again(ledger: Ledger) -> tuple[int, float | None]:
    """How many pages are asked for again some time, and when the first is."""
    status = ledger.status()
    return status.pages, status.next_ready_at


def _catch_up(
    settings: Settings,
    token: str,
    frontier: SqliteFrontier,
    archive: WarcArchive | None,
    index: TantivyIndex | None,
) -> int:
    """Does what a run that was killed has left: hosts to be removed, pages to be indexed; gives how many of these."""
    remove_hosts(frontier, archive, index)
    return replay(settings, token, frontier, archive, index) if index is not None else 0


def remove_hosts(frontier: SqliteFrontier, archive: WarcArchive | None, index: TantivyIndex | None) -> None:
    """Takes out what is kept of the hosts that are to be forgotten."""
    for host in frontier.hosts_to_remove():
        remove_host(host, frontier, archive, index)


def remove_host(
    host: str, frontier: SqliteFrontier, archive: WarcArchive | None, index: TantivyIndex | None
) -> tuple[int, int]:
    """Takes out what is kept of a host that the frontier bars; gives how many URLs and how many captures.

    The frontier comes last: it knows what the index may hold, and that all this is to be done again after a kill. Then
    index and frontier are written anew, without what free room in their files still holds.
    """
    if index is not None:
        leaving = (url for url in frontier.leaving() if url.host_key == host)
        for url in chain(frontier.visited_on(host), leaving):
            index.remove(url.text)
        index.commit()
    captures = archive.forget(host) if archive is not None else 0
    urls = frontier.remove_host(host)
    if index is not None:
        index.purge()
    frontier.purge()
    return urls, captures


def workers_of(settings: Settings, seeds: Iterable[Url]) -> int:
    """How many robot processes a crawl gets: as many as there are cores unless it is said; never more than hosts, where
    the scope bounds those, since each host belongs to one."""
    wanted = 1 if settings.render else settings.workers or os.cpu_count() or 1
    if settings.scope not in ("page", "prefix", "host"):
        return wanted
    hosts: set[str] = set()
    for seed in seeds:
        hosts.add(seed.host_key)
        if len(hosts) >= wanted:
            break
    return max(len(hosts), 1)


def reconsider(file: Path, frontier: SqliteFrontier, scope: Scope, same_answers: bool) -> None:
    """Takes up what the scope lets in now. What was fetched and refused for its type or size is not fetched again, if
    these bounds are what they were."""
    with SqliteFrontier.open(file, read_only=True) as before:

        def judge(url: Url, depth: int) -> str | None:
            return scope.refuse(url, depth) or (_settled(before, url) if same_answers else None)

        frontier.reconsider(judge)


def _answers_asked_for(settings: Settings) -> tuple[object, ...]:
    return settings.types, settings.max_size


def _settled(ledger: Ledger, url: Url) -> str | None:
    """Why the answer of a URL was refused for its type or size; None if it was not."""
    record = ledger.record(url)
    return record.why if record and record.state == "out-of-scope" and record.status is not None else None


def add_seeds(frontier: SqliteFrontier, scope: Scope, seeds: Iterable[Url], same_answers: bool) -> None:
    """Makes seeds known, `SEEDS_AT_ONCE` in a transaction; the globs may leave out those of a list. As in `reconsider`,
    what was fetched and refused for its type or size is not fetched again if these bounds are what they were."""
    settled = same_answers and frontier.status().states["out-of-scope"] > 0

    def refusal(seed: Url) -> str | None:
        return scope.refuse(seed, 0) or (_settled(frontier, seed) if settled else None)

    found = (Discovery(seed, 0, refused=refusal(seed)) for seed in seeds)
    while batch := list(islice(found, SEEDS_AT_ONCE)):
        frontier.add(batch)


def new_settings(
    folder: CrawlFolder, base: Settings, options: dict[str, object], seeds: Iterable[str], *, listed: bool = False
) -> Settings:
    """What is asked of a crawl: `base`, then what the folder remembers, then `options` that were given. `listed`: there
    are seeds in a file. Raises InputError if there is no seed, and for a wrong bound or a seed out of bounds."""
    seeds = tuple(seeds)
    settings = folder.settings(base)
    together = tuple(dict.fromkeys([*settings.seeds, *seeds]))
    if not (together or listed or folder.seeds):
        raise InputError(f"no seed given, and no crawl in {folder.path} to resume")
    settings = replace(settings, seeds=together, **options)  # type: ignore[arg-type]
    scope = Scope(settings, (), AddressGuard())
    for seed in parse_seeds(seeds):
        scope.check_seed(seed)
    return settings
