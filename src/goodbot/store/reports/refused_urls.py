"""Lists the URLs that a crawl left out or gave up, with the reason for each. The work for one part of the list does not
grow with the crawl."""

import json
from collections.abc import Sequence
from typing import Any, Final

from goodbot.report_values import ERRORS_SHOWN, REFUSED_STATES, URLS_READ, Place, RefusedEntry, RefusedList
from goodbot.store.merge.coding import CODED, CODES, CODES_AGAIN, OUT_OF_SCOPE
from goodbot.store.reports.rows import Rows, UnreadableError, url_of
from goodbot.values import State

_CODES: Final = {state: tuple(n for n, coded in enumerate(CODED) if coded == state) for state in REFUSED_STATES}
_MOST: Final = (1 << 63) - 1
_HOST: Final = "SELECT id FROM hosts WHERE key = :key"
_BETWEEN: Final = "(urls.host, urls.hash) > (:host, :hash) AND (urls.host, urls.hash) <= (:last_host, :last_hash)"
_BOUND: Final = f"SELECT host, hash FROM urls WHERE {_BETWEEN} ORDER BY host, hash LIMIT 1 OFFSET :looked_at"
# `+state`: SQLite must not choose an index that has only URLs in some states, which is in another order.
_LISTED: Final = f"""SELECT urls.host, urls.hash, key, origin, path, state, refused, visits.at, status, why, events
  FROM urls CROSS JOIN hosts ON hosts.id = urls.host LEFT JOIN visits ON visits.seq = urls.seq
  WHERE {_BETWEEN} AND +state IN (%s) ORDER BY urls.host, urls.hash LIMIT :most"""
_ERRORS: Final = """SELECT key, origin, path, state, visits.at, status, why
  FROM (SELECT host, seq, state, path FROM urls
    WHERE host = (SELECT id FROM hosts WHERE key = :key) LIMIT :read) AS part
  CROSS JOIN visits ON visits.seq = part.seq CROSS JOIN hosts ON hosts.id = part.host
  WHERE state NOT IN (:disallowed, :disallowed_again, :out_of_scope) AND (status IS NULL OR status >= 400)
  ORDER BY visits.at DESC LIMIT :most"""


def list_refused(
    rows: Rows, most: int, states: Sequence[State], host: str | None, after: Place, looked_at: int
) -> RefusedList:
    """Returns up to `most` URLs in one of `states` after a place, of one host (`Url.host_key`) or of all, among the
    next `looked_at`."""
    bounds = _bounds(rows, host, after)
    if bounds is None:
        return RefusedList(())
    start, end = bounds
    places = {"host": start.host, "hash": start.hash, "last_host": end.host, "last_hash": end.hash}
    bound = rows.first(_BOUND, looked_at=looked_at - 1, **places)
    if bound is not None:
        places |= {"last_host": bound[0], "last_hash": bound[1]}
    codes = {f"state_{code}": code for state in states for code in _CODES[state]}
    query = _LISTED % ", ".join(f":{name}" for name in codes)
    found = rows.all(query, most=most + 1, **places, **codes)
    entries = tuple(_entry(row[2:]) for row in found[:most])
    if len(found) > most:
        return RefusedList(entries, Place(*found[most - 1][:2]))
    return RefusedList(entries, Place(*bound) if bound else None)


def _bounds(rows: Rows, host: str | None, after: Place) -> tuple[Place, Place] | None:
    """Returns the places that the list lies between; None if the host is unknown."""
    if host is None:
        return after, Place(_MOST, _MOST)
    row = rows.first(_HOST, key=host)
    return None if row is None else (max(after, Place(row[0] - 1, _MOST)), Place(row[0], _MOST))


def _entry(row: tuple[Any, ...]) -> RefusedEntry:
    host, origin, path, state, refused, at, status, why, events = row
    reason = refused if state == OUT_OF_SCOPE and refused is not None else why or ""
    line = decided_by(events)[1] if CODED[state] == "disallowed" else None
    return RefusedEntry(url_of(origin, path).text, host, CODED[state], reason, at, status, line)


def latest_errors(rows: Rows, host: str) -> tuple[RefusedEntry, ...]:
    """Returns the latest visits of a host that failed or got an error status, also of pages that will be tried again,
    among `URLS_READ` of its URLs."""
    found = rows.all(
        _ERRORS,
        key=host,
        read=URLS_READ,
        disallowed=CODES["disallowed"],
        disallowed_again=CODES_AGAIN["disallowed"],
        out_of_scope=OUT_OF_SCOPE,
        most=ERRORS_SHOWN,
    )
    return tuple(
        RefusedEntry(url_of(origin, path).text, key, CODED[state], why, at, status)
        for key, origin, path, state, at, status, why in found
    )


def decided_by(events: str | None) -> tuple[str, int | None]:
    """Returns the reason of the last decision about whether robots.txt permits a URL, and the line that decided. Raises
    UnreadableError if the events cannot be read."""
    try:
        decisions: list[Any] = [item for item in json.loads(events or "[]") if item[1] == "permission"]
        return (decisions[-1][3], decisions[-1][4]) if decisions else ("", None)
    except (ValueError, TypeError, LookupError) as error:
        raise UnreadableError("the decisions about a URL cannot be read") from error
