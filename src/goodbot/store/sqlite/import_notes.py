"""Notes in the frontier about captures imported from archives of others: which there are, where their payloads are,
and how far the archive was written when the last of them was committed."""

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from goodbot.store.merge.coding import hash_of
from goodbot.store.reports.rows import url_of
from goodbot.url import Url
from goodbot.values import RecordRef

# The tables are made by the first import, so frontiers of crawls have none. `imported` has a digest for each capture,
# `import_payloads` one for each payload, with the place of a record that has it. `import_waiting` has revisit records
# whose payload was not found yet, `import_named` pages with a canonical URL that had no page yet; an import that ends
# empties both. After a kill, `import_named` stays for the next import. `import_end` has a row while an import runs: how
# far its archive file was written at the last commit.
_TABLES: Final = """
CREATE TABLE IF NOT EXISTS imported (key BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS import_files (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS import_payloads (
  key BLOB PRIMARY KEY, file INTEGER NOT NULL, offset INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS import_waiting (number INTEGER PRIMARY KEY, key BLOB NOT NULL, revisit BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS import_named (number INTEGER PRIMARY KEY, url TEXT NOT NULL, canonical TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS import_end (file TEXT NOT NULL, size INTEGER NOT NULL);
"""

_PLACE: Final = """SELECT name, offset FROM import_payloads JOIN import_files ON import_files.id = import_payloads.file
  WHERE key = ?"""
_FOUND: Final = """SELECT number, import_waiting.key, revisit FROM import_waiting
  WHERE number > ? ORDER BY number LIMIT 100"""
_PAGE: Final = """SELECT origin, path FROM records
  WHERE host = (SELECT id FROM hosts WHERE key = ?) AND hash = ? AND status BETWEEN 200 AND 299"""
_NAMED: Final = "SELECT number, url, canonical FROM import_named WHERE number <= ? ORDER BY number LIMIT 100"


class NamedPage(NamedTuple):
    """A page that is kept with its canonical URL."""

    number: int
    url: str
    canonical: str


class ImportNotes:
    """The notes in one frontier, for one thread. Methods may raise sqlite3.Error."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection
        self._files: dict[str, int] = {}

    def prepare(self) -> None:
        """Makes the tables, and drops what an import that was killed has left."""
        for statement in _TABLES.split(";\n"):
            self._db.execute(statement)
        self._db.execute("DELETE FROM import_waiting")

    def has(self, key: bytes) -> bool:
        """Whether a capture was imported."""
        return self._db.execute("SELECT 1 FROM imported WHERE key = ?", (key,)).fetchone() is not None

    def add(self, keys: Sequence[bytes]) -> None:
        """Notes captures as imported."""
        self._db.executemany("INSERT OR IGNORE INTO imported VALUES (?)", [(key,) for key in keys])

    def keep_place(self, payload: bytes, record: RecordRef) -> None:
        """Notes where a payload is; the first place stays."""
        values = (payload, self._number_of(record.file), record.offset)
        self._db.execute("INSERT OR IGNORE INTO import_payloads VALUES (?, ?, ?)", values)

    def place(self, payload: bytes) -> RecordRef | None:
        """Returns where a payload is; None: it is unknown."""
        row = self._db.execute(_PLACE, (payload,)).fetchone()
        return None if row is None else RecordRef(*row)

    def wait(self, key: bytes, revisit: bytes) -> None:
        """Keeps a revisit record until the end of the import."""
        self._db.execute("INSERT INTO import_waiting (key, revisit) VALUES (?, ?)", (key, revisit))

    def waiting(self) -> Iterator[list[tuple[bytes, bytes]]]:
        """Yields the revisit records that wait, and the digests of their captures, in batches."""
        last = 0
        while rows := self._db.execute(_FOUND, (last,)).fetchall():
            last = rows[-1][0]
            yield [(key, revisit) for _, key, revisit in rows]

    def has_page(self, url: Url) -> bool:
        """Whether a committed capture of the URL is a page."""
        row = self._db.execute(_PAGE, (url.host_key, hash_of(url.text))).fetchone()
        return row is not None and url_of(*row) == url

    def name(self, url: str, canonical: str) -> None:
        """Keeps a page and its canonical URL until the end of the import."""
        self._db.execute("INSERT INTO import_named (url, canonical) VALUES (?, ?)", (url, canonical))

    def last_named(self) -> int:
        """Returns the number of the last page that is kept with a canonical URL; 0 if there is none."""
        (last,) = self._db.execute("SELECT coalesce(max(number), 0) FROM import_named").fetchone()
        return int(last)

    def named(self, last: int) -> list[NamedPage]:
        """Returns the first pages that are kept with their canonical URLs, up to the number `last`."""
        return [NamedPage(*row) for row in self._db.execute(_NAMED, (last,))]

    def drop_named(self, last: int) -> None:
        """Drops the pages up to the number `last`."""
        self._db.execute("DELETE FROM import_named WHERE number <= ?", (last,))

    def note_end(self, file: str, size: int) -> None:
        """Notes how far the archive is written; what is behind it belongs to no committed capture."""
        self._db.execute("DELETE FROM import_end")
        self._db.execute("INSERT INTO import_end VALUES (?, ?)", (file, size))

    def finish(self) -> None:
        """Notes that the import has ended properly."""
        self.drop_killed()
        self._db.execute("DELETE FROM import_named")

    def drop_killed(self) -> None:
        """Drops what a killed import left, except the pages whose canonical URLs the next import looks for."""
        self._db.execute("DELETE FROM import_end")
        self._db.execute("DELETE FROM import_waiting")

    def _number_of(self, name: str) -> int:
        number = self._files.get(name)
        if number is None:
            self._db.execute("INSERT OR IGNORE INTO import_files (name) VALUES (?)", (name,))
            (number,) = self._db.execute("SELECT id FROM import_files WHERE name = ?", (name,)).fetchone()
            self._files = {name: number}
        return number


def has_imported(connection: sqlite3.Connection) -> bool:
    """Returns whether archives of others were imported."""
    return connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'imported'").fetchone() is not None


def unfinished_end(connection: sqlite3.Connection) -> tuple[str, int] | None:
    """Returns the archive file that a killed import was writing, and its size at the last commit; None if no import was
    killed."""
    known = connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'import_end'").fetchone()
    return connection.execute("SELECT file, size FROM import_end").fetchone() if known else None
