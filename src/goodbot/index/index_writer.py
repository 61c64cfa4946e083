"""Implements the Index port: adds documents to a Tantivy index."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import tantivy

from goodbot.errors import GoodbotError, RunError
from goodbot.index.integrity import META_FILE, CheckedIndex, load_mark, share_meta
from goodbot.index.keys import document_key, key_pattern
from goodbot.index.link_texts import refreshed_mark
from goodbot.index.mapped_pages import MappedPages
from goodbot.index.preparation import prepare, to_tantivy
from goodbot.index.refresh import refresh_links
from goodbot.index.schema import build_schema
from goodbot.index.version_file import check_version, save_version
from goodbot.search_values import Document, IndexMark, PreparedDocument

HEAP_BYTES = 32 * 1024 * 1024
"""The memory for postings before a segment is written, about 2,500 pages. A crawl commits more often than that."""

_MERGED_AT = 8
"""The number of segments of similar size that Tantivy merges into one."""
_SIMILAR_SIZE = 10_000
"""Segments with fewer documents than this count as equally large."""
_PADDING = "filling"
"""The key of empty documents, which fill segments to trigger a merge. It is not a URL."""


class TantivyIndex:
    """Writes an index in a folder, which it creates if it is missing. There may be one writer at a time, and readers at
    any time.

    Raises RunError if another process (or object) is writing there or the folder cannot be written, DamagedError if the
    index cannot be read. `close` and crashes lose what was not committed, and nothing else.
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
            self._writer.garbage_collect_files()  # of a killed commit: the next one would use their names again
        self._mapped = MappedPages(folder)

    def add(self, document: Document) -> None:
        """Adds a document, and replaces the one with the same id."""
        self.add_prepared(prepare(document))

    def add_prepared(self, prepared: PreparedDocument) -> None:
        """Adds a prepared document: the cheap half of `add`; `prepare` is the costly one."""
        with self._translated():
            self._writer.delete_documents_by_term("key", document_key(prepared.id))
            self._writer.add_document(to_tantivy(prepared))

    def remove(self, document_id: str) -> None:
        """Removes a document. A missing one is not an error."""
        with self._translated():
            self._writer.delete_documents_by_term("key", document_key(document_id))

    def remove_host(self, host: str) -> None:
        """Removes every document of a host (`Url.host_key`) whose id is a URL of at most 1,000 characters."""
        with self._translated():
            query = tantivy.Query.regex_query(build_schema(), "key", key_pattern(host))
            self._writer.delete_documents_by_query(query)

    def commit(self) -> IndexMark:
        """Commits: everything so far is on disk and can be found when this returns. `written` of the returned mark is
        Tantivy's count of operations, which continues from the last commit."""
        with self._translated():
            self._writer.commit()
            share_meta(self._folder)
            return load_mark(self._folder)

    def purge(self) -> None:
        """Commits, then rewrites all segments with removed or replaced documents, so that no file has their words and
        texts any more. Raises RunError if such a segment is left.

        Only a merge does this, and tantivy cannot be asked for one: it merges segments as soon as there are enough of
        similar size. So this adds segments of empty documents.
        """
        self.remove(_PADDING)  # left by a purge that was killed
        self.commit()
        left = self._with_removed()
        while left:
            target, documents = max(left.items(), key=lambda item: item[1])
            with self._translated():
                for _ in range(_MERGED_AT - 1):
                    for _ in range(documents if documents > _SIMILAR_SIZE else 1):
                        self._writer.add_document(tantivy.Document(key=[_PADDING]))
                    self._writer.commit()
                self._writer.wait_merging_threads()
                self._writer = self._open()
                self.remove(_PADDING)
                self._writer.commit()
                self._writer.garbage_collect_files()
                now = self._with_removed()
            if target in now:
                raise RunError(f"cannot rewrite the index in {self._folder}: removed documents are still in its files")
            left = {name: documents for name, documents in left.items() if name in now}
        if refreshed_mark(self._folder) is not None:  # link texts name removed documents
            refresh_links(self._folder)

    def close(self) -> None:
        """Waits for merges and lets others write. It may be called again, and never raises: only uncommitted data is
        lost."""
        try:
            self._writer.wait_merging_threads()
            share_meta(self._folder)
        except (RuntimeError, ValueError, OSError):
            pass  # already closed; or a writer thread ended early, as on a full disk, which `commit` reports
        self._mapped.close()

    def _open(self) -> tantivy.IndexWriter:
        return tantivy.Index(build_schema(), path=str(self._folder)).writer(HEAP_BYTES, num_threads=1)

    def _with_removed(self) -> dict[str, int]:
        """Returns the committed segments with removed documents, and how many other documents each has."""
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
            raise self._translate(str(error)) from error

    def _translate(self, text: str) -> RunError:
        if "LockBusy" in text:
            return RunError(f"another process is writing the index in {self._folder}")
        return RunError(f"cannot write the index in {self._folder}: {' '.join(text.split())[:200]}")
