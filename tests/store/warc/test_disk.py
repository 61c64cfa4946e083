"""Tests the SQLite frontier on a full or read-only disk: one clear error, and nothing lost once there is room."""

import subprocess
import sys
from pathlib import Path

import pytest

from disks import MOUNTS, small_disk
from goodbot.errors import RunError
from goodbot.store.sqlite.frontier import SqliteFrontier
from goodbot.url import Url
from goodbot.values import Discovery, Outcome, Release

HOME = Url("https://example.org/")

_UNTIL_FULL = """
import resource, sys
from pathlib import Path
from goodbot.errors import RunError
from goodbot.store.sqlite.frontier import SqliteFrontier
from goodbot.url import Url
from goodbot.values import Discovery, Outcome, Release

if limit := int(sys.argv[2]):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
try:
    with SqliteFrontier.open(Path(sys.argv[1]), create=True) as frontier:
        frontier.add([Discovery(Url("https://example.org/"), 0)])
        while True:
            for lease in frontier.lease(1, 64, 1e9):
                outcomes = [
                    Outcome(item.url, "visited", 1.0, "ok" * 50, token=lease.token, links=tuple(
                        Discovery(Url(f"{item.url.text.rstrip('/')}/{n}"), item.depth + 1, item.url) for n in "1234"))
                    for item in lease.urls
                ]
                frontier.settle(outcomes, [Release(lease.host, 0.0, token=lease.token)])
                print(len(outcomes), flush=True)
except RunError as error:
    print(f"{type(error).__name__}: {error}", file=sys.stderr)
    raise SystemExit(error.exit_status)
"""


def fill(path: Path, limit_bytes: int = 0) -> tuple[int, str]:
    """Crawls until there is no room; gives how many pages were acknowledged, and what was said."""
    done = subprocess.run(
        [sys.executable, "-c", _UNTIL_FULL, str(path), str(limit_bytes)],
        check=False,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 3, done.stderr
    return sum(map(int, done.stdout.split())), done.stderr


def check_whole_and_going_on(path: Path, visited: int) -> None:
    """Nothing acknowledged is missing, nothing half there, and the crawl can go on."""
    with SqliteFrontier.open(path) as frontier:
        status = frontier.status()
        assert (status.pages, status.states["leased"], status.states["ready"]) == (visited, 0, 3 * visited + 1)
        assert len(list(frontier.records())) == 4 * visited + 1
        (lease,) = frontier.lease(1, 1, 1e9)
        done = Outcome(lease.urls[0].url, "visited", 2.0, "ok", token=lease.token)
        frontier.settle([done], [Release(lease.host, 0.0, token=lease.token)])
        assert frontier.status().pages == visited + 1


def test_a_file_that_may_not_grow(tmp_path: Path) -> None:
    path = tmp_path / "crawl" / "frontier.sqlite"
    visited, said = fill(path, 2_000_000)
    assert visited > 100
    assert said.startswith("RunError: cannot use ")
    assert said.count("\n") == 1
    check_whole_and_going_on(path, visited)


@MOUNTS
def test_a_disk_that_is_full(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 4) as disk:
        path = disk / "crawl" / "frontier.sqlite"
        visited, said = fill(path)
        assert visited > 100
        assert said.startswith("RunError: cannot use ")
        assert said.count("\n") == 1
        subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
        check_whole_and_going_on(path, visited)


@MOUNTS
def test_a_disk_that_can_only_be_read(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 4) as disk:
        path = disk / "crawl" / "frontier.sqlite"
        with SqliteFrontier.open(path, create=True) as frontier:
            frontier.add([Discovery(HOME, 0)])
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        for wanted in (path, disk / "new" / "frontier.sqlite"):
            with pytest.raises(RunError, match=r"cannot use .*: Read-only file system") as caught:
                SqliteFrontier.open(wanted, create=True)
            assert "\n" not in str(caught.value)
        with SqliteFrontier.open(path, read_only=True) as reader:
            assert reader.status().states["ready"] == 1
