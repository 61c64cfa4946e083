"""Rates against a computation that keeps everything."""

import random
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.watch.counting.rates import BURST_PER_MINUTE, MANY_OPEN, OPEN_S, Rates, busy_seconds

START = 1_789_466_400


def rates_of(blocks: list[list[int]], duration: float | None = None) -> Rates:
    """Returns the rates of requests at these seconds, block by block; each takes as long."""
    rates = Rates()
    for block in blocks:
        rates.add(Counter(block), busy_seconds((second, duration) for second in block))
    return rates.closed()


def expected(seconds: list[int]) -> tuple[int, int, int, int]:
    by_second, by_minute = Counter(seconds), Counter(second // 60 for second in seconds)
    bursts = sum(count >= BURST_PER_MINUTE for count in by_minute.values())
    return max(by_second.values(), default=0), max(by_minute.values(), default=0), len(by_minute), bursts


CASES = [
    ("none", []),
    ("one", [0]),
    ("three in a second", [5, 5, 5]),
    ("a burst", [second % 60 for second in range(60)]),
    ("59 in a minute", [second % 59 for second in range(59)]),
    ("two bursts", [0] * 60 + [3600] * 70),
    ("over the end of a minute", [59] * 40 + [60] * 40),
]


@pytest.mark.parametrize("seconds", [case[1] for case in CASES], ids=[case[0] for case in CASES])
def test_a_robot(seconds: list[int]) -> None:
    rates = rates_of([[START + second for second in seconds]])
    found = (rates.peak_second, rates.peak_minute, rates.active_minutes, rates.bursts)
    assert found == expected([START + second for second in seconds])


@given(st.integers(0, 1000), st.integers(1, 2000), st.lists(st.integers(0, 3000), max_size=6))
def test_closing_changes_nothing_for_a_log_in_order(seed: int, count: int, places: list[int]) -> None:
    """Also if it is out of order by less than `OPEN_S`, and however it is cut."""
    choose = random.Random(seed)
    seconds = sorted(START + choose.randrange(3 * MANY_OPEN) for _ in range(count))
    shuffled = sorted(seconds, key=lambda second: second + choose.uniform(0, OPEN_S - 1))
    bounds = [0, *sorted(place % (count + 1) for place in places), count]
    rates = rates_of([shuffled[start:end] for start, end in pairwise(bounds)], 30.0)
    assert (rates.peak_second, rates.peak_minute, rates.active_minutes, rates.bursts) == expected(seconds)
    assert rates.parallel == rates_of([shuffled], 30.0).parallel


def test_a_log_far_out_of_order_counts_minutes_again() -> None:
    """Two logs of the same hour, one after the other: only the last minutes of the first are still open."""
    hour = [START + second for second in range(3600)]
    rates = rates_of([hour, hour])
    still_open = OPEN_S // 60 + 1
    assert rates.active_minutes == rates.bursts == 120 - still_open
    assert (rates.peak_second, rates.peak_minute) == (2, 120)


def test_memory_is_bounded() -> None:
    rates = Rates()
    for hour in range(200):
        rates.add({START + 3600 * hour + second: 1 for second in range(3600)}, {})
        assert len(rates.seconds) <= MANY_OPEN
    assert rates.closed().active_minutes == 200 * 60


@given(st.lists(st.tuples(st.floats(0, 300), st.floats(0.001, 90)), min_size=1, max_size=40), st.integers(0, 40))
def test_the_parallel_requests_are_never_too_many(spans: list[tuple[float, float]], place: int) -> None:
    """The log has the second in which a request ended, and how long it took."""
    rates = Rates()
    for block in (spans[:place], spans[place:]):
        ends = [(START + int(start + spent), spent) for start, spent in block]
        rates.add(Counter(end for end, _ in ends), busy_seconds(ends))
    edges = sorted(
        [(start, 1) for start, _ in spans] + [(start + spent, -1) for start, spent in spans],
        key=lambda edge: (edge[0], -edge[1]),
    )
    most = open_now = 0
    for _, step in edges:
        open_now += step
        most = max(most, open_now)
    assert 1 <= rates.closed().parallel <= most


@pytest.mark.parametrize(
    ("ends", "parallel"),
    [
        pytest.param([(0, None), (1, None)], 0, id="the log does not say"),
        pytest.param([(0, 0.4)], 1, id="one"),
        pytest.param([(0, 0.4)] * 10, 3, id="ten in a second"),
        pytest.param([(0, 30.0)] * 10, 10, id="ten slow ones that end together"),
        pytest.param([(second, 30.0) for second in range(60)], 20, id="a slow one every second"),
    ],
)
def test_parallel_requests(ends: list[tuple[int, float | None]], parallel: int) -> None:
    rates = Rates()
    rates.add(Counter(end for end, _ in ends), busy_seconds(ends))
    assert rates.closed().parallel == parallel
