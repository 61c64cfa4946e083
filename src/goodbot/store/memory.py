"""The frontier in memory: for tests, and for a question or two that keep nothing."""

import heapq
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from goodbot.exclusion import Access
from goodbot.store.ledger import found_events
from goodbot.url import Url
from goodbot.values import (
    STATES,
    Discovery,
    Event,
    Lease,
    LeasedUrl,
    Outcome,
    RecordRef,
    Release,
    State,
    Status,
    UrlRecord,
)


@dataclass(slots=True)
class _Known:
    url: Url
    seq: int
    depth: int
    public_only: bool
    hops: int
    refused: str | None
    state: State
    found_at: float
    source: Url | None
    tries: int = 0
    last: Outcome | None = None


@dataclass(slots=True)
class _Host:
    """`ready` is ordered by depth and order found, `later` by time; `offered_at` is its true entry in `_due`."""

    number: int
    key: str
    ready_at: float
    backoff_s: float = 0.0
    leased: bool = False
    in_scope: bool = False
    offered_at: float | None = None
    ready: list[tuple[int, int, _Known]] = field(default_factory=list)
    later: list[tuple[float, int, _Known]] = field(default_factory=list)
    out: dict[Url, _Known] = field(default_factory=dict)

    @property
    def opens_at(self) -> float | None:
        """When its URLs can be asked, were it not leased; None if it has none."""
        if self.ready:
            return self.ready_at
        return max(self.ready_at, self.later[0][0]) if self.later else None

    def queue(self, known: _Known) -> None:
        self.in_scope = True
        heapq.heappush(self.ready, (known.depth, known.seq, known))

    def sort(self) -> None:
        """After the depth of a URL has changed."""
        self.ready = [(known.depth, known.seq, known) for _, _, known in self.ready]
        heapq.heapify(self.ready)

    def take(self, limit: int, now: float) -> Iterator[_Known]:
        """At most `limit` URLs due now; they are leased."""
        while self.later and self.later[0][0] <= now:
            self.queue(heapq.heappop(self.later)[2])
        for _ in range(min(limit, len(self.ready))):
            known = heapq.heappop(self.ready)[2]
            known.state = "leased"
            self.out[known.url] = known
            yield known


