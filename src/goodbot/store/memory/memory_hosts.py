"""Keeps what the frontier in memory knows of one URL, and the URLs of one host in the order they are fetched."""

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from goodbot.lesson_values import IndexedPage
from goodbot.store.merge.limits import LISTS_S, MAX_DUE, MAX_INDEXED_PAGES, MAX_LOOKED_AT, by_turns
from goodbot.store.merge.rank import BEHIND, LISTS, depth_of
from goodbot.url import Url
from goodbot.values import Event, LastVisit, Outcome, State, UrlRecord


@dataclass(slots=True)
class KnownPage:
    """What is known of a URL. `later`: ready, but not before a certain time. `left_out`: the scope refused it before it
    was ever fetched. `was`: its state before a revisit that is not settled yet. `as_list`: it was leased as a list."""

    url: Url
    seq: int
    rank: int
    public_only: bool
    hops: int
    refused: str | None
    state: State
    found_at: float
    source: Url | None
    interval_s: float | None
    lists: int = 0
    as_list: bool = False
    later: bool = False
    tries: int = 0
    last: Outcome | None = None
    seen: LastVisit | None = None
    was: State | None = None
    same_as: Url | None = None
    compared_text: str | None = None

    @property
    def depth(self) -> int:
        return depth_of(self.rank)

    @property
    def left_out(self) -> bool:
        return self.state == "out-of-scope" and self.refused is not None

    @property
    def due_at(self) -> float | None:
        """When it is due again; None if never."""
        return self.seen.due_at if self.seen is not None and self.state in ("visited", "gone", "disallowed") else None


@dataclass(slots=True)
class KnownHost:
    """The URLs of a host. `ready` is ordered by rank and order found, and so are the `lists` that are ready; `later`
    and `again` are ordered by time. `offered_at` is its entry in `_due`. `turn`: the next lease begins with a list.

    All heaps may hold outdated entries; those of `ready`, `lists` and `again` are removed when they reach the top.
    `pages` counts URLs that were visited, including those that are being revisited.
    """

    number: int
    key: str
    ready_at: float
    backoff_s: float = 0.0
    cut_at: float | None = None
    next_urls: int | None = None
    leased: bool = False
    token: int = 0
    partition: int = 0
    in_scope: bool = False
    pages: int = 0
    offered_at: float | None = None
    turn: int = 0
    lists_from: float = 0.0
    lists_counted: int = 0
    ready: list[tuple[int, int, KnownPage]] = field(default_factory=list)
    lists: list[tuple[int, int, KnownPage]] = field(default_factory=list)
    later: list[tuple[float, int, KnownPage]] = field(default_factory=list)
    again: list[tuple[float, int, KnownPage]] = field(default_factory=list)
    out: dict[Url, KnownPage] = field(default_factory=dict)

    def opens_at(self, until: float) -> float | None:
        """Returns when its URLs could be fetched if it were not leased, revisits up to `until`; None if it has none."""
        if _next(self.ready) is not None or _next(self.lists) is not None:
            return self.ready_at
        times = [self.later[0][0]] if self.later else []
        due_at = self._next_again()
        if due_at is not None and due_at <= until:
            times.append(due_at)
        return max(self.ready_at, min(times)) if times else None

    def queue(self, known: KnownPage) -> None:
        """Makes a URL ready; also called after its rank has changed."""
        self.in_scope = True
        known.later = False
        heapq.heappush(self.lists if known.rank >= LISTS else self.ready, (known.rank, known.seq, known))

    def take(self, limit: int, granted: float, lists: float, now: float, until: float) -> Iterator[KnownPage]:
        """Leases and yields at most `limit` URLs due now: pages and lists by turns, and pages that can wait only if
        there are no others. At most `granted` of these were never visited before, at most `lists` of them lists."""
        while self.later and self.later[0][0] <= now:
            self.queue(heapq.heappop(self.later)[2])
        self._make_due_ready(min(now, until))
        pages, named = _first(self.ready, limit), _first(self.lists, limit)
        first = [known for known in pages if known.rank < BEHIND] or pages
        chosen = by_turns(first, list(_within(named, lists)), self.turn)[:limit]
        self.turn = 1 - self.turn
        for known in (*pages, *named):
            known.state = "ready"
        for known in _within(chosen, granted):
            known.state = "leased"
            known.as_list = known.rank >= LISTS
            self.out[known.url] = known
            yield known
        for known in (*pages, *named):
            if known.state == "ready":
                self.queue(known)

    def close(self, reason: str, least: int = 0) -> None:
        """Puts URLs that are ready, and of that rank or worse, out of scope, except those that were visited before."""
        for _, _, known in (*self.ready, *self.lists, *self.later):
            if known.state == "ready" and known.was is None and known.rank >= least:
                known.state, known.refused, known.later = "out-of-scope", reason, False
        for heap in (self.ready, self.lists):
            heap[:] = [entry for entry in heap if entry[2].state == "ready"]
            heapq.heapify(heap)
        self.later = [entry for entry in self.later if entry[2].state == "ready"]
        heapq.heapify(self.later)

    def lists_in_period(self, now: float) -> int:
        """Returns how many lists were settled in the current period (`LISTS_S`)."""
        return self.lists_counted if self.lists_from > now - LISTS_S else 0

    def count_list(self, at: float) -> None:
        """Counts one more settled list."""
        counted = self.lists_in_period(at)
        self.lists_from = self.lists_from if self.lists_from > at - LISTS_S else at
        self.lists_counted = counted + 1

    def await_again(self, known: KnownPage) -> None:
        """Queues a page that is due again at some time."""
        if known.due_at is not None:
            heapq.heappush(self.again, (known.due_at, known.seq, known))

    def _make_due_ready(self, due: float) -> None:
        """Makes URLs ready that are due again up to that time."""
        for _ in range(MAX_DUE):
            at = self._next_again()
            if at is None or at > due:
                return
            _, _, known = heapq.heappop(self.again)
            known.was, known.state, known.tries = known.state, "ready", 0
            self.queue(known)

    def _next_again(self) -> float | None:
        """Removes outdated entries from the top of `again`; returns the time of the first valid one."""
        while self.again:
            at, _, known = self.again[0]
            if known.due_at == at:
                return at
            heapq.heappop(self.again)
        return None


