"""Turns the records of other programs' archives into captures: response, revisit and resource records of Web pages,
with the requests that they answer."""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import BinaryIO, Final, NamedTuple

from goodbot.store.foreign.foreign_values import Damage, ForeignCapture, RawRecord, Skipped
from goodbot.store.foreign.http_message import method_of, parse_response
from goodbot.store.foreign.record_reader import BarrenError, read_records
from goodbot.store.foreign.unpacking import Readable, UnpackedStream, cause_of
from goodbot.store.foreign.wacz_reader import DESCRIPTION, ERRORS, ZIP_STARTS, NoZipError, WaczFile
from goodbot.store.warc.warc_record import block_digest
from goodbot.url import parse_url
from goodbot.values import Response

HEAD_BYTES: Final = 1024 * 1024
"""Bytes of a record's block that are kept in addition to the body."""

_START_BYTES: Final = 64 * 1024
_RECORD: Final = re.compile(rb"(?:\A|\n|\xef\xbb\xbf)WARC/[01]\.[0-9]{1,2}[ \t]{0,8}\r?\n[A-Za-z-]{1,40}[ \t]{0,8}:")
ARC_START: Final = b"filedesc://"
_NO_RECORD: Final = "no record follows in 1 GiB of data, so the rest of the file is not read"

_CAPTURES: Final = ("response", "resource", "revisit")
_SCHEMES: Final = ("http:", "https:")


class SkippedCapture(NamedTuple):
    """A capture that is not imported, and why."""

    why: Skipped


class OtherRecord(NamedTuple):
    """A record that is not a capture: warcinfo, request, metadata and the like."""


Item = ForeignCapture | SkippedCapture | OtherRecord | Damage


def read_archive(
    file: BinaryIO, name: str, most_bytes: int, progress: Callable[[int], object] = lambda done: None
) -> Iterator[Item]:
    """Yields what a WARC or WACZ file has, in order. Up to `most_bytes` of a body are kept. `progress` is called with
    the bytes of the file read so far. May raise OSError; whatever the file has, nothing else is raised."""
    start = file.read(4)
    file.seek(0)
    if not start.startswith(ZIP_STARTS):
        yield from _warc(file, name, "", most_bytes, progress)
        return
    try:
        wacz = WaczFile(file)
    except NoZipError as error:
        yield Damage(name, "", 0, f"{error}; goodbot searches the file for records instead")
        file.seek(0)
        yield from _warc(file, name, "", most_bytes, progress)
        return
    yield from _entries(wacz, name, most_bytes, progress)


def _entries(wacz: WaczFile, name: str, most_bytes: int, progress: Callable[[int], object]) -> Iterator[Item]:
    if wacz.is_collection():
        yield Damage(name, "", 0, "it names other WACZ files, which are not read: import those files instead")
    if wacz.is_description_damaged:
        yield Damage(name, DESCRIPTION, 0, "it cannot be read, so digests of files are not compared")
    for missing in wacz.missing():
        yield Damage(name, missing, 0, "datapackage.json lists it, but it is missing")
    for info, refused in wacz.entries():
        if refused:
            yield Damage(name, info.filename, info.header_offset, refused)
            continue
        begin = info.header_offset
        try:
            with wacz.opened(info) as entry:
                yield from _warc(entry, name, info.filename, most_bytes, lambda done, at=begin: progress(at + done))  # type: ignore[misc]
                if entry.error:
                    yield Damage(name, info.filename, begin, entry.error)
                if entry.is_altered:
                    yield Damage(name, info.filename, begin, "its SHA-256 is not the one that datapackage.json states")
        except ERRORS as error:
            yield Damage(name, info.filename, begin, f"the ZIP file is damaged: {cause_of(error)}")


def _warc(file: Readable, name: str, entry: str, most_bytes: int, progress: Callable[[int], object]) -> Iterator[Item]:
    stream = UnpackedStream(file)
    pairing = _Pairing()
    try:
        for record in read_records(stream, most_bytes + HEAD_BYTES):
            progress(stream.raw_offset)
            if record.damage:
                url = parse_url(record.fields.get("warc-target-uri", "").strip("<>"))
                yield Damage(name, entry, record.at, record.damage, "" if url is None else url.text)
            yield from pairing.take(record, most_bytes)
    except BarrenError:
        yield Damage(name, entry, stream.raw_offset, _NO_RECORD)
    yield from pairing.last()
    progress(stream.raw_offset)


class _Request(NamedTuple):
    uri: str
    ids: frozenset[str]
    block: bytes


class _Pairing:
    """Holds a capture back until the next record, which may be its request. Some programs write the request first,
    others the response."""

    def __init__(self) -> None:
        self._request: _Request | None = None
        self._held: tuple[RawRecord, ForeignCapture] | None = None

    def take(self, record: RawRecord, most_bytes: int) -> Iterator[Item]:
        """Takes a record; yields what is known now."""
        kind = record.kind
        if kind == "request":
            request = _Request(record.fields.get("warc-target-uri", ""), _ids(record), record.block[:HEAD_BYTES])
            if self._held is not None and _belongs(request, self._held[0]):
                yield self._answer(request)
            else:
                yield from self.last()
                self._request = request
            yield OtherRecord()
            return
        yield from self.last()
        if kind not in _CAPTURES:
            if kind or not record.damage:
                yield OtherRecord()
            return
        capture = capture_of(record, most_bytes)
        if isinstance(capture, SkippedCapture):
            yield capture
            return
        self._held = record, capture
        if self._request is not None and _belongs(self._request, record):
            yield self._answer(self._request)
        self._request = None

    def last(self) -> Iterator[Item]:
        """Yields the capture that is held back, if there is one."""
        if self._held is not None:
            yield self._held[1]
            self._held = None

    def _answer(self, request: _Request) -> Item:
        assert self._held is not None  # noqa: S101  (both callers know)
        capture = self._held[1]
        self._held = self._request = None
        if method_of(request.block) not in ("GET", ""):
            return SkippedCapture("not GET")
        head = request.block if method_of(request.block) else b""
        return capture if not head else _with_request(capture, head)


