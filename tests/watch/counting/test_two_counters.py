"""The two counters give equal tallies for any log, however it is cut into blocks."""

import gc
import io
from itertools import pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.watch.blocks import Block
from goodbot.watch.counting import client_columns, client_rows, client_table, request_columns
from goodbot.watch.counting.block_counts import BlockCounter
from goodbot.watch.counting.clients import SUMS
from goodbot.watch.counting.column_counter import ColumnCounter
from goodbot.watch.counting.counting_options import CountingOptions
from goodbot.watch.counting.line_counter import LineCounter
from goodbot.watch.counting.real_client import real_client
from goodbot.watch.counting.tally_state import SavedTally, restored, saved
from goodbot.watch.reader import opening
from goodbot.watch.reader.block_reader import BlockReader
from goodbot.watch.reader.opening import LogStream
from watch.counting.log_lines import TEN, combined_logs, mixed_logs
from watch.counting.tallies import IDENTITIES, OPTIONS, figures, shrink_to, tally_of

logs = combined_logs | mixed_logs


def counters(options: CountingOptions = OPTIONS) -> tuple[BlockCounter, BlockCounter]:
    return LineCounter(IDENTITIES, options), ColumnCounter(IDENTITIES, options)


def cut(log: bytes, places: list[int]) -> list[bytes]:
    """Cuts a log into blocks of whole lines."""
    kept = [line + b"\n" for line in log.split(b"\n")]
    bounds = [0, *sorted(place % (len(kept) + 1) for place in places), len(kept)]
    return [b"".join(kept[start:end]) for start, end in pairwise(bounds)]


def read(log: bytes, block_bytes: int) -> list[Block]:
    """Cuts a log into blocks as the reader does, which hands the `#Fields:` line on."""
    log = b"-\n" + log  # no magic number
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(opening, "PIECE_BYTES", block_bytes)
        return [*BlockReader(LogStream("x", io.BytesIO(log), len(log)), block_bytes=block_bytes).blocks()]


@given(logs, st.booleans(), st.sampled_from([0, request_columns.FEW]))
def test_the_counters_agree(log: bytes, ends: bool, few: int) -> None:
    standard, fast = counters()
    block = log + b"\n" * ends
    tally = tally_of(standard, [block])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(request_columns, "FEW", few)
        assert figures(tally_of(fast, [block])) == figures(tally)
    assert tally.lines == sum(tally.skipped.values()) + tally.counts.requests


def test_a_log_is_read_in_several_blocks() -> None:
    assert len(read(b"x\n" * 50, 10)) >= 10


@given(combined_logs, st.lists(st.integers(0, 30), max_size=4))
def test_blocks_make_no_difference(log: bytes, places: list[int]) -> None:
    standard, fast = counters()
    blocks = cut(log, places)
    whole = figures(tally_of(standard, [b"".join(blocks)]))
    assert figures(tally_of(standard, blocks)) == whole
    assert figures(tally_of(fast, blocks)) == whole


@given(mixed_logs, st.integers(1, 2000))
def test_blocks_make_no_difference_to_any_format(log: bytes, block_bytes: int) -> None:
    standard, fast = counters()
    whole = figures(tally_of(standard, [b"-\n" + log]))
    assert figures(tally_of(standard, read(log, block_bytes))) == whole
    assert figures(tally_of(fast, read(log, block_bytes))) == whole


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=12), st.integers(1, 500))
def test_a_run_of_one_second_goes_over_blocks(lines: list[tuple[int, int]], block_bytes: int) -> None:
    """Also if the clock goes back, or an hour passes."""
    row = '192.0.2.%d - - [15/Sep/2026:%s +0000] "GET / HTTP/1.1" 200 7 "-" "Mozilla"\n'
    times = ["10:00:01", "10:00:00", "11:00:00"]
    log = "".join(row % (address, times[time]) for address, time in lines).encode()
    whole = figures(tally_of(counters()[0], [b"-\n" + log]))
    for counter in counters():
        assert figures(tally_of(counter, read(log, block_bytes))) == whole


