"""Says which declared robot sent a request, and whether it is genuine."""

from bisect import bisect_right
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime
from ipaddress import IPv4Network, IPv6Network
from socket import AF_INET, AF_INET6, inet_pton
from typing import Final

from goodbot.registry import AddressBook, KnownRobot, VerifiedIdentity, find, verify
from goodbot.registry.verify import BUNDLED
from goodbot.watch.counting.robot_totals import RobotKey
from goodbot.watch.wire_text import readable

DAY_S: Final = 86_400
"""A tier depends on the day of a request (UTC), so not on where blocks begin."""

MOST_CACHED: Final = 50_000
"""Addresses of robots whose tier is remembered, and User-Agents whose robot is."""

Confirmed = Callable[[VerifiedIdentity, str], VerifiedIdentity]
"""Looks a further way of verification up for an identity and an address (reverse DNS)."""


class Identities:
    """Finds the robot of a User-Agent and the tier of a request. A tier depends on the robot, the address and the day
    of the request only."""

    def __init__(
        self,
        find_robot: Callable[[str], KnownRobot | None] = find,
        book: AddressBook = BUNDLED,
        confirmed: Confirmed | None = None,
    ) -> None:
        self._find = find_robot
        self._book = book
        self._confirmed = confirmed
        self._robots: dict[str, KnownRobot | None] = {}
        self._ranges: dict[str, AddressRanges] = {}
        self._outside: dict[tuple[str, int, bool], RobotKey] = {}
        self._confirmed_keys: dict[tuple[str, str, int], RobotKey] = {}

    def robot_of(self, agent: str) -> KnownRobot | None:
        """Returns the robot that a User-Agent (wire text) names."""
        try:
            return self._robots[agent]
        except KeyError:
            if len(self._robots) >= MOST_CACHED:
                self._robots.clear()
            robot = self._robots[agent] = self._find(readable(agent))
            return robot

    def key_of(self, robot: KnownRobot, address: str, at: int) -> RobotKey:
        """Returns the robot with the tier of a request from `address` at a time. Takes about 1 µs without DNS."""
        packed = packed_address(address)
        if packed is not None and robot.address_lists:
            ranges = self._ranges.get(robot.name) or self._load_ranges(robot)
            if packed in ranges:
                return RobotKey(robot.name, "verified")
        if packed is not None and self._confirmed and robot.reverse_dns:
            return self._confirmed_key(robot, address, at)
        outside = (robot.name, at // DAY_S, packed is None)
        key = self._outside.get(outside)
        if key is None:  # outside its ranges, the tier is the same for every address, and for every name
            if len(self._outside) >= MOST_CACHED:
                self._outside.clear()
            key = self._outside[outside] = RobotKey(robot.name, self.identity_of(robot, address, at).tier)
        return key

    def identity_of(self, robot: KnownRobot, address: str, at: int) -> VerifiedIdentity:
        """Returns the tier on the day of a request, with its evidence."""
        if packed_address(address) is None:  # the log has names instead of addresses
            return verify(robot, None, self._book)
        identity = verify(robot, address, self._book, _day(at))
        return self._confirmed(identity, address) if self._confirmed else identity

    def _confirmed_key(self, robot: KnownRobot, address: str, at: int) -> RobotKey:
        cached = (robot.name, address, at // DAY_S)
        key = self._confirmed_keys.get(cached)
        if key is None:
            if len(self._confirmed_keys) >= MOST_CACHED:
                self._confirmed_keys.clear()
            key = RobotKey(robot.name, self.identity_of(robot, address, at).tier)
            self._confirmed_keys[cached] = key
        return key

    def _load_ranges(self, robot: KnownRobot) -> "AddressRanges":
        lists = [found for name in robot.address_lists if (found := self._book.get(name)) is not None]
        ranges = self._ranges[robot.name] = AddressRanges(network for known in lists for network in known.networks)
        return ranges


class AddressRanges:
    """Address ranges, for a quick answer."""

    def __init__(self, networks: Iterable[IPv4Network | IPv6Network]) -> None:
        self._starts: dict[int, list[bytes]] = {4: [], 6: []}
        self._ends: dict[int, list[bytes]] = {4: [], 6: []}
        for network in sorted(networks, key=lambda network: (network.version, network)):
            first, last = network.network_address.packed, network.broadcast_address.packed
            ends = self._ends[network.version]
            if not ends or last > ends[-1]:  # else it lies within the one before
                self._starts[network.version].append(first)
                ends.append(last)

    def __contains__(self, packed: bytes) -> bool:
        version = 4 if len(packed) == 4 else 6
        place = bisect_right(self._starts[version], packed) - 1
        return place >= 0 and packed <= self._ends[version][place]


def packed_address(address: str) -> bytes | None:
    """Returns the 4 or 16 bytes of an address; 4 for an IPv4 address written as IPv6. None if it is no address."""
    try:
        packed = inet_pton(AF_INET6 if ":" in address else AF_INET, address)
    except (OSError, ValueError):
        return None
    return packed[12:] if packed.startswith(_MAPPED) and len(packed) == 16 else packed


_MAPPED: Final = bytes(10) + b"\xff\xff"


def _day(at: int) -> date:
    return datetime.fromtimestamp(at, UTC).date()
