"""Keeps the findings of an audit in its temporary file, and counts them."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from goodbot.audit.findings import AuditFinding, Part
from goodbot.audit.url_key import key_of
from goodbot.check.findings import SEVERITIES

_TABLE: Final = """
CREATE TABLE findings (
  code TEXT NOT NULL, severity INTEGER NOT NULL, subject TEXT NOT NULL, page INTEGER, url TEXT NOT NULL, line INTEGER,
  "column" INTEGER, part TEXT NOT NULL, target TEXT NOT NULL, message TEXT NOT NULL, fix TEXT NOT NULL,
  related TEXT NOT NULL);
"""
MAX_PLACED: Final = 10_000
"""How many findings of one kind get a place within their page: for each, the page has to be read again."""

_UNPLACED: Final = """WITH numbered AS (SELECT rowid AS number, part, target, page, url,
  row_number() OVER (PARTITION BY code ORDER BY rowid) AS place FROM findings WHERE part NOT IN ('', 'link', 'entry'))
  SELECT number, part, target, numbered.url AS url FROM numbered JOIN urls ON urls.key = page WHERE place <= ?
  ORDER BY file, offset, number"""
_FINDINGS: Final = """SELECT code, severity, message, fix, url, line, "column", part, target, related FROM findings
  {where} ORDER BY code, CASE part WHEN 'entry' THEN '' ELSE subject END, url, line, "column", findings.rowid"""


class FindingStore:
    """The findings of one audit, in the temporary file of its `Staging`. For one thread."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection
        self._db.execute(_TABLE)

    def add(self, findings: Iterable[AuditFinding]) -> None:
        """Adds findings."""
        self._db.executemany(
            "INSERT INTO findings VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (
                    *(each.code, SEVERITIES.index(each.severity), each.target, key_of(each.url), each.url, each.line),
                    *(each.column, each.part, each.target, each.message, each.fix, json.dumps(dict(each.related))),
                )
                for each in findings
            ),
        )

    def unplaced(self) -> Iterator[tuple[int, str, str, str]]:
        """Yields findings about a part of a page: number, part, target, page; in the order of the archive. Of each kind
        at most `MAX_PLACED`."""
        return iter(self._db.execute(_UNPLACED, (MAX_PLACED,)))

    def unplaced_count(self) -> int:
        """Counts the pages of `unplaced`."""
        query = f"SELECT count(DISTINCT url) FROM ({_UNPLACED})"  # noqa: S608  (a constant)
        return int(self._db.execute(query, (MAX_PLACED,)).fetchone()[0])

    def unplaced_entries(self) -> Iterator[tuple[int, str, str]]:
        """Yields findings about entries of sitemaps and about Sitemap records of robots.txt files: number, document,
        target; document by document."""
        rows = self._db.execute(
            "SELECT rowid, url, target FROM findings WHERE part = 'entry' AND line IS NULL ORDER BY url, rowid"
        )
        return iter(rows)

    def place(self, number: int, line: int, column: int) -> None:
        """Gives a finding its place."""
        self._db.execute('UPDATE findings SET line = ?, "column" = ? WHERE rowid = ?', (line, column, number))

    def counts(self, ignore: Sequence[str] = ()) -> list[tuple[str, int, int, int]]:
        """Returns, for each code and severity: the code, the number of the severity, how many findings there are, and
        on how many documents."""
        where, values = _not_ignored(ignore)
        rows = self._db.execute(
            f"SELECT code, severity, count(*), count(DISTINCT url) FROM findings {where} GROUP BY code, severity"  # noqa: S608
            " ORDER BY code, severity",
            values,
        )
        return rows.fetchall()

    def select(self, ignore: Sequence[str] = (), code: str = "", severity: str = "") -> Iterator[AuditFinding]:
        """Yields the findings by code and target, those of sitemaps by code and line; except ignored codes (beginnings
        of codes), and only those of a code and a severity, if given."""
        where, values = _not_ignored(ignore)
        if code:
            where, values = f"{where} AND code = ?", [*values, code]
        if severity:
            where, values = f"{where} AND severity = ?", [*values, SEVERITIES.index(severity)]
        return (_finding(row) for row in self._db.execute(_FINDINGS.format(where=where), values))


def _not_ignored(ignore: Sequence[str]) -> tuple[str, list[Any]]:
    """Returns a WHERE clause that leaves out codes that begin with one of these; they have letters and digits only."""
    parts = ["code NOT LIKE ?" for _ in ignore]
    return f"WHERE {' AND '.join(['TRUE', *parts])}", [f"{code}%" for code in ignore]


def _finding(row: tuple[Any, ...]) -> AuditFinding:
    code, severity, message, fix, url, line, column, part, target, related = row
    where: Part = part
    return AuditFinding(code, SEVERITIES[severity], message, fix, url, line, column, where, target, json.loads(related))
