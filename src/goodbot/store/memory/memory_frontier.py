"""Keeps the frontier in memory, for tests and for commands that store nothing."""

import heapq
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from itertools import compress
from math import inf
from sys import float_info

from goodbot.exclusion import Access
from goodbot.lesson_values import IndexedPage, Lesson
from goodbot.live import Courtesy
from goodbot.partitions import partition_of
from goodbot.search_values import IndexMark
from goodbot.store.memory.memory_hosts import KnownHost, KnownPage, indexed_pages_of, is_left_out, record_of
from goodbot.store.memory.memory_lessons import MemoryLessons
from goodbot.store.memory.memory_queue import MemoryQueue
from goodbot.store.merge.limits import budget_reason, found_events, lease_limit, lists_reason
from goodbot.store.merge.link_rules import KnownUrl, change_by_link, is_due_by, rank_of_link
from goodbot.store.merge.outcome_rules import decides_copy, is_list_read, pages_added, seen_by_next_visit
from goodbot.store.merge.rank import LISTS
from goodbot.url import Url
from goodbot.values import (
    STATES,
    Discovery,
    FoundLinks,
    Lease,
    LeasedUrl,
    Outcome,
    RecordRef,
    Release,
    State,
    Status,
    UrlRecord,
)


class MemoryFrontier:
    """Implements Frontier, Ledger, IndexQueue, RobotsStore, CourtesyStore and LessonStore. `status` reads all URLs,
    `lease` only those that it returns.

    `now` returns the time at which `add` finds its URLs. At most `host_pages` URLs of one host are visited, and
    `host_lists` lists in a day. URLs due again up to `revisit_until` (infinity: always) are leased when they are due;
    None: no revisits.
    """

    def __init__(
        self,
        *,
        now: Callable[[], float] = time.time,
        host_pages: int | None = None,
        revisit_until: float | None = None,
        host_lists: int | None = None,
    ) -> None:
        self._now = now
        self._until = _until_of(revisit_until)
        self._host_pages = host_pages
        self._host_lists = host_lists
        self._at = -inf
        self._known: dict[Url, KnownPage] = {}
        self._hosts: dict[str, KnownHost] = {}
        self._due: list[tuple[float, int, KnownHost]] = []  # may hold outdated entries, see `_next_host`
        self._counts: Counter[str] = Counter()
        self._queue = MemoryQueue(lambda url: self._known[url].seq)
        self._robots: dict[str, Access] = {}
        self._courtesies: dict[str, Courtesy] = {}
        self._lessons = MemoryLessons()

    # ---- Frontier -------------------------------------------------------------------------------------------

    def add(self, discoveries: Iterable[Discovery]) -> int:
        """See `Frontier.add`. A new host comes before those found by links."""
        self._at = self._now()
        return self._discover(list(discoveries), self._at, 0.0)  # a generator that fails changes nothing

    def lease(self, hosts: int, urls_per_host: int, now: float, *, sized: bool = False) -> list[Lease]:
        """See `Frontier.lease`."""
        if hosts < 1 or urls_per_host < 1:
            return []
        leases: list[Lease] = []
        while len(leases) < hosts and (host := self._next_host()) and self._due[0][0] <= now:
            heapq.heappop(self._due)
            leases.append(self._lease(host, lease_limit(urls_per_host, host.next_urls, sized=sized), now))
        return leases

    def settle(
        self, outcomes: Sequence[Outcome], releases: Sequence[Release], found: Sequence[FoundLinks] = ()
    ) -> list[int]:
        """See `Frontier.settle`."""
        times = [release.ready_at for release in releases] + [outcome.at for outcome in outcomes]
        self._at = max([*times, *(at for _, at in found)], default=-inf)
        is_settled = [self._settle(outcome) for outcome in outcomes]
        for outcome in compress(outcomes, is_settled):
            if outcome.same_as and outcome.alike and decides_copy(outcome):
                self._known[outcome.url].compared_text = self._text_of(outcome.same_as)
        for links, at in (*found, *((outcome.links, outcome.at) for outcome in outcomes)):
            self._discover(links, at, at)
        for release in releases:
            host = self._hosts.get(release.host)
            if host is None or not host.leased or host.token != release.token:
                continue
            host.leased, host.ready_at, host.backoff_s = False, release.ready_at, release.backoff_s
            host.cut_at = release.cut_at
            host.next_urls = release.next_urls or host.next_urls
            host.partition = host.partition if release.partition is None else release.partition
            self._end_lease(host)
        return [position for position, done in enumerate(is_settled) if not done]

    def together(self) -> AbstractContextManager[None]:
        """See `Frontier.together`. In this frontier an error undoes only the call that raises it."""
        return nullcontext()

    def next_ready_at(self) -> float | None:
        """See `Frontier.next_ready_at`."""
        return self._due[0][0] if self._next_host() else None

    def is_finished(self) -> bool:
        """See `Frontier.is_finished`."""
        return self._next_host() is None and not any(host.leased for host in self._hosts.values())

    def reconsider(self, judge: Callable[[Url, int], str | None]) -> int:
        """See `Frontier.reconsider`."""
        refused = [known for known in self._known.values() if known.state == "out-of-scope"]
        self._at = -inf
        reasons = [judge(known.url, known.depth) or self._reason_of_budget(known) for known in refused]
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
            next_ready_at=min((at for host in hosts if (at := host.opens_at(self._until)) is not None), default=None),
        )

    def due_again_at(self) -> float | None:
        """See `Ledger.due_again_at`."""
        times = (known.due_at for known in self._known.values())
        return min((at for at in times if at is not None and at < inf), default=None)

    def record(self, url: Url) -> UrlRecord | None:
        """See `Ledger.record`."""
        known = self._known.get(url)
        if known is None:
            return None
        source = None if known.source is None else known.source.text
        found = found_events(known.found_at, source, known.depth, known.refused, public_only=known.public_only)
        return record_of(known, found + (known.last.events if known.last else ()))

    def records(self) -> Iterator[UrlRecord]:
        """See `Ledger.records`; in the order found."""
        return iter([record_of(known) for known in self._known.values()])

    # ---- IndexQueue and RobotsStore -------------------------------------------------------------------------

    def pending(self, most: int | None = None) -> list[tuple[Url, RecordRef | None]]:
        """See `IndexQueue.pending`; in the order found."""
        return self._queue.pending(most)

    def leaving(self) -> list[Url]:
        """See `IndexQueue.leaving`; in the order found."""
        return self._queue.leaving()

    def passed_over(self, urls: Iterable[Url]) -> None:
        """See `IndexQueue.passed_over`."""
        for url in list(urls):
            self._queue.passed_over(url)
            if (known := self._known.get(url)) and known.seen:
                known.seen = replace(known.seen, indexed=False, etag=None, modified=None)

    def indexed(self, urls: Iterable[Url], mark: IndexMark | None = None) -> None:
        """See `IndexQueue.indexed`; URLs neither pending nor leaving are skipped."""
        for url in list(urls):
            self._queue.indexed(url)

    def requeue(self, urls: Iterable[Url]) -> None:
        """See `IndexQueue.requeue`; URLs that are out of scope or unknown are skipped."""
        self._at = -inf
        for url in list(urls):
            self._queue.passed_over(url)
            known = self._known.get(url)
            if known is None:
                continue
            self._hosts[url.host_key].pages -= "visited" in (known.state, known.was)
            known.seen = known.was = None
            if known.state not in ("ready", "leased", "out-of-scope"):
                self._make_ready(known)

    def copies_of(self, url: Url, most: int = 100) -> list[Url]:
        """Returns URLs whose pages are copies of `url` (`Outcome.same_as`), in the order found."""
        return [known.url for known in self._known.values() if known.same_as == url][:most]

    def load_robots(self, origin: str) -> Access | None:
        """See `RobotsStore.load_robots`."""
        return self._robots.get(origin)

    def load_all_robots(self, origins: Iterable[str]) -> dict[str, Access]:
        """See `RobotsStore.load_all_robots`."""
        return {origin: self._robots[origin] for origin in origins if origin in self._robots}

    def save_robots(self, origin: str, access: Access) -> None:
        """See `RobotsStore.save_robots`."""
        self._robots[origin] = access

    def load_courtesies(self, hosts: Iterable[str]) -> dict[str, Courtesy]:
        """See `CourtesyStore.load_courtesies`."""
        return {host: self._courtesies[host] for host in hosts if host in self._courtesies}

    def save_courtesies(self, courtesies: Iterable[Courtesy]) -> None:
        """See `CourtesyStore.save_courtesies`."""
        self._courtesies.update((item.host, item) for item in courtesies)

    def load_lessons(self, hosts: Iterable[str]) -> list[Lesson]:
        """See `LessonStore.load_lessons`: host by host, the oldest first."""
        return self._lessons.of(hosts)

    def lesson_counts(self) -> tuple[int, int]:
        """See `Ledger.lesson_counts`."""
        return self._lessons.counts()

    def load_indexed_pages(self, hosts: Iterable[str]) -> list[IndexedPage]:
        """See `LessonStore.load_indexed_pages`."""
        return [item for host in dict.fromkeys(hosts) for item in indexed_pages_of(self._known.values(), host)]

    def save_lessons(self, lessons: Iterable[Lesson]) -> None:
        """See `LessonStore.save_lessons`; the last 1,000 of one host are kept."""
        saved = list(lessons)
        self._lessons.save(saved)
        self._let_in(item for item in saved if item.lapsed)

    def drop_lessons(self, lessons: Iterable[Lesson]) -> int:
        """See `SqliteFrontier.drop_lessons`."""
        dropped = list(lessons)
        self._lessons.drop(dropped)
        return self._let_in(dropped)

    def _let_in(self, lessons: Iterable[Lesson]) -> int:
        over = [(item.host, item.evidence) for item in lessons]
        refused = [known for known in self._known.values() if known.state == "out-of-scope"] if over else []
        ready = [known for known in refused if is_left_out(known, over)]
        for known in ready:
            known.refused = None
            self._make_ready(known)
        return len(ready)

    def take_away_leases(self, now: float) -> None:
        """Ends all leases, as if the process that holds them had died. It may have sent requests until `now`."""
        for host in self._hosts.values():
            if host.leased:
                host.leased, host.cut_at, host.token = False, now, host.token + 1
                self._end_lease(host)

    # ---- steps ----------------------------------------------------------------------------------------------

    def _next_host(self) -> KnownHost | None:
        """Removes outdated entries from the top of `_due`; returns the host of the first valid one."""
        while self._due:
            at, _, host = self._due[0]
            if at == host.offered_at:
                return host
            heapq.heappop(self._due)
        return None

    def _offer(self, host: KnownHost) -> None:
        """Updates a host after any change that affects when it is due; closes one at its limit of pages."""
        if self._host_pages is not None and host.pages >= self._host_pages:
            host.close(budget_reason(self._host_pages))
        if self._host_lists is not None and host.lists_in_period(self._at) >= self._host_lists:
            host.close(lists_reason(self._host_lists), LISTS)
        at = None if host.leased else host.opens_at(self._until)
        if at is not None and at != host.offered_at:
            heapq.heappush(self._due, (at, host.number, host))
        host.offered_at = at

    def _discover(self, found: Iterable[Discovery], at: float, waiting_since: float) -> int:
        before = len(self._known)
        for item in found:
            known = self._known.get(item.url)
            if known is None:
                self._insert(item, at, waiting_since)
            elif item.refused is None:
                self._change(known, item)
                self._take_hints(known, item, at)
        return len(self._known) - before

    def _change(self, known: KnownPage, item: Discovery) -> None:
        """See `change_by_link`."""
        waits, given_up = known.state in ("ready", "leased"), known.state in ("out-of-scope", "failed")
        closed = known.state in ("gone", "disallowed") and known.seen is None
        change = change_by_link(KnownUrl(known.rank, known.public_only, waits, known.left_out, given_up, closed), item)
        if change is None:
            return
        known.rank, known.public_only = change.rank, change.public_only
        if change.ready:
            self._make_ready(known)
        elif known.state == "ready" and not known.later:
            self._hosts[known.url.host_key].queue(known)

    def _take_hints(self, known: KnownPage, item: Discovery, at: float) -> None:
        """Applies what a sitemap read at `at`, or a report, says about a known URL."""
        known.interval_s = known.interval_s if item.interval_s is None else item.interval_s
        seen, due_at = known.seen, known.due_at
        if item.modified_at is None or seen is None:
            return
        if item.is_report and seen.at < item.modified_at:
            seen = known.seen = replace(seen, etag=None, modified=None)
        if due_at is not None and is_due_by(item.modified_at, seen.at, due_at, at):
            known.seen = replace(seen, due_at=at)
            host = self._hosts[known.url.host_key]
            host.await_again(known)
            self._offer(host)

    def _insert(self, item: Discovery, at: float, waiting_since: float) -> None:
        host = self._host(item.url, waiting_since)
        state: State = "ready" if item.refused is None else "out-of-scope"
        known = KnownPage(
            *(item.url, len(self._known), rank_of_link(item), item.public_only, item.hops, item.refused),
            *(state, at, item.source, item.interval_s, item.lists),
        )
        self._known[item.url] = known
        if state == "ready":
            host.queue(known)
            self._offer(host)

    def _host(self, url: Url, waiting_since: float) -> KnownHost:
        key = url.host_key
        if key not in self._hosts:
            self._hosts[key] = KnownHost(len(self._hosts), key, waiting_since, partition=partition_of(key))
        return self._hosts[key]

    def _end_lease(self, host: KnownHost) -> None:
        for known in host.out.values():
            known.state = "ready"
            host.queue(known)
        host.out.clear()
        self._offer(host)

    def _make_ready(self, known: KnownPage) -> None:
        known.state, known.tries, known.refused = "ready", 0, None
        host = self._hosts[known.url.host_key]
        host.queue(known)
        self._offer(host)

    def _lease(self, host: KnownHost, limit: int, now: float) -> Lease:
        host.leased, host.offered_at = True, None
        granted = inf if self._host_pages is None else self._host_pages - host.pages
        lists = inf if self._host_lists is None else self._host_lists - host.lists_in_period(now)
        urls = tuple(map(self._leased, host.take(limit, granted, lists, now, self._until)))
        return Lease(host.key, urls, host.backoff_s, host.cut_at, len(urls) >= limit, host.token, host.partition)

    def _settle(self, outcome: Outcome) -> bool:
        """Settles a URL; returns whether it is leased under this token."""
        host = self._hosts.get(outcome.url.host_key)
        if host is None or host.token != outcome.token or outcome.url not in host.out:
            return False
        known = host.out.pop(outcome.url)
        known.state, known.tries, known.refused, known.last = outcome.state, outcome.tries, None, outcome
        if outcome.state == "ready":
            known.later = True
            heapq.heappush(host.later, (outcome.ready_at, known.seq, known))
        else:
            host.pages += pages_added(outcome, known.was)
            if is_list_read(outcome, expects_list=known.as_list, was=known.was):
                host.count_list(outcome.at)
            known.seen, known.was = outcome.seen, None
            if decides_copy(outcome):
                known.same_as, known.compared_text = outcome.same_as, None
            host.await_again(known)
        self._queue.settle(outcome)
        self._counts["bytes"] += outcome.size_bytes
        self._offer(host)
        return True

    def _text_of(self, url: Url) -> str | None:
        seen = self._known[url].seen if url in self._known else None
        return seen.text if seen is not None and seen.indexed else None

    def _leased(self, known: KnownPage) -> LeasedUrl:
        seen, same_as = known.seen, None
        if seen is not None:
            text_now = self._text_of(known.same_as) if known.same_as is not None else None
            seen, same_as = seen_by_next_visit(seen, known.same_as, known.compared_text, text_now)
        values = (known.url, known.depth, known.tries, known.public_only, known.hops, seen, known.interval_s, same_as)
        return LeasedUrl(*values, known.lists, known.as_list)

    def _reason_of_budget(self, known: KnownPage) -> str | None:
        full = self._host_pages is not None and self._hosts[known.url.host_key].pages >= self._host_pages
        return budget_reason(self._host_pages or 0) if full else None


def _until_of(revisit_until: float | None) -> float:
    """Returns the time up to which pages count as due. It is finite, so that a page whose due time is infinite is never
    due."""
    return -inf if revisit_until is None else min(revisit_until, float_info.max)
