"""Encodes captures as WARC records (ISO 28500:2017), each a gzip member. Pure, except for the random record names.

A capture is a response record and, if the sent request is known, a request record that names it
(WARC-Concurrent-To); a metadata record is optional. The body is stored as `Response` has it: content coding kept,
transfer coding removed. A Transfer-Encoding field would make readers unchunk a body without chunks, and a
Content-Length of another number would make them wait or cut; so both are stored as `X-Crawl-…`, and `read` restores
their names. No record names its warcinfo record (which §5.4 allows): that is the first record of the same file.
"""

import os
import re
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import sha1

from isal import isal_zlib

from goodbot.archive_values import EncodedRecords
from goodbot.store.warc.cdxj import REVISIT, index_entry
from goodbot.store.warc.warc_member import PIECE_BYTES, packed, packed_around
from goodbot.store.warc.warc_reader import (
    DIGEST_FIELD,
    ORIGINAL_FILE_FIELD,
    ORIGINAL_OFFSET_FIELD,
    RENAMED,
    WITHHELD_FIELD,
)
from goodbot.values import Capture, Failure, Headers, LastVisit, RecordRef, Response

_FRAMING_FIELD = re.compile(r"((?:X-Crawl-)*)(Transfer-Encoding|Content-Length)", re.IGNORECASE)
_COMPRESSED = frozenset({"gzip", "x-gzip", "br", "zstd", "deflate"})
_UNSAFE = re.compile(r"[\r\n\0]+")
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_PAIRS = [first + second for first in _LETTERS for second in _LETTERS]
_SHIFTS = tuple(range(150, -1, -10))


def encode_capture(
    capture: Capture,
    headers_only: bool = False,
    *,
    via: str | None = None,
    metadata: bool = False,
    about: LastVisit | None = None,
) -> EncodedRecords:
    """Encodes the records of a capture, without the body if `headers_only`.

    `about`: the earlier visit that a conditional request named. If the answer is a 304, a revisit record takes the
    place of the response (§6.7.3). `metadata` adds a record with the duration of the fetch and, if given, the page
    that linked there (`via`): 6 µs and 460 bytes. Raises ValueError for a capture without response.
    """
    response = capture.result
    if isinstance(response, Failure):
        raise ValueError(f"no response to archive: {response.detail}")  # noqa: TRY004 - the port says so
    url, name = capture.request.url, _random_name()
    date, seconds = _dates(capture.fetched_at)
    common = f"WARC-Date: {date}\r\nWARC-Target-URI: {url.text}\r\n"
    if capture.peer:
        common += f"WARC-IP-Address: {capture.peer}\r\n"
    digest = None if headers_only else _digest(response.body)
    named = f"WARC-Record-ID: {name}0>\r\n{common}"
    entry = index_entry(url, seconds, response.media_type, response.status, digest)
    if about is not None and response.status == 304:
        data = member = _not_modified_record(response, url.text, about, named)
        digest, entry = None, index_entry(url, seconds, REVISIT, response.status, about.digest)
    else:
        data = member = _response_record(capture, response, digest, named)
    if capture.request_head:
        data += _request_record(capture.request_head, name, common)
    if metadata:
        data += _metadata_record(capture.elapsed_s, via, name, common)
    return EncodedRecords(data, len(member), url.text, date, digest, entry, headers_only)


def info_record(file_name: str, now: float, software: str) -> bytes:
    """Builds the first record of a file (§6.2)."""
    lines = (
        f"software: {_UNSAFE.sub(' ', software)}",
        "format: WARC File Format 1.1",
        "conformsTo: http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
        "robots: obeyed (RFC 9309)",
    )
    block = "".join(f"{line}\r\n" for line in lines).encode()
    return _member(
        f"WARC/1.1\r\nWARC-Type: warcinfo\r\nWARC-Record-ID: {_random_name()}0>\r\nWARC-Date: {_dates(now)[0]}\r\n"
        f"WARC-Filename: {file_name}\r\nWARC-Block-Digest: {_digest(block)}\r\n"
        f"Content-Type: application/warc-fields\r\nContent-Length: {len(block)}\r\n\r\n",
        block,
    )


