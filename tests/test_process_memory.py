"""Tests reading the memory of a process, and that freed memory goes back to the system."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from goodbot.process_memory import Memory, memory_of, return_free_pages, return_freed_memory

linux_only = pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="Linux only")

FRAGMENTING = """
from goodbot.process_memory import memory_of, return_freed_memory
import os
return_freed_memory()
bytes(1 << 20)  # freeing one makes glibc take others from the heap, unless it is told otherwise
large, small = [], []
for _ in range(50):
    large.append(b"x" * (1 << 20))
    small.append(b"x" * 100_000)
full = memory_of(os.getpid())
large.clear()
print(full.rss - memory_of(os.getpid()).rss)
"""


BETWEEN_BLOCKS = """
from goodbot.process_memory import keep_freed_blocks, memory_of, return_free_pages
import os
keep_freed_blocks()
large, small = [], []
for _ in range(200):
    large.append(b"x" * 100_000)
    small.append(b"x" * 1000)
large.clear()
full = memory_of(os.getpid())
return_free_pages()
print(full.rss - memory_of(os.getpid()).rss)
"""


@linux_only
def test_the_memory_of_this_process() -> None:
    memory = memory_of(os.getpid())
    assert memory is not None
    assert 1 << 20 < memory.pss <= memory.rss


def test_no_process() -> None:
    assert memory_of(1 << 30) is None


@linux_only
def test_large_blocks_go_back_to_the_system() -> None:
    done = subprocess.run([sys.executable, "-c", FRAGMENTING], capture_output=True, check=True, text=True)
    assert int(done.stdout) > 40 << 20


@linux_only
def test_free_pages_between_blocks_go_back_to_the_system() -> None:
    done = subprocess.run([sys.executable, "-c", BETWEEN_BLOCKS], capture_output=True, check=True, text=True)
    assert int(done.stdout) > 10 << 20


def test_where_there_is_no_glibc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("goodbot.process_memory.ctypes.CDLL", lambda name: object())
    return_freed_memory()
    return_free_pages()


def test_where_the_system_does_not_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("goodbot.process_memory._PROC", tmp_path)
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "smaps_rollup").write_text("00-ff ---p 0 00:00 0 [rollup]\nRss: 9 kB\n")
    assert memory_of(7) is None
    (tmp_path / "7" / "smaps_rollup").write_text("00-ff ---p 0 00:00 0 [rollup]\nRss: 9 kB\nPss: 5 kB\n")
    assert memory_of(7) == Memory(5120, 9216)
