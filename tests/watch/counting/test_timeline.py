from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.watch.counting.timeline import DAY_S, HOUR_S, MOST_SPANS, Timeline


def test_requests_by_hour() -> None:
    timeline = Timeline()
    timeline.add({0: 1, 3599: 2, 3600: 4})
    timeline.add({3600: 1})
    assert timeline.in_spans(HOUR_S) == {0: 3, 3600: 5}
    assert timeline.in_spans(DAY_S) == {0: 8}


@pytest.mark.parametrize(
    ("hours", "span_s"),
    [
        pytest.param(range(MOST_SPANS), HOUR_S, id="hours"),
        pytest.param(range(MOST_SPANS + 1), 6 * HOUR_S, id="six hours"),
        pytest.param(range(0, 24 * 1900, 6), DAY_S, id="days"),
        pytest.param(range(0, 24 * 2100, 6), 7 * DAY_S, id="weeks"),
    ],
)
def test_spans_become_longer(hours: range, span_s: int) -> None:
    timeline = Timeline()
    timeline.add({hour * HOUR_S: 1 for hour in hours})
    assert timeline.span_s == span_s
    assert sum(timeline.counts.values()) == len(hours)


@given(st.lists(st.dictionaries(st.integers(0, 2**62), st.integers(1, 9), max_size=50)))
def test_no_request_is_lost(blocks: list[dict[int, int]]) -> None:
    timeline = Timeline()
    for block in blocks:
        timeline.add(block)
    assert len(timeline.counts) <= MOST_SPANS
    assert sum(timeline.counts.values()) == sum(sum(block.values()) for block in blocks)
    assert sum(Counter(timeline.in_spans(timeline.span_s)).values()) == sum(timeline.counts.values())
