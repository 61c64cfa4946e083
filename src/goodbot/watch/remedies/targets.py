"""The values of this package: the robots and addresses that a remedy acts on, and the remedy."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network, collapse_addresses, ip_network
from typing import Final

from goodbot.errors import InputError
from goodbot.registry import AddressList, KnownRobot

Network = IPv4Network | IPv6Network

_RATE: Final = re.compile(r"([1-9][0-9]{0,3})(?:r)?/(s|m)", re.ASCII)

_IPV4_WITHIN_IPV6: Final = 96
"""The prefix length of `::ffff:0:0/96`, RFC 4291 §2.5.5.2."""

MAX_NETWORKS: Final = 100_000
"""Networks of one remedy; the longest list on record has 1,100."""


@dataclass(frozen=True, slots=True)
class Rate:
    """At most `requests` per `seconds`, which is 1 or 60."""

    requests: int
    seconds: int

    def __str__(self) -> str:
        """Returns it as nginx writes it, without the `r`."""
        return f"{self.requests}/{'s' if self.seconds == 1 else 'm'}"

    @property
    def delay_s(self) -> int:
        """Whole seconds between two requests, rounded up: some robots read no others."""
        return max(1, -(-self.seconds // self.requests))


def parse_rate(text: str) -> Rate:
    """Reads `2/s` or `30/m`, at most 9,999. Raises InputError."""
    found = _RATE.fullmatch(text.strip().lower())
    if found is None:
        raise InputError(f"--rate must be requests per second or minute, such as 2/s or 30/m, not {text!r}")
    return Rate(int(found[1]), 1 if found[2] == "s" else 60)


@dataclass(frozen=True, slots=True)
class TargetRobot:
    """A robot, with the address lists of its operator that are available."""

    robot: KnownRobot
    lists: tuple[AddressList, ...] = ()

    @property
    def name(self) -> str:
        return self.robot.name

    @property
    def patterns(self) -> tuple[str, ...]:
        """The words that identify it in a User-Agent. A robot that only crawler-user-agents lists is found by name."""
        return self.robot.patterns or (self.robot.name,)

    @property
    def networks(self) -> list[Network]:
        """The ranges of all its lists, sorted, joined where they touch."""
        return joined(network for known in self.lists for network in known.networks)


@dataclass(frozen=True, slots=True)
class Targets:
    """The robots and addresses whose requests a remedy concerns."""

    robots: tuple[TargetRobot, ...] = ()
    """All requests in the name of these robots."""
    impostors: tuple[TargetRobot, ...] = ()
    """Requests in the name of these robots from addresses outside their lists; each has a list."""
    networks: tuple[Network, ...] = ()
    """All requests from these addresses."""

    @property
    def names(self) -> list[str]:
        return [target.name for target in self.robots]

    def is_empty(self) -> bool:
        return not (self.robots or self.impostors or self.networks)


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of configuration, and where it belongs."""

    place: str
    """A phrase such as `in the http block`; empty if the remedy has one part only."""
    text: str


@dataclass(frozen=True, slots=True)
class Remedy:
    """A remedy, ready to use."""

    kind: str
    parts: tuple[Part, ...]
    warnings: tuple[str, ...] = field(default=())
    """What was left out, and side effects: one sentence each, without a final dot."""

    @property
    def text(self) -> str:
        """All parts, each below a comment that says where it belongs."""
        return "\n".join(f"# ==== {part.place} ====\n{part.text}" if part.place else part.text for part in self.parts)


def parse_address_or_range(text: str) -> Network:
    """Reads an address or a range. IPv4 written as IPv6 (`::ffff:192.0.2.1`) becomes IPv4, as servers compare it.
    Raises ValueError."""
    network = ip_network(text.strip().removeprefix("[").removesuffix("]"), strict=False)
    if isinstance(network, IPv4Network) or network.prefixlen < _IPV4_WITHIN_IPV6:
        return network
    mapped = network.network_address.ipv4_mapped
    return network if mapped is None else IPv4Network((mapped, network.prefixlen - _IPV4_WITHIN_IPV6))


def joined(networks: Iterable[Network]) -> list[Network]:
    """Returns networks sorted, IPv4 first, without those that lie in others."""
    every = [*networks]
    four = collapse_addresses(network for network in every if isinstance(network, IPv4Network))
    six = collapse_addresses(network for network in every if isinstance(network, IPv6Network))
    return [*four, *six]


def address_text(network: Network) -> str:
    """Returns one address without its prefix length, a range with it."""
    return str(network.network_address) if network.prefixlen == network.max_prefixlen else str(network)
