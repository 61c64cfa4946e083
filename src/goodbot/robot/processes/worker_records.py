"""Keeps the owner's list of its robot processes: the leases that each holds, and those that wait for it."""

import asyncio
from collections import deque
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from typing import Final

from goodbot.lru import LruCache
from goodbot.robot.crawl.page_mark import PageMark
from goodbot.robot.processes.messages import Pause, send
from goodbot.robot.processes.spawning import Process
from goodbot.url import Url
from goodbot.values import Lease, LeasedUrl

HOSTS_MOST: Final = 16_384
"""Hosts of which it is remembered that a worker has their lessons; fewer than a worker keeps lessons of."""

_AHEAD: Final = 2
"""The owner sends one lease ahead for so many places, so that a place that becomes free need not wait for the owner.
Without this a place lost 2 % of its time, with answers after 1 s."""


@dataclass(slots=True)
class Held:
    """A lease in a worker's hands, and its URLs without an outcome yet."""

    lease: Lease
    urls: dict[Url, LeasedUrl]


@dataclass(slots=True)
class WorkerRecord:
    """One robot process. `places`: hosts it visits at a time. `deaf`: messages of a pause not heard yet. `mark`: the
    page it is reading."""

    number: int
    process: Process
    writer: asyncio.StreamWriter
    mark: PageMark
    places: int
    held: dict[str, Held] = field(default_factory=dict)
    waiting: deque[Lease] = field(default_factory=deque)
    hosts: LruCache[str, bool] = field(default_factory=lambda: LruCache(HOSTS_MOST))
    in_flight: int = 0
    uncommitted: int = 0
    deaf: int = 0
    has_begun: bool = False
    told_to_stop: bool = False

    @property
    def room(self) -> int:
        """Leases that can still be sent."""
        return self.places + -(-self.places // _AHEAD) - len(self.held)

    @property
    def may_be_in_flight(self) -> int:
        """As last reported; to each host that it holds one, as long as it may not have heard of a pause."""
        return max(self.in_flight, len(self.held)) if self.deaf else self.in_flight

    @property
    def outstanding(self) -> int:
        """URLs in its hands: each may become one more page."""
        return sum(len(held.urls) for held in self.held.values())

    def tell_pause(self, on: bool) -> None:
        """Tells it to pause, or to go on; it has to acknowledge that."""
        self.deaf += 1
        send(self.writer, Pause(on))

    def new_hosts(self, leases: list[Lease]) -> list[str]:
        """Hosts of which it has not had the lessons lately. From now on it has."""
        hosts = sorted({lease.host for lease in leases})
        new = [host for host in hosts if self.hosts.get(host) is None]
        for host in new:
            self.hosts.put(host, True)
        return new


@lru_cache(maxsize=1 << 16)
def home_of(host: str, workers: int) -> int:
    """The worker of a host. A worker that is added or removed moves as few hosts as possible (rendezvous hashing)."""
    return max(range(workers), key=lambda number: blake2b(f"{number} {host}".encode(), digest_size=8).digest())
