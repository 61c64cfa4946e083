"""Reports to a site's owner what each host asked of the robot, and what the robot did."""

import sqlite3
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

from goodbot.exclusion.robotstxt.timing import Timing
from goodbot.live import Courtesy
from goodbot.report_values import (
    LESSONS_SHOWN,
    ORIGINS_SHOWN,
    REFUSED_SHOWN,
    WALLED_SHOWN,
    CourtesyTotals,
    HostReport,
    OriginReport,
    RefusedUrl,
    WalledUrls,
)
from goodbot.store.merge.coding import CODES, CODES_AGAIN, LATER
from goodbot.store.sqlite.courtesy_table import load_courtesies, load_versions
from goodbot.store.sqlite.lesson_table import load_lessons
from goodbot.store.sqlite.refused_urls import decided_by
from goodbot.store.sqlite.robots_table import load_access
from goodbot.store.sqlite.schema import connect, translated, url_of
from goodbot.url import authority_of, parse_url
from goodbot.values import WALLED

_ORIGINS: Final = """
SELECT origin FROM robots_versions WHERE origin IN (:http, :https) OR origin BETWEEN :http || ':' AND :http || ';'
  OR origin BETWEEN :https || ':' AND :https || ';' GROUP BY origin ORDER BY max(last_at) DESC LIMIT :most"""
_PORTS: Final = (("http", ":80"), ("https", ":443"))
_SOME: Final = "(SELECT host, seq, state, path FROM urls WHERE host = ? LIMIT ?) AS some"
_REFUSED: Final = f"""SELECT origin, path, visits.at, events FROM {_SOME} CROSS JOIN hosts ON hosts.id = some.host
  LEFT JOIN visits ON visits.seq = some.seq WHERE state IN (?, ?)"""  # noqa: S608 - a text of ours
_WALLED: Final = f"""SELECT origin, path, why FROM {_SOME} CROSS JOIN hosts ON hosts.id = some.host
  JOIN visits ON visits.seq = some.seq WHERE state IN (?, ?, ?) AND substr(why, 1, ?) = ?"""  # noqa: S608 - as above
_MORE: Final = "SELECT 1 FROM urls WHERE host = ? LIMIT 1 OFFSET ?"
_ALL: Final = -1
"""Reads all URLs of a host."""
_TOTALS: Final = """SELECT count(nullif(requests, 0)), total(requests), total(robots_txt), total(sooner), total(inside),
  total(status_429), total(status_503), total(waited_s), total(requests > 0 AND requests = robots_txt)
  FROM courtesies"""
_TOTALS_OF_HOST: Final = f"{_TOTALS} WHERE host = ?"
_HOSTS: Final = """SELECT host FROM courtesies UNION
  SELECT key FROM forgotten JOIN hosts ON hosts.id = forgotten.host ORDER BY 1"""
_NEXT_HOSTS: Final = """SELECT host FROM courtesies WHERE host > :after UNION
  SELECT key FROM forgotten JOIN hosts ON hosts.id = forgotten.host WHERE key > :after ORDER BY 1 LIMIT :most"""


def courtesy_totals(frontier: Path, host: str | None = None) -> CourtesyTotals:
    """Adds up the requests to all hosts, or to `host` alone; `hosts` counts those that got any. The crawl may be
    running."""
    with translated(frontier), closing(connect(frontier, read_only=True)) as connection:
        query, values = (_TOTALS, ()) if host is None else (_TOTALS_OF_HOST, (host,))
        row = connection.execute(query, values).fetchone()
    hosts, requests, robots_txt, sooner, inside, status_429, status_503 = map(int, row[:-2])
    return CourtesyTotals(hosts, requests, robots_txt, sooner, inside, status_429, status_503, row[-2], int(row[-1]))


def host_names(frontier: Path) -> list[str]:
    """Returns the hosts that `host_reports` reports on, in its order."""
    with translated(frontier), closing(connect(frontier, read_only=True)) as connection:
        return [name for (name,) in connection.execute(_HOSTS)]


def host_reports(frontier: Path, token: str, host: str | None = None) -> Iterator[HostReport]:
    """Yields a report for every host that received requests or is forgotten, by name; with `host` only for that one, or
    none if it is unknown. One host is in memory at a time; the crawl may be running."""
    with translated(frontier), closing(connect(frontier, read_only=True)) as connection:
        connection.execute("BEGIN")
        hosts = [host] if host is not None else [row[0] for row in connection.execute(_HOSTS)]
        for name in hosts:
            report = report_on(connection, token, name)
            if report is not None:
                yield report


