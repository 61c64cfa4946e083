"""The counts of signed requests (Web Bot Auth)."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from goodbot.registry.signed_request import SignatureFailure

MOST_NONCES: Final = 50_000
"""Nonces that are remembered, the last ones; a signature should be valid for 24 hours at most."""


@dataclass(slots=True)
class SignatureCounts:
    """The signed requests of one robot."""

    signed: int = 0
    verified: int = 0
    replayed: int = 0
    """Of the verified ones, those with a nonce that an earlier request had: someone may have copied the signature, or a
    proxy has repeated the request."""
    failed: dict[SignatureFailure, int] = field(default_factory=dict)

    def count(self, failure: SignatureFailure | None) -> None:
        """Counts a signed request."""
        self.signed += 1
        if failure is None:
            self.verified += 1
        else:
            self.failed[failure] = self.failed.get(failure, 0) + 1

    def merge(self, other: "SignatureCounts") -> None:
        """Adds other requests."""
        self.signed += other.signed
        self.verified += other.verified
        self.replayed += other.replayed
        for failure, count in other.failed.items():
            self.failed[failure] = self.failed.get(failure, 0) + count


@dataclass(slots=True)
class NonceBook:
    """The nonces of verified requests, as hashes of 64 bits."""

    seen: dict[int, None] = field(default_factory=dict)

    def is_repeated(self, nonce: int) -> bool:
        """Whether an earlier request had this nonce; remembers it."""
        if nonce in self.seen:
            return True
        self.seen[nonce] = None
        if len(self.seen) > MOST_NONCES:
            del self.seen[next(iter(self.seen))]
        return False


def summed(counts: Iterable[SignatureCounts]) -> SignatureCounts:
    """Adds counts up."""
    total = SignatureCounts()
    for one in counts:
        total.merge(one)
    return total
