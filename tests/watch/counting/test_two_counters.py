"""The two counters give equal tallies for any log, however it is cut into blocks."""

import gc
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.watch.blocks import Block
from goodbot.watch.counting import client_columns, client_rows
from goodbot.watch.counting.block_counts import BlockCounter
from goodbot.watch.counting.clients import SUMS
from goodbot.watch.counting.column_counter import ColumnCounter
from goodbot.watch.counting.counting_options import CountingOptions
from goodbot.watch.counting.identities import Identities
from goodbot.watch.counting.line_counter import LineCounter
from goodbot.watch.counting.tally import Tally
from goodbot.watch.counting.tally_state import SavedTally, restored, saved

IDENTITIES = Identities()
OPTIONS = CountingOptions()


def tally_of(counter: BlockCounter, blocks: Sequence[bytes]) -> Tally:
    """Counts blocks one after the other."""
    tally = Tally()
    for data in blocks:
        tally.add(counter.count(Block(data, "x")))
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
    }


# ---- lines ----------------------------------------------------------------------------------------------------------

ADDRESSES = [
    *("192.0.2.1", "192.0.2.2", "2001:db8::1", "::ffff:192.0.2.1", "66.249.66.1"),
    *("host.example", "a:80", "[::1]", "a,", "a\0b"),
]
IDENTS = [" - - ", " - - ", " - - ", " - bob ", " - two words ", " x y z ", " ", "  - - "]
AGENTS = ["-", "", "Mozilla/5.0", "GPTBot/1.3", "Googlebot/2.1", "curl/8", "x\\", 'x\\"y', "\xff\xfe", "bingbot"]
REFERRERS = ["-", "", "http://x.example/", 'a\\"b']
TARGETS = [
    *("/", "/a.css", "/robots.txt", "/b?c=d", "/.env", "/wp-login.php", "/..%2fetc"),
    *("/\xff", "/" + "x" * 3000, '/"', "*"),
]
METHODS = ["GET", "HEAD", "POST", "get", ""]
STATUSES = ["200", "304", "404", "503", "099", "1000", "-", "000", "2x0"]
SIZES = ["5", "0", "-", "", "9" * 15, "9" * 16, "1 2", "\xb2"]
TIMES = [*(f"{second:02} +0000" for second in (0, 0, 1, 1, 2, 30, 59)), "61 +0000", "10 +0530", "10 -0000", "xx +0000"]
ENDS = ["", "", "", "\r", " ", " 0.005", ' "203.0.113.9"', '"']
ODD = [
    "",
    "{}",
    '{"status":200}',
    "#Fields: date time c-ip",
    "\x16\x03\x01",
    '""""""',
    "x" * 70_000,
    '" " " " " "',
    "\0",
]


@st.composite
def lines(draw: st.DrawFn) -> bytes:
    """Draws a line, most of them regular."""

    def pick(choices: Sequence[str]) -> str:
        return draw(st.sampled_from(choices))

    if draw(st.integers(0, 14)) == 0:
        return str(pick(ODD)).encode("latin-1")
    day = pick(["14", "15", "15", "15", "31"])
    request = f"{pick(METHODS)} {pick(TARGETS)} HTTP/1.1" if draw(st.integers(0, 9)) else pick(["", "-", "\\x16\\x03"])
    text = (
        f"{pick(ADDRESSES)}{pick(IDENTS)}[{day}/Sep/2026:{pick(['10', '11', '23'])}:00:{pick(TIMES)}] "
        f'"{request}" {pick(STATUSES)} {pick(SIZES)} "{pick(REFERRERS)}" "{pick(AGENTS)}"{pick(ENDS)}'
    )
    cut = draw(st.integers(0, 40))
    return (text if cut else text[: draw(st.integers(0, len(text)))]).encode("latin-1")


logs = st.lists(lines(), max_size=25).map(b"\n".join)


def cut(log: bytes, places: list[int]) -> list[bytes]:
    """Cuts a log into blocks of whole lines."""
    kept = [line + b"\n" for line in log.split(b"\n")]
    bounds = [0, *sorted(place % (len(kept) + 1) for place in places), len(kept)]
    return [b"".join(kept[start:end]) for start, end in pairwise(bounds)]


