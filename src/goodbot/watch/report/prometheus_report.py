"""The report as Prometheus metrics, for the textfile collector of node_exporter."""

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric

from goodbot.watch.report.watch_report import WatchReport


def report_prometheus(report: WatchReport) -> str:
    """Returns the metrics. All are gauges: a run without a state begins at zero."""
    registry = CollectorRegistry()
    registry.register(_Metrics(report))
    return generate_latest(registry).decode()


class _Metrics:
    """Gives the figures to prometheus_client."""

    def __init__(self, report: WatchReport) -> None:
        self._report = report

    def collect(self) -> Iterable[Metric]:
        """Yields every metric."""
        report = self._report
        yield _gauge("lines", "Lines of the logs.", report.lines)
        yield _gauge("requests", "Requests counted.", report.counts.requests)
        yield _gauge("bytes", "Bytes sent.", report.counts.bytes)
        yield _gauge("visitors", "Different addresses; above 20,000 estimated.", report.visitors)
        yield _gauge("pooled_requests", "Requests that are not counted address by address.", report.pooled.requests)
        skipped = _labelled("skipped_lines", "Lines that cannot be read as a request, by reason.", "reason")
        for reason, count in report.skipped.items():
            skipped.add_metric([reason], count)
        yield skipped
        if report.only is None:
            verdicts = _labelled("undeclared_addresses", "Addresses that name no known robot, by verdict.", "verdict")
            for verdict, count in report.verdicts.items():
                verdicts.add_metric([verdict], count)
            yield verdicts
        yield from self._robots()

    def _robots(self) -> Iterable[Metric]:
        requests = _by_robot("requests", "Requests of a known robot.")
        sent = _by_robot("bytes", "Bytes sent to a known robot.")
        fetches = _by_robot("robots_txt_fetches", "Requests of a known robot for robots.txt.")
        errors = _by_robot("errors", "Requests of a known robot that were answered with 400 to 599.")
        peak = _by_robot("peak_requests_per_second", "Most requests of a known robot within one second.")
        judged = _by_robot("judged_requests", "Requests of a known robot that were judged by robots.txt.")
        disallowed = _by_robot("disallowed_requests", "Requests of a known robot that robots.txt disallowed.")
        for robot in self._report.robots:
            labels = [robot.name, robot.tier, robot.robot.purpose if robot.robot else "other"]
            requests.add_metric(labels, robot.counts.requests)
            sent.add_metric(labels, robot.counts.bytes)
            fetches.add_metric(labels, robot.robots_txt_fetches)
            errors.add_metric(labels, robot.errors)
            peak.add_metric(labels, robot.rates.peak_second)
            if robot.obedience is not None:
                judged.add_metric(labels, robot.obedience.judged)
                disallowed.add_metric(labels, robot.obedience.disallowed)
        yield from (requests, sent, fetches, errors, peak)
        if self._report.rules is not None:
            yield from (judged, disallowed)


def _gauge(name: str, about: str, value: float) -> Metric:
    return GaugeMetricFamily(f"goodbot_watch_{name}", about, value)


def _labelled(name: str, about: str, *labels: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"goodbot_watch_{name}", about, labels=labels)


def _by_robot(name: str, about: str) -> GaugeMetricFamily:
    return _labelled(f"robot_{name}", about, "robot", "tier", "purpose")
