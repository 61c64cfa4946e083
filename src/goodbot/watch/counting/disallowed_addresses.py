"""Counts, for each address of a client without a record, the requests that robots.txt disallows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from goodbot.watch.counting.frequent import FrequentItems, reduced
from goodbot.watch.obedience.counts import MOST_LINES, MOST_PENDING

MOST_ADDRESSES: Final = 2000
"""Addresses that are counted exactly or nearly so, those with most disallowed requests."""


class AddressEvidence(NamedTuple):
    """A disallowed request."""

    at: int
    """Unix seconds."""
    log_line: str
    """As the log has it (wire text)."""
    rule: str
    """As written, or the reason if no rule decided."""
    line: int
    """The line of the rule; 0 without one."""
    since: float
    """The version of robots.txt."""


@dataclass(slots=True)
class PendingAddress:
    """Disallowed requests of one address with one request line that came after the last copy of robots.txt."""

    address: str
    name: str
    """The name by which rules were chosen."""
    request: str
    requests: int
    first_at: int
    last_at: int
    evidence: list[AddressEvidence]

    def merge(self, other: "PendingAddress") -> None:
        """Adds later requests."""
        self.requests += other.requests
        self.first_at = min(self.first_at, other.first_at)
        self.last_at = max(self.last_at, other.last_at)
        self.evidence = first_evidence(*self.evidence, *other.evidence)


def first_evidence(*evidence: AddressEvidence) -> list[AddressEvidence]:
    """Returns the first requests by time, at most `MOST_LINES`."""
    return sorted(evidence, key=lambda one: one.at)[:MOST_LINES]


@dataclass(slots=True)
class AddressBlock:
    """Disallowed requests of one block, by address."""

    requests: dict[str, int] = field(default_factory=dict)
    error: int = 0
    """Each count may be too low by this."""
    evidence: dict[str, list[AddressEvidence]] = field(default_factory=dict)
    """The first disallowed requests."""
    pending: dict[str, PendingAddress] = field(default_factory=dict)
    """Requests after the last copy, which are not among `requests`; by address, name and request line."""

    def add(self, address: str, evidence: Callable[[], AddressEvidence]) -> None:
        """Counts a disallowed request."""
        self.requests[address] = self.requests.get(address, 0) + 1
        found = self.evidence.setdefault(address, [])
        if len(found) < MOST_LINES:
            found.append(evidence())

    def add_pending(
        self, address: str, name: str, request: str, at: int, evidence: Callable[[], AddressEvidence]
    ) -> None:
        """Keeps a disallowed request that came after the last copy."""
        key = f"{address}\n{name}\n{request}"
        pending = self.pending.get(key)
        if pending is None:
            self.pending[key] = PendingAddress(address, name, request, 1, at, at, [evidence()])
        else:
            kept = [evidence()] if len(pending.evidence) < MOST_LINES else []
            pending.merge(PendingAddress(address, name, request, 1, at, at, kept))

    def reduce(self) -> None:
        """Keeps only the addresses with most requests."""
        self.requests, self.error = reduced(self.requests, MOST_ADDRESSES)
        self.evidence = {address: found for address, found in self.evidence.items() if address in self.requests}


@dataclass(slots=True)
class DisallowedAddresses:
    """Disallowed requests by address."""

    requests: FrequentItems = field(default_factory=lambda: FrequentItems(MOST_ADDRESSES))
    evidence: dict[str, list[AddressEvidence]] = field(default_factory=dict)
    pending: dict[str, PendingAddress] = field(default_factory=dict)
    """At most `MOST_PENDING`."""

    def add(self, block: AddressBlock) -> None:
        """Adds the next block."""
        for key, pending in block.pending.items():
            if key in self.pending:
                self.pending[key].merge(pending)
            elif len(self.pending) < MOST_PENDING:
                self.pending[key] = pending
            else:
                self.add_disallowed(pending)
        self._add(block.requests, block.error, block.evidence)

    def add_disallowed(self, pending: PendingAddress) -> None:
        """Counts requests as disallowed that were pending."""
        self._add({pending.address: pending.requests}, 0, {pending.address: pending.evidence})

    def _add(self, requests: Mapping[str, int], error: int, evidence: Mapping[str, list[AddressEvidence]]) -> None:
        self.requests.add(requests, error)
        for address, found in evidence.items():
            self.evidence[address] = first_evidence(*self.evidence.get(address, ()), *found)
        self.evidence = {address: found for address, found in self.evidence.items() if address in self.requests.counts}
