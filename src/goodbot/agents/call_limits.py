"""Limits how many calls of tools wait for hosts, and how long each may take."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, TypeVar

from goodbot.human import counted, human_time
from goodbot.ports import Clock
from goodbot.url import Url, authority_of

PER_HOST: Final = 4
"""Calls that may wait for one host."""
IN_ALL: Final = 32
"""Calls that may wait for all hosts together. Each may hold an answer of 10 MiB."""
WAIT_MOST_S: Final = 30.0
"""A call that would wait longer for its host is not carried out."""
CALL_MOST_S: Final = 55.0
"""A call ends after this time. Several MCP clients give up after 60 s."""
LEAST_RETRY_S: Final = 1

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Busy:
    """A call was refused, or timed out because others came first: `reason` says so in one sentence. Try again after
    `retry_after_s` seconds, which is an estimate."""

    reason: str
    retry_after_s: int


@dataclass(frozen=True, slots=True)
class TimedOut:
    """A call had its host for itself, and got no complete response in its time: `reason` says so in one sentence.
    Trying again at once would not help."""

    reason: str


class CallLimits:
    """Runs the requests of calls within the limits. `expected_at` estimates when a host may be requested, in Unix
    seconds, after all requests that wait for it."""

    def __init__(
        self,
        clock: Clock,
        expected_at: Callable[[Url], float],
        *,
        per_host: int = PER_HOST,
        in_all: int = IN_ALL,
        wait_most_s: float = WAIT_MOST_S,
        call_most_s: float = CALL_MOST_S,
    ) -> None:
        self._clock = clock
        self._expected_at = expected_at
        self._per_host = per_host
        self._in_all = in_all
        self._wait_most_s = wait_most_s
        self._call_most_s = call_most_s
        self._waiting: Counter[str] = Counter()

    @property
    def waiting(self) -> int:
        """The number of calls that wait."""
        return self._waiting.total()

    async def run(self, url: Url, request: Callable[[], Awaitable[_T]]) -> _T | Busy | TimedOut:
        """Returns what `request` returns, which sends requests to the host of `url`."""
        if (busy := self._refusal(url)) is not None:
            return busy
        is_first = not self._waiting[url.host_key]
        with self._place(url.host_key):
            try:
                async with asyncio.timeout(self._call_most_s) as limit:
                    return await request()
            except TimeoutError:
                if not limit.expired():
                    raise
                reason = f"there was no complete response within {self._call_most_s:g} s"
                return TimedOut(reason) if is_first else self._busy(url, f"{reason}, after calls that came first")

    def until(self, url: Url, until: float) -> Busy:
        """Returns the result of a call whose host may not be requested before `until` (Unix seconds)."""
        return self._busy(url, f"{authority_of(url.host_key)} may not be requested before {human_time(until)}", until)

    def _refusal(self, url: Url) -> Busy | None:
        host = authority_of(url.host_key)
        if self._waiting[url.host_key] >= self._per_host:
            return self._busy(url, f"{counted(self._waiting[url.host_key], 'call')} are already waiting for {host}")
        if self.waiting >= self._in_all:
            return self._busy(url, f"{counted(self.waiting, 'call')} are already waiting for hosts")
        wait_s = self._expected_at(url) - self._clock.now()
        if wait_s > self._wait_most_s:
            return self._busy(url, f"{host} may be requested again in {wait_s:.0f} s")
        return None

    def _busy(self, url: Url, reason: str, until: float = 0.0) -> Busy:
        wait_s = max(until, self._expected_at(url)) - self._clock.now()
        return Busy(reason, max(LEAST_RETRY_S, round(wait_s + 0.5)))

    @contextmanager
    def _place(self, host: str) -> Iterator[None]:
        self._waiting[host] += 1
        try:
            yield
        finally:
            self._waiting[host] -= 1
            if not self._waiting[host]:
                del self._waiting[host]
