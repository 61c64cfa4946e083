"""Keeps index files that Tantivy has mapped from filling the memory of the process.

A merge reads its segments through mmap, and the kernel counts what was read as memory of the process until the files
are unmapped: 150 MB for a merge of 15,000 documents, and more with each larger one. A merge reads forward and seldom
reads the same memory twice, so a thread returns that memory to the kernel while the merge runs. This works on Linux
from 5.4; elsewhere the thread does nothing."""

import ctypes
import errno
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Final
from weakref import finalize

_MAPS: Final = Path("/proc/self/maps")
_PAGEOUT: Final = 21
"""MADV_PAGEOUT removes memory pages and changes no data. MADV_DONTNEED could lose data: other threads map and
unmap meanwhile, so the range may belong to something else by then."""

_BUSY_INTERVAL_S: Final = 0.1
_IDLE_INTERVAL_S: Final = 0.5
"""The time between two searches for mapped files, after a search that found some and after one that found none. A
search takes 0.2 ms."""


class MappedPages:
    """Returns the mapped memory of the files in one folder to the kernel, in a thread, until `close` or until this
    object is garbage-collected."""

    def __init__(self, folder: Path) -> None:
        closed = Event()
        self._end = finalize(self, closed.set)
        self._thread = Thread(target=_run, args=(folder, closed), name="mapped index pages", daemon=True)
        if _MAPS.exists():
            self._thread.start()

    def close(self) -> None:
        """Ends the thread. It may be called again."""
        self._end()
        if self._thread.is_alive():
            self._thread.join()


def _run(folder: Path, closed: Event) -> None:
    """Runs in the thread. It has no reference to its `MappedPages`, so that this can be garbage-collected."""
    wait_s: float | None = _IDLE_INTERVAL_S
    while wait_s is not None and not closed.wait(wait_s):
        mapped = return_pages(folder)
        if not mapped and wait_s == _BUSY_INTERVAL_S:
            _trim()  # returns what the merge has freed
        wait_s = None if mapped is None else _BUSY_INTERVAL_S if mapped else _IDLE_INTERVAL_S


def return_pages(folder: Path) -> int | None:
    """Returns the pages of all mapped files in `folder` to the kernel, which reads them again if they are needed.
    Returns the number of mappings, or None if the kernel cannot do this."""
    madvise = ctypes.CDLL(None, use_errno=True).madvise
    madvise.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    count = 0
    for start, end in _mappings(folder):
        count += 1
        # ENOMEM means that the file was unmapped since the list was read.
        if madvise(start, end - start, _PAGEOUT) and ctypes.get_errno() in (errno.EINVAL, errno.ENOSYS):
            return None
    return count


def _trim() -> None:
    """Makes glibc return free memory, which it keeps otherwise: 16 MB after some merges."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _mappings(folder: Path) -> Iterator[tuple[int, int]]:
    """Yields the address ranges of the mapped files in `folder`: first byte, and the byte after the last."""
    try:
        prefix, maps = bytes(folder.resolve()) + b"/", _MAPS.read_bytes()
    except OSError:
        return
    if prefix not in maps:
        return
    for line in maps.splitlines():
        if prefix in line:
            start, _, end = line.partition(b" ")[0].partition(b"-")
            yield int(start, 16), int(end, 16)
