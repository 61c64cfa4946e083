"""The table of what was learned about hosts."""

import sqlite3
from collections.abc import Iterable
from typing import Final

from goodbot.store.text import storable
from goodbot.values import Lesson

LESSONS_MOST: Final = 1000
"""Kept of one host, the last ones."""

LESSON_TABLE: Final = """
CREATE TABLE lessons (
  host TEXT NOT NULL, kind TEXT NOT NULL, about TEXT NOT NULL, evidence TEXT NOT NULL, at REAL NOT NULL,
  PRIMARY KEY (host, kind, about)
) WITHOUT ROWID;
"""

_LOAD: Final = "SELECT * FROM lessons WHERE host = ? ORDER BY at, kind, about"
_SAVE: Final = "INSERT OR REPLACE INTO lessons VALUES (?, ?, ?, ?, ?)"
_OLD: Final = """DELETE FROM lessons WHERE (host, kind, about) IN
  (SELECT host, kind, about FROM lessons WHERE host = ? ORDER BY at DESC, kind DESC, about DESC LIMIT -1 OFFSET ?)"""
_FORGET: Final = "DELETE FROM lessons WHERE host = ?1 OR instr(about, ?2) OR instr(evidence, ?2)"


def load_lessons(connection: sqlite3.Connection, hosts: Iterable[str]) -> list[Lesson]:
    """Of each host in turn, the oldest first."""
    return [_lesson(*row) for host in dict.fromkeys(hosts) for row in connection.execute(_LOAD, (host,))]


def save_lessons(connection: sqlite3.Connection, lessons: Iterable[Lesson]) -> None:
    """In place of those of the same host, kind and subject; the oldest of a host go when there are too many."""
    rows = [_row(item) for item in lessons]
    connection.executemany(_SAVE, rows)
    connection.executemany(_OLD, [(host, LESSONS_MOST) for host in sorted({row[0] for row in rows})])


def forget_lessons(connection: sqlite3.Connection, host: str, bare: str) -> None:
    """Those of a host, and those of others that name it (`bare`: without its port): they will be learned again."""
    connection.execute(_FORGET, (host, bare))


def _row(lesson: Lesson) -> tuple[str, str, str, str, float]:
    return (lesson.host, lesson.kind, storable(lesson.about), storable(lesson.evidence), lesson.at)


def _lesson(host: str, kind: str, about: str, evidence: str, at: float) -> Lesson:
    """NULL: from a B-tree page that was written by half."""
    if None in (host, kind, about, evidence, at):
        raise sqlite3.DatabaseError("a lesson is not there")
    return Lesson(host, kind, about, evidence, at)
