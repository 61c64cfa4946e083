"""Verifies that a request comes from the robot that it names: offline, by the address ranges that the operator
publishes, and with `confirm` by reverse DNS."""

from dataclasses import dataclass
from datetime import date
from ipaddress import IPv4Address, IPv6Address
from typing import Final, Protocol

from goodbot.registry.address_ranges import AddressBook, AddressList, parse_address
from goodbot.registry.lookup import Registry, bundled_registry
from goodbot.registry.robot import TIERS, KnownRobot, Tier
from goodbot.url import is_private_address

MOST_MATCHING: Final = 8
"""Names of one address that are looked up: a robot's address has one or two, a stranger's may have thousands."""

BUNDLED: Final = AddressBook()
"""The address lists that come with goodbot."""


@dataclass(frozen=True, slots=True)
class VerifiedIdentity:
    """The robot that a request names, how certain that is, and the evidence, one sentence for each fact."""

    robot: KnownRobot | None
    tier: Tier
    evidence: tuple[str, ...]

    @property
    def meaning(self) -> str:
        """The tier in words, without a final dot."""
        if self.tier == "unknown" and self.robot is not None:
            return "its address lists are too old or too new to tell whether this robot sent the request"
        return "no robot on record matches" if self.tier == "unknown" else TIERS[self.tier]

    def also(self, evidence: str, tier: Tier | None = None) -> "VerifiedIdentity":
        """Returns the identity with one more sentence of evidence, and with another tier if that is given."""
        return VerifiedIdentity(self.robot, tier or self.tier, (*self.evidence, evidence))


class ReverseDns(Protocol):
    """The two lookups of forward-confirmed reverse DNS. Each returns None if no server answered."""

    async def names(self, address: str) -> tuple[str, ...] | None:
        """Returns the names of an address (PTR), without the final dot; empty if it has none."""
        ...

    async def addresses(self, name: str) -> tuple[str, ...] | None:
        """Returns the addresses of a name (A, AAAA); empty if it has none."""
        ...


def identify(
    user_agent: str,
    address: str | None = None,
    book: AddressBook = BUNDLED,
    day: date | None = None,
    registry: Registry | None = None,
) -> VerifiedIdentity:
    """Finds the robot that a User-Agent names, by our records or those of `registry`, and verifies that the request
    comes from it; see `verify`."""
    return verify((registry or bundled_registry()).find(user_agent), address, book, day)


def verify(
    robot: KnownRobot | None, address: str | None = None, book: AddressBook = BUNDLED, day: date | None = None
) -> VerifiedIdentity:
    """Verifies that a request with this robot's name comes from the robot.

    The tier is `verified` if a list that the operator publishes contains the address; `impostor` if all its lists are
    available and none contains it, or if no robot sends this name; `unknown` without a robot, and if none of its lists
    contains the address but one is stale on the `day` of the request (`AddressList.is_stale`; without a day no list
    is); otherwise `declared`, and always if no address is given. Takes about 5 µs once a list has been read. Raises
    ValueError for text that is not an address.
    """
    if robot is None:
        return VerifiedIdentity(None, "unknown", ("the User-Agent contains no name that a robot on record uses",))
    evidence = (_claim(robot), *_facts(robot))
    if address is None:
        return VerifiedIdentity(robot, "declared", (*evidence, _how_to_verify(robot, book)))
    parsed = parse_address(address)
    if robot.control:
        return VerifiedIdentity(robot, "impostor", (*evidence, f"so another program sent the request from {parsed}"))
    lists = [found for name in robot.address_lists if (found := book.get(name)) is not None]
    for known in lists:
        if network := known.find(address):
            return VerifiedIdentity(robot, "verified", (*evidence, f"{parsed} is in {network}, {_published(known)}"))
    if robot.address_lists and len(lists) == len(robot.address_lists):
        outside = (*evidence, *_outside(str(parsed), lists))
        if day is not None and (stale := [known for known in lists if known.is_stale(day)]):
            return VerifiedIdentity(robot, "unknown", (*outside, *(_stale(known, day) for known in stale)))
        return VerifiedIdentity(robot, "impostor", outside)
    return VerifiedIdentity(robot, "declared", (*evidence, _how_to_verify(robot, book)))


