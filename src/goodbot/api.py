"""Provides the public `Robot` and `crawl`, for programs that use goodbot as a library."""

import asyncio
import re
import threading
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
from goodbot.crawl_preparation import new_settings
from goodbot.errors import InputError, RunError
from goodbot.index import Refreshed, StoppedError
from goodbot.live import EndReason
from goodbot.page.webpage import WebPage
from goodbot.ports import Clock, Transport
from goodbot.robot.client.blocking import BlockingClient
from goodbot.robot.client.client import MAX_HOST_WAIT_S, Client
from goodbot.robot.client.page_stream import PageStream
from goodbot.robot.client.private_hosts import OthersPublicTransport, PrivateHosts
from goodbot.robot.crawl.assembly import WorkerSetup, crawler_of, transport_of
from goodbot.robot.crawl.batch import Batch
from goodbot.robot.fetch.guard import AddressGuard, Network
from goodbot.robot.fetch.identity import Identity, identity_of
from goodbot.robot.fetch.signing import signer_of
from goodbot.robot.scope.scope import Scope
from goodbot.robot.scope.seeding import guard_of, parse_seeds, typed_seeds
from goodbot.store.memory.memory_frontier import MemoryFrontier
from goodbot.store.memory.memory_robots import MemoryRobots
from goodbot.url import Url, is_private_host
from goodbot.values import Capture, Discovery, FoundLinks, Outcome, Release, Response
from goodbot.wiring import Crawl, FailedSeed, failed_seed, open_browser, open_crawl

MAX_ADMITTED: Final = 10_000
"""How many checked origins a `Robot` remembers."""
MAX_KNOWN: Final = 1_000_000
"""How many URLs a crawl in memory can know; they take about 700 MB. Links found after that are dropped."""
DEFAULT_CONCURRENCY: Final = 16
"""The default number of requests in flight of `crawl`: each may take 10 MiB of the program's memory."""


class RobotOptions(TypedDict, total=False):
    """The options of `Robot`; docs/library.md explains each."""

    contact: str | None
    allow_private: bool
    private_hosts: Iterable[str]
    delay: float | None
    patience_s: float
    resolve: Iterable[str]
    ca_file: str | None
    proxy: str | None
    settings: Settings
    clock: Clock


