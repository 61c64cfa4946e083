"""Decides what happens to a request: the order in which identity, robots.txt, pace and policy count."""

import math
import re
from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

from goodbot.exclusion import Verdict
from goodbot.gate.clients import Client, Clients
from goodbot.gate.gate_request import GateRequest
from goodbot.gate.policy import Policy
from goodbot.gate.rate_limits import Bucket, RateLimits
from goodbot.gate.site_rules import RobotRules, SiteRules
from goodbot.watch.addresses import packed_address

Code = Literal["allowed", "disallowed", "too-fast", "not-now", "impostor", "refused", "ambiguous"]
"""`disallowed`: by a rule of robots.txt. `too-fast`: faster than robots.txt or the policy permits. `not-now`: outside
the hours of robots.txt, or no rules are known and the policy refuses robots until then. `impostor`, `refused`: by the
policy. `ambiguous`: too many different targets."""

STATUS: Final[Mapping[Code, int]] = {
    "allowed": 200,
    "disallowed": 403,
    "too-fast": 429,
    "not-now": 429,
    "impostor": 403,
    "refused": 403,
    "ambiguous": 403,
}

OPEN: Final = re.compile(r"/robots\.txt|/\.well-known/acme-challenge/[A-Za-z0-9_-]+")
"""What is open to everyone: robots.txt itself, and the answers to those who issue certificates (RFC 8555 §8.3)."""

PACE: Final = "pace"
"""The first part of the key of a bucket for what robots.txt asks for."""

EARLY_SHARE, MOST_EARLY_S = 0.2, 2.0
"""How much too early a request may come, as a share of the delay and in seconds at most. Networks delay some requests
more than others, and a robot that keeps its delay is never refused for that."""

MOST_BURST: Final = 1000
LONGEST_WAIT_S: Final = 86_400


class Decision(NamedTuple):
    """What happens to a request, and why."""

    code: Code
    client: Client
    why: str
    """A sentence for people, without a final dot."""
    verdict: Verdict | None = None
    """Of robots.txt, if a rule decided."""
    retry_after_s: int = 0
    """When the request may come again."""

    @property
    def status(self) -> int:
        """200, 403 or 429."""
        return STATUS[self.code]

    @property
    def rule(self) -> str:
        """The rule that decided, with its line: `line 12: Disallow: /private`; empty if none did."""
        if self.verdict is None or self.verdict.rule is None:
            return ""
        return f"line {self.verdict.line}: {self.verdict.rule}"


class Sites:
    """The rules of all sites by host; `other` are those of every other host. None: no robots.txt could be read yet."""

    def __init__(self, other: SiteRules | None, by_host: Mapping[str, SiteRules | None]) -> None:
        self._other = other
        self._by_host = by_host

    def rules(self, host: str) -> SiteRules | None:
        """Returns the rules of the site at a host."""
        return self._by_host.get(host, self._other)

    def name(self, host: str) -> str:
        """Returns the host of a site; empty for that of every other host, which clients may name as they like."""
        return host if host in self._by_host else ""


