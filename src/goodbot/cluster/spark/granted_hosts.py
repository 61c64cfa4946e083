"""Leases the hosts that a fetch task was granted: a fixed set of URLs, in the place of a frontier. No URL is added."""

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Final, NamedTuple

from goodbot.cluster.spark.grants import HostGrant
from goodbot.ports import Clock
from goodbot.store.merge.limits import lease_limit
from goodbot.url import Url
from goodbot.values import Lease, LeasedUrl, Release

MAX_WAITING: Final = 1000
"""Hosts that wait for their next request in memory; while there are more, no further grants are read."""


class GrantedUrl(NamedTuple):
    """A URL of a grant. `was`: its state code before this visit if it is a revisit, else None."""

    leased: LeasedUrl
    was: int | None


@dataclass(slots=True)
class _Host:
    grant: HostGrant
    urls: list[GrantedUrl]
    """Those that no lease had yet, the next one last."""
    ready_at: float
    backoff_s: float
    cut_at: float | None
    next_urls: int | None = None
    ends_at: float = inf
    out: dict[Url, GrantedUrl] = field(default_factory=dict)


class GrantedHosts:
    """Implements `Leases` over grants.

    A host is leased again and again until all its URLs have an outcome, until `host_s` seconds after its first lease,
    or until the time `ends_at`. `begin` is called with each grant before its first lease, `end` with each host after
    its last. `cut_at`: when hosts may have received requests that their grants do not include; None: they have not.
    """

    def __init__(
        self,
        grants: Iterator[HostGrant],
        clock: Clock,
        *,
        host_s: float,
        ends_at: float,
        cut_at: float | None = None,
        begin: Callable[[HostGrant], object],
        end: Callable[[str], object],
    ) -> None:
        self._grants = grants
        self._clock = clock
        self._host_s = host_s
        self._ends_at = ends_at
        self._cut_at = cut_at
        self._begin = begin
        self._end = end
        self._waiting: list[tuple[float, int, _Host]] = []
        self._leased: dict[str, _Host] = {}
        self._count = 0
        self._are_all_read = False
        self.urls_left = 0
        """URLs of ended hosts that had no outcome: they stay as they were."""

    def lease(self, hosts: int, urls_per_host: int, now: float, *, sized: bool = False) -> list[Lease]:
        """See `Leases.lease`."""
        leases: list[Lease] = []
        while len(leases) < hosts and now < self._ends_at and (host := self._next(now)) is not None:
            leases.append(self._lease(host, lease_limit(urls_per_host, host.next_urls, sized=sized), now))
        return leases

    def next_ready_at(self) -> float | None:
        """See `Leases.next_ready_at`."""
        if self._clock.now() >= self._ends_at:
            return None
        if not self._are_all_read and len(self._waiting) < MAX_WAITING:
            return 0.0
        return self._waiting[0][0] if self._waiting else None

    def is_finished(self) -> bool:
        """See `Leases.is_finished`."""
        return not self._leased and (self._clock.now() >= self._ends_at or self.next_ready_at() is None)

    def settled(self, url: Url) -> GrantedUrl | None:
        """Notes that a leased URL has an outcome; returns it. None if it is not leased."""
        host = self._leased.get(url.host_key)
        return None if host is None else host.out.pop(url, None)

    def released(self, release: Release) -> None:
        """Ends a lease. URLs of it without an outcome are leased again."""
        host = self._leased.pop(release.host, None)
        if host is None:
            return
        host.urls += reversed(host.out.values())
        host.out.clear()
        host.ready_at, host.backoff_s, host.cut_at = release.ready_at, release.backoff_s, release.cut_at
        host.next_urls = release.next_urls or host.next_urls
        now = self._clock.now()
        if not host.urls or max(host.ready_at, now) >= min(host.ends_at, self._ends_at):
            self.urls_left += len(host.urls)
            self._end(release.host)
        else:
            self._wait(host)

    def _next(self, now: float) -> _Host | None:
        """Returns a host that may be requested now: one that was leased before comes first."""
        while not (self._waiting and self._waiting[0][0] <= now):
            if self._are_all_read or len(self._waiting) >= MAX_WAITING:
                return None
            grant = next(self._grants, None)
            if grant is None:
                self._are_all_read = True
            else:
                self._begin(grant)
                self._wait(self._host_of(grant))
        return heapq.heappop(self._waiting)[2]

    def _host_of(self, grant: HostGrant) -> _Host:
        urls = [GrantedUrl(*pair) for pair in zip(grant.urls, grant.were, strict=True)]
        cut_at = grant.cut_at if self._cut_at is None else self._cut_at
        return _Host(grant, urls[::-1], grant.ready_at, grant.backoff_s, cut_at)

    def _wait(self, host: _Host) -> None:
        self._count += 1
        heapq.heappush(self._waiting, (host.ready_at, self._count, host))

    def _lease(self, host: _Host, most: int, now: float) -> Lease:
        host.ends_at = min(host.ends_at, now + self._host_s)
        chosen = [host.urls.pop() for _ in range(min(most, len(host.urls)))]
        host.out = {item.leased.url: item for item in chosen}
        name = host.grant.host
        self._leased[name] = host
        leased = tuple(item.leased for item in chosen)
        lease = Lease(name, leased, host.backoff_s, host.cut_at, partition=host.grant.partition)
        return replace(lease, is_full=bool(host.urls))

    def rest(self) -> Sequence[str]:
        """Returns the hosts that were begun and have not ended, at the end of the task."""
        return [host.grant.host for _, _, host in self._waiting]
