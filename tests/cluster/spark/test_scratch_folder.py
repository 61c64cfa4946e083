"""Folders of tasks for files that are not whole yet: also those of tasks that were killed go."""

import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.pool import ThreadPool
from pathlib import Path

import pytest

from goodbot.cluster.spark.scratch_folder import remove_left, scratch_folder

HOLDS_A_FOLDER = """
import sys
from goodbot.cluster.spark.scratch_folder import scratch_folder
with scratch_folder() as folder:
    (folder / "deep").mkdir()
    (folder / "deep" / "file").write_bytes(b"x")
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


@contextmanager
def holder() -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """Runs a process that has a folder until its input ends."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS_A_FOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        yield process, Path(process.stdout.readline().strip())


def test_a_folder_goes_at_the_end(temporary: Path) -> None:
    with scratch_folder() as folder:
        assert folder.parent == temporary
        (folder / "file").write_bytes(b"x")
    assert list(temporary.iterdir()) == []


def test_the_folder_of_a_killed_task_goes_with_the_next(temporary: Path) -> None:
    with holder() as (living, kept), holder() as (process, left):
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert (left / "deep" / "file").exists()
        with scratch_folder() as folder:
            assert set(temporary.iterdir()) == {kept, folder}
        assert living.poll() is None
    assert list(temporary.iterdir()) == []


def test_other_folders_and_files_stay(temporary: Path) -> None:
    other, file = temporary / "goodbot-other", temporary / "goodbot-task-file"
    other.mkdir()
    file.write_bytes(b"x")
    with scratch_folder():
        assert remove_left() == 0
    assert set(temporary.iterdir()) == {other, file}


def test_many_tasks_at_once(temporary: Path) -> None:
    """No task loses its folder to another one that is starting."""

    def work(number: int) -> bool:
        with scratch_folder() as folder:
            file = folder / "file"
            file.write_text(str(number))
            remove_left()
            return file.read_text() == str(number)

    with ThreadPool(8) as pool:
        assert all(pool.map(work, range(400)))
    assert list(temporary.iterdir()) == []
