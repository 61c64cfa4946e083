"""Verifies robots by DNS for `goodbot watch --reverse-dns`, within bounds."""

import asyncio
import time
from typing import Final

from goodbot.cli.printing import complain
from goodbot.one_shot import reverse_lookup
from goodbot.registry import ReverseDns, VerifiedIdentity, confirm

MOST_LOOKUPS: Final = 2000
"""Addresses of robots that are looked up in one run of each process."""

MOST_UNANSWERED: Final = 10
"""Lookups in a row without an answer, after which no more are made: each takes seconds."""

MOST_UNANSWERED_IN_ALL: Final = 20

MOST_S: Final = 120.0
"""Time that all lookups of one process take together, after which no more are begun."""

LIFETIME_S: Final = 5.0
"""A lookup takes at most this long."""


class DnsConfirmation:
    """Confirms identities by reverse DNS. Each address is looked up once."""

    def __init__(self, nameserver: str | None) -> None:
        self._dns = _CountedDns(reverse_lookup([nameserver] if nameserver else (), LIFETIME_S))
        self._known: dict[tuple[str, str], VerifiedIdentity] = {}
        self._spent_s = 0.0
        self._is_limited = False

    def __call__(self, identity: VerifiedIdentity, address: str) -> VerifiedIdentity:
        """Returns the identity as `confirm` does; unchanged, with the reason, if the limits are reached."""
        robot = identity.robot
        if robot is None or not robot.reverse_dns or identity.tier == "verified":
            return identity
        key = (robot.name, address)
        if key not in self._known:
            reason = self._limit()
            if reason is not None:
                if not self._is_limited:
                    complain(f"reverse DNS ends here: {reason}; robots that were not looked up keep their tier")
                self._is_limited = True
                return identity.also(f"not looked up: {reason}")
            started = time.monotonic()
            self._known[key] = asyncio.run(confirm(identity, address, self._dns))
            self._spent_s += time.monotonic() - started
        return self._known[key]

    def _limit(self) -> str | None:
        """Returns why no more lookups are made; None if they are."""
        if self._dns.unanswered >= MOST_UNANSWERED or self._dns.unanswered_in_all >= MOST_UNANSWERED_IN_ALL:
            return "too many lookups got no answer"
        if len(self._known) >= MOST_LOOKUPS:
            return f"{MOST_LOOKUPS:,} addresses were looked up, which is the limit"
        if self._spent_s >= MOST_S:
            return f"the lookups took {MOST_S:.0f} s, which is the limit"
        return None


class _CountedDns:
    """Counts lookups in a row that got no answer."""

    def __init__(self, dns: ReverseDns) -> None:
        self._dns = dns
        self.unanswered = 0
        self.unanswered_in_all = 0

    async def names(self, address: str) -> tuple[str, ...] | None:
        return self._counted(await self._dns.names(address))

    async def addresses(self, name: str) -> tuple[str, ...] | None:
        return self._counted(await self._dns.addresses(name))

    def _counted(self, found: tuple[str, ...] | None) -> tuple[str, ...] | None:
        self.unanswered = self.unanswered + 1 if found is None else 0
        self.unanswered_in_all += found is None
        return found