def revisit_record(response: bytes, original: RecordRef, url: str, date: str) -> bytes:
    """Builds a revisit record to replace a response record (a member made here) whose payload was stored before
    (§6.7.2).

    `original`, `url` and `date` are those of the response record that holds the payload.
    """
    head, http_head = _heads(response)
    replaced = ("WARC/1.1", "WARC-Type:", "WARC-Block-Digest:", "Content-Length:")
    kept = [line for line in head.decode().split("\r\n") if not line.startswith(replaced)]
    lines = [
        "WARC/1.1",
        "WARC-Type: revisit",
        *kept,
        "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
        f"WARC-Refers-To-Target-URI: {url}",
        f"WARC-Refers-To-Date: {date}",
        f"{ORIGINAL_FILE_FIELD}: {original.file}",
        f"{ORIGINAL_OFFSET_FIELD}: {original.offset}",
        f"WARC-Block-Digest: {_digest(http_head)}",
        f"Content-Length: {len(http_head)}\r\n\r\n",
    ]
    return isal_zlib.compress(b"".join(("\r\n".join(lines).encode(), http_head, b"\r\n\r\n")), 1, 31)


def _heads(member: bytes) -> tuple[bytes, bytes]:
    """Returns the fields of a response record (a member made here) and its HTTP header with the empty line at its
    end."""
    inflater = isal_zlib.decompressobj(31)
    data = inflater.decompress(member, PIECE_BYTES)
    while data.count(b"\r\n\r\n") < 2 and not inflater.eof:
        data += inflater.decompress(inflater.unconsumed_tail, PIECE_BYTES)
    head, _, block = data.partition(b"\r\n\r\n")
    return head, block[: block.index(b"\r\n\r\n") + 4]


def _not_modified_record(response: Response, url: str, about: LastVisit, common: str) -> bytes:
    """Builds a revisit record with the header of a 304 and the capture that it confirms (§6.7.3). That capture may be
    in another file, so it is named by its date and digest, and not by its place."""
    head = _http_head(response, 0)
    digest = f"{DIGEST_FIELD}: {about.digest}\r\n" if about.digest else ""
    fields = (
        f"WARC/1.1\r\nWARC-Type: revisit\r\n{common}"
        "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/server-not-modified\r\n"
        f"WARC-Refers-To-Target-URI: {url}\r\nWARC-Refers-To-Date: {_dates(about.changed_at)[0]}\r\n{digest}"
        f"WARC-Block-Digest: {_digest(head)}\r\n"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(head)}\r\n\r\n"
    )
    return isal_zlib.compress(b"".join((fields.encode(), head, b"\r\n\r\n")), 1, 31)


def block_digest(block: bytes) -> str:
    """Returns the digest of a block as records state it."""
    return _digest(block)


def _response_record(capture: Capture, response: Response, digest: str | None, common: str) -> bytes:
    """Builds a response record; without a digest it leaves out the body, and says so (§6.3)."""
    body = b"" if digest is None else response.body
    head = _http_head(response, len(body))
    payload = f"{WITHHELD_FIELD}: withheld; noarchive\r\n" if digest is None else f"{DIGEST_FIELD}: {digest}\r\n"
    if protocol := _protocol(response.version, capture.request.url.scheme):
        payload += f"WARC-Protocol: {protocol}\r\n"
    if response.truncated and digest is not None:
        payload += f"WARC-Truncated: {response.truncated}\r\n"
    fields = (
        f"WARC/1.1\r\nWARC-Type: response\r\n{common}{payload}WARC-Block-Digest: {_digest(head, body)}\r\n"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(head) + len(body)}\r\n\r\n"
    )
    if body and _is_compressed(response):
        return packed_around(fields.encode() + head, body, b"\r\n\r\n")
    return packed(fields.encode(), head, body, b"\r\n\r\n")


def _is_compressed(response: Response) -> bool:
    """Whether the server compressed the body, according to its header."""
    return (response.header("content-encoding") or "").strip().lower() in _COMPRESSED


def _request_record(head: bytes, name: str, common: str) -> bytes:
    """Builds a record of the request as sent, which names its response (§6.5)."""
    return _member(
        f"WARC/1.1\r\nWARC-Type: request\r\nWARC-Record-ID: {name}1>\r\n{common}WARC-Concurrent-To: {name}0>\r\n"
        f"WARC-Block-Digest: {_digest(head)}\r\n"
        f"Content-Type: application/http; msgtype=request\r\nContent-Length: {len(head)}\r\n\r\n",
        head,
    )


