"""Reports to a site's owner what each host asked of the robot, and what the robot did."""

import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Final, Protocol

from goodbot.exclusion import Access
from goodbot.exclusion.robotstxt.timing import Timing
from goodbot.lesson_values import Lesson
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
    RobotsVersion,
    WalledUrls,
)
from goodbot.store.merge.coding import CODES, CODES_AGAIN, LATER
from goodbot.store.reports.refused_urls import decided_by
from goodbot.store.reports.rows import EVERYTHING, Rows, url_of
from goodbot.url import authority_of, parse_url
from goodbot.values import WALLED

_ORIGINS: Final = """
SELECT origin FROM robots_versions WHERE origin IN (:http, :https) OR origin BETWEEN :http_first AND :http_last
  OR origin BETWEEN :https_first AND :https_last GROUP BY origin ORDER BY max(last_at) DESC LIMIT :most"""
_PORTS: Final = (("http", ":80"), ("https", ":443"))
_VERSIONS: Final = f"""SELECT {", ".join(RobotsVersion._fields)} FROM robots_versions WHERE origin = :origin
  ORDER BY first_at DESC"""
_HOST: Final = "SELECT id, forgotten.at FROM hosts LEFT JOIN forgotten ON forgotten.host = hosts.id WHERE key = :key"
_PART: Final = "(SELECT host, hash, seq, state, path FROM urls WHERE host = :host ORDER BY hash LIMIT :read) AS part"
_REFUSED_COUNT: Final = f"SELECT count(*) FROM {_PART} WHERE state IN (:disallowed, :again)"
_REFUSED: Final = f"""SELECT origin, path, visits.at, events FROM {_PART} CROSS JOIN hosts ON hosts.id = part.host
  LEFT JOIN visits ON visits.seq = part.seq WHERE state IN (:disallowed, :again)
  ORDER BY hash LIMIT :most"""
_WALLED: Final = f"""SELECT origin, path, why, of_wall FROM (
    SELECT host, hash, path, why, count(*) OVER (PARTITION BY why) AS of_wall,
      row_number() OVER (PARTITION BY why ORDER BY hash) AS place
    FROM {_PART} CROSS JOIN visits ON visits.seq = part.seq
    WHERE state IN (:failed, :later, :again) AND substr(why, 1, :length) = :walled) AS walled
  CROSS JOIN hosts ON hosts.id = walled.host WHERE place <= :most ORDER BY hash"""
_MORE: Final = "SELECT 1 FROM urls WHERE host = :host LIMIT 1 OFFSET :read"
_TOTALS: Final = """SELECT count(nullif(requests, 0)), coalesce(sum(requests), 0), coalesce(sum(robots_txt), 0),
  coalesce(sum(sooner), 0), coalesce(sum(inside), 0), coalesce(sum(status_429), 0), coalesce(sum(status_503), 0),
  coalesce(sum(waited_s), 0.0), count(CASE WHEN requests > 0 AND requests = robots_txt THEN 1 END)
  FROM courtesies"""
_TOTALS_OF_HOST: Final = f"{_TOTALS} WHERE host = :host"
_FORGOTTEN: Final = "SELECT key FROM forgotten JOIN hosts ON hosts.id = forgotten.host"
_HOSTS: Final = f"SELECT host FROM courtesies UNION {_FORGOTTEN} ORDER BY 1"
_NEXT_HOSTS: Final = f"""SELECT host FROM (
    SELECT host FROM courtesies WHERE host > :after ORDER BY host LIMIT :most) AS requested
  UNION SELECT key FROM ({_FORGOTTEN} WHERE key > :after ORDER BY key LIMIT :most) AS barred
  ORDER BY 1 LIMIT :most"""


class HostKnowledge(Protocol):
    """What a store knows of hosts."""

    def load_robots(self, origin: str) -> Access | None: ...

    def load_lessons(self, hosts: Iterable[str]) -> list[Lesson]: ...

    def load_courtesies(self, hosts: Iterable[str]) -> dict[str, Courtesy]: ...


def courtesy_totals(rows: Rows, host: str | None) -> CourtesyTotals:
    """Adds up the requests to all hosts, or to `host` alone; `hosts` counts those that got any."""
    found = rows.all(_TOTALS) if host is None else rows.all(_TOTALS_OF_HOST, host=host)
    *counts, waited_s, robots_txt_only = found[0]
    hosts, requests, robots_txt, sooner, inside, status_429, status_503 = map(int, counts)
    return CourtesyTotals(
        hosts, requests, robots_txt, sooner, inside, status_429, status_503, float(waited_s), robots_txt_only
    )


