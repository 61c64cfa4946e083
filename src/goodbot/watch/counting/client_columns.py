"""What each address of a block did, as columns, and how they are added to the table: what `client_rows` does, many rows
at a time."""

from array import array
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from goodbot.watch.counting.client_table import KEPT, MOST, SKETCH_PLACES, ClientTable
from goodbot.watch.counting.clients import BITS, BLOCK_COLUMNS, SESSION_GAP_S, SUMS
from goodbot.watch.counting.columns import Columns, Ints, TextColumn
from goodbot.watch.counting.distinct import MIX, DistinctCount
from goodbot.watch.counting.request_cache import agent_bit
from goodbot.watch.counting.request_columns import Requests
from goodbot.watch.counting.request_kinds import KINDS, RequestKind


@dataclass(slots=True)
class ClientColumns:
    """A row for each address: a column for each of `BLOCK_COLUMNS`."""

    addresses: list[str]
    agents: list[str]
    """The first User-Agent of each address."""
    columns: dict[str, Ints]

    def add_to(self, table: ClientTable) -> None:
        """Adds the rows to those of earlier blocks."""
        get = table.slots.get
        slots = np.array([get(address, -1) for address in self.addresses], np.int64)
        known, new = np.flatnonzero(slots >= 0), np.flatnonzero(slots < 0)
        if len(known):
            _join(table, slots[known], {name: column[known] for name, column in self.columns.items()})
        places = new.tolist()
        hashes = table.append(
            [self.addresses[place] for place in places],
            [self.agents[place] for place in places],
            {name: _to_array(column[new]) for name, column in self.columns.items()},
        )
        add_hashes(table.visitors, hashes)
        if len(table) > MOST:
            _shrink(table)


def client_columns(columns: Columns, requests: Requests) -> ClientColumns:
    """Makes the rows, in the order in which the addresses appear."""
    if not len(columns):
        return ClientColumns([], [], dict.fromkeys(BLOCK_COLUMNS, columns.at))
    by_address = np.argsort(columns.address.codes, kind="stable")
    codes = columns.address.codes[by_address]
    starts = np.flatnonzero(np.diff(codes, prepend=-1))
    appeared = np.argsort(by_address[starts], kind="stable")
    rows = columns.take(by_address)
    sums = _sums(rows, requests, starts) | _gaps(rows.at, starts) | _runs(rows.at, starts)
    first = starts[appeared]
    addresses = columns.address.texts(codes[first])
    agents = _texts(rows.agent, rows.agent.codes[first])
    return ClientColumns(addresses, agents, {name: sums[name][appeared] for name in BLOCK_COLUMNS})


def _texts(column: TextColumn, codes: Ints) -> list[str]:
    """Returns the texts of codes; the same object for the same text, and an empty text for -1."""
    texts = [*(octets.decode("latin-1") for octets in column.octets()), ""]
    return [texts[code] for code in codes.tolist()]


def _sums(rows: Columns, requests: Requests, starts: Ints) -> dict[str, Ints]:
    def total(values: npt.NDArray[Any]) -> Ints:
        return np.add.reduceat(values.astype(np.int64), starts)

    def union(bits: Ints) -> Ints:
        return np.bitwise_or.reduceat(bits, starts)

    kinds = requests.kinds[rows.request.codes]
    agents = [octets.decode("latin-1") for octets in rows.agent.octets()]
    is_page = kinds == RequestKind.PAGE
    agent_bits = np.array([*(agent_bit(agent) for agent in agents), 0], np.int64)
    no_name = np.array([*(not agent for agent in agents), False], bool)
    ends = np.append(starts[1:], len(rows))
    columns = {
        "requests": ends - starts,
        "bytes": total(rows.size),
        "heads": total(requests.is_head[rows.request.codes]),
        "referred": total(is_page & (rows.referrer == 1)),
        "unreferred": total(is_page & (rows.referrer == 0)),
        "unnamed": total(no_name[rows.agent.codes]),
        "client_errors": total((rows.status >= 400) & (rows.status < 500)),
        "server_errors": total(rows.status >= 500),
        "agent_bits": union(agent_bits[rows.agent.codes]),
        "page_bits": union(requests.page_bits[rows.request.codes]),
        "hour_bits": union(np.int64(1) << rows.hour),
    }
    names = ("pages", "assets", "robots_txt", "probes", "invalid")
    return columns | {names[kind]: total(kinds == kind) for kind in range(KINDS)}


