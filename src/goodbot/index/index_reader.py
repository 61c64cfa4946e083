"""Reads the last commit of an index that other processes may be writing, and checks its files."""

import threading
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

import tantivy

from goodbot.errors import DamagedError, GoodbotError
from goodbot.index.integrity import META_FILE, PAGE_FIELDS, CheckedIndex, Stamp, require_index, stamp
from goodbot.index.lock_folder import lockable
from goodbot.index.stored_page import StoredPage, decode_page
from goodbot.index.version_file import remedy

SWAP_WAIT_S = 0.2
"""How long to wait for an index: while a rebuilt index replaces the old one, there is none for a moment."""

_ATTEMPTS = 10
"""The number of attempts to open an index that is being written."""


class StoppedError(Exception):
    """A watcher raises this to stop work on an index. The index then stays unchanged."""


Opened = tuple[tantivy.Index, tantivy.Searcher]


class Reader(Protocol):
    """Reads documents that others may be writing. Several threads may use it."""

    def current(self) -> Opened:
        """Returns the state of the last commit. Raises DamagedError if it cannot be read."""
        ...

    def written_at(self) -> float:
        """Returns the time of the commit that was opened last, in Unix seconds."""
        ...

    def translated(self) -> AbstractContextManager[None]:
        """Turns the errors of the engine, also its panics, into DamagedError."""
        ...


class IndexReader:
    """Reads an index with `fields` in a folder while others may write it.

    Raises InputError if there is no index, RunError if a newer goodbot made it, OutdatedError if an older one did,
    DamagedError if its files are damaged.
    Several threads may use it.
    """

    def __init__(self, folder: Path, fields: Collection[str] = PAGE_FIELDS) -> None:
        self._folder = folder
        self._checked = CheckedIndex(folder, fields)
        self._lock = threading.Lock()
        self._stamp: Stamp | None = None
        self._opened_at: Path | None = None
        require_index(folder)
        self.current()

    def current(self) -> Opened:
        """Returns the state of the last commit, opened and checked if it has changed."""
        with self._lock, self.translated():
            if self._wait_for_stamp() != self._stamp:
                self._open()
            return self._index, self._searcher

    def written_at(self) -> float:
        """Returns the time of the commit that was opened last, in Unix seconds."""
        return self._stamp.modified_ns / 1e9 if self._stamp is not None else 0.0

    def _open(self) -> None:
        """Opens the current state. If a writer removes files of that state meanwhile, there is a newer state, which is
        opened instead."""
        for attempt in range(_ATTEMPTS):
            now = self._wait_for_stamp()
            self._checked.check()
            try:
                with lockable(self._folder.resolve()) as place:  # it may be a link, which leads to another index now
                    if place != self._opened_at:
                        self._index = tantivy.Index.open(str(place))
                        self._index.config_reader("manual")
                    self._index.reload()
                    self._searcher = self._index.searcher()
                    self._opened_at = place
            except (OSError, ValueError):
                if attempt == _ATTEMPTS - 1 or self._wait_for_stamp() == now:
                    raise
            else:
                self._stamp = now
                return

    def _wait_for_stamp(self) -> Stamp:
        """Returns the state of meta.json. If an index that existed is missing, it waits a moment: a new index may be
        replacing it."""
        until = time.monotonic() + SWAP_WAIT_S
        while True:
            try:
                return stamp(self._folder / META_FILE)
            except FileNotFoundError:
                if self._stamp is None or time.monotonic() > until:
                    raise
                time.sleep(0.01)

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Turns the errors of the engine, also its panics, into DamagedError."""
        try:
            yield
        except (GoodbotError, StoppedError):
            raise
        except FileNotFoundError as error:
            if self._stamp is None:
                require_index(self._folder)
            raise self._damaged(error) from error
        except Exception as error:
            raise self._damaged(error) from error
        except BaseException as error:
            if type(error).__name__ == "PanicException":  # of pyo3; it cannot be imported
                raise self._damaged(error) from error
            raise

    def _damaged(self, error: BaseException) -> DamagedError:
        detail = " ".join(str(error).split())[:200]
        return DamagedError(f"the index in {self._folder} cannot be read ({detail}): {remedy(self._folder)}")


def with_number(schema: tantivy.Schema, name: str, numbers: Iterable[int]) -> tantivy.Query:
    """Finds the documents that have one of these numbers in a field, with score 0. A `term_set_query` takes twelve
    times as long."""
    queries = [(tantivy.Occur.Should, tantivy.Query.term_query(schema, name, number, "basic")) for number in numbers]
    return tantivy.Query.const_score_query(tantivy.Query.boolean_query(queries), 0.0)


def stored_page(searcher: tantivy.Searcher, address: tantivy.DocAddress) -> StoredPage:
    """Returns what a document shows."""
    return decode_page(bytes(searcher.doc(address).get_first("shown") or b""))
