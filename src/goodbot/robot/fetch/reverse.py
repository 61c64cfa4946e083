"""Makes the two lookups of forward-confirmed reverse DNS: the names of an address, and the addresses of a name."""

from collections.abc import Iterable
from ipaddress import ip_address
from itertools import islice
from typing import Final

import dns.asyncresolver
import dns.exception
import dns.nameserver
import dns.resolver
import dns.reversename

from goodbot.robot.fetch.nameservers import NameServers

MAX_NAMES: Final = 8
"""How many names of one address are used."""


class ReverseLookup:
    """Queries these name servers, or those of the system if none are given; a query takes `lifetime_s` at most."""

    def __init__(self, servers: Iterable[tuple[str, int]], lifetime_s: float) -> None:
        self._lifetime_s = lifetime_s
        named = [dns.nameserver.Do53Nameserver(*server) for server in servers]
        try:
            self._resolver: dns.asyncresolver.Resolver | None = dns.asyncresolver.Resolver(configure=not named)
        except dns.exception.DNSException:  # /etc/resolv.conf is missing or names no server
            self._resolver = None
        if named and self._resolver is not None:
            self._resolver.nameservers = [*named]

    async def names(self, address: str) -> tuple[str, ...] | None:
        """Returns the names of an address in lower case, without the last dot; empty if it has none. None: no
        answer."""
        if self._resolver is None:
            return None
        question = dns.reversename.from_address(str(ip_address(address)))
        try:
            answer = await self._resolver.resolve(question, "PTR", lifetime=self._lifetime_s)
        except (dns.resolver.NXDOMAIN, dns.resolver.NoAnswer):
            return ()
        except (dns.exception.DNSException, OSError):  # every other error means that there was no answer
            return None
        return tuple(record.target.to_text(omit_final_dot=True).lower() for record in islice(answer, MAX_NAMES))

    async def addresses(self, name: str) -> tuple[str, ...] | None:
        """Returns the addresses of a name; empty if it has none. None: no answer."""
        if self._resolver is None:
            return None
        found = await NameServers(self._resolver, self._lifetime_s).find(name)
        return found.addresses if found.addresses or found.lasts_s > 0 else None
