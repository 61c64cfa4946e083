"""Reads WARC files of one gzip member per record: finds where members begin and end, and parses response records.

Not fastwarc: it takes a record whose member does not end for a whole one, and does not say where members end;
a file left by a kill needs both. isal checks the CRC-32 of every member (RFC 1952 §2.3.1).
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import BinaryIO

from isal import isal_zlib

from goodbot.archive_values import ArchivedResponse
from goodbot.errors import DamagedError
from goodbot.url import parse_url
from goodbot.values import Headers, RecordRef, Response

MAX_HEAD_BYTES = 1024 * 1024
"""The fields of a record must end within these bytes. They state its length, and no more of it is decompressed."""

MEMBER_START = bytes.fromhex("1f8b080000000000")
"""How each of our members begins: gzip, no flags, no time (RFC 1952 §2.3)."""

RENAMED = "X-Crawl-"
"""Prefix of framing fields that do not match the stored body (the one Common Crawl uses)."""

WITHHELD_FIELD = "WARC-Goodbot-Body"
"""Field of a response record that is stored without its body; its value says why."""

MOVED_FIELD = "WARC-Goodbot-Moved-To"
"""Field of an emptied record: the offset in the same file at which its content is now."""

DIGEST_FIELD = "WARC-Payload-Digest"
ORIGINAL_FILE_FIELD = "WARC-Refers-To-Filename"
ORIGINAL_OFFSET_FIELD = "WARC-Refers-To-File-Offset"
"""Where the payload of a revisit record is (an extension that OpenWayback and warcio know)."""

PROTOCOLS = {"h2": "HTTP/2", "h2c": "HTTP/2", "h3": "HTTP/3"}
"""Maps WARC-Protocol (an extension the IIPC adopted) to a version. An application/http message cannot say HTTP/2."""

_RENAMED_FIELD = re.compile(r"(?:X-Crawl-)+(?:Transfer-Encoding|Content-Length)", re.IGNORECASE)
_READ_BYTES = 16 * 1024
_INFLATE_BYTES = 1024 * 1024
_VERSION = b"WARC/1."
_LENGTH = re.compile(rb"\r\ncontent-length[ \t]*:[ \t]*([0-9]{1,15})[ \t]*\r\n", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Member:
    """A complete gzip member: where it ends in the file, its uncompressed size, and its data or the first of them."""

    end: int
    size: int
    data: bytes


def read_member(
    file: BinaryIO, place: RecordRef, keep_bytes: int | None = None, feed: Callable[[bytes], object] | None = None
) -> Member | None:
    """Reads the record at `place`, with all its data or with the first `keep_bytes`; None if the file ends within it.
    `feed` is called with all data in parts. Takes twice the memory of what is kept, and 2 MiB.

    Raises DamagedError if the bytes are no gzip member, fail its checksum, or are no WARC record or more than one;
    OSError if they cannot be read. Decompresses no more than the length that the record states.
    """
    parts: list[bytes] = []
    kept = size = 0
    head, limit = b"", None
    for end, part in _unpacked(file, place):
        size += len(part)
        if limit is None:
            head += part
            limit = _stated_length(head, place)
        if size > (MAX_HEAD_BYTES if limit is None else limit) or (end is not None and size != limit):
            raise damage(place, _wrong_length(size, limit, ended=end is not None))
        if feed is not None:
            feed(part)
        if keep_bytes is None or kept < keep_bytes:
            parts.append(part if keep_bytes is None else part[: keep_bytes - kept])
            kept += len(parts[-1])
        if end is not None:
            return Member(end, size, b"".join(parts))
    return None


def _unpacked(file: BinaryIO, place: RecordRef) -> Iterator[tuple[int | None, bytes]]:
    """Decompresses a gzip member in parts of at most 1 MiB; with the last one comes where the member ends."""
    file.seek(place.offset)
    inflater = isal_zlib.decompressobj(31)
    while not inflater.eof:
        packed = inflater.unconsumed_tail or file.read(_READ_BYTES)
        try:
            part = inflater.decompress(packed, _INFLATE_BYTES)
        except isal_zlib.error as error:  # type: ignore[misc]  # isal declares its error class as an instance
            raise damage(place, str(error)) from error
        if not packed and not part:
            return
        yield file.tell() - len(inflater.unused_data) if inflater.eof else None, part


def _stated_length(data: bytes, place: RecordRef) -> int | None:
    """Returns the length that a record states in these first bytes; None if its fields have not ended yet."""
    if not data.startswith(_VERSION[: len(data)]):
        raise damage(place, "this is not a WARC record")
    end = data.find(b"\r\n\r\n", 0, MAX_HEAD_BYTES)
    if end < 0:
        return None
    length = _LENGTH.search(data, 0, end + 2)
    if length is None:
        raise damage(place, "this is not a WARC record: it states no length")
    return end + 4 + int(length[1]) + 4


def _wrong_length(size: int, limit: int | None, *, ended: bool) -> str:
    """Says what is wrong with a record of `size` bytes, or of more if it has not `ended`, that states the length
    `limit`; None: it has stated none."""
    if limit is not None and size > limit:
        return f"this WARC record is longer than the {limit:,} bytes that it states"
    if limit is not None:
        return f"this WARC record is cut short: it has {size:,} of the {limit:,} bytes that it states"
    is_begun = ended and size >= len(_VERSION)
    return "this WARC record is cut short: its fields do not end" if is_begun else "this is not a WARC record"


@dataclass(frozen=True, slots=True)
class KeptHead:
    """A parsed response record, or a `revisit` record, which either has an `original` with its payload or is a 304
    without one. `digest` as stated."""

    archived: ArchivedResponse
    digest: str | None
    original: RecordRef | None
    revisit: bool = False


def read_response(file: BinaryIO, record: RecordRef) -> ArchivedResponse:
    """Returns the capture at `record`. Raises DamagedError, naming file and offset, if there is none, or if it is a
    revisit whose payload is missing."""
    member = read_member(file, record)
    if member is None:
        raise damage(record, "the file ends within the record")
    kept = parse_record(member.data, record) or _moved(file, member, record)
    if kept is None:
        raise damage(record, "this is not a response record")
    return with_payload(file, kept)


def _moved(file: BinaryIO, member: Member | None, record: RecordRef) -> KeptHead | None:
    """Returns what an emptied record held, if that is elsewhere in the file now: always further on."""
    while member and (offset := moved_to(member)) is not None and offset > record.offset:
        record = RecordRef(record.file, offset)
        member = read_member(file, record)
        if member and (kept := parse_record(member.data, record)):
            return kept
    return None


def moved_to(member: Member) -> int | None:
    """Returns where the content of an emptied record is now; None if it is no such record."""
    lines = member.data.partition(b"\r\n\r\n")[0].decode("utf-8", "replace").split("\r\n")
    return _number(dict(_fields(lines)).get(MOVED_FIELD, ""))


def parse_record(data: bytes, record: RecordRef, *, whole: bool = True) -> KeptHead | None:
    """Parses a record; None if it is complete but no HTTP response, or a revisit that neither names its payload nor is
    a 304. Not `whole`: `data` may end within the block. Raises DamagedError. Linear."""
    head, _, rest = data.partition(b"\r\n\r\n")
    version, *lines = head.decode("utf-8", "replace").split("\r\n")
    fields = {name.lower(): value for name, value in reversed(_fields(lines))}  # of several, the first counts
    length = _number(fields.get("content-length", ""))
    if not version.startswith("WARC/1.") or length is None:
        raise damage(record, "this is not a WARC record")
    stated = len(head) + 4 + length + 4
    if whole and len(data) != stated:
        raise damage(record, _wrong_length(len(data), stated, ended=True))
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
        raise damage(record, "its date or its HTTP header cannot be parsed")
    archived = ArchivedResponse(url, date, response, record, headers_only=WITHHELD_FIELD.lower() in fields)
    return KeptHead(archived, fields.get(DIGEST_FIELD.lower()), original, revisit)


def _is_not_modified(fields: dict[str, str]) -> bool:
    return fields.get("warc-profile", "").endswith("/revisit/server-not-modified")


def _original(fields: dict[str, str]) -> RecordRef | None:
    offset = _number(fields.get(ORIGINAL_OFFSET_FIELD.lower(), ""))
    return None if offset is None else RecordRef(fields.get(ORIGINAL_FILE_FIELD.lower(), ""), offset)


def with_payload(file: BinaryIO, kept: KeptHead) -> ArchivedResponse:
    """Returns the capture with the body that its record refers to. Follows one step only: a revisit of a revisit counts
    as damage, and so does one of another file."""
    record, original = kept.archived.record, kept.original
    if original is None:
        return kept.archived
    member = read_member(file, original) if original.file == record.file else None
    found = parse_record(member.data, original) if member else None
    if found is None or found.original is not None or found.digest is None or found.digest != kept.digest:
        raise damage(record, f"it refers to a record of {original.file or 'a file'} at {original.offset}: not there")
    return replace(kept.archived, response=replace(kept.archived.response, body=found.archived.response.body))


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


def damage(record: RecordRef, what: str) -> DamagedError:
    """Builds the error for damage found at a record."""
    return DamagedError(f"{record.file} is damaged at byte {record.offset}: {what}")
