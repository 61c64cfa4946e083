"""The Search port: finds documents again."""

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
from goodbot.index.lockable import lockable
from goodbot.index.query import AllOf, parse_query, wanted_terms
from goodbot.index.snippet import make_snippet
from goodbot.index.tantivy_query import Planner
from goodbot.search_values import Document, Hit, Results

ENOUGH_HITS = 10
"""If fewer documents have every word, those with any of them follow: one page of results. On Cranfield's questions,
insisting on every word gives nDCG@10 0.02, this 0.39."""

SWAP_S = 0.2
"""While an index that was made anew takes the place of the old one, there is none for a moment."""

_ATTEMPTS = 10
"""To open an index that somebody writes."""

MAX_TIED = 1000
"""Documents of one score put in order by id; more keep the order of the index."""

Scored = tuple[float, tantivy.DocAddress]


class TantivySearch:
    """An index in a folder, read while others may write; every search sees the last commit.

    Raises InputError if there is no index, RunError if another schema made it, DamagedError if its files are not what
    was written. May be used by several threads.
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
        """Hits by falling score, then by id. The language is told in `goodbot.index.query`.

        Raises InputError if the query holds no word, or limit or offset is below 0; DamagedError as above.
        """
        started = time.perf_counter()
        if limit < 0 or offset < 0:
            raise InputError(f"limit and offset must not be negative: {limit}, {offset}")
        meant = parse_query(query)
        with self._translated():
            index, searcher = self._current()
            total, scored = _ranked(index, searcher, meant, slice(offset, offset + limit))
            wanted = wanted_terms(meant)
            hits = tuple(_hit(score, _load(searcher, address), wanted) for score, address in scored)
        return Results(query, total, (time.perf_counter() - started) * 1000, hits)

    def count(self) -> int:
        """How many documents can be found."""
        with self._translated():
            return int(self._current()[1].num_docs)

    def _current(self) -> tuple[tantivy.Index, tantivy.Searcher]:
        """What the last commit left, opened and checked if it is another than last time."""
        with self._lock, self._translated():
            if self._look() != self._stamp:
                self._open()
            return self._index, self._searcher

    def _open(self) -> None:
        """Opens what is there now. A writer may remove files of the state that is being opened: in that case a newer
        state exists, and is opened instead."""
        for attempt in range(_ATTEMPTS):
            now = self._look()
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
                if attempt == _ATTEMPTS - 1 or self._look() == now:
                    raise
            else:
                self._stamp = now
                return

    def _look(self) -> Stamp:
        """Waits a moment for an index that was there: a new one may be taking its place."""
        until = time.monotonic() + SWAP_S
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


def _ranked(index: tantivy.Index, searcher: tantivy.Searcher, meant: AllOf, window: slice) -> tuple[int, list[Scored]]:
    """How many documents match, and those of them in the window."""
    planner = Planner(index.schema)
    total, scored = _best(searcher, planner.strict(meant), window)
    if total < ENOUGH_HITS:
        total, scored = _best(searcher, planner.relaxed(meant), window)
    return total, scored


def _best(searcher: tantivy.Searcher, query: tantivy.Query, window: slice) -> tuple[int, list[Scored]]:
    needed: int = window.stop
    most = max(1, searcher.num_docs)  # tantivy allots memory for what is asked, and panics if it is nothing
    found = searcher.search(query, min(needed + 1, most))
    hits: list[Scored] = found.hits
    if 0 < needed < len(hits) and hits[needed - 1][0] == hits[needed][0]:
        hits = searcher.search(query, min(needed + MAX_TIED, most), count=False).hits
    total = int(found.count)  # type: ignore[attr-defined]  # tantivy's stub forgets it
    return total, _ties_by_id(searcher, hits, window)[window]


def _ties_by_id(searcher: tantivy.Searcher, hits: list[Scored], window: slice) -> list[Scored]:
    """Only ties that reach into the window are looked at: each costs reading the document."""
    seen = Counter(score for score, _ in hits)
    tied = {score for score, _ in hits[window] if 1 < seen[score] <= MAX_TIED}
    if not tied:
        return hits
    return sorted(hits, key=lambda hit: (-hit[0], _load(searcher, hit[1]).id if hit[0] in tied else ""))


def _load(searcher: tantivy.Searcher, address: tantivy.DocAddress) -> Document:
    return from_tantivy(searcher.doc(address))


def _hit(score: float, document: Document, wanted: frozenset[str]) -> Hit:
    snippet = make_snippet(document.text, wanted, document.description, document.snippet_chars)
    return Hit(document.id, document.url, document.title, snippet.text, score, snippet.highlights)


def results_json(results: Results) -> dict[str, object]:
    """The JSON of a search, the same on the command line and over HTTP."""
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
