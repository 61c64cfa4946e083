"""Spans: read apart, they have the blocks of the whole log."""

import io
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.errors import RunError
from goodbot.watch.blocks import Block
from goodbot.watch.log_entries import LONGEST_LINE
from goodbot.watch.reader import opening
from goodbot.watch.reader.block_reader import LONGEST_KEPT, BlockReader
from goodbot.watch.reader.log_positions import KNOWN_BYTES
from goodbot.watch.reader.opening import LogStream
from goodbot.watch.reader.spans import Span, SpanReader, position_at_end, spans_of

LINES = st.one_of(st.binary(max_size=30), st.sampled_from([b"#Fields: a", b"#Fields: b\r", b" #Fields: c", b"x" * 300]))
LOGS = st.lists(LINES, max_size=60).map(lambda some: b"-" + b"\n".join(some))  # no magic number


def whole(content: bytes, block_bytes: int) -> BlockReader:
    """Returns what reads a log in one piece."""
    return BlockReader(LogStream("x", io.BytesIO(content), len(content)), block_bytes=block_bytes)


def blocks_of(content: bytes, block_bytes: int) -> list[Block]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(opening, "PIECE_BYTES", block_bytes)
        return [*whole(content, block_bytes).blocks()]


def blocks_of_spans(content: bytes, block_bytes: int, blocks: int) -> list[Block]:
    found: list[Block] = []
    header = None
    for span in spans_of(len(content), blocks, block_bytes):
        reader = SpanReader(io.BytesIO(content), "x", span, block_bytes)
        found += reader.blocks(header)
        header = reader.header or header
    return found


@given(LOGS, st.integers(1, 400), st.integers(1, 4))
def test_spans_have_the_blocks_of_the_whole_log(content: bytes, block_bytes: int, blocks: int) -> None:
    assert blocks_of_spans(content, block_bytes, blocks) == blocks_of(content, block_bytes)


@pytest.mark.parametrize("end", [b"\n", b""], ids=["newline", "end of the log"])
@pytest.mark.parametrize("size", [LONGEST_LINE, LONGEST_LINE + 1, LONGEST_KEPT, LONGEST_KEPT + 1, 3 * LONGEST_KEPT])
def test_a_long_line_is_one_line(size: int, end: bytes) -> None:
    content = b"#Fields: a\nbefore\n#Fields: " + b"x" * (size - 9) + end + b"after\n" * 40_000 * bool(end)
    one_by_one, together = blocks_of_spans(content, 200_000, 1), blocks_of(content, 200_000)
    assert [block.header for block in one_by_one] == [block.header for block in together]
    for found, wanted in zip(one_by_one, together, strict=True):
        assert [shown(line) for line in found.data.split(b"\n")] == [shown(line) for line in wanted.data.split(b"\n")]


def shown(line: bytes) -> bytes:
    """Of a line that is too long, what is kept makes no difference."""
    return line if len(line) <= LONGEST_LINE else b"too long"


def test_an_empty_log_has_no_spans() -> None:
    assert [*spans_of(0, 4)] == []


def test_a_log_that_became_shorter_is_named() -> None:
    with pytest.raises(RunError, match=r"^access.log became shorter while it was read$"):
        [*SpanReader(io.BytesIO(b"a\n" * 10), "access.log", Span(0, 30, is_last=True)).blocks()]


@given(st.integers(0, 100_000), st.booleans())
def test_the_position_is_that_of_a_log_that_was_read(size: int, ends: bool) -> None:
    content = (b"".join(b"line %d\n" % number for number in range(12_000))[:size] + b"\n" * ends) or b"\n"
    reader = whole(content, 1000)
    assert [*reader.blocks()]
    expected = replace(reader.position(content[:KNOWN_BYTES]), header="h")
    assert position_at_end(io.BytesIO(content), len(content), "h") == expected
