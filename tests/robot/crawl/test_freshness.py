"""Compares revisits with fixed waits: a small version of the benchmark of the same name."""

from typing import Any

import pytest

from programs import load


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    """200 pages, 20 days, by each plan."""
    benchmark = load("benchmarks/bench_freshness.py")
    return {plan: benchmark.run(plan, 200, 20, seed=1) for plan in benchmark.PLANS}


def test_fresher_than_a_visit_a_day_for_fewer_requests(results: dict[str, Any]) -> None:
    assert results["ours"].freshness > results["a day"].freshness
    assert results["ours"].requests < results["a day"].requests


def test_thrifty_it_is_fresher_than_a_visit_a_week(results: dict[str, Any]) -> None:
    ours, week = results["ours, thrifty"], results["a week"]
    assert ours.freshness > week.freshness
    assert ours.requests < 1.5 * week.requests


def test_each_page_is_visited_as_often_as_it_is_worth(results: dict[str, Any]) -> None:
    visits = [count for _, count in results["ours"].by_kind.values()]
    assert visits == sorted(visits, reverse=True)
    fresh = [share for share, _ in results["ours"].by_kind.values()]
    assert fresh == sorted(fresh)
