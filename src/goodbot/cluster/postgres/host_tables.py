"""Reads and writes what travels with hosts: robots.txt files, the record of requests, lessons."""

from collections.abc import Callable, Iterable
from dataclasses import fields
from hashlib import sha256
from typing import Any, Final

from goodbot.cluster.postgres.connection import PostgresConnection
from goodbot.exclusion import Access
from goodbot.lesson_values import Lesson
from goodbot.live import Courtesy
from goodbot.store.merge.coding import UrlKey
from goodbot.store.merge.limits import MAX_LESSONS, MAX_VERSIONS
from goodbot.store.merge.storable_text import storable

_ACCESS_NAMES: Final = tuple(item.name for item in fields(Access))
_LOAD_ACCESSES: Final = f"SELECT origin, {', '.join(_ACCESS_NAMES)} FROM robots WHERE origin = ANY(%s::text[])"
_SAVE_ACCESS: Final = f"""INSERT INTO robots (origin, {", ".join(_ACCESS_NAMES)})
  VALUES ({", ".join(["%s"] * (len(_ACCESS_NAMES) + 1))}) ON CONFLICT (origin) DO UPDATE
  SET {", ".join(f"{name} = excluded.{name}" for name in _ACCESS_NAMES)}"""
_LAST: Final = """SELECT first_at, result, status, failure, digest FROM robots_versions
  WHERE origin = %s ORDER BY first_at DESC LIMIT 1"""
_SAME: Final = "UPDATE robots_versions SET last_at = %s, fetches = fetches + 1 WHERE origin = %s AND first_at = %s"
_NEW: Final = """INSERT INTO robots_versions VALUES (%s, %s, %s, 1, %s, %s, %s, %s, %s)
  ON CONFLICT (origin, first_at) DO UPDATE SET last_at = excluded.last_at, fetches = 1, result = excluded.result,
    status = excluded.status, failure = excluded.failure, digest = excluded.digest, bytes = excluded.bytes"""
_OLD: Final = """DELETE FROM robots_versions WHERE origin = %s AND first_at < (SELECT min(first_at) FROM
  (SELECT first_at FROM robots_versions WHERE origin = %s ORDER BY first_at DESC LIMIT %s) AS kept)"""
_COURTESY_NAMES: Final = Courtesy._fields
_LOAD_COURTESIES: Final = f"SELECT {', '.join(_COURTESY_NAMES)} FROM courtesies WHERE host = ANY(%s::text[])"
_SAVE_COURTESY: Final = f"""INSERT INTO courtesies ({", ".join(_COURTESY_NAMES)})
  VALUES ({", ".join(["%s"] * len(_COURTESY_NAMES))}) ON CONFLICT (host) DO UPDATE
  SET {", ".join(f"{name} = excluded.{name}" for name in _COURTESY_NAMES[1:])}"""
_LESSONS: Final = "SELECT * FROM lessons WHERE host = ANY(%s::text[]) ORDER BY host, at, kind, about"
_ALL_LESSONS: Final = """SELECT * FROM lessons WHERE %s::text IS NULL OR host = %s ORDER BY host, at, kind, about"""
_SAVE_LESSON: Final = """INSERT INTO lessons VALUES (%s, %s, %s, %s, %s, %s, %s, %s)
  ON CONFLICT (host, kind, md5(about)) DO UPDATE SET evidence = excluded.evidence, at = excluded.at,
    until = excluded.until, times = excluded.times, lapsed = excluded.lapsed"""
_OLD_LESSONS: Final = """DELETE FROM lessons WHERE ctid IN (SELECT ctid FROM lessons WHERE host = %s
  ORDER BY at DESC, kind DESC, about DESC OFFSET %s)"""
_COUNTS: Final = "SELECT count(*) FILTER (WHERE lapsed = 0), count(*) FILTER (WHERE lapsed = 1) FROM lessons"
_DROP: Final = "DELETE FROM lessons WHERE host = %s AND kind = %s AND about = %s"
_LEFT_OUT: Final = """SELECT urls.host, hash FROM urls LEFT JOIN visits USING (seq)
  WHERE host = (SELECT id FROM hosts WHERE key = %s) AND state = 5 AND strpos(coalesce(refused, why), %s) > 0"""


