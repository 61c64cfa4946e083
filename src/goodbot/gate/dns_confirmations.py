"""Verifies robots by reverse DNS in the background: a request never waits for it."""

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Final, NamedTuple

from goodbot.lru import LruCache
from goodbot.registry import KnownRobot, ReverseDns, Tier, VerifiedIdentity, confirm

MOST_KNOWN: Final = 50_000
"""Addresses whose result is kept."""

MOST_WAITING: Final = 1000
"""Addresses that wait for their lookup. While there are so many, others keep the tier that they have without DNS."""

AT_ONCE: Final = 8
"""Lookups that are made at the same time."""

KEPT_S: Final[dict[Tier, float]] = {"verified": 86_400.0, "impostor": 3600.0}
UNANSWERED_S: Final = 300.0
"""How long a result counts until it is looked up again, by tier, and without an answer."""

_log: Final = logging.getLogger(__name__)


class _Known(NamedTuple):
    tier: Tier | None
    """None: no server has answered yet."""
    until: float


class DnsConfirmations:
    """Results of lookups, and the lookups themselves. To be used in one event loop."""

    def __init__(self, dns: ReverseDns, now: Callable[[], float] = time.monotonic) -> None:
        self._dns = dns
        self._now = now
        self._known: LruCache[tuple[str, str], _Known] = LruCache(MOST_KNOWN)
        self._waiting: dict[tuple[str, str], asyncio.Task[None]] = {}
        self._places = asyncio.Semaphore(AT_ONCE)
        self.lookups = 0
        """Addresses that were looked up."""
        self.unanswered = 0
        """Lookups to which no server answered."""

    def tier(self, robot: KnownRobot, address: str, tier: Tier) -> Tier:
        """See `Confirmations`. A result that is too old counts until the next one."""
        key = (robot.name, address)
        known = self._known.get(key)
        is_old = known is None or known.until < self._now()
        if is_old and key not in self._waiting and len(self._waiting) < MOST_WAITING:
            self._waiting[key] = asyncio.get_running_loop().create_task(self._look_up(robot, address, tier))
        return tier if known is None or known.tier is None else known.tier

    async def close(self) -> None:
        """Ends the lookups that are not complete."""
        waiting = [*self._waiting.values()]
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        self._waiting.clear()  # a task that had not begun has not removed itself

    async def settled(self) -> None:
        """Waits for all lookups that have begun."""
        while self._waiting:
            await asyncio.gather(*self._waiting.values(), return_exceptions=True)

    async def _look_up(self, robot: KnownRobot, address: str, tier: Tier) -> None:
        key = (robot.name, address)
        try:
            async with self._places:
                found = await confirm(VerifiedIdentity(robot, tier, ()), address, self._dns)
        except Exception:  # noqa: BLE001  (any: without a result, each request would begin a lookup)
            _log.exception("the reverse DNS lookup of %s for %s failed", address, robot.name)
            self._keep(key, None)
        else:
            what = found.evidence[-1] if found.evidence else "no lookup is needed"
            self._keep(key, None if what.startswith("no answer") else found.tier)
            _log.debug("reverse DNS of %s for %s: %s", address, robot.name, what)
        finally:
            self._waiting.pop(key, None)

    def _keep(self, key: tuple[str, str], found: Tier | None) -> None:
        """Keeps a result. An earlier one stays if no server answered."""
        self.lookups += 1
        self.unanswered += found is None
        before = self._known.get(key)
        tier = before.tier if found is None and before is not None else found
        kept_s = UNANSWERED_S if found is None else KEPT_S.get(found, UNANSWERED_S)
        self._known.put(key, _Known(tier, self._now() + kept_s))
