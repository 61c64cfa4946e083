"""Machines that crawl a simulated web together over a real frontier in PostgreSQL, in simulated time.

The machines lease hosts, send requests, and settle in batches, as `goodbot crawl` does. Machines are killed and start
again, hang, are cut off from the database, leave and join; sites ask for longer delays, answer 429 with a Retry-After,
turn out to share addresses, and are forgotten. `Witness` notes each request, and what must not happen. Everything is
drawn from a seed.

The database uses the simulated time, too: a function `clock_timestamp` in the schema of `simulated` replaces that of
PostgreSQL.
"""

import heapq
import random
from array import array
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from math import inf
from time import monotonic
from typing import Final

import psycopg

from goodbot.cluster.postgres import machines
from goodbot.cluster.postgres.connection import PostgresConnection
from goodbot.cluster.postgres.frontier import PostgresFrontier
from goodbot.cluster.postgres.machines import BEAT_S, EXPIRES_S, Identity
from goodbot.errors import LeasesLostError
from goodbot.exclusion import Access, RobotsTxt
from goodbot.partitions import partition_of
from goodbot.robot.crawl.batch import MAX_OUTCOMES
from goodbot.robot.crawl.crawler import SHORT_DELAY_S
from goodbot.url import Url
from goodbot.values import Discovery, Lease, Outcome, Release

DELAYS_S: Final = (0.1, 0.2, 0.25, 1.0, 4.0, 10.0)
"""The delays that sites ask for at first, in turn, by default."""
BUSY_S: Final = 250.0
"""So long a site would take if each page took its delay, by default: slow sites have fewer pages."""
PLACES: Final = 192
"""Hosts that a machine leases at once."""
URLS: Final = 16
"""URLs in a lease, at most."""
BEGIN: Final = 1_000_000.0
"""The first simulated time, in seconds."""
TURN_S: Final = 1.0
"""How often a machine commits and leases, by default; with `MAX_OUTCOMES` pages it commits at once."""
FAULTS_S: Final = 50.0
"""The mean time of a machine between two faults, by default."""
STUCK_S: Final = 1000.0
"""If no request is sent for so long, the crawl is stuck."""
ROUNDING_S: Final = 1e-6
"""The database keeps microseconds of times that it reads from its clock."""
MOST_FAULTS: Final = 20
"""Descriptions of faults that are kept; all are counted."""

_CLOCK: Final = """CREATE SEQUENCE IF NOT EXISTS simulated_now;
  CREATE OR REPLACE FUNCTION clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
    AS 'SELECT to_timestamp(last_value / 1e6) FROM simulated_now'"""
_NO_CLOCK: Final = "DROP FUNCTION public.clock_timestamp(); DROP SEQUENCE simulated_now"
_SET: Final = "SELECT setval('simulated_now', %s)"
_STATES: Final = "SELECT state, count(*) FROM urls GROUP BY state"
_VISITED: Final = 3


def simulated(dsn: str) -> str:
    """Returns the address of the same database for connections that have the simulated time."""
    return f"{dsn}{'&' if '?' in dsn else '?'}options=-csearch_path%3Dpublic%2Cpg_catalog"


class SimulatedTime:
    """The time of the machines and of the database."""

    def __init__(self, connection: PostgresConnection) -> None:
        self._connection = connection
        self.now = BEGIN

    def __call__(self) -> float:
        return self.now

    def publish(self) -> None:
        """Sets the clock of the database."""
        self._connection.execute(_SET, (int(self.now * 1e6),))


