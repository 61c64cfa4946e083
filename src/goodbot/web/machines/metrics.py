"""Writes the figures of an index and its crawl in the format of Prometheus."""

from collections.abc import Iterator

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from goodbot.live import LiveStatus
from goodbot.robot.crawl.remote_control import CrawlView
from goodbot.values import STATES

CONTENT_TYPE = CONTENT_TYPE_LATEST


def metrics_text(documents: int, view: CrawlView | None, connections: int | None = None) -> bytes:
    """Returns the figures of the index, of the crawl if there is one, and of its run while it runs; `connections`: how
    many the server has open, if that is known."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collected(documents, view, connections))
    return generate_latest(registry)


class _Collected(Collector):
    def __init__(self, documents: int, view: CrawlView | None, connections: int | None) -> None:
        self._documents = documents
        self._view = view
        self._connections = connections

    def collect(self) -> Iterator[Metric]:
        yield GaugeMetricFamily("goodbot_index_documents", "Pages in the search index", self._documents)
        if self._connections is not None:
            yield GaugeMetricFamily("goodbot_http_connections", "Connections open", self._connections)
        if self._view is None:
            return
        status = self._view.status
        urls = GaugeMetricFamily("goodbot_urls", "Known URLs by state", labels=["state"])
        for state in STATES:
            urls.add_metric([state], status.states[state])
        yield urls
        yield CounterMetricFamily("goodbot_fetched_bytes", "Bytes of all responses", status.bytes)
        yield GaugeMetricFamily("goodbot_hosts", "Hosts with URLs in scope", status.hosts)
        yield GaugeMetricFamily("goodbot_running", "1 while a crawl runs", int(self._view.running))
        if status.next_ready_at is not None:
            yield GaugeMetricFamily(
                "goodbot_next_ready_timestamp_seconds", "When the next URL may be fetched", status.next_ready_at
            )
        if self._view.live is not None:
            yield from _of_run(self._view.live)


def _of_run(live: LiveStatus) -> Iterator[Metric]:
    yield GaugeMetricFamily("goodbot_run_paused", "1 while the crawl is paused", int(live.pace == "paused"))
    yield GaugeMetricFamily("goodbot_run_started_timestamp_seconds", "When this run started", live.started_at)
    yield CounterMetricFamily("goodbot_run_pages", "Pages fetched in this run", live.pages)
    yield GaugeMetricFamily("goodbot_run_pages_per_second", "Pages per second over the last ten seconds", live.rate)
    yield GaugeMetricFamily("goodbot_run_requests_in_flight", "Requests in flight", live.in_flight)
    yield GaugeMetricFamily("goodbot_run_hosts", "Hosts that responded in the last minute", live.hosts)
    yield GaugeMetricFamily("goodbot_run_workers", "Robot processes", live.workers)
    errors = CounterMetricFamily("goodbot_run_errors", "Fetches by failure kind or status", labels=["kind"])
    for kind, count in live.errors:
        errors.add_metric([kind], count)
    yield errors
