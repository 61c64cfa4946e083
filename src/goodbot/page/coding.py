"""Undoes content codings (RFC 9110 §8.4): turns the body as received into the bytes of the document.

A small answer can unpack to gigabytes. Every decoder is asked for a little output at a time and dropped at the limit,
so memory holds at most the limit and one step.
"""

import re
import sys
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Protocol

import brotli  # type: ignore[import-untyped]
from isal import igzip_lib

from goodbot.page.encoding import encoding_of
from goodbot.values import Response

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MAX_CODINGS = 4
"""Codings applied one after another; no honest server sends more than two."""

_KNOWN = frozenset({"gzip", "x-gzip", "deflate", "br", "zstd"})
_NO_CODINGS = frozenset({"none", "null", "binary", "7bit", "8bit"})
"""Names that some servers send for a body without a coding."""

MAX_MEMBERS = 1000
"""Maximum number of gzip members or zstd frames in one body; each needs a new decoder."""

_SLICE = 4096
"""Bytes given to a decoder at a time."""

_STEP = 65536
"""Bytes taken from a decoder at a time."""

_GZIP_MAGIC = b"\x1f\x8b"
_MAX_MAGIC = 4
"""Length of the longest magic number that marks a member."""

_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_SKIPPABLE_MAGIC = b"\x2a\x4d\x18"
"""The second to fourth byte of a skippable zstd frame (RFC 8878 §3.1.2)."""

_EMPTY_BROTLI = 2
"""Longest brotli stream without content that is accepted, in bytes."""

_CONTROL = re.compile(rb"[\0-\x08\x0b\x0e-\x1f\x7f]")
"""Control characters that do not occur in text."""

_ENDS_EARLY = "the data ends early"

_ZSTD_WINDOW_LOG = 23
"""8 MB, the most that RFC 9659 §3 lets a server use; zstd itself allows 2 GB."""


_DAMAGE: tuple[type[Exception], ...] = (
    igzip_lib.IsalError,  # type: ignore[assignment]  # isal declares its error class as an instance
    brotli.error,
    zstd.ZstdError,
    EOFError,
)
"""What decoders raise for damaged data."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """A body without content coding. `complete`: nothing is missing. `error`: one line, None if there is no error."""

    body: bytes
    complete: bool
    error: str | None


def decode_content(response: Response, limit_bytes: int) -> Decoded:
    """Undoes the content codings of the body and returns at most `limit_bytes` of the result. Never raises.

    For damaged data it returns what came before the damage. It returns a body as received if its coding is unknown, or
    if it is not gzip, br or zstd data although the header says so: archives of browsers have bodies that are already
    decoded.
    """
    names = _codings(response)
    body, complete, error = response.body, response.truncated is None, None
    if len(names) > MAX_CODINGS:
        error = f"more than {MAX_CODINGS} content codings"
    while names and body and error is None:
        body, whole, error = _decode(names.pop(), body, limit_bytes)
        complete = complete and whole
    return Decoded(body[:limit_bytes], complete and error is None and len(body) <= limit_bytes, error)


def _codings(response: Response) -> list[str]:
    """Lists the content codings in the order they were applied."""
    listed = ",".join(response.all_headers("content-encoding")).lower().split(",")
    names = [name.strip() for name in listed]
    return [name for name in names if name not in ("", "identity")]


def unknown_coding(response: Response) -> str | None:
    """Returns a content coding that cannot be undone, or all codings if there are too many; None if all can be undone.
    Names of character encodings, which some servers send in Content-Encoding, do not count."""
    names = _codings(response)
    if len(names) > MAX_CODINGS:
        return ", ".join(names)
    return next((name for name in names if name not in _KNOWN | _NO_CODINGS and encoding_of(name) is None), None)


class _Decoder(Protocol):
    """The interface of zstd and isal decoders, and of brotli's adapter. `decompress` returns little more than
    `max_length`."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int) -> bytes: ...


class _Brotli:
    unused_data = b""

    def __init__(self) -> None:
        self._inner = brotli.Decompressor()

    @property
    def eof(self) -> bool:
        return bool(self._inner.is_finished())

    @property
    def needs_input(self) -> bool:
        return bool(self._inner.can_accept_more_data())

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return bytes(self._inner.process(data, output_buffer_limit=max_length))


