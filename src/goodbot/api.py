"""goodbot in other people's programs: the public `Robot` and `crawl`, put together."""

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, TypedDict, Unpack

from goodbot.clock import SystemClock
from goodbot.config import ScopeKind, Settings
from goodbot.crawl_folder import CrawlFolder
from goodbot.errors import InputError, RunError
from goodbot.live import EndReason
from goodbot.page.webpage import WebPage
from goodbot.ports import Clock
from goodbot.robot.client.blocking import BlockingClient
from goodbot.robot.client.client import PATIENCE_S, Client
from goodbot.robot.client.page_stream import PageStream
from goodbot.robot.crawl.assembly import WorkerSetup, crawler_of, transport_of
from goodbot.robot.crawl.batch import Batch
from goodbot.robot.fetch.guard import AddressGuard, Network
from goodbot.robot.fetch.identity import Identity, identity_of
from goodbot.robot.fetch.signing import signer_of
from goodbot.robot.fetch.transport import CurlTransport
from goodbot.robot.scope.scope import Scope
from goodbot.robot.scope.seeding import parse_seeds, typed_seeds
from goodbot.store.memory.memory_frontier import MemoryFrontier
from goodbot.store.memory.memory_robots import MemoryRobots
from goodbot.url import Url, is_private_host
from goodbot.values import Capture, Discovery, FoundLinks, Outcome, Release, Response
from goodbot.wiring import FailedSeed, failed_seed, new_settings, open_crawl

ADMITTED_MOST: Final = 10_000
"""Origins of which it is remembered that they may be asked."""
KNOWN_MOST: Final = 1_000_000
"""URLs that a crawl in memory knows at most, some 700 MB; links found after that are left out."""
AT_ONCE: Final = 16
"""Requests of `crawl` in flight, where nothing else is said: each may bring 10 MiB into the memory of the program."""


class RobotOptions(TypedDict, total=False):
    """What a `Robot` can be told beside who it is; docs/library.md says what each means."""

    contact: str | None
    allow_private: bool
    delay: float | None
    patience_s: float
    resolve: Iterable[str]
    ca_file: str | None
    proxy: str | None
    settings: Settings
    clock: Clock


class Robot(Client):
    """A robot with manners, for a program that decides itself what to ask: `await robot.get(url)`.

    `agent` is its name, as `MyBot/1.0`; `contact`, a mail address or a URL, is where a site's owner reaches you. It
    obeys robots.txt, asks each host one thing at a time and lets it rest between, in however many tasks `get` is
    called. Connections are closed by `async with`, or `close`, or when the robot is forgotten. Raises InputError for a
    name or a setting that cannot be used; asking a public host without a contact raises it as well.
    """

    def __init__(self, agent: str, **options: Unpack[RobotOptions]) -> None:
        settings = _settings_of(agent, options)
        clock = options.get("clock") or SystemClock()
        with _worded():
            identity = identity_of(settings, version("goodbot"))
            signer_of(settings)
        self._own = settings
        self._guard = AddressGuard()
        self._admitted: set[str] = set()
        super().__init__(
            settings,
            identity.token,
            connect=lambda: self._transport(identity, clock),
            admit=self._admitting,
            store=MemoryRobots,
            clock=clock,
            patience_s=options.get("patience_s", PATIENCE_S),
        )

    @classmethod
    def blocking(cls, agent: str, **options: Unpack[RobotOptions]) -> BlockingClient:
        """The same for programs without asyncio: `robot.get(url)` waits, in any thread; `with`, or `close`, ends it."""
        return BlockingClient(cls(agent, **options))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def _transport(self, identity: Identity, clock: Clock) -> CurlTransport:
        with _worded():
            return transport_of(self._own, self._guard, identity, clock, signer_of(self._own))

    async def _admitting(self, url: Url) -> None:
        """Opens the private range of a URL the program names, if it may. A private one that may not be asked is for
        the guard to refuse: links lead anywhere."""
        if url.origin in self._admitted or (is_private_host(url.host) and not self._own.allow_private):
            return
        networks = await _admission(replace(self._own, seeds=(f"{url.origin}/",)))
        self._guard.open(networks)
        if len(self._admitted) >= ADMITTED_MOST:
            self._admitted.clear()
        self._admitted.add(url.origin)


