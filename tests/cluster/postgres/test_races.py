"""Several machines work on one frontier at the same time, each in a thread with a connection of its own: delays move
with hosts, a host is leased once, and what a control call has set holds for every lease that begins after it has
returned.

The three parts follow races that URLFrontier fixed in 2026 (its issues 146, 147 and 152).
"""

import random
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count, pairwise
from typing import Any, Final, TypeVar

import psycopg
import pytest

from goodbot.cluster.postgres import machines
from goodbot.cluster.postgres.frontier import PostgresFrontier
from goodbot.cluster.postgres.machines import BEAT_S, EXPIRES_S, GRACE_S, Identity
from goodbot.config import Settings
from goodbot.errors import LeasesLostError, StoreAwayError
from goodbot.exclusion import Access, RobotsTxt
from goodbot.lesson_values import Lesson
from goodbot.live import Courtesy
from goodbot.partitions import PARTITIONS, partition_of
from goodbot.robot.manners.politeness import Politeness
from goodbot.url import Url
from goodbot.values import Discovery, Lease, Outcome, Release
from postgres_server import PostgresServer
from unreliable_proxy import UnreliableProxy

HOSTS: Final = 24
MACHINES: Final = 4
DELAY_S: Final = 600.0
SLOW: Final = b"User-agent: *\nCrawl-delay: 90\n"
T = TypeVar("T")


def page(host: int, number: int = 0) -> Url:
    return Url(f"http://h{host}.example/{number}")


def key(host: int) -> str:
    return f"h{host}.example"


class Crawl:
    """The machines of a crawl. `silence`: seconds by which their clock of silent machines is ahead."""

    def __init__(self, dsn: str) -> None:
        self.dsn = dsn
        self.silence = 0.0
        self._opened: list[PostgresFrontier] = []
        self._names = count()

    def join(self, name: str = "", dsn: str = "", host_pages: int | None = None) -> PostgresFrontier:
        folder = name or f"folder {next(self._names)}"
        frontier = PostgresFrontier.open(
            dsn or self.dsn,
            Identity(folder, f"machine of {folder}", 1),
            host_pages=host_pages,
            passed=lambda: self.silence,
            parts=2,
        )
        self._opened.append(frontier)
        frontier.take_part()
        return frontier

    def joined(self, number: int, host_pages: int | None = None) -> list[PostgresFrontier]:
        """Lets so many machines join and share out the hosts."""
        frontiers = [self.join(host_pages=host_pages) for _ in range(number)]
        share_out(*frontiers)
        return frontiers

    def takes_over(self, heir: PostgresFrontier) -> None:
        """Lets time pass in which only `heir` sends heartbeats."""
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            for _ in range(int((EXPIRES_S + GRACE_S) / BEAT_S) + 2):
                self.silence += BEAT_S
                assert machines.beat(connection, heir.machine, heir.clock, heir.standing, "{}")
                heir.balance()
        share_out(heir)

    def close(self) -> None:
        for frontier in self._opened:
            frontier.close()


