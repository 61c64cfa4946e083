"""Recognizes who sends a request: a robot, verified or not, an impostor, another program, or a browser."""

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple, Protocol

from goodbot.gate.gate_request import GateRequest
from goodbot.lru import LruCache
from goodbot.registry import KnownRobot, Tier
from goodbot.registry.agent_kind import (
    begins_as_browser,
    names_a_browser,
    names_a_feed_reader,
    names_a_robot,
    names_an_app,
)
from goodbot.registry.lookup import MAX_READ
from goodbot.registry.signed_request import KeyDirectory, SignedRequest, verify_request
from goodbot.watch.addresses import is_local_address
from goodbot.watch.counting.identities import Identities

Identity = Literal["verified", "unverified", "impostor", "undeclared", "browser"]
"""`unverified`: a robot that says who it is, without proof. `undeclared`: a program that names no robot, or nothing at
all. `browser`: what a browser or an app of a telephone sends."""

Proof = Literal["signature", "addresses", "reverse DNS", ""]
"""How a robot was verified, or an impostor found out."""

MOST_AGENTS: Final = 10_000
"""User-Agents that are not on record, of which the kind is remembered."""

_IDENTITY_OF_TIER: Final[dict[Tier, Identity]] = {"verified": "verified", "impostor": "impostor"}


class Client(NamedTuple):
    """Who sends a request."""

    identity: Identity
    robot: KnownRobot | None
    """The robot on record, which may be software that anyone can run."""
    name: str
    """What a log calls it: the name of the robot on record, or of a key directory; else empty."""
    proof: Proof = ""


class Confirmations(Protocol):
    """What reverse DNS showed."""

    def tier(self, robot: KnownRobot, address: str, tier: Tier) -> Tier:
        """Returns the tier of an address that names this robot, `tier` without DNS. Returns at once; what is not known
        yet is looked up in the background."""
        ...


class NoConfirmations:
    """A gate that does not use reverse DNS."""

    def tier(self, robot: KnownRobot, address: str, tier: Tier) -> Tier:
        return tier


class Clients:
    """Recognizes clients by the signature of a request, then by the addresses that a robot's operator publishes, then
    by reverse DNS. It waits for nothing."""

    def __init__(
        self,
        identities: Identities,
        directories: Sequence[KeyDirectory] = (),
        confirmations: Confirmations | None = None,
    ) -> None:
        self._identities = identities
        self._directories = directories
        self._confirmations = NoConfirmations() if confirmations is None else confirmations
        self._kinds: LruCache[str, Client] = LruCache(MOST_AGENTS)

    def recognize(self, request: GateRequest, now: float) -> Client:
        """Recognizes the client at a time (Unix seconds). Takes about 2 µs, 0.1 ms more for a signature whose key is
        known. Never raises."""
        robot = self._identities.robot_of(request.user_agent[:MAX_READ])  # it is kept in memory
        if request.signature is not None and self._directories:
            signer = self._signer(request, robot, now)
            if signer is not None:
                return signer
        if robot is not None and robot.purpose != "tool":
            return self._declared(robot, request.client, now)
        if robot is not None:
            return Client("undeclared", robot, robot.name)
        return self._kinds.get_or(request.user_agent, lambda: _kind_of(request.user_agent))

    def _declared(self, robot: KnownRobot, address: str | None, now: float) -> Client:
        if address is None:
            return Client("impostor" if robot.control else "unverified", robot, robot.name)
        tier = self._identities.key_of(robot, address, int(now)).tier
        proof: Proof = "addresses"
        if robot.reverse_dns and tier != "verified" and not is_local_address(address):
            confirmed = self._confirmations.tier(robot, address, tier)
            proof = "addresses" if confirmed == tier else "reverse DNS"
            tier = confirmed
        identity = _IDENTITY_OF_TIER.get(tier, "unverified")
        return Client(identity, robot, robot.name, "" if identity == "unverified" else proof)

    def _signer(self, request: GateRequest, robot: KnownRobot | None, now: float) -> Client | None:
        """Returns the robot whose key signed the request; None if that is not the one that the User-Agent names, or no
        known key did. A browser may carry a signature too: an agent that works in it."""
        fields = request.signature
        if fields is None:
            return None
        signed = SignedRequest(
            fields.signature_input,
            fields.signature,
            fields.signature_agent,
            request.authority,
            request.method,
            request.target,
            request.user_agent,
            now,
            now,
        )
        result = verify_request(signed, self._directories)
        if result is None or result.failure is not None or result.directory is None:
            return None
        directory = result.directory
        if robot is not None and robot.purpose != "tool":
            return Client("verified", robot, robot.name, "signature") if robot.name in directory.robots else None
        return Client("verified", self._only_robot(directory), directory.name, "signature")

    def _only_robot(self, directory: KeyDirectory) -> KnownRobot | None:
        """Returns the robot of a directory that has one: its rules apply, though the User-Agent does not name it."""
        names = [*directory.robots]
        return self._identities.robot_of(names[0]) if len(names) == 1 else None


def _kind_of(user_agent: str) -> Client:
    """Returns the client with a User-Agent that is not on record. Feed readers count as programs: people chose what
    they fetch."""
    if names_a_robot(user_agent) and not names_a_feed_reader(user_agent):
        return Client("unverified", None, "")
    is_browser = begins_as_browser(user_agent) or names_a_browser(user_agent) or names_an_app(user_agent)
    return Client("browser" if is_browser else "undeclared", None, "")
