"""Following logs: what is appended, rotation in every form, folders. Each line is counted once."""

import gzip
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from goodbot.watch.blocks import Block
from goodbot.watch.counting.block_counts import BlockCounts
from goodbot.watch.reader import following as following_module
from goodbot.watch.reader.following import ChangedLogs, FollowedLogs
from goodbot.watch.watch_state import WatchState
from goodbot.watch.watching import LogsRead, count_changed


class LineList:
    """A counter that remembers the lines it was given."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines

    def count(self, block: Block) -> BlockCounts:
        lines = block.data.decode().splitlines()
        self._lines += lines
        return BlockCounts(lines=len(lines))


class Following:
    """Looks when it is told to, and returns the new lines."""

    def __init__(self, *names: Path) -> None:
        self.logs = LogsRead()
        self._followed = FollowedLogs([*map(str, names)])
        self._state = WatchState()

    def close(self) -> None:
        self._followed.close()

    def look(self) -> list[str]:
        return self.count(self._followed.look())

    def count(self, changed: ChangedLogs) -> list[str]:
        lines: list[str] = []
        is_new = count_changed(changed, self._state, lambda: LineList(lines), self.logs)
        assert is_new == bool(lines)
        return lines


def append(path: Path, *lines: str) -> None:
    with path.open("a") as file:
        file.write("".join(f"{line}\n" for line in lines))


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "access.log"
    append(path, *(f"old {number}" for number in range(1000)))  # longer than what a log is known by
    return path


Followed = Callable[..., Following]


@pytest.fixture
def follow() -> Iterator[Followed]:
    """Follows logs, until the end of the test."""
    with ExitStack() as stack:
        yield lambda *names: stack.enter_context(closing(Following(*names)))


@pytest.fixture
def following(log: Path, follow: Followed) -> Following:
    """Follows a log that was counted."""
    one = follow(log)
    assert len(one.look()) == 1000
    return one


def test_appended_lines_come_once_and_whole(log: Path, following: Following) -> None:
    assert following.look() == []
    with log.open("a") as file:
        file.write("one\ntw")
    assert following.look() == ["one"]
    append(log, "o", "three")
    assert following.look() == ["two", "three"]
    assert following.look() == []


def test_a_log_that_comes_later(tmp_path: Path, follow: Followed) -> None:
    following = follow(tmp_path / "later" / "access.log")
    assert following.look() == []
    (tmp_path / "later").mkdir()
    append(tmp_path / "later" / "access.log", "one")
    assert following.look() == ["one"]


def test_a_renamed_log_is_read_to_its_end(log: Path, following: Following) -> None:
    append(log, "one")
    log.rename(log.with_name("access.log.1"))
    append(log.with_name("access.log.1"), "two")
    append(log, "three")
    assert following.look() == ["one", "two", "three"]
    append(log.with_name("access.log.1"), "late")
    append(log, "four")
    assert following.look() == ["late", "four"]


def test_a_log_that_is_renamed_before_a_new_one_exists(log: Path, following: Following) -> None:
    log.rename(log.with_name("access.log-20261127"))
    append(log.with_name("access.log-20261127"), "late")
    assert following.look() == ["late"]
    append(log, "new")
    assert following.look() == ["new"]


def test_a_log_that_is_renamed_twice(log: Path, following: Following) -> None:
    append(log, "one")
    log.rename(log.with_name("access.log.1"))
    append(log, "two")
    assert following.look() == ["one", "two"]
    append(log, "three")
    log.with_name("access.log.1").rename(log.with_name("access.log.2"))
    log.rename(log.with_name("access.log.1"))
    append(log, "four")
    assert following.look() == ["three", "four"]


def test_a_log_that_is_copied_and_truncated(log: Path, following: Following) -> None:
    append(log, "one")
    shutil.copy(log, log.with_name("access.log.1"))
    os.truncate(log, 0)
    assert following.look() == ["one"]
    append(log, "two")
    assert following.look() == ["two"]


def test_a_log_that_is_truncated_and_has_grown_again(log: Path, following: Following) -> None:
    log.write_text("")
    append(log, *(f"new {number}" for number in range(2000)))
    assert len(following.look()) == 2000
    assert following.look() == []


def test_a_log_that_is_compressed_at_once(log: Path, following: Following) -> None:
    append(log, "one")
    content = gzip.compress(log.read_bytes())
    packed = log.with_name("access.log.1.gz")
    packed.write_bytes(content[:-100])
    log.unlink()
    append(log, "two")
    assert following.look() == ["one", "two"]
    packed.write_bytes(content)
    assert [following.look() for _ in range(3)] == [[], [], []]
    assert following.logs.damage == []


def test_a_compressed_log_that_appears_in_a_folder_is_read_when_it_is_complete(
    log: Path, tmp_path: Path, follow: Followed
) -> None:
    following = follow(tmp_path)
    assert len(following.look()) == 1000
    content = gzip.compress(b"one\ntwo\n")
    packed = log.with_name("other_access.log.1.gz")
    packed.write_bytes(content[:-4])
    assert following.look() == []
    packed.write_bytes(content)
    assert [following.look() for _ in range(3)] == [[], ["one", "two"], []]
    assert following.logs.damage == []


def test_older_logs_are_not_read(log: Path, follow: Followed) -> None:
    append(log.with_name("access.log.1"), "older")
    log.with_name("access.log.2.gz").write_bytes(gzip.compress(b"oldest\n"))
    following = follow(log)
    assert len(following.look()) == 1000
    assert following.look() == []
    append(log.with_name("access.log.1"), "older, and late")
    assert following.look() == []


def test_a_folder_and_what_appears_in_it(log: Path, tmp_path: Path, follow: Followed) -> None:
    log.with_name("access.log.2.gz").write_bytes(gzip.compress(b"oldest\n"))
    following = follow(tmp_path)
    assert len(following.look()) == 1001
    append(tmp_path / "other_access.log", "one")
    assert following.look() == ["one"]
    append(tmp_path / ".access.log.swp", "hidden")
    assert following.look() == []
    log.rename(log.with_name("access.log.1"))
    assert following.look() == []
    for path in tmp_path.iterdir():
        path.unlink()
    assert following.look() == []
    append(log, "two")
    assert following.look() == ["two"]


@pytest.mark.parametrize("moved", [True, False], ids=["moved to another folder", "removed"])
def test_a_log_that_has_no_name_any_more_is_read_to_its_end(
    moved: bool, log: Path, following: Following, tmp_path: Path
) -> None:
    with log.open("a") as server:
        server.write("one\n")
        server.flush()
        (tmp_path / "old").mkdir()
        log.rename(tmp_path / "old" / "access.log") if moved else log.unlink()
        append(log, "two")
        assert following.look() == ["one", "two"]
        server.write("late\n")
        server.flush()
        append(log, "three")
        assert following.look() == ["late", "three"]
    assert following.look() == []
    assert following.logs.read == [str(log)]


def test_a_log_that_is_gone_is_closed_when_it_is_quiet(
    log: Path, following: Following, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following_module, "MOST_QUIET", 2)
    log.unlink()
    append(log, "one")
    opened = {*os.listdir("/dev/fd")}
    assert [following.look() for _ in range(4)] == [["one"], [], [], []]
    assert len({*os.listdir("/dev/fd")}) <= len(opened)


def test_a_log_that_is_gone_when_it_is_read(log: Path, follow: Followed) -> None:
    assert follow(log).count(ChangedLogs((str(log.with_name("gone.log")),))) == []
