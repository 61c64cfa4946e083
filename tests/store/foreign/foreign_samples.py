"""WARC and WACZ files in the forms of other programs, made by hand."""

import gzip
import hashlib
import io
import json
import zipfile
from base64 import b32encode
from collections.abc import Iterable, Sequence

from goodbot.store.foreign.capture_reader import OtherRecord, SkippedCapture, read_archive
from goodbot.store.foreign.foreign_values import Damage, ForeignCapture

DATE = "2024-03-01T10:00:00Z"
AT = 1_709_287_200.0
HTML = (("Content-Type", "text/html; charset=utf-8"),)
ID = "<urn:uuid:00000000-0000-4000-8000-{:012}>"


def record(kind: str, block: bytes, uri: str | None = None, **fields: str | None) -> bytes:
    """One record. `fields` are further ones or replace those that every record has (None: leaves out), with `_` for
    `-`."""
    named = {"warc_type": kind, "warc_date": DATE, "warc_target_uri": uri, "content_length": str(len(block)), **fields}
    lines = [f"{name.replace('_', '-')}: {value}\r\n" for name, value in named.items() if value is not None]
    return b"".join((b"WARC/1.0\r\n", "".join(lines).encode(), b"\r\n", block, b"\r\n\r\n"))


def http(body: bytes, status: str = "200 OK", headers: Iterable[tuple[str, str]] = HTML) -> bytes:
    head = "".join(f"{name}: {value}\r\n" for name, value in headers)
    return f"HTTP/1.1 {status}\r\n{head}\r\n".encode() + body


def response(uri: str, body: bytes, status: str = "200 OK", **fields: str | None) -> bytes:
    block = http(body, status)
    return record("response", block, uri, content_type="application/http; msgtype=response", **fields)


def sha1(data: bytes) -> str:
    return "sha1:" + b32encode(hashlib.sha1(data, usedforsecurity=False).digest()).decode()


def page(number: int) -> bytes:
    return f"<title>Page {number}</title><p>zebra number{number}".encode()


def pages(count: int, host: str = "http://example.org") -> list[bytes]:
    return [response(f"{host}/{number}", page(number)) for number in range(count)]


def members(records: Iterable[bytes]) -> bytes:
    """One gzip member per record."""
    return b"".join(map(gzip.compress, records))


def wacz(entries: Sequence[tuple[str, bytes]], compression: int = zipfile.ZIP_STORED) -> bytes:
    """A WACZ file with these entries, and the description of them."""
    resources = [
        {"name": name, "path": name, "hash": f"sha256:{hashlib.sha256(data).hexdigest()}", "bytes": len(data)}
        for name, data in entries
    ]
    description = {"profile": "data-package", "wacz_version": "1.1.1", "resources": resources}
    return zipped([*entries, ("datapackage.json", json.dumps(description).encode())], compression)


def zipped(entries: Iterable[tuple[str | zipfile.ZipInfo, bytes]], compression: int = zipfile.ZIP_STORED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, data in entries:
            archive.writestr(name, data)
    return file.getvalue()


class Read:
    """What reading a file gave."""

    def __init__(self, data: bytes, most_bytes: int = 1 << 20) -> None:
        items = list(read_archive(io.BytesIO(data), "f", most_bytes))
        self.captures = [item for item in items if isinstance(item, ForeignCapture)]
        self.skipped = [item.why for item in items if isinstance(item, SkippedCapture)]
        self.damaged = [item for item in items if isinstance(item, Damage)]
        self.others = sum(isinstance(item, OtherRecord) for item in items)

    @property
    def urls(self) -> list[str]:
        return [capture.url.text for capture in self.captures]

    @property
    def bodies(self) -> list[bytes]:
        return [capture.response.body for capture in self.captures]

    @property
    def whats(self) -> list[str]:
        return [damage.what for damage in self.damaged]
