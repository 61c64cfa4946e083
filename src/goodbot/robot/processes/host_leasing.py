"""Leases hosts for the workers from the frontier, and loads what is known of them, by calls that may take a while."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from math import inf
from typing import Final, NamedTuple, TypeVar

from goodbot.errors import LeasesLostError
from goodbot.exclusion import Access
from goodbot.lesson_values import IndexedPage, Lesson
from goodbot.ports import Clock, Leases, LessonStore, RobotsStore
from goodbot.robot.crawl.store_calls import StoreCalls
from goodbot.robot.processes.worker_records import HeldLease
from goodbot.values import Lease

LOOK_S: Final = 1.0
"""How long the answer that no host is ready is trusted, unless something was committed since: another machine may
add URLs."""


class HostLeasing:
    """Leases hosts: one call at a time.

    `without_lessons` returns the hosts of a lease whose lessons the worker needs. `keep` is called with each lease.
    `wake` is called when an answer has come; `lose` when other machines have taken over the hosts of this one."""

    def __init__(
        self,
        frontier: Leases,
        robots: RobotsStore,
        lessons: LessonStore | None,
        calls: StoreCalls,
        clock: Clock,
        *,
        without_lessons: Callable[[Lease], list[str]],
        keep: Callable[[HeldLease], None],
        wake: Callable[[], None],
        lose: Callable[[], None],
    ) -> None:
        self._frontier = frontier
        self._robots = robots
        self._lessons = lessons
        self._calls = calls
        self._clock = clock
        self._without_lessons = without_lessons
        self._keep = keep
        self._wake = wake
        self._lose = lose
        self._generation = 0
        self._is_finished = False
        self._has_news = True
        self._looked_at = self._ready_at = 0.0
        self.is_waiting = False

    @property
    def is_finished(self) -> bool:
        """Whether the frontier has said that the crawl is finished, and nothing was committed since."""
        return self._is_finished and not self._has_news

    def note_news(self) -> None:
        """What the frontier has said no longer counts: it is asked again."""
        self._has_news = True

    def forget(self) -> None:
        """Leases under way are not kept: they have been lost."""
        self._generation += 1

    def next_ready_at(self) -> float | None:
        """Returns when it is worth asking for more; None while a call is under way."""
        if self.is_waiting:
            return None
        return self._clock.now() if self._has_news else min(self._ready_at, self._looked_at + LOOK_S)

    def lease(self, hosts: int, urls: int) -> bool:
        """Leases hosts, with so many URLs each at most. Returns whether more can be leased at once; False while the
        call waits."""
        now = self._clock.now()
        is_known = not self._has_news and now < min(self._ready_at, self._looked_at + LOOK_S)
        if self.is_waiting or is_known:
            return False
        self.is_waiting, self._has_news = True, False
        self._calls.run(partial(self._ask, hosts, urls, now), self._take)
        return not self.is_waiting and self._ready_at <= now

    def _ask(self, hosts: int, urls: int, now: float) -> "_Answer":
        """Leases in the store. If there are no more hosts, looks when there will be some."""
        try:
            leases = self._frontier.lease(hosts, urls, now, sized=True)
        except LeasesLostError:
            return _Answer((), now, inf, False, is_lost=True)
        if len(leases) == hosts:
            return _Answer(leases, now, now, False)
        ready_at = self._frontier.next_ready_at()
        is_finished = not leases and ready_at is None and self._frontier.is_finished()
        return _Answer(leases, now, inf if ready_at is None else ready_at, is_finished)

    def _take(self, answer: "_Answer") -> None:
        """Loads what is known of the leased hosts. Robots.txt files are sent with every lease, since a worker keeps one
        only as long as it holds the lease (docs/decisions/0021); lessons only if the worker did not get them lately."""
        self._looked_at, self._ready_at, self._is_finished = answer.at, answer.ready_at, answer.is_finished
        if answer.is_lost:
            self._lose()
        if answer.leases:
            hosts = [host for lease in answer.leases for host in self._without_lessons(lease)]
            self._calls.run(partial(self._load, answer.leases, hosts), partial(self._keep_all, self._generation))
        else:
            self.is_waiting = False
            self._wake()

    def _load(self, leases: Sequence[Lease], hosts: Sequence[str]) -> "_Known":
        """Loads the robots.txt files of the leases, and the lessons about `hosts`."""
        origins = dict.fromkeys(leased.url.origin for lease in leases for leased in lease.urls)
        robots = self._robots.load_all_robots(origins)
        if self._lessons is None or not hosts:
            return _Known(leases, robots, (), ())
        return _Known(leases, robots, self._lessons.load_lessons(hosts), self._lessons.load_indexed_pages(hosts))

    def _keep_all(self, generation: int, known: "_Known") -> None:
        self.is_waiting = False
        self._wake()
        if generation != self._generation:
            return
        lessons, pages = _by_host(known.lessons, _host_of_lesson), _by_host(known.indexed_pages, _host_of_page)
        for lease in known.leases:
            origins = dict.fromkeys(leased.url.origin for leased in lease.urls)
            robots = {origin: known.robots[origin] for origin in origins if origin in known.robots}
            self._keep(HeldLease(lease, {}, robots, lessons.get(lease.host, ()), pages.get(lease.host, ())))


class _Answer(NamedTuple):
    """What the frontier leased at `at`; when more will be ready, infinity for never; whether the crawl is finished; and
    whether other machines have taken over the hosts of this one."""

    leases: Sequence[Lease]
    at: float
    ready_at: float
    is_finished: bool
    is_lost: bool = False


class _Known(NamedTuple):
    """Leases, and what is known of their hosts."""

    leases: Sequence[Lease]
    robots: Mapping[str, Access]
    lessons: Sequence[Lesson]
    indexed_pages: Sequence[IndexedPage]


_Item = TypeVar("_Item")


def _by_host(items: Iterable[_Item], host_of: Callable[[_Item], str]) -> dict[str, list[_Item]]:
    found: dict[str, list[_Item]] = {}
    for item in items:
        found.setdefault(host_of(item), []).append(item)
    return found


def _host_of_lesson(lesson: Lesson) -> str:
    return lesson.host


def _host_of_page(page: IndexedPage) -> str:
    return page.url.host_key
