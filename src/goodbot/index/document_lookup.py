"""Looks up whether a document is in an index."""

from pathlib import Path

from tantivy import Query

from goodbot.index.index_reader import IndexReader
from goodbot.index.keys import document_key


class DocumentLookup:
    """Looks documents up in the index in a folder, which another process may be writing. Several threads may use it.
    Raises the errors of `IndexReader`."""

    def __init__(self, folder: Path) -> None:
        self._reader = IndexReader(folder)

    def has(self, document_id: str) -> bool:
        """Returns whether the last commit has a document with this id."""
        with self._reader.translated():
            index, searcher = self._reader.current()
            query = Query.term_query(index.schema, "key", document_key(document_id), "basic")
            return bool(searcher.search(query, 1).count)  # type: ignore[attr-defined]  # missing in tantivy's stub
