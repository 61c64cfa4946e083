"""Looks a document up in an index."""

from pathlib import Path

from tantivy import Occur, Query

from goodbot.index.index_reader import IndexReader, stored_page
from goodbot.index.index_state import ending
from goodbot.index.keys import document_key
from goodbot.index.stored_page import StoredPage


class DocumentLookup:
    """Looks documents up in the index in a folder, which another process may be writing. Several threads may use it.
    Raises the errors of `IndexReader`."""

    def __init__(self, folder: Path) -> None:
        self._reader = IndexReader(folder)

    def find(self, document_id: str, now: float) -> StoredPage | None:
        """Returns the document with this id in the last commit; None if there is none, or if it must not be found any
        more at `now` (Unix seconds)."""
        with self._reader.translated():
            index, searcher = self._reader.current()
            is_it = Query.term_query(index.schema, "key", document_key(document_id), "basic")
            is_over = ending(index.schema, int(now))
            query = Query.boolean_query([(Occur.Must, is_it), (Occur.MustNot, is_over)])
            hits = searcher.search(query, 1).hits
            return stored_page(searcher, hits[0][1]) if hits else None
