"""Estimates how many different addresses were seen (HyperLogLog), in some kilobytes.

Flajolet, Fusy, Gandouet, Meunier: HyperLogLog, 2007. The hash is CRC-32, mixed: two of a million addresses share one
with a chance that adds 0.01 % to the error.
"""

import math
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

MIX: Final = 0x9E3779B97F4A7C15
"""Spreads a hash over 64 bits: 2^64 divided by the golden ratio, an odd number."""

_MASK: Final = (1 << 64) - 1


def address_hash(address: str) -> int:
    """Returns a hash of 32 bits that is the same on every machine."""
    return zlib.crc32(address.encode("latin-1", "replace"))


@dataclass(slots=True)
class DistinctCount:
    """Counts different hashes: exactly up to `most_exact`, then with a standard error of 1.04 / √(2^bits)."""

    bits: int = 12
    most_exact: int = 512
    few: set[int] | None = field(default_factory=set)
    """The hashes themselves, as long as they are few."""
    ranks: bytearray = field(default_factory=bytearray)

    def update(self, hashes: Iterable[int]) -> None:
        """Adds hashes of `address_hash`."""
        if self.few is not None:
            self.few.update(hashes)
            if len(self.few) <= self.most_exact:
                return
            hashes, self.few, self.ranks = self.few, None, bytearray(1 << self.bits)
        ranks, bits = self.ranks, self.bits
        places = (1 << bits) - 1
        for value in hashes:
            spread = value * MIX & _MASK
            spread = (spread ^ spread >> 32) * MIX & _MASK
            spread ^= spread >> 29
            place = spread & places
            rank = 65 - bits - (spread >> bits).bit_length()
            ranks[place] = max(ranks[place], rank)

    def count(self) -> int:
        """Returns how many there are, estimated above `most_exact`."""
        if self.few is not None:
            return len(self.few)
        size = len(self.ranks)
        raw = 0.7213 / (1 + 1.079 / size) * size * size / sum(2.0**-rank for rank in self.ranks)
        empty = self.ranks.count(0)
        return round(size * math.log(size / empty) if raw <= 2.5 * size and empty else raw)

    @property
    def is_exact(self) -> bool:
        return self.few is not None
