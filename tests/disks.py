"""Mounts file systems for tests."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

MOUNTS = pytest.mark.skipif(os.geteuid() != 0 or shutil.which("mount") is None, reason="only root may mount")


@contextmanager
def small_disk(at: Path, megabytes: int) -> Iterator[Path]:
    """Mounts a file system of that size at `at`. Skips the test if mounting is not permitted."""
    at.mkdir()
    size = f"size={megabytes}m"
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", str(at)], check=False, capture_output=True)
    if made.returncode:
        pytest.skip("mounting is not permitted here")
    try:
        yield at
    finally:
        subprocess.run(["umount", "--lazy", str(at)], check=True)  # files that are still open there may close later


def remount(disk: Path, options: str) -> None:
    """Changes the options of a mounted file system: `ro`, `rw`, `size=64m`."""
    subprocess.run(["mount", "-o", f"remount,{options}", str(disk)], check=True)