def _gzip() -> _Decoder:
    return igzip_lib.IgzipDecompressor(igzip_lib.DECOMP_GZIP)


def _zlib() -> _Decoder:
    return igzip_lib.IgzipDecompressor(igzip_lib.DECOMP_ZLIB)


def _raw_deflate() -> _Decoder:
    return igzip_lib.IgzipDecompressor(igzip_lib.DECOMP_DEFLATE)


def _zstd() -> _Decoder:
    return zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: _ZSTD_WINDOW_LOG})


def _decode(name: str, body: bytes, limit: int) -> tuple[bytes, bool, str | None]:
    """Undoes one coding. Returns the bytes (at most one more than `limit`), whether they are complete, and the
    error."""
    decoder = _decoder(name, body)
    if isinstance(decoder, str):
        return body, True, decoder
    data, error = _undo(decoder, body, limit + 1)
    if decoder is _Brotli and not _is_brotli(body, data, error):
        return body, True, _wrong(name)
    return data, len(data) <= limit and error is None, error and f"{name}: {error}"


def _undo(decoder: Callable[[], _Decoder], body: bytes, room: int) -> tuple[bytes, str | None]:
    """Returns the first `room` bytes of the data up to its damage, and the error."""
    data, error, bad_at = _run(decoder, body, room)
    if error and bad_at < len(body):  # decode the last slice again byte by byte, up to the damage
        data, error, _ = _run(decoder, body, room, fine_from=bad_at)
    return data, error


def _is_brotli(body: bytes, data: bytes, error: str | None) -> bool:
    """Whether a body may be brotli data, which has no magic number. `data` and `error` are the decoder's result. To a
    decoder, most text is damaged data, but some text looks like an empty stream or the beginning of a stream."""
    if error is None and (data or len(body) <= _EMPTY_BROTLI):
        return True
    return (bool(data) or error == _ENDS_EARLY) and not _is_text(body[:_SLICE])


def _is_text(body: bytes) -> bool:
    """Whether the bytes are the beginning of UTF-8 text."""
    try:
        getincrementaldecoder("utf-8")().decode(body)
    except UnicodeDecodeError:
        return False
    return _CONTROL.search(body) is None


def _wrong(name: str) -> str:
    return f"{name}: this is not {'brotli' if name == 'br' else name.removeprefix('x-')} data"


def _decoder(name: str, body: bytes) -> Callable[[], _Decoder] | str:
    """Returns a function that makes decoders for this coding, or the reason why there is none."""
    if name in ("gzip", "x-gzip"):
        return _gzip if body.startswith(_GZIP_MAGIC[: len(body)]) else _wrong(name)
    if name == "deflate":  # zlib data (RFC 9110 §8.4.1.2), but some servers send raw deflate
        return _zlib if body[0] & 15 == 8 and int.from_bytes(body[:2], "big") % 31 == 0 else _raw_deflate
    if name == "br":
        return _Brotli
    if name == "zstd":
        return _zstd if len(body) < _MAX_MAGIC or _is_zstd(body, 0) else _wrong(name)
    return f"unknown content coding {name[:40]!r}"


def _run(
    decoder: Callable[[], _Decoder], body: bytes, room: int, fine_from: int | None = None
) -> tuple[bytes, str | None, int]:
    """Decodes all members, up to `room` bytes. Returns the bytes, the error, and where the slice with the error starts
    (the end of the body if there is no error).

    From `fine_from` on, the decoder gets bytes one by one.
    """
    out = bytearray()
    position = slice_at = 0
    for _ in range(MAX_MEMBERS):
        stream = decoder()
        while not stream.eof:
            if len(out) >= room:
                return bytes(out[:room]), None, len(body)
            data = b""
            if stream.needs_input:
                slice_at = position
                data = body[position : _slice_end(position, fine_from)]
                if not data:
                    return bytes(out), _ENDS_EARLY, len(body)
                position += len(data)
            try:
                out += stream.decompress(data, min(_STEP, room - len(out)))
            except _DAMAGE as error:
                return bytes(out), f"damaged data ({error})", slice_at
        position -= len(stream.unused_data)
        if not _another_member(decoder, body, position):
            return bytes(out[:room]), None, len(body)
    return bytes(out[:room]), f"more than {MAX_MEMBERS} members", len(body)


