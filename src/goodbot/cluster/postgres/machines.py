"""The machines of a crawl, in its database: they join, show that they are alive, share the partitions, and leave.

A machine may send requests until its last heartbeat expires. It measures that time itself, from before it sent the
heartbeat. Another machine counts it as gone after it has seen no new heartbeat for longer than that, by its own clock:
so nobody is counted as gone because a clock was set. Then it takes the partitions over: that ends the leases of their
hosts, and changes their tokens, so whatever the first machine still settles is rejected.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from math import inf
from typing import Final, NamedTuple

from goodbot.clock import SharedClock, passed_s
from goodbot.cluster.postgres.connection import PostgresConnection
from goodbot.partitions import owners_of_partitions
from goodbot.robot.fetch.standing import Standing

EXPIRES_S: Final = 30.0
"""How long a heartbeat is valid. If a machine dies, its hosts get no requests for this long."""
BEAT_S: Final = 5.0
"""The time between two heartbeats."""
GRACE_S: Final = 2.0
"""How long after a heartbeat has expired the others wait before they count the machine as gone."""
READINGS: Final = 5
"""How many times the clock of the database is read at the start; the reading that took the shortest time counts."""
BLIND_S: Final = 4 * BEAT_S
"""See `LastHeartbeats.silent`."""
MAX_TAKEN: Final = 256
"""Partitions that a machine takes over in one transaction."""

GONE: Final = -1
"""The value of `expires_at` for a machine that others have counted as gone."""

NOW: Final = "extract(epoch FROM clock_timestamp())::float8"
"""The time of the database, as SQL."""

_JOIN: Final = f"""INSERT INTO machines (writer, name, pid, joined_at) VALUES (%s, %s, %s, {NOW}) RETURNING id"""
_FIRST_BEAT: Final = (
    f"INSERT INTO heartbeats (machine, at, expires_at) SELECT %s, now, now + %s FROM (SELECT {NOW} AS now) AS it"
)
_BEAT: Final = f"""UPDATE heartbeats SET at = now, expires_at = now + %(valid)s, live = %(live)s
  FROM (SELECT {NOW} AS now) AS it
  WHERE machine = %(machine)s AND expires_at <> {GONE} RETURNING now"""
_END: Final = f"UPDATE machines SET ended_at = {NOW} WHERE id = %s AND ended_at IS NULL"
_OTHERS: Final = """SELECT id, at, writer FROM machines JOIN heartbeats ON machine = id
  WHERE ended_at IS NULL AND id <> %s ORDER BY id"""
# A heartbeat that comes at the same time either changes `at` first, or finds that the machine is gone.
_NO_MORE: Final = f"""UPDATE heartbeats SET expires_at = {GONE}
  FROM unnest(%s::bigint[], %s::float8[]) AS seen (id, seen_at) WHERE machine = seen.id AND at = seen.seen_at
  RETURNING machine"""
_END_GONE: Final = f"""UPDATE machines SET ended_at = {NOW} WHERE id IN (
    SELECT id FROM machines WHERE id = ANY(%s::bigint[]) AND ended_at IS NULL ORDER BY id FOR UPDATE SKIP LOCKED)
  RETURNING id, name"""
_SHUT_OUT: Final = f"""UPDATE heartbeats SET expires_at = {GONE} FROM machines WHERE machines.id = machine
  AND ended_at IS NULL AND crawls = 1 AND writer <> %s AND expires_at <= {NOW}"""
_TWIN: Final = f"""SELECT name, pid FROM machines JOIN heartbeats ON machine = id
  WHERE writer = %s AND id <> %s AND crawls = 1 AND ended_at IS NULL AND expires_at > {NOW} ORDER BY id LIMIT 1"""
_CRAWLS: Final = "UPDATE machines SET crawls = 1 WHERE id = %s"
_PRESENT: Final = "SELECT id FROM machines WHERE ended_at IS NULL AND (crawls = 1 OR id = %s) ORDER BY id"
_OWN: Final = "SELECT number FROM partitions WHERE machine = %s ORDER BY number"
_FREE: Final = """SELECT number FROM partitions WHERE number = ANY(%s::smallint[])
  AND (machine IS NULL OR machine IN (SELECT id FROM machines WHERE ended_at IS NOT NULL))
  ORDER BY number LIMIT %s FOR UPDATE SKIP LOCKED"""
_END_LEASES: Final = """DELETE FROM leased WHERE host IN (
  SELECT id FROM hosts WHERE partition = ANY(%s::smallint[]) AND leased = 1)"""
_CUT_HOSTS: Final = f"""UPDATE hosts SET leased = 0, token = token + 1, cut_at = {NOW} WHERE id IN (
    SELECT id FROM hosts WHERE partition = ANY(%s::smallint[]) AND leased = 1 ORDER BY id FOR UPDATE)
  RETURNING id"""
_TAKE: Final = "UPDATE partitions SET machine = %s WHERE number = ANY(%s::smallint[])"
_BUSY: Final = "SELECT DISTINCT partition FROM hosts WHERE partition = ANY(%s::smallint[]) AND leased = 1"
_GIVE: Final = "UPDATE partitions SET machine = NULL WHERE number = ANY(%s::smallint[]) AND machine = %s"
_GIVE_ALL: Final = "UPDATE partitions SET machine = NULL WHERE machine = %s"


class Identity(NamedTuple):
    """Who joins. `writer` identifies the folder, `name` is shown to people."""

    writer: str
    name: str
    pid: int


def join(connection: PostgresConnection, identity: Identity, clock: SharedClock, standing: Standing) -> int:
    """Adds a machine; returns its number. Sets its clock to that of the database, and its standing."""
    asked_at = passed_s()
    with connection.transaction():
        (machine,) = connection.execute(_JOIN, identity).fetchone() or (0,)
        connection.execute(_FIRST_BEAT, (machine, EXPIRES_S))
    standing.until = asked_at + EXPIRES_S
    clock.set(*min((_reading(connection) for _ in range(READINGS)), key=lambda reading: reading[2] - reading[1]))
    return int(machine)


def _reading(connection: PostgresConnection) -> tuple[float, float, float]:
    """Returns the time of the database, when it was asked for, and when the answer came."""
    asked_at = passed_s()
    (now,) = connection.execute(f"SELECT {NOW}").fetchone() or (0.0,)
    return now, asked_at, passed_s()


def begin_to_crawl(connection: PostgresConnection, machine: int) -> None:
    """From now on the machine gets a share of the hosts."""
    connection.execute(_CRAWLS, (machine,))


def beat(connection: PostgresConnection, machine: int, clock: SharedClock, standing: Standing, live: str) -> bool:
    """Writes a heartbeat with the live status (JSON), extends the standing and compares the clocks. Returns False if
    the machine was counted as gone."""
    asked_at = passed_s()
    row = connection.execute(_BEAT, {"valid": EXPIRES_S, "live": live, "machine": machine}).fetchone()
    if row is None:
        return False
    clock.compare(row[0], asked_at, passed_s())
    standing.until = asked_at + EXPIRES_S
    return True


class LastHeartbeats:
    """When this machine saw the last new heartbeat of each of the others."""

    def __init__(self, passed: Callable[[], float] = passed_s) -> None:
        self._passed = passed
        self._looked_at = -inf
        self._seen: dict[int, tuple[float, float]] = {}

    def silent(self, heartbeats: Mapping[int, float]) -> list[int]:
        """Takes the times of the last heartbeats, by machine. Returns the machines whose heartbeat has not changed for
        too long. If this machine could not look for `BLIND_S`, it begins anew: the others may have been cut off from
        the database as well."""
        now = self._passed()
        before, self._seen = self._seen if now - self._looked_at < BLIND_S else {}, {}
        self._looked_at = now
        for machine, at in heartbeats.items():
            known = before.get(machine)
            self._seen[machine] = known if known is not None and known[0] == at else (at, now)
        return [machine for machine, (_, since) in self._seen.items() if now - since > EXPIRES_S + GRACE_S]


def end_silent(connection: PostgresConnection, machine: int, writer: str, last: LastHeartbeats) -> list[str]:
    """Counts machines as gone that have been silent for too long, and earlier ones of the same folder, whose lock this
    machine holds now. Returns the names of the former. Part of a transaction."""
    others = connection.execute(_OTHERS, (machine,)).fetchall()
    heartbeats = {id_: at for id_, at, _ in others}
    earlier = {id_ for id_, _, of in others if of == writer}
    gone = sorted({*last.silent(heartbeats), *earlier})
    if not gone:
        return []
    ended = [id_ for (id_,) in connection.execute(_NO_MORE, (gone, [heartbeats[id_] for id_ in gone]))]
    return [name for id_, name in connection.execute(_END_GONE, (ended,)).fetchall() if id_ not in earlier]


def shut_out(connection: PostgresConnection, writer: str) -> None:
    """Makes machines of other folders whose heartbeat has expired join anew before they go on. Their hosts are taken
    over as ever: when they have been silent for long enough by the clock of another machine."""
    connection.execute(_SHUT_OUT, (writer,))


def twin(connection: PostgresConnection, machine: int, writer: str) -> tuple[str, int] | None:
    """Returns name and process of another machine with the same folder whose heartbeat is valid: it was killed within
    the last `EXPIRES_S`, or one of the folders is a copy."""
    row = connection.execute(_TWIN, (writer, machine)).fetchone()
    return None if row is None else (row[0], row[1])


def end(connection: PostgresConnection, machine: int) -> None:
    """Ends the participation of a machine that holds no leases."""
    with connection.transaction():
        connection.execute(_GIVE_ALL, (machine,))
        connection.execute(_END, (machine,))


def own_partitions(connection: PostgresConnection, machine: int) -> list[int]:
    """Returns the partitions of a machine."""
    return [number for (number,) in connection.execute(_OWN, (machine,))]


def share_of(connection: PostgresConnection, machine: int) -> frozenset[int]:
    """Returns the partitions that a machine should have, if all that take part now stay."""
    present = tuple(id_ for (id_,) in connection.execute(_PRESENT, (machine,)))
    return frozenset(number for number, owner in enumerate(owners_of_partitions(present)) if owner == machine)


def take_free(
    connection: PostgresConnection, machine: int, numbers: Collection[int]
) -> tuple[list[int], list[int], int]:
    """Takes up to `MAX_TAKEN` of these partitions, if they belong to no machine, and ends the leases of their hosts:
    those of a machine that is gone. Returns the partitions, the hosts that were leased, and how many URLs were. Part of
    a transaction."""
    found = connection.execute(_FREE, (list(numbers), MAX_TAKEN)).fetchall()
    numbers = [number for (number,) in found]
    if not numbers:
        return [], [], 0
    urls = connection.execute(_END_LEASES, (numbers,)).rowcount
    hosts = [host for (host,) in connection.execute(_CUT_HOSTS, (numbers,)).fetchall()]
    connection.execute(_TAKE, (machine, numbers))
    return numbers, hosts, urls


def give_up(connection: PostgresConnection, machine: int, numbers: Sequence[int]) -> list[int]:
    """Gives up those partitions of which no host is leased; returns them. Part of a transaction, and only for the
    connection that leases hosts."""
    busy = {number for (number,) in connection.execute(_BUSY, (list(numbers),))}
    free = [number for number in numbers if number not in busy]
    connection.execute(_GIVE, (free, machine))
    return free