class Sites:
    """A web of so many pages. The pages of a host are a tree, and so are the hosts; each page also links to pages known
    before, and to the start page of some host."""

    def __init__(self, pages: int, busy_s: float, delays_s: Sequence[float]) -> None:
        self._delays_s = delays_s
        self.pages = array("l")
        self.first = array("l")
        self.all_pages = 0
        while self.all_pages < pages:
            own = min(max(int(busy_s / self.delay_s(len(self.pages))), 1), pages - self.all_pages)
            self.first.append(self.all_pages)
            self.pages.append(own)
            self.all_pages += own

    def delay_s(self, host: int) -> float:
        """Returns the delay that a host asks for at first, in seconds."""
        return self._delays_s[host % len(self._delays_s)]

    def url(self, host: int, page: int) -> Url:
        """Returns the URL of a page."""
        return Url(f"http://h{host}.example/{page}")

    def links(self, host: int, page: int) -> Iterator[tuple[int, int]]:
        """Yields host and page of each link of a page."""
        yield from ((host, child) for child in (2 * page + 1, 2 * page + 2) if child < self.pages[host])
        yield host, page // 2
        hosts = len(self.pages)
        if page == 0:
            yield from ((child, 0) for child in (2 * host + 1, 2 * host + 2) if child < hosts)
        yield (host * 7919 + page * 104_729) % hosts, 0


def place_of(url: Url) -> tuple[int, int]:
    """Returns host and page of a URL of `Sites`."""
    host, _, page = url.text[len("http://h") :].partition(".example/")
    return int(host), int(page)


def host_of(key: str) -> int:
    """Returns the number of a host."""
    return int(key[1 : -len(".example")])


