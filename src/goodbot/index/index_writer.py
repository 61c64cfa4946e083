"""The Index port: takes documents in."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import tantivy

from goodbot.errors import GoodbotError, RunError
from goodbot.index.fields import (
    build_schema,
    check_version,
    document_key,
    key_pattern,
    prepare,
    save_version,
    to_tantivy,
)
from goodbot.index.integrity import META_FILE, CheckedIndex, load_mark
from goodbot.index.mapped import MappedPages
from goodbot.search_values import Document, IndexMark, PreparedDocument

HEAP_BYTES = 32 * 1024 * 1024
"""Postings gathered in memory before a segment is written; about 2,500 pages. A crawl commits more often than that."""

_MERGED_AT = 8
"""So many segments of like size tantivy merges into one."""
_ALIKE = 10_000
"""Segments of fewer documents count as of one size."""
_FILLING = "filling"
"""The key of documents without a word, of which segments are made that are to be merged; no URL."""


class TantivyIndex:
    """An index in a folder, made if it is not there. One writer at a time, readers at any time.

    Raises RunError if another process (or object) is writing there or the disk refuses, DamagedError if what is there
    cannot be read. What was not committed is lost by `close` and by a crash; what was committed is not.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with self._translated():
            folder.mkdir(parents=True, exist_ok=True)
            if (folder / META_FILE).exists() or any(folder.glob("*.store")):
                CheckedIndex(folder).check()
                if not check_version(folder):
                    save_version(folder)
            else:
                save_version(folder)
            self._writer = self._open()
        self._mapped = MappedPages(folder)

    def add(self, document: Document) -> None:
        """Takes a document in, instead of the one of the same id."""
        self.add_prepared(prepare(document))

    def add_prepared(self, prepared: PreparedDocument) -> None:
        """The cheap half of `add`."""
        with self._translated():
            self._writer.delete_documents_by_term("key", document_key(prepared.id))
            self._writer.add_document(to_tantivy(prepared))

    def remove(self, document_id: str) -> None:
        """Forgets a document; one that is not there is no error."""
        with self._translated():
            self._writer.delete_documents_by_term("key", document_key(document_id))

    def remove_host(self, host: str) -> None:
        """Forgets every document of a host (`Url.host_key`) whose id is a URL of at most 1,000 characters."""
        with self._translated():
            query = tantivy.Query.regex_query(build_schema(), "key", key_pattern(host))
            self._writer.delete_documents_by_query(query)

    def commit(self) -> IndexMark:
        """Everything so far is on disk and can be found when this returns. The number in the mark is tantivy's count of
        operations, which goes on where the last commit was."""
        with self._translated():
            self._writer.commit()
            return load_mark(self._folder)

    def purge(self) -> None:
        """Commits, then writes anew, without them, all segments that hold documents which were removed or replaced:
        their words and texts are in no file then. Raises RunError if one is left.

        Only a merge does this, and tantivy has no call for one: it merges segments as soon as there are enough of like
        size, so each gets company that holds nothing.
        """
        self.remove(_FILLING)  # of a purge that was killed
        self.commit()
        left = self._with_removed()
        while left:
            target, documents = max(left.items(), key=lambda item: item[1])
            with self._translated():
                for _ in range(_MERGED_AT - 1):
                    for _ in range(documents if documents > _ALIKE else 1):
                        self._writer.add_document(tantivy.Document(key=[_FILLING]))
                    self._writer.commit()
                self._writer.wait_merging_threads()
                self._writer = self._open()
                self.remove(_FILLING)
                self._writer.commit()
                self._writer.garbage_collect_files()
                now = self._with_removed()
            if target in now:
                raise RunError(f"cannot write the index in {self._folder} anew: what was removed is still in its files")
            left = {name: documents for name, documents in left.items() if name in now}

    def close(self) -> None:
        """Ends merges and lets others write. May be called again; never raises: what fails here was not committed."""
        try:
            self._writer.wait_merging_threads()
        except (RuntimeError, ValueError):
            pass  # closed before; or a thread of the writer ended early, as on a full disk, which `commit` tells
        self._mapped.close()

    def _open(self) -> tantivy.IndexWriter:
        return tantivy.Index(build_schema(), path=str(self._folder)).writer(HEAP_BYTES, num_threads=1)

    def _with_removed(self) -> dict[str, int]:
        """Committed segments that hold removed documents, and how many others each has."""
        with self._translated():
            segments = json.loads((self._folder / META_FILE).read_bytes())["segments"]
        held = ((item["segment_id"], item["max_doc"], item["deletes"]) for item in segments)
        return {name: most - deletes["num_deleted_docs"] for name, most, deletes in held if deletes}

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except GoodbotError:
            raise
        except OSError as error:
            raise RunError(f"cannot write the index in {self._folder}: {error.strerror}") from error
        except (ValueError, RuntimeError) as error:
            raise self._as_ours(str(error)) from error

    def _as_ours(self, text: str) -> RunError:
        if "LockBusy" in text:
            return RunError(f"index in {self._folder} is being written by another process")
        return RunError(f"cannot write the index in {self._folder}: {' '.join(text.split())[:200]}")
