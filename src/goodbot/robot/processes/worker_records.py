"""Records what the coordinator knows of each worker: the leases that it holds, and those that wait for it."""

import asyncio
import logging
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from goodbot.exclusion import Access
from goodbot.lesson_values import IndexedPage, Lesson
from goodbot.live import Holding
from goodbot.lru import LruCache
from goodbot.robot.crawl.page_mark import PageMark
from goodbot.robot.processes.messages import Pause, send
from goodbot.robot.processes.spawning import Process
from goodbot.robot.processes.worker_deaths import exit_description
from goodbot.url import Url
from goodbot.values import Lease, LeasedUrl

_LOG: Final = logging.getLogger(__name__)

MAX_HOSTS: Final = 16_384
"""How many hosts are remembered as hosts whose lessons a worker has. A worker keeps the lessons of more hosts than
that."""

_PLACES_PER_EXTRA_LEASE: Final = 2
"""The coordinator sends one lease in advance for this many places, so that a place that becomes free need not wait for
its next lease. Without this, places were idle for 2 % of the time when answers took 1 s."""


@dataclass(slots=True)
class HeldLease:
    """A lease that a worker holds, or will get; those of its URLs that have no outcome yet; and what is known of its
    host."""

    lease: Lease
    urls: dict[Url, LeasedUrl]
    robots: dict[str, Access]
    lessons: Sequence[Lesson] = ()
    indexed_pages: Sequence[IndexedPage] = ()


@dataclass(slots=True)
class WorkerRecord:
    """One worker. `places`: how many hosts it visits at a time. `unacknowledged_pauses`: `Pause` messages that it has
    not acknowledged. `mark`: the page that it is reading. `holdings`: what it held in memory, as it last reported."""

    number: int
    process: Process
    writer: asyncio.StreamWriter
    mark: PageMark
    places: int
    held: dict[str, HeldLease] = field(default_factory=dict)
    waiting: deque[HeldLease] = field(default_factory=deque)
    has_ended: asyncio.Event = field(default_factory=asyncio.Event)
    hosts: LruCache[str, bool] = field(default_factory=lambda: LruCache(MAX_HOSTS))
    in_flight: int = 0
    holdings: tuple[Holding, ...] = ()
    uncommitted: int = 0
    unacknowledged_pauses: int = 0
    has_begun: bool = False
    stop_sent: bool = False

    @property
    def room(self) -> int:
        """How many more leases can be sent to it."""
        return self.places + -(-self.places // _PLACES_PER_EXTRA_LEASE) - len(self.held)

    @property
    def in_flight_at_most(self) -> int:
        """The number of pages in flight as last reported. While a pause is not acknowledged, at least one for each host
        that it holds."""
        return max(self.in_flight, len(self.held)) if self.unacknowledged_pauses else self.in_flight

    @property
    def outstanding(self) -> int:
        """Its leased URLs without an outcome: each may become one more page."""
        return sum(len(held.urls) for held in self.held.values())

    def send_pause(self, on: bool) -> None:
        """Sends `Pause`, which the worker has to acknowledge."""
        self.unacknowledged_pauses += 1
        send(self.writer, Pause(on))

    def hosts_without_lessons(self, leases: list[Lease]) -> list[str]:
        """Returns the hosts whose lessons were not sent to it recently, and remembers that they are sent now."""
        hosts = sorted({lease.host for lease in leases})
        new = [host for host in hosts if self.hosts.get(host) is None]
        for host in new:
            self.hosts.put(host, True)
        return new

    def leased_urls(self) -> Iterator[LeasedUrl]:
        """Returns its leased URLs that have no outcome yet."""
        return (leased for held in self.held.values() for leased in held.urls.values())

    def log_death(self, page: LeasedUrl | None) -> None:
        """Logs that its process died while reading `page` (None: no page)."""
        url = page.url.text if page is not None else None
        _LOG.error(
            "worker %d (process %d) died with %s %s",
            self.number,
            self.process.pid,
            exit_description(self.process.returncode),
            f"while it read {url}" if url else "while it read no page",
            extra={"worker": self.number, "pid": self.process.pid, "url": url},
        )
