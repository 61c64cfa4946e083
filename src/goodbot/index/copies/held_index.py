"""Holds the files of one commit of an index open, while a crawl goes on writing, merging and deleting.

Segment files never change. An open file keeps its content when it is deleted, so nothing has to be locked or copied
first, and a kill leaves nothing behind.
"""

import json
import os
import re
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from io import BufferedIOBase, BytesIO
from pathlib import Path
from typing import Any, Final, NamedTuple

from goodbot.errors import DamagedError, GoodbotError, RunError
from goodbot.index.completions import FILE as COMPLETIONS_FILE
from goodbot.index.integrity import META_FILE, PAGE_FIELDS, require_index, segment_files
from goodbot.index.link_texts import LINK_FIELDS, POINTER
from goodbot.index.rank_file import FILE as RANKS_FILE
from goodbot.index.version_file import VERSION_FILE, check_version, remedy

_ATTEMPTS: Final = 20
_WAIT_S: Final = 0.02
_LINKS: Final = re.compile(r"links-[0-9a-f]{12}")


class HeldFile(NamedTuple):
    """An open file. `path` is relative to the folder of the index. `is_segment`: the name identifies the content, as no
    two segments have the same name."""

    path: str
    size: int
    content: BufferedIOBase
    is_segment: bool


class HeldIndex(NamedTuple):
    """The files of one commit, written at `committed_ns` (nanoseconds since 1970), with so many `documents`."""

    identity: str
    committed_ns: int
    documents: int
    files: tuple[HeldFile, ...]


class _ChangedError(Exception):
    """The index was written meanwhile."""


@contextmanager
def hold_index(folder: Path) -> Iterator[HeldIndex]:
    """Opens all files of the last commit of the index in `folder`, and closes them at the end of the block. Link texts
    that cannot be read are left out, as searches do without them.

    Raises InputError if there is no index, DamagedError or OutdatedError if it cannot be used, RunError if its files
    cannot be read.
    """
    for attempt in range(_ATTEMPTS):
        with ExitStack() as opened:
            try:
                held = _hold(folder, opened)
            except _ChangedError:
                continue
            except GoodbotError:  # perhaps a rebuilt index is replacing the old one
                if attempt == _ATTEMPTS - 1:
                    raise
                time.sleep(_WAIT_S)
                continue
            except FileNotFoundError as error:
                if attempt < _ATTEMPTS - 1:
                    time.sleep(_WAIT_S)
                    continue
                raise DamagedError(f"{error.filename} is missing: {remedy(folder)}") from error
            except OSError as error:
                raise RunError(f"cannot read the index in {folder}: {error.strerror}") from error
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
                raise DamagedError(f"{folder / META_FILE} is damaged: {remedy(folder)}") from error
            yield held
            return
    raise RunError(f"the index in {folder} changed {_ATTEMPTS} times while its files were opened: try again")


def count_documents(folder: Path) -> int:
    """Returns how many documents the segments of the index in `folder` have. Raises DamagedError if its meta.json
    cannot be read."""
    try:
        return _documents(_read_meta(folder / META_FILE)[1])
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DamagedError(f"{folder / META_FILE} is damaged: {remedy(folder)}") from error


def _hold(folder: Path, opened: ExitStack) -> HeldIndex:
    """Raises _ChangedError or FileNotFoundError if the index was written meanwhile."""
    require_index(folder)
    identity, links = check_version(folder), _read_pointer(folder)
    meta, state, committed_ns = _read_meta(folder / META_FILE)
    files = [_small(META_FILE, meta), _small(VERSION_FILE, (folder / VERSION_FILE).read_bytes())]
    files += [_open(folder, name, opened) for name in segment_files(state, PAGE_FIELDS)]
    files += _hold_links(folder, links, opened)
    if check_version(folder) != identity or _read_pointer(folder) != links:
        raise _ChangedError
    return HeldIndex(identity, committed_ns, _documents(state), tuple(files))


def _hold_links(folder: Path, pointer: bytes | None, opened: ExitStack) -> list[HeldFile]:
    try:
        name = str(json.loads(pointer)["folder"]) if pointer is not None else ""
        if not _LINKS.fullmatch(name):
            return []
        meta, state, _ = _read_meta(folder / name / META_FILE)
        names = segment_files(state, frozenset(LINK_FIELDS))
        version = (folder / name / VERSION_FILE).read_bytes()
        found = [_small(f"{name}/{META_FILE}", meta), _small(f"{name}/{VERSION_FILE}", version)]
        found += [_open(folder, f"{name}/{each}", opened) for each in names]
        found += [_open(folder, f"{name}/{each}", opened, False) for each in (RANKS_FILE, COMPLETIONS_FILE)]
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        if _read_pointer(folder) != pointer:
            raise _ChangedError from error
        return []
    return [_small(POINTER, pointer or b""), *found]


def _read_pointer(folder: Path) -> bytes | None:
    try:
        return (folder / POINTER).read_bytes()
    except FileNotFoundError:
        return None


def _read_meta(file: Path) -> tuple[bytes, dict[str, Any], int]:
    """Returns the bytes of a meta.json, its value, and when it was written."""
    with file.open("rb") as stream:
        content = stream.read()
        return content, json.loads(content), os.fstat(stream.fileno()).st_mtime_ns


def _documents(state: dict[str, Any]) -> int:
    return sum(int(each["max_doc"]) - _deleted(each) for each in state["segments"])


def _deleted(segment: dict[str, Any]) -> int:
    return int(segment["deletes"]["num_deleted_docs"]) if segment["deletes"] else 0


def _small(path: str, content: bytes) -> HeldFile:
    return HeldFile(path, len(content), BytesIO(content), False)


def _open(folder: Path, path: str, opened: ExitStack, is_segment: bool = True) -> HeldFile:
    stream = opened.enter_context((folder / path).open("rb"))
    is_named = is_segment and not path.endswith(".del")
    return HeldFile(path, os.fstat(stream.fileno()).st_size, stream, is_named)