def share_out(*frontiers: PostgresFrontier) -> None:
    for _ in range(2 * PARTITIONS // machines.MAX_TAKEN):
        for frontier in frontiers:
            frontier.balance()


@pytest.fixture
def crawl(postgres_dsn: str) -> Iterator[Crawl]:
    crawl = Crawl(postgres_dsn)
    yield crawl
    crawl.close()


def at_once(*works: Callable[[], T]) -> list[T]:
    """Runs each in a thread of its own; they begin together. Returns their results, or raises the first error."""
    gate = threading.Barrier(len(works))

    def run(work: Callable[[], T]) -> T:
        gate.wait()
        return work()

    with ThreadPoolExecutor(len(works)) as pool:
        return list(pool.map(run, works))


def insists(call: Callable[..., T], *arguments: Any) -> T:
    """Repeats a call as a crawl does: two machines that waited for each other's rows, or a connection that broke."""
    while True:
        try:
            return call(*arguments)
        except StoreAwayError:
            continue


def settled(lease: Lease, at: float, links: Iterable[Discovery] = ()) -> list[Outcome]:
    return [Outcome(item.url, "visited", at, "said so", links=tuple(links), token=lease.token) for item in lease.urls]


# ---- a delay that one machine noted is kept by the next one (issue 146) ----------------------------------------------


def leaves(crawl: Crawl, first: PostgresFrontier) -> PostgresFrontier:
    second = crawl.join()
    first.close()
    share_out(second)
    return second


def gives_its_hosts_up(crawl: Crawl, first: PostgresFrontier) -> PostgresFrontier:
    """Machines join until the one that joined last has the host."""
    everyone = [first]
    while HOME_PARTITION in first._partitions:
        everyone.append(crawl.join())
        share_out(*everyone)
    return next(frontier for frontier in everyone if HOME_PARTITION in frontier._partitions)


def is_killed(crawl: Crawl, first: PostgresFrontier) -> PostgresFrontier:
    first._transactions.close()
    second = crawl.join()
    crawl.takes_over(second)
    return second


def is_killed_and_started_again(crawl: Crawl, first: PostgresFrontier) -> PostgresFrontier:
    first._transactions.close()
    return crawl.join(first._identity.writer)


def hangs(crawl: Crawl, first: PostgresFrontier) -> PostgresFrontier:
    second = crawl.join()
    crawl.takes_over(second)
    return second


TAKEN_OVER: Final = (leaves, gives_its_hosts_up, is_killed, is_killed_and_started_again, hangs)
KILLED: Final = (is_killed, is_killed_and_started_again, hangs)
HOST: Final = 10
HOME_PARTITION: Final = partition_of(key(HOST))
"""1013: one of those that a machine gives up when others join."""


def note_trouble(frontier: PostgresFrontier, now: float) -> tuple[Access, Lesson, Courtesy]:
    """Saves what a worker learned about the host: a longer delay in its robots.txt, a lesson, its record."""
    access = Access("successful", "rfc9309", now, now + 86400.0, 200, None, SLOW, now, 0, 0, None, True)
    lesson = Lesson(key(HOST), "trap", "/calendar", "the same pages under many names", now, now + 86400.0)
    courtesy = Courtesy(key(HOST), requests=3, status_429=1, retry_afters=1, longest_retry_after_s=DELAY_S, last_at=now)
    frontier.save_robots(page(HOST).origin, access)
    frontier.save_lessons([lesson])
    frontier.save_courtesies([courtesy])
    return access, lesson, courtesy


@pytest.mark.parametrize("happens", TAKEN_OVER, ids=lambda step: step.__name__)
def test_a_retry_after_is_kept_by_the_machine_that_takes_the_host_over(
    crawl: Crawl, happens: Callable[[Crawl, PostgresFrontier], PostgresFrontier]
) -> None:
    first = crawl.join()
    first.add([Discovery(page(HOST, number), 0) for number in range(3)])
    now = first.clock.now()
    (lease,) = first.lease(1, 1, now)
    assert lease.partition == HOME_PARTITION
    noted = note_trouble(first, now)
    again = Outcome(lease.urls[0].url, "ready", now, "status 429", 429, token=lease.token)
    assert first.settle([again], [Release(lease.host, now + DELAY_S, 240.0, token=lease.token)]) == []
    second = happens(crawl, first)
    ready_at = now + DELAY_S + 1.0  # the clock of the first machine may have been off by as much as it said
    assert second.lease(10, 10, now + DELAY_S - 0.001) == []
    due = second.next_ready_at()
    assert due is not None
    assert now + DELAY_S <= due < ready_at
    (taken,) = second.lease(10, 10, ready_at)
    assert (taken.host, taken.backoff_s) == (key(HOST), 240.0)
    assert len(taken.urls) == 3
    origin = page(HOST).origin
    assert (second.load_robots(origin), second.load_lessons([key(HOST)])) == (noted[0], [noted[1]])
    assert second.load_courtesies([key(HOST)]) == {key(HOST): noted[2]}


@pytest.mark.parametrize("happens", KILLED, ids=lambda step: step.__name__)
def test_the_delay_of_a_host_begins_when_it_is_taken_over_from_a_machine_that_held_it(
    crawl: Crawl, happens: Callable[[Crawl, PostgresFrontier], PostgresFrontier]
) -> None:
    """The machine may have sent a request just before."""
    first = crawl.join()
    first.add([Discovery(page(HOST), 0)])
    (lease,) = first.lease(1, 1, first.clock.now())
    access, *_ = note_trouble(first, first.clock.now())
    before = first.clock.now()
    second = happens(crawl, first)
    (taken,) = second.lease(1, 1, second.clock.now())
    assert taken.token > lease.token
    assert taken.cut_at is not None
    assert before - second.clock.error_s - first.clock.error_s <= taken.cut_at <= second.clock.now() + 1.0
    timing = RobotsTxt.parse(access.body).timing("goodbot")
    wait = Politeness(Settings(seeds=())).after_interruption(page(HOST), timing, taken.cut_at)
    assert wait == taken.cut_at + 90.0
    # as a crawl that ends before it sent a request: the next one keeps the delay, too
    second.settle([], [Release(taken.host, second.clock.now(), 0.0, taken.cut_at, token=taken.token)])
    (later,) = second.lease(1, 1, second.clock.now() + 1.0)
    assert later.cut_at == taken.cut_at


# ---- a host is leased by one machine at a time, and not within its delay (issue 147) ---------------------------------


@pytest.mark.parametrize("all_at_once", [True, False], ids=["every host", "one host"])
def test_who_asks_at_the_same_moment_gets_other_hosts(crawl: Crawl, all_at_once: bool) -> None:
    """Even if all believe that they have all partitions."""
    frontiers = crawl.joined(MACHINES)
    frontiers[0].add(Discovery(page(host, number), 0) for host in range(HOSTS) for number in range(30))
    for frontier in frontiers:
        frontier._partitions, frontier._draining = list(range(PARTITIONS)), frozenset()
    most = HOSTS if all_at_once else 1
    for turn in range(30):
        now = frontiers[0].clock.now() + turn * DELAY_S * 2
        given = at_once(*(partial(frontier.lease, most, 1, now) for frontier in frontiers))
        hosts = Counter(lease.host for leases in given for lease in leases)
        assert set(hosts.values()) == {1}, "each host is leased once"
        assert hosts.total() >= (HOSTS if all_at_once else 1)
        tokens = [(leased.url, lease.token) for leases in given for lease in leases for leased in lease.urls]
        assert len(set(tokens)) == len(tokens)
        ends = [
            partial(insists, frontier.settle, *over(leases, now))
            for frontier, leases in zip(frontiers, given, strict=True)
        ]
        assert at_once(*ends) == [[]] * MACHINES
        taken = [frontier.lease(HOSTS, 1, now + DELAY_S - 1.0) for frontier in frontiers]
        assert {lease.host for leases in taken for lease in leases}.isdisjoint(hosts)
        for frontier, leases in zip(frontiers, taken, strict=True):
            frontier.settle([], [Release(lease.host, now, token=lease.token) for lease in leases])


def over(leases: Iterable[Lease], now: float) -> tuple[list[Outcome], list[Release]]:
    """Every URL is visited; the hosts are ready again after their delay."""
    outcomes = [outcome for lease in leases for outcome in settled(lease, now)]
    return outcomes, [Release(lease.host, now + DELAY_S, token=lease.token) for lease in leases]


class Site:
    """The hosts as they would log requests: who sent one, and when, by the clock of the database."""

    def __init__(self, delay_s: float) -> None:
        self.delay_s = delay_s
        self._lock = threading.Lock()
        self._asked: dict[str, list[tuple[float, int]]] = defaultdict(list)
        self._held: dict[str, int] = {}
        self.faults: list[str] = []

    def visit(self, lease: Lease, machine: int, at: float, pages: int) -> tuple[Outcome, Release]:
        """Notes a request for the URL of a lease; the page leads to the next of so many pages."""
        with self._lock:
            if lease.host in self._held:
                self.faults.append(f"{lease.host} is leased to {self._held[lease.host]} and to {machine}")
            self._held[lease.host] = machine
            self._asked[lease.host].append((at, machine))
        number = int(lease.urls[0].url.path[1:]) + 1
        links = [Discovery(page(int(lease.host[1:-8]), number), 1)] if number < pages else []
        (outcome,) = settled(lease, at, links)
        return outcome, Release(lease.host, at + self.delay_s, token=lease.token)

    def end(self, host: str) -> None:
        with self._lock:
            self._held.pop(host, None)

    @property
    def pages(self) -> int:
        return sum(map(len, self._asked.values()))

    def check(self) -> None:
        assert self.faults == []
        for host, asked in self._asked.items():
            for (one, by), (other, then_by) in pairwise(sorted(asked)):
                assert other - one >= self.delay_s, f"{host}: {by} and {then_by}"


def test_no_host_is_asked_within_its_delay_while_machines_join_and_leave(crawl: Crawl) -> None:
    pages = 12
    site, frontiers = Site(0.05), crawl.joined(MACHINES)
    frontiers[0].add(Discovery(page(host), 0) for host in range(HOSTS))
    share_out(*frontiers)

    def work(frontier: PostgresFrontier, seed: int, leaves: bool) -> None:
        chance = random.Random(seed)
        for turn in count():
            if turn % 5 == 4:
                insists(frontier.balance)
            if leaves and turn == 15:
                frontier.close()
                return
            leases = insists(frontier.lease, chance.randint(1, 6), 1, frontier.clock.now())
            if not leases:
                if frontier.is_finished():
                    return
                time.sleep(0.01)
                continue
            visited = [site.visit(lease, frontier.machine, frontier.clock.now(), pages) for lease in leases]
            outcomes, releases = [item[0] for item in visited], [item[1] for item in visited]
            for lease in leases:
                site.end(lease.host)
            assert insists(frontier.settle, outcomes, releases) == []

    def join() -> None:
        while site.pages < 3 * HOSTS:
            time.sleep(0.01)
        work(crawl.join(), MACHINES, False)

    at_once(join, *(partial(work, frontier, number, number == 0) for number, frontier in enumerate(frontiers)))
    site.check()
    assert site.pages == HOSTS * pages, "and no page is lost, or asked for twice"


# ---- what a control call has set holds for every lease that begins afterwards (issue 152) ----------------------------


@pytest.mark.long
def test_a_barred_host_is_leased_by_nobody_once_the_call_has_returned(crawl: Crawl) -> None:
    """While machines lease, settle pages that link to it, share out hosts, and take its URLs up again."""
    frontiers, control = crawl.joined(MACHINES), crawl.join("of a command")
    barred, ends, faults = set[str](), threading.Event(), list[str]()
    frontiers[0].add(Discovery(page(host, number), 0) for host in range(HOSTS) for number in range(3))
    share_out(*frontiers, control)
    numbers = count(3)

    def work(frontier: PostgresFrontier, seed: int) -> None:
        chance = random.Random(seed)
        while not ends.is_set():
            sure = frozenset(barred)
            leases = insists(frontier.lease, chance.randint(1, HOSTS), 2, frontier.clock.now())
            faults.extend(lease.host for lease in leases if lease.host in sure)
            now = frontier.clock.now()
            links = [Discovery(page(chance.randrange(HOSTS), next(numbers)), 1) for _ in range(8)]
            outcomes = [outcome for lease in leases for outcome in settled(lease, now, links)]
            cut = len(outcomes) // 2
            releases = [Release(lease.host, now, token=lease.token) for lease in leases]
            insists(frontier.settle, outcomes[:cut], releases)
            insists(frontier.requeue, [item.url for item in outcomes[:cut]])
            insists(frontier.balance)

    def forget() -> None:
        for host in range(0, HOSTS, 2):
            assert insists(control.bar_host, key(host))
            barred.add(key(host))
            insists(control.remove_host, key(host))
        ends.set()

    at_once(forget, *(partial(work, frontier, seed) for seed, frontier in enumerate(frontiers)))
    assert faults == []
    with psycopg.connect(crawl.dsn) as connection:
        left = "SELECT key, state FROM urls JOIN hosts ON hosts.id = host WHERE key = ANY(%s)"
        assert connection.execute(left, (sorted(barred),)).fetchall() == [], "their URLs are removed"
        leased = "SELECT key FROM hosts WHERE key = ANY(%s) AND (leased = 1 OR due IS NOT NULL)"
        assert connection.execute(leased, (sorted(barred),)).fetchall() == []
        counted = connection.execute("SELECT sum(value) FROM totals WHERE name = 'urls'").fetchone()
        assert counted == connection.execute("SELECT count(*) FROM urls").fetchone()


def test_the_lease_of_a_host_that_is_removed_settles_nothing(crawl: Crawl) -> None:
    holder, other = crawl.joined(2)
    holder.add([Discovery(page(host), 0) for host in range(HOSTS)])
    share_out(holder, other)
    leases = holder.lease(HOSTS, 1, holder.clock.now())
    gone = leases[0]
    assert other.bar_host(gone.host)
    other.remove_host(gone.host)
    rejected = holder.settle(*over(leases, holder.clock.now()))
    assert rejected == [0]
    assert holder.record(gone.urls[0].url) is None


def test_links_to_a_host_that_is_allowed_again_are_followed_by_a_machine_that_saw_them_while_it_was_barred(
    crawl: Crawl,
) -> None:
    first = crawl.join()
    first.add([Discovery(page(1), 0), Discovery(page(2), 0)])
    assert first.bar_host(key(1))
    first.remove_host(key(1))
    second = crawl.join()
    link = Discovery(page(1, 7), 1, page(2))
    assert first.add([link]) == second.add([link]) == 0
    assert first.unbar_host(key(1))
    assert second.add([link]) == 1
    assert first.add([link]) == 0


def test_the_limit_of_pages_holds_while_machines_find_and_visit_pages_of_a_host(crawl: Crawl) -> None:
    limit = 5
    frontiers = crawl.joined(MACHINES, host_pages=limit)
    frontiers[0].add(Discovery(page(host), 0) for host in range(HOSTS))
    share_out(*frontiers)
    lock, visited, numbers = threading.Lock(), Counter[str](), count(1)
    faults: list[str] = []

    def work(frontier: PostgresFrontier, seed: int) -> None:
        chance = random.Random(seed)
        while not frontier.is_finished():
            with lock:
                full = {host for host, pages in visited.items() if pages >= limit}
            leases = insists(frontier.lease, chance.randint(1, 6), 3, frontier.clock.now())
            now = frontier.clock.now()
            faults.extend(f"{lease.host} is full" for lease in leases if lease.host in full and lease.urls)
            outcomes = []
            for lease in leases:
                links = [Discovery(page(int(lease.host[1:-8]), next(numbers)), 1) for _ in range(2)]
                links.append(Discovery(page(chance.randrange(HOSTS), next(numbers)), 1))
                outcomes += settled(lease, now, links)
            releases = [Release(lease.host, now, token=lease.token) for lease in leases]
            assert insists(frontier.settle, outcomes, releases) == []
            with lock:
                visited.update(outcome.url.host_key for outcome in outcomes)
            insists(frontier.balance)

    at_once(*(partial(work, frontier, seed) for seed, frontier in enumerate(frontiers)))
    assert faults == []
    assert set(visited.values()) == {limit}


# ---- a machine leases nothing of what it has given up ----------------------------------------------------------------


@pytest.mark.parametrize("repeats", [True, False], ids=["the call is repeated", "another call follows"])
def test_partitions_given_up_by_a_call_whose_answer_was_lost_are_not_leased_any_more(
    crawl: Crawl, postgres: PostgresServer, repeats: bool
) -> None:
    """Else nobody would take over the leases if the machine died then: other machines have the partitions."""
    with UnreliableProxy(postgres.port) as proxy:
        first = crawl.join(dsn=crawl.dsn.replace(str(postgres.port), str(proxy.port)))
        first.add(Discovery(page(host), 0) for host in range(HOSTS))
        second = crawl.join()
        proxy.cut_after = b"COMMIT"
        with pytest.raises(StoreAwayError):
            first.balance()
        assert proxy.cuts == 1
        share_out(second)
        if repeats:
            first.balance()
        one, other = (frontier.lease(HOSTS, 1, frontier.clock.now()) for frontier in (first, second))
        assert {lease.partition for lease in one} <= set(range(PARTITIONS)) - set(second._partitions)
        assert {lease.partition for lease in other} <= set(second._partitions)
        first._transactions.close()
        crawl.takes_over(second)
        more = second.lease(HOSTS, 1, second.clock.now() + 1.0)
        assert {lease.host for lease in (*other, *more)} == {key(host) for host in range(HOSTS)}
        with pytest.raises(LeasesLostError):
            first.lease(HOSTS, 1, first.clock.now())
