"""A gate before every host: who wants to ask it waits, first come, first served, until the host has rested.

For programs of several tasks that each ask what they like (`Robot`, a page's own requests). A crawl leases hosts.
"""

import asyncio
import heapq
import math
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from goodbot.config import Settings
from goodbot.exclusion import CLOCK_BACK_S
from goodbot.exclusion.robotstxt.timing import Timing
from goodbot.ports import Clock, Transport
from goodbot.robot.manners.politeness import NOTHING_ASKED, Delay, Politeness, asked_gap_s, opens_at
from goodbot.robot.manners.shared_addresses import SharedAddresses
from goodbot.url import Url, is_private_host
from goodbot.values import Capture, Failure, Request

HOSTS_MOST: Final = 50_000
"""Hosts remembered; beyond, those that are rested first are forgotten, but none that somebody waits for."""


@dataclass(slots=True)
class _Host:
    """`taken` are the turns given out, of which there are at most `lanes`: more than one only where the last answer
    asked for no rest."""

    ready_at: float = 0.0
    answered_at: float = float("-inf")
    backoff_s: float = 0.0
    backed_off_at: float = 0.0
    taken: int = 0
    lanes: int = 1
    waiting: deque[asyncio.Future[None]] = field(default_factory=deque)

    def may_be_asked_at(self, timing: Timing, now: float) -> float:
        """When the host may be asked whose robots.txt says `timing`: now or later. What it answered in the future, by
        a clock that was set back, it answered just now."""
        if (ahead_s := self.answered_at - now) > CLOCK_BACK_S:
            self.ready_at, self.answered_at = self.ready_at - ahead_s, now
        return opens_at(timing, max(now, self.ready_at, self.answered_at + asked_gap_s(timing, now)))

    async def enter(self, *, again: bool = False) -> None:
        """Waits for a turn; `again`: before all others."""
        if not self.waiting and self.taken < self.lanes:
            self.taken += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        (self.waiting.appendleft if again else self.waiting.append)(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # it was given just now
                self.leave()
            elif turn in self.waiting:
                self.waiting.remove(turn)
            raise

    def leave(self) -> None:
        """Gives a turn back; lets in as many as there is room for."""
        self.taken -= 1
        while self.waiting and self.taken < self.lanes:
            turn = self.waiting.popleft()
            if not turn.done():  # else cancelled, and not awake yet
                self.taken += 1
                turn.set_result(None)


class Pace:
    """Keeps the gaps of `Politeness` for every host, and a pause between public hosts that share an address.

    At most `settings.per_host` requests are in flight to one host, and more than one only where it asks for no rest.
    What is kept of hosts is bounded by `HOSTS_MOST`, and by how many are waited for.
    """

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._politeness = Politeness(settings)
        self._addresses = SharedAddresses(settings.address_delay)
        self._hosts: dict[str, _Host] = {}

    @asynccontextmanager
    async def turn(self, url: Url) -> AsyncIterator["Turn"]:
        """Our turn at the host of `url`, once those before us had theirs.

        Within it, for each request: `await turn.rested(timing)`, send, `turn.answered(capture, timing)`. Who takes a
        second turn at the same host meanwhile waits for himself.
        """
        turn = Turn(self, self._host(url.host_key), url)
        await turn._begin()
        try:
            yield turn
        finally:
            turn._end()

    def ready_at(self, host: str, timing: Timing = NOTHING_ASKED) -> float:
        """When a host (`Url.host_key`) whose robots.txt says `timing` may be requested again, by what it answered so
        far; 0 if nothing is known."""
        known = self._hosts.get(host)
        return known.may_be_asked_at(timing, self._clock.now()) if known is not None else 0.0

    def resume(self, host: str, backoff_s: float) -> None:
        """Takes the back-off of a host that an earlier run, or another process, has left; unless more is known here."""
        if host not in self._hosts and backoff_s:
            self._host(host).backoff_s = backoff_s

    def backoff_s(self, host: str) -> float:
        """What the trouble of a host (`Url.host_key`) adds to every delay now, in seconds."""
        known = self._hosts.get(host)
        return known.backoff_s if known is not None else 0.0

    def expected_at(self, url: Url, timing: Timing, *, queue: bool) -> float:
        """When one more may ask the host of `url` whose robots.txt says `timing`: now or later, in Unix seconds.
        `queue`: after those that have a turn or wait for one, at the least gap each."""
        now, host = self._clock.now(), self._hosts.get(url.host_key, _Host())
        ready_at, private = host.may_be_asked_at(timing, now), is_private_host(url.host)
        gap_s = self._politeness.gap_s(private=private, elapsed_s=0.0, asked_s=asked_gap_s(timing, now))
        return ready_at + (gap_s * (host.taken + len(host.waiting)) if queue else 0.0)

    def _host(self, name: str) -> _Host:
        host = self._hosts.get(name)
        if host is None:
            if len(self._hosts) >= HOSTS_MOST:
                self._forget()
            host = self._hosts[name] = _Host()
        return host

    def _forget(self) -> None:
        """An eighth of all, so that it is looked for seldom."""
        idle = ((host.ready_at, name) for name, host in self._hosts.items() if not (host.taken or host.waiting))
        for _, name in heapq.nsmallest(HOSTS_MOST // 8, idle):
            del self._hosts[name]


class Turn:
    """One turn at one host, from `Pace.turn`."""

    def __init__(self, pace: Pace, host: _Host, url: Url) -> None:
        self._pace = pace
        self._clock = pace._clock
        self._host = host
        self._url = url
        self._holds = False
        self._asking: tuple[str, Timing] | None = None

    def ready_at(self, timing: Timing = NOTHING_ASKED) -> float:
        """When the host may be asked whose robots.txt says `timing`: now or later, in Unix seconds."""
        return self._ready_at(timing, self._clock.now())

    def _ready_at(self, timing: Timing, now: float) -> float:
        return self._host.may_be_asked_at(timing, now)

    async def rested(self, timing: Timing = NOTHING_ASKED, patience_s: float = math.inf) -> float | None:
        """Waits until the host may be requested, which has to be done at once then, and returns None. If that is more
        than `patience_s` away, returns the time (Unix seconds), and nothing may be requested."""
        self._asked_in_vain()
        host, addresses = self._host, self._pace._addresses
        while True:
            if asked_gap_s(timing, self._clock.now()):
                host.lanes = 1
            if host.taken > host.lanes:  # only one at a time can keep a distance
                self._leave()
                await self._begin(again=True)
            now = self._clock.now()
            until = self._ready_at(timing, now)
            if until <= now:
                address, until = addresses.claim(self._url.host_key, now)
                if address is not None:
                    self._asking = address, timing
                    return None
            if until - now > patience_s:
                return until
            await self._clock.sleep(until - now)

    def answered(self, capture: Capture, timing: Timing = NOTHING_ASKED, *, walled: bool = False) -> Delay:
        """Takes note of what came, or that a bot wall answered; returns the delay that the host gets now."""
        pace, host, now = self._pace, self._host, self._clock.now()
        self._release_address()
        if not pace._settings.proxy:
            pace._addresses.learn(self._url.host_key, capture)
        rest = pace._politeness.after(capture, timing, host.backoff_s, host.backed_off_at, walled=walled)
        if rest.backoff_s != host.backoff_s:
            host.backoff_s, host.backed_off_at = rest.backoff_s, now
        host.answered_at = max(host.answered_at, capture.fetched_at + capture.elapsed_s)
        host.ready_at = max(host.ready_at, rest.ready_at, rest.not_before)
        host.lanes = 1 if host.ready_at > now or asked_gap_s(timing, now) else pace._settings.per_host
        return rest

    async def _begin(self, *, again: bool = False) -> None:
        await self._host.enter(again=again)
        self._holds = True

    def _end(self) -> None:
        self._asked_in_vain()
        if self._holds:
            self._leave()

    def _leave(self) -> None:
        self._holds = False
        self._host.leave()

    def _asked_in_vain(self) -> None:
        """A request was let go and nothing is known of its answer: cancelled, the host may have seen it."""
        if self._asking is not None:
            _, timing = self._asking
            now = self._clock.now()
            self._release_address()
            self._host.answered_at = max(self._host.answered_at, now)
            rested_at = self._pace._politeness.after_cut(self._url, timing, now)
            self._host.ready_at = max(self._host.ready_at, rested_at)

    def _release_address(self) -> None:
        if self._asking is not None:
            address, _ = self._asking
            self._pace._addresses.release(address, self._clock.now())
            self._asking = None


class PacedTransport:
    """A Transport that takes a turn for every request, where nothing is known of what robots.txt asks. A host that
    rests for longer than `patience_s` is not asked: a `Failure` says so. Within a turn at the same host it waits for
    ever."""

    def __init__(self, transport: Transport, pace: Pace, patience_s: float = math.inf) -> None:
        self._transport = transport
        self._pace = pace
        self._patience_s = patience_s

    async def send(self, request: Request) -> Capture:
        """See `Transport.send`."""
        async with self._pace.turn(request.url) as turn:
            now = self._pace._clock.now()
            if (wait_s := turn.ready_at() - now) > self._patience_s:
                failure = Failure("timeout", f"{request.url.host_key} asks for no requests for {wait_s:.0f} s")
                return Capture(request, failure, now, 0.0)
            await turn.rested()
            capture = await self._transport.send(request)
            turn.answered(capture)
        return capture

    async def close(self) -> None:
        """See `Transport.close`."""
        await self._transport.close()
