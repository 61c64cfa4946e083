"""A file of JSON lines to which several processes append, and in which nothing is ever replaced.

A line is appended with one write, under a lock. A kill can leave a torn last line: readers skip it, and the next append
cuts it off.
"""

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from goodbot.errors import RunError
from goodbot.files import cannot_write, make_folder

MAX_LINE_BYTES: Final = 1024 * 1024
"""Longer lines are not read."""

_START: Final = b'{"at": '
"""How every line that goodbot writes begins."""

_BLOCK_BYTES: Final = 64 * 1024


def line_of(at: float, fields: Mapping[str, object]) -> bytes:
    """Returns a line in ASCII, with its end: `at` (Unix seconds), then the other fields."""
    return json.dumps({"at": round(at, 3), **fields}).encode() + b"\n"


def read_line(raw: bytes) -> dict[str, Any] | None:
    """Returns the object of a line; None for anything else. Never raises; linear."""
    if len(raw) > MAX_LINE_BYTES:
        return None
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def lines_in(path: Path) -> Iterator[bytes]:
    """Yields the lines of a file, without empty ones; a line that is too long is cut, so that `read_line` refuses it. A
    missing file has none; a torn last line is left out. Raises RunError if the file cannot be read."""
    try:
        with path.open("rb") as file:
            while raw := file.readline(MAX_LINE_BYTES + 1):
                is_whole = raw.endswith(b"\n")
                rest = raw
                while not rest.endswith(b"\n") and (rest := file.readline(_BLOCK_BYTES)):
                    is_whole = rest.endswith(b"\n")
                if raw.strip() and (is_whole or not _is_torn(raw)):
                    yield raw
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise RunError(f"cannot read {path}: {error.strerror or error}") from error


@contextmanager
def appending(path: Path) -> Iterator[int]:
    """Opens a file to read and append, alone; the folder is made. Raises InputError or RunError if it cannot be
    written."""
    make_folder(path.parent)
    descriptor = -1
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
        fcntl.flock(descriptor, fcntl.LOCK_EX)  # closing releases it
        yield descriptor
    except OSError as error:
        raise cannot_write(path, error) from error
    finally:
        if descriptor >= 0:
            os.close(descriptor)


def last_lines(descriptor: int) -> list[bytes]:
    """Returns the last lines, the last one first: as many as are in twice the longest line."""
    return [line for line in reversed(_tail(descriptor, 2 * MAX_LINE_BYTES).split(b"\n")) if line]


def append(descriptor: int, line: bytes) -> None:
    """Appends a line. Cuts a torn last line off before; ends any other last line that has no end."""
    torn = _tail(descriptor, MAX_LINE_BYTES).rpartition(b"\n")[2]
    if torn and _is_torn(torn):
        os.ftruncate(descriptor, os.fstat(descriptor).st_size - len(torn))
    elif torn:
        line = b"\n" + line
    while line:  # more than one write only if the disk fills up or a signal comes
        line = line[os.write(descriptor, line) :]
    os.fsync(descriptor)


def _is_torn(raw: bytes) -> bool:
    """Whether a line without an end is the beginning of one that goodbot writes, cut by a kill."""
    return (raw.startswith(_START) or _START.startswith(raw)) and read_line(raw) is None


def _tail(descriptor: int, length: int) -> bytes:
    size = os.fstat(descriptor).st_size
    return os.pread(descriptor, min(length, size), max(0, size - length))