def _with_request(capture: ForeignCapture, head: bytes) -> ForeignCapture:
    return ForeignCapture(
        capture.url, capture.at, capture.response, capture.payload, capture.peer, head, capture.refers_to
    )


def _ids(record: RawRecord) -> frozenset[str]:
    named = (record.fields.get(name) for name in ("warc-record-id", "warc-concurrent-to"))
    return frozenset(name for name in named if name)


def _belongs(request: _Request, record: RawRecord) -> bool:
    """Whether the response or revisit record answers the request: one names the other, or, if neither names another
    record, they are neighbours of the same URL."""
    if record.kind == "resource" or request.uri != record.fields.get("warc-target-uri", ""):
        return False
    mine = _ids(record)
    return not request.ids.isdisjoint(mine) or (len(request.ids) < 2 and len(mine) < 2)


def capture_of(record: RawRecord, most_bytes: int) -> ForeignCapture | SkippedCapture:
    """Makes a capture of a response, revisit or resource record."""
    fields = record.fields
    uri = fields.get("warc-target-uri", "").strip()
    if uri.startswith("<") and uri.endswith(">"):
        uri = uri[1:-1]
    if not uri.lower().startswith(_SCHEMES):
        return SkippedCapture("not http")
    url, at = parse_url(uri), unix_time(fields.get("warc-date", ""))
    if url is None:
        return SkippedCapture("no usable URL")
    if at is None:
        return SkippedCapture("no usable date")
    whole = len(record.block) == record.length
    response = _response(record, whole=whole)
    if response is None:
        return SkippedCapture("no HTTP response")
    if response.status == 304 or "not-modified" in fields.get("warc-profile", ""):
        return SkippedCapture("not modified")
    stated = fields.get("warc-payload-digest", "")
    refers_to = stated if record.kind == "revisit" else None
    if refers_to == "":
        return SkippedCapture("no original")
    response = _shortened(response, most_bytes)
    payload = stated or block_digest(response.body)
    return ForeignCapture(url, at, response, payload, _peer(fields), refers_to=refers_to)


def _response(record: RawRecord, *, whole: bool) -> Response | None:
    fields = record.fields
    truncated = fields.get("warc-truncated") or (None if whole else "length")
    if record.kind == "resource":
        media_type = fields.get("content-type", "")
        headers = (("Content-Type", media_type),) if media_type else ()
        return Response(200, headers, record.block, truncated="length" if truncated else None)
    response = parse_response(record.block, fields.get("warc-protocol", ""), truncated)
    if response is None or record.kind != "revisit":
        return response
    return Response(response.status, response.headers, b"", response.version, response.reason)


def _shortened(response: Response, most_bytes: int) -> Response:
    if len(response.body) <= most_bytes:
        return response
    body = response.body[:most_bytes]
    return Response(response.status, response.headers, body, response.version, response.reason, "length")


def _peer(fields: dict[str, str]) -> str | None:
    address = fields.get("warc-ip-address", "")
    return address if address and len(address) <= 45 and set(address) <= set("0123456789abcdefABCDEF.:") else None


def unix_time(text: str) -> float | None:
    """Reads a WARC-Date, also as ARC files write it (`20260102030405`); None if it is none, or lies before 1970."""
    try:
        date = datetime.fromisoformat(text) if not text.isdecimal() else datetime.strptime(text, "%Y%m%d%H%M%S")  # noqa: DTZ007
        time = (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
    return time if time >= 0 else None


def looks_like_archive(file: BinaryIO) -> bool:
    """Whether the file is a WACZ file, or has a WARC record at its beginning, or a little later after damage. Reads
    1 MiB at most, and the directory of a ZIP file."""
    start = file.read(4)
    file.seek(0)
    if start.startswith(ZIP_STARTS):
        return _may_be_wacz(file)
    stream = UnpackedStream(file)
    stream.fill(_START_BYTES)
    found = stream.begins_record() or _RECORD.search(stream.part(_START_BYTES)) is not None
    file.seek(0)
    return found


def _may_be_wacz(file: BinaryIO) -> bool:
    """Whether a ZIP file may have WARC files. One whose directory is damaged is searched for records."""
    try:
        found = WaczFile(file).is_wacz()
    except NoZipError:
        found = True
    file.seek(0)
    return found


def is_arc(file: BinaryIO) -> bool:
    """Whether the file begins like an ARC file, the predecessor of WARC; it may be compressed. Reads 1 MiB at most."""
    file.seek(0)
    if file.read(len(ARC_START)) == ARC_START:
        return True
    file.seek(0)
    stream = UnpackedStream(file)
    stream.fill(len(ARC_START))
    return stream.part(len(ARC_START)) == ARC_START
