"""Keeps the counts of a log in bytes, so that counting can go on later (`goodbot watch --state FILE`)."""

import zlib
from array import array
from typing import Final

import msgspec

from goodbot.watch.counting.block_counts import MOST_HOSTS
from goodbot.watch.counting.client_table import SKETCH_PLACES, VISITOR_BITS, ClientTable, Pool
from goodbot.watch.counting.clients import SUMS, TABLE_COLUMNS
from goodbot.watch.counting.disallowed_addresses import DisallowedAddresses
from goodbot.watch.counting.distinct import DistinctCount
from goodbot.watch.counting.frequent import FrequentItems
from goodbot.watch.counting.request_kinds import KINDS
from goodbot.watch.counting.robot_totals import Durations, RequestCounts, RobotKey, RobotTotals
from goodbot.watch.counting.signature_counts import NonceBook, SignatureCounts
from goodbot.watch.counting.tally import Tally
from goodbot.watch.counting.timeline import HOUR_S
from goodbot.watch.log_entries import SkipReason

_CELL_BYTES: Final = 8
_SKETCH_BYTES: Final = 4 * SKETCH_PLACES


class SavedClients(msgspec.Struct):
    """A `ClientTable`."""

    addresses: list[str]
    agents: list[str]
    columns: dict[str, bytes]
    pool: Pool
    visitors: DistinctCount
    sketch: bytes | None
    """Compressed by zlib."""


class SavedTally(msgspec.Struct):
    """A `Tally`, in values that msgspec can write and read."""

    clients: SavedClients
    lines: int
    skipped: dict[SkipReason, int]
    outside: int
    formats: dict[str, int]
    counts: RequestCounts
    durations: Durations
    robots_txt: dict[int, int]
    requested: FrequentItems
    robots: list[tuple[RobotKey, RobotTotals]]
    disallowed: DisallowedAddresses = msgspec.field(default_factory=DisallowedAddresses)
    signers: dict[str, SignatureCounts] = msgspec.field(default_factory=dict)
    nonces: NonceBook = msgspec.field(default_factory=NonceBook)
    elsewhere: FrequentItems = msgspec.field(default_factory=lambda: FrequentItems(MOST_HOSTS))
    hosts: FrequentItems = msgspec.field(default_factory=lambda: FrequentItems(MOST_HOSTS))


def saved(tally: Tally) -> SavedTally:
    """Returns the counts as plain values."""
    table = tally.clients
    clients = SavedClients(
        [*table.slots],
        table.agents,
        {name: column.tobytes() for name, column in table.columns.items()},
        table.pool,
        table.visitors,
        zlib.compress(table.sketch.tobytes(), 1) if table.has_sketch else None,
    )
    return SavedTally(
        clients,
        tally.lines,
        tally.skipped,
        tally.outside,
        tally.formats,
        tally.counts,
        tally.durations,
        tally.robots_txt,
        tally.requested,
        [*tally.robots.items()],
        tally.disallowed,
        tally.signers,
        tally.nonces,
        tally.elsewhere,
        tally.hosts,
    )


def restored(state: SavedTally) -> Tally:
    """Returns the counts again. Raises ValueError if they do not fit together."""
    return Tally(
        _restored_clients(state.clients),
        state.lines,
        state.skipped,
        state.outside,
        state.formats,
        _checked(state.counts),
        state.durations,
        state.robots_txt,
        _checked_items(state.requested),
        {key: _checked_robot(totals) for key, totals in state.robots},
        _checked_disallowed(state.disallowed),
        _checked_items(state.elsewhere),
        _checked_items(state.hosts),
        state.signers,
        state.nonces,
    )


def _restored_clients(state: SavedClients) -> ClientTable:
    table = ClientTable()
    table.slots = {address: slot for slot, address in enumerate(state.addresses)}
    table.agents = state.agents
    rows = len(table.slots)
    fits = set(state.columns) == set(TABLE_COLUMNS) and set(state.pool.sums) == set(SUMS)
    fits = fits and len(state.agents) == len(state.addresses) == rows
    if not fits or any(len(column) != _CELL_BYTES * rows for column in state.columns.values()):
        raise ValueError("the table of addresses is damaged")
    table.columns = {name: array("q", state.columns[name]) for name in TABLE_COLUMNS}
    if min(table.columns["requests"], default=0) < 0:
        raise ValueError("the requests of addresses are damaged")
    table.pool = state.pool
    table.visitors = _checked_visitors(state.visitors)
    if state.sketch is not None:
        table.sketch[:] = array("I", _unpacked(state.sketch))
    return table


def _unpacked(sketch: bytes) -> bytes:
    decompressor = zlib.decompressobj()
    try:
        unpacked = decompressor.decompress(sketch, _SKETCH_BYTES + 1)
    except zlib.error as error:
        raise ValueError("the sketch of pooled addresses is damaged") from error
    if len(unpacked) != _SKETCH_BYTES or not decompressor.eof:
        raise ValueError("the sketch of pooled addresses is damaged")
    return unpacked


def _checked_robot(totals: RobotTotals) -> RobotTotals:
    _checked(totals.counts)
    _checked_visitors(totals.visitors)
    if totals.timeline.span_s < HOUR_S:
        raise ValueError("the requests over time are damaged")
    for items in (totals.lines, totals.addresses, totals.agents):
        _checked_items(items)
    return totals


def _checked_disallowed(disallowed: DisallowedAddresses) -> DisallowedAddresses:
    _checked_items(disallowed.requests)
    return disallowed


def _checked(counts: RequestCounts) -> RequestCounts:
    if len(counts.kinds) != KINDS or len(counts.hours) != 24:
        raise ValueError("the counts of kinds and hours are damaged")
    return counts


def _checked_items(items: FrequentItems) -> FrequentItems:
    if items.kept < 1:
        raise ValueError("the most frequent items are damaged")
    return items


def _checked_visitors(visitors: DistinctCount) -> DistinctCount:
    fits = 4 <= visitors.bits <= VISITOR_BITS and visitors.most_exact >= 0
    if not fits or (visitors.few is None and len(visitors.ranks) != 1 << visitors.bits):
        raise ValueError("the number of different addresses is damaged")
    return visitors
