"""The table of addresses: the busiest `KEPT` rows stay, the others are pooled, so memory is bounded."""

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Final, Protocol
from zlib import crc32

from goodbot.watch.counting.clients import BLOCK_COLUMNS, SUMS, TABLE_COLUMNS
from goodbot.watch.counting.distinct import DistinctCount

KEPT: Final = 20_000
"""Addresses that are counted one by one."""

MOST: Final = 3 * KEPT
"""Rows after a block above which the table is shrunk to `KEPT`."""

SKETCH_PLACES: Final = 1 << 21
"""Places of the sketch that remembers how many requests of an address were pooled."""

VISITOR_BITS: Final = 14
"""The error of the estimated number of addresses is 0.8 %."""


class ClientBlock(Protocol):
    """The rows of one block, in the order in which the addresses appear: a number for each of `BLOCK_COLUMNS`."""

    def add_to(self, table: "ClientTable") -> None:
        """Adds the rows to those of earlier blocks."""
        ...


@dataclass(slots=True)
class Pool:
    """What addresses without a row did."""

    rows: int = 0
    """How often a row was pooled; an address that came back counts again."""
    sums: dict[str, int] = field(default_factory=lambda: dict.fromkeys(SUMS, 0))


class ClientTable:
    """One row for each address; see `TABLE_COLUMNS`.

    When there are more than `MOST` rows after a block, the `KEPT` with most requests stay. Requests that were pooled
    before count too, as estimated by a sketch (count-min, one row). Of equal rows the first ones stay. So an address
    that comes rarely but again and again gets a row in the end. Its `missing` says how many of its requests may be in
    the pool.
    """

    def __init__(self) -> None:
        self.slots: dict[str, int] = {}
        self.agents: list[str] = []
        self.columns = {name: array("q") for name in TABLE_COLUMNS}
        self.pool = Pool()
        self.visitors = DistinctCount(VISITOR_BITS, KEPT)
        """All addresses ever added, pooled ones too."""
        self._sketch: array[int] | None = None

    def __len__(self) -> int:
        return len(self.slots)

    def append(self, addresses: list[str], agents: list[str], columns: Mapping[str, "array[int]"]) -> list[int]:
        """Adds new rows; returns the hashes of their addresses, which `visitors` has to be given."""
        self.slots.update(zip(addresses, count(len(self.agents))))
        self.agents += agents
        for name in BLOCK_COLUMNS:
            self.columns[name] += columns[name]
        hashes = [crc32(address.encode("latin-1", "replace")) for address in addresses]
        self.columns["hash"].extend(hashes)
        sketch = self._sketch
        self.columns["missing"].extend(
            [sketch[value % SKETCH_PLACES] for value in hashes] if sketch else [0] * len(hashes)
        )
        return hashes

    def keep(self, stay: Sequence[int], columns: dict[str, "array[int]"]) -> None:
        """Replaces the rows by those that stay, with their columns."""
        names = list(self.slots)
        self.slots = dict(zip(map(names.__getitem__, stay), count()))
        self.agents = list(map(self.agents.__getitem__, stay))
        self.columns = columns

    @property
    def has_sketch(self) -> bool:
        return self._sketch is not None

    @property
    def sketch(self) -> "array[int]":
        """Requests that were pooled, by the hash of their address."""
        if self._sketch is None:
            self._sketch = array("I", bytes(4 * SKETCH_PLACES))
        return self._sketch
