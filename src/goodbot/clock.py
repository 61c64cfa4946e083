"""The real clock."""

import asyncio
import time


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
