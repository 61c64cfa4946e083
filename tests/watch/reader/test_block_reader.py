"""Blocks: whole lines, all bytes, long lines cut, the place to go on from."""

import gzip
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.watch.blocks import Block
from goodbot.watch.log_entries import LONGEST_LINE
from goodbot.watch.reader import opening
from goodbot.watch.reader.block_reader import LONGEST_KEPT, BlockReader
from goodbot.watch.reader.log_positions import KNOWN_BYTES, LogPosition, Trail
from goodbot.watch.reader.opening import LogStream

FIRST, SECOND = "#Fields: date time c-ip", "#Fields: time date"
LONG_HEADER = FIRST.encode() + b" x" * (LONGEST_LINE // 2)


def reader(content: bytes, block_bytes: int = 100, *, complete_only: bool = False) -> BlockReader:
    """Returns a reader of a log in memory."""
    with pytest.MonkeyPatch.context() as patch:
        if block_bytes < len(content) < 10_000:
            patch.setattr(opening, "PIECE_BYTES", max(block_bytes, 16))
        stream = LogStream("x", io.BytesIO(content), len(content))
    return BlockReader(stream, complete_only=complete_only, block_bytes=block_bytes)


def blocks_of(read: BlockReader, known: LogPosition | None = None) -> list[Block]:
    """Returns the blocks after a place, read in pieces of their size."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(opening, "PIECE_BYTES", max(read._block_bytes, 16))
        if known:
            assert read.go_on_from(known)
        return [*read.blocks()]


def position(content: bytes, header: str | None = None) -> LogPosition:
    """Returns the position after a log that was counted completely."""
    trail = Trail()
    trail.add(content)
    return trail.position(content[:KNOWN_BYTES], len(content), trail.tail, header)


def joined(blocks: list[Block]) -> bytes:
    return b"".join(block.data for block in blocks)


lines = st.lists(st.binary(max_size=30), max_size=40).map(lambda some: b"-" + b"\n".join(some))  # no magic number


@given(lines, st.integers(1, 200), st.booleans())
def test_blocks_have_all_bytes_and_whole_lines(content: bytes, block_bytes: int, packed: bool) -> None:
    read = reader(gzip.compress(content) if packed else content, block_bytes)
    blocks = blocks_of(read)
    assert joined(blocks) == content
    assert all(block.data.endswith(b"\n") for block in blocks[:-1])
    assert read.counted == len(content)


@given(lines, st.integers(1, 200), st.integers(0, 2000))
def test_reading_goes_on_where_it_ended(content: bytes, block_bytes: int, place: int) -> None:
    start = content[:place].rfind(b"\n") + 1
    for packed in (content, gzip.compress(content)):
        read = reader(packed, block_bytes)
        assert joined(blocks_of(read, position(content[:start]))) == content[start:]
        assert read.position(content[:KNOWN_BYTES]) == position(content, read.header)


LONG = b"".join(b"line %d\n" % number for number in range(5000))
OTHER = LONG[:30_000] + LONG[30_000:].replace(b"line", b"time")
PLACES = [
    pytest.param(LONG, LONG, b"", id="nothing new"),
    pytest.param(LONG, LONG + b"new\n", b"new\n", id="something new"),
    pytest.param(LONG, LONG[:5000] + b"X" + LONG[5001:] + b"new\n", b"new\n", id="only places are compared"),
    pytest.param(LONG, LONG[:-2] + b"8\nnew\n", None, id="other bytes before the place"),
    pytest.param(LONG, LONG[:-9], b"", id="the beginning of it"),
    pytest.param(LONG, LONG[:5000], b"", id="the very beginning of it"),
    pytest.param(LONG, OTHER[:-9], None, id="shorter and other"),
    pytest.param(LONG, OTHER + b"new\n", None, id="longer and other"),
    pytest.param(b"one\n", b"one\ntwo\n", b"two\n", id="a short one"),
]


@pytest.mark.parametrize(("before", "now", "new"), PLACES)
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "compressed"])
def test_only_the_same_log_goes_on(before: bytes, now: bytes, new: bytes | None, packed: bool) -> None:
    read = reader(gzip.compress(now) if packed else now)
    assert read.go_on_from(position(before)) == (new is not None)
    assert joined([*read.blocks()]) == (now if new is None else new)


def test_a_copy_that_is_being_compressed_has_nothing_new() -> None:
    read = reader(gzip.compress(LONG)[:-900])
    assert read.go_on_from(position(LONG))
    assert [*read.blocks()] == []
    assert read.counted == len(LONG)


@given(lines, lines, st.integers(1, 200), st.booleans())
def test_a_log_goes_on_whatever_is_appended(content: bytes, more: bytes, block_bytes: int, wait: bool) -> None:
    read = reader(content, block_bytes, complete_only=wait)
    blocks_of(read)
    known = read.position(content[:KNOWN_BYTES])
    assert joined(blocks_of(reader(content + more, block_bytes), known)) == (content + more)[read.counted :]


@given(lines, st.integers(1, 200))
def test_a_last_line_without_newline_can_wait(content: bytes, block_bytes: int) -> None:
    read = reader(content, block_bytes, complete_only=True)
    assert joined(blocks_of(read)) == content[: content.rfind(b"\n") + 1]
    assert read.counted == content.rfind(b"\n") + 1


@pytest.mark.parametrize("end", [b"\n", b""], ids=["newline", "end of the log"])
@pytest.mark.parametrize("size", [LONGEST_LINE + 5, LONGEST_KEPT + 1, 5 * LONGEST_KEPT])
def test_a_long_line_is_one_line_and_its_bytes_count(size: int, end: bytes) -> None:
    content = b"before\n" + b"x" * size + end + b"after\n" * bool(end)
    read = reader(content, 1000)
    data = joined([*read.blocks()])
    assert [len(line) > LONGEST_LINE for line in data.split(b"\n")[:2]] == [False, True]
    assert data.count(b"\n") == content.count(b"\n")
    assert data.startswith(b"before\nxxx")
    assert not end or data.endswith(b"x\nafter\n")
    assert read.counted == len(content)
    assert read.position(content[:KNOWN_BYTES]) == position(content)
    assert len(data) <= len(content)


def test_memory_holds_only_the_beginning_of_a_long_line() -> None:
    read = reader(b"x" * (20 * LONGEST_KEPT) + b"\n", 1000)
    assert [len(block.data) for block in read.blocks()] == [LONGEST_LINE + 2]


@pytest.mark.parametrize(
    ("content", "headers", "last"),
    [
        pytest.param(b"a\n" * 100, [None] * 2, None, id="none"),
        pytest.param(f"{FIRST}\n".encode() + b"a\n" * 100, [None, FIRST, FIRST], FIRST, id="at the beginning"),
        pytest.param(f"{FIRST}\r\n".encode() + b"a\n" * 60, [None, FIRST], FIRST, id="with a carriage return"),
        pytest.param(f"{FIRST}\n{SECOND}\n".encode() + b"a\n" * 40, [None, SECOND], SECOND, id="the last of two"),
        pytest.param(f"\ufeff{FIRST}\n".encode() + b"a\n" * 60, [None, FIRST], FIRST, id="after a byte order mark"),
        pytest.param(b"a\n" * 49 + FIRST.encode(), [None], FIRST, id="without a newline"),
        pytest.param(b"x #Fields: no\n" * 10, [None, None], None, id="within a line"),
        pytest.param(b"%s\n%s\n" % (FIRST.encode(), LONG_HEADER), [None, FIRST], FIRST, id="a longer one is no header"),
        pytest.param(LONG_HEADER, [None], None, id="only a longer one"),
    ],
)
def test_the_header_before_a_block(content: bytes, headers: list[str | None], last: str | None) -> None:
    read = reader(content, 100)
    read._stream.pieces = lambda: (content[at : at + 100] for at in range(0, len(content), 100))  # type: ignore[method-assign]
    assert [block.header for block in read.blocks()][: len(headers)] == headers
    assert read.header == last


def test_a_header_known_from_before_is_kept() -> None:
    read = reader(b"a\n")
    assert read.go_on_from(position(b"", FIRST))
    assert [block.header for block in read.blocks()] == [FIRST]
    assert read.header == FIRST