def _gaps(at: Ints, starts: Ints) -> dict[str, Ints]:
    gap = np.diff(at, prepend=at[0])
    is_first = np.zeros(len(at), bool)
    is_first[starts] = True
    is_gap = ~is_first & (gap <= SESSION_GAP_S)
    gap = np.where(is_gap, np.maximum(gap, 0), 0)
    new_session = is_first | ~is_gap
    return {
        "gaps": np.add.reduceat(is_gap.astype(np.int64), starts),
        "gap_sum_s": np.add.reduceat(gap, starts),
        "gap_squares": np.add.reduceat(gap * gap, starts),
        "sessions": np.add.reduceat(new_session.astype(np.int64), starts),
    }


def _runs(at: Ints, starts: Ints) -> dict[str, Ints]:
    """Lines in a row with the same second."""
    begins = np.diff(at, prepend=at[0] - 1) != 0
    begins[starts] = True
    run_starts = np.flatnonzero(begins)
    lengths = np.diff(np.append(run_starts, len(at)))
    first_runs = np.searchsorted(run_starts, starts)
    last_runs = np.append(first_runs[1:], len(run_starts)) - 1
    ends = np.append(starts[1:], len(at)) - 1
    return {
        "first_at": at[starts],
        "last_at": at[ends],
        "head_run": lengths[first_runs],
        "tail_run": lengths[last_runs],
        "peak_run": np.maximum.reduceat(lengths, first_runs),
    }


def _join(table: ClientTable, slots: Ints, rows: dict[str, Ints]) -> None:
    """Adds rows to those of the same addresses in the table, as if all lines had been in one block."""
    mine = {name: np.frombuffer(table.columns[name], np.int64) for name in BLOCK_COLUMNS}
    last = mine["last_at"][slots]
    gap = rows["first_at"] - last
    same_session = gap <= SESSION_GAP_S
    is_joined = gap == 0
    gap = np.where(same_session, np.maximum(gap, 0), 0)
    rows["sessions"] -= same_session
    rows["gaps"] += same_session
    rows["gap_sum_s"] += gap
    rows["gap_squares"] += gap * gap
    joined = np.where(is_joined, mine["tail_run"][slots] + rows["head_run"], 0)
    is_one_run = is_joined & (rows["head_run"] == rows["requests"])
    was_one_run = is_joined & (mine["head_run"][slots] == mine["requests"][slots])
    mine["head_run"][slots] = np.where(was_one_run, joined, mine["head_run"][slots])
    for name in SUMS:
        mine[name][slots] += rows[name]
    for name in BITS:
        mine[name][slots] |= rows[name]
    mine["last_at"][slots] = rows["last_at"]
    mine["tail_run"][slots] = np.where(is_one_run, joined, rows["tail_run"])
    mine["peak_run"][slots] = np.maximum(np.maximum(mine["peak_run"][slots], rows["peak_run"]), joined)


def _shrink(table: ClientTable, kept: int = KEPT) -> None:
    """Pools all rows but the busiest."""
    columns = {name: np.frombuffer(column, np.int64) for name, column in table.columns.items()}
    order = np.argsort(-(columns["requests"] + columns["missing"]), kind="stable")
    stay, pooled = np.sort(order[:kept]), order[kept:]
    sketch = np.frombuffer(table.sketch, np.uint32)
    np.add.at(sketch, columns["hash"][pooled] % SKETCH_PLACES, columns["requests"][pooled].astype(np.uint32))
    table.pool.rows += len(pooled)
    for name in SUMS:
        table.pool.sums[name] += int(columns[name][pooled].sum())
    table.keep(stay.tolist(), {name: _to_array(column[stay]) for name, column in columns.items()})


def add_hashes(count: DistinctCount, hashes: list[int]) -> None:
    """Does what `DistinctCount.update` does."""
    if count.is_exact or len(hashes) < 100:
        count.update(hashes)
        return
    spread = np.array(hashes, np.uint64) * np.uint64(MIX)
    spread = (spread ^ (spread >> np.uint64(32))) * np.uint64(MIX)
    spread ^= spread >> np.uint64(29)
    places = spread & np.uint64((1 << count.bits) - 1)
    exponents = np.frexp((spread >> np.uint64(count.bits)).astype(np.float64))[1]
    ranks = np.frombuffer(count.ranks, np.uint8)
    np.maximum.at(ranks, places.astype(np.int64), (65 - count.bits - exponents).astype(np.uint8))


def _to_array(column: npt.NDArray[Any]) -> "array[int]":
    made = array("q")
    made.frombytes(np.ascontiguousarray(column, np.int64).tobytes())
    return made
