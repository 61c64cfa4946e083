"""The real clock."""

import asyncio
import time


class SystemClock:
    """Unix seconds, UTC."""

    def now(self) -> float:
        return time.time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
