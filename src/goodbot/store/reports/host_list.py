"""Lists the hosts of a crawl for its operator. The work for one part of the list does not grow with the crawl."""

from collections import Counter
from typing import Any, Final

from goodbot.report_values import URLS_COUNTED, URLS_COUNTED_OF_ONE, HostEntry, HostList, RobotsState
from goodbot.store.merge.coding import CODED
from goodbot.store.reports.rows import Rows
from goodbot.url import authority_of
from goodbot.values import STATES, State

_BOUND: Final = "SELECT key FROM hosts WHERE key > :after ORDER BY key LIMIT 1 OFFSET :looked_at"
_COLUMNS: Final = """id, key, origin, due, leased, forgotten.at
  FROM hosts LEFT JOIN forgotten ON forgotten.host = hosts.id"""
_LISTED: Final = f"""SELECT {_COLUMNS} WHERE key > :after AND (CAST(:until AS text) IS NULL OR key <= :until)
  AND (:name = '' OR instr(key, :name) > 0) AND (:everything = 1 OR in_scope = 1 OR forgotten.at IS NOT NULL)
  ORDER BY key LIMIT :most"""
_ONE: Final = f"SELECT {_COLUMNS} WHERE key = :key"
_STATES: Final = """SELECT state, count(*) FROM (SELECT state FROM urls WHERE host = :host LIMIT :most) AS part
  GROUP BY state"""
_LEASED: Final = "SELECT count(*) FROM leased WHERE host = :host"
_ROBOTS: Final = """SELECT origin, result, status, failure, fetched_at, valid_until FROM robots
  WHERE origin IN (:origin, :http, :https) ORDER BY fetched_at DESC LIMIT 1"""


def list_hosts(rows: Rows, most: int, name: str, after: str, looked_at: int, *, everything: bool) -> HostList:
    """Returns up to `most` hosts whose name contains `name` and is greater than `after`, among the next `looked_at`.
    `everything` includes hosts with nothing in scope."""
    (until,) = rows.first(_BOUND, after=after, looked_at=looked_at - 1) or (None,)
    found = rows.all(_LISTED, name=name, after=after, until=until, everything=int(everything), most=most + 1)
    entries = tuple(_entry(rows, row, URLS_COUNTED) for row in found[:most])
    return HostList(entries, found[most - 1][1] if len(found) > most else until)


def host_entry(rows: Rows, host: str, counted: int = URLS_COUNTED_OF_ONE) -> HostEntry | None:
    """Returns one host (`Url.host_key`), with up to `counted` of its URLs; None if it is unknown."""
    row = rows.first(_ONE, key=host)
    return None if row is None else _entry(rows, row, counted)


def _entry(rows: Rows, row: tuple[Any, ...], most: int) -> HostEntry:
    id_, host, origin, due, leased, forgotten_at = row
    states: Counter[State] = Counter()
    for code, count in rows.all(_STATES, host=id_, most=most + 1):
        states[CODED[code]] += count
    (taken,) = rows.first(_LEASED, host=id_) or (0,)  # in `urls` these are ready
    counts = {**dict.fromkeys(STATES, 0), **states, "leased": taken, "ready": max(states["ready"] - taken, 0)}
    authority = authority_of(host)
    found = rows.first(_ROBOTS, origin=origin, http=f"http://{authority}", https=f"https://{authority}")
    robots = None if found is None else RobotsState(*found)
    return HostEntry(host, counts, states.total() > most, due, bool(leased), forgotten_at, robots)
