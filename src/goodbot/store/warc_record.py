"""Capture → WARC records (ISO 28500:2017), each a gzip member. Pure but for the random record names.

A capture is a response record and, if the request is known as sent, a request record that names it
(WARC-Concurrent-To). The body is stored as `Response` has it: content coding kept, transfer coding removed.
A Transfer-Encoding field would make readers unchunk what has no chunks, a Content-Length of another number
would make them wait or cut; so both are stored as `X-Crawl-…`, and `read` gives them their names back.
"""

import re
from base64 import b32encode
from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import sha1
from uuid import uuid4

from isal import isal_zlib

from goodbot.store.warc_reader import RENAMED, WITHHELD_FIELD
from goodbot.values import Capture, Response

Fields = Sequence[tuple[str, str]]

_FRAMING_FIELD = re.compile(r"((?:X-Crawl-)*)(Transfer-Encoding|Content-Length)", re.IGNORECASE)
_UNSAFE = re.compile(r"[\r\n\0]+")


def info_record(name: str, now: float, software: str, info_id: str) -> bytes:
    """The first record of the file `name` (§6.2)."""
    lines = (
        f"software: {_UNSAFE.sub(' ', software)}",
        "format: WARC File Format 1.1",
        "conformsTo: http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
        "robots: obeyed (RFC 9309)",
    )
    block = "".join(f"{line}\r\n" for line in lines).encode()
    return _member(
        [
            ("WARC-Type", "warcinfo"),
            ("WARC-Record-ID", info_id),
            ("WARC-Date", _date(now)),
            ("WARC-Filename", name),
            ("WARC-Block-Digest", _digest(block)),
            ("Content-Type", "application/warc-fields"),
        ],
        block,
    )


def response_record(
    capture: Capture, response: Response, response_id: str, common: Fields, headers_only: bool
) -> bytes:
    """The answer; without its body, and saying so, if `headers_only` (§6.3)."""
    body = b"" if headers_only else response.body
    head = _http_head(response, len(body))
    fields = [("WARC-Type", "response"), ("WARC-Record-ID", response_id), *common]
    if protocol := _protocol(response.version, capture.request.url.scheme):
        fields.append(("WARC-Protocol", protocol))
    if headers_only:
        fields.append((WITHHELD_FIELD, "withheld; noarchive"))
    else:
        fields.append(("WARC-Payload-Digest", _digest(body)))
        if response.truncated:
            fields.append(("WARC-Truncated", response.truncated))
    fields.append(("WARC-Block-Digest", _digest(head, body)))
    fields.append(("Content-Type", "application/http; msgtype=response"))
    return _member(fields, head, body)


def request_record(head: bytes, response_id: str, common: Fields) -> bytes:
    """The request as sent, naming its response (§6.5)."""
    fields = [
        ("WARC-Type", "request"),
        ("WARC-Record-ID", record_id()),
        *common,
        ("WARC-Concurrent-To", response_id),
        ("WARC-Block-Digest", _digest(head)),
        ("Content-Type", "application/http; msgtype=request"),
    ]
    return _member(fields, head)


def common_fields(capture: Capture, info_id: str) -> Fields:
    """What the records of one capture have in common."""
    fields = [
        ("WARC-Warcinfo-ID", info_id),
        ("WARC-Date", _date(capture.fetched_at)),
        ("WARC-Target-URI", capture.request.url.text),
    ]
    if capture.peer:
        fields.append(("WARC-IP-Address", capture.peer))
    return fields


def _member(fields: Fields, *block: bytes) -> bytes:
    head = "".join([f"{name}: {value}\r\n" for name, value in fields])
    head = f"WARC/1.1\r\n{head}Content-Length: {sum(map(len, block))}\r\n\r\n"
    record = b"".join((head.encode(), *block, b"\r\n\r\n"))
    return isal_zlib.compress(record, 1, 31)


def _http_head(response: Response, body_length: int) -> bytes:
    """The header as received, but for framing fields (see above) and bytes that end a line (RFC 9112 §5).

    A colon in a name becomes a hyphen; a character outside ISO 8859-1, which no header received has, `?`.
    """
    version = response.version if response.version in ("HTTP/1.0", "HTTP/1.1") else "HTTP/1.1"
    lines = [f"{version} {response.status} {response.reason}"]
    lines += [f"{_stored_name(name, value, body_length)}: {value}" for name, value in response.headers]
    return "".join([_UNSAFE.sub(" ", line) + "\r\n" for line in lines]).encode("latin-1", "replace") + b"\r\n"


def _stored_name(name: str, value: str, body_length: int) -> str:
    framing = _FRAMING_FIELD.fullmatch(name)
    if framing and (framing[1] or framing[2].lower() != "content-length" or value != str(body_length)):
        return RENAMED + name
    return name.replace(":", "-").strip(" \t")


def _protocol(version: str, scheme: str) -> str | None:
    if version.startswith("HTTP/2"):
        return "h2" if scheme == "https" else "h2c"
    return "h3" if version.startswith("HTTP/3") else None


def _digest(*parts: bytes) -> str:
    """SHA-1 in base 32, as CDX files have it: for finding the same payload again, not against forgers."""
    state = sha1(usedforsecurity=False)
    for part in parts:
        state.update(part)
    return "sha1:" + b32encode(state.digest()).decode()


def _date(unix_time: float) -> str:
    return datetime.fromtimestamp(unix_time, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def record_id() -> str:
    """A name no other record has (§5.2)."""
    return f"<urn:uuid:{uuid4()}>"