async def confirm(identity: VerifiedIdentity, address: str, dns: ReverseDns) -> VerifiedIdentity:
    """Verifies an identity by reverse DNS: the address must have a name in one of the robot's domains, and that name
    must resolve back to the address.

    If it does, the tier becomes `verified`; if it does not, `impostor`, both also for a tier that is `unknown` because
    a list is stale; without an answer the tier stays. No lookup is made if the robot is verified already or has no such
    domains. Raises ValueError for text that is not an address.
    """
    robot = identity.robot
    parsed = parse_address(address)
    if robot is None or identity.tier == "verified" or robot.control:
        return identity
    if not robot.reverse_dns:
        return identity.also("the domain of its reverse DNS names is not known")
    names = await dns.names(str(parsed))
    if names is None:
        return identity.also(f"no answer to the reverse DNS lookup of {parsed}")
    matching = [name for name in names if _is_under(name, robot.reverse_dns)]
    domains = " or ".join(robot.reverse_dns)
    if not names:
        return identity.also(f"{parsed} has no reverse DNS name; the robot's are under {domains}", "impostor")
    if not matching:
        return identity.also(f"{parsed} has the reverse DNS name {names[0]}, not one under {domains}", "impostor")
    if len(matching) > MOST_MATCHING:
        many = f"{parsed} has more than {MOST_MATCHING} reverse DNS names under {domains}"
        return identity.also(f"{many}, so they were not looked up")
    return await _resolve_back(identity, parsed, matching, dns)


async def _resolve_back(
    identity: VerifiedIdentity, address: IPv4Address | IPv6Address, names: list[str], dns: ReverseDns
) -> VerifiedIdentity:
    """Looks up whether one of the names resolves back to the address."""
    unanswered = []
    for name in names:
        found = await dns.addresses(name)
        if found is None:
            unanswered.append(name)
        elif any(parse_address(text) == address for text in found):
            return identity.also(f"{address} has the reverse DNS name {name}, which resolves back to it", "verified")
    if unanswered:
        return identity.also(f"no answer to the DNS lookup of {unanswered[0]}")
    return identity.also(
        f"{address} has the reverse DNS name {names[0]}, which does not resolve back to it", "impostor"
    )


def _is_under(name: str, domains: tuple[str, ...]) -> bool:
    return any(name.lower().removesuffix(".").endswith(f".{domain}") for domain in domains)


# ---- in words -------------------------------------------------------------------------------------------------------


def _claim(robot: KnownRobot) -> str:
    description = f"a robot of {robot.operator}" if robot.operator else "a robot whose operator is not recorded"
    listed = "" if robot.recorded else " (listed by crawler-user-agents)"
    if robot.own_file is not None:
        listed = f" (your record in {robot.own_file})"
    names = robot.patterns or (robot.name,)
    if all(robot.name.lower() in name.lower() for name in names):
        return f"the User-Agent contains {robot.name}, {description}{listed}"
    return f"the User-Agent contains a name of {robot.name}, {description}{listed}"


def _facts(robot: KnownRobot) -> list[str]:
    facts = []
    if robot.control:
        facts.append("it is a robots.txt control token; no robot sends it")
    if robot.retired:
        facts.append(
            f"the robot was retired in {robot.retired_since}" if robot.retired_since else "the robot is retired"
        )
    return facts


def _how_to_verify(robot: KnownRobot, book: AddressBook) -> str:
    """Says how the robot could be verified."""
    ways = []
    for name in robot.address_lists:
        missing = "" if book.get(name) else f" (not bundled; goodbot who update {name} fetches it)"
        ways.append(f"the list {book.names[name].url if name in book.names else name}{missing}")
    if robot.reverse_dns:
        ways.append(f"a reverse DNS name under {' or '.join(robot.reverse_dns)}")
    if robot.signatures:
        ways.append(f"Web Bot Auth with the keys of {robot.signatures}")
    if ways:
        return f"it can be verified by {'; '.join(ways)}"
    return "no known way to verify it" if not robot.control else "there is nothing to verify"


def _stale(known: AddressList, day: date) -> str:
    """Says why a list does not show who is an impostor, and what the user can do."""
    fetches = f"goodbot who update {known.name} fetches the current one"
    try:
        days = (day - date.fromisoformat(known.as_of)).days
    except ValueError:
        return f"the list {known.name} has no valid date, so it does not show who is an impostor; {fetches}"
    if days < 0:
        dated = f"the list {known.name} is dated {-days:,} days after {day.isoformat()}"
        return f"{dated}, so the address may have been the robot's then"
    dated = f"the list {known.name} was {days:,} days old on {day.isoformat()}"
    return f"{dated}, so the address may have become the robot's since; {fetches}"


def _outside(address: str, lists: list[AddressList]) -> list[str]:
    sentences = [f"{address} is outside the ranges {_published(known)}" for known in lists]
    if is_private_address(address):
        sentences.append(f"{address} is not a public address, but perhaps that of a proxy")
    return sentences


def _published(known: AddressList) -> str:
    if known.imported_from:
        return f"of the list {known.name} that was imported from {known.imported_from}, as of {known.as_of}"
    return f"published at {known.url}, as of {known.as_of}"
