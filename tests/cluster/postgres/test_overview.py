"""What `goodbot cluster` reads of a crawl and its machines."""

from collections.abc import Callable, Iterator
from typing import Final

import psycopg
import pytest

from goodbot.cluster.postgres import overview
from goodbot.cluster.postgres.frontier import PostgresFrontier
from goodbot.cluster.postgres.machines import BEAT_S, EXPIRES_S, GRACE_S, Identity
from goodbot.cluster.postgres.overview import LATEST_ENDED, crawl_overview, machines_of
from goodbot.errors import InputError, RunError
from goodbot.live import LiveStatus
from goodbot.partitions import PARTITIONS
from goodbot.store.control.live_file import format_live
from goodbot.url import Url
from goodbot.values import Discovery, Lease, Outcome, Release
from postgres_server import PostgresServer

PASSED: Final = [0.0]
"""The clock by which machines see how long others have been silent."""
Join = Callable[..., PostgresFrontier]
HOSTS: Final = 20


@pytest.fixture
def join(postgres_dsn: str) -> Iterator[Join]:
    """Makes one more machine."""
    opened: list[PostgresFrontier] = []

    def join(name: str) -> PostgresFrontier:
        opened.append(
            PostgresFrontier.open(
                postgres_dsn, Identity(f"folder of {name}", name, 17), passed=lambda: PASSED[0], parts=2
            )
        )
        opened[-1].take_part()
        return opened[-1]

    yield join
    for frontier in opened:
        frontier.close()


def add(frontier: PostgresFrontier) -> None:
    frontier.add(Discovery(Url(f"http://h{host}.example/{page}"), 0) for host in range(HOSTS) for page in range(3))


def lease(frontier: PostgresFrontier, hosts: int) -> list[Lease]:
    return frontier.lease(hosts, 2, frontier.clock.now())


def settle(frontier: PostgresFrontier, leases: list[Lease], ready_at: float = 0.0) -> None:
    at = frontier.clock.now()
    outcomes = [
        Outcome(leased.url, "visited", at, "said so", size_bytes=100, token=lease.token)
        for lease in leases
        for leased in lease.urls
    ]
    frontier.settle(outcomes, [Release(lease.host, ready_at, token=lease.token) for lease in leases])


