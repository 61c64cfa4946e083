"""Chooses the robots and addresses of a remedy by the names and addresses that the user gives."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date
from typing import Final

from goodbot.errors import InputError, quoted
from goodbot.registry import AddressBook, AddressList, KnownRobot, Registry, matches_browsers
from goodbot.watch.remedies.name_regex import has_words
from goodbot.watch.remedies.sentences import Sentence
from goodbot.watch.remedies.targets import (
    MAX_NETWORKS,
    Network,
    TargetRobot,
    Targets,
    address_text,
    joined,
    parse_address_or_range,
)

WIDEST: Final = {4: 8, 6: 19}
"""The shortest prefix of an address range, by IP version: a wider one stops a part of the Internet."""

_STALE: Final = Sentence(
    "the address list {} is out of date, so the rule may stop the genuine robot: goodbot who update",
    "the address lists {} are out of date, so the rule may stop the genuine robots: goodbot who update",
)
_BROWSERS: Final = Sentence(
    "{} is left out: browsers have its name in their User-Agent too",
    "{} are left out: browsers have their names in the User-Agent too",
)
_CONTROL: Final = Sentence(
    "a rule for {} does not help: no robot sends this name, it is for robots.txt only (goodbot remedy robots)",
    "rules for {} do not help: no robot sends these names, they are for robots.txt only (goodbot remedy robots)",
)
_LISTED: Final = Sentence(
    "the address {} is on an operator's list: the remedy stops those robots too",
    "the addresses {} are on operators' lists: the remedy stops those robots too",
)
_SHARED: Final = Sentence(
    "other robots also have the name {} in their User-Agent; a rule by name stops them too",
    "other robots also have the names {} in their User-Agent; a rule by name stops them too",
)


@dataclass(frozen=True, slots=True)
class Records:
    """What is known about robots, and the day for which address lists must be up to date."""

    registry: Registry
    book: AddressBook
    today: date

    def target(self, robot: KnownRobot) -> TargetRobot:
        """Returns the robot with the lists that are available."""
        return TargetRobot(robot, tuple(self._lists(robot)))

    def _lists(self, robot: KnownRobot) -> Iterator[AddressList]:
        return (known for name in robot.address_lists if (known := self.book.get(name)) is not None)

    def has_all_lists(self, target: TargetRobot) -> bool:
        """Whether all address lists of the robot are available, so that an address outside them is an
        impostor's (if they are recent)."""
        return bool(target.lists) and len(target.lists) == len(target.robot.address_lists)

    def stale(self, target: TargetRobot) -> list[str]:
        """Returns the names of lists that are too old, or too new, to show impostors."""
        return [known.name for known in target.lists if known.is_stale(self.today)]

    def owner_of(self, address: str) -> str | None:
        """Returns the name of an address list that contains the address; None if none does."""
        lists = ((name, self.book.get(name)) for name in self.book.names)
        return next((name for name, known in lists if known is not None and known.find(address)), None)

    def robots_at(self, network: Network) -> list[str]:
        """Returns the names of robots, on whose address lists there is any address of a network."""
        lists = {name for name in self.book.names if self._has_any_of(name, network)}
        return [robot.name for robot in self.registry.robots if lists & {*robot.address_lists} and not robot.retired]

    def _has_any_of(self, name: str, network: Network) -> bool:
        known = self.book.get(name)
        if known is None:
            return False
        if network.prefixlen == network.max_prefixlen:
            return known.find(str(network.network_address)) is not None
        return any(network.overlaps(one) for one in known.networks)