def _metadata_record(elapsed_s: float, via: str | None, name: str, common: str) -> bytes:
    """Builds a record of what the crawl knows about a capture, which names its response (§6.6)."""
    via_line = f"via: {_UNSAFE.sub(' ', via)}\r\n" if via else ""
    block = f"fetchTimeMs: {elapsed_s * 1000:.0f}\r\n{via_line}".encode()
    return _member(
        f"WARC/1.1\r\nWARC-Type: metadata\r\nWARC-Record-ID: {name}2>\r\n{common}WARC-Concurrent-To: {name}0>\r\n"
        f"WARC-Block-Digest: {_digest(block)}\r\n"
        f"Content-Type: application/warc-fields\r\nContent-Length: {len(block)}\r\n\r\n",
        block,
    )


def _member(head: str, block: bytes) -> bytes:
    """Builds a small record, stored uncompressed: isal's level 1 takes 5 µs more for a request and saves 140 bytes."""
    return isal_zlib.compress(b"".join((head.encode(), block, b"\r\n\r\n")), 0, 31)


def _http_head(response: Response, body_length: int) -> bytes:
    """Returns the header as received, except framing fields (see above) and bytes that end a line (RFC 9112 §5).

    A colon in a name becomes a hyphen; a character outside ISO 8859-1, which no received header has, becomes `?`.
    """
    version = response.version if response.version in ("HTTP/1.0", "HTTP/1.1") else "HTTP/1.1"
    lines = [f"{version} {response.status} {response.reason}", *_header_lines(response.headers, str(body_length))]
    head = "\r\n".join(lines)
    if not head.count("\r") == head.count("\n") == len(lines) - 1 or "\0" in head:
        head = "\r\n".join([_UNSAFE.sub(" ", line) for line in lines])
    return f"{head}\r\n\r\n".encode("latin-1", "replace")


def _header_lines(headers: Headers, body_length: str) -> list[str]:
    return [
        f"{(_stored_name if len(name) < 64 else _make_stored_name)(name, value == body_length)}: {value}"
        for name, value in headers
    ]


def _make_stored_name(name: str, is_body_length: bool) -> str:
    framing = _FRAMING_FIELD.fullmatch(name)
    if framing and (framing[1] or framing[2].lower() != "content-length" or not is_body_length):
        return RENAMED + name
    return name.replace(":", "-").strip(" \t")


_stored_name = lru_cache(maxsize=1024)(_make_stored_name)
"""Caches the names that occur again and again; long ones are not cached."""


def _protocol(version: str, scheme: str) -> str | None:
    if version.startswith("HTTP/2"):
        return "h2" if scheme == "https" else "h2c"
    return "h3" if version.startswith("HTTP/3") else None


def _digest(*parts: bytes) -> str:
    """Returns SHA-1 in base 32, as in CDX files. It finds equal payloads, and is no protection against forgery."""
    state = sha1(usedforsecurity=False)
    for part in parts:
        state.update(part)
    return digest_text(state.digest())


def digest_text(digest: bytes) -> str:
    """Formats a SHA-1 digest as records state it."""
    number = int.from_bytes(digest, "big")
    return "sha1:" + "".join([_PAIRS[number >> shift & 1023] for shift in _SHIFTS])


def _dates(unix_time: float) -> tuple[str, str]:
    """Returns WARC-Date, in microseconds, and `YYYYMMDDhhmmss`."""
    second, microseconds = divmod(round(unix_time * 1_000_000), 1_000_000)
    date, digits = _second(second)
    return f"{date}.{microseconds:06}Z", digits


@lru_cache(maxsize=64)
def _second(unix_time: int) -> tuple[str, str]:
    moment = datetime.fromtimestamp(unix_time, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}", f"{moment:%Y%m%d%H%M%S}"


def _random_name() -> str:
    """Returns a unique record name (§5.2) without its last digit and bracket: these tell a capture's records apart."""
    digits = os.urandom(15).hex()
    return f"<urn:uuid:{digits[:8]}-{digits[8:12]}-4{digits[12:15]}-8{digits[15:18]}-{digits[18:29]}"
