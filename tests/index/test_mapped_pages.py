"""Mapped files of an index do not stay in memory."""

import gc
import mmap
import os
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil
import pytest

from goodbot.index import TantivyIndex, TantivySearch
from goodbot.index.mapped_pages import MappedPages, return_pages
from goodbot.search_values import Document

SIZE = 4 * 1024 * 1024

pytestmark = pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="needs /proc")


def resident(file: Path) -> int:
    """Bytes of a mapped file that count as memory of this process."""
    parts = re.split(r"^(?=[0-9a-f]+-[0-9a-f]+ )", Path("/proc/self/smaps").read_text(), flags=re.MULTILINE)
    found = [part for part in parts if str(file) in part.partition("\n")[0]]
    return sum(int(size) * 1024 for part in found for size in re.findall(r"^Rss: +([0-9]+) kB", part, re.MULTILINE))


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder on a disk: the files of tests are in memory anyway."""
    with TemporaryDirectory(dir="/var/tmp") as folder:
        yield Path(folder)


def is_in_memory_anyway(folder: Path) -> bool:
    mounts = [part for part in psutil.disk_partitions(all=True) if folder.is_relative_to(part.mountpoint)]
    return max(mounts, key=lambda part: len(part.mountpoint)).fstype in ("tmpfs", "ramfs")


def test_pages_that_were_read_leave_the_memory_and_keep_their_bytes(folder: Path) -> None:
    if is_in_memory_anyway(folder):
        pytest.skip("/var/tmp is no disk")
    file = folder / "segment"
    data = bytes(range(256)) * (SIZE // 256)
    file.write_bytes(data)
    with file.open("rb") as opened:
        os.fsync(opened.fileno())
        mapped = mmap.mmap(opened.fileno(), 0, prot=mmap.PROT_READ)
    assert mapped[:] == data
    assert resident(file) == SIZE
    if return_pages(folder) is None:
        pytest.skip("this kernel cannot do it")
    assert resident(file) < SIZE // 8
    assert mapped[:] == data
    mapped.close()


def test_other_folders_are_left_alone(folder: Path) -> None:
    file = folder / "index2"
    file.write_bytes(bytes(SIZE))
    with file.open("rb") as opened:
        mapped = mmap.mmap(opened.fileno(), 0, prot=mmap.PROT_READ)
    assert mapped[:] == bytes(SIZE)
    assert not return_pages(folder / "index")
    assert resident(file) == SIZE
    mapped.close()


def test_an_index_is_whole_whose_pages_are_given_back_all_the_time(folder: Path) -> None:
    index = TantivyIndex(folder / "index")
    for number in range(400):
        index.add(Document(id=str(number), url=f"https://example.org/{number}", title="", text=f"robot number{number}"))
        if number % 10 == 9:
            index.commit()
            return_pages(folder / "index")
    index.close()
    search = TantivySearch(folder / "index")
    assert search.count() == 400
    assert [hit.id for hit in search.search("number123").hits][:1] == ["123"]


def test_closing_twice(folder: Path) -> None:
    pages = MappedPages(folder)
    pages.close()
    pages.close()


def test_the_thread_of_one_that_is_dropped_ends(folder: Path) -> None:
    before = set(threading.enumerate())
    pages = MappedPages(folder)
    (thread,) = set(threading.enumerate()) - before
    del pages
    gc.collect()
    thread.join(10)
    assert not thread.is_alive()
