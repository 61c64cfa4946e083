"""Decompresses WARC files of other programs as one stream, and goes on after damage.

gzip files have one member per record, one for the whole file, or members that end anywhere; zstd files have frames
likewise, and may begin with a dictionary (https://iipc.github.io/warc-specifications/specifications/warc-zstd/).
"""

import re
import sys
from collections import deque
from collections.abc import Callable
from typing import Any, Final, NamedTuple, Protocol

from isal import isal_zlib

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

GZIP_START: Final = b"\x1f\x8b\x08"
ZSTD_START: Final = b"\x28\xb5\x2f\xfd"
DICTIONARY_START: Final = b"\x5d\x2a\x4d\x18"
"""Begins the skippable frame with the dictionary of all others."""

RECORD_START: Final = b"WARC/"

_NUMBER: Final = re.compile(r"\AError -?[0-9]+ (?:while decompressing data: )?")
_PLAIN: Final = re.compile(rb"(?:\A|\A\xef\xbb\xbf|\n)WARC/[01]\.")
_RAW_BYTES: Final = 64 * 1024
_PART_BYTES: Final = 256 * 1024
"""Maximum number of bytes that one call decompresses."""
_TRIAL_BYTES: Final = 512
_MAX_BACK_BYTES: Final = 1024 * 1024
"""Up to about this many bytes of a damaged member, read before the damage, are searched for the beginning of another
one."""
_MAX_SPENT_BYTES: Final = 64 * 1024 * 1024
_SPENT_PER_BYTE: Final = 16
_MAX_DICTIONARY_BYTES: Final = 16 * 1024 * 1024
_WINDOW_LOG: Final = 27
"""128 MiB, the largest window that zstd accepts by default; decoding takes this memory."""

_ERRORS: tuple[type[Exception], ...] = (
    isal_zlib.error,  # type: ignore[assignment]  # isal declares its error class as an instance
    zstd.ZstdError,
    EOFError,
    ValueError,
)


def cause_of(error: Exception) -> str:
    """Returns the text of an error without the number that zlib puts in front."""
    return _NUMBER.sub("", str(error))


class Tear(NamedTuple):
    """Damage of the compressed bytes: what comes after it in the stream does not continue what came before. `offset`:
    of the file."""

    offset: int
    what: str


class Readable(Protocol):
    """A file that is read from its beginning."""

    def read(self, count: int, /) -> bytes: ...


class _Decoder(Protocol):
    eof: bool
    unused_data: bytes

    def decompress(self, data: bytes, max_length: int = ..., /) -> bytes: ...


