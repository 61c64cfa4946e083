"""Fetches a robots.txt and follows its redirects. Each request waits for its host's turn, and one answer serves all
hosts that redirect to the same URL.

Up to `MAX_ROBOTS_REDIRECTS` redirects are followed at once (RFC 9309 §2.3.1.2). If one leads to a host that may not be
requested soon, the robot stops there and continues from there later.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from goodbot.config import Settings
from goodbot.exclusion import Verdict
from goodbot.exclusion.robotstxt.timing import Timing
from goodbot.exclusion.validity.freshness import LONGEST_FRESH_S, fresh_for_s, retry_after_s
from goodbot.lru import LruCache
from goodbot.ports import Clock, Transport
from goodbot.robot.manners.pace import Pace
from goodbot.robot.manners.politeness import Delay, Politeness
from goodbot.robot.manners.redirects import is_from_public, redirect_target
from goodbot.robot.manners.retries import ONCE_MORE
from goodbot.robot.manners.walled_answers import wall_of_answer
from goodbot.url import Url
from goodbot.values import Capture, Request, Response

MAX_ROBOTS_REDIRECTS: Final = 5
"""RFC 9309 §2.3.1.2: at least five consecutive redirects are followed."""
TURN_TIMEOUT_S: Final = 5.0
"""The longest wait for a host's turn: five times the usual delay of a public host. If it would be longer, a later check
of the robots.txt continues there."""
KEPT_BYTES: Final = 4 * 1024 * 1024
"""Bytes of answers kept for other hosts that redirect to the same URL; each answer counts 1 kB more than its body."""
MAX_STOPPED: Final = 10_000
"""Chains of redirects remembered for continuing later; beyond this, a chain begins again with its first request."""

RobotsKey = tuple[Url, bool]
"""A URL, and whether only public addresses may be connected to for it."""


@dataclass(frozen=True, slots=True)
class NotFollowed:
    """Why a redirect is not followed: a kind for `Access.from_failure`, and a clause. `until`: when it may be tried
    again, if this is no failure."""

    kind: str
    detail: str
    until: float | None = None


@dataclass(frozen=True, slots=True)
class FetchedRobots:
    """The result of fetching a robots.txt.

    `last`: the last answer of the chain; `delay`: that of the robots.txt's own host, if it answered just now;
    `from_public`: at least one of the hosts that answered is public."""

    last: Capture | NotFollowed
    delay: Delay | None
    from_public: bool


@dataclass(frozen=True, slots=True)
class _Stop:
    """Where a chain of redirects stopped."""

    at: Url
    redirects: int
    from_public: bool
    since: float


@dataclass(frozen=True, slots=True)
class _Kept:
    capture: Capture
    until: float


Judge = Callable[[RobotsKey, Url, bool, int], Awaitable[NotFollowed | None]]
"""Returns why a redirect is not followed, or None. Called with the chain that waits, the URL it leads to, whether that
must be public, and the level of the chain."""


class RobotsRedirects:
    """Follows the redirects of robots.txt files. `timing` returns what is known of a URL's host, `judge` gives the
    verdict for a redirect, `keep` receives each capture made here. Bounded memory."""

    def __init__(
        self,
        settings: Settings,
        token: str,
        transport: Transport,
        clock: Clock,
        pace: Pace,
        *,
        judge: Judge,
        timing: Callable[[Url], Timing],
        keep: Callable[[Capture], object],
        turn_timeout_s: float,
    ) -> None:
        self._settings = settings
        self._token = token
        self._transport = transport
        self._clock = clock
        self._pace = pace
        self._judge = judge
        self._timing = timing
        self._keep = keep
        self._turn_timeout_s = turn_timeout_s
        self._politeness = Politeness(settings)
        self._kept: LruCache[RobotsKey, _Kept] = LruCache(limit_bytes=KEPT_BYTES, weigh=_weight)
        self._stopped: dict[RobotsKey, _Stop] = {}
        self._under_way: dict[RobotsKey, asyncio.Task[tuple[Capture | NotFollowed, Delay | None]]] = {}
        self._postponed: LruCache[RobotsKey, bool] = LruCache(MAX_STOPPED)

    async def follow(self, start: Url, public_only: bool, level: int) -> FetchedRobots:
        """Fetches the robots.txt at `start`. `level`: how many others wait for it because they redirect there."""
        chain = start, public_only
        at, redirects, from_public = self._where_it_stopped(chain)
        delay = None
        while True:
            only = public_only or from_public
            trouble = await self._judge(chain, at, only, level) if redirects else None
            got, new = (trouble, None) if trouble else await self._answer((at, only), is_redirect=redirects > 0)
            if isinstance(got, NotFollowed):
                if redirects and got.until is not None and len(self._stopped) < MAX_STOPPED:
                    self._stopped[chain] = _Stop(at, redirects, from_public, self._clock.now())
                return FetchedRobots(got, delay, from_public)
            if new is not None and at.host_key == start.host_key:
                delay = new
            from_public = from_public or is_from_public(got, self._settings)
            onward = redirect_target(got)
            if onward is None or redirects == MAX_ROBOTS_REDIRECTS:
                return FetchedRobots(got, delay, from_public)
            at, redirects = onward, redirects + 1

    def close(self) -> None:
        """Cancels the requests in flight."""
        for task in self._under_way.values():
            task.cancel()

    def _where_it_stopped(self, chain: RobotsKey) -> tuple[Url, int, bool]:
        """Returns where to continue, after how many redirects, and whether a public host has answered: the start of the
        chain, unless it was put off in the last 24 hours."""
        stop = self._stopped.pop(chain, None)
        if stop is None or self._clock.now() - stop.since > LONGEST_FRESH_S:
            return chain[0], 0, False
        return stop.at, stop.redirects, stop.from_public

    # ---- one answer -------------------------------------------------------------------------------------------------

    async def _answer(self, key: RobotsKey, *, is_redirect: bool) -> tuple[Capture | NotFollowed, Delay | None]:
        """Returns the answer that is kept, the one in flight, or a new one; and its host's delay if it is new."""
        if (kept := self._fresh(key)) is not None:
            return kept, None
        task = self._under_way.get(key)
        if is_new := task is None:
            task = self._under_way[key] = asyncio.create_task(self._request(*key, is_redirect))
            task.add_done_callback(lambda _: self._under_way.pop(key, None))
        got, delay = await asyncio.shield(task)
        if is_redirect and isinstance(got, Capture):
            self._remember(key, got)
        return got, delay if is_new else None

    async def _request(
        self, url: Url, public_only: bool, is_redirect: bool
    ) -> tuple[Capture | NotFollowed, Delay | None]:
        """Fetches a new answer. A status that calls for another try (`ONCE_MORE`) is followed by a second request, on a
        new connection; if that would have to wait too long, a later call sends it."""
        timing, key = self._timing(url), (url, public_only)
        until = self._pace.expected_at(url, timing, queue=is_redirect)
        if self._is_soon(until):
            async with self._pace.turn(url) as turn:
                is_last = self._postponed.pop(key) is not None
                while self._is_soon(until := turn.ready_at(timing)):
                    await turn.wait_until_ready(timing)
                    capture = await self._send(url, public_only, fresh=is_last)
                    delay = turn.answered(capture, timing)
                    if is_last or not _calls_for_retry(capture):
                        return capture, delay
                    is_last = True
                if is_last:
                    self._postponed.put(key, True)
        return self._held_off(url, until), None

    def _is_soon(self, until: float) -> bool:
        return until - self._clock.now() <= self._turn_timeout_s

    def _held_off(self, url: Url, until: float) -> NotFollowed:
        wait_s = until - self._clock.now()
        detail = f"robots.txt redirects to {url.host_key}, which gets no requests for"
        most_s = self._settings.retry_after_most
        if wait_s > most_s:
            return NotFollowed("host-rests", f"{detail} more than {most_s:g} s; a crawl does not wait that long")
        return NotFollowed("held-off", f"{detail} the next {wait_s:.0f} s", until)

    async def _send(self, url: Url, public_only: bool, *, fresh: bool) -> Capture:
        verdict = Verdict(
            allowed=True,
            line=None,
            rule=None,
            reason="robots.txt itself is always allowed",
            section="RFC 9309 2.2.2",
            url=url.text,
            agent=self._token,
        )
        capture = await self._transport.send(Request(url, verdict, public_only=public_only, fresh=fresh))
        if isinstance(capture.result, Response):
            self._keep(capture)
        return capture

    def _fresh(self, key: RobotsKey) -> Capture | None:
        kept = self._kept.get(key)
        return kept.capture if kept is not None and self._clock.now() < kept.until else None

    def _remember(self, key: RobotsKey, capture: Capture) -> None:
        if self._fresh(key) is capture:
            return
        self._kept.put(key, _Kept(capture, self._clock.now() + self._fresh_for_s(capture)))

    def _fresh_for_s(self, capture: Capture) -> float:
        """Returns how long an answer is fresh: as it says, 24 hours at most (RFC 9309 §2.4); a failed one, until the
        next try."""
        now = self._clock.now()
        pause_s = self._politeness.robots_pause_s(capture, 0)
        if not isinstance(capture.result, Response):
            return pause_s
        headers = capture.result.headers
        is_final = 200 <= capture.result.status < 500 and capture.result.status not in (202, 304, 402, 429)
        if is_final and wall_of_answer(capture) is None:
            return fresh_for_s(headers, now)
        return min(max(pause_s, retry_after_s(headers, now) or 0.0), LONGEST_FRESH_S)


def _calls_for_retry(capture: Capture) -> bool:
    return isinstance(capture.result, Response) and capture.result.status in ONCE_MORE


def _weight(kept: _Kept) -> int:
    return 1024 + (len(kept.capture.result.body) if isinstance(kept.capture.result, Response) else 0)