class Gate:
    """Decides about requests. Nothing in it waits, opens a file or a socket, or reads a clock.

    The order: requests that name too many URLs; what is open to everyone (`OPEN`); robots that the policy
    refuses; impostors; verified robots that the policy exempts; browsers; the rules of robots.txt; hours and pace that
    robots.txt asks for; limits of the policy.
    """

    def __init__(self, policy: Policy, clients: Clients, sites: Sites, limits: RateLimits) -> None:
        self.policy: Final = policy
        self._clients = clients
        self._sites = sites
        self._limits = limits

    def decide(self, request: GateRequest, now: float, passed_s: float) -> Decision:
        """Decides about a request that came at `now` (Unix seconds). `passed_s` is the time by a clock that is never
        set back, for paces. Takes 20 to 50 µs; never raises; the memory it takes is bounded."""
        client = self._clients.recognize(request, now)
        if not request.targets:
            return Decision("ambiguous", client, "the request names too many different URLs")
        if all(map(OPEN.fullmatch, request.targets)):
            return Decision("allowed", client, "this URL is open to everyone")
        wish = self.policy.robots.get(client.name, "rules") if client.name else "rules"
        if wish == "refuse":
            return Decision("refused", client, f"this site refuses {client.name}")
        if client.identity == "impostor" and self.policy.impostors.action == "refuse":
            return Decision("impostor", client, _impostor(client))
        if wish == "allow" and client.identity == "verified":
            return Decision("allowed", client, f"this site lets {client.name} do everything")
        if client.identity == "browser":
            return self._browser(request, client, passed_s)
        return self._program(request, client, now, passed_s)

    # ---- programs

    def _program(self, request: GateRequest, client: Client, now: float, passed_s: float) -> Decision:
        site = self._sites.rules(request.host)
        named_only = client.identity == "undeclared" and self.policy.undeclared.rules == "named"
        buckets: list[Bucket] = []
        if site is None:
            if self.policy.unknown_rules == "refuse":
                return Decision("not-now", client, "the robots.txt of this site could not be read", None, 60)
        else:
            rules = site.of(client, request.user_agent, named_only=named_only)
            if (verdict := rules.disallows(request.targets)) is not None:
                return Decision("disallowed", client, _disallowed(verdict), verdict)
            if rules.timing is not None:
                visit = rules.timing.at(now)
                if not visit.may_come:
                    wait_s = _whole_seconds(visit.from_at - now)
                    return Decision("not-now", client, visit.reason.removesuffix("."), None, wait_s)
                buckets += self._paced(request, client, rules, visit.gap_s)
        limit = self._limit_of(request, client)
        if limit is None:
            return Decision("refused", client, f"this site refuses {_PLURAL[client.identity]}")
        return self._within(client, [*buckets, *limit], passed_s)

    def _paced(self, request: GateRequest, client: Client, rules: RobotRules, gap_s: float | None) -> list[Bucket]:
        """Returns the bucket for the pace that robots.txt asks for. A verified robot has one for all its addresses. Of
        all others each network has its own, or a stranger could use up the pace of a robot."""
        if not gap_s or rules.timing is None:
            return []
        burst = next((rate.documents for rate in rules.timing.rates if rate.gap_s == gap_s), 1)
        site, name = self._sites.name(request.host), rules.rules.name
        own = client.identity == "verified"
        key = (PACE, site, name) if own else (PACE, site, name, network_of(request.client))
        return [Bucket(key, gap_s, min(burst, MOST_BURST), min(EARLY_SHARE * gap_s, MOST_EARLY_S))]

    def _limit_of(self, request: GateRequest, client: Client) -> list[Bucket] | None:
        """Returns the buckets of the policy; None if it refuses the request. Without the address of the client nothing
        can be limited by it."""
        policy = self.policy
        if client.identity in ("unverified", "impostor"):
            if policy.unverified.action == "refuse":
                return None
            if policy.unverified.action == "allow" or request.client is None:
                return []
            key = ("robot", client.name, network_of(request.client))
            return [Bucket(key, 60 / policy.unverified.per_minute, policy.unverified.burst)]
        if client.identity != "undeclared":
            return []
        undeclared = policy.undeclared
        if undeclared.action == "refuse":
            return None
        if undeclared.action == "allow" or request.client is None:
            return []
        return [
            Bucket(("address", address_of(request.client)), 60 / undeclared.per_minute, undeclared.burst),
            Bucket(
                ("network", network_of(request.client)), 60 / undeclared.network_per_minute, undeclared.network_burst
            ),
        ]

    def _browser(self, request: GateRequest, client: Client, passed_s: float) -> Decision:
        browsers = self.policy.browsers
        if browsers.action == "allow" or request.client is None:
            return Decision("allowed", client, "robots.txt is not for people's browsers")
        bucket = Bucket(("browser", address_of(request.client)), 60 / browsers.per_minute, browsers.burst)
        return self._within(client, [bucket], passed_s)

    def _within(self, client: Client, buckets: list[Bucket], passed_s: float) -> Decision:
        if not (wait_s := self._limits.take(buckets, passed_s)):
            return Decision("allowed", client, "no rule forbids it")
        exceeded = max(buckets, key=lambda bucket: self._limits.wait_s(bucket, passed_s))
        return Decision("too-fast", client, _too_fast(exceeded), None, _whole_seconds(wait_s))


_PLURAL: Final = {"unverified": "robots that cannot be verified", "undeclared": "programs that are not robots"}

_LIMITED: Final = {
    "robot": "one network in the name of a robot that cannot be verified",
    "address": "one address",
    "network": "one network",
    "browser": "one address",
}
"""Whose requests the policy limits, by the first part of the key of a bucket."""


def _too_fast(bucket: Bucket) -> str:
    kind, *_ = bucket.key
    if kind == PACE:
        return f"this site's robots.txt asks for {bucket.gap_s:.3g} s between two requests"
    return f"this site permits {60 / bucket.gap_s:.3g} requests a minute from {_LIMITED[kind]}"


def _impostor(client: Client) -> str:
    if client.robot is not None and client.robot.control:
        return f"{client.name} is used only in robots.txt; no robot sends this name"
    if client.proof == "reverse DNS":
        return f"the request uses the name of {client.name}, but its address has no host name of {client.name}"
    return f"the request uses the name of {client.name}, but comes from none of its published addresses"


def _disallowed(verdict: Verdict) -> str:
    return f"this site's robots.txt closes this URL to {verdict.agent or 'all robots'}"


def _whole_seconds(seconds: float) -> int:
    return min(max(1, math.ceil(seconds)), LONGEST_WAIT_S)


def address_of(client: str | None) -> bytes:
    """Returns what counts as one client: an IPv4 address, or the /64 of an IPv6 one, which one customer of a provider
    usually has. Empty if not known."""
    packed = packed_address(client) if client is not None else None
    return b"" if packed is None else packed if len(packed) == 4 else packed[:8]


def network_of(client: str | None) -> bytes:
    """Returns what counts as one network: a /24 of IPv4, a /48 of IPv6. Empty if not known."""
    packed = packed_address(client) if client is not None else None
    return b"" if packed is None else packed[:3] if len(packed) == 4 else packed[:6]
