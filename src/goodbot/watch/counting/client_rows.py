"""What each address of a block did, as rows; and how they are added to the table."""

from array import array
from dataclasses import dataclass
from itertools import chain
from operator import add, itemgetter
from typing import Final

from goodbot.watch.counting.client_table import KEPT, MOST, SKETCH_PLACES, ClientTable
from goodbot.watch.counting.clients import BITS, BLOCK_COLUMNS, EDGES, SESSION_GAP_S, SUMS
from goodbot.watch.counting.entry_rows import EntryRow
from goodbot.watch.counting.request_cache import AgentCache, RequestCache

_PLACE: Final = {name: place for place, name in enumerate(BLOCK_COLUMNS)}
_PAGE_BITS, _AGENT_BITS, _HOUR_BITS = (_PLACE[name] for name in ("page_bits", "agent_bits", "hour_bits"))
_FIRST, _LAST, _HEAD_RUN, _TAIL_RUN, _PEAK_RUN = (_PLACE[name] for name in EDGES)
_GAPS, _GAP_SUM, _GAP_SQUARES, _SESSIONS = (_PLACE[name] for name in ("gaps", "gap_sum_s", "gap_squares", "sessions"))
_REFERRED, _UNREFERRED, _UNNAMED, _HEADS = (_PLACE[name] for name in ("referred", "unreferred", "unnamed", "heads"))
_CLIENT_ERRORS, _SERVER_ERRORS = _PLACE["client_errors"], _PLACE["server_errors"]
_REQUESTS, _BYTES, _KIND = _PLACE["requests"], _PLACE["bytes"], _PLACE["pages"]


_SUM_PLACES: Final = tuple(_PLACE[name] for name in SUMS)
_BIT_PLACES: Final = tuple(_PLACE[name] for name in BITS)


@dataclass(slots=True)
class ClientRows:
    """A row for each address: a number for each of `BLOCK_COLUMNS`."""

    rows: dict[str, list[int]]
    agents: list[str]
    """The first User-Agent of each address."""

    def add_to(self, table: ClientTable) -> None:
        """Adds the rows to those of earlier blocks."""
        get, columns = table.slots.get, [table.columns[name] for name in BLOCK_COLUMNS]
        new: list[str] = []
        agents: list[str] = []
        for (address, row), agent in zip(self.rows.items(), self.agents, strict=True):
            slot = get(address)
            if slot is None:
                new.append(address)
                agents.append(agent)
            else:
                _join(columns, slot, row)
        cells = array("q", chain.from_iterable([self.rows[address] for address in new]))
        parts = {name: cells[place :: len(_PLACE)] for name, place in _PLACE.items()}
        table.visitors.update(table.append(new, agents, parts))
        if len(table) > MOST:
            _shrink(table)


def _join(columns: list["array[int]"], slot: int, row: list[int]) -> None:
    """Adds a row to that of the same address in the table, as if all lines had been in one block."""
    last_at, joined = columns[_LAST][slot], 0
    gap = row[_FIRST] - last_at
    if gap <= SESSION_GAP_S:
        row[_SESSIONS] -= 1
        row[_GAPS] += 1
        if gap > 0:
            row[_GAP_SUM] += gap
            row[_GAP_SQUARES] += gap * gap
    if gap == 0:
        joined = columns[_TAIL_RUN][slot] + row[_HEAD_RUN]
        if row[_HEAD_RUN] == row[_REQUESTS]:
            row[_TAIL_RUN] = joined
        if columns[_HEAD_RUN][slot] == columns[_REQUESTS][slot]:
            columns[_HEAD_RUN][slot] = joined
    for place in _SUM_PLACES:
        if row[place]:
            columns[place][slot] += row[place]
    for place in _BIT_PLACES:
        columns[place][slot] |= row[place]
    columns[_LAST][slot] = row[_LAST]
    columns[_TAIL_RUN][slot] = row[_TAIL_RUN]
    columns[_PEAK_RUN][slot] = max(columns[_PEAK_RUN][slot], row[_PEAK_RUN], joined)


def _shrink(table: ClientTable, kept: int = KEPT) -> None:
    """Pools all rows but the busiest."""
    requests, hashes = table.columns["requests"], table.columns["hash"]
    weights = list(map(add, requests, table.columns["missing"]))
    order = sorted(range(len(weights)), key=weights.__getitem__, reverse=True)
    stay, pooled = sorted(order[:kept]), order[kept:]
    sketch = table.sketch
    for slot in pooled:
        sketch[hashes[slot] % SKETCH_PLACES] += requests[slot]
    table.pool.rows += len(pooled)
    chosen = itemgetter(*stay)
    left = {name: array("q", chosen(column)) for name, column in table.columns.items()}
    for name in SUMS:
        table.pool.sums[name] += sum(table.columns[name]) - sum(left[name])
    table.keep(stay, left)


def client_rows(entries: list[EntryRow], requests: RequestCache, agent_bits: AgentCache) -> ClientRows:
    """Makes the rows from entries, in the order in which the addresses appear."""
    rows: dict[str, list[int]] = {}
    agents: list[str] = []
    for address, at, hour, request, status, size, referrer, agent, _, _ in entries:
        row = rows.get(address)
        if row is None:
            row = rows[address] = [0] * len(BLOCK_COLUMNS)
            row[_FIRST] = row[_LAST] = at
            row[_SESSIONS] = row[_TAIL_RUN] = 1
            agents.append(agent or "")
        else:
            _add_gap(row, at)
        kind, bit, is_head = requests[request]
        row[_REQUESTS] += 1
        row[_BYTES] += size
        row[_KIND + kind] += 1
        row[_HOUR_BITS] |= 1 << hour
        if bit:
            row[_PAGE_BITS] |= bit
            if referrer is not None:
                row[_REFERRED if referrer else _UNREFERRED] += 1
        if agent is not None:
            row[_AGENT_BITS] |= agent_bits[agent]
            if not agent:
                row[_UNNAMED] += 1
        if status >= 400:
            row[_CLIENT_ERRORS if status < 500 else _SERVER_ERRORS] += 1
        if is_head:
            row[_HEADS] += 1
    for row in rows.values():
        _end_run(row)
    return ClientRows(rows, agents)


def _add_gap(row: list[int], at: int) -> None:
    """Adds the time since the last line of this address."""
    gap = at - row[_LAST]
    if gap <= SESSION_GAP_S:
        row[_GAPS] += 1
        if gap > 0:
            row[_GAP_SUM] += gap
            row[_GAP_SQUARES] += gap * gap
    else:
        row[_SESSIONS] += 1
    if gap == 0:
        row[_TAIL_RUN] += 1
    else:
        _end_run(row)
        row[_TAIL_RUN] = 1
        row[_LAST] = at


def _end_run(row: list[int]) -> None:
    run = row[_TAIL_RUN]
    if not row[_HEAD_RUN]:
        row[_HEAD_RUN] = run
    row[_PEAK_RUN] = max(row[_PEAK_RUN], run)
