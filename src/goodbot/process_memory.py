"""Reads how much memory processes take (Linux), and sets how much freed memory this process keeps (glibc). On other
systems there is nothing to read, and nothing is changed."""

import ctypes
from pathlib import Path
from typing import Final, NamedTuple

_PROC: Final = Path("/proc")

_TRIM_THRESHOLD: Final = -1
_MMAP_THRESHOLD: Final = -3
_ARENA_MAX: Final = -8
"""Parameters of glibc's `mallopt`."""

_LARGE_BYTES: Final = 256 * 1024
_FREE_TOP_BYTES: Final = 1024 * 1024


class Memory(NamedTuple):
    """The memory of a process in bytes. `pss` counts a memory page that n processes share as 1/n of a page, so the sum
    over the processes of a crawl is what the crawl takes; `rss` counts a shared page whole in each process."""

    pss: int
    rss: int


def memory_of(process: int) -> Memory | None:
    """Returns the memory of a process, which must belong to the same user; None if the system does not report it, or if
    the process has ended. The call takes 1.8 ms for a process of 100 MB, since the kernel counts the pages."""
    try:
        lines = (_PROC / str(process) / "smaps_rollup").read_bytes().splitlines()
    except OSError:
        return None
    sizes = {fields[0]: fields[1] for line in lines if len(fields := line.split()) == 3}
    try:
        return Memory(int(sizes[b"Pss:"]) * 1024, int(sizes[b"Rss:"]) * 1024)
    except (KeyError, ValueError):
        return None


def return_freed_memory() -> None:
    """Makes glibc return large blocks to the system as soon as they are freed; for `goodbot crawl`.

    It makes glibc place blocks of 256 KiB and more outside the heap, and use one heap for all threads. By default glibc
    raises that size whenever a larger block is freed, and gives each thread a heap of its own; then tantivy's blocks of
    1 MB come from these heaps, and are not returned. While 4,500 pages were indexed with a commit every 500, the
    process took 11 MB instead of 33 above its size at the start after a commit, and 23 instead of 38 at the peak, at
    the same CPU time (docs/decisions/0038).
    """
    _set_parameters({_MMAP_THRESHOLD: _LARGE_BYTES, _TRIM_THRESHOLD: _FREE_TOP_BYTES, _ARENA_MAX: 1})


def keep_freed_blocks() -> None:
    """Makes glibc return blocks of 1 MiB and more to the system after use, and keep smaller ones; for processes that
    read pages. With a limit of 256 KiB, pages of 240 kB took 25 % more CPU time, for the page faults of getting the
    memory again (docs/decisions/0037)."""
    _set_parameters({_MMAP_THRESHOLD: 1024 * 1024, _TRIM_THRESHOLD: 4 * 1024 * 1024})


def return_free_pages() -> None:
    """Makes glibc return all memory pages that are free to the system, also those between blocks in use."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _set_parameters(values: dict[int, int]) -> None:
    set_parameter = getattr(ctypes.CDLL(None), "mallopt", None)
    if set_parameter is not None:
        for parameter, value in values.items():
            set_parameter(parameter, value)
