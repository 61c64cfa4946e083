"""The pages to announce, on disk: each once, sorted by host, and compared with what services have accepted before.

The list is a temporary SQLite file without a name. Memory does not grow with it.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Final, NamedTuple

from goodbot.announce.announce_values import GONE, Batch, Change, Service
from goodbot.announce.marks import may_be_outdated, supersedes
from goodbot.announce.state_file import attach, is_new, translated
from goodbot.url import Url

_ADDED_TOGETHER: Final = 10_000
_READ_TOGETHER: Final = 10_000

_TABLE: Final = """
CREATE TABLE work (host TEXT NOT NULL, url TEXT NOT NULL, mark TEXT NOT NULL, PRIMARY KEY (host, url)) WITHOUT ROWID
"""

_ADD: Final = """
INSERT INTO work VALUES (?, ?, ?)
ON CONFLICT (host, url) DO UPDATE SET mark = excluded.mark WHERE supersedes(excluded.mark, mark)
"""

_ALL: Final = "FROM work WHERE (host, url) > (:host, :url) AND mark <> :gone"

_CHANGED: Final = """
FROM work LEFT JOIN state.accepted AS before ON before.service = :service AND before.url = work.url
WHERE (host, work.url) > (:host, :url)
  AND CASE
    WHEN before.mark IS NULL THEN work.mark <> :gone
    WHEN before.mark = work.mark THEN FALSE
    WHEN :partial THEN NOT may_be_outdated(work.mark, before.mark)
    ELSE TRUE
  END
"""

_OUTSIDE: Final = """
SELECT url FROM work
WHERE host = :host AND substr(url, instr(url, '//') + 2 + length(host), length(:folder)) <> :folder LIMIT 1
"""


class HostPages(NamedTuple):
    """How many pages of a host are to be announced. `origin` is that of its https pages if there are any."""

    host: str
    origin: str
    pages: int


class Worklist:
    """The pages to announce. With a `state` file, only those are announced to a service that it has not accepted with
    the same mark. `read_only`: the state file is not changed, nor made. Opening it and all methods raise InputError or
    RunError if the file cannot be used.

    Set `is_partial` if a source was not read completely. A page that was accepted with a `lastmod` is then announced
    only with a newer one: what was not read may list it with the one that was accepted.
    """

    def __init__(self, state: Path | None = None, *, read_only: bool = False) -> None:
        self.is_partial = False
        self._path = state
        self._db = sqlite3.connect("", uri=True, isolation_level=None, timeout=0.5)
        self._has_state = state is not None and not (read_only and is_new(state))
        try:
            self._db.execute("PRAGMA cache_size = -20000")
            self._db.execute(_TABLE)
            self._db.create_function("supersedes", 2, supersedes, deterministic=True)
            self._db.create_function("may_be_outdated", 2, may_be_outdated, deterministic=True)
            if state is not None and self._has_state:
                attach(self._db, state, read_only=read_only)
        except BaseException:
            self._db.close()
            raise

    def close(self) -> None:
        """Releases the state file, and removes the list."""
        self._db.close()

    def __enter__(self) -> "Worklist":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def add(self, changes: Iterable[Change]) -> None:
        """Adds pages; of a page added twice, the mark counts that supersedes the other."""
        rows = ((url.authority, url.text, mark) for url, mark in changes)
        with translated(self._path or Path("the temporary file")):
            while piece := list(islice(rows, _ADDED_TOGETHER)):
                self._db.execute("BEGIN")
                self._db.executemany(_ADD, piece)
                self._db.execute("COMMIT")

    def __bool__(self) -> bool:
        """Whether there are pages, changed or not."""
        return bool(self._rows("SELECT 1 FROM work LIMIT 1", {}))

    def hosts(self, service: Service) -> list[HostPages]:
        """Returns the hosts of the pages to be announced to a service."""
        condition, values = self._condition(service)
        found = self._rows(f"SELECT host, max(work.url), count(*) {condition} GROUP BY host ORDER BY host", values)
        return [HostPages(host, Url(last).origin, int(pages)) for host, last, pages in found]

    def first_page(self, host: str) -> Url:
        """Returns a page of a host that has some."""
        ((text,),) = self._rows("SELECT min(url) FROM work WHERE host = :host", {"host": host})
        return Url(text)

    def page_outside(self, host: str, folder: str) -> Url | None:
        """Returns a page of a host that is not in this folder or below; None: there is no such page."""
        found = self._rows(_OUTSIDE, {"host": host, "folder": folder})
        return Url(found[0][0]) if found else None

    def changes(self, service: Service) -> Iterator[Change]:
        """Yields the pages to be announced to a service, sorted by host. Pages may be accepted meanwhile."""
        condition, values = self._condition(service)
        query = f"SELECT host, work.url, work.mark {condition} ORDER BY host, work.url LIMIT {_READ_TOGETHER}"
        while rows := self._rows(query, values):
            yield from (Change(Url(url), mark) for _, url, mark in rows)
            values = {**values, "host": rows[-1][0], "url": rows[-1][1]}

    def accept(self, service: Service, batch: Batch) -> None:
        """Keeps in the state file that a service has accepted a batch; durable when it returns."""
        if self._path is None or not self._has_state:
            return
        id_ = self._id_of(service)
        rows = [(id_, change.url.text, change.mark) for change in batch.changes]
        with translated(self._path):
            self._db.execute("BEGIN IMMEDIATE")
            self._db.executemany("INSERT OR REPLACE INTO state.accepted VALUES (?, ?, ?)", rows)
            self._db.execute("COMMIT")

    def _condition(self, service: Service) -> tuple[str, dict[str, object]]:
        values: dict[str, object] = {"host": "", "url": "", "gone": GONE}
        if not self._has_state:
            return _ALL, values
        known = self._rows("SELECT id FROM state.services WHERE url = :url", {"url": service.url.text})
        return _CHANGED, {**values, "service": known[0][0] if known else 0, "partial": self.is_partial}

    def _id_of(self, service: Service) -> int:
        values = {"url": service.url.text}
        self._rows("INSERT OR IGNORE INTO state.services (url) VALUES (:url)", values)
        ((id_,),) = self._rows("SELECT id FROM state.services WHERE url = :url", values)
        return int(id_)

    def _rows(self, query: str, values: dict[str, object] | dict[str, str]) -> list[tuple[str, ...]]:
        with translated(self._path or Path("the temporary file")):
            return self._db.execute(query, values).fetchall()
