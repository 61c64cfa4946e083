"""Counts blocks, and makes tallies comparable."""

from collections.abc import Sequence
from typing import Any, Final

import pytest

from goodbot.watch.blocks import Block
from goodbot.watch.counting import client_columns, client_rows
from goodbot.watch.counting.block_counts import BlockCounter
from goodbot.watch.counting.counting_options import CountingOptions
from goodbot.watch.counting.identities import Identities
from goodbot.watch.counting.tally import Tally

IDENTITIES: Final = Identities()
OPTIONS: Final = CountingOptions()


def tally_of(counter: BlockCounter, blocks: Sequence[bytes | Block]) -> Tally:
    """Counts blocks one after the other."""
    tally = Tally()
    for block in blocks:
        tally.add(counter.count(block if isinstance(block, Block) else Block(block, "x")))
    return tally


def figures(tally: Tally) -> dict[str, Any]:
    """Everything a tally has, in a form that can be compared."""
    table = tally.clients
    return {name: getattr(tally, name) for name in Tally.__slots__ if name != "clients"} | {
        "slots": [*table.slots.items()],
        "agents": table.agents,
        "columns": {name: column.tolist() for name, column in table.columns.items()},
        "pool": table.pool,
        "visitors": table.visitors,
        "sketch": table.sketch.tobytes() if table.has_sketch else None,
    }


def shrink_to(kept: int, most: int, patch: pytest.MonkeyPatch) -> None:
    """Pools addresses if there are more than `most` after a block: all but `kept`."""
    for module in (client_rows, client_columns):
        patch.setattr(module, "MOST", most)
        patch.setattr(module, "_shrink", _shrinking(module._shrink, kept))


def _shrinking(shrink: Any, kept: int) -> Any:
    return lambda table: shrink(table, kept)
