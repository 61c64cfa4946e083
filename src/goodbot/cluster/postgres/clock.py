"""The clock of the database: the same for all machines of a crawl, however wrong their own clocks are."""

import asyncio
import time
from typing import Final

CLOCK: Final = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""It runs on while the machine sleeps (Linux), so that a lease ends in time even then."""


def passed_s() -> float:
    """Returns the seconds since the machine was started."""
    return time.clock_gettime(CLOCK)


class DatabaseClock:
    """Gives Unix seconds as the database counts them: its last answer, plus the time passed since. Setting a machine's
    clock changes nothing. `offset_s` is what it adds to `passed_s`; processes of one machine share it."""

    def __init__(self, offset_s: float = 0.0) -> None:
        self.offset_s = offset_s

    def set(self, database_now: float, asked_at: float, answered_at: float) -> None:
        """Takes over the database's time, which was read between `asked_at` and `answered_at` (`passed_s`)."""
        self.offset_s = database_now - (asked_at + answered_at) / 2

    def now(self) -> float:
        """See `Clock.now`."""
        return passed_s() + self.offset_s

    async def sleep(self, seconds: float) -> None:
        """See `Clock.sleep`."""
        await asyncio.sleep(seconds)