class HostTables:
    """The tables about hosts. The caller runs the transaction."""

    def __init__(self, connection: Callable[[], PostgresConnection]) -> None:
        self._connection = connection

    def load_accesses(self, origins: Iterable[str]) -> dict[str, Access]:
        """Returns what was saved last for each of these origins."""
        wanted = list(dict.fromkeys(origins))
        if not wanted:
            return {}
        rows = self._connection().execute(_LOAD_ACCESSES, (wanted,))
        return {row[0]: Access(*[*row[1:-1], bool(row[-1])]) for row in rows}

    def save_access(self, origin: str, access: Access) -> None:
        """Replaces what was known of `origin`, and counts one more fetch of the last version, or adds a new one."""
        connection = self._connection()
        values = [getattr(access, name) for name in _ACCESS_NAMES]
        connection.execute(_SAVE_ACCESS, (origin, *values[:-1], int(values[-1])))
        read = access.result == "successful"
        digest = sha256(access.body).hexdigest() if read else None
        found = (access.result, access.status, access.failure, digest)
        last = connection.execute(_LAST, (origin,)).fetchone()
        if last is not None and last[1:] == found:
            connection.execute(_SAME, (access.fetched_at, origin, last[0]))
            return
        size = len(access.body) + access.cut_bytes if read else None
        connection.execute(_NEW, (origin, access.fetched_at, access.fetched_at, *found, size))
        connection.execute(_OLD, (origin, origin, MAX_VERSIONS))

    def load_courtesies(self, hosts: Iterable[str]) -> dict[str, Courtesy]:
        """Returns the records of these hosts, without hosts that received no requests."""
        rows = self._connection().execute(_LOAD_COURTESIES, (list(dict.fromkeys(hosts)),))
        return {row[0]: Courtesy(*row) for row in rows}

    def save_courtesies(self, courtesies: Iterable[Courtesy]) -> None:
        """Replaces what was known of their hosts."""
        rows = sorted(courtesies)
        if rows:
            with self._connection().cursor() as cursor:
                cursor.executemany(_SAVE_COURTESY, rows)

    def load_lessons(self, hosts: Iterable[str]) -> list[Lesson]:
        """Returns the lessons of each host in turn, the oldest first."""
        wanted = list(dict.fromkeys(hosts))
        found: dict[str, list[Lesson]] = {host: [] for host in wanted}
        for row in self._connection().execute(_LESSONS, (wanted,)):
            found[row[0]].append(_lesson(row))
        return [lesson for host in wanted for lesson in found[host]]

    def all_lessons(self, host: str | None) -> list[Lesson]:
        """Returns the lessons of one host or of all, host by host, the oldest first; including those that have
        lapsed."""
        return [_lesson(row) for row in self._connection().execute(_ALL_LESSONS, (host, host))]

    def save_lessons(self, lessons: Iterable[Lesson]) -> None:
        """Replaces lessons of the same host, kind and subject; deletes the oldest of a host if there are too many."""
        rows = [_lesson_row(item) for item in lessons]
        if rows:
            with self._connection().cursor() as cursor:
                cursor.executemany(_SAVE_LESSON, rows)
                cursor.executemany(_OLD_LESSONS, [(host, MAX_LESSONS) for host in sorted({row[0] for row in rows})])

    def lesson_counts(self) -> tuple[int, int]:
        """Returns how many are in force, and how many have lapsed."""
        in_force, lapsed = self._connection().execute(_COUNTS).fetchone() or (0, 0)
        return in_force, lapsed

    def drop_lessons(self, lessons: Iterable[Lesson]) -> None:
        """Deletes lessons as if they had never been learned."""
        rows = [(item.host, item.kind, storable(item.about)) for item in lessons]
        if rows:
            with self._connection().cursor() as cursor:
                cursor.executemany(_DROP, rows)

    def left_out_by(self, lesson: Lesson) -> list[UrlKey]:
        """Returns the keys of the URLs of its host that are out of scope for a reason that contains its evidence."""
        return [
            (host, hash_)
            for host, hash_ in self._connection().execute(_LEFT_OUT, (lesson.host, storable(lesson.evidence)))
        ]


def _lesson_row(lesson: Lesson) -> tuple[Any, ...]:
    about, evidence = storable(lesson.about), storable(lesson.evidence)
    return (lesson.host, lesson.kind, about, evidence, lesson.at, lesson.until, lesson.times, int(lesson.lapsed))


def _lesson(row: tuple[Any, ...]) -> Lesson:
    return Lesson(*row)._replace(lapsed=bool(row[-1]))
