"""Cuts a log into blocks of whole lines."""

from collections.abc import Iterator
from itertools import chain
from typing import Final, NamedTuple

from goodbot.watch.blocks import BLOCK_BYTES, Block
from goodbot.watch.log_entries import LONGEST_LINE
from goodbot.watch.reader.log_positions import KNOWN_BYTES, LogPosition, Trail
from goodbot.watch.reader.opening import LogStream

LONGEST_KEPT: Final = 1024 * 1024
"""Bytes of a line above which only its beginning is kept in memory; it is counted as too long."""

FIELDS: Final = b"#Fields:"

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


class CutLines(NamedTuple):
    """Whole lines."""

    data: bytes
    cut_bytes: int
    """Bytes of the first line that were read and not kept."""


class LineCutter:
    """Takes the bytes of a log, and gives its lines. Of a line with more than `LONGEST_KEPT` bytes only the beginning
    is kept."""

    def __init__(self, rest: bytes = b"") -> None:
        """`rest`: the beginning of the first line, if it was read before."""
        self._rest = b""
        self._cut_bytes = 0
        self._keep(rest)

    def add(self, data: bytes) -> CutLines | None:
        """Takes the next bytes. Returns the lines that end there, if any."""
        if self._cut_bytes:
            end = data.find(b"\n")
            if end < 0:
                self._cut_bytes += len(data)
                return None
            self._cut_bytes, data = self._cut_bytes + end, data[end:]
        data = self._rest + data
        end = data.rfind(b"\n") + 1
        lines = CutLines(data[:end], self._cut_bytes) if end else None
        if end:
            self._cut_bytes = 0
        self._keep(data[end:])
        return lines

    def end(self) -> CutLines | None:
        """Returns the last line, if it has no newline."""
        return CutLines(self._rest, self._cut_bytes) if self._rest else None

    def _keep(self, rest: bytes) -> None:
        self._rest = rest
        if len(rest) > LONGEST_KEPT:
            self._cut_bytes, self._rest = len(rest) - LONGEST_LINE - 1, rest[: LONGEST_LINE + 1]


def last_header(data: bytes) -> str | None:
    """Returns the last `#Fields:` line of a block, or None if it has none that is short enough to be read."""
    place = data.rfind(FIELDS)
    while place >= 0:
        start = 0 if place == len(_BYTE_ORDER_MARK) and data.startswith(_BYTE_ORDER_MARK) else place
        end = data.find(b"\n", place)
        end = len(data) if end < 0 else end
        if (start == 0 or data[start - 1 : start] == b"\n") and end - start <= LONGEST_LINE:
            return data[place:end].decode("latin-1").rstrip("\r")
        place = data.rfind(FIELDS, 0, place)
    return None


class BlockReader:
    """Reads one log. After each block, `counted` and `header` say how far it was read."""

    def __init__(self, stream: LogStream, *, complete_only: bool = False, block_bytes: int = BLOCK_BYTES) -> None:
        self._stream = stream
        self._complete_only = complete_only
        self._block_bytes = block_bytes
        self._rest: Iterator[bytes] | None = None
        self._trail = Trail()
        self._tail = b""  # before the end of the last block
        self.header: str | None = None
        """The last `#Fields:` line of what was read."""
        self.counted = 0
        """Bytes of the log, decompressed, up to the end of the last block."""

    def go_on_from(self, known: LogPosition) -> bool:
        """Goes to the place up to which a log was counted. If this log ends before that place and matches so far, goes
        to its end. Returns False, and stays at the beginning, if it is another log."""
        start = max(known.counted - KNOWN_BYTES, 0)
        is_there = self._stream.seek(start)
        trail = Trail(start, checkpoints=known.checkpoints) if is_there else Trail()
        rest = self._after(known.counted, trail)
        if is_there and trail.place < known.counted:  # the log is shorter: all of it is looked at
            self._stream.rewind()
            trail = Trail()
            rest = self._after(known.counted, trail)
        if not known.is_passed_by(trail):
            self._stream.rewind()
            return False
        self._rest, self._trail, self._tail = rest, trail, trail.tail
        self.counted, self.header = known.counted, known.header
        return True

    def _after(self, place: int, trail: Trail) -> Iterator[bytes]:
        """Reads up to a place, and returns what comes after it."""
        pieces = self._stream.pieces()
        for piece in pieces:
            needed = place - trail.place
            trail.add(piece[:needed])
            if trail.place == place:
                return chain([piece[needed:]], pieces)
        return iter(())

    def blocks(self) -> Iterator[Block]:
        """Yields the blocks. With `complete_only`, a last line without its newline is left for the next time."""
        cutter = LineCutter()
        for piece in self._gathered():
            tail = self._trail.tail_at(piece, piece.rfind(b"\n") + 1)
            self._trail.add(piece)
            lines = cutter.add(piece)
            if lines is not None:
                yield self._block(lines, tail)
        if not self._complete_only and (last := cutter.end()) is not None:
            yield self._block(last, self._trail.tail)

    def position(self, head: bytes) -> LogPosition:
        """Returns how far the log, which begins with `head`, was read in blocks."""
        return self._trail.position(head, self.counted, self._tail, self.header)

    def _block(self, lines: CutLines, tail: bytes) -> Block:
        block = Block(lines.data, self._stream.source, self.header)
        self.counted += len(lines.data) + lines.cut_bytes
        self._tail = tail
        self.header = last_header(lines.data) or self.header
        return block

    def _gathered(self) -> Iterator[bytes]:
        """Yields pieces of about the size of a block."""
        parts: list[bytes] = []
        size = 0
        for piece in self._rest or self._stream.pieces():
            parts.append(piece)
            size += len(piece)
            if size >= self._block_bytes:
                yield b"".join(parts)
                parts, size = [], 0
        if size:
            yield b"".join(parts)
