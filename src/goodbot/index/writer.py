"""The Index port: takes documents in."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import tantivy

from goodbot.errors import GoodbotError, RunError
from goodbot.index.integrity import META_FILE, Checked
from goodbot.index.schema import build_schema, document_key, save_version, to_tantivy
from goodbot.values import Document

HEAP_BYTES = 64 * 1024 * 1024
"""Postings gathered in memory before a segment is written; about 5,000 pages."""


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
                Checked(folder).check()
            else:
                save_version(folder)
            self._writer = tantivy.Index(build_schema(), path=str(folder)).writer(HEAP_BYTES, num_threads=1)

    def add(self, document: Document) -> None:
        """Takes a document in, instead of the one of the same id."""
        with self._translated():
            self._writer.delete_documents_by_term("key", document_key(document.id))
            self._writer.add_document(to_tantivy(document))

    def remove(self, document_id: str) -> None:
        """Forgets a document; one that is not there is no error."""
        with self._translated():
            self._writer.delete_documents_by_term("key", document_key(document_id))

    def commit(self) -> None:
        """Everything so far is on disk and can be found when this returns."""
        with self._translated():
            self._writer.commit()

    def close(self) -> None:
        """Ends merges and lets others write. May be called again."""
        try:
            self._writer.wait_merging_threads()
        except RuntimeError:
            pass  # closed before

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
