"""The frontier in memory: what it knows of one URL, and the URLs of one host in the order they are asked."""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field

from goodbot.store.rank import depth_of
from goodbot.store.seen_table import DUE_MOST
from goodbot.url import Url
from goodbot.values import Outcome, Seen, State


@dataclass(slots=True)
class Known:
    """`later`: ready, but not before a certain time. `left_out`: by the scope, before it was ever asked for. `was`: the
    state it was taken from for a revisit, which is not settled yet."""

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
    later: bool = False
    tries: int = 0
    last: Outcome | None = None
    seen: Seen | None = None
    was: State | None = None
    same_as: Url | None = None
    said: str | None = None

    @property
    def depth(self) -> int:
        return depth_of(self.rank)

    @property
    def left_out(self) -> bool:
        return self.state == "out-of-scope" and self.refused is not None

    @property
    def due_at(self) -> float | None:
        """When it is to be asked again."""
        return self.seen.due_at if self.seen is not None and self.state in ("visited", "gone", "disallowed") else None


@dataclass(slots=True)
class Host:
    """`ready` is ordered by rank and order found, `later` and `again` by time; `offered_at` is its entry in
    `_due`.

    All may hold entries overtaken by events; those of `ready` and `again` go when they come to the top. `pages` are
    those visited, and those that were and are being asked again.
    """

    number: int
    key: str
    ready_at: float
    backoff_s: float = 0.0
    cut_at: float | None = None
    leased: bool = False
    in_scope: bool = False
    pages: int = 0
    offered_at: float | None = None
    ready: list[tuple[int, int, Known]] = field(default_factory=list)
    later: list[tuple[float, int, Known]] = field(default_factory=list)
    again: list[tuple[float, int, Known]] = field(default_factory=list)
    out: dict[Url, Known] = field(default_factory=dict)

    def opens_at(self, until: float) -> float | None:
        """When its URLs can be asked, were it not leased, those due again up to `until`; None if it has none."""
        if self._next() is not None:
            return self.ready_at
        times = [self.later[0][0]] if self.later else []
        due_at = self._next_again()
        if due_at is not None and due_at <= until:
            times.append(due_at)
        return max(self.ready_at, min(times)) if times else None

    def queue(self, known: Known) -> None:
        """Also after its rank has changed."""
        self.in_scope = True
        known.later = False
        heapq.heappush(self.ready, (known.rank, known.seq, known))

    def take(self, limit: int, granted: float, now: float, until: float) -> Iterator[Known]:
        """At most `limit` URLs due now; they are leased. Of those not asked before, only as many as are `granted`."""
        while self.later and self.later[0][0] <= now:
            self.queue(heapq.heappop(self.later)[2])
        self._ask_again(min(now, until))
        first: list[Known] = []
        while limit > len(first) and (known := self._next()):
            known.state = "leased"
            first.append(known)
        for known in first:
            if known.was is None and granted < 1:
                known.state = "ready"
                self.queue(known)
                continue
            granted -= known.was is None
            self.out[known.url] = known
            yield known

    def close(self, reason: str) -> None:
        """What is ready is out of scope, but for what was visited before."""
        for _, _, known in (*self.ready, *self.later):
            if known.state == "ready" and known.was is None:
                known.state, known.refused, known.later = "out-of-scope", reason, False
        self.ready = [entry for entry in self.ready if entry[2].state == "ready"]
        self.later = [entry for entry in self.later if entry[2].state == "ready"]
        heapq.heapify(self.ready)
        heapq.heapify(self.later)

    def await_again(self, known: Known) -> None:
        """A page that is due again at some time."""
        if known.due_at is not None:
            heapq.heappush(self.again, (known.due_at, known.seq, known))

    def _ask_again(self, due: float) -> None:
        """What is due again up to that time is ready."""
        for _ in range(DUE_MOST):
            at = self._next_again()
            if at is None or at > due:
                return
            _, _, known = heapq.heappop(self.again)
            known.was, known.state, known.tries = known.state, "ready", 0
            self.queue(known)

    def _next_again(self) -> float | None:
        """The time of the first of `again` that still is, and at its right time."""
        while self.again:
            at, _, known = self.again[0]
            if known.due_at == at:
                return at
            heapq.heappop(self.again)
        return None

    def _next(self) -> Known | None:
        """The first of `ready` that still is, and in its right place."""
        while self.ready:
            rank, _, known = self.ready[0]
            if known.state == "ready" and known.rank == rank and not known.later:
                return known
            heapq.heappop(self.ready)
        return None
