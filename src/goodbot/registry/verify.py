"""Checks whether a request comes from the robot it names: offline by the ranges the operator publishes, and by reverse
DNS if the caller asks for it."""

from dataclasses import dataclass
from typing import Final, Protocol

from goodbot.registry.address_ranges import AddressBook, AddressList, parse_address
from goodbot.registry.lookup import find
from goodbot.registry.robot import KnownRobot, Tier
from goodbot.registry.robot_records import load_records
from goodbot.url import is_private_address

BUNDLED: Final = AddressBook()
"""The lists that come with goodbot."""


@dataclass(frozen=True, slots=True)
class VerifiedIdentity:
    """Who it is, how sure that is, and why: one sentence for each thing found."""

    robot: KnownRobot | None
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


def identify(user_agent: str, address: str | None = None, book: AddressBook = BUNDLED) -> VerifiedIdentity:
    """`find`, then `verify`."""
    return verify(find(user_agent), address, book)


def verify(robot: KnownRobot | None, address: str | None = None, book: AddressBook = BUNDLED) -> VerifiedIdentity:
    """Says how sure it is that a request that uses a robot's name came from that robot.

    `verified`: a list the operator publishes contains the address. `impostor`: all its lists are here and none contains
    it, or no robot uses that name in requests. Else `declared`, always if no address is given. Takes about 5 µs once a
    list has been read. Raises ValueError for text that is not an address.
    """
    if robot is None:
        return VerifiedIdentity(None, "unknown", ("the User-Agent contains no name that a robot on record uses",))
    said = (_claim(robot), *_facts(robot))
    if address is None:
        return VerifiedIdentity(robot, "declared", (*said, _how(robot, book)))
    parsed = parse_address(address)
    if robot.control:
        return VerifiedIdentity(robot, "impostor", (*said, f"the request from {parsed} only uses the name"))
    lists = [found for name in robot.address_lists if (found := book.get(name)) is not None]
    for known in lists:
        if network := known.find(address):
            return VerifiedIdentity(robot, "verified", (*said, f"{parsed} is in {network}, {_published(known)}"))
    if robot.address_lists and len(lists) == len(robot.address_lists):
        return VerifiedIdentity(robot, "impostor", (*said, *_outside(str(parsed), lists)))
    return VerifiedIdentity(robot, "declared", (*said, _how(robot, book)))


async def confirm(identity: VerifiedIdentity, address: str, dns: ReverseDns) -> VerifiedIdentity:
    """Adds what reverse DNS says: the name of the address must end in a domain of the robot's and resolve back to the
    address. No lookup is made if the robot is verified already or has no such domains.

    A name that does not fit makes an impostor; no answer changes nothing. Raises ValueError for text that is not an
    address.
    """
    robot = identity.robot
    parsed = parse_address(address)
    if robot is None or identity.tier == "verified" or robot.control:
        return identity
    if not robot.reverse_dns:
        return _with(identity, identity.tier, "the domain of its reverse DNS names is not known")
    names = await dns.names(str(parsed))
    if names is None:
        return _with(identity, identity.tier, f"no answer to the reverse DNS lookup of {parsed}")
    fitting = [name for name in names if _is_under(name, robot.reverse_dns)]
    wanted = " or ".join(robot.reverse_dns)
    if not fitting:
        seen = f"has the reverse DNS name {names[0]}" if names else "has no reverse DNS name"
        return _with(identity, "impostor", f"{parsed} {seen}, not one under {wanted}")
    for name in fitting:
        addresses = await dns.addresses(name)
        if addresses is None:
            return _with(identity, identity.tier, f"no answer to the DNS lookup of {name}")
        if any(parse_address(found) == parsed for found in addresses):
            return _with(identity, "verified", f"{parsed} has the reverse DNS name {name}, which resolves back to it")
    return _with(
        identity, "impostor", f"{parsed} has the reverse DNS name {fitting[0]}, which does not resolve back to it"
    )


def _with(identity: VerifiedIdentity, tier: Tier, said: str) -> VerifiedIdentity:
    return VerifiedIdentity(identity.robot, tier, (*identity.evidence, said))


def _is_under(name: str, domains: tuple[str, ...]) -> bool:
    return any(name.lower().removesuffix(".").endswith(f".{domain}") for domain in domains)


# ---- in words -------------------------------------------------------------------------------------------------------


def _claim(robot: KnownRobot) -> str:
    whose = f"a robot of {robot.operator}" if robot.operator else "a robot whose operator is not recorded"
    known = "" if robot.recorded else " (listed by crawler-user-agents)"
    names = (*robot.patterns, *robot.aliases, robot.token or robot.name)
    if all(robot.name.lower() in name.lower() for name in names):
        return f"the User-Agent contains {robot.name}, {whose}{known}"
    return f"the User-Agent contains a name of {robot.name}, {whose}{known}"


def _facts(robot: KnownRobot) -> list[str]:
    facts = []
    if robot.control:
        facts.append("it is a robots.txt control token; no robot sends it")
    if robot.retired:
        facts.append("the robot is retired" + (f" since {robot.retired_since}" if robot.retired_since else ""))
    return facts


def _how(robot: KnownRobot, book: AddressBook) -> str:
    """What would settle it."""
    ways = []
    lists = load_records().lists
    for name in robot.address_lists:
        missing = "" if book.get(name) else " (not bundled; goodbot who --refresh imports it)"
        ways.append(f"the list {lists[name].url}{missing}" if name in lists else f"the list {name}{missing}")
    if robot.reverse_dns:
        ways.append(f"reverse DNS under {' or '.join(robot.reverse_dns)}")
    if robot.signatures:
        ways.append(f"Web Bot Auth by the keys of {robot.signatures}")
    if ways:
        return f"it can be verified by {'; '.join(ways)}"
    return "no known way to verify it" if not robot.control else "there is nothing to verify"


def _outside(address: str, lists: list[AddressList]) -> list[str]:
    told = [f"{address} is outside the ranges {_published(known)}" for known in lists]
    if is_private_address(address):
        told.append(f"{address} is not a public address")
    return told


def _published(known: AddressList) -> str:
    return f"published at {known.url}, as of {known.as_of}"
