"""Keeps the frontier in PostgreSQL, for one machine of those that share it."""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain, islice
from math import inf
from sys import float_info
from types import TracebackType
from typing import Any, Final, NamedTuple

from goodbot.clock import SharedClock, passed_s
from goodbot.cluster.postgres import forgetting, machines
from goodbot.cluster.postgres.connection import PostgresConnection, connect, translated
from goodbot.cluster.postgres.heartbeat import Heartbeat
from goodbot.cluster.postgres.hosts import HostStep
from goodbot.cluster.postgres.index_queue import QueueStep
from goodbot.cluster.postgres.leasing import LeaseStep
from goodbot.cluster.postgres.ledger import PostgresLedger
from goodbot.cluster.postgres.links import MAX_BATCH, FoundUrl, HostPlaces, LinkStep
from goodbot.cluster.postgres.machines import Identity
from goodbot.cluster.postgres.schema import PARTS, prepare
from goodbot.cluster.postgres.settling import SettleStep
from goodbot.cluster.postgres.transactions import Call, Transactions
from goodbot.errors import StoreAwayError
from goodbot.exclusion import Access
from goodbot.lesson_values import Lesson
from goodbot.live import Courtesy
from goodbot.robot.fetch.standing import Standing
from goodbot.search_values import IndexMark
from goodbot.store.merge.coding import OUT_OF_SCOPE, UrlKey
from goodbot.store.merge.limits import budget_reason
from goodbot.store.merge.rank import depth_of
from goodbot.store.merge.recent_links import RecentLinks
from goodbot.store.merge.storable_text import storable
from goodbot.url import Url
from goodbot.values import Discovery, FoundLinks, Lease, Outcome, Release

OVERLAP_S: Final = 60.0
"""How far back each look for newly barred hosts reaches: a transaction that began earlier may commit later."""

_LOG: Final = logging.getLogger(__name__)

_REFUSED: Final = """SELECT urls.host, urls.hash, origin, path, rank, refused, pages
  FROM urls JOIN hosts ON hosts.id = host
  WHERE state = 5 AND (urls.host, urls.hash) > (%s, %s) ORDER BY urls.host, urls.hash LIMIT 4096"""
_NEW_REASON: Final = "UPDATE urls SET refused = %s WHERE host = %s AND hash = %s AND state = 5"
_UNTIL: Final = "SELECT revisit_until FROM crawl"
_SET_UNTIL: Final = "UPDATE crawl SET revisit_until = %s"
_WITH_AGAIN: Final = """SELECT id FROM hosts WHERE EXISTS (SELECT FROM urls WHERE host = hosts.id AND state >= 8)"""
_FULL: Final = "SELECT id FROM hosts WHERE due IS NOT NULL AND pages >= %s"


class Balance(NamedTuple):
    """What `PostgresFrontier.balance` changed: partitions taken and given up, and the names of machines that were
    counted as gone. `barred`: hosts that some machine has barred since the last time."""

    taken: int = 0
    given: int = 0
    gone: tuple[str, ...] = ()
    barred: tuple[str, ...] = ()


