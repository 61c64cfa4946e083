"""A store in a folder of this computer: disks that fail, killed writers, locks that lock nothing."""

import ctypes
import errno
import fcntl
import os
import platform
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from disks import MOUNTS, remount, small_disk
from goodbot.cluster.spark import local_files
from goodbot.cluster.spark.local_files import LocalFiles
from goodbot.cluster.spark.mounts import locks_stay_here
from goodbot.errors import BusyError, DamagedError, InputError, RunError

KILLED_BEFORE_THE_RENAME = """
import os, signal, sys
from pathlib import Path
from goodbot.cluster.spark.local_files import LocalFiles
sys.addaudithook(lambda event, arguments: event == "os.rename" and os.kill(os.getpid(), signal.SIGKILL))
LocalFiles(Path(sys.argv[1])).write_if("pointer", b"new", None)
"""
LATER = 1e12
FLOCK_NUMBERS = {"x86_64": 73, "aarch64": 32}
"""The number of the system call `flock`."""


def test_a_killed_writer_leaves_a_draft(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED_BEFORE_THE_RENAME, str(tmp_path)], check=False)
    assert done.returncode == -signal.SIGKILL
    files = LocalFiles(tmp_path)
    assert files.list() == []
    assert files.write_if("pointer", b"mine", None) is not None
    files.write("warc/kept", b"")
    assert files.remove_drafts(time.time() - 60) == 0
    assert files.remove_drafts(LATER) == 1
    assert files.remove_drafts(LATER) == 0
    assert [path for path, _ in files.list()] == ["pointer", "warc/kept"]


def test_the_draft_of_a_living_writer_is_removed(tmp_path: Path) -> None:
    files = LocalFiles(tmp_path)

    def write() -> None:
        with files.open_output("parts/1") as out:
            out.write(b"half")
            assert files.remove_drafts(LATER) == 1

    with pytest.raises((InputError, RunError), match=r"cannot write .*parts/1: No such file"):
        write()
    assert files.list() == []


def test_a_file_in_place_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    in_place = LocalFiles(tmp_path / "file" / "store")
    with pytest.raises(InputError, match=r"cannot make the folder .*file/store: a file is in the way"):
        in_place.write("a", b"")
    with pytest.raises(InputError, match="a file is in the way"):
        in_place.write_if("a", b"", None)
    with pytest.raises(InputError, match="a file is in the way"):
        in_place.check_conditional()
    assert in_place.read("a") is None
    with pytest.raises(DamagedError, match="file/store/a is missing"):
        in_place.open_input("a")
    with pytest.raises(InputError, match=r"file/store is a file, not a folder|file is a file, not a folder"):
        in_place.list()
    in_place.remove(["a"])


def test_a_folder_in_place_of_a_file(tmp_path: Path) -> None:
    files = LocalFiles(tmp_path)
    local = tmp_path / "local"
    local.write_bytes(b"x")
    files.write("a/b", b"")
    with pytest.raises(InputError, match=r"cannot write .*/a: it is not a regular file"):
        files.write("a", b"")
    with pytest.raises(InputError, match=r"cannot write .*/a: it is not a regular file"):
        files.upload(local, "a")
    with pytest.raises(RunError, match=r"cannot read .*/a: Is a directory"):
        files.read("a")
    with pytest.raises(RunError, match=r"cannot remove .*/a: Is a directory"):
        files.remove(["a"])
    assert local.exists()


def test_a_pipe_in_place_of_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    files = LocalFiles(tmp_path)
    with pytest.raises(RunError, match="pipe: it is not a regular file"):
        files.read("pipe")
    with pytest.raises(InputError, match="pipe: it is not a regular file"):
        files.write("pipe", b"")
    assert files.list() == []


