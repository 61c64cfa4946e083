"""The gzip members of records."""

import gzip
from io import BytesIO

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from goodbot.store.warc.warc_member import PIECE_BYTES, packed, packed_around
from goodbot.store.warc.warc_reader import MEMBER_START, read_member
from goodbot.store.warc.warc_record import encode_capture
from goodbot.values import RecordRef, Response
from store.warc.archive_samples import capture

END = b"\r\n\r\n"


@given(head=st.binary(max_size=300), body=st.binary(max_size=300), times=st.integers(0, 500))
@example(head=b"", body=b"", times=1)
@example(head=b"a", body=b"x" * 257, times=255)  # one full block
@example(head=b"a", body=b"x" * 256, times=256)  # one byte more
def test_every_member_is_gzip_of_its_parts(head: bytes, body: bytes, times: int) -> None:
    body *= times
    for member in (packed(head, body, END), packed_around(head, body, END)):
        assert gzip.decompress(member) == head + body + END
        assert member.startswith(MEMBER_START)


@pytest.mark.parametrize("size", [0, 1, 0xFFFF, 0x10000, 2 * PIECE_BYTES + 7])
def test_our_reader_finds_where_a_member_with_stored_blocks_ends(size: int) -> None:
    block = b"HTTP/1.1 200 OK\r\n\r\n" + b"\0" * size
    fields = b"WARC/1.1\r\nWARC-Type: response\r\nContent-Length: %d\r\n\r\n" % len(block)
    member = packed_around(fields, block, END)
    found = read_member(BytesIO(member + member), RecordRef("a", 0))
    assert found is not None
    assert (found.end, found.data) == (len(member), fields + block + END)


@pytest.mark.parametrize("coding", ["gzip", "X-GZIP", " br ", "zstd", "deflate"])
def test_a_body_that_its_server_compressed_is_stored(coding: str) -> None:
    body = b"once more " * 1000
    encoded = encode_capture(capture(Response(200, (("Content-Encoding", coding), ("X-A", "b" * 500)), body)))
    assert body in encoded.data
    assert b"b" * 500 not in encoded.data
    record = next(iter(ArchiveIterator(BytesIO(encoded.data))))
    assert record.raw_stream.read() == body


@pytest.mark.parametrize("headers", [(), (("Content-Encoding", "identity"),), (("Content-Encoding", "aes128gcm"),)])
def test_other_bodies_are_compressed(headers: tuple[tuple[str, str], ...]) -> None:
    assert len(encode_capture(capture(Response(200, headers, b"once more " * 1000))).data) < 2000
