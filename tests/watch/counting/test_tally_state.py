"""A tally that was kept in bytes: it counts on as before, and damage is found."""

import zlib
from collections.abc import Callable
from functools import cache
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.watch.blocks import Block
from goodbot.watch.counting.block_counts import BlockCounter
from goodbot.watch.counting.client_table import SKETCH_PLACES
from goodbot.watch.counting.column_counter import ColumnCounter
from goodbot.watch.counting.line_counter import LineCounter
from goodbot.watch.counting.tally import Tally
from goodbot.watch.counting.tally_state import SavedTally, restored, saved
from watch.counting.tallies import IDENTITIES, OPTIONS, figures, shrink_to

LINE = '192.0.2.%d - - [15/Sep/2026:10:00:%02d +0000] "GET /%d HTTP/1.1" 200 5 "-" "%s" 0.500\n'
AGENTS = ["Mozilla/5.0", "GPTBot/1.3", "Googlebot/2.1"]
LOG = "".join(LINE % (place % 40, place // 10, place % 7, AGENTS[place % 3]) for place in range(300)).encode()
COUNTERS: list[BlockCounter] = [LineCounter(IDENTITIES, OPTIONS), ColumnCounter(IDENTITIES, OPTIONS)]


def pooled_tally(patch: pytest.MonkeyPatch) -> Tally:
    """Returns a tally with room for three addresses, so that most are pooled."""
    shrink_to(3, 5, patch)
    tally = Tally()
    tally.add(COUNTERS[0].count(Block(LOG, "x")))
    return tally


@cache
def state() -> bytes:
    with pytest.MonkeyPatch.context() as patch:
        return msgspec.msgpack.encode(saved(pooled_tally(patch)))


def decoded(content: bytes) -> SavedTally:
    return msgspec.msgpack.decode(content, type=SavedTally)


@pytest.mark.parametrize("counter", COUNTERS, ids=["standard", "fast"])
def test_pooled_addresses_are_kept(counter: BlockCounter, monkeypatch: pytest.MonkeyPatch) -> None:
    tally = pooled_tally(monkeypatch)
    again = restored(decoded(msgspec.msgpack.encode(saved(tally))))
    assert figures(again) == figures(tally)
    for each in (tally, again):
        each.add(counter.count(Block(LOG, "x")))
    assert figures(again) == figures(tally)
    assert tally.clients.pool.rows > 3


def fields(change: Callable[[Any], object]) -> bytes:
    """Returns a state in which some fields are changed."""
    plain = msgspec.msgpack.decode(state())
    change(plain)
    return msgspec.msgpack.encode(plain)


DAMAGE = {
    "nothing": b"",
    "an end that is missing": state()[:-1],
    "a list": msgspec.msgpack.encode([1, 2]),
    "no clients": fields(lambda plain: plain.pop("clients")),
    "no visitors": fields(lambda plain: plain["clients"].pop("visitors")),
    "a column that is missing": fields(lambda plain: plain["clients"]["columns"].pop("pages")),
    "a column too many": fields(lambda plain: plain["clients"]["columns"].update(x=b"")),
    "a column that is too short": fields(lambda plain: plain["clients"]["columns"].update(pages=b"12345678")),
    "a column with half a number": fields(lambda plain: plain["clients"]["columns"].update(pages=b"1" * 20)),
    "negative requests": fields(lambda plain: plain["clients"]["columns"].update(requests=b"\xff" * 24)),
    "an agent that is missing": fields(lambda plain: plain["clients"]["agents"].pop()),
    "an address twice": fields(lambda plain: plain["clients"].update(addresses=["a", "a", "b"])),
    "more addresses than rows": fields(lambda plain: plain["clients"]["addresses"].append("192.0.2.2")),
    "a sum that is missing": fields(lambda plain: plain["clients"]["pool"]["sums"].pop("pages")),
    "no sketch": fields(lambda plain: plain["clients"].update(sketch=b"")),
    "a sketch of junk": fields(lambda plain: plain["clients"].update(sketch=b"junk")),
    "a sketch that ends early": fields(lambda plain: plain["clients"].update(sketch=plain["clients"]["sketch"][:-1])),
    "a sketch that is too small": fields(lambda plain: plain["clients"].update(sketch=zlib.compress(b"1234"))),
    "a bomb": fields(lambda plain: plain["clients"].update(sketch=zlib.compress(bytes(40 * SKETCH_PLACES), 1))),
    "kinds that are missing": fields(lambda plain: plain["counts"]["kinds"].pop()),
    "a day of 25 hours": fields(lambda plain: plain["counts"]["hours"].append(0)),
    "a robot's hours": fields(lambda plain: plain["robots"][0][1]["counts"]["hours"].pop()),
    "a robot's visitors": fields(lambda plain: plain["robots"][0][1]["visitors"].update(few=None, ranks=b"12")),
    "visitors without end": fields(lambda plain: plain["clients"]["visitors"].update(bits=1 << 40)),
    "visitors of no bits": fields(lambda plain: plain["clients"]["visitors"].update(bits=-1)),
    "room for no items": fields(lambda plain: plain["requested"].update(kept=0)),
    "an unknown reason": fields(lambda plain: plain["skipped"].update(x=1)),
    "an unknown tier": fields(lambda plain: plain["robots"][0].__setitem__(0, ["Googlebot", "x"])),
}


@pytest.mark.parametrize("content", DAMAGE.values(), ids=DAMAGE)
def test_damage_is_found(content: bytes) -> None:
    with pytest.raises((msgspec.MsgspecError, ValueError)):
        restored(decoded(content))


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    try:
        restored(decoded(content))
    except (msgspec.MsgspecError, ValueError):
        return


@given(st.lists(st.tuples(st.integers(0, len(state()) - 1), st.integers(0, 255)), min_size=1, max_size=4))
def test_what_is_accepted_can_count_on(changes: list[tuple[int, int]]) -> None:
    content = bytearray(state())
    for place, octet in changes:
        content[place] = octet
    for counter in COUNTERS:
        try:
            tally = restored(decoded(bytes(content)))
        except (msgspec.MsgspecError, ValueError):
            return
        tally.add(counter.count(Block(LOG, "x")))
        tally.clients.visitors.count()
