"""What a signature proves: the tier of its request, in both counters, and nothing of other requests."""

from itertools import pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.registry.signed_request import SignatureFailure
from goodbot.watch.blocks import Block
from goodbot.watch.counting import signature_counts
from goodbot.watch.counting.block_counts import BlockCounter
from goodbot.watch.counting.column_counter import ColumnCounter
from goodbot.watch.counting.counting_options import CountingOptions
from goodbot.watch.counting.line_counter import LineCounter
from goodbot.watch.counting.robot_totals import RobotKey
from goodbot.watch.counting.signature_counts import SignatureCounts
from goodbot.watch.counting.tally_state import SavedTally, restored, saved
from watch.counting.log_lines import TEN
from watch.counting.signed_lines import Signed, directory, signed_logs
from watch.counting.tallies import IDENTITIES, figures, tally_of

OPTIONS = CountingOptions(keys=(directory("GPTBot"),))
GPTBOT = "GPTBot/1.3"
LOCAL = "10.0.0.1"

ONE_LINE: list[tuple[str, Signed, RobotKey, SignatureFailure | None]] = [
    ("verified", Signed(GPTBOT), RobotKey("GPTBot", "verified"), None),
    ("verified behind a proxy", Signed(GPTBOT, LOCAL), RobotKey("GPTBot", "verified"), None),
    ("for another host", Signed(GPTBOT, LOCAL, host="b.example"), RobotKey("GPTBot", "declared"), "does not verify"),
    ("too late", Signed(GPTBOT, LOCAL, second=500), RobotKey("GPTBot", "declared"), "expired"),
    ("by another robot", Signed("Googlebot/2.1", LOCAL), RobotKey("Googlebot", "declared"), "another robot"),
    (
        "a bad signature from the robot's own address",
        Signed("Googlebot/2.1", "66.249.66.1", host="b.example"),
        RobotKey("Googlebot", "verified"),
        "does not verify",
    ),
]


def counters(options: CountingOptions = OPTIONS) -> tuple[BlockCounter, BlockCounter]:
    return LineCounter(IDENTITIES, options), ColumnCounter(IDENTITIES, options)


@pytest.mark.parametrize(
    ("signed", "key", "failure"), [case[1:] for case in ONE_LINE], ids=[case[0] for case in ONE_LINE]
)
def test_one_request(signed: Signed, key: RobotKey, failure: SignatureFailure | None) -> None:
    counts = SignatureCounts()
    counts.count(failure)
    for counter in counters():
        tally = tally_of(counter, [signed.line()])
        assert {robot: totals.signatures for robot, totals in tally.robots.items()} == {key: counts}


def test_without_keys_signatures_are_counted_only() -> None:
    for counter in counters(CountingOptions()):
        tally = tally_of(counter, [Signed(GPTBOT, LOCAL).line()])
        (found,) = tally.robots.items()
        assert (found[0].tier, found[1].signatures.failed) == ("declared", {"unknown key": 1})


def test_a_user_agent_without_a_record_is_counted_by_the_name_of_the_keys() -> None:
    lines = [Signed("Mozilla/5.0"), Signed("", nonce="m"), Signed("Mozilla/5.0", host="b.example")]
    for counter in counters():
        tally = tally_of(counter, [b"\n".join(signed.line() for signed in lines)])
        assert tally.signers == {"keys": SignatureCounts(3, 2, 0, {"does not verify": 1})}
        assert tally.robots == {}


def test_a_nonce_that_comes_again_is_counted() -> None:
    again = [Signed(GPTBOT), Signed(GPTBOT, second=1), Signed("Mozilla/5.0"), Signed(GPTBOT, nonce="m")]
    blocks = [signed.line() for signed in again]
    for log in (blocks, [b"\n".join(blocks)]):
        for counter in counters():
            tally = tally_of(counter, log)
            assert tally.robots[RobotKey("GPTBot", "verified")].signatures == SignatureCounts(3, 3, 1)
            assert tally.signers["keys"].replayed == 1


def test_the_memory_of_nonces_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signature_counts, "MOST_NONCES", 2)
    lines = [Signed(GPTBOT, nonce=nonce).line() for nonce in "abcaba"]
    tally = tally_of(counters()[0], lines)
    assert len(tally.nonces.seen) == 2
    assert tally.robots[RobotKey("GPTBot", "verified")].signatures.replayed == 1


@given(signed_logs, st.lists(st.integers(0, 20), max_size=3))
def test_the_counters_agree_however_a_log_is_cut(log: bytes, places: list[int]) -> None:
    lines = [line + b"\n" for line in log.split(b"\n")]
    bounds = [0, *sorted(place % (len(lines) + 1) for place in places), len(lines)]
    blocks = [b"".join(lines[start:end]) for start, end in pairwise(bounds)]
    standard, fast = counters()
    whole = figures(tally_of(standard, [b"".join(lines)]))
    assert figures(tally_of(standard, blocks)) == whole
    assert figures(tally_of(fast, blocks)) == whole


@given(signed_logs, signed_logs)
def test_a_saved_tally_goes_on(first: bytes, second: bytes) -> None:
    for counter in counters():
        tally = tally_of(counter, [first])
        again = restored(msgspec.msgpack.decode(msgspec.msgpack.encode(saved(tally)), type=SavedTally))
        again.add(counter.count(Block(second, "x")))
        assert figures(again) == figures(tally_of(counter, [first, second]))


@given(signed_logs, st.integers(-2, 3), st.integers(0, 600))
def test_the_counters_agree_on_a_period(log: bytes, since: int, until: int) -> None:
    options = CountingOptions(TEN + since, TEN + until, keys=(directory("GPTBot", "Googlebot"),))
    standard, fast = (tally_of(counter, [log]) for counter in counters(options))
    assert figures(fast) == figures(standard)
    signed = [*(totals.signatures for totals in standard.robots.values()), *standard.signers.values()]
    assert sum(counts.signed for counts in signed) <= standard.counts.requests
    assert all(counts.signed == counts.verified + sum(counts.failed.values()) for counts in signed)
