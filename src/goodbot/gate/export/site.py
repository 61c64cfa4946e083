"""The value that is exported: one site with its rules, policy and records of robots; and what all formats share."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from goodbot.errors import InputError, quoted
from goodbot.gate.export.notation import Notation
from goodbot.gate.export.rule_lists import OrderedRule, cut_rules
from goodbot.gate.export.visitors import NO_RULES, SiteVisitors, Visitor, visitors_of
from goodbot.gate.policy import Policy
from goodbot.gate.site_rules import SiteRules
from goodbot.watch.remedies.choosing import Records
from goodbot.watch.remedies.targets import Network, address_text

_HOST: Final = re.compile(r"[A-Za-z0-9._:\[\]-]*")

MOST_IN_LINE: Final = 40
"""Networks in one line of configuration; HAProxy takes at most 64 words."""


@dataclass(frozen=True, slots=True)
class ExportedSite:
    """One site, ready to be written in any format."""

    rules: SiteRules
    policy: Policy
    records: Records
    """The registry, the address lists, and the day for which the lists must be up to date."""
    source: str
    """What its robots.txt is called: a file or a URL."""
    host: str = ""
    """The host of the site; empty if not known. Raises InputError if it has other characters than those of names and
    addresses."""

    def __post_init__(self) -> None:
        if not _HOST.fullmatch(self.host):
            raise InputError(f"a configuration cannot have the host {quoted(self.host)}")

    def visitors(self, *, paces: bool) -> SiteVisitors:
        """Returns all visitors. `paces`: whether the format can limit how fast a robot comes; otherwise robots differ
        in their rules only. Takes about a second with the bundled records, most of it once."""
        return visitors_of(self.rules, self.policy, self.records, paces=paces)


class AddressSet(NamedTuple):
    """The published addresses of some visitors."""

    number: int
    """Counts from 1."""
    networks: tuple[Network, ...]
    visitors: tuple[int, ...]


def address_sets(found: SiteVisitors) -> list[AddressSet]:
    """Returns the sets of addresses on which a decision depends. Visitors with equal addresses share one; an empty set
    is that of names that no robot sends."""
    by_networks: dict[tuple[Network, ...], list[int]] = {}
    for number, visitor in enumerate(found.visitors):
        if visitor.networks or visitor.outside:
            by_networks.setdefault(visitor.networks, []).append(number)
    return [
        AddressSet(number, *one)
        for number, one in enumerate(((networks, tuple(visitors)) for networks, visitors in by_networks.items()), 1)
    ]


def with_rules(found: SiteVisitors) -> Iterator[tuple[int, Visitor]]:
    """Yields the visitors to which rules of robots.txt apply, with their places."""
    return ((number, one) for number, one in enumerate(found.visitors) if one.rules != NO_RULES and not one.refused)


def too_long(found: SiteVisitors, notation: Notation) -> list[OrderedRule]:
    """Returns the rules that are too long for a server."""
    return [rule for rules in found.rule_lists for rule in cut_rules(rules, notation)]


def in_lines(networks: Sequence[Network]) -> list[str]:
    """Returns networks with spaces between them, `MOST_IN_LINE` at most in a line."""
    texts = [address_text(network) for network in networks]
    return [" ".join(texts[place : place + MOST_IN_LINE]) for place in range(0, len(texts), MOST_IN_LINE)]