class Witness:
    """Notes what the machines do, and whether the frontier let them do wrong.

    `requests`, `repeated`: pages requested, and those requested once more, which a machine may do that took them over;
    `faults`: what must not happen, by kind. Machines are known by their numbers in the database.
    """

    def __init__(self, sites: Sites) -> None:
        hosts = len(sites.pages)
        self._sites = sites
        self.requests = self.repeated = self.rejected = self.settled = 0
        self.faults: Counter[str] = Counter()
        self.examples: list[str] = []
        self.told_s = array("d", (sites.delay_s(host) for host in range(hosts)))
        self._binding_s = array("d", self.told_s)
        self._last_at = array("d", [-inf]) * hosts
        self._not_before = array("d", [-inf]) * hosts
        self._holders: dict[int, tuple[int, int]] = {}
        self._given = array("l", [0]) * hosts
        self.is_barred = bytearray(hosts)
        self.is_known = bytearray(sites.all_pages)
        self._is_requested = bytearray(sites.all_pages)
        self._may_repeat = bytearray(sites.all_pages)
        self.is_settled = bytearray(sites.all_pages)
        self.gone: set[int] = set()

    def fault(self, kind: str, text: str) -> None:
        """Notes something that must not happen."""
        self.faults[kind] += 1
        if len(self.examples) < MOST_FAULTS:
            self.examples.append(f"{kind}: {text}")

    def index(self, host: int, page: int) -> int:
        """Returns the number of a page among all pages."""
        return self._sites.first[host] + page

    def given(self, lease: Lease, machine: int, at: float) -> int:
        """Notes that a machine got a lease; returns its number among those of the host."""
        host = host_of(lease.host)
        if self.is_barred[host]:
            self.fault("barred", f"{lease.host} is leased by {machine}")
        holder, _ = self._holders.get(host, (0, 0))
        if holder and holder not in self.gone:
            self.fault("leased twice", f"{lease.host} by {holder}, and at {at:.3f} by {machine}")
        self._given[host] += 1
        self._holders[host] = machine, lease.token
        self._binding_s[host] = self.told_s[host]
        return self._given[host]

    def is_latest(self, host: int, lease: int) -> bool:
        """Returns whether nobody has got the host after this lease."""
        return self._given[host] == lease

    def saved(self, host: int, lease: int, delay_s: float) -> None:
        """Notes that the holder of a lease has saved what the robots.txt of the host asks for."""
        if self.is_latest(host, lease):
            self.told_s[host] = self._binding_s[host] = delay_s

    def requested(self, host: int, page: int, machine: int, at: float) -> None:
        """Notes a request."""
        self.requests += 1
        gap_s = at - self._last_at[host]
        if gap_s < self._binding_s[host] - ROUNDING_S:
            self.fault("too soon", f"h{host} by {machine} at {at:.3f}, {gap_s:.3f} s of {self._binding_s[host]} s")
        if at < self._not_before[host] - ROUNDING_S:
            self.fault("within Retry-After", f"h{host} by {machine} at {at:.3f}, until {self._not_before[host]:.3f}")
        self._last_at[host] = at
        index = self.index(host, page)
        if self._is_requested[index]:
            self.repeated += 1
            if not self._may_repeat[index]:
                self.fault("repeated", f"h{host}/{page} by {machine} at {at:.3f}")
        self._is_requested[index], self._may_repeat[index] = 1, 0

    def to_retry(self, host: int, page: int) -> None:
        """Notes that a page did not answer, so it is requested again."""
        self._is_requested[self.index(host, page)] = 0

    def lost(self, host: int, pages: Iterable[int]) -> None:
        """Notes that a machine has lost its lease: these pages, which it has not settled, may be requested again."""
        for page in pages:
            self._may_repeat[self.index(host, page)] = 1

    def answered(self, outcome: Outcome, lease: int, machine: int, *, is_rejected: bool) -> None:
        """Notes what the frontier said about an outcome."""
        host, page = place_of(outcome.url)
        index = self.index(host, page)
        if is_rejected:
            self.rejected += 1
            self._may_repeat[index] = 1
            if machine not in self.gone and not self.is_barred[host]:
                self.fault("rejected", f"{outcome.url} of {machine}, which is alive")
            return
        if not self.is_latest(host, lease):
            self.fault("settled late", f"{outcome.url} by {machine}, after another one got the host")
        if outcome.state == "visited":
            self.settled += 1
            if self.is_settled[index]:
                self.fault("settled twice", f"{outcome.url} by {machine}")
            self.is_settled[index] = 1

    def found(self, links: Iterable[Discovery]) -> None:
        """Notes links that were committed."""
        for link in links:
            host, page = place_of(link.url)
            if not self.is_barred[host]:
                self.is_known[self.index(host, page)] = 1

    def released(self, host: int, lease: int, machine: int, not_before: float) -> None:
        """Notes the end of a lease, and the Retry-After of the host."""
        if self.is_latest(host, lease) and machine not in self.gone:
            self._holders.pop(host, None)
            self._not_before[host] = max(self._not_before[host], not_before)

    def barred(self, host: int) -> None:
        """Notes that a call that bars a host has returned, and its URLs are removed."""
        self.is_barred[host] = 1
        first = self._sites.first[host]
        for index in range(first, first + self._sites.pages[host]):
            self.is_known[index] = self.is_settled[index] = 0

    def compare(self, connection: PostgresConnection, *, is_finished: bool) -> None:
        """Compares the tables with what was found and settled."""
        states: dict[int, int] = dict(connection.execute(_STATES).fetchall())
        known, settled = sum(self.is_known), sum(self.is_settled)
        if (rows := sum(states.values())) != known:
            self.fault("lost", f"{known} URLs were found, {rows} are in the table")
        if (visited := states.get(_VISITED, 0)) != settled:
            self.fault("lost", f"{settled} pages were settled, {visited} are visited in the table")
        if is_finished and settled != known:
            self.fault("lost", f"of {known} URLs {known - settled} were not visited")


@dataclass(slots=True)
class Held:
    """A lease that a machine holds. `number`: see `Witness.given`; `delay_s`: what the site asks for; `pages`: leased
    and not settled; `left`: not requested; `not_before`: when a Retry-After is over."""

    lease: Lease
    number: int
    host: int
    delay_s: float
    pages: list[int]
    left: deque[int]
    cut_at: float | None
    not_before: float = -inf


