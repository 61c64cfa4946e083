"""Cuts a log into blocks of whole lines."""

from collections.abc import Iterator
from typing import Final

from goodbot.watch.blocks import BLOCK_BYTES, Block
from goodbot.watch.log_entries import LONGEST_LINE
from goodbot.watch.reader.opening import LogStream

LONGEST_KEPT: Final = 1024 * 1024
"""Bytes of a line above which only its beginning is kept in memory; it is counted as too long."""

FIELDS: Final = b"#Fields:"

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


class BlockReader:
    """Reads one log. After each block, `counted` and `header` say how far it was read."""

    def __init__(
        self,
        stream: LogStream,
        *,
        header: str | None = None,
        complete_only: bool = False,
        block_bytes: int = BLOCK_BYTES,
    ) -> None:
        self._stream = stream
        self._complete_only = complete_only
        self._block_bytes = block_bytes
        self.header = header
        """The last `#Fields:` line of what was read."""
        self.counted = 0
        """Bytes of the log, decompressed, up to the end of the last block."""

    def blocks(self, start: int = 0) -> Iterator[Block]:
        """Yields the blocks after the first `start` bytes. With `complete_only`, a last line without its newline is
        left for the next time."""
        self.counted = start
        rest = b""
        cut_bytes = 0  # of a long line, bytes that were read and not kept
        for piece in self._gathered(start):
            data = piece
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
                yield self._block(data[:end], cut_bytes)
                cut_bytes = 0
            if len(rest) > LONGEST_KEPT:
                cut_bytes, rest = len(rest) - LONGEST_LINE - 1, rest[: LONGEST_LINE + 1]
        if rest and not self._complete_only:
            yield self._block(rest, cut_bytes)

    def _block(self, data: bytes, cut_bytes: int) -> Block:
        block = Block(data, self._stream.source, self.header)
        self.counted += len(data) + cut_bytes
        place = data.rfind(FIELDS)
        while place > 0 and data[place - 1 : place] != b"\n" and data[:place] != _BYTE_ORDER_MARK:
            place = data.rfind(FIELDS, 0, place)
        if place >= 0:
            self.header = data[place : data.find(b"\n", place)].decode("latin-1").rstrip("\r")
        return block

    def _gathered(self, start: int) -> Iterator[bytes]:
        """Yields pieces of about the size of a block, after the first `start` bytes."""
        left = 0 if self._stream.seek(start) else start
        parts: list[bytes] = []
        size = 0
        for piece in self._stream.pieces():
            if left >= len(piece):
                left -= len(piece)
                continue
            parts.append(piece[left:])
            size += len(piece) - left
            left = 0
            if size >= self._block_bytes:
                yield b"".join(parts)
                parts, size = [], 0
        if parts:
            yield b"".join(parts)