class UnpackedStream:
    """The data of a file, decompressed; for one reader, which calls `fill`, `take` and `skip`.

    `position` is where the next byte is in the decompressed data. Memory: the bytes that the reader has not taken, and
    1 MiB. May raise OSError."""

    def __init__(self, file: Readable) -> None:
        self._file = file
        self._buffer = bytearray()
        self._at = 0
        self.position = 0
        self._ends: deque[tuple[int, Tear | None]] = deque()
        self.raw_bytes = 0
        self._unread_bytes = 0
        self._raw = self._read()
        self._source = self._opened()

    def _read(self) -> bytes:
        data = self._file.read(_RAW_BYTES)
        self.raw_bytes += len(data)
        return data

    def _opened(self) -> "_Source":
        if self._raw.startswith((ZSTD_START, DICTIONARY_START)):
            return _Packed(self, ZSTD_START, _ZstdFrames(self).decoder)
        if not self._raw.startswith(GZIP_START) and _PLAIN.search(self._raw):
            return _Plain(self)
        return _Packed(self, GZIP_START, _gzip_decoder)

    # ---- for the reader

    def fill(self, least: int) -> bool:
        """Reads until `least` bytes can be taken. False: the file ends before."""
        while len(self._buffer) - self._at < least:
            if not self._source.read_on():
                return False
        return True

    def part(self, most: int) -> bytes:
        """Returns up to `most` bytes at the position, without crossing damage or the end of a member after which a
        record begins. Empty: there are none."""
        while True:
            while self._ends and self._ends[0][0] <= self.position:
                if self._ends[0][1] is not None or self.begins_record():
                    return b""
                self._ends.popleft()
            have = len(self._buffer) - self._at
            if self._ends:
                have = min(have, self._ends[0][0] - self.position)
            if have:
                return bytes(self._buffer[self._at : self._at + min(have, most)])
            if not self._source.read_on() and not self._ends:
                return b""

    def begins_record(self) -> bool:
        """Whether the next bytes are those at the beginning of a record."""
        self.fill(len(RECORD_START))
        return self._buffer.startswith(RECORD_START, self._at)

    def is_at_tear(self) -> bool:
        """Whether data is missing at the position, because of damage."""
        return bool(self._ends) and self._ends[0][0] == self.position and self._ends[0][1] is not None

    def cross(self) -> Tear | None:
        """Moves past the end of a member at the position. Returns its tear, if it is damaged."""
        while self._ends and self._ends[0][0] <= self.position:
            _, tear = self._ends.popleft()
            if tear is not None:
                return tear
        return None

    def skip(self, count: int) -> None:
        """Drops bytes that `part` returned."""
        self._at += count
        self.position += count
        if self._at > _PART_BYTES:
            del self._buffer[: self._at]
            self._at = 0

    def may_unread(self, count: int) -> bool:
        """Whether this many bytes may be read again. In total, rereading must stay linear in the
        size of the file."""
        return self._unread_bytes + count <= _MAX_SPENT_BYTES + _SPENT_PER_BYTE * self.raw_bytes

    def unread(self, data: bytes) -> None:
        """Puts bytes back that were just dropped, so that they are read again."""
        self._unread_bytes += len(data)
        del self._buffer[: self._at]
        self._buffer[:0] = data
        self._at = 0
        self.position -= len(data)

    # ---- for the sources

    def append(self, data: bytes) -> None:
        self._buffer += data

    def end(self, tear: Tear | None = None) -> None:
        """Notes that a member ends, or breaks off, after what was appended."""
        self._ends.append((self.position + len(self._buffer) - self._at, tear))

    def next_raw(self) -> bytes:
        """Returns the next bytes of the file, empty at its end."""
        data, self._raw = self._raw, b""
        return data or self._read()

    def put_back(self, data: bytes) -> None:
        self._raw = data + self._raw

    @property
    def raw_offset(self) -> int:
        """The offset in the file of what `next_raw` returns next, or in a plain file of what is taken next."""
        if isinstance(self._source, _Plain):
            return self.position
        return self.raw_bytes - len(self._raw)


class _Source(Protocol):
    def read_on(self) -> bool:
        """Appends data or notes an end. False: the file ends."""


class _Plain:
    def __init__(self, stream: UnpackedStream) -> None:
        self._stream = stream

    def read_on(self) -> bool:
        data = self._stream.next_raw()
        self._stream.append(data)
        return bool(data)


