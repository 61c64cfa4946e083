"""Reads and writes the table of lessons about hosts."""

import sqlite3
from collections.abc import Iterable
from typing import Any, Final

from goodbot.lesson_values import Lesson
from goodbot.store.merge.limits import MAX_LESSONS
from goodbot.store.merge.storable_text import storable

LESSON_TABLE: Final = """
CREATE TABLE lessons (
  host TEXT NOT NULL, kind TEXT NOT NULL, about TEXT NOT NULL, evidence TEXT NOT NULL, at REAL NOT NULL,
  until REAL NOT NULL DEFAULT 0, times INTEGER NOT NULL DEFAULT 1, lapsed INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (host, kind, about)
) WITHOUT ROWID;
"""

_LOAD: Final = "SELECT * FROM lessons WHERE host = ? ORDER BY at, kind, about"
_SAVE: Final = "INSERT OR REPLACE INTO lessons VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_OLD: Final = """DELETE FROM lessons WHERE (host, kind, about) IN
  (SELECT host, kind, about FROM lessons WHERE host = ? ORDER BY at DESC, kind DESC, about DESC LIMIT -1 OFFSET ?)"""
_ALL: Final = "SELECT * FROM lessons WHERE :host IS NULL OR host = :host ORDER BY host, at, kind, about"
_COUNTS: Final = "SELECT count(*) - sum(lapsed), sum(lapsed) FROM lessons"
_DROP: Final = "DELETE FROM lessons WHERE host = ? AND kind = ? AND about = ?"
_LEFT_OUT: Final = """SELECT urls.host, hash FROM urls JOIN hosts ON hosts.id = urls.host LEFT JOIN visits USING (seq)
  WHERE hosts.key = ? AND state = 5 AND instr(coalesce(refused, why), ?)"""
_FORGET: Final = "DELETE FROM lessons WHERE host = :host OR instr(about, :bare) OR instr(evidence, :bare)"


def load_lessons(connection: sqlite3.Connection, hosts: Iterable[str]) -> list[Lesson]:
    """Returns the lessons of each host in turn, the oldest first."""
    return [_lesson(*row) for host in dict.fromkeys(hosts) for row in connection.execute(_LOAD, (host,))]


def save_lessons(connection: sqlite3.Connection, lessons: Iterable[Lesson]) -> None:
    """Replaces lessons of the same host, kind and subject; deletes the oldest of a host if there are too many."""
    saved = list(lessons)
    connection.executemany(_SAVE, [_row(item) for item in saved])
    connection.executemany(_OLD, [(host, MAX_LESSONS) for host in sorted({item.host for item in saved})])


def all_lessons(connection: sqlite3.Connection, host: str | None) -> list[Lesson]:
    """Returns the lessons of one host or of all, host by host, the oldest first; including those that have lapsed."""
    return [_lesson(*row) for row in connection.execute(_ALL, {"host": host})]


def count_lessons(connection: sqlite3.Connection) -> tuple[int, int]:
    """Returns how many are in force, and how many have lapsed."""
    in_force, lapsed = connection.execute(_COUNTS).fetchone()
    return in_force or 0, lapsed or 0


def drop_lessons(connection: sqlite3.Connection, lessons: Iterable[Lesson]) -> None:
    """Deletes lessons as if they had never been learned."""
    connection.executemany(_DROP, [(item.host, item.kind, storable(item.about)) for item in lessons])


def left_out_by(connection: sqlite3.Connection, lesson: Lesson) -> list[tuple[int, int]]:
    """Returns the keys of the URLs of its host that are out of scope for a reason that contains its evidence."""
    return connection.execute(_LEFT_OUT, (lesson.host, storable(lesson.evidence))).fetchall()


def forget_lessons(connection: sqlite3.Connection, host: str, bare: str) -> None:
    """Deletes the lessons of a host, and those of others that name it (`bare`: without its port): they will be learned
    again."""
    connection.execute(_FORGET, {"host": host, "bare": bare})


def _row(lesson: Lesson) -> tuple[object, ...]:
    about, evidence = storable(lesson.about), storable(lesson.evidence)
    return (lesson.host, lesson.kind, about, evidence, lesson.at, lesson.until, lesson.times, lesson.lapsed)


def _lesson(*row: Any) -> Lesson:
    """Builds a lesson from a row. NULL comes from a B-tree page that was only half written."""
    if None in row:
        raise sqlite3.DatabaseError("a lesson is missing")
    return Lesson(*row)._replace(lapsed=bool(row[-1]))
