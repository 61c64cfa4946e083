"""Sends DNS queries, by dnspython. Imported with the first lookup, because it takes 45 ms and 5 MB."""

import asyncio
from collections.abc import Iterable
from itertools import islice
from typing import Final, Self

import dns.asyncresolver
import dns.exception
import dns.nameserver
import dns.resolver

from goodbot.robot.fetch.pinned_addresses import MAX_FAMILY, FoundAddresses, limit_addresses

NO_NAME_KEPT_S: Final = 60.0
"""How long the answer `no such name` is kept. A missing answer is not kept, because the fault may be temporary."""

OTHER_FAMILY_WAIT_S: Final = 2.0
"""How long to wait for one address family after the other has arrived: some servers never answer queries for IPv6."""

RETRY_S: Final = 2.0
"""A query is repeated after this time."""


class NameServers:
    """Looks up the addresses of absolute names; a query and its repetitions take `lifetime_s` at most."""

    def __init__(self, resolver: dns.asyncresolver.Resolver, lifetime_s: float) -> None:
        self._resolver = resolver
        self._lifetime_s = lifetime_s

    @classmethod
    def at(cls, servers: Iterable[tuple[str, int]], lifetime_s: float) -> Self:
        """Returns the name servers at these addresses and ports."""
        resolver = dns.asyncresolver.Resolver(configure=False)
        resolver.timeout = RETRY_S
        resolver.nameservers = [dns.nameserver.Do53Nameserver(*server) for server in servers]
        return cls(resolver, lifetime_s)

    @classmethod
    def of_system(cls, lifetime_s: float) -> Self | None:
        """Returns the name servers of /etc/resolv.conf; None if it names none."""
        try:
            return cls(dns.asyncresolver.Resolver(), lifetime_s)
        except dns.exception.DNSException:
            return None

    async def find(self, name: str) -> FoundAddresses:
        """Looks up both address families at once."""
        tasks = [asyncio.ensure_future(self._query(name, kind)) for kind in ("A", "AAAA")]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            enough = any(task.result().addresses for task in done)
            done, _ = await asyncio.wait(tasks, timeout=OTHER_FAMILY_WAIT_S if enough else None)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        parts = [task.result() for task in tasks if task in done]
        good = [part for part in parts if part.addresses]
        if not good:
            return min(parts, key=lambda part: part.lasts_s)
        return FoundAddresses(
            tuple(text for part in good for text in part.addresses), min(part.lasts_s for part in good)
        )

    async def _query(self, name: str, kind: str) -> FoundAddresses:
        """Sends one query. dnspython reports every fault of a server by its own exceptions, and gives up endless chains
        of CNAMEs."""
        try:
            answer = await self._resolver.resolve(name + ".", kind, lifetime=self._lifetime_s)
        except dns.resolver.NXDOMAIN:
            return FoundAddresses((), NO_NAME_KEPT_S, "no such name")
        except dns.resolver.NoAnswer:
            return FoundAddresses((), NO_NAME_KEPT_S, "no address record")
        except (dns.exception.DNSException, OSError) as error:
            return FoundAddresses((), 0.0, _reason(error))
        texts = limit_addresses(str(record.address) for record in islice(answer, MAX_FAMILY))
        return FoundAddresses(texts, max(answer.chaining_result.minimum_ttl, 1.0), "no address record")


def _reason(error: Exception) -> str:
    if isinstance(error, dns.exception.Timeout):
        return "no name server answered in time"
    return str(error) or type(error).__name__