class Robot(Client):
    """A polite HTTP client for programs that choose the URLs themselves: `await robot.get(url)`.

    `agent` is the robot's name, such as `MyBot/1.0`. `contact` is a mail address or a URL where a site's owner can
    reach you. The robot obeys robots.txt and sends one request at a time to each host, with a delay in between, even if
    many tasks call `get`. With `private_hosts` (`HOST` or `HOST:PORT`), it requests these at private addresses, and all
    other hosts at public ones only. `async with` or `close` closes its connections, and so does garbage collection.
    Raises InputError for an invalid name or setting, and for a request to a public host without a contact.
    """

    def __init__(self, agent: str, **options: Unpack[RobotOptions]) -> None:
        settings = _settings_of(agent, options)
        clock = options.get("clock") or SystemClock()
        with _python_option_names():
            identity = identity_of(settings, version("goodbot"))
            signer_of(settings)
        self._own = settings
        hosts = options.get("private_hosts")
        self._private_hosts = None if hosts is None else PrivateHosts(_as_tuple(hosts))
        self._guard = guard_of(settings)
        self._admitted: set[str] = set()
        super().__init__(
            settings,
            identity.token,
            connect=lambda: self._transport(identity, clock),
            admit=self._admitting,
            store=MemoryRobots,
            clock=clock,
            patience_s=options.get("patience_s", MAX_HOST_WAIT_S),
            browse=partial(open_browser, settings),
        )

    @classmethod
    def blocking(cls, agent: str, **options: Unpack[RobotOptions]) -> BlockingClient:
        """Makes the same robot for programs without asyncio: `robot.get(url)` blocks, in any thread; `with` or `close`
        ends it."""
        return BlockingClient(cls(agent, **options))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def _transport(self, identity: Identity, clock: Clock) -> Transport:
        with _python_option_names():
            transport = transport_of(self._own, self._guard, identity, clock, signer_of(self._own))
        return transport if self._private_hosts is None else OthersPublicTransport(transport, self._private_hosts)

    async def _admitting(self, url: Url) -> None:
        """Allows requests to the private address range of a URL that the program requests, if the settings permit it.
        Otherwise the address guard refuses the request later, as it does for links."""
        may_be_private = self._own.allow_private if self._private_hosts is None else url in self._private_hosts
        if url.origin in self._admitted or (is_private_host(url.host) and not may_be_private):
            return
        settings = replace(self._own, seeds=(f"{url.origin}/",), allow_private=may_be_private)
        networks = await _private_networks(settings)
        self._guard.open(networks)
        if len(self._admitted) >= MAX_ADMITTED:
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
    """Yields the pages of a crawl as they are fetched: `async for page in crawl("https://example.org/", contact=…)`.

    The options are those of `goodbot crawl`. A page counts as visited when the loop requests the next one; until then
    the crawl waits. However the loop ends, nothing is left running. `observe` is called with the outcome of every URL,
    also with refusals and failures, which yield no page. Without `into` the crawl stays in memory and knows at most
    `MAX_KNOWN` URLs. With a folder `into` it is stored there as by `goodbot crawl --into`, and a second call resumes
    it. Raises InputError for invalid input; RunError if the disk fails, or, at the end, if no seed could be fetched.
    """
    base = settings or Settings(concurrency=DEFAULT_CONCURRENCY)
    options: dict[str, Any] = {"contact": contact, "depth": depth, "scope": scope, "agent": agent, "delay": delay}
    options |= {"include": _as_tuple(include), "exclude": _as_tuple(exclude), "resolve": _as_tuple(resolve)}
    options |= {"allow_private": allow_private or None, "concurrency": concurrency}
    given = {name: value for name, value in options.items() if value not in (None, ())}
    seed_texts = _seed_texts(seeds)
    if max_pages is not None and not (isinstance(max_pages, int) and max_pages >= 1):
        raise InputError(f"max_pages must be at least 1: {max_pages!r}")
    stream = PageStream()
    opened = (
        _in_memory(base, given, seed_texts, stream, observe)
        if into is None
        else _in_folder(Path(into), base, given, seed_texts, stream, observe)
    )
    async with opened as (token, run, failing):
        running = asyncio.ensure_future(run(max_pages))
        running.add_done_callback(lambda _: stream.close())
        try:
            while (capture := await stream.first()) is not None:
                page = _page_of(capture, token)
                if page is not None:
                    yield page
                stream.take()
            ended = await running
            if ended == "finished" and (failed := failing()) is not None:
                raise RunError(f"no seed could be fetched: {failed.url}: {failed.why}")
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            stream.commit_all()


def _page_of(capture: Capture, token: str) -> WebPage | None:
    """Returns the page to yield; None for a sitemap, which only lists pages."""
    if not isinstance(capture.result, Response):
        return None
    page = WebPage(capture.request.url.text, capture.result, capture.fetched_at, token)
    is_list = "html" not in page.response.media_type and page.listed and not (page.title or page.text)
    return None if is_list else page


Run = tuple[str, Callable[[int | None], Awaitable[EndReason]], Callable[[], FailedSeed | None]]
"""The crawl's product token, a function that runs it (for at most so many pages), and one that returns a failed seed if
all seeds failed."""


@asynccontextmanager
async def _in_memory(
    base: Settings, given: dict[str, Any], texts: Sequence[str], stream: PageStream, observe: Callable[[Outcome], None]
) -> AsyncIterator[Run]:
    settings = _with(base, {**given, "seeds": texts, "index": False, "archive": False, "archive_to": None})
    if not texts:
        raise InputError("no seed given")
    if settings.render:
        raise InputError("render needs a stored crawl: give a folder (into)")
    with _python_option_names():
        identity = identity_of(settings, version("goodbot"))
        for seed in parse_seeds(texts):
            Scope(settings, (), AddressGuard()).check_seed(seed)
        await _private_networks(settings)
        seeds, networks = typed_seeds(settings)
    clock, guard = SystemClock(), guard_of(settings, networks)
    scope = Scope(settings, seeds, guard)
    frontier = _BoundedFrontier(now=clock.now, host_pages=settings.host_pages, host_lists=settings.host_lists)
    frontier.add(Discovery(seed, 0, refused=scope.refuse(seed, 0)) for seed in seeds)
    stream.fitted(Batch(frontier, frontier, None, None, clock, observe), frontier)
    setup = WorkerSetup(settings, identity, guard, scope, stream.encoding(None), None)
    with _python_option_names():
        crawler, transport = crawler_of(setup, stream, stream, MemoryRobots(), clock, keeps_answers=True)
    stream.wake = crawler.wake
    try:
        yield identity.token, crawler.run, partial(failed_seed, seeds, frontier.record)
    finally:
        await transport.close()