class PostgresFrontier(PostgresLedger):
    """Implements CrawlStore, for one machine.

    For one thread. Leases hosts of this machine's partitions only; the rest is about the whole crawl. Calls raise
    StoreAwayError if the server does not answer: then the same call may be repeated, and is carried out once. `lease`
    raises LeasesLostError if others have taken over the hosts of this machine. `writer` identifies the folder with the
    archive and the index of this machine.
    """

    def __init__(
        self,
        dsn: str,
        identity: Identity,
        *,
        host_pages: int | None = None,
        host_lists: int | None = None,
        revisit_until: float | None = None,
        now: Callable[[], float] | None = None,
        passed: Callable[[], float] = passed_s,
    ) -> None:
        self._dsn = dsn
        self._identity = identity
        self._transactions = Transactions(dsn, lambda: connect(dsn, f"goodbot {identity.name}"))
        super().__init__(dsn, lambda: self._transactions.connection, identity.writer)
        self._host_pages = host_pages
        self._host_lists = host_lists
        self._until = None if revisit_until is None else min(revisit_until, float_info.max)
        self._recent = RecentLinks()
        self._partitions: list[int] = []
        self._draining: frozenset[int] = frozenset()
        self._heard = machines.LastHeartbeats(passed)
        self._barred_until = -inf
        self._barred: set[str] = set()
        self._open: Step | None = None
        self.clock = SharedClock()
        self._now = now or self.clock.now
        self._has_own_time = now is not None
        self.standing = Standing(0.0)

    @classmethod
    def open(
        cls,
        dsn: str,
        identity: Identity,
        *,
        host_pages: int | None = None,
        host_lists: int | None = None,
        revisit_until: float | None = None,
        now: Callable[[], float] | None = None,
        passed: Callable[[], float] = passed_s,
        parts: int = PARTS,
    ) -> "PostgresFrontier":
        """Joins the crawl in the database, without hosts before `take_part`; makes its tables if there are none (large
        ones in `parts` parts), and migrates older ones. See `SqliteFrontier.open` for the limits. `now` returns the
        time that `add` records; without it, that is the time of the database. `passed`: the monotonic clock that
        measures how long other machines have been silent."""
        frontier = cls(
            dsn,
            identity,
            host_pages=host_pages,
            host_lists=host_lists,
            revisit_until=revisit_until,
            now=now,
            passed=passed,
        )
        with translated(dsn), connect(dsn, "goodbot") as connection:
            prepare(connection, parts)
        try:
            frontier.join()
        except BaseException:
            frontier.close()
            raise
        return frontier

    def join(self) -> None:
        """Joins as a new machine: at the start, and after LeasesLostError."""
        with translated(self._dsn):
            self._transactions.begins_as(
                machines.join(self._transactions.connection, self._identity, self.clock, self.standing)
            )
        self._partitions, self._draining = [], frozenset()

    def twin(self) -> tuple[str, int] | None:
        """See `machines.twin`."""
        with translated(self._dsn):
            return machines.twin(self._transactions.connection, self.machine, self._identity.writer)

    def settings(self) -> str:
        """Returns the settings of the crawl, as TOML."""
        return str(self._value("SELECT settings FROM crawl"))

    def take_part(self) -> None:
        """Begins to crawl: takes this machine's share of the partitions that are free."""
        with self._writing("take part") as step:
            machines.begin_to_crawl(step.connection, self.machine)
        while self.balance().taken == machines.MAX_TAKEN:
            pass
        with self._writing("start") as step:
            step.start()

    def close(self) -> None:
        """Leaves the crawl, if this machine has joined, and closes the connection. May be called twice. If the server
        does not answer, other machines take the hosts over when the last heartbeat expires."""
        try:
            if self._transactions.machine and not self._transactions.is_broken:
                with translated(self._dsn):
                    machines.end(self._transactions.connection, self._transactions.machine)
        except StoreAwayError as error:
            _LOG.warning("the other machines wait for the last heartbeat of this one to expire: %s", error)
        finally:
            self._transactions.close()

    def __enter__(self) -> "PostgresFrontier":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def machine(self) -> int:
        """The number of this machine."""
        return self._transactions.machine

    @property
    def _error_s(self) -> float:
        """How far the clock of this machine may be off. Hosts are leased, and become ready, this much later."""
        return 0.0 if self._has_own_time else self.clock.error_s

    def heartbeat(self, live: Callable[[], str]) -> Heartbeat:
        """Returns the heartbeats of this machine, which extend its standing and compare the clocks; not started yet."""
        return Heartbeat(self._dsn, self._identity.name, self.machine, self.clock, self.standing, live)

    def balance(self) -> Balance:
        """Takes part in sharing out the partitions: counts silent machines as gone, takes the free partitions of this
        machine's share, and gives up the others as soon as none of their hosts is leased. Raises LeasesLostError."""
        self._partitions, self._draining = [], frozenset()  # if this fails, they may belong to another machine
        with self._writing("balance", needs_standing=True) as step:
            connection, is_done = step.connection, step.call.is_done
            gone = [] if is_done else machines.end_silent(connection, self.machine, self._identity.writer, self._heard)
            own = machines.own_partitions(connection, self.machine)
            share = machines.share_of(connection, self.machine)
            given, taken = set[int](), list[int]()
            surplus = [number for number in own if number not in share]
            if surplus and not is_done:
                given = set(machines.give_up(connection, self.machine, surplus))
                own = [number for number in own if number not in given]
            missing = share.difference(own)
            if missing and not is_done:
                taken, hosts, urls = machines.take_free(connection, self.machine, missing)
                step.hosts.touched.update(hosts)
                step.hosts.give_back(urls)
                own = sorted((*own, *taken))
            draining = [number for number in surplus if number not in given]
            barred = forgetting.barred_since(connection, self._barred_until - OVERLAP_S)
        self._partitions, self._draining = own, frozenset(draining)
        for name in gone:
            _LOG.warning("%s sent no heartbeat for too long: taking over its hosts", name)
        self._barred_until = max((at for _, at in barred), default=self._barred_until)
        new = tuple(host for host, _ in barred if host not in self._barred)
        self._barred = {host for host, _ in barred}
        return Balance(len(taken), len(given), tuple(gone), new)

    # ---- Frontier ---------------------------------------------------------------------------------------------------

    @contextmanager
    def together(self) -> Iterator[None]:
        """See `Frontier.together`."""
        with self._writing("together"):
            yield

    def add(self, discoveries: Iterable[Discovery]) -> int:
        """See `Frontier.add`. A new host is leased before new hosts that were found by links."""
        with self._writing("add") as step:
            if step.call.is_done:
                return int(step.call.next_answer())
            new, items, now = 0, iter(discoveries), self._now()
            while batch := list(islice(items, MAX_BATCH)):
                found = [(item, now) for item in self._recent.unknown(batch)]
                new += step.links.add(step.placed(found, 0.0))
            step.hosts.notice(now)
            step.call.answers.append(new)
            return new

    def lease(self, hosts: int, urls_per_host: int, now: float, *, sized: bool = False) -> list[Lease]:
        """See `Frontier.lease`. `now` is by `clock`."""
        if hosts < 1 or urls_per_host < 1:
            return []
        partitions = [number for number in self._partitions if number not in self._draining]
        now -= self._error_s
        with self._writing("lease", needs_standing=True, again=True) as step:
            for lost in step.call.before:  # hosts leased by a call whose answer was lost
                step.hosts.undo(lost)
                step.hosts.finish()
            leasing = LeaseStep(
                step.connection, step.places, step.hosts.counts, self._host_pages, self._host_lists, self._until
            )
            leases = leasing.lease(partitions, hosts, urls_per_host, now, sized=sized)
            step.call.answers.append(leasing.hosts)
            return leases

    def settle(
        self, outcomes: Sequence[Outcome], releases: Sequence[Release], found: Sequence[FoundLinks] = ()
    ) -> list[int]:
        """See `Frontier.settle`."""
        with self._writing("settle") as step:
            if step.call.is_done:
                return list(step.call.next_answer())
            pages = chain(((part.links, part.at) for part in found), ((item.links, item.at) for item in outcomes))
            links = [(item, at) for listed, at in pages for item in self._recent.unknown(listed)]
            for at in chain((part.at for part in found), (item.at for item in outcomes)):
                step.hosts.notice(at)
            rejected = step.settling.settle(outcomes, step.placed(links, None))
            for release, host in zip(releases, step.places.hosts_of([item.host for item in releases]), strict=True):
                if host is not None:
                    step.hosts.release(host, replace(release, ready_at=release.ready_at + self._error_s))
            step.call.answers.append(rejected)
            return rejected

    def next_ready_at(self) -> float | None:
        """See `Frontier.next_ready_at`; of the hosts of this machine."""
        at = self._next_ready_at(self._partitions)
        return None if at is None else at + self._error_s

    def reconsider(self, judge: Callable[[Url, int], str | None]) -> int:
        """See `Frontier.reconsider`; one pass over all URLs, in transactions of 4,096 that are out of scope."""
        ready, last = 0, (-1, 0)
        while True:
            with self._writing("reconsider") as step:
                rows = step.connection.execute(_REFUSED, last).fetchall()
                ready += self._judge(step, rows, judge)
            if not rows:
                self._recent.clear()
                return ready
            last = rows[-1][0], rows[-1][1]

    def _judge(self, step: "Step", rows: Sequence[tuple[Any, ...]], judge: Callable[[Url, int], str | None]) -> int:
        ready: list[UrlKey] = []
        for host, hash_, origin, path, rank, refused, pages in rows:
            url = Url(origin + path if path[0] == "/" else path)
            reason = judge(url, depth_of(rank)) or self._reason_of_budget(pages)
            if reason is None:
                ready.append((host, hash_))
            elif reason != refused:
                step.connection.execute(_NEW_REASON, (storable(reason), host, hash_))
        return step.queue.make_ready(ready, OUT_OF_SCOPE)

    def _reason_of_budget(self, pages: int) -> str | None:
        full = self._host_pages is not None and pages >= self._host_pages
        return budget_reason(self._host_pages or 0) if full else None

    # ---- IndexQueue -------------------------------------------------------------------------------------------------

    def indexed(self, urls: Iterable[Url], mark: IndexMark | None = None) -> None:
        """See `IndexQueue.indexed`; of the index of this machine. URLs that are not pending are skipped."""
        with self._writing("indexed") as step:
            if step.call.is_done:
                return
            step.queue.indexed(step.places.known_keys(urls))
            if mark is not None:
                step.queue.save_mark(mark)

    def passed_over(self, urls: Iterable[Url]) -> None:
        """See `IndexQueue.passed_over`."""
        with self._writing("passed over") as step:
            if step.call.is_done:
                return
            step.queue.passed_over(step.places.known_keys(urls))

    def requeue(self, urls: Iterable[Url]) -> None:
        """See `IndexQueue.requeue`; URLs that are out of scope or unknown are skipped."""
        with self._writing("requeue") as step:
            if step.call.is_done:
                return
            step.queue.requeue(step.places.known_keys(urls))
            self._recent.clear()

    def lose_records(self, urls: Iterable[Url]) -> None:
        """Removes the references to the lost records of these URLs; visited pages become ready to be fetched again,
        without validators. Skips unknown URLs."""
        with self._writing("lose records") as step:
            if step.call.is_done:
                return
            step.queue.lose_records(step.places.known_keys(urls))
            self._recent.clear()

    def expect_index(self, mark: IndexMark) -> int:
        """Starts a new index of this writer, which `mark` describes: every page that its index had, or that was fetched
        while it kept none, becomes pending for it. Returns how many."""
        with self._writing("expect index") as step:
            step.queue.save_mark(mark)
            step.queue.queue_indexed()
            return step.queue.queue_skipped()

    def index_skipped(self) -> int:
        """Makes pages pending that were fetched while no index was kept; returns how many are pending for this writer
        now."""
        with self._writing("index skipped") as step:
            return step.queue.queue_skipped()

    # ---- forgetting -------------------------------------------------------------------------------------------------

    def bar_host(self, host: str) -> bool:
        """Bars a host (`Url.host_key`): from now on none of its URLs is leased or added. Returns False if the host is
        unknown, so there is nothing to remove."""
        with self._writing("bar") as step:
            return forgetting.bar(step.connection, host, self._now())

    def unbar_host(self, host: str) -> bool:
        """Allows URLs of the host to be added again; False if it was not barred. Raises InputError if the folders of
        other machines may still have something of it."""
        with self._writing("unbar") as step:
            return forgetting.unbar(step.connection, host, self._identity.writer)

    def remove_host(self, host: str) -> int:
        """Removes everything about a barred host from the tables, except its courtesy record; returns how many URLs
        were removed. Pages on other hosts that were copies of its pages become ready again."""
        with self._writing("remove") as step:
            copies = forgetting.copies_elsewhere(step.connection, host)
            removed = forgetting.remove(step.connection, step.hosts, host)
            step.queue.requeue(copies)
            forgetting.finish(step.connection, host, self._identity.writer)
        self._recent.clear()
        _LOG.info("removed %d URLs of %s", removed, host)
        return removed

    def purge(self) -> None:
        """Frees the space of removed rows in the tables (VACUUM); PostgreSQL writes over it from then on."""
        with translated(self._dsn):
            self._transactions.connection.execute("VACUUM urls, visits, seen, found, copies, robots")

    # ---- what is known of hosts -------------------------------------------------------------------------------------

    def save_robots(self, origin: str, access: Access) -> None:
        """See `RobotsStore.save_robots`."""
        with self._writing("robots") as step:
            if step.call.is_done:
                return
            self._tables.save_access(origin, access)

    def save_courtesies(self, courtesies: Iterable[Courtesy]) -> None:
        """See `CourtesyStore.save_courtesies`."""
        with self._writing("courtesies") as step:
            if not step.call.is_done:
                self._tables.save_courtesies(courtesies)

    def save_lessons(self, lessons: Iterable[Lesson]) -> None:
        """See `LessonStore.save_lessons`; the last 1,000 of one host are kept."""
        saved = list(lessons)
        with self._writing("lessons") as step:
            if step.call.is_done:
                return
            self._tables.save_lessons(saved)
            self._let_in(step, [lesson for lesson in saved if lesson.lapsed])

    def drop_lessons(self, lessons: Iterable[Lesson]) -> int:
        """See `SqliteFrontier.drop_lessons`."""
        dropped = list(lessons)
        with self._writing("drop lessons") as step:
            self._tables.drop_lessons(dropped)
            return self._let_in(step, dropped)

    def _let_in(self, step: "Step", lessons: Sequence[Lesson]) -> int:
        if not lessons:
            return 0
        keys = {key for lesson in lessons for key in self._tables.left_out_by(lesson)}
        self._recent.clear()
        return step.queue.make_ready(sorted(keys), OUT_OF_SCOPE)

    # ---- transactions -----------------------------------------------------------------------------------------------

    @contextmanager
    def _writing(self, kind: str, *, needs_standing: bool = False, again: bool = False) -> Iterator["Step"]:
        """Runs one call, all or nothing; within `together`, a part of that call."""
        if self._open is not None:
            yield self._open
            if not self._open.call.is_done:
                self._open.hosts.finish()
            return
        try:
            with self._transactions.call(kind, needs_standing=needs_standing, again=again) as call:
                self._open = Step(call, self)
                yield self._open
                if not call.is_done:
                    self._open.hosts.finish()
        except BaseException:
            self._recent.clear()
            raise
        finally:
            self._open = None


