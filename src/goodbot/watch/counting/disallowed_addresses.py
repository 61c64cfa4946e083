"""Counts, for each address of a client without a record, the requests that robots.txt disallows."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from goodbot.watch.counting.frequent import FrequentItems, reduced
from goodbot.watch.obedience.counts import MOST_LINES

MOST_ADDRESSES: Final = 2000
"""Addresses that are counted exactly or nearly so, those with most disallowed requests."""


class AddressEvidence(NamedTuple):
    """A disallowed request."""

    log_line: str
    """As the log has it (wire text)."""
    rule: str
    """As written, or the reason if no rule decided."""
    line: int
    """The line of the rule; 0 without one."""
    since: float
    """The version of robots.txt."""


@dataclass(slots=True)
class AddressBlock:
    """Disallowed requests of one block, by address."""

    not_known: int = 0
    """Requests before the first version of robots.txt."""
    requests: dict[str, int] = field(default_factory=dict)
    error: int = 0
    """Each count may be too low by this."""
    evidence: dict[str, list[AddressEvidence]] = field(default_factory=dict)
    """The first disallowed requests."""

    def add(self, address: str, evidence: Callable[[], AddressEvidence]) -> None:
        """Counts a disallowed request."""
        self.requests[address] = self.requests.get(address, 0) + 1
        found = self.evidence.setdefault(address, [])
        if len(found) < MOST_LINES:
            found.append(evidence())

    def reduce(self) -> None:
        """Keeps only the addresses with most requests."""
        self.requests, self.error = reduced(self.requests, MOST_ADDRESSES)
        self.evidence = {address: found for address, found in self.evidence.items() if address in self.requests}


@dataclass(slots=True)
class DisallowedAddresses:
    """Disallowed requests by address."""

    not_known: int = 0
    requests: FrequentItems = field(default_factory=lambda: FrequentItems(MOST_ADDRESSES))
    evidence: dict[str, list[AddressEvidence]] = field(default_factory=dict)

    def add(self, block: AddressBlock) -> None:
        """Adds the next block."""
        self.not_known += block.not_known
        self.requests.add(block.requests, block.error)
        for address, found in block.evidence.items():
            self.evidence[address] = [*self.evidence.get(address, ()), *found][:MOST_LINES]
        self.evidence = {address: found for address, found in self.evidence.items() if address in self.requests.counts}
