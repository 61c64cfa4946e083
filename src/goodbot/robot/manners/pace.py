"""Queues requests before each host: first come, first served, each after the host's delay.

It serves tasks that choose their URLs independently (`Robot`, a page's subresources). A crawl also leases hosts, but
its requests take their turns here too."""

import asyncio
import heapq
import logging
import math
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

_LOG: Final = logging.getLogger(__name__)

LONG_BACKOFF_S: Final = 300.0
"""A back-off of this length or more is logged when a host reaches it."""
MAX_HOSTS: Final = 50_000
"""Hosts remembered. Beyond that, those that were ready first are forgotten, but none that a task waits for."""


@dataclass(slots=True)
class _Host:
    """`taken` turns are given out, at most `lanes` at a time. There is more than one lane only if the last answer
    called for no delay. `waiting` is a list, because few tasks wait, and an empty deque takes 760 bytes for each host
    of a broad crawl."""

    ready_at: float = 0.0
    answered_at: float = float("-inf")
    backoff_s: float = 0.0
    backed_off_at: float = 0.0
    taken: int = 0
    lanes: int = 1
    waiting: list[asyncio.Future[None]] = field(default_factory=list)

    def ready_for(self, timing: Timing, now: float) -> float:
        """Returns when the host may be requested, given the `timing` of its robots.txt: now or later. An answer time
        that lies in the future, because the clock was set back, counts as now."""
        if (ahead_s := self.answered_at - now) > CLOCK_BACK_S:
            self.ready_at, self.answered_at = self.ready_at - ahead_s, now
        return opens_at(timing, max(now, self.ready_at, self.answered_at + asked_gap_s(timing, now)))

    async def enter(self, *, again: bool = False) -> None:
        """Waits for a turn; with `again`, before all others."""
        if not self.waiting and self.taken < self.lanes:
            self.taken += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.waiting.insert(0 if again else len(self.waiting), turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # the turn was granted just now
                self.leave()
            elif turn in self.waiting:
                self.waiting.remove(turn)
            raise

    def leave(self) -> None:
        """Gives a turn back and lets in as many tasks as there is room for."""
        self.taken -= 1
        while self.waiting and self.taken < self.lanes:
            turn = self.waiting.pop(0)
            if not turn.done():  # else it is cancelled, but its task has not run yet
                self.taken += 1
                turn.set_result(None)


class Pace:
    """Keeps the gaps of `Politeness` for every host, and a pause between public hosts that share an address.

    At most `settings.per_host` requests are in flight to one host, and more than one only if the host needs no delay.
    Memory is bounded by `MAX_HOSTS` and by the number of waiting tasks.
    """

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._politeness = Politeness(settings)
        self._addresses = SharedAddresses(settings.address_delay)
        self._hosts: dict[str, _Host] = {}

    @asynccontextmanager
    async def turn(self, url: Url) -> AsyncIterator["Turn"]:
        """Waits for our turn at the host of `url`, and holds it.

        Within it, for each request: `await turn.wait_until_ready(timing)`, send, `turn.answered(capture, timing)`. A
        task that takes a second turn at the same host while it holds one waits forever.
        """
        turn = Turn(self, self._host(url.host_key), url)
        await turn._begin()
        try:
            yield turn
        finally:
            turn._end()

    def ready_at(self, host: str, timing: Timing = NOTHING_ASKED) -> float:
        """Returns when a host (`Url.host_key`) may be requested again, given the `timing` of its robots.txt and its
        answers so far; 0 if nothing is known."""
        known = self._hosts.get(host)
        return known.ready_for(timing, self._clock.now()) if known is not None else 0.0

    def lanes(self, host: str) -> int:
        """Returns how many requests may be in flight to a host (`Url.host_key`) at once; 1 until it has answered."""
        known = self._hosts.get(host)
        return known.lanes if known is not None else 1

    def resume(self, host: str, backoff_s: float) -> None:
        """Takes over the back-off that an earlier run or another process recorded, if it is longer than the one known
        here."""
        if backoff_s > self.backoff_s(host):
            self._host(host).backoff_s = backoff_s

    def backoff_s(self, host: str) -> float:
        """Returns what the trouble of a host (`Url.host_key`) adds to every delay now, in seconds."""
        known = self._hosts.get(host)
        return known.backoff_s if known is not None else 0.0

    def partition(self, host: str) -> int | None:
        """See `SharedAddresses.partition`."""
        return self._addresses.partition(host)

    def expected_at(self, url: Url, timing: Timing, *, queue: bool) -> float:
        """Returns when one more request may be sent to the host of `url`, in Unix seconds: now or later. `queue`: after
        those that have a turn or wait for one, each at the least gap."""
        now, host = self._clock.now(), self._hosts.get(url.host_key, _Host())
        ready_at, private = host.ready_for(timing, now), is_private_host(url.host)
        gap_s = self._politeness.gap_s(private=private, elapsed_s=0.0, asked_s=asked_gap_s(timing, now))
        return ready_at + (gap_s * (host.taken + len(host.waiting)) if queue else 0.0)

    def _host(self, name: str) -> _Host:
        host = self._hosts.get(name)
        if host is None:
            if len(self._hosts) >= MAX_HOSTS:
                self._forget()
            host = self._hosts[name] = _Host()
        return host

    def _forget(self) -> None:
        """Forgets an eighth of all hosts at once, so that the search for idle hosts is rare."""
        idle = ((host.ready_at, name) for name, host in self._hosts.items() if not (host.taken or host.waiting))
        for _, name in heapq.nsmallest(MAX_HOSTS // 8, idle):
            del self._hosts[name]


class Turn:
    """One turn at one host, from `Pace.turn`."""

    def __init__(self, pace: Pace, host: _Host, url: Url) -> None:
        self._pace = pace
        self._clock = pace._clock
        self._host = host
        self._url = url
        self._holds = False
        self._in_flight: tuple[str, Timing] | None = None

    def ready_at(self, timing: Timing = NOTHING_ASKED) -> float:
        """Returns when the host may be requested, given the `timing` of its robots.txt: now or later, in Unix
        seconds."""
        return self._ready_at(timing, self._clock.now())

    def _ready_at(self, timing: Timing, now: float) -> float:
        return self._host.ready_for(timing, now)

    async def wait_until_ready(self, timing: Timing = NOTHING_ASKED, wait_most_s: float = math.inf) -> float | None:
        """Waits until the host may be requested, and returns None: send the request at once. If the wait would be
        longer than `wait_most_s`, returns the time it ends (Unix seconds), and the host must not be requested."""
        self._abandon_request()
        host, addresses = self._host, self._pace._addresses
        while True:
            if asked_gap_s(timing, self._clock.now()):
                host.lanes = 1
            if host.taken > host.lanes:  # a gap can be kept only by one request at a time
                self._leave()
                await self._begin(again=True)
            now = self._clock.now()
            until = self._ready_at(timing, now)
            if until <= now:
                address, until = addresses.claim(self._url.host_key, now)
                if address is not None:
                    self._in_flight = address, timing
                    return None
            if until - now > wait_most_s:
                return until
            await self._clock.sleep(until - now)

    def answered(self, capture: Capture, timing: Timing = NOTHING_ASKED, *, walled: bool = False) -> Delay:
        """Records the answer (`walled`: a bot wall gave it), and returns the delay that the host gets now."""
        pace, host, now = self._pace, self._host, self._clock.now()
        self._release_address()
        if not pace._settings.proxy:
            pace._addresses.learn(self._url.host_key, capture)
        delay = pace._politeness.after(capture, timing, host.backoff_s, host.backed_off_at, walled=walled)
        if delay.backoff_s >= LONG_BACKOFF_S > host.backoff_s:
            _LOG.warning("host %s backs off: %s", self._url.host_key, delay.reason)
        if delay.backoff_s != host.backoff_s:
            host.backoff_s, host.backed_off_at = delay.backoff_s, now
        host.answered_at = max(host.answered_at, capture.fetched_at + capture.elapsed_s)
        host.ready_at = max(host.ready_at, delay.ready_at, delay.not_before)
        host.lanes = 1 if host.ready_at > now or asked_gap_s(timing, now) else pace._settings.per_host
        return delay

    async def _begin(self, *, again: bool = False) -> None:
        await self._host.enter(again=again)
        self._holds = True

    def _end(self) -> None:
        self._abandon_request()
        if self._holds:
            self._leave()

    def _leave(self) -> None:
        self._holds = False
        self._host.leave()

    def _abandon_request(self) -> None:
        """Ends a request whose answer is unknown: it was cancelled, but the host may have received it."""
        if self._in_flight is not None:
            _, timing = self._in_flight
            now = self._clock.now()
            self._release_address()
            self._host.answered_at = max(self._host.answered_at, now)
            delayed_until = self._pace._politeness.after_interruption(self._url, timing, now)
            self._host.ready_at = max(self._host.ready_at, delayed_until)

    def _release_address(self) -> None:
        if self._in_flight is not None:
            address, _ = self._in_flight
            self._pace._addresses.release(address, self._clock.now())
            self._in_flight = None


class PacedTransport:
    """A Transport that takes a turn for every request. It knows no robots.txt, so it keeps no delay that one asks for.
    A host that needs a delay longer than `wait_most_s` gets no request, but a `Failure`. A request by a task that holds
    a turn at the same host waits forever."""

    def __init__(self, transport: Transport, pace: Pace, wait_most_s: float = math.inf) -> None:
        self._transport = transport
        self._pace = pace
        self._wait_most_s = wait_most_s

    async def send(self, request: Request) -> Capture:
        """See `Transport.send`."""
        async with self._pace.turn(request.url) as turn:
            now = self._pace._clock.now()
            if (wait_s := turn.ready_at() - now) > self._wait_most_s:
                failure = Failure("timeout", f"{request.url.host_key} gets no requests for the next {wait_s:.0f} s")
                return Capture(request, failure, now, 0.0)
            await turn.wait_until_ready()
            capture = await self._transport.send(request)
            turn.answered(capture)
        return capture

    async def close(self) -> None:
        """See `Transport.close`."""
        await self._transport.close()
