"""Cuts a log into blocks of whole lines."""

from collections.abc import Iterator
from itertools import chain
from typing import Final

from goodbot.watch.blocks import BLOCK_BYTES, Block
from goodbot.watch.log_entries import LONGEST_LINE
from goodbot.watch.reader.log_positions import KNOWN_BYTES, LogPosition, Trail
from goodbot.watch.reader.opening import LogStream

LONGEST_KEPT: Final = 1024 * 1024
"""Bytes of a line above which only its beginning is kept in memory; it is counted as too long."""

FIELDS: Final = b"#Fields:"

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


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
        rest = b""
        cut_bytes = 0  # of a long line, bytes that were read and not kept
        for piece in self._gathered():
            data, tail = piece, self._trail.tail_at(piece, piece.rfind(b"\n") + 1)
            self._trail.add(piece)
            if cut_bytes:
                end = data.find(b"\n")
                if end < 0:
                    cut_bytes += len(data)
                    continue
                cut_bytes, data = cut_bytes + end, data[end:]
            data = rest + data
            end = data.rfind(b"\n") + 1
            rest = data[end:]
            if end:
                yield self._block(data[:end], cut_bytes, tail)
                cut_bytes = 0
            if len(rest) > LONGEST_KEPT:
                cut_bytes, rest = len(rest) - LONGEST_LINE - 1, rest[: LONGEST_LINE + 1]
        if rest and not self._complete_only:
            yield self._block(rest, cut_bytes, self._trail.tail)

    def position(self, head: bytes) -> LogPosition:
        """Returns how far the log, which begins with `head`, was read in blocks."""
        return self._trail.position(head, self.counted, self._tail, self.header)

    def _block(self, data: bytes, cut_bytes: int, tail: bytes) -> Block:
        block = Block(data, self._stream.source, self.header)
        self.counted += len(data) + cut_bytes
        self._tail = tail
        place = data.rfind(FIELDS)
        while place > 0 and data[place - 1 : place] != b"\n" and data[:place] != _BYTE_ORDER_MARK:
            place = data.rfind(FIELDS, 0, place)
        if place >= 0:
            end = data.find(b"\n", place)
            self.header = data[place : end if end >= 0 else len(data)].decode("latin-1").rstrip("\r")
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
