"""Fetches what pages in a browser request: judged and paced like any page, and cached for other pages.

Every request of the process passes one gate (`PacedFetcher`), so the requests of pages and those of the crawl keep the
delay of each host together.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from weakref import WeakValueDictionary

from goodbot.config import Settings
from goodbot.exclusion import Directives
from goodbot.exclusion.robotstxt.timing import Timing
from goodbot.exclusion.validity.freshness import fresh_for_s
from goodbot.ports import Clock, Transport
from goodbot.robot.manners.pace import Pace, Turn
from goodbot.robot.manners.permission import Permission
from goodbot.robot.manners.politeness import NOTHING_ASKED
from goodbot.robot.manners.redirects import is_from_public, redirect_target
from goodbot.url import Url, is_private_host
from goodbot.values import Capture, Failure, Headers, Request, Response

DEFAULT_FRESH_S: Final = 600.0
"""How long an answer is reused if it does not state its freshness."""
CACHE_BYTES: Final = 64 * 1024 * 1024
"""Size of the cache; each answer counts as its body and 1 kB."""
MAX_CACHED_BYTES: Final = 4 * 1024 * 1024
"""A longer answer is not cached, but fetched for every page that requests it."""
MAX_REDIRECTS: Final = 5
"""Redirects followed in a row, each with a verdict of its own."""

_CacheKey = tuple[str, Headers, bool]
"""A URL, the header fields sent, and whether only public addresses were allowed: pages of public hosts never get an
answer of a private address from the cache."""


@dataclass(frozen=True, slots=True)
class RefusedResource:
    """Why a request of a page is not answered. `line`: the line of the robots.txt that forbids it."""

    reason: str
    line: int | None = None
    by_robots_txt: bool = False


@dataclass(frozen=True, slots=True)
class FetchedResource:
    """An answer, and when its host may be requested again (0 if the answer was cached). `from_public`: a public host
    sent it."""

    response: Response
    ready_at: float = 0.0
    from_public: bool = False


class PacedFetcher:
    """A `Transport` that delays each request until its host may be requested; hosts get one request at a time."""

    def __init__(self, transport: Transport, pace: Pace) -> None:
        self._transport = transport
        self._pace = pace

    async def send(self, request: Request) -> Capture:
        """See `Transport.send`. The caller has to keep the delay that robots.txt asks for."""
        async with self._pace.turn(request.url) as turn:
            capture, _ = await self._send(turn, request, NOTHING_ASKED)
            return capture

    async def send_before(self, request: Request, timing: Timing, until: float) -> tuple[Capture | None, float]:
        """Sends a request if its host may be requested before `until` (Unix seconds). Returns its result, None if it
        was not sent, and when the host may be requested again."""
        async with self._pace.turn(request.url) as turn:
            if (ready_at := turn.ready_at(timing)) > until:
                return None, ready_at
            return await self._send(turn, request, timing)

    async def _send(self, turn: Turn, request: Request, timing: Timing) -> tuple[Capture, float]:
        await turn.wait_until_ready(timing)
        capture = await self._transport.send(request)
        return capture, turn.answered(capture, timing).ready_at

    async def close(self) -> None:
        """See `Transport.close`."""
        await self._transport.close()


class Subresources:
    """Fetches what all pages of one crawl request. `keep` gets each capture made here, and whether the archive has to
    leave out its body."""

    def __init__(
        self,
        settings: Settings,
        token: str,
        permission: Permission,
        transport: PacedFetcher,
        clock: Clock,
        keep: Callable[[Capture, bool], object] = lambda capture, headers_only: None,
    ) -> None:
        self._token = token
        self._permission = permission
        self._transport = transport
        self._clock = clock
        self._keep = keep
        self._settings = settings
        self._cache: OrderedDict[_CacheKey, tuple[Capture, float]] = OrderedDict()
        self._cache_bytes = 0
        self._locks: WeakValueDictionary[_CacheKey, asyncio.Lock] = WeakValueDictionary()

    async def get(
        self, url: Url, headers: Headers, until: float, *, public_only: bool
    ) -> FetchedResource | RefusedResource:
        """Fetches `url` and follows its redirects. A request that may not be sent before `until` (Unix seconds) is
        refused. `public_only`: private addresses are refused, even allowed ones."""
        ready_at = 0.0
        for _ in range(MAX_REDIRECTS + 1):
            result = await self._fetch_one(url, headers, until, public_only)
            if isinstance(result, RefusedResource):
                return result
            capture, host_ready_at = result
            ready_at = max(ready_at, host_ready_at)
            if isinstance(capture.result, Failure):
                return RefusedResource(f"{capture.result.kind}: {capture.result.detail}")
            target = redirect_target(capture)
            if target is None:
                return FetchedResource(capture.result, ready_at, public_only or self.is_public(capture))
            url, public_only = target, public_only or self.is_public(capture)
        return RefusedResource(f"more than {MAX_REDIRECTS} redirects in a row")

    def is_public(self, capture: Capture) -> bool:
        """Whether a public host answered: then its page may not request private addresses. Behind a proxy
        this is unknown, and False."""
        return is_from_public(capture, self._settings)

    async def _fetch_one(
        self, url: Url, headers: Headers, until: float, public_only: bool
    ) -> tuple[Capture, float] | RefusedResource:
        if public_only and is_private_host(url.host):  # before its robots.txt is requested
            return RefusedResource(f"a public page requests the private address {url.host}")
        permit = await self._permission.check(url, public_only=public_only)
        if not permit.verdict.allowed:
            return RefusedResource(permit.verdict.reason, permit.verdict.line, by_robots_txt=True)
        key = (url.text, headers, public_only)
        async with self._locks.setdefault(key, asyncio.Lock()):
            if (known := self._cached(key)) is not None:
                return known, 0.0
            request = Request(url, permit.verdict, headers, public_only)
            capture, ready_at = await self._transport.send_before(request, permit.timing, until)
            if capture is None:
                return RefusedResource(f"its host may be requested again only in {ready_at - self._clock.now():.0f} s")
            self._store(key, capture)
            return capture, ready_at

    def _cached(self, key: _CacheKey) -> Capture | None:
        capture, until = self._cache.get(key, (None, 0.0))
        return capture if until > self._clock.now() else None

    def _store(self, key: _CacheKey, capture: Capture) -> None:
        if not isinstance(capture.result, Response):
            return
        self._keep(capture, not Directives.parse((), capture.result.headers, self._token).archive)
        if (before := self._cache.pop(key, None)) is not None:
            self._cache_bytes -= _weight(before[0])
        if capture.result.truncated or _weight(capture) > MAX_CACHED_BYTES:
            return
        now = self._clock.now()
        self._cache[key] = capture, now + fresh_for_s(capture.result.headers, now, DEFAULT_FRESH_S)
        self._cache_bytes += _weight(capture)
        while self._cache_bytes > CACHE_BYTES:
            _, (oldest, _) = self._cache.popitem(last=False)
            self._cache_bytes -= _weight(oldest)


def _weight(capture: Capture) -> int:
    return 1024 + (len(capture.result.body) if isinstance(capture.result, Response) else 0)
