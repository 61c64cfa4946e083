"""The contract of the files of a store, run over a local folder and over an S3 server."""

import os
import pickle
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goodbot.cluster.spark.opening import open_files
from goodbot.cluster.spark.store_files import FileEntry, StoreFiles
from goodbot.errors import DamagedError

KINDS = ("local", "s3")
MIB = 1 << 20
TABLE = pa.table({"url": [f"http://site{n}.example/" for n in range(3000)], "at": [float(n) for n in range(3000)]})

COUNTS = """
import sys
from goodbot.cluster.spark.opening import open_files
files, times = open_files(sys.argv[1]), int(sys.argv[2])
while times:
    found = files.read_tagged("count")
    if files.write_if("count", b"%d %d" % (int(found.data.split()[0]) + 1, id(found)), found.tag):
        times -= 1
"""
KEEPS_ALL = """
import os, sys
import pyarrow.parquet as pq
from goodbot.cluster.spark.opening import open_files
files = open_files(sys.argv[1])
child = os.fork()
file = files.open_input("part.parquet")
table = pq.ParquetFile(file, pre_buffer=True)
assert table.read().num_rows == 3000
if child:
    assert os.waitpid(child, 0)[1] == 0
    writer = files.open_output("unfinished")
    writer.__enter__().write(b"half")
"""


@pytest.fixture(params=KINDS)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "local":
        return str(tmp_path / "store")
    found: str = request.getfixturevalue("s3_url")
    return found


@pytest.fixture
def files(url: str) -> StoreFiles:
    return open_files(url)


def test_a_file_is_written_read_and_replaced(files: StoreFiles) -> None:
    assert files.read("warc/a b.gz") is None
    files.write("warc/a b.gz", b"one")
    files.write("warc/a b.gz", b"")
    assert files.read("warc/a b.gz") == b""
    files.write("warc/a b.gz", b"two")
    assert files.read("warc/a b.gz") == b"two"
    assert files.read("warc/a b.gz/c") is None


@pytest.mark.parametrize(
    "path",
    ["", "/a", "a//b", "a/", "..", "../a", "a/../b", ".", "./a", ".lock", "a/.goodbot-1.part", "a\0", "a\nb", "\ud800"],
)
def test_no_path_leads_out_of_the_store(files: StoreFiles, path: str, tmp_path: Path) -> None:
    local = tmp_path / "local"
    local.write_bytes(b"x")
    attempts: list[Callable[[], object]] = [
        lambda: files.read(path),
        lambda: files.write(path, b"x"),
        lambda: files.open_input(path),
        lambda: files.open_output(path).__enter__(),
        lambda: files.upload(local, path),
        lambda: files.remove([path]),
        lambda: files.read_tagged(path),
        lambda: files.write_if(path, b"x", None),
    ]
    for attempt in attempts if path == "" else [*attempts, lambda: files.list(path)]:
        with pytest.raises(DamagedError, match="is not the path of a file in a store"):
            attempt()
    assert files.list() == []
    assert local.exists()


def test_files_are_listed_with_their_sizes(files: StoreFiles) -> None:
    assert files.list() == files.list("part") == []
    for path in ("part/2/b", "part/1/a", "part-2/c", "part/2/ä", "z"):
        files.write(path, path.encode())
    assert files.list("part") == [FileEntry("part/1/a", 8), FileEntry("part/2/b", 8), FileEntry("part/2/ä", 9)]
    assert [path for path, _ in files.list()] == ["part-2/c", "part/1/a", "part/2/b", "part/2/ä", "z"]
    assert files.list("part/2/c") == []
    neighbour = open_files(f"{files.url}2")
    neighbour.write("x", b"")
    assert len(files.list()) == 5


def test_files_are_removed(files: StoreFiles) -> None:
    files.write("a/b", b"")
    files.write("a/c", b"")
    files.remove(["a/b", "missing", "missing/too", "a/c/d"])
    assert files.list() == [FileEntry("a/c", 0)]
    files.remove([])
    files.remove(f"a/{number}" for number in range(1001))
    assert files.list() == [FileEntry("a/c", 0)]


def test_a_parquet_file_is_written_and_read(files: StoreFiles) -> None:
    with files.open_output("parts/1.parquet") as out, pq.ParquetWriter(out, TABLE.schema) as writer:
        writer.write_table(TABLE, row_group_size=1000)
        assert files.list() == []
        assert out.tell() > 0
    assert [path for path, _ in files.list()] == ["parts/1.parquet"]
    for pre_buffer in (False, True):
        with files.open_input("parts/1.parquet") as file:
            opened = pq.ParquetFile(file, pre_buffer=pre_buffer)
            assert opened.read() == TABLE
            assert opened.read_row_group(1, columns=["at"]).column("at")[0].as_py() == 1000.0


def test_a_file_is_read_at_any_position(files: StoreFiles) -> None:
    content = os.urandom(200_000)
    files.write("file", content)
    file = files.open_input("file")
    assert file.size() == len(content)
    for start, size in ((0, 10), (199_990, 100), (130_000, 20_000), (134_464, 65_536), (200_000, 1), (0, 200_000)):
        file.seek(start)
        assert file.read(size) == content[start : start + size]
    assert file.read() == b""
    files.write("empty", b"")
    empty = files.open_input("empty")
    assert (empty.size(), empty.read()) == (0, b"")


def test_a_missing_file_cannot_be_opened(files: StoreFiles) -> None:
    with pytest.raises(DamagedError, match=r"store/parts/1\.parquet is missing"):
        files.open_input("parts/1.parquet")


