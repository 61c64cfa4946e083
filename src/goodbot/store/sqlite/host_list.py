"""Lists the hosts of a crawl for its operator. The work for one part of the list does not grow with the crawl."""

import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Final

from goodbot.report_values import HOSTS_LOOKED_AT, URLS_COUNTED, URLS_COUNTED_OF_ONE, HostEntry, HostList, RobotsState
from goodbot.store.merge.coding import CODED
from goodbot.store.sqlite.schema import connect, translated
from goodbot.url import authority_of
from goodbot.values import STATES, State

_BOUND: Final = "SELECT key FROM hosts WHERE key > ? ORDER BY key LIMIT 1 OFFSET ?"
_COLUMNS: Final = """id, key, origin, due, leased, forgotten.at
  FROM hosts LEFT JOIN forgotten ON forgotten.host = hosts.id"""
_LISTED: Final = f"""SELECT {_COLUMNS} WHERE key > :after AND (:until IS NULL OR key <= :until)
  AND (:name = '' OR instr(key, :name)) AND (:everything OR in_scope OR forgotten.at IS NOT NULL)
  ORDER BY key LIMIT :most"""
_ONE: Final = f"SELECT {_COLUMNS} WHERE key = ?"
_STATES: Final = "SELECT state, count(*) FROM (SELECT state FROM urls WHERE host = ? LIMIT ?) GROUP BY state"
_LEASED: Final = "SELECT count(*) FROM leased WHERE host = ?"
_ROBOTS: Final = """SELECT origin, result, status, failure, fetched_at, valid_until FROM robots
  WHERE origin IN (?, ?, ?) ORDER BY fetched_at DESC LIMIT 1"""


def list_hosts(
    frontier: Path,
    most: int,
    name: str = "",
    after: str = "",
    *,
    everything: bool = False,
    looked_at: int = HOSTS_LOOKED_AT,
) -> HostList:
    """Returns up to `most` hosts whose name contains `name` and is greater than `after`. `everything` includes hosts
    with nothing in scope. The crawl may be running."""
    with translated(frontier), closing(connect(frontier, read_only=True)) as connection:
        connection.execute("BEGIN")
        (until,) = connection.execute(_BOUND, (after, looked_at - 1)).fetchone() or (None,)
        values = {"name": name, "after": after, "until": until, "everything": everything, "most": most + 1}
        rows = connection.execute(_LISTED, values).fetchall()
        entries = tuple(_entry(connection, row, URLS_COUNTED) for row in rows[:most])
    return HostList(entries, rows[most - 1][1] if len(rows) > most else until)


def host_entry(connection: sqlite3.Connection, host: str, counted: int = URLS_COUNTED_OF_ONE) -> HostEntry | None:
    """Returns one host (`Url.host_key`), with up to `counted` of its URLs; None if it is unknown."""
    row = connection.execute(_ONE, (host,)).fetchone()
    return None if row is None else _entry(connection, row, counted)


def _entry(
    connection: sqlite3.Connection, row: tuple[int, str, str, float | None, int, float | None], most: int
) -> HostEntry:
    id_, host, origin, due, leased, forgotten_at = row
    states: Counter[State] = Counter()
    for code, count in connection.execute(_STATES, (id_, most + 1)):
        states[CODED[code]] += count
    (taken,) = connection.execute(_LEASED, (id_,)).fetchone()  # in `urls` these are ready
    counts = {**dict.fromkeys(STATES, 0), **states, "leased": taken, "ready": max(states["ready"] - taken, 0)}
    authority = authority_of(host)
    found = connection.execute(_ROBOTS, (origin, f"http://{authority}", f"https://{authority}")).fetchone()
    robots = None if found is None else RobotsState(*found)
    return HostEntry(host, counts, states.total() > most, due, bool(leased), forgotten_at, robots)
