"""Writes the figures of an index and its crawl in the format of Prometheus."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from goodbot.live import LiveStatus
from goodbot.report_values import MACHINE_STATES, MachineView
from goodbot.robot.crawl.remote_control import CrawlFigures
from goodbot.values import STATES, Status

CONTENT_TYPE = CONTENT_TYPE_LATEST


def metrics_text(documents: int, crawl: CrawlFigures | None, connections: int | None = None) -> bytes:
    """Returns the figures of the index, of the crawl if there is one, and of its run while it runs; `connections`: how
    many the server has open, if that is known."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collected(documents, crawl, connections))
    return generate_latest(registry)


class _Collected(Collector):
    def __init__(self, documents: int, crawl: CrawlFigures | None, connections: int | None) -> None:
        self._documents = documents
        self._crawl = crawl
        self._connections = connections

    def collect(self) -> Iterator[Metric]:
        yield GaugeMetricFamily("goodbot_index_documents", "Pages in the search index", self._documents)
        if self._connections is not None:
            yield GaugeMetricFamily("goodbot_http_connections", "Connections open", self._connections)
        crawl = self._crawl
        if crawl is None:
            return
        if crawl.is_up is not None:
            yield GaugeMetricFamily(
                "goodbot_database_up", "1 if the database that keeps the crawl answers", int(crawl.is_up)
            )
        if crawl.status is not None:
            yield from _of_crawl(crawl.status)
        yield GaugeMetricFamily("goodbot_running", "1 while a crawl runs", int(crawl.running))
        if crawl.status is not None and crawl.status.next_ready_at is not None:
            yield GaugeMetricFamily(
                "goodbot_next_ready_timestamp_seconds", "When the next URL may be fetched", crawl.status.next_ready_at
            )
        if crawl.live is not None:
            yield from _of_run(crawl.live)
        if crawl.is_up:
            yield from _of_machines(crawl.machines)


def _of_crawl(status: Status) -> Iterator[Metric]:
    urls = GaugeMetricFamily("goodbot_urls", "Known URLs by state", labels=["state"])
    for state in STATES:
        urls.add_metric([state], status.states[state])
    yield urls
    yield CounterMetricFamily("goodbot_fetched_bytes", "Bytes of all responses", status.bytes)
    yield GaugeMetricFamily("goodbot_hosts", "Hosts with URLs in scope", status.hosts)


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


def _of_machines(machines: Sequence[MachineView]) -> Iterator[Metric]:
    """Each machine that takes part has a line in each family; those that ended have none."""
    present = GaugeMetricFamily("goodbot_crawl_machines", "Machines that take part, alive or late", labels=["state"])
    for state in MACHINE_STATES[:2]:
        present.add_metric([state], sum(machine.state == state for machine in machines))
    yield present
    labels = ["machine", "name"]
    for name, meaning, value in _OF_MACHINE:
        family = GaugeMetricFamily(f"goodbot_crawl_machine_{name}", meaning, labels=labels)
        for machine in machines:
            family.add_metric([str(machine.machine), machine.name], value(machine))
        yield family
    pages = CounterMetricFamily("goodbot_crawl_machine_pages", "Visits of pages that it has committed", labels=labels)
    for machine in machines:
        pages.add_metric([str(machine.machine), machine.name], machine.pages)
    yield pages


_OF_MACHINE: Final[Sequence[tuple[str, str, Callable[[MachineView], float]]]] = (
    ("heartbeat_age_seconds", "Time since its last heartbeat", lambda machine: machine.heartbeat_s),
    ("partitions", "Partitions of hosts that it has, of 1,024", lambda machine: machine.partitions),
    ("leased_hosts", "Hosts that it leases", lambda machine: machine.leased_hosts),
    ("leased_urls", "URLs that it leases", lambda machine: machine.leased_urls),
    ("pages_per_second", "Its pages per second over the last ten seconds", lambda machine: machine.pages_per_s or 0.0),
)
