"""Implements the Search port: finds documents."""

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import tantivy

from goodbot.errors import DamagedError, GoodbotError, InputError
from goodbot.index.fields import from_tantivy, remedy
from goodbot.index.integrity import META_FILE, CheckedIndex, Stamp, require_index, stamp
from goodbot.index.lock_folder import lockable
from goodbot.index.query import AllOf, parse_query, sought_terms
from goodbot.index.snippet import make_snippet
from goodbot.index.tantivy_query import QueryBuilder
from goodbot.search_values import Document, Hit, Results

ENOUGH_HITS = 10
"""If fewer documents than this (one page of results) have every word, documents with any of the words follow. On the
Cranfield questions, requiring every word gives nDCG@10 0.02, this 0.39."""

SWAP_WAIT_S = 0.2
"""How long to wait for an index: while a rebuilt index replaces the old one, there is none for a moment."""

_ATTEMPTS = 10
"""The number of attempts to open an index that is being written."""

MAX_TIED = 1000
"""The limit of documents with equal scores that are sorted by id; more of them keep the order of the index."""

Scored = tuple[float, tantivy.DocAddress]


class TantivySearch:
    """Searches an index in a folder while others may write it; every search sees the last commit.

    Raises InputError if there is no index, RunError if it has another schema, DamagedError if its files are damaged.
    Several threads may use it.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._checked = CheckedIndex(folder)
        self._lock = threading.Lock()
        self._stamp: Stamp | None = None
        self._opened_at: Path | None = None
        require_index(folder)
        self._current()

    def search(self, query: str, limit: int = 10, offset: int = 0) -> Results:
        """Returns hits by descending score, then by id. `goodbot.index.query` describes the query language.

        Raises InputError if the query has no word, or if limit or offset is below 0; DamagedError as above.
        """
        started = time.perf_counter()
        if limit < 0 or offset < 0:
            raise InputError(f"limit and offset must not be negative: {limit}, {offset}")
        parsed = parse_query(query)
        with self._translated():
            index, searcher = self._current()
            total, scored = _ranked(index, searcher, parsed, slice(offset, offset + limit))
            sought = sought_terms(parsed)
            hits = tuple(_hit(score, _load(searcher, address), sought) for score, address in scored)
        return Results(query, total, (time.perf_counter() - started) * 1000, hits)

    def count(self) -> int:
        """Returns how many documents can be found."""
        with self._translated():
            return int(self._current()[1].num_docs)

    def _current(self) -> tuple[tantivy.Index, tantivy.Searcher]:
        """Returns the state of the last commit, opened and checked if it has changed."""
        with self._lock, self._translated():
            if self._wait_for_stamp() != self._stamp:
                self._open()
            return self._index, self._searcher

    def _open(self) -> None:
        """Opens the current state. If a writer removes files of that state meanwhile, there is a newer state, which is
        opened instead."""
        for attempt in range(_ATTEMPTS):
            now = self._wait_for_stamp()
            self._checked.check()
            try:
                with lockable(self._folder) as place:
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
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except GoodbotError:
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


def _ranked(index: tantivy.Index, searcher: tantivy.Searcher, parsed: AllOf, window: slice) -> tuple[int, list[Scored]]:
    """Returns how many documents match, and those within the window."""
    builder = QueryBuilder(index.schema)
    total, scored = _best(searcher, builder.strict(parsed), window)
    if total < ENOUGH_HITS:
        total, scored = _best(searcher, builder.relaxed(parsed), window)
    return total, scored


def _best(searcher: tantivy.Searcher, query: tantivy.Query, window: slice) -> tuple[int, list[Scored]]:
    needed: int = window.stop
    most = max(1, searcher.num_docs)  # tantivy allocates memory for the requested number, and panics if it is 0
    found = searcher.search(query, min(needed + 1, most))
    hits: list[Scored] = found.hits
    if 0 < needed < len(hits) and hits[needed - 1][0] == hits[needed][0]:
        hits = searcher.search(query, min(needed + MAX_TIED, most), count=False).hits
    total = int(found.count)  # type: ignore[attr-defined]  # missing in tantivy's stub
    return total, _ties_by_id(searcher, hits, window)[window]


def _ties_by_id(searcher: tantivy.Searcher, hits: list[Scored], window: slice) -> list[Scored]:
    """Sorts ties by id, but only those that reach into the window, because each costs reading the document."""
    seen = Counter(score for score, _ in hits)
    tied = {score for score, _ in hits[window] if 1 < seen[score] <= MAX_TIED}
    if not tied:
        return hits
    return sorted(hits, key=lambda hit: (-hit[0], _load(searcher, hit[1]).id if hit[0] in tied else ""))


def _load(searcher: tantivy.Searcher, address: tantivy.DocAddress) -> Document:
    return from_tantivy(searcher.doc(address))


def _hit(score: float, document: Document, sought: frozenset[str]) -> Hit:
    snippet = make_snippet(document.text, sought, document.description, document.snippet_chars)
    return Hit(document.id, document.url, document.title, snippet.text, score, snippet.highlights)


def results_json(results: Results) -> dict[str, object]:
    """Returns the JSON of a search, the same on the command line and over HTTP."""
    return {
        "query": results.query,
        "total": results.total,
        "took_ms": round(results.took_ms, 3),
        "hits": [
            {
                "url": hit.url,
                "title": hit.title,
                "snippet": hit.snippet,
                "score": hit.score,
                "highlights": [list(span) for span in hit.highlights],
            }
            for hit in results.hits
        ],
    }
