"""Reads several indexes as one.

The parts of an index, its segments, never change, and the state of an index is a list of them. So indexes are joined by
a list of all their segments, in a temporary folder with links to the files. The engine then searches them as one index,
with common statistics: a document has the score that it has in an index of all documents.
"""

import json
import shutil
import tempfile
import threading
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import tantivy

from goodbot.errors import DamagedError, GoodbotError, InputError, RunError
from goodbot.index.deletions import KeptDocuments
from goodbot.index.index_reader import IndexReader, Opened
from goodbot.index.integrity import META_FILE, PAGE_FIELDS, load_mark, segment_files
from goodbot.index.moved_pages import MovedPages, Segment

_ATTEMPTS: Final = 100
"""The number of attempts to open indexes that are being written. Each one fails only because of one more commit."""
_ATTEMPTS_FOR_THE_LATEST: Final = 10
"""After so many attempts, a state that was opened is used, even if there is a newer one."""


class _Part(NamedTuple):
    """An index in a state, which is the content of its meta.json."""

    folder: Path
    state: dict[str, Any]

    def segments(self) -> Iterator[Segment]:
        """Yields the segments, as the engine numbers them in this part."""
        for item in self.state["segments"]:
            stem, removed = item["segment_id"].replace("-", ""), item["deletes"]
            file = self.folder / f"{stem}.{removed['opstamp']}.del" if removed is not None else None
            yield Segment(stem, int(item["max_doc"]), file)


class JoinedReader:
    """Reads the indexes in several folders as one, while others may write them. `fields` are those that each must have.
    `newest_only`: if several have a page, only the version that was fetched last is read.

    Raises the errors of `IndexReader`, and InputError if two folders have the same index.
    Several threads may use it.
    """

    def __init__(
        self, folders: Sequence[Path], fields: Collection[str] = PAGE_FIELDS, *, newest_only: bool = True
    ) -> None:
        self._readers = [IndexReader(folder, fields) for folder in folders]
        self._folders = [*folders]
        self._fields = frozenset(fields)
        self._moved = MovedPages() if newest_only else None
        self._lock = threading.Lock()
        self._states: list[tantivy.Searcher] | None = None
        self._ends: list[int] = []
        _check_different(self._folders)
        self.current()

    def current(self) -> Opened:
        """Returns the state of the last commits, opened and checked if one of them has changed."""
        with self._lock, self.translated():
            states = self._part_states()
            if self._states is None or any(new is not old for new, old in zip(states, self._states, strict=True)):
                self._open()
            return self._index, self._searcher

    def written_at(self) -> float:
        """Returns the time of the last commit in any of the indexes, in Unix seconds."""
        return max(reader.written_at() for reader in self._readers)

    def owners(self, addresses: Sequence[tantivy.DocAddress]) -> list[int]:
        """Returns which of the folders has each of these documents of the state that was opened last, from 0."""
        return [bisect_right(self._ends, item.segment_ord) for item in addresses]

    def _part_states(self) -> list[tantivy.Searcher]:
        return [reader.current()[1] for reader in self._readers]

    def _open(self) -> None:
        """Opens the current states. If one changes meanwhile, the newer one is opened instead."""
        for attempt in range(_ATTEMPTS):
            states = self._part_states()
            try:
                parts = [_Part(folder, json.loads((folder / META_FILE).read_bytes())) for folder in self._folders]
                opened = self._opened(parts)
            except (OSError, ValueError):
                if attempt == _ATTEMPTS - 1 or self._is_current(states):
                    raise
                continue
            if attempt >= _ATTEMPTS_FOR_THE_LATEST - 1 or self._is_current(states):
                self._index, self._searcher = opened
                self._states = states
                ends = [sum(len(part.state["segments"]) for part in parts[:number]) for number in range(len(parts) + 1)]
                self._ends = ends[1:]
                return

    def _is_current(self, states: Sequence[tantivy.Searcher]) -> bool:
        return all(new is old for new, old in zip(self._part_states(), states, strict=True))

    def _opened(self, parts: Sequence[_Part]) -> Opened:
        opened = self._join(parts, {})
        if self._moved is None:
            return opened
        older = self._moved.older([[*part.segments()] for part in parts], opened)
        return self._join(parts, older) if older else opened

    def _join(self, parts: Sequence[_Part], without: Mapping[str, Collection[int]]) -> Opened:
        """Opens the parts as one index, without these documents of some segments."""
        try:
            shadow = tempfile.TemporaryDirectory(prefix="goodbot-index-", ignore_cleanup_errors=True)
        except OSError as error:
            raise RunError(f"cannot make a temporary folder ({error.strerror}); set TMPDIR to another") from error
        try:
            with shadow as name:
                place = Path(name)
                segments = [item for part in parts for item in self._linked(part, place, without)]
                first = parts[0].state
                opstamp = max(int(part.state["opstamp"]) for part in parts)
                state = {**first, "segments": segments, "opstamp": opstamp}
                (place / META_FILE).write_text(json.dumps(state), encoding="utf-8")
                index = tantivy.Index.open(str(place))
                index.config_reader("manual")
                index.reload()
                return index, index.searcher()
        finally:  # a thread of Tantivy may create the lock file again while the folder is deleted
            shutil.rmtree(name, ignore_errors=True)

    def _linked(self, part: _Part, place: Path, without: Mapping[str, Collection[int]]) -> Iterator[dict[str, Any]]:
        """Links the files of a part. Yields its segments, as the joined index has them."""
        source = part.folder.resolve()
        for name in segment_files(part.state, self._fields):
            if (place / name).is_symlink():
                raise InputError(f"{part.folder} has parts of another index that is searched with it: one is a copy")
            if not name.endswith(".del") or name.partition(".")[0] not in without:
                (place / name).symlink_to(source / name)
        for item, segment in zip(part.state["segments"], part.segments(), strict=True):
            documents = without.get(segment.name)
            if documents is None:
                yield item
                continue
            kept = KeptDocuments(segment.documents, segment.removed)
            kept.remove(documents)
            opstamp = int(part.state["opstamp"])
            kept.write(place / f"{segment.name}.{opstamp}.del", source / f"{segment.name}.term")
            yield {**item, "deletes": {"num_deleted_docs": kept.removed(), "opstamp": opstamp}}

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Turns the errors of the engine, also its panics, into DamagedError."""
        try:
            yield
        except GoodbotError:
            raise
        except Exception as error:
            raise self._damaged(error) from error
        except BaseException as error:
            if type(error).__name__ == "PanicException":  # of pyo3; it cannot be imported
                raise self._damaged(error) from error
            raise

    def _damaged(self, error: BaseException) -> DamagedError:
        detail = " ".join(str(error).split())[:200]
        return DamagedError(f"one of the indexes in {', '.join(map(str, self._folders))} cannot be read ({detail})")


def _check_different(folders: Sequence[Path]) -> None:
    """Raises InputError if two folders have the same index, or copies of one."""
    known: dict[str, Path] = {}
    for folder in folders:
        identity = load_mark(folder).identity  # empty for an old index
        if identity and identity in known:
            raise InputError(f"{known[identity]} and {folder} have the same index: give it once")
        known[identity] = folder
