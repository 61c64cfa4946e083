"""Writes CDXJ: the sorted index beside each WARC file, which replay programs such as pywb read.

A line is `KEY TIMESTAMP {"url", "mime", "status", "digest", "length", "offset", "filename"}`, all values text. KEY
sorts the pages of a host together, and hosts of a domain near each other: `com,example)/a?b=c`. The numbers of an
address of version 4 are reversed as well, and one of version 6 has no brackets, as pywb expects. Unlike other
programs, this one keeps session ids in the key.
"""

import os
import re
from collections.abc import Iterator
from functools import lru_cache
from heapq import merge
from itertools import pairwise
from json.encoder import encode_basestring_ascii as quoted
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO
from urllib.parse import quote_from_bytes, unquote_to_bytes

from goodbot.url import Url

REVISIT = "warc/revisit"
"""The media type of a record without payload of its own."""

_RUN_LINES = 2_000
_READ_BYTES = 16 * 1024
_WWW = re.compile(r"www\d*\.(?=.)")
_KEPT = "".join(chr(code) for code in range(0x21, 0x7F) if chr(code) not in "#%")
_MAX_UNQUOTE = 5


def sort_key(url: Url) -> str:
    """Returns the key of a URL: host reversed and without `www.`, all in lower case, arguments sorted, few escapes.

    ASCII without spaces. Nested escapes are decoded up to five times; takes time linear in the URL.
    """
    target = url.target
    if "%" in target:
        target = _few_escapes(target)
    path, _, query = target.lower().partition("?")
    key = _host_key(url.authority) + (path.rstrip("/") or "/")
    if not query:
        return key
    return f"{key}?{'&'.join(sorted(query.split('&'), key=_argument))}" if "&" in query else f"{key}?{query}"


def index_entry(url: Url, seconds: str, media_type: str, status: int, digest: str | None) -> str:
    """Builds the part of a line before the record's place. `seconds`: `YYYYMMDDhhmmss`; `digest` as in the record, or
    None."""
    known = f', "digest": {quoted(digest.removeprefix("sha1:"))}' if digest else ""
    return (
        f'{sort_key(url)} {seconds} {{"url": {quoted(url.text)}, "mime": {quoted(media_type or "unk")}, '
        f'"status": "{status}"{known}'
    )


def revisited(entry: str) -> str:
    """Returns the entry of a capture that turned out to be a revisit."""
    return re.sub(r'"mime": "(?:[^"\\]|\\.)*"', f'"mime": "{REVISIT}"', entry, count=1)


class SortedLines:
    """Sorts lines of which there are more than fit in memory. Up to 2,000 (0.8 MB) are held there; each time there are
    so many, they are sorted and written to an unnamed file in `folder`. Any method may raise OSError."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lines: list[str] = []
        self._runs: list[int] = [0]
        self._aside: IO[bytes] | None = None

    def add(self, line: str) -> None:
        """Adds a line, with its line end."""
        self._lines.append(line)
        if len(self._lines) >= _RUN_LINES:
            self._put_aside()

    def close(self) -> None:
        if self._aside:
            self._aside.close()

    def _put_aside(self) -> None:
        if self._aside is None:
            self._aside = TemporaryFile(dir=self._folder)  # noqa: SIM115 - open until `close`
        self._lines.sort()
        self._aside.writelines([line.encode() for line in self._lines])
        self._runs.append(self._aside.tell())
        self._lines.clear()

    def __iter__(self) -> Iterator[bytes]:
        """Yields the lines in order, encoded."""
        last = [line.encode() for line in sorted(self._lines)]
        if self._aside is None:
            yield from last
            return
        self._aside.flush()
        yield from merge(last, *(_run(self._aside, *bounds) for bounds in pairwise(self._runs)))


class IndexFile:
    """Collects the lines of one WARC file and writes them sorted, beside it. Any method may raise OSError."""

    def __init__(self, warc: Path) -> None:
        self._path = index_path(warc)
        self._name = warc.name
        self._lines = SortedLines(warc.parent)

    def add(self, entry: str, offset: int, length: int) -> None:
        """Adds a line. `entry` is that of the record of `length` bytes at `offset`."""
        self._lines.add(index_line(entry, offset, length, self._name))

    def save(self) -> None:
        """Writes the index completely or not at all, and replaces an older one."""
        new = self._path.with_suffix(".new")
        try:
            with new.open("wb") as file:
                file.writelines(self._lines)
                file.flush()
                os.fsync(file.fileno())
            new.replace(self._path)
        finally:
            new.unlink(missing_ok=True)

    def close(self) -> None:
        self._lines.close()


def index_line(entry: str, offset: int, length: int, file: str) -> str:
    """Builds a line of an index from the entry of the record of `length` bytes at `offset` of `file`."""
    return f'{entry}, "length": "{length}", "offset": "{offset}", "filename": "{file}"}}\n'


def index_path(warc: Path) -> Path:
    """Maps `x.warc.gz` to `x.cdxj`."""
    return warc.with_name(warc.name.removesuffix(".warc.gz") + ".cdxj")


def _run(file: IO[bytes], start: int, end: int) -> Iterator[bytes]:
    rest = b""
    while start < end:
        data = os.pread(file.fileno(), min(_READ_BYTES, end - start), start)
        start += len(data)
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            yield line + b"\n"


@lru_cache(maxsize=1024)
def _host_key(authority: str) -> str:
    host, colon, port = (authority, "", "") if authority.endswith("]") else authority.rpartition(":")
    if not colon:
        host, port = authority, ""
    is_version_6 = host.startswith("[")
    name = host[1:-1] if is_version_6 else ",".join(reversed(_WWW.sub("", host.rstrip("."), count=1).split(".")))
    return f"{name}{colon}{port})"


def _argument(text: str) -> list[str]:
    return text.split("=", 1)


def _few_escapes(target: str) -> str:
    data = target.encode()
    for _ in range(_MAX_UNQUOTE):
        plain = unquote_to_bytes(data)
        if plain == data:
            break
        data = plain
    return quote_from_bytes(data, safe=_KEPT)
