"""Following a log: appended lines, rotation by renaming and by truncating."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from goodbot.watch.blocks import Block
from goodbot.watch.log_entries import LONGEST_LINE
from goodbot.watch.reader.following import POLL_S, LogFollower, follow

Opened = Callable[..., LogFollower]


@pytest.fixture
def opened() -> Iterator[Opened]:
    """Makes followers, which are closed at the end of the test."""
    with ExitStack() as stack:
        yield lambda path, **options: stack.enter_context(closing(LogFollower(str(path), **options)))


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def lines(follower: LogFollower) -> bytes:
    return b"".join(block.data for block in follower.read())


def test_appended_lines_come_once_and_whole(tmp_path: Path, opened: Opened) -> None:
    path = tmp_path / "access.log"
    follower = opened(path)
    assert lines(follower) == b""
    append(path, b"one\ntw")
    assert lines(follower) == b"one\n"
    assert lines(follower) == b""
    append(path, b"o\nthree\n")
    assert lines(follower) == b"two\nthree\n"


def test_a_renamed_log_is_read_to_its_end_before_the_new_one(tmp_path: Path, opened: Opened) -> None:
    path = tmp_path / "access.log"
    append(path, b"one\n")
    follower = opened(path)
    assert lines(follower) == b"one\n"
    append(path, b"two\nthree")
    path.rename(tmp_path / "access.log.1")
    append(path, b"four\n")
    assert lines(follower) == b"two\nthreefour\n"
    assert [block.data for block in follower.read()] == []
    append(path, b"five\n")
    assert lines(follower) == b"five\n"


def test_a_log_that_is_renamed_before_a_new_one_exists(tmp_path: Path, opened: Opened) -> None:
    path = tmp_path / "access.log"
    append(path, b"one\n")
    follower = opened(path)
    assert lines(follower) == b"one\n"
    path.rename(tmp_path / "access.log.1")
    append(tmp_path / "access.log.1", b"two\n")
    assert lines(follower) == b"two\n"
    append(path, b"three\n")
    assert lines(follower) == b"three\n"


def test_a_truncated_log_is_read_from_its_beginning(tmp_path: Path, opened: Opened) -> None:
    path = tmp_path / "access.log"
    append(path, b"a long line\n")
    follower = opened(path)
    assert lines(follower) == b"a long line\n"
    path.write_bytes(b"short\n")
    assert lines(follower) == b"short\n"


def test_from_the_end_on(tmp_path: Path, opened: Opened) -> None:
    path = tmp_path / "access.log"
    append(path, b"old\n")
    follower = opened(path, from_end=True)
    assert lines(follower) == b""
    append(path, b"new\n")
    assert lines(follower) == b"new\n"


def test_headers_and_long_lines(tmp_path: Path, opened: Opened) -> None:
    path = tmp_path / "access.log"
    follower = opened(path)
    append(path, b"#Fields: a b\r\nx\n")
    assert [block.header for block in follower.read()] == [None]
    append(path, b"y\n" + b"z" * (3 * LONGEST_LINE))
    assert [(block.data, block.header) for block in follower.read()] == [(b"y\n", "#Fields: a b")]
    append(path, b"\nend\n")
    (block,) = follower.read()
    assert [len(line) for line in block.data.split(b"\n")] == [LONGEST_LINE + 1, 3, 0]


def test_following_waits_between_looks_until_it_is_stopped(tmp_path: Path, opened: Opened) -> None:
    path = tmp_path / "access.log"
    append(path, b"one\n")
    waits: list[float] = []
    found: list[Block | None] = []
    for block in follow([opened(path)], waits.append, lambda: len(waits) == 2):
        found.append(block)
        if block is None:
            append(path, b"more\n")
    assert [block and block.data for block in found] == [b"one\n", None, b"more\n", None]
    assert waits == [POLL_S, POLL_S]