@given(logs, st.booleans())
def test_the_counters_agree(log: bytes, ends: bool) -> None:
    block = log + b"\n" * ends
    standard = tally_of(LineCounter(IDENTITIES, OPTIONS), [block])
    assert figures(tally_of(ColumnCounter(IDENTITIES, OPTIONS), [block])) == figures(standard)
    assert standard.lines == sum(standard.skipped.values()) + standard.counts.requests


@given(logs, st.lists(st.integers(0, 30), max_size=4))
def test_blocks_make_no_difference(log: bytes, places: list[int]) -> None:
    blocks = cut(log, places)
    whole = figures(tally_of(LineCounter(IDENTITIES, OPTIONS), [b"".join(blocks)]))
    assert figures(tally_of(LineCounter(IDENTITIES, OPTIONS), blocks)) == whole
    assert figures(tally_of(ColumnCounter(IDENTITIES, OPTIONS), blocks)) == whole


@given(logs, st.integers(0, 30))
def test_a_saved_tally_goes_on(log: bytes, place: int) -> None:
    blocks = cut(log, [place])
    counter = LineCounter(IDENTITIES, OPTIONS)
    first = tally_of(counter, blocks[:1])
    again = restored(msgspec.msgpack.decode(msgspec.msgpack.encode(saved(first)), type=SavedTally))
    again.add(counter.count(Block(blocks[1], "x")))
    assert figures(again) == figures(tally_of(counter, blocks))


@given(logs, st.integers(-10, 10), st.integers(-10, 60))
def test_the_counters_agree_on_a_period(log: bytes, since: int, until: int) -> None:
    ten = 1_789_466_400  # 15 September 2026, 10:00 UTC
    options = CountingOptions(ten + since, ten + until)
    standard = tally_of(LineCounter(IDENTITIES, options), [log])
    assert figures(tally_of(ColumnCounter(IDENTITIES, options), [log])) == figures(standard)
    everything = tally_of(LineCounter(IDENTITIES, OPTIONS), [log])
    assert standard.outside + standard.counts.requests == everything.counts.requests


@given(st.lists(st.lists(st.integers(0, 12), max_size=20), max_size=8))
def test_pooling_loses_no_request(parts: list[list[int]]) -> None:
    """With room for three addresses, and for five after a block."""
    row = '192.0.2.%d - - [15/Sep/2026:10:00:00 +0000] "GET /%d HTTP/1.1" 200 7 "-" "Mozilla"\n'
    blocks = [b"".join((row % (number, place)).encode() for place, number in enumerate(part)) for part in parts]
    with pytest.MonkeyPatch.context() as patch:
        for module in (client_rows, client_columns):
            patch.setattr(module, "MOST", 5)
            patch.setattr(module, "_shrink", _shrink_to(3, module._shrink))
        standard = tally_of(LineCounter(IDENTITIES, OPTIONS), blocks)
        fast = tally_of(ColumnCounter(IDENTITIES, OPTIONS), blocks)
    assert figures(fast) == figures(standard)
    table = standard.clients
    for name in SUMS:
        everything = sum(table.columns[name]) + table.pool.sums[name]
        assert name in ("sessions", "gaps", "gap_sum_s", "gap_squares") or everything == _total(name, parts)
    for address, slot in table.slots.items():
        true = sum(part.count(int(address.rpartition(".")[2])) for part in parts)
        assert (
            table.columns["requests"][slot] <= true <= table.columns["requests"][slot] + table.columns["missing"][slot]
        )


def _shrink_to(kept: int, shrink: Any) -> Any:
    return lambda table: shrink(table, kept)


def _total(name: str, parts: list[list[int]]) -> int:
    requests = sum(map(len, parts))
    return {"requests": requests, "bytes": 7 * requests, "pages": requests, "unreferred": requests}.get(name, 0)


def test_the_collector_of_cycles_is_on_again() -> None:
    assert gc.isenabled()
    LineCounter(IDENTITIES, OPTIONS).count(Block(b"x\n", "x"))
    assert gc.isenabled()
