"""Content coding: what comes out of good, damaged and hostile bodies."""

import gzip
import io
import sys
import tracemalloc
import zlib
from collections.abc import Callable
from functools import cache, partial

import brotli  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.page.coding import MAX_MEMBERS, decode_content, decode_pieces, unpacked
from goodbot.values import Response

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

packed = partial(gzip.compress, mtime=0)

TEXT = b"".join(b"line %d of a document\n" % number for number in range(4000))
LIMIT = 1 << 20


def raw_deflate(data: bytes) -> bytes:
    encoder = zlib.compressobj(wbits=-15)
    return encoder.compress(data) + encoder.flush()


def answer(coding: str, body: bytes) -> Response:
    return Response(200, (("Content-Encoding", coding),), body)


GZIP, BR, ZSTD = packed(TEXT), brotli.compress(TEXT, quality=5), zstd.compress(TEXT)


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("gzip", GZIP),
        ("GZip", GZIP),
        ("x-gzip", GZIP),
        ("gzip", packed(TEXT[:100]) + packed(TEXT[100:])),
        ("gzip", GZIP + b"\0" * 512),
        ("deflate", zlib.compress(TEXT)),
        ("deflate", raw_deflate(TEXT)),
        ("br", BR),
        ("zstd", ZSTD),
        ("zstd", zstd.compress(TEXT[:9]) + b"\x50\x2a\x4d\x18\x02\0\0\0ab" + zstd.compress(TEXT[9:])),
        ("identity", TEXT),
        ("", TEXT),
        ("identity, gzip,", GZIP),
        ("gzip, br", brotli.compress(GZIP)),
        ("br, gzip, zstd, deflate", zlib.compress(zstd.compress(packed(BR)))),
    ],
)
def test_undone(coding: str, body: bytes) -> None:
    decoded = decode_content(answer(coding, body), LIMIT)
    assert (decoded.body, decoded.complete, decoded.error) == (TEXT, True, None)


def test_codings_of_several_fields_are_one_list() -> None:
    response = Response(200, (("Content-Encoding", "gzip"), ("content-encoding", "br")), brotli.compress(GZIP))
    assert decode_content(response, LIMIT).body == TEXT


@pytest.mark.parametrize(
    ("coding", "body", "error"),
    [
        ("rot13", TEXT, "unknown content coding 'rot13'"),
        ("gzip", TEXT, "gzip: this is not gzip data"),
        ("br", TEXT, "br: this is not brotli data"),
        ("zstd", TEXT, "zstd: this is not zstd data"),
        ("gzip,gzip,gzip,gzip,gzip", TEXT, "more than 4 content codings"),
        ("aes128gcm, gzip", GZIP, "unknown content coding 'aes128gcm'"),
    ],
)
def test_what_cannot_be_undone_is_given_as_it_is(coding: str, body: bytes, error: str) -> None:
    decoded = decode_content(answer(coding, body), LIMIT)
    assert (decoded.body, decoded.complete, decoded.error) == (TEXT, False, error)


@pytest.mark.parametrize("first", range(256))
@pytest.mark.parametrize("rest", [b"", b" is the first letter of a sentence"])
def test_text_said_to_be_brotli_is_given_as_it_is(first: int, rest: bytes) -> None:
    body = bytes([first]) + (rest or TEXT)
    is_text = first in b"\t\n\f\r" or 32 <= first < 127
    decoded = decode_content(answer("br", body), LIMIT)
    if is_text:
        assert (decoded.body, decoded.complete, decoded.error) == (body, False, "br: this is not brotli data")
        assert in_pieces("br", body) == (body, [])


@pytest.mark.parametrize("body", [b"\x06", brotli.compress(b""), BR[:3]])
def test_short_brotli_data_is_not_taken_for_text(body: bytes) -> None:
    assert decode_content(answer("br", body), LIMIT).body == b""