def _next(heap: list[tuple[int, int, KnownPage]]) -> KnownPage | None:
    """Removes outdated entries from the top; returns the first URL that is still ready at its right place."""
    while heap:
        rank, _, known = heap[0]
        if known.state == "ready" and known.rank == rank and not known.later:
            return known
        heapq.heappop(heap)
    return None


def _first(heap: list[tuple[int, int, KnownPage]], limit: int) -> list[KnownPage]:
    """Removes and returns the first URLs that are ready."""
    first: list[KnownPage] = []
    while limit > len(first) and (known := _next(heap)):
        heapq.heappop(heap)
        known.state = "leased"  # because the heap may contain it twice
        first.append(known)
    return first


def _within(urls: Iterable[KnownPage], most: float) -> Iterator[KnownPage]:
    """Yields revisits, and at most so many others."""
    for known in urls:
        if known.was is not None or most >= 1:
            most -= known.was is None
            yield known


_NEVER = Outcome(Url(""), "ready", 0.0, "")
"""Represents the last outcome of a URL that had none."""


def record_of(known: KnownPage, events: tuple[Event, ...] = ()) -> UrlRecord:
    """Builds the record of a URL, with these `events`."""
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
        seen=known.seen,
        same_as=known.same_as,
    )


def is_left_out(known: KnownPage, over: list[tuple[str, str]]) -> bool:
    """Returns whether the URL was left out for one of these hosts and reasons."""
    why = record_of(known).why
    return any(known.url.host_key == host and evidence in why for host, evidence in over)


def indexed_pages_of(urls: Iterable[KnownPage], host: str) -> list[IndexedPage]:
    """Returns those of the host's URLs that are in the index, last due first; see `LessonStore.load_indexed_pages`."""
    again = [known for known in urls if known.url.host_key == host and known.due_at is not None]
    looked_at = sorted(again, key=lambda item: item.due_at or 0.0, reverse=True)[:MAX_LOOKED_AT]
    indexed = ((known.url, known.seen) for known in looked_at if known.seen is not None and known.seen.indexed)
    return [IndexedPage(url, seen.digest, seen.text) for url, seen in islice(indexed, MAX_INDEXED_PAGES)]
