"""The real clocks."""

import asyncio
import time
from collections import deque
from typing import Final


class SystemClock:
    """Gives Unix seconds, UTC: the system's time when the object was made, plus the time passed since.

    It runs evenly when somebody sets the system's clock, so no host receives a request too early, and none waits an
    hour too long.
    """

    def __init__(self) -> None:
        self._offset_s = time.time() - time.monotonic()

    def now(self) -> float:
        return self._offset_s + time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


_COMPARISONS: Final = 12
"""So many readings of the shared clock are kept: those of a minute."""

_SINCE_START: Final = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""It runs on while the machine sleeps (Linux)."""


def passed_s() -> float:
    """Returns the seconds since the machine was started, whoever sets its clock; all its processes agree on it."""
    return time.clock_gettime(_SINCE_START)


class SharedClock:
    """Gives Unix seconds, UTC, by a clock that several machines share: `offset_s` and the seconds since this machine
    was started. Setting the clock of this machine changes nothing.

    The offset stays as it was at the start, so that no delay gets shorter because it was measured again. `error_s` says
    how far it may be off by now.
    """

    def __init__(self, offset_s: float = 0.0) -> None:
        self.offset_s = offset_s
        self.error_s = 0.0
        self._errors: deque[float] = deque(maxlen=_COMPARISONS)

    def set(self, shared_now: float, asked_at: float, answered_at: float) -> None:
        """Takes over the time of the shared clock, read between `asked_at` and `answered_at` (`passed_s`)."""
        self.offset_s = shared_now - (asked_at + answered_at) / 2
        self._errors.clear()
        self.compare(shared_now, asked_at, answered_at)

    def compare(self, shared_now: float, asked_at: float, answered_at: float) -> None:
        """Bounds the error by the time of the shared clock, read as for `set`; the best of the last readings counts."""
        offset_s, half_s = shared_now - (asked_at + answered_at) / 2, (answered_at - asked_at) / 2
        self._errors.append(abs(offset_s - self.offset_s) + half_s)
        self.error_s = min(self._errors)

    def now(self) -> float:
        return self.offset_s + passed_s()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
