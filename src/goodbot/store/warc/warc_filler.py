"""Writes empty records of a given length: they replace what is removed from a file, so that every other record stays
where it is."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import BinaryIO, Final
from uuid import uuid4
from zlib import crc32

from goodbot.store.warc.warc_reader import MEMBER_START, MOVED_FIELD

LEAST_BYTES: Final = 330
"""Compressed records of ours are longer."""

_BLOCK_BYTES: Final = 65_535
"""The most bytes of a stored block (RFC 1951 §3.2.4); 5 bytes precede each."""
_MAX_RECORD_BYTES: Final = 64 * 1024 * 1024


def fill(file: BinaryIO, start: int, end: int, moved_to: int | None = None) -> None:
    """Writes empty records from `start` to `end`. Without room for a record it writes zeros, which readers skip as
    damage. 64 MiB are in memory at a time. `moved_to`: where the content is now."""
    while start < end:
        length = end - start
        if length >= _MAX_RECORD_BYTES + LEAST_BYTES:
            length = _MAX_RECORD_BYTES
        file.seek(start)
        file.write(filler(length, moved_to) if length >= LEAST_BYTES else bytes(length))
        start += length


def filler(length: int, moved_to: int | None = None) -> bytes:
    """Returns a compressed record of `length` bytes that holds nothing but `moved_to`, if given."""
    moved = "" if moved_to is None else f"{MOVED_FIELD}: {moved_to}\r\n"
    head = (
        f"WARC/1.1\r\nWARC-Type: metadata\r\nWARC-Record-ID: <urn:uuid:{uuid4()}>\r\n"
        f"WARC-Date: {datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}\r\n{moved}"
        "Content-Type: application/octet-stream\r\nContent-Length: "
    )
    blocks = -(-(length - 18) // (_BLOCK_BYTES + 5))
    size = length - 18 - 5 * blocks
    zeros = size - len(head) - 10 - 4 - 4  # ten digits, the end of the fields, the end of the record
    if zeros < 0:
        raise ValueError(f"a record of {length} bytes cannot be made")
    data = f"{head}{zeros:010}\r\n\r\n".encode() + bytes(zeros) + b"\r\n\r\n"
    packed = b"".join(_stored(data, blocks))
    return MEMBER_START + b"\0\xff" + packed + crc32(data).to_bytes(4, "little") + len(data).to_bytes(4, "little")


def _stored(data: bytes, blocks: int) -> Iterator[bytes]:
    """Writes deflate data that compresses nothing, in so many blocks (RFC 1951 §3.2.4), so that its length can be
    chosen."""
    for number in range(blocks):
        part = data[number * _BLOCK_BYTES : (number + 1) * _BLOCK_BYTES]
        size = len(part)
        last = number == blocks - 1
        yield bytes((last,)) + size.to_bytes(2, "little") + (size ^ 0xFFFF).to_bytes(2, "little") + part