def test_nothing_is_written_through_a_symbolic_link(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(b"x")
    files = LocalFiles(tmp_path / "store")
    files.write("a", b"")
    link = tmp_path / "store" / "link"
    link.symlink_to(outside)
    assert [path for path, _ in files.list()] == ["a"]
    files.write("link", b"y")
    assert (outside.read_bytes(), link.is_symlink(), files.read("link")) == (b"x", False, b"y")


def test_a_file_that_cannot_be_moved_stays(tmp_path: Path) -> None:
    files = LocalFiles(tmp_path / "store")
    with pytest.raises(RunError, match=r"cannot read .*missing: No such file"):
        files.upload(tmp_path / "missing", "a")
    assert files.list() == []


@MOUNTS
def test_a_file_is_moved_from_another_disk(tmp_path: Path) -> None:
    files = LocalFiles(tmp_path / "store")
    with small_disk(tmp_path / "disk", 2) as disk:
        local = disk / "new.warc.gz"
        local.write_bytes(b"x" * 1_500_000)
        files.upload(local, "warc/1")
        assert not local.exists()
    assert files.list() == [("warc/1", 1_500_000)]


@MOUNTS
def test_a_full_disk(tmp_path: Path) -> None:
    big = b"x" * 2_000_000
    local = tmp_path / "local"
    local.write_bytes(big)
    with small_disk(tmp_path / "disk", 1) as disk:
        files = LocalFiles(disk / "store")
        tag = files.write_if("pointer", b"old", None)

        def write_out() -> None:
            with files.open_output("pointer") as out:
                for start in range(0, len(big), 1000):
                    out.write(big[start : start + 1000])

        attempts: list[Callable[[], object]] = [
            lambda: files.write("pointer", big),
            lambda: files.write_if("pointer", big, tag),
            lambda: files.upload(local, "pointer"),
            write_out,
        ]
        for attempt in attempts:
            with pytest.raises(RunError, match=r"cannot (write|move) .*: No space left on device"):
                attempt()
        assert files.list() == [("pointer", 3)]
        assert files.remove_drafts(LATER) == 0
        assert files.write_if("pointer", b"new", tag) is not None
    assert local.exists()


@MOUNTS
def test_a_disk_that_is_read_only(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 1) as disk:
        files = LocalFiles(disk)
        files.write("a", b"old")
        remount(disk, "ro")
        attempts: list[Callable[[], object]] = [
            lambda: files.write("a", b"new"),
            lambda: files.write("new/folder/a", b"new"),
            lambda: files.write_if("a", b"new", None),
            lambda: files.remove(["a"]),
            files.check_conditional,
        ]
        for attempt in attempts:
            with pytest.raises(RunError, match=r"cannot .*: (Read-only file system|Permission denied)"):
                attempt()
        assert files.read("a") == b"old"
        remount(disk, "rw")


def test_a_lock_that_is_never_given_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = LocalFiles(tmp_path)
    monkeypatch.setattr(local_files, "_LOCK_TIMEOUT_S", 0.05)
    assert files.write_if("a", b"1", None) is not None
    with (tmp_path / ".lock").open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(BusyError, match=r"another process has kept .*/\.lock locked for \d+ s: find it"):
            files.write_if("a", b"2", None)


@pytest.mark.skipif(platform.machine() not in FLOCK_NUMBERS or sys.platform != "linux", reason="needs seccomp")
@pytest.mark.parametrize(
    ("answer", "reason"),
    [(0, "flock does not exclude others"), (errno.ENOLCK, "flock: No locks available")],
)
def test_a_folder_without_locks_is_refused(tmp_path: Path, answer: int, reason: str) -> None:
    """The system says that it has locked, and has not, as some network file systems do; or that it cannot."""
    raised: list[InputError] = []

    def check() -> None:
        _let_flock_answer(answer)
        try:
            LocalFiles(tmp_path).check_conditional()
        except InputError as error:
            raised.append(error)

    thread = threading.Thread(target=check)  # the filter ends with the thread
    thread.start()
    thread.join()
    [error] = raised
    assert f"does not support conditional writes ({reason}), so two drivers" in str(error)
    assert os.listdir(tmp_path) == []


def _let_flock_answer(number: int) -> None:
    """From now on `flock` does nothing in this thread, and returns this error number; 0: success."""

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_void_p)]

    flock = FLOCK_NUMBERS[platform.machine()]
    steps = [
        (0x20, 0, 0, 0),  # load the number of the system call
        (0x15, 0, 1, flock),  # another one: skip the next step
        (0x06, 0, 0, 0x00050000 | number),  # SECCOMP_RET_ERRNO
        (0x06, 0, 0, 0x7FFF0000),  # SECCOMP_RET_ALLOW
    ]
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in steps))
    program = Program(len(steps), ctypes.cast(code, ctypes.c_void_p))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(38, 1, 0, 0, 0) == 0  # PR_SET_NO_NEW_PRIVS
    assert libc.prctl(22, 2, ctypes.byref(program), 0, 0) == 0  # PR_SET_SECCOMP


NFS = "36 25 0:52 / /mnt/store rw,relatime shared:1 - nfs4 server:/store rw,vers=4.2,{},addr=10.0.0.1"


@pytest.mark.parametrize(
    ("line", "stay_here"),
    [
        (NFS.format("local_lock=none"), False),
        (NFS.format("local_lock=all"), True),
        (NFS.format("local_lock=flock"), True),
        (NFS.format("local_lock=posix"), False),
        (NFS.replace("nfs4", "nfs").format("nolock,proto=tcp"), True),
        (NFS.replace("0:52", "0:53").format("local_lock=all"), False),
        (NFS.replace("nfs4", "ext4").format("nolock"), False),
        ("", False),
        ("garbage - nfs", False),
    ],
)
def test_mounts_whose_locks_other_machines_do_not_see(line: str, stay_here: bool) -> None:
    others = "22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n"
    assert locks_stay_here(f"{others}{line}\n", "0:52") is stay_here