def courtesy_hosts(rows: Rows) -> list[str]:
    """Returns the hosts that received requests or are forgotten, by name."""
    return [name for (name,) in rows.all(_HOSTS)]


def next_hosts(rows: Rows, after: str, most: int) -> list[str]:
    """Returns the first `most` of the same hosts after a name."""
    return [name for (name,) in rows.all(_NEXT_HOSTS, after=after, most=most)]


def report_on(store: HostKnowledge, rows: Rows, token: str, host: str, urls_read: int | None) -> HostReport | None:
    """Returns the report on one host; None if nothing is known of it. Reads up to `urls_read` of its URLs (None: all).
    `token` is the product token of the robot."""
    done = store.load_courtesies([host]).get(host)
    row = rows.first(_HOST, key=host)
    if done is None and row is None:
        return None
    now = time.time()
    origins = tuple(_origin(store, rows, token, origin, now) for origin in _origins(rows, host))
    lessons = tuple(lesson for lesson in store.load_lessons([host]) if not lesson.lapsed)[-LESSONS_SHOWN:]
    if row is None:
        return HostReport(host, done or Courtesy(host), origins, 0, (), None, lessons)
    read = EVERYTHING if urls_read is None else urls_read
    refused, some = _refused(rows, row[0], read)
    walls = _walls(rows, row[0], read)
    is_partial = urls_read is not None and rows.first(_MORE, host=row[0], read=urls_read) is not None
    return HostReport(host, done or Courtesy(host), origins, refused, some, row[1], lessons, walls, is_partial)


def _origins(rows: Rows, host: str) -> list[str]:
    """Returns the origins whose robots.txt was requested. Checks each, because a name with a port may be another
    host."""
    authority = authority_of(host)
    names: dict[str, str] = {}
    for scheme, port in _PORTS:
        name = f"{scheme}://{authority.removesuffix(port)}"
        names |= {scheme: name, f"{scheme}_first": f"{name}:", f"{scheme}_last": f"{name};"}  # `;` follows `:` in ASCII
    found = ((origin, parse_url(f"{origin}/")) for (origin,) in rows.all(_ORIGINS, most=4 * ORIGINS_SHOWN, **names))
    return [origin for origin, url in found if url is not None and url.host_key == host][:ORIGINS_SHOWN]


def _origin(store: HostKnowledge, rows: Rows, token: str, origin: str, now: float) -> OriginReport:
    access = store.load_robots(origin)
    timing = access.rules.timing(token) if access is not None else Timing()
    versions = tuple(RobotsVersion(*row) for row in rows.all(_VERSIONS, origin=origin))
    return OriginReport(origin, access, timing, timing.at(now).gap_s, versions)


def _refused(rows: Rows, host: int, read: int) -> tuple[int, tuple[RefusedUrl, ...]]:
    values = {"host": host, "read": read, "disallowed": CODES["disallowed"], "again": CODES_AGAIN["disallowed"]}
    (count,) = rows.first(_REFUSED_COUNT, **values) or (0,)
    some = [_refused_url(*row) for row in rows.all(_REFUSED, most=REFUSED_SHOWN, **values)] if count else []
    return count, tuple(sorted(some, key=lambda item: item.url))


def _refused_url(origin: str, path: str, at: float | None, events: str | None) -> RefusedUrl:
    reason, line = decided_by(events)
    return RefusedUrl(url_of(origin, path).text, at, line, reason)


def _walls(rows: Rows, host: int, read: int) -> tuple[WalledUrls, ...]:
    """Counts pages that failed, pages that will be tried again, and pages whose last copy is kept. The status of the
    answers does not distinguish walls."""
    found = rows.all(
        _WALLED,
        host=host,
        read=read,
        failed=CODES["failed"],
        later=LATER,
        again=CODES_AGAIN["visited"],
        length=len(WALLED),
        walled=WALLED,
        most=WALLED_SHOWN,
    )
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    some = defaultdict[str, list[str]](list)
    for origin, path, why, pages in found:
        wall = why.removeprefix(WALLED).partition(" (status ")[0]
        counts[wall][why] = pages
        some[wall].append(url_of(origin, path).text)
    return tuple(
        WalledUrls(wall, counts[wall].total(), tuple(sorted(some[wall][:WALLED_SHOWN]))) for wall in sorted(counts)
    )
