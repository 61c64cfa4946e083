"""Verifies robots by DNS for `goodbot watch --reverse-dns`, within bounds."""

import asyncio
from typing import Final

from goodbot.one_shot import reverse_lookup
from goodbot.registry import ReverseDns, VerifiedIdentity, confirm

MOST_LOOKUPS: Final = 2000
"""Addresses of robots that are looked up in one run of each process."""

MOST_UNANSWERED: Final = 5
"""Lookups in a row without an answer, after which no more are made: each takes seconds."""

_LIMITED: Final = f"not looked up: DNS was asked about {MOST_LOOKUPS:,} other addresses, which is the limit"
_UNANSWERED: Final = "not looked up: no name server answered the lookups before"


class DnsConfirmation:
    """Confirms identities by reverse DNS. Each address is looked up once."""

    def __init__(self, nameserver: str | None) -> None:
        self._dns = _CountedDns(reverse_lookup([nameserver] if nameserver else ()))
        self._known: dict[tuple[str, str], VerifiedIdentity] = {}

    def __call__(self, identity: VerifiedIdentity, address: str) -> VerifiedIdentity:
        """Returns the identity as `confirm` does; unchanged, with the reason, if the limits are reached."""
        robot = identity.robot
        if robot is None or not robot.reverse_dns or identity.tier == "verified":
            return identity
        key = (robot.name, address)
        if key not in self._known:
            if self._dns.unanswered >= MOST_UNANSWERED:
                return _with(identity, _UNANSWERED)
            if len(self._known) >= MOST_LOOKUPS:
                return _with(identity, _LIMITED)
            self._known[key] = asyncio.run(confirm(identity, address, self._dns))
        return self._known[key]


class _CountedDns:
    """Counts lookups in a row that got no answer."""

    def __init__(self, dns: ReverseDns) -> None:
        self._dns = dns
        self.unanswered = 0

    async def names(self, address: str) -> tuple[str, ...] | None:
        return self._counted(await self._dns.names(address))

    async def addresses(self, name: str) -> tuple[str, ...] | None:
        return self._counted(await self._dns.addresses(name))

    def _counted(self, found: tuple[str, ...] | None) -> tuple[str, ...] | None:
        self.unanswered = self.unanswered + 1 if found is None else 0
        return found


def _with(identity: VerifiedIdentity, evidence: str) -> VerifiedIdentity:
    return VerifiedIdentity(identity.robot, identity.tier, (*identity.evidence, evidence))
