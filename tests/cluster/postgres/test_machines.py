"""Several machines share a frontier in a real PostgreSQL: partitions, leases, machines that die or fall silent, calls
that are repeated."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from typing import Final

import psycopg
import pytest

from cluster.quotes import quotes_in
from goodbot.cluster.postgres import machines
from goodbot.cluster.postgres.frontier import PostgresFrontier
from goodbot.cluster.postgres.machines import BEAT_S, EXPIRES_S, GRACE_S, Identity
from goodbot.errors import InputError, LeasesLostError, StoreAwayError
from goodbot.partitions import PARTITIONS
from goodbot.url import Url
from goodbot.values import Discovery, LastVisit, Lease, Outcome, Release
from postgres_server import PostgresServer
from unreliable_proxy import UnreliableProxy

HOSTS: Final = 40
Join = Callable[..., PostgresFrontier]


def home(host: int) -> Url:
    return Url(f"http://h{host}.example/")


def page(host: int) -> Url:
    return Url(f"http://h{host}.example/page")


class Passing:
    """The clock by which machines see how long others have been silent."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def passing() -> Passing:
    return Passing()


@pytest.fixture
def join(postgres_dsn: str, passing: Passing) -> Iterator[Join]:
    """Makes one more machine; `dsn`: by another way, `writer`: in this folder."""
    opened: list[PostgresFrontier] = []
    numbers = count()

    def join(writer: str = "", dsn: str = postgres_dsn) -> PostgresFrontier:
        name = writer or f"folder {next(numbers)}"
        opened.append(PostgresFrontier.open(dsn, Identity(name, f"machine of {name}", 1), passed=passing, parts=2))
        opened[-1].take_part()
        return opened[-1]

    yield join
    for frontier in opened:
        frontier.close()


@pytest.fixture
def pass_time(postgres_dsn: str, passing: Passing) -> Callable[..., set[str]]:
    """Lets time pass, in which only these machines send heartbeats; returns the names of those counted as gone."""

    def pass_time(*frontiers: PostgresFrontier, seconds: float = EXPIRES_S + GRACE_S + 2 * BEAT_S) -> set[str]:
        gone = set[str]()
        with psycopg.connect(postgres_dsn, autocommit=True) as connection:
            for _ in range(int(seconds / BEAT_S)):
                passing.seconds += BEAT_S
                for frontier in frontiers:
                    assert machines.beat(connection, frontier.machine, frontier.clock, frontier.standing, "{}")
                    gone.update(frontier.balance().gone)
        return gone

    return pass_time


