"""What a page in a browser asks for: judged, paced and fetched like any page, and kept a while for the next page.

Every request of the process goes through one gate (`PacedFetcher`), so that a page's own requests and those of the
crawl keep their distance from each other, whichever host they go to.
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

FRESH_S: Final = 600.0
"""For how long an answer is used again that does not say itself."""
KEPT_BYTES: Final = 64 * 1024 * 1024
"""Of answers kept for the next page, each counted with 1 kB for itself."""
KEPT_MOST: Final = 4 * 1024 * 1024
"""Bytes of one answer kept; a longer one is fetched for every page that asks."""
HOPS: Final = 5
"""Redirects in a row that are followed, each with a verdict of its own."""

_Key = tuple[str, Headers, bool]
"""A URL, what was sent with it, and whether only public addresses were asked: what is inside stays inside."""


@dataclass(frozen=True, slots=True)
class RefusedResource:
    """Why a request of a page is not answered. `line`: that of the robots.txt that forbids it."""

    reason: str
    line: int | None = None
    by_robots_txt: bool = False


@dataclass(frozen=True, slots=True)
class FetchedResource:
    """An answer, and when its host may be asked again (0 if it was not asked). `from_public`: a public host gave it."""

    response: Response
    ready_at: float = 0.0
    from_public: bool = False


class PacedFetcher:
    """A Transport that lets each request wait for its host's rest, and one at a time through."""

    def __init__(self, transport: Transport, pace: Pace) -> None:
        self._transport = transport
        self._pace = pace

    async def send(self, request: Request) -> Capture:
        """See `Transport.send`. Who sends it keeps what robots.txt asks."""
        async with self._pace.turn(request.url) as turn:
            capture, _ = await self._send(turn, request, NOTHING_ASKED)
            return capture

    async def ask(self, request: Request, timing: Timing, until: float) -> tuple[Capture | None, float]:
        """What came of it, and when the host may be asked again; nothing is sent if it rests beyond `until`."""
        async with self._pace.turn(request.url) as turn:
            if (ready_at := turn.ready_at(timing)) > until:
                return None, ready_at
            return await self._send(turn, request, timing)

    async def _send(self, turn: Turn, request: Request, timing: Timing) -> tuple[Capture, float]:
        await turn.rested(timing)
        capture = await self._transport.send(request)
        return capture, turn.answered(capture, timing).ready_at

    async def close(self) -> None:
        """See `Transport.close`."""
        await self._transport.close()


class Subresources:
    """The requests of all pages of one crawl. `keep` is handed each capture made here, and whether its body is to be
    withheld from the archive."""

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
        self._kept: OrderedDict[_Key, tuple[Capture, float]] = OrderedDict()
        self._kept_bytes = 0
        self._locks: WeakValueDictionary[_Key, asyncio.Lock] = WeakValueDictionary()

    async def get(
        self, url: Url, headers: Headers, until: float, *, public_only: bool
    ) -> FetchedResource | RefusedResource:
        """The answer to a GET of `url`, where its redirects lead. `until` (Unix seconds): what cannot be asked for
        before then is refused. `public_only`: no private address is asked, opened or not."""
        ready_at = 0.0
        for _ in range(HOPS + 1):
            got = await self._one(url, headers, until, public_only)
            if isinstance(got, RefusedResource):
                return got
            capture, rested_at = got
            ready_at = max(ready_at, rested_at)
            if isinstance(capture.result, Failure):
                return RefusedResource(f"{capture.result.kind}: {capture.result.detail}")
            target = redirect_target(capture)
            if target is None:
                return FetchedResource(capture.result, ready_at, public_only or self.is_public(capture))
            url, public_only = target, public_only or self.is_public(capture)
        return RefusedResource(f"more than {HOPS} redirects in a row")

    def is_public(self, capture: Capture) -> bool:
        """Whether a public host answered: what it asks for may not be inside. A proxy's address tells nothing."""
        return is_from_public(capture, self._settings)

    async def _one(
        self, url: Url, headers: Headers, until: float, public_only: bool
    ) -> tuple[Capture, float] | RefusedResource:
        if public_only and is_private_host(url.host):  # before its robots.txt is asked for
            return RefusedResource(f"a public page asks for the private address {url.host}")
        permit = await self._permission.check(url, public_only=public_only)
        if not permit.verdict.allowed:
            return RefusedResource(permit.verdict.reason, permit.verdict.line, by_robots_txt=True)
        key = (url.text, headers, public_only)
        async with self._locks.setdefault(key, asyncio.Lock()):
            if (known := self._known(key)) is not None:
                return known, 0.0
            request = Request(url, permit.verdict, headers, public_only)
            capture, ready_at = await self._transport.ask(request, permit.timing, until)
            if capture is None:
                return RefusedResource(f"its host may be requested again only in {ready_at - self._clock.now():.0f} s")
            self._remember(key, capture)
            return capture, ready_at

    def _known(self, key: _Key) -> Capture | None:
        capture, until = self._kept.get(key, (None, 0.0))
        return capture if until > self._clock.now() else None

    def _remember(self, key: _Key, capture: Capture) -> None:
        if not isinstance(capture.result, Response):
            return
        self._keep(capture, not Directives.parse((), capture.result.headers, self._token).archive)
        if (before := self._kept.pop(key, None)) is not None:
            self._kept_bytes -= _weight(before[0])
        if capture.result.truncated or _weight(capture) > KEPT_MOST:
            return
        now = self._clock.now()
        self._kept[key] = capture, now + fresh_for_s(capture.result.headers, now, FRESH_S)
        self._kept_bytes += _weight(capture)
        while self._kept_bytes > KEPT_BYTES:
            _, (oldest, _) = self._kept.popitem(last=False)
            self._kept_bytes -= _weight(oldest)


def _weight(capture: Capture) -> int:
    return 1024 + (len(capture.result.body) if isinstance(capture.result, Response) else 0)
