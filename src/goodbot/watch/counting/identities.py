"""Says which known robot sent a request, and whether it is genuine."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Final

from goodbot.registry import AddressBook, KnownRobot, VerifiedIdentity, find, verify
from goodbot.registry.verify import BUNDLED
from goodbot.watch.addresses import AddressRanges, is_local, packed_address
from goodbot.watch.counting.robot_totals import RobotKey
from goodbot.watch.wire_text import readable

DAY_S: Final = 86_400
"""A tier depends on the day of a request (UTC), so not on where blocks begin."""

MOST_CACHED: Final = 50_000
"""The most tiers of addresses, and robots of User-Agents, that are cached."""

Confirmed = Callable[[VerifiedIdentity, str], VerifiedIdentity]
"""Tries another verification (reverse DNS) for an identity and an address."""


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

    def load_lists(self) -> None:
        """Reads the address lists, so that a copy on another machine has them. Raises RunError for one that cannot be
        read."""
        self._book.load()

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
        says_who = packed is not None and not is_local(packed)
        if packed is not None and robot.address_lists:
            ranges = self._ranges.get(robot.name) or self._load_ranges(robot)
            if packed in ranges:
                return RobotKey(robot.name, "verified")
        if says_who and self._confirmed and robot.reverse_dns:
            return self._confirmed_key(robot, address, at)
        outside = (robot.name, at // DAY_S, says_who)
        key = self._outside.get(outside)
        if key is None:  # outside its ranges, the tier is the same for every address, and for every name
            if len(self._outside) >= MOST_CACHED:
                self._outside.clear()
            key = self._outside[outside] = RobotKey(robot.name, self.identity_of(robot, address, at).tier)
        return key

    def identity_of(self, robot: KnownRobot, address: str, at: int) -> VerifiedIdentity:
        """Returns the tier on the day of a request, with its evidence."""
        packed = packed_address(address)
        if packed is None:  # the log has names instead of addresses
            return verify(robot, None, self._book)
        if is_local(packed):
            why = f"{address} is a local address, so a proxy or a program of your own sent the request"
            return verify(robot, None, self._book).also(why)
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

    def _load_ranges(self, robot: KnownRobot) -> AddressRanges:
        lists = [found for name in robot.address_lists if (found := self._book.get(name)) is not None]
        ranges = self._ranges[robot.name] = AddressRanges(network for known in lists for network in known.networks)
        return ranges


def _day(at: int) -> date:
    return datetime.fromtimestamp(at, UTC).date()
