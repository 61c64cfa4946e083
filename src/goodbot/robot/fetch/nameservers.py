"""Questions to name servers, by dnspython. Loaded when the first name is asked for: it takes 45 ms and 5 MB."""

import asyncio
from collections.abc import Iterable
from itertools import islice
from typing import Final, Self

import dns.asyncresolver
import dns.exception
import dns.nameserver
import dns.resolver

from goodbot.robot.fetch.pinned_addresses import FAMILY_MOST, FoundAddresses, few_of

NONE_S: Final = 60.0
"""How long `no such name` serves. No answer at all serves nobody: it may pass at once."""

GRACE_S: Final = 2.0
"""One family is waited for so long when the other has come: some servers never answer the question for IPv6."""

TRY_S: Final = 2.0
"""A name server is asked again after so long."""


class NameServers:
    """Asks for addresses by absolute names; a question and its repetitions take `lifetime_s` at most."""

    def __init__(self, resolver: dns.asyncresolver.Resolver, lifetime_s: float) -> None:
        self._resolver = resolver
        self._lifetime_s = lifetime_s

    @classmethod
    def at(cls, servers: Iterable[tuple[str, int]], lifetime_s: float) -> Self:
        """Those at these addresses and ports."""
        resolver = dns.asyncresolver.Resolver(configure=False)
        resolver.timeout = TRY_S
        resolver.nameservers = [dns.nameserver.Do53Nameserver(*server) for server in servers]
        return cls(resolver, lifetime_s)

    @classmethod
    def of_system(cls, lifetime_s: float) -> Self | None:
        """Those of /etc/resolv.conf; None if it names none."""
        try:
            return cls(dns.asyncresolver.Resolver(), lifetime_s)
        except dns.exception.DNSException:
            return None

    async def find(self, name: str) -> FoundAddresses:
        """Both families are asked for at once."""
        tasks = [asyncio.ensure_future(self._query(name, kind)) for kind in ("A", "AAAA")]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            enough = any(task.result().addresses for task in done)
            done, _ = await asyncio.wait(tasks, timeout=GRACE_S if enough else None)
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
        """One question. Whatever the server does, dnspython says it by an exception of its own; a chain of CNAMEs that
        has no end it gives up."""
        try:
            answer = await self._resolver.resolve(name + ".", kind, lifetime=self._lifetime_s)
        except dns.resolver.NXDOMAIN:
            return FoundAddresses((), NONE_S, "no such name")
        except dns.resolver.NoAnswer:
            return FoundAddresses((), NONE_S, "the name has none")
        except (dns.exception.DNSException, OSError) as error:
            return FoundAddresses((), 0.0, _said(error))
        texts = few_of(str(record.address) for record in islice(answer, FAMILY_MOST))
        return FoundAddresses(texts, max(answer.chaining_result.minimum_ttl, 1.0), "the name has none")


def _said(error: Exception) -> str:
    if isinstance(error, dns.exception.Timeout):
        return "no name server answered in time"
    return str(error) or type(error).__name__