class Machine:
    """One machine, and its frontier while it runs. `name`: that of its folder; `number`: that of its last run in the
    database; `run` counts its runs; `until`: it may send requests until then. It does nothing before `stopped_until`,
    and does not reach the database before `cut_until`. `outcomes` and `releases` wait for the next commit."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.frontier: PostgresFrontier | None = None
        self.number = 0
        self.run = 0
        self.until = 0.0
        self.stopped_until = self.cut_until = 0.0
        self.held: dict[int, Held] = {}
        self.outcomes: list[tuple[Held, int, Outcome]] = []
        self.releases: list[tuple[Held, Release]] = []


@dataclass(frozen=True)
class Simulated:
    """The figures of a simulation. Times are in seconds; `simulated_s` by the simulated clock. `faults_made`: what
    happened to machines and sites, by kind."""

    machines: int
    hosts: int
    requests: int
    repeated: int
    rejected: int
    settled: int
    is_finished: bool
    simulated_s: float
    wall_s: float
    requests_per_s: float
    faults_made: dict[str, int]
    wrong: dict[str, int]
    examples: tuple[str, ...]


class Simulation:
    """Runs so many machines until everything is crawled, or `most_s` seconds have passed, or with `until_fault` until
    something is wrong.

    `dsn` is an address from `simulated`. `pages`: how many the web has; `busy_s` and `delays_s`: see `BUSY_S` and
    `DELAYS_S`; `faults_s`: the mean time of a machine between two faults; `turn_s`: how often it commits and leases;
    `opens`: the class of the frontiers under test; `parts`: of each large table.
    """

    def __init__(
        self,
        dsn: str,
        *,
        pages: int,
        machines_: int,
        seed: int,
        most_s: float = inf,
        busy_s: float = BUSY_S,
        delays_s: Sequence[float] = DELAYS_S,
        faults_s: float = FAULTS_S,
        turn_s: float = TURN_S,
        until_fault: bool = False,
        opens: type[PostgresFrontier] = PostgresFrontier,
        parts: int = 16,
    ) -> None:
        self._dsn = dsn
        self._sites = Sites(pages, busy_s, delays_s)
        self._chance = random.Random(seed)
        self._most_s = most_s
        self._opens = opens
        self._parts = parts
        self._faults_s = faults_s
        self._turn_s = turn_s
        self._until_fault = until_fault
        self.witness = Witness(self._sites)
        self._machines = [Machine(f"machine {number}") for number in range(machines_)]
        self._events: list[tuple[float, int, Machine, int, str, Held | None]] = []
        self._order = count()
        self._made: Counter[str] = Counter()
        self._is_finished = False
        self._requested_at = BEGIN
        self._asks_s = array("d", self.witness.told_s)

    def run(self) -> Simulated:
        """Runs it; closes every connection."""
        began = monotonic()
        with _clock(self._dsn) as connection:
            self._connection, self.time = connection, SimulatedTime(connection)
            self.time.publish()
            try:
                self._begin()
                while not self._has_ended() and monotonic() - began < self._most_s:
                    self._next()
                self.witness.compare(connection, is_finished=self._is_finished)
            finally:
                for machine in self._machines:
                    if machine.frontier is not None:
                        machine.frontier.close()
        seen, wall_s = self.witness, monotonic() - began
        return Simulated(
            *(len(self._machines), len(self._sites.pages), seen.requests, seen.repeated, seen.rejected, seen.settled),
            *(self._is_finished, round(self.time.now - BEGIN, 1), round(wall_s, 1), round(seen.requests / wall_s, 1)),
            *(dict(self._made), dict(seen.faults), tuple(seen.examples)),
        )

    def _has_ended(self) -> bool:
        if not self._is_finished and self.time.now - self._requested_at > STUCK_S:
            self.witness.fault("lost", f"no request since {self._requested_at:.3f}, and not finished")
            return True
        return self._is_finished or (self._until_fault and bool(self.witness.faults))

    # ---- events -----------------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        for machine in self._machines:
            self._start(machine)
            self._after(machine, self._chance.expovariate(1 / self._faults_s), "fault", always=True)
        seed = Discovery(self._sites.url(0, 0), 0)
        first = self._machines[0].frontier
        assert first is not None
        first.add([seed])
        self.witness.found([seed])

    def _after(
        self, machine: Machine, seconds: float, what: str, about: Held | None = None, *, always: bool = False
    ) -> None:
        """Lets something happen to a machine later; unless `always`, only if it is the same run then."""
        run = -1 if always else machine.run
        heapq.heappush(self._events, (self.time.now + seconds, next(self._order), machine, run, what, about))

    def _next(self) -> None:
        at, _, machine, run, what, about = heapq.heappop(self._events)
        if run not in (-1, machine.run):
            return
        self.time.now = max(at, self.time.now)
        held_back = max(machine.stopped_until, machine.cut_until if what in ("turn", "beat") else 0.0)
        if what not in ("fault", "start") and held_back > self.time.now:
            self._after(machine, held_back - self.time.now, what, about)
        elif about is not None:
            self._request(machine, about)
        elif what == "turn":
            self._turn(machine)
        elif what == "beat":
            self._beat(machine)
        elif what == "start":
            self._start(machine)
        else:
            self._fault(machine)

    # ---- a machine --------------------------------------------------------------------------------------------------

    def _start(self, machine: Machine) -> None:
        self.time.publish()
        machine.frontier = self._opens.open(
            self._dsn,
            Identity(machine.name, machine.name, 1),
            now=self.time,
            passed=self.time,
            parts=self._parts,
        )
        self._takes_part(machine, machine.frontier)

    def _takes_part(self, machine: Machine, frontier: PostgresFrontier) -> None:
        self.witness.gone.add(machine.number)  # a machine that joins takes over the hosts of its folder's last run
        machine.run += 1
        machine.number, machine.until = frontier.machine, self.time.now + EXPIRES_S
        frontier.take_part()
        self._after(machine, 0.0, "turn")
        self._after(machine, BEAT_S, "beat")

    def _count_gone(self, name: str) -> None:
        """Counts the last run in a folder as gone: others may fetch again what it has not settled."""
        machine = next(machine for machine in self._machines if machine.name == name)
        self.witness.gone.add(machine.number)
        self._may_be_repeated(machine)

    def _beat(self, machine: Machine) -> None:
        frontier = machine.frontier
        assert frontier is not None
        self.time.publish()
        if not machines.beat(self._connection, frontier.machine, frontier.clock, frontier.standing, "{}"):
            self._rejoin(machine, frontier)
            return
        machine.until = self.time.now + EXPIRES_S
        try:
            balance = frontier.balance()
        except LeasesLostError:
            self._rejoin(machine, frontier)
            return
        for name in balance.gone:
            self._count_gone(name)
        for key in balance.barred:
            held = machine.held.get(host_of(key))
            if held is not None:
                held.left.clear()
        for key in frontier.hosts_to_remove() if balance.barred else ():
            frontier.remove_host(key)
        if not machine.held and frontier.next_ready_at() is None and frontier.is_finished():
            self._is_finished = True
        self._after(machine, BEAT_S, "beat")

    def _rejoin(self, machine: Machine, frontier: PostgresFrontier) -> None:
        """Begins anew, as a machine does that was counted as gone. What it still settles is rejected."""
        self._made["joined again"] += 1
        self._commit(machine, frontier, 0)
        self._lose(machine)
        frontier.join()
        self._takes_part(machine, frontier)

    def _may_be_repeated(self, machine: Machine) -> None:
        for held in machine.held.values():
            self.witness.lost(held.host, held.pages)
        for held, page, _ in machine.outcomes:
            self.witness.lost(held.host, [page])

    def _lose(self, machine: Machine) -> None:
        self._may_be_repeated(machine)
        machine.held.clear()
        machine.outcomes.clear()
        machine.releases.clear()

    def _turn(self, machine: Machine) -> None:
        """Commits what was fetched, and leases more hosts."""
        frontier = machine.frontier
        assert frontier is not None
        self._commit(machine, frontier, 0)
        room = PLACES - len(machine.held)
        try:
            leases = frontier.lease(room, URLS, self.time.now, sized=True) if room > 0 else []
        except LeasesLostError:
            self._rejoin(machine, frontier)
            return
        if leases:
            self._visit(machine, frontier, leases)
        idle = not leases and not machine.held
        self._after(machine, 1.0 if idle else self._turn_s, "turn")

    def _commit(self, machine: Machine, frontier: PostgresFrontier, least: int) -> None:
        """Settles what was fetched, if it is more than `least`, in batches."""
        while len(machine.outcomes) > least or (machine.releases and not least):
            batch, machine.outcomes = machine.outcomes[:MAX_OUTCOMES], machine.outcomes[MAX_OUTCOMES:]
            ends = [] if machine.outcomes else machine.releases
            if ends:
                machine.releases = []
            self._settle(machine, frontier, batch, ends)

    def _settle(
        self,
        machine: Machine,
        frontier: PostgresFrontier,
        batch: Sequence[tuple[Held, int, Outcome]],
        ends: Sequence[tuple[Held, Release]],
    ) -> None:
        outcomes = [outcome for _, _, outcome in batch]
        rejected = set(frontier.settle(outcomes, [release for _, release in ends]))
        for position, (held, page, outcome) in enumerate(batch):
            held.pages.remove(page)
            is_rejected = position in rejected
            self.witness.answered(outcome, held.number, machine.number, is_rejected=is_rejected)
            self.witness.found(outcome.links)
        for held, _ in ends:
            self.witness.released(held.host, held.number, machine.number, held.not_before)

    # ---- requests ---------------------------------------------------------------------------------------------------

    def _visit(self, machine: Machine, frontier: PostgresFrontier, leases: Sequence[Lease]) -> None:
        known = frontier.load_all_robots(f"http://{lease.host}" for lease in leases)
        with frontier.together():
            self._begin_visits(machine, frontier, leases, known)

    def _begin_visits(
        self, machine: Machine, frontier: PostgresFrontier, leases: Sequence[Lease], known: Mapping[str, Access]
    ) -> None:
        for lease in leases:
            host = host_of(lease.host)
            number = self.witness.given(lease, machine.number, self.time.now)
            pages = [place_of(leased.url)[1] for leased in lease.urls]
            held = Held(lease, number, host, 0.0, pages, deque(pages), lease.cut_at)
            machine.held[host] = held
            access, before = known.get(f"http://{lease.host}"), lease.cut_at
            if access is None or self._chance.random() < 0.002:
                access, before = self._read_robots(frontier, held), self.time.now
            held.delay_s = _asked_s(access.body)
            wait_s = 0.0 if before is None else before + held.delay_s - self.time.now
            self._after(machine, max(wait_s, 0.0), "request", held)

    def _read_robots(self, frontier: PostgresFrontier, held: Held) -> Access:
        """Fetches robots.txt; the site may ask for more by now."""
        if self._chance.random() < 0.1:
            self._made["longer delays"] += 1
            self._asks_s[held.host] *= 1.5
        body = f"User-agent: *\nCrawl-delay: {self._asks_s[held.host]:.3f}\n".encode()
        access = Access("successful", "rfc9309", self.time.now, inf, 200, body=body)
        frontier.save_robots(f"http://{held.lease.host}", access)
        self.witness.saved(held.host, held.number, _asked_s(body))
        return access

    def _request(self, machine: Machine, held: Held) -> None:
        """Requests the next page of a lease."""
        if not held.left:
            self._end(machine, held, self.time.now, held.cut_at)
            return
        if self.time.now >= machine.until:
            return  # it may not send requests until it has joined again, and then the lease has ended
        page, now = held.left.popleft(), self.time.now
        self.witness.requested(held.host, page, machine.number, now)
        self._requested_at = now
        held.cut_at = None
        answered_at = now + self._chance.uniform(0.02, 0.1)
        url = self._sites.url(held.host, page)
        if self._chance.random() < 0.001:
            self._made["Retry-After"] += 1
            held.not_before = answered_at + self._chance.uniform(5.0, 40.0)
            self.witness.to_retry(held.host, page)
            outcome = Outcome(url, "ready", answered_at, "status 429", 429, tries=1, token=held.lease.token)
            machine.outcomes.append((held, page, outcome))
            self._end(machine, held, max(held.not_before, answered_at + held.delay_s), None)
            return
        links = tuple(Discovery(self._sites.url(*place), 1, url) for place in self._sites.links(held.host, page))
        outcome = Outcome(
            url, "visited", answered_at, "status 200", 200, 30_000, title="A page", links=links, token=held.lease.token
        )
        machine.outcomes.append((held, page, outcome))
        if held.left and held.delay_s <= SHORT_DELAY_S:
            self._after(machine, answered_at + held.delay_s - now, "request", held)
        else:
            self._end(machine, held, answered_at + held.delay_s, None)
        if machine.frontier is not None and machine.cut_until <= now:
            self._commit(machine, machine.frontier, MAX_OUTCOMES - 1)

    def _end(self, machine: Machine, held: Held, ready_at: float, cut_at: float | None) -> None:
        """Ends a lease. Sometimes the host is found to have the address of others."""
        machine.held.pop(held.host, None)
        partition = None
        if self._chance.random() < 0.001:
            self._made["shared addresses"] += 1
            partition = partition_of(f"10.0.0.{held.host % 16}")
        next_urls = 1 if held.delay_s > SHORT_DELAY_S else None
        release = Release(held.lease.host, ready_at, 0.0, cut_at, next_urls, held.lease.token, partition)
        machine.releases.append((held, release))

    # ---- faults -----------------------------------------------------------------------------------------------------

    def _fault(self, machine: Machine) -> None:
        """Something goes wrong with a machine."""
        self._after(machine, self._chance.expovariate(1 / self._faults_s), "fault", always=True)
        frontier, chance = machine.frontier, self._chance
        if frontier is None:
            return
        kind = chance.choice(("killed", "stopped", "cut off", "left", "forgets a host"))
        self.time.publish()
        if kind == "killed":
            self._made[kind] += 1
            self._lose(machine)
            frontier._transactions.close()
            machine.frontier, machine.run = None, machine.run + 1
            self._after(machine, chance.uniform(0.5, 1.0) * chance.choice((0.1, 60.0)), "start", always=True)
        elif kind == "stopped":
            self._made[kind] += 1
            machine.stopped_until = self.time.now + chance.uniform(1.0, 90.0)
        elif kind == "cut off":
            self._made[kind] += 1
            machine.cut_until = self.time.now + chance.uniform(1.0, 90.0)
        elif kind == "left":
            self._leave(machine, frontier)
        else:
            self._forget(frontier)

    def _leave(self, machine: Machine, frontier: PostgresFrontier) -> None:
        """Ends a machine as Ctrl-C does, unless it is cut off or hangs."""
        if max(machine.stopped_until, machine.cut_until) > self.time.now:
            return
        self._made["left"] += 1
        for held in list(machine.held.values()):
            ready_at = self.time.now + held.delay_s if held.cut_at is None else self.time.now
            self._end(machine, held, ready_at, held.cut_at)
        self._commit(machine, frontier, 0)
        frontier.close()
        machine.frontier, machine.run = None, machine.run + 1
        self._after(machine, self._chance.uniform(1.0, 60.0), "start", always=True)

    def _forget(self, frontier: PostgresFrontier) -> None:
        """Forgets a host, but only few of all."""
        hosts = len(self._sites.pages)
        host = self._chance.randrange(1, hosts)
        if self.witness.is_barred[host] or sum(self.witness.is_barred) >= max(hosts // 50, 2):
            return
        self._made["forgotten"] += 1
        key = f"h{host}.example"
        frontier.bar_host(key)
        frontier.remove_host(key)
        self.witness.barred(host)


@lru_cache(maxsize=4096)
def _asked_s(body: bytes) -> float:
    """Returns the seconds that a robots.txt asks for between two requests."""
    return RobotsTxt.parse(body).timing("goodbot").delay_s or 0.0


@contextmanager
def _clock(dsn: str) -> Iterator[PostgresConnection]:
    """Gives the database the simulated clock. Its tables must be empty, or not made yet."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(_CLOCK)
        try:
            yield connection
        finally:
            connection.execute(_NO_CLOCK)
