"""Says until when a process may send requests, if its hosts can be taken over by another machine."""

import asyncio
from math import inf
from typing import Final

from goodbot.clock import passed_s

LOOK_S: Final = 0.1
"""How often a held-back request looks whether it may be sent now."""


class Standing:
    """The right to send requests, until `until` (`passed_s`); without a limit by default. A machine that shares its
    frontier extends it with every heartbeat. While it is stopped, or cut off, it cannot, and after that time another
    machine may request its hosts."""

    def __init__(self, until: float = inf) -> None:
        self.until = until

    @property
    def holds(self) -> bool:
        """Whether requests may be sent now."""
        return passed_s() < self.until

    async def wait(self) -> None:
        """Waits until requests may be sent."""
        while not self.holds:  # noqa: ASYNC110 - another thread may extend it
            await asyncio.sleep(LOOK_S)
