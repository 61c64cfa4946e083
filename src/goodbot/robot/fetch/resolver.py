"""Resolves names by DNS, the hosts file and RFC 6761, and keeps answers as long as DNS allows.

Every address is returned; `guard` decides which may be connected to.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import cached_property
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from goodbot.config import Settings
from goodbot.errors import InputError
from goodbot.lru import LruCache
from goodbot.ports import Clock
from goodbot.robot.fetch.curl_errors import make_failure
from goodbot.robot.fetch.pinned_addresses import Addresses, FoundAddresses, limit_addresses, parse_hosts
from goodbot.values import Failure

MAX_NAMES: Final = 1 << 12
"""Names remembered by one process, which take 1.2 MB. The requests to a host mostly follow each other closely, so a
forgotten name is seldom looked up again."""

MIN_KEPT_S: Final = 60.0
MAX_KEPT_S: Final = 3600.0
"""Bounds for how long an answer is kept, whatever its TTL: below a minute every page would cost two queries."""

HOSTS_FILE: Final = Path("/etc/hosts")
HOSTS_BYTES: Final = 16 * 1024 * 1024

FindAddresses = Callable[[str], Awaitable[FoundAddresses]]

_NO_SUCH_NAME: Final = {socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)}
_LOOPBACK: Final = ("127.0.0.1", "::1")


class NameResolver:
    """The `Resolver` of this machine. IPv4 comes first, a few addresses of each family.

    `localhost` is loopback, and `.invalid` and `.onion` have no addresses, without a query (RFC 6761 §6.3 and §6.4,
    RFC 7686). The hosts file, read once, comes next. The system resolves names without a dot and those under `.local`
    (RFC 6762), and all others if it has no name server configured; its answers are kept for `MIN_KEPT_S`. All other
    names are looked up by DNS, as absolute names without a search list. Only one lookup of a name is in flight at a
    time.

    Raises InputError for invalid `settings.nameservers`.
    """

    def __init__(self, settings: Settings, clock: Clock, hosts_file: Path = HOSTS_FILE) -> None:
        self._clock = clock
        self._hosts_file = hosts_file
        self._lifetime_s = settings.connect_timeout
        self._servers = [nameserver(text) for text in settings.nameservers]
        self._known: LruCache[str, tuple[float, Addresses | Failure]] = LruCache(MAX_NAMES)
        self._in_flight: dict[str, asyncio.Task[Addresses | Failure]] = {}

    async def resolve(self, host: str) -> Addresses | Failure:
        """See `Resolver.resolve`. Takes at most the time to connect (`settings.connect_timeout`)."""
        known = self._known.get(host)
        if known is not None and self._clock.now() < known[0]:
            return known[1]
        task = self._in_flight.get(host)
        if task is None:
            task = self._in_flight[host] = asyncio.ensure_future(self._look_up(host))
            task.add_done_callback(lambda _: self._in_flight.pop(host, None))
        return await asyncio.shield(task)

    async def close(self) -> None:
        """Cancels all lookups in flight."""
        tasks = list(self._in_flight.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _look_up(self, host: str) -> Addresses | Failure:
        found = await self._find(host.removesuffix(".").lower())
        answer = found.addresses or replace(make_failure("dns", host, found.error), lasting=found.lasts_s > 0)
        if found.lasts_s > 0:
            self._known.put(host, (self._clock.now() + min(max(found.lasts_s, MIN_KEPT_S), MAX_KEPT_S), answer))
        return answer

    async def _find(self, name: str) -> FoundAddresses:
        last = name.rpartition(".")[2]
        if last == "localhost":
            return FoundAddresses(_LOOPBACK, MAX_KEPT_S)
        if last in ("invalid", "onion"):
            return FoundAddresses((), MAX_KEPT_S, f"names under .{last} never resolve")
        if listed := self._listed.get(name):
            return FoundAddresses(limit_addresses(listed), MAX_KEPT_S)
        if last in (name, "local") or self._dns is None:
            return await self._of_system(name)
        return await self._dns(name)

    @cached_property
    def _listed(self) -> Mapping[str, Addresses]:
        try:
            with self._hosts_file.open("rb") as file:
                return parse_hosts(file.read(HOSTS_BYTES))
        except OSError:  # this machine has none, or we may not read it
            return {}

    @cached_property
    def _dns(self) -> FindAddresses | None:
        from goodbot.robot.fetch.nameservers import NameServers  # noqa: PLC0415  (crawls of local servers need none)

        if self._servers:
            return NameServers.at(self._servers, self._lifetime_s).find
        found = NameServers.of_system(self._lifetime_s)
        return found.find if found else None

    async def _of_system(self, name: str) -> FoundAddresses:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self._lifetime_s):
                entries = await loop.getaddrinfo(name, None, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            is_sure = isinstance(error, socket.gaierror) and error.errno in _NO_SUCH_NAME
            return FoundAddresses((), MIN_KEPT_S if is_sure else 0.0, str(error) or "the system did not answer in time")
        return FoundAddresses(
            limit_addresses(str(entry[4][0]) for entry in entries), MIN_KEPT_S, "the system found no address"
        )


def nameserver(text: str) -> tuple[str, int]:
    """Reads `127.0.0.1`, `127.0.0.1:5353`, `::1` or `[::1]:5353` as address and port. Raises InputError."""
    host, colon, port = text.rpartition(":")
    if not colon or text.endswith("]") or (":" in host and not host.startswith("[")):
        host, port = text, "53"
    try:
        address = str(ip_address(host.strip("[]")))
        number = int(port) if port.isascii() and len(port) <= 5 else 0
    except ValueError:
        number = 0
    if not 0 < number < 65536:
        raise InputError(f"a name server is given as ADDRESS or ADDRESS:PORT, not {text!r}")
    return address, number
