"""Lists the URLs that a crawl left out or gave up, with the reason for each. The work for one part of the list does not
grow with the crawl."""

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from goodbot.report_values import REFUSED_STATES, START, URLS_LOOKED_AT, Place, RefusedEntry, RefusedList
from goodbot.store.merge.coding import CODED, OUT_OF_SCOPE
from goodbot.store.sqlite.schema import connect, translated, url_of
from goodbot.values import State

_CODES: Final = {state: tuple(n for n, coded in enumerate(CODED) if coded == state) for state in REFUSED_STATES}
_LEAST: Final = -(1 << 63)
_MOST: Final = (1 << 63) - 1
_HOST: Final = "SELECT id FROM hosts WHERE key = ?"
_BOUND: Final = """SELECT host, hash FROM urls WHERE (host, hash) > (?, ?) AND (host, hash) <= (?, ?)
  ORDER BY host, hash LIMIT 1 OFFSET ?"""
# `+state`: SQLite must not choose an index that has only URLs in some states, which is in another order.
_LISTED: Final = """SELECT urls.host, urls.hash, key, origin, path, state, refused, visits.at, status, why, events
  FROM urls CROSS JOIN hosts ON hosts.id = urls.host LEFT JOIN visits ON visits.seq = urls.seq
  WHERE (urls.host, urls.hash) > (?, ?) AND (urls.host, urls.hash) <= (?, ?) AND +state IN (%s)
  ORDER BY urls.host, urls.hash LIMIT ?"""


def list_refused(
    frontier: Path,
    most: int,
    states: Sequence[State] = REFUSED_STATES,
    host: str | None = None,
    after: Place = START,
    looked_at: int = URLS_LOOKED_AT,
) -> RefusedList:
    """Returns up to `most` URLs in one of `states` after a place, of one host (`Url.host_key`) or of all. The crawl may
    be running."""
    with translated(frontier), closing(connect(frontier, read_only=True)) as connection:
        connection.execute("BEGIN")
        bounds = _bounds(connection, host, after)
        if bounds is None:
            return RefusedList(())
        start, end = bounds
        bound = connection.execute(_BOUND, (*start, *end, looked_at - 1)).fetchone()
        codes = [code for state in states for code in _CODES[state]]
        query = _LISTED % ", ".join("?" * len(codes))
        rows = connection.execute(query, (*start, *(bound or end), *codes, most + 1)).fetchall()
        entries = tuple(_entry(row[2:]) for row in rows[:most])
    if len(rows) > most:
        return RefusedList(entries, Place(*rows[most - 1][:2]))
    return RefusedList(entries, Place(*bound) if bound else None)


def _bounds(connection: sqlite3.Connection, host: str | None, after: Place) -> tuple[Place, Place] | None:
    """Returns the places that the list lies between; None if the host is unknown."""
    if host is None:
        return after, Place(_MOST, _MOST)
    row = connection.execute(_HOST, (host,)).fetchone()
    return None if row is None else (max(after, Place(row[0] - 1, _MOST)), Place(row[0], _MOST))


def _entry(row: tuple[Any, ...]) -> RefusedEntry:
    host, origin, path, state, refused, at, status, why, events = row
    reason = refused if state == OUT_OF_SCOPE and refused is not None else why or ""
    line = decided_by(events)[1] if CODED[state] == "disallowed" else None
    return RefusedEntry(url_of(origin, path).text, host, CODED[state], reason, at, status, line)


def decided_by(events: str | None) -> tuple[str, int | None]:
    """Returns the reason of the last decision about whether robots.txt permits a URL, and the line that decided. Raises
    sqlite3.DatabaseError if the events cannot be read: that is damage."""
    try:
        decisions: list[Any] = [item for item in json.loads(events or "[]") if item[1] == "permission"]
        return (decisions[-1][3], decisions[-1][4]) if decisions else ("", None)
    except (ValueError, TypeError, LookupError) as error:
        raise sqlite3.DatabaseError("the decisions about a URL cannot be read") from error
