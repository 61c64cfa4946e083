"""Sites for exports, and the gate that decides about the same requests."""

from datetime import UTC, date, datetime
from functools import cache
from typing import Final

from goodbot.exclusion import Access
from goodbot.gate.clients import Clients
from goodbot.gate.decision import Decision, Gate, Sites
from goodbot.gate.export import ExportedSite
from goodbot.gate.gate_request import read_request
from goodbot.gate.policy import parse_policy
from goodbot.gate.rate_limits import RateLimits
from goodbot.gate.site_rules import SiteRules
from goodbot.registry import AddressBook, bundled_registry
from goodbot.watch.addresses import AddressRanges
from goodbot.watch.counting.identities import Identities
from goodbot.watch.remedies.choosing import Records

TODAY: Final = date(2026, 9, 10)
"""A day on which the bundled address lists are recent."""
NOW: Final = datetime(2026, 9, 10, 12, tzinfo=UTC).timestamp()

HOST: Final = "example.org"


@cache
def book() -> AddressBook:
    return AddressBook()


def site_of(robots_txt: str | bytes, policy: str = "", host: str = "", today: date = TODAY) -> ExportedSite:
    """Returns a site with this robots.txt and gate.toml."""
    body = robots_txt.encode() if isinstance(robots_txt, str) else robots_txt
    rules = SiteRules(Access.from_response(200, (), body, NOW))
    records = Records(bundled_registry(), book(), today)
    return ExportedSite(rules, parse_policy(policy.encode()), records, "robots.txt", host)


class SiteGate:
    """The gate of a site."""

    def __init__(self, site: ExportedSite) -> None:
        identities = Identities(bundled_registry().find, book())
        self._gate = Gate(site.policy, Clients(identities), Sites(site.rules, {}), RateLimits(100_000))

    def decide(self, agent: str, address: str, uri: str) -> Decision:
        fields = [(b"host", HOST.encode()), (b"x-original-uri", uri.encode("latin-1"))]
        if agent:
            fields.append((b"user-agent", agent.encode("latin-1")))
        request = read_request("GET", "/", fields, address, AddressRanges([]))
        return self._gate.decide(request, NOW, 0.0)
