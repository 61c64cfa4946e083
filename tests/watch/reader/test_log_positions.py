"""A log is known by its beginning, whatever its name."""

import pytest

from goodbot.watch.reader.log_positions import KNOWN_BYTES, LogPosition, Trail, find_positions

LONG = bytes(range(256)) * 40
SHORT = b"one line\n"


def position(head: bytes, counted: int) -> LogPosition:
    return Trail().position(head, counted, b"", None)


@pytest.mark.parametrize(
    ("head", "counted", "now", "known"),
    [
        pytest.param(LONG[:KNOWN_BYTES], 10_000, LONG[:KNOWN_BYTES], True, id="unchanged"),
        pytest.param(SHORT, len(SHORT), SHORT + b"more\n", True, id="a short log has grown"),
        pytest.param(SHORT, 4, b"one more\n", True, id="only what was counted must agree"),
        pytest.param(SHORT, len(SHORT), b"two lines\n", False, id="another log"),
        pytest.param(SHORT, len(SHORT), SHORT[:5], False, id="it is shorter now"),
        pytest.param(SHORT, 0, SHORT, False, id="nothing was counted"),
        pytest.param(SHORT, len(SHORT), b"", False, id="it is empty now"),
    ],
)
def test_which_log_is_known(head: bytes, counted: int, now: bytes, known: bool) -> None:
    assert position(head, counted).begins(now) == known


def test_the_longest_beginning_comes_first_and_then_the_furthest_place() -> None:
    short, long, further = (position(SHORT, counted) for counted in (4, 9, 900))
    assert find_positions([short, long, further], SHORT) == [further, long, short]
    assert find_positions([long, short], b"one more") == [short]
    assert find_positions([], SHORT) == []


def test_a_trail_is_the_same_however_the_log_is_cut() -> None:
    log = bytes(range(251)) * 400
    whole = Trail()
    whole.add(log)
    assert len(whole.checkpoints) == 4  # 8, 16, 32 and 64 KiB
    for size in (1, 1000, 4096, 5000, 50_000):
        trail = Trail()
        for start in range(0, len(log), size):
            trail.add(log[start : start + size])
        assert (trail.place, trail.tail, trail.checkpoints) == (whole.place, log[-KNOWN_BYTES:], whole.checkpoints)
