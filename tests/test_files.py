"""Files are written whole or not at all."""

import os
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from goodbot.errors import InputError, RunError
from goodbot.files import create_file, write_whole

KILLED_BEFORE_THE_RENAME = """
import os, signal, sys
from goodbot.cli import main
sys.addaudithook(lambda event, arguments: event == "os.rename" and os.kill(os.getpid(), signal.SIGKILL))
main(sys.argv[1:])
"""
UNTIDY = b"user-agent:*\ndisallow:/a\ndisallow:/a\n"


def test_a_file_is_made_and_replaced(tmp_path: Path) -> None:
    file = tmp_path / "robots.txt"
    mask = os.umask(0o027)
    try:
        write_whole(file, b"one")
    finally:
        os.umask(mask)
    assert file.stat().st_mode & 0o777 == 0o640
    file.chmod(0o604)
    write_whole(file, b"two")
    assert (file.read_bytes(), file.stat().st_mode & 0o777) == (b"two", 0o604)
    assert os.listdir(tmp_path) == ["robots.txt"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a file away")
def test_a_file_keeps_its_owner(tmp_path: Path) -> None:
    file = tmp_path / "robots.txt"
    file.write_bytes(b"one")
    os.chown(file, 1234, 1235)
    write_whole(file, b"two")
    assert (file.stat().st_uid, file.stat().st_gid) == (1234, 1235)


def test_a_symbolic_link_stays_one(tmp_path: Path) -> None:
    target, link = tmp_path / "site" / "robots.txt", tmp_path / "robots.txt"
    target.parent.mkdir()
    link.symlink_to("site/robots.txt")
    write_whole(link, b"one")
    write_whole(link, b"two")
    assert (link.is_symlink(), target.read_bytes()) == (True, b"two")


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    write_whole(Path(f"/dev/fd/{writer}"), b"one")
    os.close(writer)
    assert os.read(reader, 9) == b"one"
    os.close(reader)


def test_a_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    file = tmp_path / "robots.txt"
    file.write_bytes(b"old")
    _, hard = before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20, hard))
    try:
        with pytest.raises(RunError, match=r"cannot write .*robots\.txt: File too large"):
            write_whole(file, b"new" * 10_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert (file.read_bytes(), os.listdir(tmp_path)) == (b"old", ["robots.txt"])


@pytest.mark.parametrize(
    ("problem", "error"), [("folder/robots.txt", InputError), ("folder", InputError), ("loop", RunError)]
)
def test_a_path_that_cannot_be_written_is_reported(problem: str, error: type[Exception], tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    if problem == "folder":
        (tmp_path / "folder").mkdir()
    with pytest.raises(error, match=f"cannot write .*{problem}: "):
        write_whole(tmp_path / problem, b"")


@pytest.mark.skipif(os.geteuid() == 0 and shutil.which("setpriv") is None, reason="root may write any file")
def test_a_write_protected_file_stays_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "robots.txt"
    file.write_bytes(UNTIDY)
    file.chmod(0o444)
    limited = ("setpriv", "--bounding-set", "-dac_override") if os.geteuid() == 0 else ()
    ended = subprocess.run(
        [*limited, sys.executable, "-m", "goodbot", "format", "--write", "robots.txt"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (3, b"goodbot: cannot write robots.txt: Permission denied\n")
    assert (file.read_bytes(), os.listdir(tmp_path)) == (UNTIDY, ["robots.txt"])


@pytest.mark.parametrize(
    "command",
    [
        ("format", "--write", "robots.txt"),
        ("check", "--fix", "robots.txt"),
        ("write", "--closed", "--force", "--output", "robots.txt"),
        ("write", "--merge", "robots.txt", "other.txt", "--output", "robots.txt"),
    ],
    ids=["format", "check", "write", "merge"],
)
def test_a_kill_before_the_end_leaves_the_old_robots_txt(command: tuple[str, ...], tmp_path: Path) -> None:
    file = tmp_path / "robots.txt"
    file.write_bytes(UNTIDY)
    (tmp_path / "other.txt").write_bytes(b"User-agent: *\nDisallow: /b\n")
    ended = subprocess.run(
        [sys.executable, "-c", KILLED_BEFORE_THE_RENAME, *command], cwd=tmp_path, capture_output=True, check=False
    )
    assert (ended.returncode, file.read_bytes()) == (-signal.SIGKILL, UNTIDY)


def test_a_new_file_takes_no_other_file_s_place(tmp_path: Path) -> None:
    file = tmp_path / "new"
    create_file(file, b"first", 0o640)
    assert (file.read_bytes(), file.stat().st_mode & 0o777) == (b"first", 0o640 & ~_umask())
    with pytest.raises(FileExistsError):
        create_file(file, b"second", 0o600)
    assert file.read_bytes() == b"first"
    with pytest.raises(InputError, match="no such folder"):
        create_file(tmp_path / "none" / "new", b"", 0o600)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
