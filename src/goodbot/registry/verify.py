"""Is it the robot it says it is? By the ranges its operator publishes, offline; by reverse DNS, if somebody asks."""

from dataclasses import dataclass
from typing import Final, Protocol

from goodbot.registry.addresses import AddressBook, AddressList, parse_address
from goodbot.registry.lookup import find
from goodbot.registry.records import load_records
from goodbot.registry.robot import Robot, Tier
from goodbot.url import is_private_address

BUNDLED: Final = AddressBook()
"""The lists that come with goodbot."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who it is, how sure that is, and why: one sentence for each thing found."""

    robot: Robot | None
    tier: Tier
    evidence: tuple[str, ...]


class ReverseDns(Protocol):
    """The two questions of forward-confirmed reverse DNS. None: nobody could be asked, or nobody answered."""

    async def names(self, address: str) -> tuple[str, ...] | None:
        """The names of an address (PTR), without the dot at the end; empty: it has none."""
        ...

    async def addresses(self, name: str) -> tuple[str, ...] | None:
        """The addresses of a name (A, AAAA); empty: it has none."""
        ...


def identify(user_agent: str, address: str | None = None, book: AddressBook = BUNDLED) -> Identity:
    """`find`, then `verify`."""
    return verify(find(user_agent), address, book)


def verify(robot: Robot | None, address: str | None = None, book: AddressBook = BUNDLED) -> Identity:
    """How sure it is that a request that uses a robot's name came from it; without an address, nothing is checked.

    `verified`: a list the operator publishes holds the address. `impostor`: all its lists are here, and none does, or
    nobody fetches under that name at all. Else `declared`. Takes about 5 µs once a list has been read. Raises
    ValueError for what is no address.
    """
    if robot is None:
        return Identity(None, "unknown", ("the User-Agent contains no name that a robot on record uses",))
    said = (_claim(robot), *_facts(robot))
    if address is None:
        return Identity(robot, "declared", (*said, _how(robot, book)))
    parsed = parse_address(address)
    if robot.control:
        return Identity(robot, "impostor", (*said, f"no robot sends it, so {parsed} only uses the name"))
    lists = [found for name in robot.address_lists if (found := book.get(name)) is not None]
    for known in lists:
        if network := known.find(address):
            return Identity(robot, "verified", (*said, f"{parsed} lies in {network}, {_published(known)}"))
    if robot.address_lists and len(lists) == len(robot.address_lists):
        return Identity(robot, "impostor", (*said, *_outside(str(parsed), lists)))
    return Identity(robot, "declared", (*said, _how(robot, book)))


async def confirm(identity: Identity, address: str, dns: ReverseDns) -> Identity:
    """The same, after reverse DNS was asked: the name of the address must end in a domain of the robot's, and must lead
    back to the address. What was verified already is not asked about; nor is a robot without such domains.

    A name that does not fit makes an impostor; no answer changes nothing. Raises ValueError for what is no address.
    """
    robot = identity.robot
    parsed = parse_address(address)
    if robot is None or identity.tier == "verified" or robot.control:
        return identity
    if not robot.reverse_dns:
        return _with(identity, identity.tier, "no domain is known in which the names of its addresses would end")
    names = await dns.names(str(parsed))
    if names is None:
        return _with(identity, identity.tier, f"the name of {parsed} could not be asked for")
    fitting = [name for name in names if _is_under(name, robot.reverse_dns)]
    wanted = " or ".join(robot.reverse_dns)
    if not fitting:
        seen = f"is named {names[0]}" if names else "has no name"
        return _with(identity, "impostor", f"{parsed} {seen}, not one under {wanted}")
    for name in fitting:
        addresses = await dns.addresses(name)
        if addresses is None:
            return _with(identity, identity.tier, f"the addresses of {name} could not be asked for")
        if any(parse_address(found) == parsed for found in addresses):
            return _with(identity, "verified", f"{parsed} is named {name}, and that name leads back to it")
    return _with(identity, "impostor", f"{parsed} is named {fitting[0]}, but that name does not lead back to it")


def _with(identity: Identity, tier: Tier, said: str) -> Identity:
    return Identity(identity.robot, tier, (*identity.evidence, said))


def _is_under(name: str, domains: tuple[str, ...]) -> bool:
    return any(name.lower().removesuffix(".").endswith(f".{domain}") for domain in domains)


# ---- in words -------------------------------------------------------------------------------------------------------


def _claim(robot: Robot) -> str:
    whose = f" of {robot.operator}" if robot.operator else ""
    known = "" if robot.recorded else ", known to crawler-user-agents"
    names = (*robot.patterns, *robot.aliases, robot.token or robot.name)
    if all(robot.name.lower() in name.lower() for name in names):
        return f"the name {robot.name}{whose} stands in the User-Agent{known}"
    return f"a name that {robot.name}{whose} goes by stands in the User-Agent{known}"


def _facts(robot: Robot) -> list[str]:
    facts = []
    if robot.control:
        facts.append("it is a word for robots.txt only: nothing is fetched under it")
    if robot.retired:
        facts.append("it is retired" + (f" since {robot.retired_since}" if robot.retired_since else ""))
    return facts


def _how(robot: Robot, book: AddressBook) -> str:
    """What would settle it."""
    ways = []
    lists = load_records().lists
    for name in robot.address_lists:
        missing = "" if book.get(name) else " (not bundled: goodbot who --refresh takes it)"
        ways.append(f"the list {lists[name].url}{missing}" if name in lists else f"the list {name}{missing}")
    if robot.reverse_dns:
        ways.append(f"reverse DNS under {' or '.join(robot.reverse_dns)}")
    if robot.signatures:
        ways.append(f"Web Bot Auth by the keys of {robot.signatures}")
    if ways:
        return f"it can be checked by {'; '.join(ways)}"
    return "no way to check it is known" if not robot.control else "there is nothing to check"


def _outside(address: str, lists: list[AddressList]) -> list[str]:
    told = [f"{address} is outside the ranges {_published(known)}" for known in lists]
    if is_private_address(address):
        told.append(f"{address} is a private address")
    return told


def _published(known: AddressList) -> str:
    return f"published at {known.url}, as of {known.as_of}"
