"""Counts decisions, for Prometheus."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from goodbot.gate.decision import Decision

Figure = tuple[str, str, Callable[[], float]]
"""The name of a figure, what it is, and how it is read."""


class GateMetrics:
    """The counters of one gate."""

    def __init__(self) -> None:
        self._decisions: Counter[tuple[str, str]] = Counter()
        self._robots: Counter[tuple[str, str]] = Counter()
        self._seconds = 0.0

    def decided(self, decision: Decision, seconds: float) -> None:
        """Counts a decision that took so long. Robots on record are counted by name: their number is bounded."""
        client = decision.client
        self._decisions[decision.code, client.identity] += 1
        if client.robot is not None:
            self._robots[client.robot.name, decision.code] += 1
        self._seconds += seconds

    def text(self, counts: Iterable[Figure], gauges: Iterable[Figure], problems: dict[str, str]) -> bytes:
        """Returns all figures in the text format of Prometheus. `problems`: why each robots.txt could not be read."""
        registry = CollectorRegistry(auto_describe=False)
        registry.register(_Figures(lambda: self._families(counts, gauges, problems)))
        return generate_latest(registry)

    def _families(
        self, counts: Iterable[Figure], gauges: Iterable[Figure], problems: dict[str, str]
    ) -> Iterator[Metric]:
        decisions = CounterMetricFamily(
            "goodbot_gate_decisions",
            "Decisions by kind and identity of the client",
            labels=("decision", "identity"),
        )
        for labels, count in sorted(self._decisions.items()):
            decisions.add_metric(labels, count)
        yield decisions
        robots = CounterMetricFamily(
            "goodbot_gate_robot_requests", "Requests of robots on record, by decision", labels=("robot", "decision")
        )
        for labels, count in sorted(self._robots.items()):
            robots.add_metric(labels, count)
        yield robots
        yield CounterMetricFamily(
            "goodbot_gate_decision_seconds", "Time that all decisions took together", value=self._seconds
        )
        for name, what, read in counts:
            yield CounterMetricFamily(name, what, value=read())
        for name, what, read in gauges:
            yield GaugeMetricFamily(name, what, value=read())
        readable = GaugeMetricFamily(
            "goodbot_gate_robots_txt_readable",
            "1 if the robots.txt could be read at the last attempt; otherwise the last good one stays in force",
            labels=("place",),
        )
        for place, problem in problems.items():
            readable.add_metric((place.encode("utf-8", "replace").decode(),), 0.0 if problem else 1.0)
        yield readable


class _Figures(Collector):
    def __init__(self, families: Callable[[], Iterable[Metric]]) -> None:
        self._families: Final = families

    def collect(self) -> Iterable[Metric]:
        return self._families()