@pytest.mark.parametrize("old", [None, b"old"])
@pytest.mark.parametrize("error", [OSError("of the block"), KeyError("of the block"), KeyboardInterrupt()])
def test_a_block_that_raises_writes_nothing(files: StoreFiles, old: bytes | None, error: BaseException) -> None:
    if old is not None:
        files.write("file", old)

    def block() -> None:
        with files.open_output("file") as out:
            out.write(os.urandom(9 * MIB))
            raise error

    with pytest.raises(type(error)) as caught:
        block()
    assert caught.value is error
    assert files.read("file") == old
    assert len(files.list()) == (old is not None)


def test_a_local_file_is_moved_into_the_store(files: StoreFiles, tmp_path: Path) -> None:
    local = tmp_path / "new.warc.gz"
    for content in (b"small", b"", os.urandom(20 * MIB)):
        local.write_bytes(content)
        files.upload(local, "warc/new.warc.gz")
        assert not local.exists()
        assert files.read("warc/new.warc.gz") == content
    assert files.list() == [FileEntry("warc/new.warc.gz", 20 * MIB)]


def test_a_file_is_written_on_a_condition(files: StoreFiles) -> None:
    assert files.read_tagged("pointer") is None
    assert files.write_if("pointer", b"0", "no such tag") is None
    first = files.write_if("pointer", b"1", None)
    assert first is not None
    assert files.write_if("pointer", b"2", None) is None
    second = files.write_if("pointer", b"3", first)
    assert second is not None
    assert files.write_if("pointer", b"4", first) is None
    assert files.read_tagged("pointer") == (b"3", second)
    files.write("pointer", b"5")
    assert files.write_if("pointer", b"6", second) is None
    assert files.read("pointer") == b"5"
    files.remove(["pointer"])
    assert files.write_if("pointer", b"7", second) is None
    assert files.write_if("pointer", b"8", None) is not None


def test_the_store_can_write_conditionally(files: StoreFiles) -> None:
    files.check_conditional()
    files.check_conditional()
    assert files.list() == []


def test_one_of_many_threads_creates_a_file(files: StoreFiles) -> None:
    start = threading.Barrier(8)

    def create(number: int) -> str | None:
        start.wait()
        return files.write_if("pointer", b"%d" % number, None)

    with ThreadPoolExecutor(8) as threads:
        tags = list(threads.map(create, range(8)))
    [winner] = (number for number, tag in enumerate(tags) if tag is not None)
    assert files.read_tagged("pointer") == (b"%d" % winner, tags[winner])


@pytest.mark.long
def test_processes_lose_no_write(url: str, files: StoreFiles) -> None:
    files.write("count", b"0 0")
    programs = [subprocess.Popen([sys.executable, "-c", COUNTS, url, "8"]) for _ in range(2)]
    assert [program.wait() for program in programs] == [0, 0]
    count = files.read("count")
    assert count is not None
    assert count.split()[0] == b"16"


def test_a_process_ends_whatever_it_has_open(url: str, files: StoreFiles) -> None:
    """Also one that was forked, as Spark forks its workers."""
    with files.open_output("part.parquet") as out:
        pq.write_table(TABLE, out)
    done = subprocess.run([sys.executable, "-c", KEEPS_ALL, url], timeout=120, check=False, capture_output=True)
    assert (done.returncode, done.stdout) == (0, b""), done.stderr
    assert [path for path, _ in files.list()] == ["part.parquet"]


def test_files_are_sent_to_another_process(files: StoreFiles) -> None:
    files.write("file", b"x")
    sent = pickle.dumps(files)
    again: StoreFiles = pickle.loads(sent)
    assert (again.url, again.read("file")) == (files.url, b"x")
    assert b"sesame" not in sent


NAMES = st.sampled_from(["a", "a-b", "b/c", "b/d/e", "b-/c", "c/é"])
STEPS = st.lists(
    st.tuples(st.sampled_from(["write", "upload", "remove", "create", "replace", "replace old"]), NAMES), max_size=12
)


@pytest.mark.parametrize("kind", KINDS)
def test_a_store_behaves_like_a_dictionary(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    root = str(tmp_path) if kind == "local" else request.getfixturevalue("s3_url")
    numbers = Counter[str]()

    @settings(max_examples=50 if kind == "local" else 8)
    @given(STEPS)
    def check(steps: list[tuple[str, str]]) -> None:
        numbers["store"] += 1
        files = open_files(f"{root}/{numbers['store']}")
        expected: dict[str, bytes] = {}
        for number, (action, path) in enumerate(steps):
            _step(files, expected, action, path, b"%d" % number, tmp_path / "local")
        assert {path: files.read(path) for path, _ in files.list()} == expected
        assert dict(files.list()) == {path: len(data) for path, data in expected.items()}

    check()


def _step(files: StoreFiles, expected: dict[str, bytes], action: str, path: str, data: bytes, local: Path) -> None:
    if action == "write":
        files.write(path, data)
    elif action == "upload":
        local.write_bytes(data)
        files.upload(local, path)
    elif action == "remove":
        files.remove([path])
        expected.pop(path, None)
        return
    elif action == "create":
        is_new = path not in expected
        assert (files.write_if(path, data, None) is not None) == is_new
        if not is_new:
            return
    else:
        found = files.read_tagged(path)
        assert (None if found is None else found.data) == expected.get(path)
        if found is None or action == "replace old":
            assert files.write_if(path, data, '"0123"') is None
            return
        tag = files.write_if(path, data, found.tag)
        assert files.read_tagged(path) == (data, tag)
    expected[path] = data
