"""Reads WARC files of one gzip member per record: where members begin and end, what a response record says.

Not fastwarc: it takes a record whose member does not end for a whole one, and does not say where members end;
both are what a file left by a kill has to be asked. isal checks the CRC-32 of every member (RFC 1952 §2.3.1).
"""

import mmap
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import BinaryIO

from isal import isal_zlib

from goodbot.errors import DamagedError
from goodbot.url import parse_url
from goodbot.values import Archived, Headers, RecordRef, Response

RECORD_LIMIT_BYTES = 64 * 1024 * 1024
"""A record, uncompressed, is at most this long: the bound of what reading one takes."""

MEMBER_START = bytes.fromhex("1f8b08000000000000ff")
"""How each member of ours begins: gzip, no flags, no time, unknown system (RFC 1952 §2.3)."""

RENAMED = "X-Crawl-"
"""Put before the name of a framing field that is not true of the stored body (the prefix of Common Crawl)."""

WITHHELD_FIELD = "WARC-Goodbot-Body"
"""Named field of a response record without the body it had; its value says why."""

PROTOCOLS = {"h2": "HTTP/2", "h2c": "HTTP/2", "h3": "HTTP/3"}
"""WARC-Protocol (an extension the IIPC adopted) → version. An application/http message cannot say HTTP/2."""

_RENAMED_FIELD = re.compile(r"(?:X-Crawl-)+(?:Transfer-Encoding|Content-Length)", re.IGNORECASE)
_READ_BYTES = 16 * 1024
_INFLATE_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Member:
    """A whole gzip member: where it ends in the file, its uncompressed size, and the first of its data."""

    end: int
    size: int
    data: bytes


def read_member(file: BinaryIO, place: RecordRef, keep_bytes: int) -> Member | None:
    """The member at `place`; None if the file ends before it does. Takes twice `keep_bytes` and 1 MiB.

    Raises DamagedError if the bytes are no gzip member or fail its checksum, OSError if they cannot be read.
    """
    file.seek(place.offset)
    inflater = isal_zlib.decompressobj(31)
    parts: list[bytes] = []
    kept = size = 0
    while not inflater.eof:
        packed = inflater.unconsumed_tail or file.read(_READ_BYTES)
        try:
            part = inflater.decompress(packed, _INFLATE_BYTES)
        except isal_zlib.error as error:  # type: ignore[misc]  # isal declares its error class as an instance
            raise _damage(place, str(error)) from error
        if not packed and not part:
            return None
        size += len(part)
        if kept < keep_bytes:
            parts.append(part[: keep_bytes - kept])
            kept += len(parts[-1])
    return Member(file.tell() - len(inflater.unused_data), size, b"".join(parts))


def whole_length(file: BinaryIO, name: str) -> int:
    """Where the torn tail of a file begins; the file's length if there is none. Reads the whole file once.

    Torn is a last member that does not end, and damaged bytes after which no member begins (a power cut
    leaves blocks of zeros). Damage before other members is no tail: nothing whole is ever cut off.
    """
    length, end = file.seek(0, 2), 0
    try:
        while end < length and (member := read_member(file, RecordRef(name, end), 0)):
            end = member.end
    except DamagedError:
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return end if content.find(MEMBER_START, end + 1) < 0 else length
    return end


def read_response(file: BinaryIO, record: RecordRef) -> Archived:
    """The response record at `record`. Raises DamagedError, naming file and offset, if there is none."""
    member = _bounded_member(file, record)
    if member is None:
        raise _damage(record, "the file ends within the record")
    archived = parse_response(member.data, record)
    if archived is None:
        raise _damage(record, "this is no response record")
    return archived


def responses(file: BinaryIO, name: str) -> Iterator[Archived]:
    """Every response record of a file, in order, one in memory at a time; ends before a torn tail.

    Raises DamagedError, naming file and offset, at a damaged record.
    """
    record = RecordRef(name, 0)
    while member := _bounded_member(file, record):
        if archived := parse_response(member.data, record):
            yield archived
        record = RecordRef(name, member.end)


def parse_response(data: bytes, record: RecordRef) -> Archived | None:
    """What a record says; None if it is whole but no answer of a Web server. Raises DamagedError. Linear."""
    head, _, rest = data.partition(b"\r\n\r\n")
    version, *lines = head.decode("utf-8", "replace").split("\r\n")
    fields = {name.lower(): value for name, value in reversed(_fields(lines))}  # of several, the first counts
    length = _number(fields.get("content-length", ""))
    if not version.startswith("WARC/1.") or length is None or len(rest) != length + 4:
        raise _damage(record, "this is no WARC record, or not all of it")
    url = parse_url(fields.get("warc-target-uri", "").strip("<>"))
    kind = fields.get("content-type", "").partition(";")[0].lower()
    if fields.get("warc-type") != "response" or kind != "application/http" or url is None:
        return None
    date = _unix_time(fields.get("warc-date", ""))
    response = _parse_http(rest[:length], fields)
    if date is None or response is None:
        raise _damage(record, "its date or its HTTP header cannot be read")
    return Archived(url, date, response, record, headers_only=WITHHELD_FIELD.lower() in fields)


def _bounded_member(file: BinaryIO, record: RecordRef) -> Member | None:
    member = read_member(file, record, RECORD_LIMIT_BYTES)
    if member and member.size > RECORD_LIMIT_BYTES:
        raise _damage(record, f"the record is longer than {RECORD_LIMIT_BYTES} bytes")
    return member


def _parse_http(block: bytes, warc_fields: dict[str, str]) -> Response | None:
    head, _, body = block.partition(b"\r\n\r\n")
    status_line, *lines = head.decode("latin-1").split("\r\n")
    version, _, rest = status_line.partition(" ")
    code, _, reason = rest.partition(" ")
    status = _number(code)
    if status is None or not version.startswith("HTTP/"):
        return None
    truncated = warc_fields.get("warc-truncated")
    return Response(
        status=status,
        headers=_as_received(_fields(lines)),
        body=body,
        version=PROTOCOLS.get(warc_fields.get("warc-protocol", ""), version),
        reason=reason,
        truncated=None if truncated is None else "length" if truncated == "length" else "disconnect",
    )


def _fields(lines: list[str]) -> list[tuple[str, str]]:
    pairs = (line.partition(":") for line in lines)
    return [(name.strip(" \t"), value.strip(" \t")) for name, colon, value in pairs if colon]


def _as_received(headers: list[tuple[str, str]]) -> Headers:
    return tuple((name[len(RENAMED) :] if _RENAMED_FIELD.fullmatch(name) else name, value) for name, value in headers)


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else None


def _unix_time(text: str) -> float | None:
    try:
        date = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()


def _damage(record: RecordRef, what: str) -> DamagedError:
    return DamagedError(f"{record.file} is damaged at byte {record.offset}: {what}")