@dataclass(slots=True)
class Chosen:
    """The robots and addresses chosen so far, and what was left out. `by_name`: the remedy looks for names in
    User-Agents."""

    by_name: bool = True
    robots: dict[str, TargetRobot] = field(default_factory=dict)
    impostors: dict[str, TargetRobot] = field(default_factory=dict)
    networks: dict[Network, None] = field(default_factory=dict)
    _warned: dict[Sentence, dict[str, None]] = field(default_factory=dict)

    def warn(self, sentence: Sentence, name: str) -> None:
        """Adds a warning about a robot, an address or a list. One sentence lists all that it is about."""
        self._warned.setdefault(sentence, {})[name] = None

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was left out, and side effects: one sentence each, without a final dot."""
        return tuple(sentence.about(names) for sentence, names in self._warned.items())

    def add_robot(self, target: TargetRobot) -> None:
        """Adds a robot. If the remedy looks for names, those of browsers and names that no robot sends are left
        out."""
        if not self.by_name:
            self.robots[target.name] = target
            return
        if not any(map(has_words, target.patterns)) or matches_browsers(target.patterns):
            self.warn(_BROWSERS, target.name)
            return
        if target.robot.control:
            self.warn(_CONTROL, target.name)
            return
        self._warn_of_shared_name(target)
        self.robots[target.name] = target

    def add_impostors(self, target: TargetRobot) -> None:
        """Adds the impostors of a robot, all of whose address lists are available."""
        self._warn_of_shared_name(target)
        self.impostors[target.name] = target

    def _warn_of_shared_name(self, target: TargetRobot) -> None:
        if target.robot.imitated or target.robot.purpose == "tool":
            self.warn(_SHARED, target.name)

    def targets(self) -> Targets:
        """Returns what was chosen. Raises InputError for too many addresses."""
        networks = joined(self.networks)
        if len(networks) > MAX_NETWORKS:
            raise InputError(f"a remedy has at most {MAX_NETWORKS:,} addresses, not {len(networks):,}")
        return Targets(tuple(self.robots.values()), tuple(self.impostors.values()), tuple(networks))


def find_robot(text: str, registry: Registry) -> KnownRobot:
    """Finds a robot by its name, its product token or a User-Agent. Raises InputError if none is on record."""
    found = registry.find_named(text) or registry.find(text)
    if found is None:
        similar = registry.similar_tokens(text)
        listed = "goodbot who --list names the robots with a record"
        more = f"did you mean {' or '.join(similar)}?" if similar else listed
        raise InputError(f"--robot: no robot is called {quoted(text)}; {more}")
    return found


def parse_network(text: str) -> Network:
    """Reads an address or a range. Raises InputError for anything else, and for a range wider than `WIDEST`."""
    try:
        network = parse_address_or_range(text)
    except ValueError as error:
        wanted = "an address or a range such as 203.0.113.0/24"
        raise InputError(f"--address must be {wanted}, not {quoted(text)}") from error
    if network.prefixlen < WIDEST[network.version]:
        raise InputError(f"--address: {network} is a large part of the Internet; give smaller ranges")
    return network


def choose_given(
    names: Iterable[str], addresses: Iterable[str], impostors: bool, records: Records, *, by_name: bool = True
) -> Chosen:
    """Chooses robots by name, or their impostors, and addresses. Raises InputError for what cannot be chosen."""
    chosen = Chosen(by_name)
    for name in names:
        target = records.target(find_robot(name, records.registry))
        if impostors:
            _add_impostors(target, records, chosen)
        else:
            chosen.add_robot(target)
    for text in addresses:
        network = parse_network(text)
        chosen.networks[network] = None
        if robots := records.robots_at(network):
            chosen.warn(_LISTED, f"{address_text(network)} ({_shortened(robots)})")
    return chosen


def _shortened(names: list[str]) -> str:
    """Returns names for parentheses, so few that a sentence shows all of them."""
    return " and ".join(names) if len(names) <= 2 else f"{names[0]} and {len(names) - 1} more"


def _add_impostors(target: TargetRobot, records: Records, chosen: Chosen) -> None:
    if not records.has_all_lists(target):
        raise InputError(
            f"--impostors: not all addresses of {target.name} are on record (goodbot who update), so a rule would stop "
            "the genuine robot too; give the impostors' addresses with --address"
        )
    for name in records.stale(target):
        chosen.warn(_STALE, name)
    chosen.add_impostors(target)