def _settings_of(agent: str, options: RobotOptions) -> Settings:
    """Raises InputError for a setting out of bounds."""
    given: dict[str, Any] = {"agent": agent}
    for name in ("contact", "allow_private", "delay", "ca_file", "proxy"):
        if name in options:
            given[name] = options[name]
    if "resolve" in options:
        given["resolve"] = tuple(options["resolve"])
    return _with(options.get("settings", Settings()), given)


# ---- crawling -------------------------------------------------------------------------------------------------------


async def crawl(
    seeds: str | Iterable[str],
    *,
    contact: str | None = None,
    max_pages: int | None = None,
    depth: int | None = None,
    scope: ScopeKind | None = None,
    include: Iterable[str] = (),
    exclude: Iterable[str] = (),
    agent: str | None = None,
    allow_private: bool = False,
    delay: float | None = None,
    concurrency: int | None = None,
    resolve: Iterable[str] = (),
    into: str | Path | None = None,
    observe: Callable[[Outcome], None] = lambda outcome: None,
    settings: Settings | None = None,
) -> AsyncGenerator[WebPage]:
    """The pages of a crawl, as they come: `async for page in crawl("https://example.org/", contact=…)`.

    The options are those of `goodbot crawl`. A page counts as visited when the loop asks for the next one; while it
    does not, the crawl waits. Left by whatever way, the loop leaves nothing running. `observe` is told what became of
    every URL: refusals and failures are no pages. In memory, of at most `KNOWN_MOST` URLs; with `into`, a folder, it is
    kept there as `goodbot crawl --into` does it, and a second call resumes it. Raises InputError for what cannot be
    used, RunError if the disk fails, or at the end of the crawl if no seed could be fetched.
    """
    base = settings or Settings(concurrency=AT_ONCE)
    said: dict[str, Any] = {"contact": contact, "depth": depth, "scope": scope, "agent": agent, "delay": delay}
    said |= {"include": _several(include), "exclude": _several(exclude), "resolve": _several(resolve)}
    said |= {"allow_private": allow_private or None, "concurrency": concurrency}
    given = {name: value for name, value in said.items() if value not in (None, ())}
    named = _named(seeds)
    if max_pages is not None and not (isinstance(max_pages, int) and max_pages >= 1):
        raise InputError(f"max_pages must be at least 1: {max_pages!r}")
    tap = PageStream()
    opened = (
        _in_memory(base, given, named, tap, observe)
        if into is None
        else _in_folder(Path(into), base, given, named, tap, observe)
    )
    async with opened as (token, run, failing):
        running = asyncio.ensure_future(run(max_pages))
        running.add_done_callback(lambda _: tap.close())
        try:
            while (capture := await tap.first()) is not None:
                page = _page_of(capture, token)
                if page is not None:
                    yield page
                tap.take()
            ended = await running
            if ended == "finished" and (failed := failing()) is not None:
                raise RunError(f"no seed could be fetched: {failed.url}: {failed.why}")
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            tap.commit_all()


def _page_of(capture: Capture, token: str) -> WebPage | None:
    """None for a sitemap: what it lists are the pages, not the list."""
    if not isinstance(capture.result, Response):
        return None
    page = WebPage(capture.request.url.text, capture.result, capture.fetched_at, token)
    is_list = "html" not in page.response.media_type and page.listed and not (page.title or page.text)
    return None if is_list else page


Run = tuple[str, Callable[[int | None], Awaitable[EndReason]], Callable[[], FailedSeed | None]]
"""The product token a crawl goes by, the function that runs it (for at most so many pages), and one that returns a
failed seed if all seeds failed."""


