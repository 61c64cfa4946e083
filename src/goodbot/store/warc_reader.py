"""Reads WARC files of one gzip member per record: where members begin and end, what a response record says.

Not fastwarc: it takes a record whose member does not end for a whole one, and does not say where members end;
both are what a file left by a kill has to be asked. isal checks the CRC-32 of every member (RFC 1952 §2.3.1).
"""

import mmap
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import BinaryIO

from isal import isal_zlib

from goodbot.errors import DamagedError
from goodbot.url import parse_url
from goodbot.values import Archived, Headers, RecordRef, Response

RECORD_LIMIT_BYTES = 64 * 1024 * 1024
"""A record, uncompressed, is at most this long: the bound of what reading one takes."""

MEMBER_START = bytes.fromhex("1f8b080000000000")
"""How each member of ours begins: gzip, no flags, no time (RFC 1952 §2.3)."""

RENAMED = "X-Crawl-"
"""Put before the name of a framing field that is not true of the stored body (the prefix of Common Crawl)."""

WITHHELD_FIELD = "WARC-Goodbot-Body"
"""Named field of a response record without the body it had; its value says why."""

MOVED_FIELD = "WARC-Goodbot-Moved-To"
"""Named field of an emptied record: the offset in the same file at which its content is now."""

DIGEST_FIELD = "WARC-Payload-Digest"
ORIGINAL_FILE_FIELD = "WARC-Refers-To-Filename"
ORIGINAL_OFFSET_FIELD = "WARC-Refers-To-File-Offset"
"""Where the payload of a revisit record lies (an extension that OpenWayback and warcio know)."""

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


@dataclass(frozen=True, slots=True)
class Kept:
    """A response record, or a `revisit` record: that has an `original`, which holds its payload, or is a 304 and has
    none. `digest` as stated."""

    archived: Archived
    digest: str | None
    original: RecordRef | None
    revisit: bool = False


def members(file: BinaryIO, name: str, keep_bytes: int) -> Iterator[tuple[RecordRef, Member]]:
    """Every whole member of a file, in order; ends before one that does not end. Raises as `read_member`."""
    record = RecordRef(name, 0)
    while member := read_member(file, record, keep_bytes):
        yield record, member
        record = RecordRef(name, member.end)


def torn_at(file: BinaryIO, end: int) -> int:
    """Where the torn tail of a file begins whose bytes are damaged at `end`: there, or at the file's length if whole
    members follow.

    A power cut leaves blocks of zeros after the last member; damage before other members is no tail: nothing whole is
    ever cut off.
    """
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return end if content.find(MEMBER_START, end + 1) < 0 else len(content)


def read_response(file: BinaryIO, record: RecordRef) -> Archived:
    """The capture at `record`. Raises DamagedError, naming file and offset, if there is none, or if it is a revisit
    and the record that holds its payload is not there."""
    member = _bounded_member(file, record)
    if member is None:
        raise _damage(record, "the file ends within the record")
    kept = parse_record(member.data, record) or _moved(file, member, record)
    if kept is None:
        raise _damage(record, "this is no response record")
    return _with_payload(file, kept)


def _moved(file: BinaryIO, member: Member | None, record: RecordRef) -> Kept | None:
    """What an emptied record held, if it is elsewhere in the file now: always further on."""
    while member and (offset := _moved_to(member)) is not None and offset > record.offset:
        record = RecordRef(record.file, offset)
        member = _bounded_member(file, record)
        if member and (kept := parse_record(member.data, record)):
            return kept
    return None


def _moved_to(member: Member) -> int | None:
    lines = member.data.partition(b"\r\n\r\n")[0].decode("utf-8", "replace").split("\r\n")
    return _number(dict(_fields(lines)).get(MOVED_FIELD, ""))


def responses(file: BinaryIO, name: str) -> Iterator[Archived]:
    """Every capture of a file, in order, one in memory at a time; ends before a torn tail.

    Raises DamagedError, naming file and offset, at a damaged record.
    """
    record = RecordRef(name, 0)
    while member := _bounded_member(file, record):
        if kept := parse_record(member.data, record):
            yield _with_payload(file, kept)
        record = RecordRef(name, member.end)


def parse_record(data: bytes, record: RecordRef, *, whole: bool = True) -> Kept | None:
    """What a record says; None if it is whole but no answer of a Web server, or a revisit that neither says where its
    payload lies nor is a 304. Not `whole`: `data` may end within the block. Raises DamagedError. Linear."""
    head, _, rest = data.partition(b"\r\n\r\n")
    version, *lines = head.decode("utf-8", "replace").split("\r\n")
    fields = {name.lower(): value for name, value in reversed(_fields(lines))}  # of several, the first counts
    length = _number(fields.get("content-length", ""))
    if not version.startswith("WARC/1.") or length is None or (whole and len(rest) != length + 4):
        raise _damage(record, "this is no WARC record, or not all of it")
    url = parse_url(fields.get("warc-target-uri", "").strip("<>"))
    kind = fields.get("content-type", "").partition(";")[0].lower()
    revisit = fields.get("warc-type") == "revisit"
    original = _original(fields) if revisit else None
    answers = original is not None or fields.get("warc-type") == "response" or (revisit and _is_not_modified(fields))
    if kind != "application/http" or url is None or not answers:
        return None
    date = _unix_time(fields.get("warc-date", ""))
    response = _parse_http(rest[:length], fields)
    if date is None or response is None:
        raise _damage(record, "its date or its HTTP header cannot be read")
    archived = Archived(url, date, response, record, headers_only=WITHHELD_FIELD.lower() in fields)
    return Kept(archived, fields.get(DIGEST_FIELD.lower()), original, revisit)


def _is_not_modified(fields: dict[str, str]) -> bool:
    return fields.get("warc-profile", "").endswith("/revisit/server-not-modified")


def _original(fields: dict[str, str]) -> RecordRef | None:
    offset = _number(fields.get(ORIGINAL_OFFSET_FIELD.lower(), ""))
    return None if offset is None else RecordRef(fields.get(ORIGINAL_FILE_FIELD.lower(), ""), offset)


def _with_payload(file: BinaryIO, kept: Kept) -> Archived:
    """One step: a revisit of a revisit is damage, and so is one of another file."""
    record, original = kept.archived.record, kept.original
    if original is None:
        return kept.archived
    member = _bounded_member(file, original) if original.file == record.file else None
    found = parse_record(member.data, original) if member else None
    if found is None or found.original is not None or found.digest is None or found.digest != kept.digest:
        raise _damage(record, f"it repeats a record of {original.file or 'a file'} at {original.offset}: not there")
    return replace(kept.archived, response=replace(kept.archived.response, body=found.archived.response.body))


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