@asynccontextmanager
async def _in_folder(
    path: Path,
    base: Settings,
    given: dict[str, Any],
    texts: Sequence[str],
    stream: PageStream,
    observe: Callable[[Outcome], None],
) -> AsyncIterator[Run]:
    with _python_option_names():
        settings = new_settings(CrawlFolder(path), base, given, texts)
        token = identity_of(settings, version("goodbot")).token
        await _private_networks(settings)
    async with open_crawl(path, settings, observe, stream=stream) as opened:
        stream.wake = opened.crawler.wake
        yield token, partial(_run, opened), opened.failed_seed


async def _run(opened: Crawl, most: int | None) -> EndReason:
    """Runs a stored crawl, and brings the link texts of its index up to date in a thread, which ends early if the loop
    over the pages does; so does moving the last files of its archive."""
    ended = await opened.supervisor.run(most, lambda line: None, lambda live: None)
    stopped = threading.Event()

    def watch(state: Refreshed) -> None:
        if stopped.is_set() and not state.finished:
            raise StoppedError

    try:
        await asyncio.to_thread(opened.refresh, watch)
        if opened.archive is not None:
            await asyncio.to_thread(opened.archive.move_rest, lambda done, size: None, stopped.is_set)
    finally:
        stopped.set()
    return ended


class _BoundedFrontier(MemoryFrontier):
    """A frontier that stops taking links at `MAX_KNOWN` URLs, and keeps no events."""

    def settle(
        self, outcomes: Sequence[Outcome], releases: Sequence[Release], found: Sequence[FoundLinks] = ()
    ) -> list[int]:
        """See `Frontier.settle`."""
        rejected = super().settle([replace(outcome, links=(), events=()) for outcome in outcomes], ())
        for links, at in (*found, *((outcome.links, outcome.at) for outcome in outcomes)):
            if len(self._known) < MAX_KNOWN:
                self._discover(links, at, at)
        super().settle((), releases)
        return rejected


# ---- arguments ------------------------------------------------------------------------------------------------------


def _as_tuple(texts: Iterable[str]) -> tuple[str, ...]:
    """Makes a tuple of one text or of several."""
    return (texts,) if isinstance(texts, str) else tuple(texts)


def _seed_texts(seeds: str | Iterable[str]) -> tuple[str, ...]:
    """Makes a tuple of one seed or of several. Raises InputError for anything but texts."""
    texts = (seeds,) if isinstance(seeds, str) or not isinstance(seeds, Iterable) else tuple(seeds)
    for seed in texts:
        if not isinstance(seed, str):
            raise InputError(f"a seed is the text of a URL, not {seed!r}")
    return texts


async def _private_networks(settings: Settings) -> list[Network]:
    """Returns the private address ranges that the seeds allow. Raises InputError for a seed that may not be requested,
    or that needs a contact. Names are resolved in a thread of their own."""
    with _python_option_names():
        if not settings.allow_private or all(is_private_host(seed.host) for seed in parse_seeds(settings.seeds)):
            return typed_seeds(settings)[1]
        threads = ThreadPoolExecutor(1)
        try:
            _, networks = await asyncio.get_running_loop().run_in_executor(threads, typed_seeds, settings)
        finally:
            threads.shutdown(wait=False)
        return networks


def _with(settings: Settings, given: dict[str, Any]) -> Settings:
    with _python_option_names():
        return replace(settings, **given)


@contextmanager
def _python_option_names() -> Iterator[None]:
    """Writes option names in error messages as Python does: `allow_private`, not `--allow-private`."""
    try:
        yield
    except InputError as error:
        text = re.sub(r"--([a-z]+(?:-[a-z]+)*)", lambda option: option[1].replace("-", "_"), str(error))
        raise InputError(text) from None
