"""Parses the HTTP messages in records of other programs. Never raises; linear."""

import re
from typing import Final

from goodbot.store.warc.warc_reader import PROTOCOLS
from goodbot.values import Headers, Response

MAX_HEAD_BYTES: Final = 1024 * 1024
MAX_FIELDS: Final = 5000

_HEAD_END: Final = re.compile(rb"\r?\n\r?\n")
_STATUS_LINE: Final = re.compile(r"HTTP/([0-9](?:\.[0-9])?)[ \t]+([1-5][0-9]{2})(?:[ \t](.*))?", re.DOTALL)
_METHOD: Final = re.compile(rb"([A-Za-z]{1,20})[ \t]")
_RENAMED_FIELD: Final = re.compile(
    r"(?:X-(?:Crawl|Orig|Archive-Orig)-)+(Transfer-Encoding|Content-Length)", re.IGNORECASE
)
"""Framing fields that other programs store under another name, because they do not match the stored body."""
_SIZE_LINE: Final = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\n]*)?\r?\n")


def parse_response(block: bytes, protocol: str = "", truncated: str | None = None) -> Response | None:
    """Parses a response; None if `block` is not a response. Its transfer coding is removed, its content coding is kept.
    `protocol`, `truncated`: the fields `WARC-Protocol` and `WARC-Truncated` of its record."""
    end = _HEAD_END.search(block, 0, MAX_HEAD_BYTES)
    head, body = (block, b"") if end is None else (block[: end.start()], block[end.end() :])
    if end is None and len(block) > MAX_HEAD_BYTES:
        return None
    first, *lines = re.split(r"\r?\n", head.decode("latin-1"))
    status = _STATUS_LINE.fullmatch(first)
    if status is None:
        return None
    headers = _headers(lines)
    coding = next((value.lower() for name, value in headers if name.lower() == "transfer-encoding"), "")
    if "chunked" in coding:
        body = unchunked(body)
    version = next((PROTOCOLS[name] for name in protocol.split(",") if name.strip() in PROTOCOLS), f"HTTP/{status[1]}")
    cut = None if not truncated else "length" if truncated.lower() == "length" else "disconnect"
    return Response(int(status[2]), headers, body, version, (status[3] or "").strip(), truncated=cut)  # type: ignore[arg-type]


def _headers(lines: list[str]) -> Headers:
    fields: list[tuple[str, str]] = []
    for line in lines[:MAX_FIELDS]:
        if line[:1] in (" ", "\t") and fields:
            name, value = fields[-1]
            if len(value) < MAX_HEAD_BYTES // 16:
                fields[-1] = (name, f"{value} {line.strip()}".strip())
            continue
        name, colon, value = line.partition(":")
        if colon and name.strip():
            fields.append((_original_name(name.strip()), value.strip(" \t")))
    return tuple(fields)


def _original_name(name: str) -> str:
    renamed = _RENAMED_FIELD.fullmatch(name) if name[:2] in ("X-", "x-") else None
    return renamed[1] if renamed else name


def unchunked(body: bytes) -> bytes:
    """Removes the chunks of a body (RFC 9112 §7.1). Many programs state the coding and store the body without it: then
    it is returned as it is, and so is one whose chunks do not fit from the beginning."""
    parts: list[bytes] = []
    at = 0
    while size := _SIZE_LINE.match(body, at):
        length = int(size[1], 16)
        if not length:
            return b"".join(parts)
        parts.append(body[size.end() : size.end() + length])
        at = size.end() + length
        if at >= len(body):
            return b"".join(parts)
        if body[at : at + 2] == b"\r\n":
            at += 2
        elif body[at : at + 1] == b"\n":
            at += 1
        elif len(parts) == 1:
            return body
    return b"".join(parts) if parts else body


def method_of(block: bytes) -> str:
    """Returns the method of a request in capitals; empty if `block` is no request."""
    found = _METHOD.match(block)
    return "" if found is None else found[1].decode().upper()
