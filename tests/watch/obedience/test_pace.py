from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.watch.obedience.pace import Limit, Pace

DELAY = Limit(1, 10.0)
RATE = Limit(3, 60.0)


def measured(limit: Limit, *blocks: list[int]) -> tuple[int, int]:
    pace = Pace(limit)
    for block in blocks:
        pace.add(Counter(block))
    whole = pace.closed()
    return whole.judged, whole.broken


@pytest.mark.parametrize(
    ("limit", "seconds", "expected"),
    [
        pytest.param(DELAY, [], (0, 0), id="no request"),
        pytest.param(DELAY, [5], (0, 0), id="one request"),
        pytest.param(DELAY, [0, 10, 20], (2, 0), id="kept"),
        pytest.param(DELAY, [0, 9], (1, 1), id="a second too short: 9.99 s at most"),
        pytest.param(DELAY, [0, 0, 0], (2, 2), id="in one second"),
        pytest.param(Limit(1, 1.0), [0, 1, 1], (2, 1), id="1 s"),
        pytest.param(Limit(1, 0.5), [0, 0], (1, 0), id="half a second cannot be seen in whole seconds"),
        pytest.param(Limit(1, 1.5), [0, 0, 1], (2, 1), id="1.5 s: only 0 s is certainly short"),
        pytest.param(RATE, [0, 20, 40, 60, 80], (2, 0), id="a rate kept"),
        pytest.param(RATE, [0, 1, 2, 3, 70], (2, 1), id="a rate exceeded in one span"),
        pytest.param(RATE, [59, 59, 59, 60, 60, 60], (2, 0), id="spans are those of the clock"),
    ],
)
def test_limits(limit: Limit, seconds: list[int], expected: tuple[int, int]) -> None:
    assert measured(limit, seconds) == expected


def test_gaps_are_counted_by_size() -> None:
    pace = Pace(DELAY)
    pace.add(Counter([0, 0, 1, 4, 12, 12 + 100]))
    assert pace.closed().sizes[:8] == [1, 1, 1, 0, 1, 0, 0, 1]


def test_lines_that_are_late_by_minutes_count() -> None:
    assert measured(DELAY, [*range(0, 6000, 10)], [5995, 5999, 5705]) == measured(
        DELAY, sorted([*range(0, 6000, 10), 5995, 5999, 5705])
    )


@given(st.lists(st.integers(0, 3000), max_size=60), st.sampled_from([DELAY, RATE]), st.integers(0, 60))
def test_blocks_make_no_difference(seconds: list[int], limit: Limit, cut: int) -> None:
    seconds.sort()
    gaps = [after - before for before, after in pairwise(seconds)]
    spans = Counter(second // 60 for second in seconds).values()
    expected = (
        (len(gaps), sum(gap + 1 <= 10 for gap in gaps))
        if limit is DELAY
        else (len(spans), sum(count > 3 for count in spans))
    )
    assert measured(limit, seconds[:cut], seconds[cut:]) == expected


@given(st.lists(st.integers(0, 10**10), max_size=30), st.sampled_from([DELAY, RATE, Limit(9, 86_400.0)]))
def test_memory_is_bounded(seconds: list[int], limit: Limit) -> None:
    pace = Pace(limit)
    for second in seconds:
        pace.add({second + more: 1 for more in range(0, 2000, 7)})
        assert len(pace.open) <= 1500
