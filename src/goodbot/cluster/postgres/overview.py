"""Reads what a crawl in PostgreSQL and its machines are doing, for `goodbot cluster`.

Only reads, in one read-only transaction, with the rights of SELECT. No query passes over a table of URLs: numbers of
URLs are sums that the machines keep, the rest comes from hosts that wait or are leased, from partitions and machines.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from psycopg import IsolationLevel

from goodbot.cluster.postgres.connection import CONNECT_S, PostgresConnection, connect, shown, translated
from goodbot.cluster.postgres.ledger import PostgresLedger
from goodbot.cluster.postgres.machines import NOW
from goodbot.cluster.postgres.schema import FORMAT, check_format
from goodbot.errors import InputError
from goodbot.report_values import MACHINE_STATES, MachineState, MachineView
from goodbot.store.control.live_file import parse_live
from goodbot.values import Status

LATEST_ENDED: Final = 20
"""Machines that take part no more and are listed by default."""
WATCH_CONNECT_S: Final = 3
"""Seconds to wait for a connection for a program that asks every few seconds."""

_SESSION: Final = "SET statement_timeout = '60s'; SET lock_timeout = '5s'; SET jit = off"
_STATE: Final = """CASE WHEN ended_at IS NULL THEN CASE WHEN expires_at > %(now)s THEN 'alive' ELSE 'late' END
  WHEN ended_at > expires_at THEN 'gone' ELSE 'left' END"""
_CRAWL: Final = f"SELECT {NOW}, begun_at FROM crawl"
_HOSTS: Final = """SELECT count(*) FILTER (WHERE due <= %(now)s), count(*) FILTER (WHERE due > %(now)s)
  FROM hosts WHERE due IS NOT NULL"""
_COUNTS: Final = f"SELECT {_STATE}, count(*) FROM machines JOIN heartbeats ON machine = id WHERE crawls = 1 GROUP BY 1"
_PRESENT: Final = f"""SELECT id, {_STATE}, %(now)s - at, live FROM machines JOIN heartbeats ON machine = id
  WHERE ended_at IS NULL AND crawls = 1"""
_PARTITIONS: Final = """SELECT machines.id, count(*) FROM partitions
  LEFT JOIN machines ON machines.id = machine AND ended_at IS NULL GROUP BY 1"""
_LEASES: Final = """SELECT machine, count(DISTINCT hosts.id), count(leased.hash) FROM hosts
  LEFT JOIN partitions ON number = partition LEFT JOIN leased ON leased.host = hosts.id
  WHERE hosts.leased = 1 GROUP BY 1"""
_SIZES: Final = """SELECT coalesce(whole.relname, part.relname), sum(pg_total_relation_size(part.oid))::bigint
  FROM pg_class AS part LEFT JOIN pg_inherits ON inhrelid = part.oid
  LEFT JOIN pg_class AS whole ON whole.oid = inhparent
  WHERE part.relkind = 'r' AND part.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())
  GROUP BY 1 ORDER BY 2 DESC, 1"""
_DATABASE: Final = "SELECT pg_database_size(current_database())"
_MACHINES: Final = f"""SELECT id, name, writer, pid, {_STATE}, joined_at, ended_at, at, expires_at, live
  FROM machines JOIN heartbeats ON machine = id
  WHERE crawls = 1 AND ended_at IS NULL OR id IN (
    SELECT id FROM machines WHERE crawls = 1 AND ended_at IS NOT NULL ORDER BY ended_at DESC, id DESC LIMIT %(most)s)
  ORDER BY ended_at IS NOT NULL, CASE WHEN ended_at IS NULL THEN id ELSE -id END"""
_WORK: Final = """SELECT machine, name, value FROM totals
  WHERE machine = ANY(%s::bigint[]) AND name IN ('fetched', 'bytes')"""


@dataclass(frozen=True, slots=True)
class CrawlOverview:
    """A crawl as a whole. Times are Unix seconds by the clock of the database; its time now is `at`.

    `database` is the address, without a password. `machines` counts those of each state; `heartbeat_s` is the age of
    the oldest heartbeat of those that take part. `owned` and `free` count partitions. `ending_hosts` and `ending_urls`
    count what is leased by machines that are late or gone: another machine ends these leases as it takes the hosts
    over.
    `pages_per_s` is the sum of what machines that are alive report, over the last ten seconds; None: none reports.
    `database_bytes` is the size of the database, `tables` the sizes of the crawl's tables with their indexes, the
    largest first.
    """

    database: str
    format: int
    at: float
    begun_at: float
    is_finished: bool
    status: Status
    hosts_ready: int
    hosts_waiting: int
    hosts_leased: int
    machines: dict[MachineState, int]
    heartbeat_s: float | None
    owned: int
    free: int
    ending_hosts: int
    ending_urls: int
    pages_per_s: float | None
    database_bytes: int
    tables: dict[str, int]


def crawl_overview(dsn: str) -> CrawlOverview:
    """Returns the crawl in a database. Raises InputError if the address cannot be used or there is no crawl,
    StoreAwayError if the server does not answer, RunError for tables of another format."""
    with _reading(dsn) as connection:
        now, begun_at = _row(connection, _CRAWL)
        at = {"now": now}
        ledger = PostgresLedger(dsn, lambda: connection, "")
        counts = Counter[MachineState](dict(connection.execute(_COUNTS, at).fetchall()))
        present = connection.execute(_PRESENT, at).fetchall()
        alive = {machine: live for machine, state, _, live in present if state == "alive"}
        rates = [rate for live in alive.values() if (rate := _rate(live)) is not None]
        partitions = _counts(connection, _PARTITIONS)
        leases = _leases(connection)
        ending = [leased for machine, leased in leases.items() if machine not in alive]
        ready, waiting = _row(connection, _HOSTS, at)
        return CrawlOverview(
            database=shown(dsn),
            format=FORMAT,
            at=now,
            begun_at=begun_at,
            is_finished=ledger.is_finished(),
            status=ledger.status(),
            hosts_ready=ready,
            hosts_waiting=waiting,
            hosts_leased=sum(hosts for hosts, _ in leases.values()),
            machines={state: counts[state] for state in MACHINE_STATES},
            heartbeat_s=max((age for *_, age, _ in present), default=None),
            owned=sum(count for machine, count in partitions.items() if machine is not None),
            free=partitions.get(None, 0),
            ending_hosts=sum(hosts for hosts, _ in ending),
            ending_urls=sum(urls for _, urls in ending),
            pages_per_s=sum(rates) if rates else None,
            database_bytes=_row(connection, _DATABASE)[0],
            tables=dict(connection.execute(_SIZES).fetchall()),
        )


def machines_of(dsn: str, most_ended: int | None = LATEST_ENDED) -> tuple[float, list[MachineView]]:
    """Returns the time of the database, and the machines of the crawl in it: those that take part, in the order in
    which they joined, then up to `most_ended` that take part no more, the latest first; None: all. Raises as
    `crawl_overview`."""
    with _reading(dsn) as connection:
        return _machines(connection, most_ended)


def watched(dsn: str) -> tuple[Status, list[MachineView]]:
    """Returns the state of the crawl, and the machines that take part, for a program that asks every few seconds.
    Raises as `crawl_overview`, after `WATCH_CONNECT_S` if nothing answers."""
    with _reading(dsn, WATCH_CONNECT_S) as connection:
        status = PostgresLedger(dsn, lambda: connection, "").status()
        return status, _machines(connection, most_ended=0)[1]


def _machines(connection: PostgresConnection, most_ended: int | None) -> tuple[float, list[MachineView]]:
    (now,) = _row(connection, f"SELECT {NOW}")
    rows = connection.execute(_MACHINES, {"now": now, "most": most_ended}).fetchall()
    partitions, leases = _counts(connection, _PARTITIONS), _leases(connection)
    work = {(machine, name): value for machine, name, value in connection.execute(_WORK, ([row[0] for row in rows],))}
    return now, [_machine(row, now, partitions, leases, work) for row in rows]


def _machine(
    row: tuple[Any, ...],
    now: float,
    partitions: dict[int | None, int],
    leases: dict[int | None, tuple[int, int]],
    work: dict[tuple[int, str], int],
) -> MachineView:
    machine, name, writer, pid, state, joined_at, ended_at, at, expires_at, live = row
    leased_hosts, leased_urls = leases.get(machine, (0, 0))
    return MachineView(
        *(machine, name, writer, pid, state),
        since={"alive": joined_at, "late": max(expires_at, at)}.get(state, ended_at),
        joined_at=joined_at,
        ended_at=ended_at,
        heartbeat_s=now - at,
        partitions=partitions.get(machine, 0),
        leased_hosts=leased_hosts,
        leased_urls=leased_urls,
        pages=work.get((machine, "fetched"), 0),
        bytes=work.get((machine, "bytes"), 0),
        pages_per_s=_rate(live) if state == "alive" else None,
    )


@contextmanager
def _reading(dsn: str, wait_s: int = CONNECT_S) -> Iterator[PostgresConnection]:
    """Opens a database with a crawl, and runs one transaction that only reads."""
    with connect(dsn, "goodbot cluster", wait_s) as connection, translated(dsn):
        connection.execute(_SESSION)
        connection.read_only, connection.isolation_level = True, IsolationLevel.REPEATABLE_READ
        with connection.transaction():
            if not check_format(connection):
                raise InputError(f"there is no crawl in {shown(dsn)}; goodbot crawl --frontier begins one")
            yield connection


def _row(connection: PostgresConnection, query: str, values: dict[str, Any] | None = None) -> tuple[Any, ...]:
    row = connection.execute(query, values).fetchone()
    assert row is not None  # noqa: S101  (these queries always return a row)
    return row


def _counts(connection: PostgresConnection, query: str) -> dict[int | None, int]:
    return dict(connection.execute(query).fetchall())


def _leases(connection: PostgresConnection) -> dict[int | None, tuple[int, int]]:
    """Returns how many hosts and URLs each machine leases; under None those whose partition belongs to none."""
    return {machine: (hosts, urls) for machine, hosts, urls in connection.execute(_LEASES)}


def _rate(live: str) -> float | None:
    status = parse_live(live.encode())
    return None if status is None else status.rate