@given(mixed_logs)
def test_the_counters_agree_on_clients_behind_a_proxy(log: bytes) -> None:
    standard, fast = (tally_of(counter, [log]) for counter in counters(CountingOptions(client_of=real_client)))
    assert figures(fast) == figures(standard)


@given(logs, st.integers(-10, 10), st.integers(-10, 60))
def test_the_counters_agree_on_a_period(log: bytes, since: int, until: int) -> None:
    standard, fast = (tally_of(counter, [log]) for counter in counters(CountingOptions(TEN + since, TEN + until)))
    assert figures(fast) == figures(standard)
    everything = tally_of(counters()[0], [log])
    assert standard.outside + standard.counts.requests == everything.counts.requests


@given(combined_logs, st.integers(0, 30))
def test_a_saved_tally_goes_on(log: bytes, place: int) -> None:
    blocks = cut(log, [place])
    for counter in counters():
        first = tally_of(counter, blocks[:1])
        again = restored(msgspec.msgpack.decode(msgspec.msgpack.encode(saved(first)), type=SavedTally))
        again.add(counter.count(Block(blocks[1], "x")))
        assert figures(again) == figures(tally_of(counter, blocks))


@pytest.mark.parametrize("places", [1 << 10, 2], ids=["a large sketch", "a sketch of two places"])
@given(st.lists(st.lists(st.integers(0, 12), max_size=20), max_size=8))
def test_pooling_loses_no_request(places: int, parts: list[list[int]]) -> None:
    """With room for three addresses, and for five after a block."""
    row = '192.0.2.%d - - [15/Sep/2026:10:00:00 +0000] "GET /%d HTTP/1.1" 200 7 "-" "Mozilla"\n'
    blocks = [b"".join((row % (number, place)).encode() for place, number in enumerate(part)) for part in parts]
    with pytest.MonkeyPatch.context() as patch:
        shrink_to(3, 5, patch)
        for module in (client_table, client_rows, client_columns):
            patch.setattr(module, "SKETCH_PLACES", places)
        standard, fast = (tally_of(counter, blocks) for counter in counters())
    assert figures(fast) == figures(standard)
    table = standard.clients
    assert len(table) <= 5
    for name in SUMS:
        everything = sum(table.columns[name]) + table.pool.sums[name]
        assert name in ("sessions", "gaps", "gap_sum_s", "gap_squares") or everything == _total(name, parts)
    for address, slot in table.slots.items():
        true = sum(part.count(int(address.rpartition(".")[2])) for part in parts)
        counted, missing = table.columns["requests"][slot], table.columns["missing"][slot]
        assert counted <= true <= counted + missing


def _total(name: str, parts: list[list[int]]) -> int:
    requests = sum(map(len, parts))
    return {"requests": requests, "bytes": 7 * requests, "pages": requests, "unreferred": requests}.get(name, 0)


COMBINED_LINE = '192.0.2.1 - - [15/Sep/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 %s "-" "Mozilla"\n'
JSON_LINE = '{"remote_addr":"192.0.2.1","time":1789466400,"request":"GET / HTTP/1.1","status":200,"size":%s}\n'
SIZES = [
    ("the largest", COMBINED_LINE, "9" * 12, 999_999_999_999),
    ("too large", COMBINED_LINE, "1" + "0" * 12, 0),
    ("15 digits", COMBINED_LINE, "9" * 15, 0),
    ("the largest in JSON", JSON_LINE, "9" * 12, 999_999_999_999),
    ("too large in JSON", JSON_LINE, "9" * 17, 0),
    ("a number with an exponent", JSON_LINE, "9e17", 0),
]


@pytest.mark.parametrize(("line", "size", "counted"), [case[1:] for case in SIZES], ids=[case[0] for case in SIZES])
def test_sums_of_sizes_fit_in_the_table(line: str, size: str, counted: int) -> None:
    """Sums of sizes that no answer has would not."""
    block = (line % size).encode() * 5000
    for counter in counters():
        tally = tally_of(counter, [block] * 3)
        assert tally.counts.bytes == tally.clients.columns["bytes"][0] == 15_000 * counted


def test_the_collector_of_cycles_is_on_again() -> None:
    assert gc.isenabled()
    tally_of(counters()[0], [b"x\n"])
    assert gc.isenabled()
