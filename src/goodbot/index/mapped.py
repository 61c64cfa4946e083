"""Keeps index files that tantivy has mapped from filling the memory of the process.

A merge reads its segments through mmap, and the kernel counts what was read as memory of the process until the files
are unmapped: 150 MB for a merge of 15,000 pages, and more with each larger one. A merge reads forward and seldom needs
a page again, so a thread hands those pages back to the kernel while the merge runs. On Linux from 5.4; elsewhere
nothing is done."""

import ctypes
import errno
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Final
from weakref import finalize

_MAPS: Final = Path("/proc/self/maps")
_PAGEOUT: Final = 21
"""MADV_PAGEOUT takes pages out of memory and changes no byte. MADV_DONTNEED would lose data if the range belonged to
something else by then: other threads map and unmap meanwhile."""

_BUSY_S: Final = 0.1
_IDLE_S: Final = 0.5
"""Seconds between two looks for mapped files, after a look that found some and after one that found none; a look takes
0.2 ms."""


class MappedPages:
    """The mapped pages of the files in one folder. A thread gives them back until `close`, or until this is dropped."""

    def __init__(self, folder: Path) -> None:
        closed = Event()
        self._end = finalize(self, closed.set)
        self._thread = Thread(target=_run, args=(folder, closed), name="mapped index pages", daemon=True)
        if _MAPS.exists():
            self._thread.start()

    def close(self) -> None:
        """May be called again."""
        self._end()
        if self._thread.is_alive():
            self._thread.join()


def _run(folder: Path, closed: Event) -> None:
    """The thread; it knows nothing of its `MappedPages`, so that this can be dropped."""
    wait_s: float | None = _IDLE_S
    while wait_s is not None and not closed.wait(wait_s):
        mapped = give_back(folder)
        if not mapped and wait_s == _BUSY_S:
            _trim()  # what the merge has freed
        wait_s = None if mapped is None else _BUSY_S if mapped else _IDLE_S


def give_back(folder: Path) -> int | None:
    """Gives the pages of all mapped files in `folder` back to the kernel, which reads them again if they are needed.
    Returns how many mappings there were; None if the kernel cannot do this."""
    madvise = ctypes.CDLL(None, use_errno=True).madvise
    madvise.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    count = 0
    for start, end in _mappings(folder):
        count += 1
        # ENOMEM: unmapped since the list was read.
        if madvise(start, end - start, _PAGEOUT) and ctypes.get_errno() in (errno.EINVAL, errno.ENOSYS):
            return None
    return count


def _trim() -> None:
    """Has glibc give free memory back, which it keeps otherwise: 16 MB after some merges."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _mappings(folder: Path) -> Iterator[tuple[int, int]]:
    """Address ranges, first byte and the one after the last, of files in `folder`."""
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