def shared(*frontiers: PostgresFrontier) -> None:
    """Lets the machines share out the partitions, as they do after each heartbeat."""
    for _ in range(2 * PARTITIONS // machines.MAX_TAKEN):
        for frontier in frontiers:
            frontier.balance()


def lease_all(frontier: PostgresFrontier) -> dict[str, Lease]:
    return {lease.host: lease for lease in frontier.lease(1000, 10, frontier.clock.now())}


def outcomes(leases: dict[str, Lease]) -> list[Outcome]:
    return [
        Outcome(leased.url, "visited", 1.0, "said so", token=lease.token)
        for lease in leases.values()
        for leased in lease.urls
    ]


def releases(leases: dict[str, Lease]) -> list[Release]:
    return [Release(lease.host, 0.0, token=lease.token) for lease in leases.values()]


def test_the_first_machine_has_all_partitions_and_those_that_join_get_a_fair_share(join: Join) -> None:
    first = join()
    assert first._partitions == list(range(PARTITIONS))
    second = join()
    shared(first, second)
    assert sorted(first._partitions + second._partitions) == list(range(PARTITIONS))
    assert {len(first._partitions), len(second._partitions)} == {PARTITIONS // 2}
    third = join()
    shared(first, second, third)
    sizes = [len(frontier._partitions) for frontier in (first, second, third)]
    assert sum(sizes) == PARTITIONS
    assert max(sizes) - min(sizes) <= 1
    second.close()
    shared(first, third)
    assert sorted(first._partitions + third._partitions) == list(range(PARTITIONS))


@pytest.mark.long
@pytest.mark.parametrize("present", [1, 2, 20, 100, PARTITIONS, PARTITIONS + 1])
def test_the_shares_of_all_machines_are_all_partitions(present: int, postgres_dsn: str) -> None:
    with psycopg.connect(postgres_dsn) as connection:
        joined = connection.execute(
            "INSERT INTO machines (writer, name, pid, joined_at, crawls)"
            " SELECT number::text, 'machine', 1, 0, (number <= %s)::integer FROM generate_series(1, %s) AS number"
            " RETURNING id, crawls",
            (present, present + 3),
        ).fetchall()
        shares = [machines.share_of(connection, machine) for machine, crawls in joined if crawls]
        connection.rollback()
    assert (len(shares), sum(map(len, shares))) == (present, PARTITIONS)
    assert frozenset().union(*shares) == frozenset(range(PARTITIONS))


def test_machines_that_join_while_all_hosts_are_leased_share_the_hosts(join: Join) -> None:
    """Partitions without leased hosts are given up sooner than others: that must not decide who gets which."""
    frontiers = [join()]
    hosts = 10 * HOSTS
    frontiers[0].add(Discovery(home(host), 0) for host in range(hosts))
    held = lease_all(frontiers[0])
    assert len(held) == hosts
    for _ in range(3):
        frontiers.append(join())
        shared(*frontiers)
    assert [lease_all(frontier) for frontier in frontiers[1:]] == [{}, {}, {}]
    leases = list(held.values())
    for some in range(0, hosts, HOSTS):
        releases = [Release(lease.host, 0.0, token=lease.token) for lease in leases[some : some + HOSTS]]
        assert frontiers[0].settle([], releases) == []
        shared(*frontiers)
    leased = [len(lease_all(frontier)) for frontier in frontiers]
    assert sum(leased) == hosts
    assert min(leased) > hosts / 4 / 2, leased


def test_each_host_is_leased_by_one_machine(join: Join) -> None:
    first, second = join(), join()
    first.add(Discovery(home(host), 0) for host in range(HOSTS))
    shared(first, second)
    one, other = lease_all(first), lease_all(second)
    assert not one.keys() & other.keys()
    assert len(one) + len(other) == HOSTS
    assert min(len(one), len(other)) > 0
    assert not lease_all(first)


def test_a_partition_whose_hosts_are_leased_is_given_up_only_when_they_are_released(join: Join) -> None:
    first = join()
    first.add(Discovery(home(host), 0) for host in range(HOSTS))
    leases = lease_all(first)
    second = join()
    shared(first, second)
    assert not lease_all(second)
    busy = {lease.partition for lease in leases.values()}
    assert busy <= set(first._partitions), "they are still its own"
    assert len(first._partitions) > PARTITIONS // 2, "some of them are to be given up"
    first.settle([], releases(leases))
    assert len(lease_all(first)) < HOSTS, "what is to be given up is not leased any more"
    shared(first, second)
    assert len(first._partitions) == PARTITIONS // 2
    assert lease_all(second)


def test_the_hosts_of_a_silent_machine_are_taken_over_and_what_it_settles_is_rejected(
    join: Join, pass_time: Callable[..., set[str]]
) -> None:
    late, heir = join(), join()
    late.add(Discovery(home(host), 0) for host in range(HOSTS))
    shared(late, heir)
    held = lease_all(late)
    assert pass_time(heir, seconds=EXPIRES_S) == set(), "it has not been silent for too long yet"
    assert len(heir._partitions) == PARTITIONS // 2
    assert pass_time(heir, seconds=3 * BEAT_S) == {f"machine of {late._identity.writer}"}
    shared(heir)
    inherited = lease_all(heir)
    assert held.keys() <= inherited.keys()
    assert all(inherited[host].token == held[host].token + 1 for host in held)
    assert all(inherited[host].cut_at is not None for host in held), "their delays begin when they were taken over"
    with pytest.raises(LeasesLostError):
        lease_all(late)
    found = Discovery(page(0), 1, home(0))
    late_outcomes = outcomes(held)
    late_outcomes[0] = Outcome(home(int(late_outcomes[0].url.host[1:-8])), "visited", 1.0, "late", links=(found,))
    assert late.settle(late_outcomes, releases(held)) == list(range(len(held)))
    assert heir.settle(outcomes(inherited), releases(inherited)) == []
    assert heir.status().states["visited"] == HOSTS
    record = heir.record(page(0))
    assert record is not None, "the links of what is rejected count"
    assert record.state == "ready"


def test_a_late_machine_can_join_again(join: Join, pass_time: Callable[..., set[str]]) -> None:
    late, other = join(), join()
    late.add(Discovery(home(host), 0) for host in range(HOSTS))
    shared(late, other)
    pass_time(other)
    shared(other)
    with pytest.raises(LeasesLostError):
        late.balance()
    late.join()
    late.take_part()
    shared(other, late)
    assert lease_all(late)
    assert lease_all(other)


def test_a_silent_machine_whose_hosts_nobody_took_goes_on(
    join: Join, postgres_dsn: str, pass_time: Callable[..., set[str]]
) -> None:
    alone = join()
    alone.add(Discovery(home(host), 0) for host in range(HOSTS))
    pass_time()
    leases = lease_all(alone)
    assert len(leases) == HOSTS
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        assert machines.beat(connection, alone.machine, alone.clock, alone.standing, "{}")
    assert alone.settle(outcomes(leases), releases(leases)) == []


def test_who_could_not_look_counts_nobody_as_gone_at_once(
    join: Join, passing: Passing, pass_time: Callable[..., set[str]]
) -> None:
    """As after a time in which the server did not answer."""
    first, second = join(), join()
    pass_time(first, second, seconds=2 * BEAT_S)
    passing.seconds += 1000.0
    assert first.balance().gone == second.balance().gone == ()
    assert pass_time(first, second, seconds=EXPIRES_S * 2) == set()


def test_a_clock_of_the_database_that_was_set_ends_no_machine(
    join: Join, postgres_dsn: str, pass_time: Callable[..., set[str]]
) -> None:
    first, second = join(), join()
    for seconds in (-1000.0, 1000.0):
        with psycopg.connect(postgres_dsn, autocommit=True) as connection:
            connection.execute("UPDATE heartbeats SET at = at - %s, expires_at = expires_at - %s", (seconds, seconds))
        assert pass_time(first, second, seconds=3 * BEAT_S) == set()


def test_a_heartbeat_of_a_machine_that_is_gone_says_so(
    join: Join, postgres_dsn: str, pass_time: Callable[..., set[str]]
) -> None:
    late, other = join(), join()
    pass_time(other)
    until = late.standing.until
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        assert not machines.beat(connection, late.machine, late.clock, late.standing, "{}")
    assert late.standing.until == until


def test_a_clock_that_may_be_off_makes_nobody_sooner(join: Join) -> None:
    first, second = join(), join()
    first.add([Discovery(home(1), 0), Discovery(page(1), 0)])
    shared(first, second)
    found = [(frontier, lease) for frontier in (first, second) for lease in lease_all(frontier).values()]
    ((owner, lease),) = found
    other = second if owner is first else first
    owner.clock.error_s = 0.25
    now = owner.clock.now()
    (settled, *_) = outcomes({lease.host: lease})
    owner.settle([settled], [Release(lease.host, now + 100.0, token=lease.token)])
    assert owner.next_ready_at() == pytest.approx(now + 100.5)
    assert owner.lease(1, 1, now + 100.4) == []
    assert other.lease(1, 1, now + 200.0) == []
    assert len(owner.lease(1, 1, now + 100.6)) == 1


def test_who_opens_the_same_folder_again_takes_over_at_once(join: Join) -> None:
    before = join("folder")
    before.add(Discovery(home(host), 0) for host in range(HOSTS))
    held = lease_all(before)
    before._transactions.close()  # as by kill -9
    now = join("folder")
    assert lease_all(now).keys() == held.keys()


def test_opening_takes_no_leases_of_living_machines(join: Join) -> None:
    living = join()
    living.add(Discovery(home(host), 0) for host in range(HOSTS))
    held = lease_all(living)
    newcomer = join()
    shared(newcomer)
    assert not lease_all(newcomer)
    assert living.settle(outcomes(held), releases(held)) == []
    assert living.is_finished()


def test_a_crawl_is_not_finished_while_another_machine_has_something(join: Join) -> None:
    first, second = join(), join()
    first.add([Discovery(home(0), 0)])
    leases = lease_all(first)
    assert not second.is_finished()
    first.settle(outcomes(leases), releases(leases))
    assert first.is_finished()
    assert second.is_finished()


# ---- calls whose end was not reported ---------------------------------------------------------------------------


def test_a_forgotten_host_does_not_wait_for_a_folder_that_is_lost(join: Join, postgres_dsn: str) -> None:
    first, _lost = join("first"), join("lost")
    first.add([Discovery(home(1), 0)])
    assert first.bar_host("h1.example")
    assert first.remove_host("h1.example") == 1
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        connection.execute("DELETE FROM removals WHERE writer = '…'".replace("…", "lost").encode())
    assert first.unbar_host("h1.example")


def test_a_machine_visits_pages_again_as_those_do_that_crawl_already(postgres_dsn: str) -> None:
    def join(writer: str, until: float | None) -> PostgresFrontier:
        identity = Identity(writer, writer, 1)
        frontier = PostgresFrontier.open(postgres_dsn, identity, revisit_until=until, parts=2)
        frontier.take_part()
        return frontier

    with join("first", 9e9) as first, join("second", None) as second:
        first.add(Discovery(home(host), 0) for host in range(HOSTS))
        shared(first, second)
        for frontier in (first, second):
            leases = lease_all(frontier)
            now = frontier.clock.now()
            due = [replace(one, seen=LastVisit(now - 9, now - 1, 1.0, now - 9)) for one in outcomes(leases)]
            assert frontier.settle(due, releases(leases)) == []
        again = lease_all(second)
        assert again
        assert sum(len(lease.urls) for lease in again.values()) == len(again)
        assert second.status().states["ready"] == 0


def test_each_machine_learns_of_a_forgotten_host_and_removes_it_from_its_own_folder(join: Join) -> None:
    first, second = join("first"), join("second")
    first.add([Discovery(home(1), 0), Discovery(home(2), 0)])
    shared(first, second)
    assert first.bar_host("h1.example")
    assert first.balance().barred == second.balance().barred == ("h1.example",)
    assert first.balance().barred == second.balance().barred == ()
    assert first.remove_host("h1.example") == 1
    assert (first.hosts_to_remove(), second.hosts_to_remove()) == ([], ["h1.example"])
    with pytest.raises(InputError) as refused:
        first.unbar_host("h1.example")
    quote = "1 other machine has not removed … yet (…, folder …): run goodbot crawl there once, then try again"
    assert quote in quotes_in(str(refused.value))
    third = join("third")  # joins later, and has nothing to remove
    assert third.hosts_to_remove() == []
    assert "h1.example" in third.forgotten_hosts()
    assert second.remove_host("h1.example") == 0
    assert first.unbar_host("h1.example")
    assert first.add([Discovery(home(1), 0)]) == 1


def test_a_host_of_which_nothing_is_known_has_nothing_to_remove(join: Join) -> None:
    first = join("first")
    assert not first.bar_host("h1.example")
    assert first.hosts_to_remove() == []
    assert first.unbar_host("h1.example")


@pytest.fixture
def proxy(postgres: PostgresServer) -> Iterator[UnreliableProxy]:
    with UnreliableProxy(postgres.port) as proxy:
        yield proxy


@pytest.fixture
def cut_off(join: Join, postgres: PostgresServer, proxy: UnreliableProxy) -> PostgresFrontier:
    frontier = join(dsn=postgres.dsn().replace(str(postgres.port), str(proxy.port)))
    frontier.add(Discovery(home(host), 0) for host in range(HOSTS))
    return frontier


@pytest.mark.parametrize("broken", [b"COMMIT", b"INSERT INTO visits"], ids=["after commit", "before commit"])
def test_a_settle_that_is_repeated_counts_once(
    cut_off: PostgresFrontier, proxy: UnreliableProxy, broken: bytes
) -> None:
    leases = lease_all(cut_off)
    settled = outcomes(leases)
    settled[3] = Outcome(page(7), "visited", 1.0, "not leased")
    proxy.cut_after = broken
    with pytest.raises(StoreAwayError, match="does not answer"):
        cut_off.settle(settled, releases(leases))
    assert proxy.cuts == 1
    assert cut_off.settle(settled, releases(leases)) == [3]
    assert cut_off.status().states["visited"] == HOSTS - 1
    assert cut_off.settle(settled, releases(leases)) == list(range(HOSTS)), "another call is not taken for the same"


@pytest.mark.parametrize("broken", [b"COMMIT", b"INSERT INTO leased"], ids=["after commit", "before commit"])
def test_a_lease_that_is_repeated_loses_no_host(
    cut_off: PostgresFrontier, proxy: UnreliableProxy, broken: bytes
) -> None:
    proxy.cut_after = broken
    with pytest.raises(StoreAwayError):
        lease_all(cut_off)
    leases = lease_all(cut_off)
    assert len(leases) == HOSTS
    assert cut_off.settle(outcomes(leases), releases(leases)) == []
    assert cut_off.is_finished()
    assert cut_off.status().states["leased"] == 0


def test_seeds_that_are_added_again_count_once(cut_off: PostgresFrontier, proxy: UnreliableProxy) -> None:
    seeds = [Discovery(page(host), 0) for host in range(HOSTS)]
    proxy.cut_after = b"COMMIT"
    with pytest.raises(StoreAwayError):
        cut_off.add(seeds)
    assert cut_off.add(seeds) == HOSTS
    assert cut_off.add(seeds) == 0
    assert cut_off.status().states["ready"] == 2 * HOSTS


def test_what_is_done_together_is_done_once(cut_off: PostgresFrontier, proxy: UnreliableProxy) -> None:
    leases = lease_all(cut_off)

    def write() -> list[int]:
        with cut_off.together():
            cut_off.add([Discovery(page(1), 0)])
            return cut_off.settle(outcomes(leases), releases(leases))

    proxy.cut_after = b"COMMIT"
    with pytest.raises(StoreAwayError):
        write()
    assert write() == []
    states = cut_off.status().states
    assert (states["visited"], states["ready"]) == (HOSTS, 1)


def test_a_server_that_was_restarted_is_used_again(join: Join, postgres: PostgresServer, postgres_dsn: str) -> None:
    frontier = join()
    frontier.add(Discovery(home(host), 0) for host in range(HOSTS))
    leases = lease_all(frontier)
    postgres.stop("fast")
    for _ in range(2):
        with pytest.raises(StoreAwayError, match="does not answer"):
            frontier.settle(outcomes(leases), releases(leases))
    postgres.start()
    assert frontier.settle(outcomes(leases), releases(leases)) == []
    assert frontier.is_finished()
