"""Takes the records of one host out of a WARC file, and leaves every other record where it was.

Each record of the host is overwritten by one of the same length that holds nothing, in a copy that then takes the
file's place: a kill leaves the old file or the new one, and all offsets known elsewhere stay true. A record of another
host that repeats a payload of this one is written whole at the end of the file, and where it was stands where it is.
"""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Final
from uuid import uuid4
from zlib import crc32

from isal import isal_zlib

from goodbot.errors import DamagedError
from goodbot.store.cdxj import index_path
from goodbot.store.warc_files import archive_files, is_settled, settle
from goodbot.store.warc_reader import (
    MEMBER_START,
    MOVED_FIELD,
    ORIGINAL_FILE_FIELD,
    ORIGINAL_OFFSET_FIELD,
    RECORD_LIMIT_BYTES,
    Member,
    members,
    read_member,
    read_response,
)
from goodbot.store.warc_record import block_digest, revisit_record
from goodbot.url import parse_url
from goodbot.values import RecordRef

_HEAD_BYTES: Final = 64 * 1024
_BLOCK_BYTES: Final = 65_535
"""A stored block of RFC 1951 §3.2.4 at most; 5 bytes stand before each."""
_CAPTURES: Final = ("response", "revisit")


@dataclass(slots=True)
class _Plan:
    """What is to be done with a file: (offset, end) of records to be emptied, and of those that repeat one of them."""

    emptied: list[tuple[int, int]] = field(default_factory=list)
    repeats: list[tuple[int, int, int]] = field(default_factory=list)
    captures: int = 0


def forget_host(folder: Path, host: str) -> int:
    """Takes the records of `host` (`Url.host_key`) out of every file in `folder`; gives how many were captures.

    The folder is locked by the caller. Reads the files that hold some of the host twice, 26 s per GB, and needs space
    for a copy of the largest. Raises DamagedError for a file that cannot be read to its end, which is left as it is.
    """
    for draft in folder.glob("*.warc.gz.new"):
        draft.unlink()
    return sum(_forget(path, host) for path in archive_files(folder) if _may_hold(path, host))


def _may_hold(path: Path, host: str) -> bool:
    """By the index of the file, if it has one: every capture has a line, with its URL."""
    if not is_settled(path):
        return True
    bare = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
    wanted = f"://{bare}".encode()
    with index_path(path).open("rb") as lines:
        return any(wanted in line for line in lines)


def _forget(path: Path, host: str) -> int:
    with path.open("rb") as file:
        plan = _plan(file, path.name, host)
        if not plan.emptied:
            return 0
        draft = path.with_name(path.name + ".new")
        shutil.copyfile(path, draft)
        with draft.open("r+b") as new:
            _empty(file, new, path.name, plan)
            new.flush()
            os.fsync(new.fileno())
    index_path(path).unlink(missing_ok=True)  # without it the next writer settles the file
    draft.replace(path)
    settle(path)
    return plan.captures


def _plan(file: BinaryIO, name: str, host: str) -> _Plan:
    plan, gone = _Plan(), set[int]()
    for record, member in members(file, name, _HEAD_BYTES):
        fields = _fields(member)
        url = parse_url(fields.get("warc-target-uri", "").strip("<>"))
        if url is not None and url.host_key == host:
            plan.emptied.append((record.offset, member.end))
            gone.add(record.offset)
            plan.captures += fields.get("warc-type") in _CAPTURES
        elif fields.get("warc-type") == "revisit" and fields.get(ORIGINAL_FILE_FIELD.lower()) == name:
            original = fields.get(ORIGINAL_OFFSET_FIELD.lower(), "")
            if original.isascii() and original.isdecimal() and len(original) < 16 and int(original) in gone:
                plan.repeats.append((record.offset, member.end, int(original)))
    return plan


def _fields(member: Member) -> dict[str, str]:
    head = member.data.partition(b"\r\n\r\n")[0].decode("utf-8", "replace")
    pairs = (line.partition(":") for line in head.split("\r\n")[1:])
    return {name.strip().lower(): value.strip() for name, _, value in pairs}


def _empty(file: BinaryIO, new: BinaryIO, name: str, plan: _Plan) -> None:
    for offset, end in plan.emptied:
        new.seek(offset)
        new.write(_filler(RecordRef(name, offset), end - offset))
    written: dict[int, tuple[int, str, str]] = {}
    for offset, end, original in plan.repeats:
        place = new.seek(0, os.SEEK_END)
        whole, url, date = _whole(file, RecordRef(name, offset), RecordRef(name, original))
        if original in written:
            first, first_url, first_date = written[original]
            whole = revisit_record(whole, RecordRef(name, first), first_url, first_date)
        else:
            written[original] = (place, url, date)
        new.write(whole)
        new.seek(offset)
        new.write(_filler(RecordRef(name, offset), end - offset, moved_to=place))


def _whole(file: BinaryIO, repeat: RecordRef, original: RecordRef) -> tuple[bytes, str, str]:
    """A revisit record as the response record it stands for; its URL and its date."""
    member = read_member(file, repeat, RECORD_LIMIT_BYTES)
    if member is None:
        raise DamagedError(f"{repeat.file} is damaged at byte {repeat.offset}: the file ends within the record")
    body = read_response(file, original).response.body
    head, _, rest = member.data.partition(b"\r\n\r\n")
    block = rest[: rest.index(b"\r\n\r\n") + 4] + body
    dropped = ("WARC/1.1", "WARC-Type:", "WARC-Profile:", "WARC-Refers-To", "WARC-Block-Digest:", "Content-Length:")
    kept = [line for line in head.decode().split("\r\n") if not line.startswith(dropped)]
    lines = [
        "WARC/1.1",
        "WARC-Type: response",
        *kept,
        f"WARC-Block-Digest: {block_digest(block)}",
        f"Content-Length: {len(block)}\r\n\r\n",
    ]
    fields = _fields(member)
    record = isal_zlib.compress(b"".join(("\r\n".join(lines).encode(), block, b"\r\n\r\n")), 1, 31)
    return record, fields.get("warc-target-uri", ""), fields.get("warc-date", "")


def _filler(place: RecordRef, length: int, moved_to: int | None = None) -> bytes:
    """A record of `length` bytes, packed, that holds nothing but, if it is so, where its content is now."""
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
        raise DamagedError(f"{place.file} is damaged at byte {place.offset}: no record of ours is so short")
    data = f"{head}{zeros:010}\r\n\r\n".encode() + bytes(zeros) + b"\r\n\r\n"
    packed = b"".join(_stored(data, blocks))
    return MEMBER_START + b"\0\xff" + packed + crc32(data).to_bytes(4, "little") + len(data).to_bytes(4, "little")


def _stored(data: bytes, blocks: int) -> Iterator[bytes]:
    """Deflate that packs nothing, in so many blocks (RFC 1951 §3.2.4): so its length can be chosen."""
    for number in range(blocks):
        part = data[number * _BLOCK_BYTES : (number + 1) * _BLOCK_BYTES]
        size = len(part)
        last = number == blocks - 1
        yield bytes((last,)) + size.to_bytes(2, "little") + (size ^ 0xFFFF).to_bytes(2, "little") + part