class MemoryFrontier:
    """Frontier, Ledger, IndexQueue and RobotsStore; `status` walks all URLs, `lease` only what it gives."""

    def __init__(self, *, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._known: dict[Url, _Known] = {}
        self._hosts: dict[str, _Host] = {}
        self._due: list[tuple[float, int, _Host]] = []  # may hold entries that are no longer true, see `_next_host`
        self._counts: Counter[str] = Counter()
        self._to_index: dict[Url, RecordRef | None] = {}
        self._robots: dict[str, Access] = {}

    # ---- Frontier -------------------------------------------------------------------------------------------

    def add(self, discoveries: Iterable[Discovery]) -> int:
        """See `Frontier.add`. A new host comes before those that links led to."""
        return self._discover(list(discoveries), self._now(), 0.0)

    def lease(self, hosts: int, urls_per_host: int, now: float) -> list[Lease]:
        """See `Frontier.lease`."""
        if hosts < 1 or urls_per_host < 1:
            return []
        leases: list[Lease] = []
        while len(leases) < hosts and (host := self._next_host()) and self._due[0][0] <= now:
            heapq.heappop(self._due)
            leases.append(self._lease(host, urls_per_host, now))
        return leases

    def settle(self, outcomes: Sequence[Outcome], releases: Sequence[Release]) -> None:
        """See `Frontier.settle`. Raises ValueError for a URL or a host that is not leased."""
        self._check(outcomes, releases)
        for outcome in outcomes:
            self._settle(outcome)
        for release in releases:
            host = self._hosts[release.host]
            host.leased, host.ready_at, host.backoff_s = False, release.ready_at, release.backoff_s
            for known in host.out.values():
                known.state = "ready"
                host.queue(known)
            host.out.clear()
            self._offer(host)

    def next_ready_at(self) -> float | None:
        """See `Frontier.next_ready_at`."""
        return self._due[0][0] if self._next_host() else None

    def reconsider(self, judge: Callable[[Url, int], str | None]) -> int:
        """See `Frontier.reconsider`."""
        refused = [known for known in self._known.values() if known.state == "out-of-scope"]
        reasons = [judge(known.url, known.depth) for known in refused]
        for known, reason in zip(refused, reasons, strict=True):
            known.refused = reason
            if reason is None:
                self._make_ready(known)
        return reasons.count(None)

    # ---- Ledger ---------------------------------------------------------------------------------------------

    def status(self) -> Status:
        """See `Ledger.status`."""
        states = Counter(known.state for known in self._known.values())
        hosts = self._hosts.values()
        return Status(
            states={state: states[state] for state in STATES},
            pages=states["visited"],
            bytes=self._counts["bytes"],
            hosts=sum(host.in_scope for host in hosts),
            next_ready_at=min((host.opens_at for host in hosts if host.opens_at is not None), default=None),
        )

    def record(self, url: Url) -> UrlRecord | None:
        """See `Ledger.record`."""
        known = self._known.get(url)
        if known is None:
            return None
        source = None if known.source is None else known.source.text
        found = found_events(known.found_at, source, known.depth, known.refused)
        return _record(known, found + (known.last.events if known.last else ()))

    def records(self) -> Iterator[UrlRecord]:
        """See `Ledger.records`; in the order found."""
        return iter([_record(known) for known in self._known.values()])

    # ---- IndexQueue and RobotsStore -------------------------------------------------------------------------

    def pending(self) -> list[tuple[Url, RecordRef | None]]:
        """See `IndexQueue.pending`; in the order found."""
        return sorted(self._to_index.items(), key=lambda item: self._known[item[0]].seq)

    def indexed(self, urls: Iterable[Url]) -> None:
        """See `IndexQueue.indexed`; URLs not pending are passed over."""
        for url in list(urls):
            self._to_index.pop(url, None)

    def requeue(self, urls: Iterable[Url]) -> None:
        """See `IndexQueue.requeue`; URLs out of scope or not known are passed over."""
        for url in list(urls):
            self._to_index.pop(url, None)
            known = self._known.get(url)
            if known is not None and known.state not in ("ready", "leased", "out-of-scope"):
                self._make_ready(known)

    def load_robots(self, origin: str) -> Access | None:
        """See `RobotsStore.load_robots`."""
        return self._robots.get(origin)

    def save_robots(self, origin: str, access: Access) -> None:
        """See `RobotsStore.save_robots`."""
        self._robots[origin] = access

    # ---- the parts of it ------------------------------------------------------------------------------------

    def _next_host(self) -> _Host | None:
        """The host of the first entry of `_due`, once those overtaken by events are gone."""
        while self._due:
            at, _, host = self._due[0]
            if at == host.offered_at:
                return host
            heapq.heappop(self._due)
        return None

    def _offer(self, host: _Host) -> None:
        """After any change that may make a host due, or due at another time."""
        at = host.opens_at
        if not host.leased and at is not None and at != host.offered_at:
            host.offered_at = at
            heapq.heappush(self._due, (at, host.number, host))

    def _discover(self, found: Iterable[Discovery], at: float, waiting_since: float) -> int:
        before = len(self._known)
        for item in found:
            known = self._known.get(item.url)
            if known is None:
                self._insert(item, at, waiting_since)
            elif item.refused is None:
                self._know_better(known, item)
        return len(self._known) - before

    def _know_better(self, known: _Known, item: Discovery) -> None:
        """A URL left out that is found in scope is ready, and so is a seed that had failed; the smallest depth
        counts.
        """
        if item.depth < known.depth:
            known.depth = item.depth
            self._hosts[known.url.host_key].sort()
        if known.state == "out-of-scope" or (item.source is None and known.state == "failed"):
            self._make_ready(known)

    def _insert(self, item: Discovery, at: float, waiting_since: float) -> None:
        host = self._host(item.url, waiting_since)
        state: State = "ready" if item.refused is None else "out-of-scope"
        known = _Known(
            *(item.url, len(self._known), item.depth, item.public_only, item.hops, item.refused),
            *(state, at, item.source),
        )
        self._known[item.url] = known
        if state == "ready":
            host.queue(known)
            self._offer(host)

    def _host(self, url: Url, waiting_since: float) -> _Host:
        key = url.host_key
        if key not in self._hosts:
            self._hosts[key] = _Host(len(self._hosts), key, waiting_since)
        return self._hosts[key]

    def _make_ready(self, known: _Known) -> None:
        known.state, known.tries, known.refused = "ready", 0, None
        host = self._hosts[known.url.host_key]
        host.queue(known)
        self._offer(host)

    def _lease(self, host: _Host, limit: int, now: float) -> Lease:
        host.leased, host.offered_at = True, None
        urls = tuple(
            LeasedUrl(known.url, known.depth, known.tries, known.public_only, known.hops)
            for known in host.take(limit, now)
        )
        return Lease(host.key, urls, host.backoff_s)

    def _check(self, outcomes: Sequence[Outcome], releases: Sequence[Release]) -> None:
        """All or nothing: what could not be written is found before anything is."""
        settled: set[Url] = set()
        for outcome in outcomes:
            known = self._known.get(outcome.url)
            leased = known is not None and known.state == "leased" and outcome.url not in settled
            if not leased or outcome.state == "leased":
                raise ValueError(f"an outcome ({outcome.state}) for a URL that is not leased: {outcome.url}")
            settled.add(outcome.url)
        released: set[str] = set()
        for release in releases:
            if release.host not in self._hosts or not self._hosts[release.host].leased or release.host in released:
                raise ValueError(f"a release of a host that is not leased: {release.host}")
            released.add(release.host)

    def _settle(self, outcome: Outcome) -> None:
        known = self._known[outcome.url]
        host = self._hosts[outcome.url.host_key]
        del host.out[outcome.url]
        known.state, known.tries, known.refused, known.last = outcome.state, outcome.tries, None, outcome
        if outcome.state == "ready":
            heapq.heappush(host.later, (outcome.ready_at, known.seq, known))
        if outcome.to_index:
            self._to_index[outcome.url] = outcome.record
        elif outcome.state != "ready":
            self._to_index.pop(outcome.url, None)
        self._counts["bytes"] += outcome.size_bytes
        self._discover(outcome.links, outcome.at, outcome.at)


_NEVER = Outcome(Url(""), "ready", 0.0, "")
"""Stands for the last outcome of a URL that had none."""


def _record(known: _Known, events: tuple[Event, ...] = ()) -> UrlRecord:
    last = known.last or _NEVER
    return UrlRecord(
        url=known.url,
        state=known.state,
        depth=known.depth,
        status=last.status,
        fetched_at=None if last.status is None else last.at,
        digest=last.digest,
        title=last.title,
        why=last.why if known.refused is None else known.refused,
        record=last.record,
        events=events,
    )
