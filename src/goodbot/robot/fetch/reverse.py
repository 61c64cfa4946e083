"""Makes the two lookups of forward-confirmed reverse DNS: the names of an address, and the addresses of a name.

An answer has 64 KiB at most, so a few thousand names or addresses (RFC 1035 §4.2.2).
"""

import asyncio
from collections.abc import Iterable
from ipaddress import ip_address

import dns.asyncresolver
import dns.exception
import dns.nameserver
import dns.resolver
import dns.reversename


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
        return tuple(record.target.to_text(omit_final_dot=True).lower() for record in answer)

    async def addresses(self, name: str) -> tuple[str, ...] | None:
        """Returns the addresses of a name; empty if it has none. None: no answer."""
        if self._resolver is None:
            return None
        families = await asyncio.gather(*(self._addresses(name, kind) for kind in ("A", "AAAA")))
        found = tuple(address for family in families for address in family or ())
        return None if not found and None in families else found

    async def _addresses(self, name: str, kind: str) -> tuple[str, ...] | None:
        assert self._resolver is not None  # noqa: S101  (`addresses` has looked)
        try:
            answer = await self._resolver.resolve(f"{name}.", kind, lifetime=self._lifetime_s)
        except (dns.resolver.NXDOMAIN, dns.resolver.NoAnswer):
            return ()
        except (dns.exception.DNSException, OSError):  # every other error means that there was no answer
            return None
        return tuple(str(record.address) for record in answer)
