"""A log is known by its beginning, whatever its name."""

import pytest

from goodbot.watch.reader.log_positions import HEAD_BYTES, find_position, position_of

LONG = bytes(range(256)) * 40
SHORT = b"one line\n"


@pytest.mark.parametrize(
    ("head", "counted", "now", "known"),
    [
        pytest.param(LONG[:HEAD_BYTES], 10_000, LONG[:HEAD_BYTES], True, id="unchanged"),
        pytest.param(SHORT, len(SHORT), SHORT + b"more\n", True, id="a short log has grown"),
        pytest.param(SHORT, 4, b"one more\n", True, id="only what was counted must agree"),
        pytest.param(SHORT, len(SHORT), b"two lines\n", False, id="another log"),
        pytest.param(SHORT, len(SHORT), SHORT[:5], False, id="it is shorter now"),
        pytest.param(SHORT, 0, SHORT, False, id="nothing was counted"),
        pytest.param(SHORT, len(SHORT), b"", False, id="it is empty now"),
    ],
)
def test_which_log_is_known(head: bytes, counted: int, now: bytes, known: bool) -> None:
    assert position_of("x", head, counted, None).is_of(now) == known


def test_the_longest_beginning_decides() -> None:
    short, long = position_of("a", SHORT, 4, None), position_of("b", SHORT, 9, None)
    assert find_position([short, long], SHORT) == long
    assert find_position([long, short], b"one more") == short
    assert find_position([], SHORT) is None