class Step:
    """The parts of one transaction."""

    def __init__(self, call: Call, frontier: PostgresFrontier) -> None:
        self.call = call
        self.connection: PostgresConnection = call.connection
        self._recent = recent = frontier._recent
        self._frontier = frontier
        self.places = HostPlaces(self.connection, recent)
        self.hosts = HostStep(self.connection, recent, frontier.machine, frontier._host_pages, frontier._host_lists)
        hosts = self.hosts
        self.links = LinkStep(self.connection, recent, hosts.counts, hosts.touched, hosts.added)
        writer = frontier._identity.writer
        self.settling = SettleStep(self.connection, self.places, self.links, self.hosts, writer)
        self.queue = QueueStep(self.connection, self.hosts, writer)

    def placed(self, found: Sequence[tuple[Discovery, float]], waiting_since: float | None) -> list[FoundUrl]:
        """Returns the links with their keys, without those of forgotten hosts. Adds unknown hosts."""
        if not found:
            return []
        forgotten = {host for (host,) in self.connection.execute("SELECT host FROM forgotten")}
        placed = self.places.place(found, waiting_since)
        if not forgotten:
            return placed
        self._recent.forget(item.link for item in placed if item.key[0] in forgotten)
        return [item for item in placed if item.key[0] not in forgotten]

    def start(self) -> None:
        """Prepares a run: the time up to which pages are revisited, and the limits, may differ from those of the run
        before. If other machines take part, that time is theirs, and nothing is changed."""
        (before,) = self.connection.execute(_UNTIL).fetchone() or (None,)
        if self._frontier._others():
            self._frontier._until = before
            return
        until = self._frontier._until
        if before != until:
            self.connection.execute(_SET_UNTIL, (until,))
            self.hosts.touched.update(host for (host,) in self.connection.execute(_WITH_AGAIN))
        if self._frontier._host_pages is not None:
            full = self.connection.execute(_FULL, (self._frontier._host_pages,))
            self.hosts.touched.update(host for (host,) in full)
        self.connection.execute("UPDATE hosts SET lists = 0 WHERE lists > 0")
