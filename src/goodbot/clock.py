"""The real clock."""

import asyncio
import time


class SystemClock:
    """Unix seconds, UTC: the system's time when the clock was made, and what has passed since.

    When the system's clock is set meanwhile, this one goes on evenly: no host is asked too early, and none waits for an
    hour that has been taken back.
    """

    def __init__(self) -> None:
        self._began = time.time() - time.monotonic()

    def now(self) -> float:
        return self._began + time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
