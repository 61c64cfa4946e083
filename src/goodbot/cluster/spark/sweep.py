"""Changes rows of a host that no change names: a host that reaches its limit of pages, a lesson that lapses, a page
that can no longer be copied, a scope that has changed."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from goodbot.store.merge.coding import LATER, OUT_OF_SCOPE, READY
from goodbot.store.merge.crawl_rows import UrlRow
from goodbot.store.merge.row_rules import closed, is_left_out_by, is_page, made_ready, requeued
from goodbot.store.merge.storable_text import storable

Reconsider = Callable[[UrlRow], str | None]
"""Returns why a URL that is out of scope stays so; None: it is in scope now."""

_WAITING: Final = pa.array([READY, LATER], pa.int8())


@dataclass(slots=True)
class Sweep:
    """What is to change in all rows of one host.

    `freed`: URLs that no longer represent their copies, so these are requested again. `lapsed`: evidence of lessons
    that no longer hold, so what they left out is ready. `reconsider`: judges URLs that are out of scope. `closing`: why
    the host gets no more visits; None: it may. `pages_lost` counts its visited pages that are requested again.
    """

    freed: frozenset[str] = frozenset()
    lapsed: tuple[str, ...] = ()
    reconsider: Reconsider | None = None
    closing: str | None = None
    pages_lost: int = 0

    def concerns(self, batch: pa.RecordBatch) -> bool:
        """Whether a row of the batch may change."""
        states = batch.column("state")
        if self.closing is not None and pc.any(pc.is_in(states, value_set=_WAITING)).as_py():
            return True
        if (self.lapsed or self.reconsider) and pc.any(pc.equal(states, OUT_OF_SCOPE)).as_py():
            return True
        freed = pa.array(self.freed, pa.string())
        return bool(self.freed) and bool(pc.any(pc.is_in(batch.column("same_as"), value_set=freed)).as_py())

    def apply(self, row: UrlRow) -> UrlRow:
        """Returns the row after the sweep."""
        if row.same_as is not None and row.same_as in self.freed:
            self.pages_lost += is_page(row)
            row = requeued(row)
        if row.state == OUT_OF_SCOPE:
            row = self._in_scope(row)
        return row if self.closing is None else closed(row, self.closing)

    def _in_scope(self, row: UrlRow) -> UrlRow:
        if any(is_left_out_by(row, evidence) for evidence in self.lapsed):
            return made_ready(row)
        if self.reconsider is None:
            return row
        reason = self.reconsider(row)
        if reason is None:
            return made_ready(row)
        return row._replace(refused=storable(reason))
