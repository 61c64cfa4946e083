"""This machine's part in a crawl that several machines share: its workers learn until when they may send requests,
hosts are shared out, and the machine begins anew after others have taken its hosts over."""

import asyncio
import logging
from collections.abc import Sequence
from typing import Final, Protocol

from goodbot.live import Shared
from goodbot.ports import Clock, Membership
from goodbot.robot.crawl.store_calls import StoreCalls

CONFIRM_S: Final = 1.0
"""How often the workers learn until when they may send requests."""
SHARE_S: Final = 5.0
"""How often this machine takes part in sharing out the hosts."""

_LOG: Final = logging.getLogger(__name__)


class Machine(Protocol):
    """What a machine does with its workers."""

    @property
    def is_stopping(self) -> bool:
        """Whether the crawl is about to end."""
        ...

    def confirm(self, until: float) -> None:
        """Tells all workers until when they may send requests."""
        ...

    def bar(self, hosts: Sequence[str]) -> None:
        """Sends no more requests to these hosts in this run."""
        ...

    def drop(self) -> None:
        """Kills all workers, and forgets all leases."""
        ...

    async def begin_anew(self) -> None:
        """Starts new workers when the killed ones have ended."""
        ...

    async def ended(self) -> None:
        """Returns when all workers have ended."""
        ...

    def wake(self) -> None:
        """Has the machine look for hosts."""
        ...


class Participation:
    """Keeps `machine` in the crawl as long as `run` runs."""

    def __init__(self, membership: Membership, machine: Machine, calls: StoreCalls, clock: Clock) -> None:
        self._membership = membership
        self._machine = machine
        self._calls = calls
        self._clock = clock
        self._is_sharing = False
        self._notices: list[str] = []
        self.is_rejoining = False

    def take_notices(self) -> Sequence[str]:
        """Returns the lines for the user since the last call."""
        notices, self._notices = self._notices, []
        return notices

    async def run(self) -> None:
        """Takes part until it is cancelled, or the crawl stops while this machine has no hosts."""
        share_at = self._clock.now() + SHARE_S
        while True:
            await self._clock.sleep(CONFIRM_S)
            if self._membership.is_lost:
                self.lose()
            if self.is_rejoining:
                await self._machine.ended()
                if not self._machine.is_stopping:
                    await self._begin_anew()
                self.is_rejoining = False
                self._machine.wake()
                if self._machine.is_stopping:
                    return
                continue
            self._machine.confirm(self._membership.until)
            if self._clock.now() >= share_at and not self._is_sharing:
                self._is_sharing, share_at = True, self._clock.now() + SHARE_S
                self._calls.run(self._membership.share, self._shared)

    def lose(self) -> None:
        """Begins anew after other machines have taken over the hosts of this one: kills the workers, so that they send
        no more requests to these hosts. What they did since is rejected by the frontier."""
        if self.is_rejoining:
            return
        notice = "this machine sent no heartbeat for too long: others have taken its hosts over; joining again"
        _LOG.warning(notice)
        self._notices.append(notice)
        self.is_rejoining = True
        self._machine.drop()

    def _shared(self, shared: Shared | None) -> None:
        self._is_sharing = False
        if shared is None:
            self.lose()
            return
        self._notices += (f"{name} sent no heartbeat for too long: taking over its hosts" for name in shared.gone)
        self._machine.bar(shared.barred)
        self._machine.wake()

    async def _begin_anew(self) -> None:
        joined = asyncio.Event()
        self._calls.run(self._membership.rejoin, lambda _: joined.set())
        await joined.wait()
        await self._machine.begin_anew()
