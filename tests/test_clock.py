"""The clock that several machines share."""

import pytest

from goodbot.clock import SharedClock, passed_s


def test_it_follows_the_shared_clock_and_knows_how_exactly() -> None:
    clock = SharedClock()
    clock.set(5000.0, 100.0, 100.2)
    assert clock.offset_s == pytest.approx(4899.9)
    assert clock.error_s == pytest.approx(0.1)
    assert clock.now() == pytest.approx(4899.9 + passed_s(), abs=5.0)


def test_comparing_moves_no_time_and_bounds_the_error() -> None:
    clock = SharedClock()
    clock.set(5000.0, 100.0, 100.0)
    clock.compare(5010.3, 110.0, 110.4)  # a slow answer
    assert (clock.offset_s, clock.error_s) == (4900.0, 0.0)
    for reading in range(12):  # the clock has drifted
        clock.compare(5020.5 + reading, 120.0 + reading, 120.2 + reading)
    assert clock.offset_s == 4900.0
    assert clock.error_s == pytest.approx(0.5)
    clock.set(6000.0, 200.0, 200.0)
    assert (clock.offset_s, clock.error_s) == (5800.0, 0.0)
