"""The crawl that comes back, held against fixed waits: the benchmark of the same name, made small."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "bench_freshness.py"


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    """200 pages, 20 days, by each plan."""
    spec = spec_from_file_location("bench_freshness", BENCHMARK)
    assert spec is not None
    assert spec.loader is not None
    benchmark = module_from_spec(spec)
    spec.loader.exec_module(benchmark)
    return {plan: benchmark.run(plan, 200, 20, seed=1) for plan in benchmark.PLANS}


def test_fresher_than_a_visit_a_day_for_fewer_requests(results: dict[str, Any]) -> None:
    assert results["ours"].freshness > results["a day"].freshness
    assert results["ours"].requests < results["a day"].requests


def test_thrifty_it_is_fresher_than_a_visit_a_week(results: dict[str, Any]) -> None:
    ours, week = results["ours, thrifty"], results["a week"]
    assert ours.freshness > week.freshness
    assert ours.requests < 1.5 * week.requests


def test_each_page_is_asked_as_often_as_it_is_worth(results: dict[str, Any]) -> None:
    visits = [count for _, count in results["ours"].by_kind.values()]
    assert visits == sorted(visits, reverse=True)
    fresh = [share for share, _ in results["ours"].by_kind.values()]
    assert fresh == sorted(fresh)
