import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.watch.obedience.shares import share_of


@pytest.mark.parametrize(
    ("hits", "total", "interval"),
    [
        # the intervals of Newcombe, Two-sided confidence intervals for the single proportion, 1998, table I
        (81, 263, (0.2553, 0.3662)),
        (15, 148, (0.0624, 0.1605)),
        (0, 20, (0.0, 0.1611)),
        (1, 29, (0.0061, 0.1718)),
        (10, 10, (0.7225, 1.0)),
    ],
)
def test_intervals(hits: int, total: int, interval: tuple[float, float]) -> None:
    share = share_of(hits, total)
    assert share is not None
    assert share.value == hits / total
    assert (share.low, share.high) == pytest.approx(interval, abs=5e-5)


def test_no_share_of_nothing() -> None:
    assert share_of(0, 0) is None


@given(st.integers(1, 10**9), st.data())
def test_an_interval_holds_the_share(total: int, data: st.DataObject) -> None:
    share = share_of(data.draw(st.integers(0, total)), total)
    assert share is not None
    assert 0 <= share.low <= share.value <= share.high <= 1
