"""Opening logs: every compression, damage of every kind, memory bounded."""

import bz2
import gzip
import io
import lzma
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.errors import InputError
from goodbot.watch.reader.opening import PIECE_BYTES, LogStream, open_log

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": zstd.compress,
}
COMPRESSED = [name for name in COMPRESSORS if name != "plain"]
TEXT = b"".join(b"%d 192.0.2.1 - - a line of a log\n" % number for number in range(20_000))


def read(content: bytes) -> tuple[bytes, LogStream]:
    """Returns what a log has, and its stream."""
    stream = LogStream("x", io.BytesIO(content), len(content))
    pieces = [*stream.pieces()]
    assert all(0 < len(piece) <= PIECE_BYTES for piece in pieces)
    return b"".join(pieces), stream


@pytest.mark.parametrize("name", COMPRESSORS)
@pytest.mark.parametrize("text", [b"", b"\n", b"a", TEXT], ids=["empty", "newline", "letter", "long"])
def test_every_compression_is_read(name: str, text: bytes) -> None:
    content, stream = read(COMPRESSORS[name](text))
    assert content == text
    assert stream.damage is None
    assert stream.is_compressed == (name != "plain")


@pytest.mark.parametrize("name", COMPRESSED)
def test_several_members_are_one_log(name: str) -> None:
    pack = COMPRESSORS[name]
    content, stream = read(pack(TEXT) + pack(b"") + pack(b"the end\n"))
    assert content == TEXT + b"the end\n"
    assert stream.damage is None


@pytest.mark.parametrize("name", COMPRESSED)
@pytest.mark.parametrize("part", [0.01, 0.5, 0.99])
def test_a_truncated_file_gives_what_it_has(name: str, part: float) -> None:
    packed = COMPRESSORS[name](TEXT)
    content, stream = read(packed[: max(12, int(len(packed) * part))])
    assert TEXT.startswith(content)
    assert stream.damage is not None
    assert stream.damage.at_byte == len(content)
    assert stream.damage.reason == f"the {name} data ends early"


@pytest.mark.parametrize("name", COMPRESSED)
def test_other_data_after_the_end_is_damage(name: str) -> None:
    content, stream = read(COMPRESSORS[name](TEXT) + b"something else")
    assert content == TEXT
    assert stream.damage is not None
    assert "something else follows" in stream.damage.reason


@pytest.mark.parametrize("name", COMPRESSED)
def test_zeros_after_the_end_are_padding(name: str) -> None:
    content, stream = read(COMPRESSORS[name](TEXT) + bytes(10_000))
    assert content == TEXT
    assert stream.damage is None


@given(st.sampled_from(COMPRESSED), st.integers(0, 10_000), st.integers(1, 255))
def test_a_changed_byte_never_raises(name: str, place: int, change: int) -> None:
    packed = bytearray(COMPRESSORS[name](TEXT[:2000]))
    packed[place % len(packed)] ^= change
    read(bytes(packed))


@given(st.binary(max_size=2000), st.sampled_from([b"", b"\x1f\x8b", b"BZh9", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd"]))
def test_any_bytes_never_raise(junk: bytes, magic: bytes) -> None:
    read(magic + junk)


@pytest.mark.long
@pytest.mark.parametrize("name", COMPRESSED)
def test_a_bomb_does_not_fill_the_memory(name: str) -> None:
    packed = COMPRESSORS[name](bytes(64 * PIECE_BYTES))
    stream = LogStream("x", io.BytesIO(packed), len(packed))
    tracemalloc.start()
    assert sum(map(len, stream.pieces())) == 64 * PIECE_BYTES
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 16 * PIECE_BYTES


@pytest.mark.parametrize("name", COMPRESSORS)
def test_the_head_is_read_and_reading_begins_anew(name: str) -> None:
    packed = COMPRESSORS[name](TEXT)
    stream = LogStream("x", io.BytesIO(packed), len(packed))
    assert stream.head(100) == TEXT[:100]
    assert b"".join(stream.pieces()) == TEXT
    assert stream.position == len(packed)


def test_only_a_plain_file_goes_to_a_place_at_once() -> None:
    assert LogStream("x", io.BytesIO(TEXT), len(TEXT)).seek(5)
    assert not LogStream("x", io.BytesIO(TEXT), None).seek(5)
    packed = gzip.compress(TEXT)
    assert not LogStream("x", io.BytesIO(packed), len(packed)).seek(5)


@pytest.mark.parametrize("name", ["missing.log", "."])
def test_what_cannot_be_opened_is_one_line(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot read .*: "):
        open_log(str(tmp_path / name))


@pytest.mark.parametrize("name", ["plain", "gzip"])
def test_standard_input(name: str) -> None:
    program = (
        "import sys; from goodbot.watch.reader.opening import open_log; stream = open_log('-');"
        "print(sum(map(len, stream.pieces())), stream.size, stream.source)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], input=COMPRESSORS[name](TEXT), capture_output=True, check=True
    )
    assert done.stdout.decode().strip() == f"{len(TEXT)} None standard input"
