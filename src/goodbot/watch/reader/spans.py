"""Divides a plain log into spans that can be read apart, with the blocks that `BlockReader` cuts of the whole log."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from goodbot.errors import RunError
from goodbot.watch.blocks import BLOCK_BYTES, Block
from goodbot.watch.reader.block_reader import LONGEST_KEPT, CutLines, LineCutter, last_header
from goodbot.watch.reader.log_positions import KNOWN_BYTES, LogPosition, Trail, checkpoint_places


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes of a log. It has the lines that end in it, so the first one may begin before it."""

    start: int
    """A multiple of the bytes of a block."""
    end: int
    is_last: bool
    """Whether the log ends there. A last line without a newline is part of this span."""


def spans_of(size: int, blocks: int, block_bytes: int = BLOCK_BYTES) -> Iterator[Span]:
    """Divides a log of so many bytes into spans of at most so many blocks."""
    step = blocks * block_bytes
    for start in range(0, size, step):
        end = min(start + step, size)
        yield Span(start, end, end == size)


class SpanReader:
    """Reads one span. After the blocks, `header` is the last `#Fields:` line that they have, or None."""

    def __init__(self, file: BinaryIO, source: str, span: Span, block_bytes: int = BLOCK_BYTES) -> None:
        self._file = file
        self._source = source
        self._span = span
        self._block_bytes = block_bytes
        self.header: str | None = None

    def blocks(self, header: str | None = None) -> Iterator[Block]:
        """Yields the blocks. `header`: the last `#Fields:` line before the span. Raises RunError if the log ends before
        the span does."""
        cutter = LineCutter(_line_before(self._file, self._span.start))
        place = self._span.start
        self._file.seek(place)
        while place < self._span.end:
            wanted = min(self._block_bytes, self._span.end - place)
            piece = self._file.read(wanted)
            if len(piece) < wanted:
                raise RunError(f"{self._source} became shorter while it was read")
            place += wanted
            lines = cutter.add(piece)
            if lines is not None:
                yield self._block(lines, header)
        if self._span.is_last and (last := cutter.end()) is not None:
            yield self._block(last, header)

    def _block(self, lines: CutLines, before: str | None) -> Block:
        block = Block(lines.data, self._source, self.header or before)
        self.header = last_header(lines.data) or self.header
        return block


def _line_before(file: BinaryIO, place: int) -> bytes:
    """Returns the beginning of the line that goes on at a place. Of one that is longer than `LONGEST_KEPT` there, which
    is not read in any case, it returns other bytes of that line."""
    start = max(place - LONGEST_KEPT - 1, 0)
    file.seek(start)
    data = file.read(place - start)
    return data[data.rfind(b"\n") + 1 :]


def position_at_end(file: BinaryIO, size: int, header: str | None) -> LogPosition:
    """Returns the position of a plain log, all of whose bytes are counted. Only some places of it are read."""
    trail = Trail()
    for place in (*checkpoint_places(size), size):
        start = max(place - KNOWN_BYTES, trail.place)
        file.seek(start)
        trail = Trail(start, b"" if start > trail.place else trail.tail, trail.checkpoints)
        trail.add(file.read(place - start))
    file.seek(0)
    return trail.position(file.read(KNOWN_BYTES), size, trail.tail, header)
