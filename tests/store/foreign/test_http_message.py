"""HTTP messages in records of other programs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.store.foreign.http_message import method_of, parse_response, unchunked

CHUNKED = b"5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nX: 1\r\n\r\n"
BODIES = [
    ("chunks", CHUNKED, b"hello world"),
    ("chunks that end in LF", CHUNKED.replace(b"\r\n", b"\n"), b"hello world"),
    ("no last chunk", CHUNKED[:-11], b"hello world"),
    ("a torn chunk", b"5\r\nhello\r\n6\r\n wor", b"hello wor"),
    ("no chunks, only the field", b"<html>hello", b"<html>hello"),
    ("begins like a chunk", b"42\r\nis the answer", b"is the answer"),
    ("a chunk that does not fit", b"3\r\nhello\r\n", b"3\r\nhello\r\n"),
    ("empty", b"", b""),
    ("a huge chunk", b"fffffffffffffff\r\nx", b"x"),
]


@pytest.mark.parametrize(("body", "plain"), [row[1:] for row in BODIES], ids=[row[0] for row in BODIES])
def test_the_transfer_coding_is_removed(body: bytes, plain: bytes) -> None:
    found = parse_response(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n" + body)
    assert found is not None
    assert found.body == plain
    assert found.headers == (("Transfer-Encoding", "gzip, Chunked"),)


HEADS = [
    (b"HTTP/1.1 200 OK\r\n\r\n", (200, "OK", "HTTP/1.1")),
    (b"HTTP/1.1 200\r\n\r\n", (200, "", "HTTP/1.1")),
    (b"HTTP/1.0 404 Not Found\n\n", (404, "Not Found", "HTTP/1.0")),
    (b"HTTP/2 200\r\n\r\n", (200, "", "HTTP/2")),
    (b"HTTP/1.1 200 OK", (200, "OK", "HTTP/1.1")),
    (b"HTTP/1.1  301  Moved\r\n\r\n", (301, "Moved", "HTTP/1.1")),
    (b"HTTP/1.1 200 caf\xe9\r\n\r\n", (200, "caf\xe9", "HTTP/1.1")),
]


@pytest.mark.parametrize(("block", "head"), HEADS)
def test_status_lines_are_read(block: bytes, head: tuple[int, str, str]) -> None:
    found = parse_response(block)
    assert found is not None
    assert (found.status, found.reason, found.version) == head


@pytest.mark.parametrize(
    "block", [b"", b"\r\n\r\n", b"<html>", b"ICY 200 OK\r\n\r\n", b"HTTP/1.1 abc\r\n\r\n", b"HTTP/1.1 700 X\r\n\r\n"]
)
def test_what_is_no_response_is_none(block: bytes) -> None:
    assert parse_response(block) is None


def test_fields_are_as_received() -> None:
    block = b"HTTP/1.1 200 OK\r\nA: 1\r\n folded\r\nno colon\r\n: no name\r\na:2\r\nX-Crawl-Content-Length: 7\r\n\r\n"
    found = parse_response(block)
    assert found is not None
    assert found.headers == (("A", "1 folded"), ("a", "2"), ("Content-Length", "7"))


def test_many_fields_are_cut() -> None:
    found = parse_response(b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 100_000 + b"\r\n<p>")
    assert found is not None
    assert (len(found.headers), found.body) == (5000, b"<p>")


@pytest.mark.parametrize(
    ("stated", "found"),
    [(None, None), ("", None), ("length", "length"), ("time", "disconnect"), ("disconnect", "disconnect")],
)
def test_truncated_bodies_say_so(stated: str | None, found: str | None) -> None:
    response = parse_response(b"HTTP/1.1 200 OK\r\n\r\nx", truncated=stated)
    assert response is not None
    assert response.truncated == found


@pytest.mark.parametrize(
    ("block", "method"), [(b"GET / HTTP/1.1", "GET"), (b"post /", "POST"), (b"", ""), (b"\0\0", ""), (b"x" * 99, "")]
)
def test_the_method_of_a_request_is_read(block: bytes, method: str) -> None:
    assert method_of(block) == method


@given(st.binary(max_size=400), st.integers(1, 60))
def test_chunks_of_any_size_give_the_body(body: bytes, size: int) -> None:
    pieces = [body[at : at + size] for at in range(0, len(body), size)]
    coded = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
    assert unchunked(coded) == body


@given(st.binary(max_size=2000))
def test_no_bytes_raise(block: bytes) -> None:
    parse_response(block)
    parse_response(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + block)
    method_of(block)