def beat(dsn: str, frontier: PostgresFrontier, live: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("UPDATE heartbeats SET live = %s WHERE machine = %s", (live, frontier.machine))


def silence(dsn: str, frontier: PostgresFrontier) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(
            "UPDATE heartbeats SET at = at - %s, expires_at = expires_at - %s WHERE machine = %s",
            (*[EXPIRES_S + GRACE_S + 1] * 2, frontier.machine),
        )


def take_over(frontier: PostgresFrontier) -> None:
    """Time passes, until this machine counts all others as gone and has their partitions."""
    for _ in range(12):
        PASSED[0] += BEAT_S
        frontier.balance()


def live_at(rate: float) -> str:
    return format_live(LiveStatus(17, 0.0, 1.0, "running", 5, 500, rate, rate, 10, 2, 1, 1))


def test_a_crawl_that_has_not_begun(postgres_dsn: str) -> None:
    seen = crawl_overview(postgres_dsn)
    assert (seen.is_finished, seen.hosts_ready, seen.hosts_waiting, seen.hosts_leased) == (True, 0, 0, 0)
    assert (seen.owned, seen.free, seen.heartbeat_s, seen.pages_per_s) == (0, PARTITIONS, None, None)
    assert seen.machines == {"alive": 0, "late": 0, "left": 0, "gone": 0}
    assert {"urls", "visits", "seen", "hosts"} <= seen.tables.keys()
    assert not {"urls_0", "urls_1"} & seen.tables.keys(), "the parts of a table count as one"
    assert list(seen.tables.values()) == sorted(seen.tables.values(), reverse=True)
    assert seen.database_bytes > sum(seen.tables.values()) > 0
    assert seen.begun_at < seen.at
    assert machines_of(postgres_dsn)[1] == []


def test_hosts_urls_and_pages(join: Join, postgres_dsn: str) -> None:
    frontier = join("one")
    add(frontier)
    settle(frontier, lease(frontier, 4), frontier.clock.now() + 3600)
    lease(frontier, 3)
    seen = crawl_overview(postgres_dsn)
    assert not seen.is_finished
    assert (seen.hosts_ready, seen.hosts_waiting, seen.hosts_leased) == (HOSTS - 7, 4, 3)
    assert {state: count for state, count in seen.status.states.items() if count} == {
        "ready": 3 * HOSTS - 14,
        "leased": 6,
        "visited": 8,
    }
    assert (seen.status.pages, seen.status.bytes, seen.status.hosts) == (8, 800, HOSTS)
    assert (seen.ending_hosts, seen.ending_urls) == (0, 0)
    _, (machine,) = machines_of(postgres_dsn)
    assert (machine.name, machine.writer, machine.pid, machine.state) == ("one", "folder of one", 17, "alive")
    assert (machine.partitions, machine.leased_hosts, machine.leased_urls) == (PARTITIONS, 3, 6)
    assert (machine.pages, machine.bytes) == (8, 800)
    assert machine.since == machine.joined_at
    assert 0 <= machine.heartbeat_s < 30


def test_repeated_visits_count_as_pages_of_a_machine(join: Join, postgres_dsn: str) -> None:
    frontier = join("one")
    frontier.add([Discovery(Url("http://h.example/"), 0)])
    for _ in range(3):
        settle(frontier, lease(frontier, 1))
        frontier.requeue([Url("http://h.example/")])
    _, (machine,) = machines_of(postgres_dsn)
    assert machine.pages == 3
    assert crawl_overview(postgres_dsn).status.pages == 0


def test_what_is_rejected_counts_for_nobody(join: Join, postgres_dsn: str) -> None:
    first, second = join("one"), join("two")
    add(first)
    leases = lease(first, HOSTS)
    take_over(second)
    settle(first, leases)
    _, machines = machines_of(postgres_dsn)
    assert [(machine.name, machine.state, machine.pages) for machine in machines] == [
        ("two", "alive", 0),
        ("one", "gone", 0),
    ]


def test_states_of_machines_and_the_leases_that_end(join: Join, postgres_dsn: str) -> None:
    silent, leaving = join("silent"), join("leaving")
    add(silent)
    leased = lease(silent, 5)
    leaving.close()
    silence(postgres_dsn, silent)
    seen = crawl_overview(postgres_dsn)
    assert seen.machines == {"alive": 0, "late": 1, "left": 1, "gone": 0}
    assert (seen.ending_hosts, seen.ending_urls) == (5, sum(len(item.urls) for item in leased))
    assert seen.heartbeat_s is not None
    assert seen.heartbeat_s > EXPIRES_S
    _, machines = machines_of(postgres_dsn)
    assert [(machine.name, machine.state) for machine in machines] == [("silent", "late"), ("leaving", "left")]
    assert machines[0].since == pytest.approx(machines[0].joined_at - GRACE_S - 1, abs=1)
    assert machines[1].since == machines[1].ended_at
    third = join("third")
    take_over(third)
    seen = crawl_overview(postgres_dsn)
    assert seen.machines == {"alive": 1, "late": 0, "left": 1, "gone": 1}
    assert (seen.owned, seen.free, seen.ending_hosts) == (PARTITIONS, 0, 0)
    assert third.machine == machines_of(postgres_dsn)[1][0].machine


def test_rates_are_those_that_living_machines_report(join: Join, postgres_dsn: str) -> None:
    first, second, third, fourth = (join(name) for name in ("one", "two", "three", "four"))
    beat(postgres_dsn, first, live_at(2.5))
    beat(postgres_dsn, second, live_at(4.0))
    beat(postgres_dsn, third, live_at(100.0))
    beat(postgres_dsn, fourth, '{"rate": "hostile"')
    silence(postgres_dsn, third)
    assert crawl_overview(postgres_dsn).pages_per_s == 6.5
    _, machines = machines_of(postgres_dsn)
    assert [machine.pages_per_s for machine in machines] == [2.5, 4.0, None, None]


def test_the_latest_machines_that_ended_or_all(postgres_dsn: str) -> None:
    ended = LATEST_ENDED + 3
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        connection.execute(
            """WITH new AS (INSERT INTO machines (writer, name, pid, joined_at, ended_at, crawls)
                SELECT 'w', 'm' || n, n, n, n + 1, 1 FROM generate_series(1, %s) AS n RETURNING id)
              INSERT INTO heartbeats (machine, at, expires_at) SELECT id, 9, 99 FROM new""",
            (ended,),
        )
    _, machines = machines_of(postgres_dsn)
    assert [machine.name for machine in machines] == [f"m{number}" for number in range(ended, 3, -1)]
    assert len(machines_of(postgres_dsn, None)[1]) == ended


def test_a_command_that_changes_something_is_no_machine(join: Join, postgres_dsn: str) -> None:
    join("one")
    with PostgresFrontier.open(postgres_dsn, Identity("folder of forget", "forget", 18), parts=2):
        assert [machine.name for machine in machines_of(postgres_dsn)[1]] == ["one"]
        assert crawl_overview(postgres_dsn).machines["alive"] == 1
    assert [machine.name for machine in machines_of(postgres_dsn)[1]] == ["one"]


def test_a_database_without_a_crawl_or_of_another_version(postgres: PostgresServer) -> None:
    with psycopg.connect(postgres.dsn(), autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS other CASCADE; CREATE SCHEMA other")
        dsn = postgres.dsn(options="-csearch_path%3Dother")
        with pytest.raises(InputError, match="there is no crawl"):
            crawl_overview(dsn)
        connection.execute("CREATE TABLE other.crawl (format integer); INSERT INTO other.crawl VALUES (99)")
        with pytest.raises(RunError, match="newer goodbot"):
            crawl_overview(dsn)
        connection.execute("UPDATE other.crawl SET format = 0")
        with pytest.raises(RunError, match="older goodbot"):
            machines_of(dsn)
        connection.execute("DELETE FROM other.crawl")
        with pytest.raises(InputError, match="not one of goodbot"):
            machines_of(dsn)
        connection.execute("DROP SCHEMA other CASCADE")
    with pytest.raises(InputError, match='database "none" does not exist'):
        crawl_overview(postgres.dsn("none"))


def test_it_only_reads(postgres_dsn: str) -> None:
    with overview._reading(postgres_dsn) as connection, pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        connection.execute("CREATE TABLE x (y integer)")