@pytest.mark.parametrize(
    ("coding", "body"), [("gzip", GZIP), ("deflate", zlib.compress(TEXT)), ("br", BR), ("zstd", ZSTD)]
)
def test_cut_off(coding: str, body: bytes) -> None:
    decoded = decode_content(answer(coding, body[: len(body) * 3 // 4]), LIMIT)
    assert TEXT.startswith(decoded.body)
    assert not decoded.complete
    assert decoded.error == f"{coding}: the data ends early"


@pytest.mark.parametrize(
    ("coding", "body", "least"),
    [
        ("gzip", GZIP[:-8] + b"\0" * 8, len(TEXT)),
        ("deflate", zlib.compress(TEXT)[:-4] + b"\0" * 4, len(TEXT)),
        ("gzip", GZIP[: len(GZIP) // 2] + b"\xff" * 9000, 1000),
        ("br", BR[: len(BR) // 2] + b"\xff" * 9000, 0),
        ("zstd", ZSTD[:4] + b"\xff" * 100, 0),
    ],
)
def test_damage_costs_only_what_lies_behind_it(coding: str, body: bytes, least: int) -> None:
    decoded = decode_content(answer(coding, body), LIMIT)
    assert len(decoded.body) >= least
    assert TEXT.startswith(decoded.body[:least])
    assert not decoded.complete
    assert decoded.error
    assert decoded.error.startswith(coding)


@pytest.mark.parametrize(("limit", "complete"), [(len(TEXT), True), (len(TEXT) - 1, False), (1, False), (0, False)])
@pytest.mark.parametrize(("coding", "body"), [("gzip", GZIP), ("br", BR), ("zstd", ZSTD), ("", TEXT)])
def test_limit(coding: str, body: bytes, limit: int, complete: bool) -> None:
    decoded = decode_content(answer(coding, body), limit)
    assert (decoded.body, decoded.complete, decoded.error) == (TEXT[:limit], complete, None)


def test_a_body_cut_by_the_transport_is_not_complete() -> None:
    assert not decode_content(Response(200, (), TEXT, truncated="length"), LIMIT).complete


def test_empty_body() -> None:
    assert decode_content(answer("gzip", b""), LIMIT).complete


def test_members_are_counted() -> None:
    decoded = decode_content(answer("gzip", packed(b"a") * (MAX_MEMBERS + 1)), LIMIT)
    assert (len(decoded.body), decoded.error) == (MAX_MEMBERS, f"gzip: more than {MAX_MEMBERS} members")


@cache
def bomb(coding: str) -> bytes:
    """What unfolds to 128 MB of zeros, made without holding it."""
    block = bytes(1 << 20)
    if coding == "gzip":
        encoder = zlib.compressobj(level=1, wbits=31)
        return b"".join(encoder.compress(block) for _ in range(128)) + encoder.flush()
    if coding == "zstd":
        zstd_encoder = zstd.ZstdCompressor(level=1)
        return b"".join(zstd_encoder.compress(block) for _ in range(128)) + zstd_encoder.flush()
    brotli_encoder = brotli.Compressor(quality=1)
    return b"".join(brotli_encoder.process(block) for _ in range(128)) + bytes(brotli_encoder.finish())


@pytest.mark.parametrize("coding", ["gzip", "br", "zstd"])
def test_a_bomb_is_left_at_the_limit(coding: str) -> None:
    response = answer(coding, bomb(coding))
    tracemalloc.start()
    decoded = decode_content(response, LIMIT)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (len(decoded.body), decoded.complete, decoded.error) == (LIMIT, False, None)
    assert peak < 8 * LIMIT


@given(
    st.lists(st.sampled_from(["gzip", "deflate", "br", "zstd", "identity", "compress", "\0"]), max_size=6),
    st.one_of(st.binary(max_size=300), st.sampled_from([GZIP, BR, ZSTD, zlib.compress(TEXT)])),
    st.integers(0, 5000),
    st.integers(0, 2000),
    st.binary(max_size=3),
)
def test_never_raises_and_stays_within_the_limit(
    codings: list[str], body: bytes, limit: int, at: int, hurt: bytes
) -> None:
    decoded = decode_content(answer(", ".join(codings), body[:at] + hurt + body[at + len(hurt) :]), limit)
    assert len(decoded.body) <= limit


def deflated(data: bytes, wbits: int, level: int, strategy: int) -> bytes:
    encoder = zlib.compressobj(level, wbits=wbits, strategy=strategy)
    half = len(data) // 2
    return (
        encoder.compress(data[:half])
        + encoder.flush(zlib.Z_SYNC_FLUSH)
        + encoder.compress(data[half:])
        + encoder.flush()
    )


@given(
    st.binary(max_size=100).flatmap(lambda data: st.sampled_from([data, data * 1000])),
    st.sampled_from([("gzip", 31), ("deflate", 15), ("deflate", -15)]),
    st.integers(0, 9),
    st.sampled_from([zlib.Z_DEFAULT_STRATEGY, zlib.Z_FILTERED, zlib.Z_HUFFMAN_ONLY, zlib.Z_RLE, zlib.Z_FIXED]),
    st.integers(0, 100_000),
)
def test_whatever_zlib_writes_is_read(
    data: bytes, coding: tuple[str, int], level: int, strategy: int, cut: int
) -> None:
    name, wbits = coding
    body = deflated(data, wbits, level, strategy)
    decoded = decode_content(answer(name, body), LIMIT)
    assert (decoded.body, decoded.complete, decoded.error) == (data, True, None)
    short = decode_content(answer(name, body[: cut % len(body)]), LIMIT)
    assert data.startswith(short.body)


def test_a_gzip_file_with_a_name() -> None:
    file = io.BytesIO()
    with gzip.GzipFile("sitemap.xml", "wb", fileobj=file, mtime=0) as packer:
        packer.write(TEXT)
    for body in (file.getvalue(), GZIP + file.getvalue()):
        assert decode_content(answer("gzip", body), LIMIT).complete
        assert in_pieces("gzip", body) == (TEXT * (body.count(b"sitemap.xml") + body.startswith(GZIP)), [])


# ---- in pieces -------------------------------------------------------------------------------------------------------


def in_pieces(coding: str, body: bytes, limit: int = LIMIT) -> tuple[bytes, list[str]]:
    """What comes out, and what is said of it."""
    said: list[str] = []
    pieces = list(decode_pieces(answer(coding, body), limit, said.append))
    assert all(len(piece) <= 131_072 for piece in pieces)
    return b"".join(pieces), said


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("gzip", GZIP),
        ("gzip", packed(TEXT[:100]) + packed(TEXT[100:])),
        ("gzip", GZIP + b"\0" * 512),
        ("deflate", zlib.compress(TEXT)),
        ("deflate", raw_deflate(TEXT)),
        ("br", BR),
        ("zstd", zstd.compress(TEXT[:9]) + b"\x50\x2a\x4d\x18\x02\0\0\0ab" + zstd.compress(TEXT[9:])),
        ("", TEXT),
        ("", GZIP),
        ("gzip", packed(GZIP)),
        ("br, gzip, zstd, deflate", zlib.compress(zstd.compress(packed(BR)))),
        ("gzip", TEXT),
        ("br", TEXT),
        ("zstd", TEXT),
        ("rot13", TEXT),
    ],
)
def test_undone_in_pieces_and_a_gzip_file_unpacked(coding: str, body: bytes) -> None:
    assert in_pieces(coding, body) == (TEXT, [])


def test_what_came_before_the_damage_counts_and_the_damage_is_told() -> None:
    out, said = in_pieces("gzip", GZIP[: len(GZIP) // 2])
    assert TEXT.startswith(out)
    assert (len(out) > 1000, said) == (True, ["the data ends early"])
    out, said = in_pieces("gzip", GZIP[:9000] + bytes(100) + GZIP[9100:])
    assert TEXT.startswith(out[: len(out) // 2])
    assert len(said) == 1
    assert said[0].startswith("the data is damaged (")


def test_what_is_cut_at_the_limit_is_told() -> None:
    for coding, body in (("", TEXT), ("", GZIP), ("gzip", GZIP), ("gzip", packed(GZIP))):
        out, said = in_pieces(coding, body, 100)
        assert (out, said[0]) == (TEXT[:100], "only the first 100 bytes of what is unpacked are read")
    assert in_pieces("", GZIP, len(TEXT)) == (TEXT, [])


def test_members_left_out_are_told_and_a_file_of_ones_own_has_no_bound_of_them() -> None:
    body = packed(b"a") * (MAX_MEMBERS + 1)
    assert in_pieces("", body) == (b"a" * MAX_MEMBERS, [f"more than {MAX_MEMBERS} members"])
    said: list[str] = []
    assert b"".join(unpacked([body], said.append, MAX_MEMBERS + 1)) == b"a" * (MAX_MEMBERS + 1)
    assert not said


@pytest.mark.parametrize(
    ("coding", "body"),  # made when they are needed
    [
        ("gzip", lambda: bomb("gzip")),
        ("", lambda: bomb("gzip")),
        ("gzip, gzip", lambda: packed(bomb("gzip"))),
        ("gzip", lambda: packed(b"") * MAX_MEMBERS + GZIP),
        ("gzip", lambda: packed(packed(b"") * 5_000_000, 1)),
    ],
    ids=["coded", "a file", "twice", "empty members", "empty members within"],
)
def test_a_bomb_gives_no_more_than_the_limit_in_flat_memory(coding: str, body: Callable[[], bytes]) -> None:
    response = answer(coding, body())
    tracemalloc.start()
    try:
        size = sum(len(piece) for piece in decode_pieces(response, LIMIT, lambda _: None))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert size <= LIMIT
    assert peak < 1_000_000


@given(st.binary(max_size=200), st.sampled_from(["gzip", "deflate", "br", "zstd", ""]), st.integers(0, 100))
def test_any_bytes_in_pieces(body: bytes, coding: str, limit: int) -> None:
    assert len(in_pieces(coding, body, limit)[0]) <= limit
    assert len(b"".join(unpacked([body[:1], body[1:]], lambda _: None))) < 100_000