def _slice_end(position: int, fine_from: int | None) -> int:
    if fine_from is None:
        return position + _SLICE
    return position + 1 if position >= fine_from else min(position + _SLICE, fine_from)


def _another_member(decoder: Callable[[], _Decoder], body: bytes, position: int) -> bool:
    """Whether another member follows. Other bytes after the last member are padding and ignored, as gzip does."""
    if decoder is _gzip:
        return body.startswith(_GZIP_MAGIC, position)
    return decoder is _zstd and _is_zstd(body, position)


def _is_zstd(body: bytes, position: int) -> bool:
    """Whether a frame begins there."""
    return body.startswith(_ZSTD_MAGIC, position) or body.startswith(_SKIPPABLE_MAGIC, position + 1)


# ---- in pieces -------------------------------------------------------------------------------------------------------


Complain = Callable[[str], object]
"""A function that gets a message if data is damaged, ends early, or is longer than the limit."""


def decode_pieces(response: Response, limit_bytes: int, complain: Complain) -> Iterator[bytes]:
    """Undoes the content codings of the body and yields pieces of at most 64 KiB, together at most `limit_bytes`; the
    same limit holds for what each coding unpacks to. A gzip file is unpacked too, whatever the headers say about it.
    Never raises; ends where the data is damaged. Memory does not grow with the body."""
    names = _codings(response)
    pieces = _sliced(response.body)
    while names and len(names) <= MAX_CODINGS:
        name, first = names.pop(), next(pieces, b"")
        decoder = _decoder(name, first) if first else name
        pieces = chain([first], pieces) if first else pieces
        if isinstance(decoder, str) or (decoder is _Brotli and not _is_brotli(first, *_undo(decoder, first, _STEP))):
            break
        pieces = _bounded(_undone(decoder, pieces, complain), limit_bytes, complain)
    return _bounded(unpacked(pieces, complain), limit_bytes, complain)


def unpacked(pieces: Iterable[bytes], complain: Complain, members_most: int = MAX_MEMBERS) -> Iterator[bytes]:
    """Unpacks a gzip file in pieces of at most 64 KiB, and returns anything else as it is. Never raises; ends where the
    data is damaged, and after `members_most` gzip members. Memory does not grow with the file."""
    pieces = iter(pieces)
    first = b""
    while len(first) < len(_GZIP_MAGIC) and (piece := next(pieces, b"")):
        first += piece
    whole = chain([first], pieces)
    if not first.startswith(_GZIP_MAGIC):
        return whole
    return _undone(_gzip, (part for piece in whole for part in _sliced(piece)), complain, members_most)


def _sliced(body: bytes) -> Iterator[bytes]:
    return (body[at : at + _SLICE] for at in range(0, len(body), _SLICE))


def _bounded(pieces: Iterable[bytes], limit: int, complain: Complain) -> Iterator[bytes]:
    room = limit
    for piece in pieces:
        if len(piece) > room:
            complain(f"only the first {limit} bytes of what is unpacked are read")
            if room:
                yield piece[:room]
            return
        room -= len(piece)
        yield piece


def _undone(
    decoder: Callable[[], _Decoder], pieces: Iterator[bytes], complain: Complain, members_most: int = MAX_MEMBERS
) -> Iterator[bytes]:
    """Decodes all members of data that comes in slices."""
    left = b""
    for _ in range(members_most):
        stream = decoder()
        while not stream.eof:
            data = b""
            if stream.needs_input:
                data, left = left or next(pieces, b""), b""
                if not data:
                    complain(_ENDS_EARLY)
                    return
            try:
                piece = stream.decompress(data, _STEP)
            except _DAMAGE as error:
                complain(f"the data is damaged ({error})")
                return
            if piece:
                yield piece
        left = stream.unused_data
        while len(left) < _MAX_MAGIC and (more := next(pieces, b"")):
            left += more
        if not _another_member(decoder, left, 0):
            return
    complain(f"more than {members_most} members")