class _Packed:
    """Reads gzip members or zstd frames one after another. `start`: how each begins; `decoder` makes a new one."""

    def __init__(self, stream: UnpackedStream, start: bytes, decoder: Callable[[], _Decoder]) -> None:
        self._stream = stream
        self._start = start
        self._make = decoder
        self._decoder: _Decoder | None = None
        self._rest = b""
        self._since: list[bytes] = []
        self._since_bytes = 0
        self._spent = 0

    def read_on(self) -> bool:
        """See `_Source.read_on`."""
        if self._decoder is None:
            return self._begin()
        packed = self._rest or self._more(self._decoder)
        try:
            data = self._decoder.decompress(packed, _PART_BYTES)
        except _ERRORS as error:
            self._broken(f"the compressed data is damaged: {cause_of(error)}")
            return True
        self._rest = b""
        self._stream.append(data)
        if self._decoder.eof:
            self._stream.put_back(self._decoder.unused_data)
            self._decoder = None
            self._stream.end()
        elif packed or data:
            self._rest = getattr(self._decoder, "unconsumed_tail", b"")
        elif not self._is_waiting(self._decoder):
            self._broken("the file ends within compressed data")
        return True

    def _more(self, decoder: _Decoder) -> bytes:
        """Returns what the decoder needs next. That of zstd keeps what it has not consumed itself."""
        if not getattr(decoder, "needs_input", True):
            return b""
        raw = self._stream.next_raw()
        if self._since_bytes > _MAX_BACK_BYTES:
            self._since, self._since_bytes = [], 0
        self._since.append(raw)
        self._since_bytes += len(raw)
        return raw

    def _is_waiting(self, decoder: _Decoder) -> bool:
        """Whether the decoder has data that it has not returned yet."""
        return not getattr(decoder, "needs_input", True)

    def _begin(self) -> bool:
        raw = self._stream.next_raw()
        if not raw:
            return False
        raw = self._at_least(raw, len(self._start))
        if raw.startswith(self._start):
            self._decoder = self._make()
            self._since, self._since_bytes = [], 0
            self._stream.put_back(raw)
        elif raw.strip(b"\0\r\n"):
            at = self._stream.raw_offset - len(raw)
            self._stream.end(Tear(at, "not a compressed record"))
            self._seek(raw)
        return True

    def _at_least(self, raw: bytes, count: int) -> bytes:
        while len(raw) < count and (more := self._stream.next_raw()):
            raw += more
        return raw

    def _broken(self, what: str) -> None:
        """Goes on after damage: where the next member with a record begins. A damaged member may have been taken for
        longer than it is, so its bytes are searched too, as long as that takes linear time."""
        at = self._stream.raw_offset
        raw = b"".join(self._since)
        self._spent += len(raw)
        if self._spent > _MAX_SPENT_BYTES + _SPENT_PER_BYTE * at:
            raw = self._since[-1] if self._since else b""
        self._decoder, self._rest, self._since, self._since_bytes = None, b"", [], 0
        self._stream.end(Tear(at - len(raw), what))
        self._seek(raw[1:])

    def _seek(self, raw: bytes) -> None:
        """Puts back what follows from the next member on that begins with a record."""
        at = 0
        while True:
            at = raw.find(self._start, at)
            if at < 0 or len(raw) - at < _TRIAL_BYTES:
                rest = raw[at:] if at >= 0 else raw[len(raw) - len(self._start) + 1 :]
                more = self._stream.next_raw()
                if more:
                    raw, at = rest + more, 0
                    continue
                if at < 0:
                    return
            if self._begins_record(raw[at : at + _TRIAL_BYTES]):
                self._stream.put_back(raw[at:])
                return
            at += 1

    def _begins_record(self, raw: bytes) -> bool:
        try:
            return self._make().decompress(raw, len(RECORD_START)) == RECORD_START
        except _ERRORS:
            return False


def _gzip_decoder() -> Any:
    return isal_zlib.decompressobj(31)


class _ZstdFrames:
    """Makes decoders of zstd frames, with the dictionary that the file begins with, if there is one."""

    def __init__(self, stream: UnpackedStream) -> None:
        self._dictionary = self._read(stream)

    def decoder(self) -> Any:
        options: dict[int, int] = {zstd.DecompressionParameter.window_log_max: _WINDOW_LOG}
        return zstd.ZstdDecompressor(self._dictionary, options)

    def _read(self, stream: UnpackedStream) -> Any:
        raw = stream.next_raw()
        if not raw.startswith(DICTIONARY_START):
            stream.put_back(raw)
            return None
        size = int.from_bytes(raw[4:8], "little")
        end = 8 + size
        if len(raw) < 8 or size > _MAX_DICTIONARY_BYTES:
            stream.put_back(raw)
            return None
        while len(raw) < end and (more := stream.next_raw()):
            raw += more
        stream.put_back(raw[end:])
        content = raw[8:end]
        try:
            if content.startswith(ZSTD_START):
                decoder = zstd.ZstdDecompressor()
                content = decoder.decompress(content, _MAX_DICTIONARY_BYTES)
            return zstd.ZstdDict(content)
        except _ERRORS:
            return None