def some_reports(
    frontier: Path, token: str, most: int, after: str, urls_read: int
) -> tuple[tuple[HostReport, ...], str | None]:
    """Returns up to `most` of the same reports, of hosts after the name `after`, and the name after which the next ones
    begin (None: there are none). Reads up to `urls_read` URLs of each host, so the work does not grow with the
    crawl."""
    with translated(frontier), closing(connect(frontier, read_only=True)) as connection:
        connection.execute("BEGIN")
        names = [name for (name,) in connection.execute(_NEXT_HOSTS, {"after": after, "most": most + 1})]
        found = [report_on(connection, token, name, urls_read) for name in names[:most]]
    return tuple(report for report in found if report is not None), names[most - 1] if len(names) > most else None


def report_on(connection: sqlite3.Connection, token: str, host: str, urls_read: int = _ALL) -> HostReport | None:
    """Returns the report on one host; None if nothing is known of it."""
    done = load_courtesies(connection, [host]).get(host)
    row = connection.execute(
        "SELECT id, forgotten.at FROM hosts LEFT JOIN forgotten ON forgotten.host = hosts.id WHERE key = ?", (host,)
    ).fetchone()
    if done is None and row is None:
        return None
    now = time.time()
    origins = tuple(_origin(connection, token, origin, now) for origin in _origins(connection, host))
    lessons = tuple(lesson for lesson in load_lessons(connection, [host]) if not lesson.lapsed)[-LESSONS_SHOWN:]
    if row is None:
        return HostReport(host, done or Courtesy(host), origins, 0, (), None, lessons)
    refused, some = _refused(connection, row[0], urls_read)
    walls = _walls(connection, row[0], urls_read)
    is_partial = urls_read >= 0 and connection.execute(_MORE, (row[0], urls_read)).fetchone() is not None
    return HostReport(host, done or Courtesy(host), origins, refused, some, row[1], lessons, walls, is_partial)


def _origins(connection: sqlite3.Connection, host: str) -> list[str]:
    """Returns the origins whose robots.txt was requested. Checks each, because a name with a port may be another
    host."""
    authority = authority_of(host)
    named = {scheme: f"{scheme}://{authority.removesuffix(port)}" for scheme, port in _PORTS}
    rows = connection.execute(_ORIGINS, {**named, "most": 4 * ORIGINS_SHOWN})
    found = ((origin, parse_url(f"{origin}/")) for (origin,) in rows)
    return [origin for origin, url in found if url is not None and url.host_key == host][:ORIGINS_SHOWN]


def _origin(connection: sqlite3.Connection, token: str, origin: str, now: float) -> OriginReport:
    access = load_access(connection, origin)
    timing = access.rules.timing(token) if access is not None else Timing()
    return OriginReport(origin, access, timing, timing.at(now).gap_s, load_versions(connection, origin))


def _refused(connection: sqlite3.Connection, host: int, urls_read: int) -> tuple[int, tuple[RefusedUrl, ...]]:
    count, some = 0, []
    for row in connection.execute(_REFUSED, (host, urls_read, CODES["disallowed"], CODES_AGAIN["disallowed"])):
        count += 1
        if count <= REFUSED_SHOWN:
            some.append(_refused_url(*row))
    return count, tuple(sorted(some, key=lambda item: item.url))


def _refused_url(origin: str, path: str, at: float | None, events: str | None) -> RefusedUrl:
    reason, line = decided_by(events)
    return RefusedUrl(url_of(origin, path).text, at, line, reason)


def _walls(connection: sqlite3.Connection, host: int, urls_read: int) -> tuple[WalledUrls, ...]:
    """Counts pages that failed, pages that will be tried again, and pages whose last copy is kept."""
    counts, some = Counter[str](), defaultdict[str, list[str]](list)
    states = CODES["failed"], LATER, CODES_AGAIN["visited"]
    for origin, path, why in connection.execute(_WALLED, (host, urls_read, *states, len(WALLED), WALLED)):
        wall = why.removeprefix(WALLED).partition(" (status ")[0]
        counts[wall] += 1
        if counts[wall] <= WALLED_SHOWN:
            some[wall].append(url_of(origin, path).text)
    return tuple(WalledUrls(wall, counts[wall], tuple(sorted(some[wall]))) for wall in sorted(counts))