@asynccontextmanager
async def _in_memory(
    base: Settings, given: dict[str, Any], named: Sequence[str], tap: PageStream, observe: Callable[[Outcome], None]
) -> AsyncIterator[Run]:
    settings = _with(base, {**given, "seeds": named, "index": False, "archive": False})
    if not named:
        raise InputError("no seed given")
    if settings.render:
        raise InputError("render is for a crawl that is kept: give it a folder (into)")
    with _worded():
        identity = identity_of(settings, version("goodbot"))
        for seed in parse_seeds(named):
            Scope(settings, (), AddressGuard()).check_seed(seed)
        await _admission(settings)
        seeds, networks = typed_seeds(settings)
    clock, guard = SystemClock(), AddressGuard(networks)
    scope = Scope(settings, seeds, guard)
    frontier = _BoundedFrontier(now=clock.now, host_pages=settings.host_pages, host_lists=settings.host_lists)
    frontier.add(Discovery(seed, 0, refused=scope.refuse(seed, 0)) for seed in seeds)
    tap.fitted(Batch(frontier, frontier, None, None, clock, observe), frontier, clock)
    setup = WorkerSetup(settings, identity, guard, scope, tap.encoding(None), None)
    with _worded():
        crawler, transport = crawler_of(setup, tap, tap, MemoryRobots(), clock, keeps_answers=True)
    tap.wake = crawler.wake
    try:
        yield identity.token, crawler.run, partial(failed_seed, seeds, frontier.record)
    finally:
        await transport.close()


@asynccontextmanager
async def _in_folder(
    path: Path,
    base: Settings,
    given: dict[str, Any],
    named: Sequence[str],
    tap: PageStream,
    observe: Callable[[Outcome], None],
) -> AsyncIterator[Run]:
    with _worded():
        settings = new_settings(CrawlFolder(path), base, given, named)
        token = identity_of(settings, version("goodbot")).token
        await _admission(settings)
    async with open_crawl(path, settings, observe, tap=tap) as opened:
        tap.wake = opened.crawler.wake
        yield token, lambda most: opened.steward.run(most, lambda line: None, lambda live: None), opened.failed_seed


class _BoundedFrontier(MemoryFrontier):
    """A frontier of at most `KNOWN_MOST` URLs, and those of one page; how a page was decided about is not kept."""

    def settle(
        self, outcomes: Sequence[Outcome], releases: Sequence[Release], found: Sequence[FoundLinks] = ()
    ) -> None:
        """See `Frontier.settle`."""
        super().settle([replace(outcome, links=(), events=()) for outcome in outcomes], ())
        for links, at in (*found, *((outcome.links, outcome.at) for outcome in outcomes)):
            if len(self._known) < KNOWN_MOST:
                self._discover(links, at, at)
        super().settle((), releases)


# ---- what programs say ----------------------------------------------------------------------------------------------


def _several(texts: Iterable[str]) -> tuple[str, ...]:
    """A text alone is one of them: its letters are none."""
    return (texts,) if isinstance(texts, str) else tuple(texts)


def _named(seeds: str | Iterable[str]) -> tuple[str, ...]:
    """Raises InputError for what is neither a URL nor several."""
    named = (seeds,) if isinstance(seeds, str) or not isinstance(seeds, Iterable) else tuple(seeds)
    for seed in named:
        if not isinstance(seed, str):
            raise InputError(f"a seed is the text of a URL, not {seed!r}")
    return named


async def _admission(settings: Settings) -> list[Network]:
    """The private ranges that the seeds open. Raises InputError for one that may not be asked, or not without a
    contact. A name is resolved in a thread, which ends with it."""
    with _worded():
        if not settings.allow_private or all(is_private_host(seed.host) for seed in parse_seeds(settings.seeds)):
            return typed_seeds(settings)[1]
        threads = ThreadPoolExecutor(1)
        try:
            _, networks = await asyncio.get_running_loop().run_in_executor(threads, typed_seeds, settings)
        finally:
            threads.shutdown(wait=False)
        return networks


def _with(settings: Settings, given: dict[str, Any]) -> Settings:
    with _worded():
        return replace(settings, **given)


@contextmanager
def _worded() -> Iterator[None]:
    """Writes the names of options as programs give them: `allow_private`, not `--allow-private`."""
    try:
        yield
    except InputError as error:
        text = re.sub(r"--([a-z]+(?:-[a-z]+)*)", lambda option: option[1].replace("-", "_"), str(error))
        raise InputError(text) from None
