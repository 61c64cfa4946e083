"""Tests how many URLs a visit of a host asks for in the next lease."""

import pytest

from goodbot.robot.crawl.host_visit import LEASE_GROWTH, HostVisit
from goodbot.values import Lease


@pytest.mark.parametrize(
    ("started", "waits", "next_urls"),
    [(0, True, 1), (1, True, 1), (5, True, 5), (0, False, 1), (1, False, LEASE_GROWTH), (8, False, 8 * LEASE_GROWTH)],
)
def test_a_delay_that_ends_a_visit_limits_the_next_lease(started: int, waits: bool, next_urls: int) -> None:
    visit = HostVisit(Lease("example.org", ()), 0.0)
    visit.started = started
    assert visit.next_urls(waits=waits) == next_urls
