"""Walks through the sorted rows of a Parquet file, so that most of them are copied as they are."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, TypeVar

import pyarrow as pa

Row = TypeVar("Row")
Key = tuple[str, ...]


class SortedBatches(Generic[Row]):
    """The rows of record batches that are sorted by `columns` (texts, compared by code points), from the first to the
    last. `rows_of` converts a batch to rows."""

    def __init__(
        self,
        batches: Iterator[pa.RecordBatch],
        columns: Sequence[str],
        rows_of: Callable[[pa.RecordBatch], Sequence[Row]],
    ) -> None:
        self._batches = batches
        self._columns = columns
        self._rows_of = rows_of
        self._batch: pa.RecordBatch | None = None
        self._keys: list[Any] = []
        self._at = 0
        self._next_batch()

    def before(self, key: Key | None) -> Iterator[pa.RecordBatch]:
        """Yields and passes the rows whose keys are smaller; None: all that are left."""
        while self._batch is not None:
            end = self._batch.num_rows if key is None else self._place_of(key)
            if end > self._at:
                yield self._batch.slice(self._at, end - self._at)
                self._at = end
            if end < self._batch.num_rows:
                return
            self._next_batch()

    def take(self, key: Key) -> Row | None:
        """Returns and passes the row with this key, if it is the next one; else None."""
        if self._batch is None or self._key(self._at) != key:
            return None
        (row,) = self._rows_of(self._batch.slice(self._at, 1))
        self._at += 1
        if self._at == self._batch.num_rows:
            self._next_batch()
        return row

    def _next_batch(self) -> None:
        self._batch, self._at = None, 0
        for batch in self._batches:
            if batch.num_rows:
                self._batch = batch
                self._keys = [batch.column(name) for name in self._columns]
                return

    def _key(self, place: int) -> Key:
        return tuple(column[place].as_py() for column in self._keys)

    def _place_of(self, key: Key) -> int:
        """Returns the first place from `_at` on whose key is not smaller (bisection)."""
        low, high = self._at, self._batch.num_rows if self._batch is not None else 0
        if high > low and self._key(high - 1) < key:
            return high
        while low < high:
            middle = (low + high) // 2
            if self._key(middle) < key:
                low = middle + 1
            else:
                high = middle
        return low
