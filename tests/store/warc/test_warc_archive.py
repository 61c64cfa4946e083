"""Tests WARC files: that other readers read them, and that ours survives any bytes."""

import gzip
import io
import random
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest
from fastwarc.warc import ArchiveIterator as FastIterator
from fastwarc.warc import WarcRecordType
from hypothesis import given
from hypothesis import strategies as st
from isal import isal_zlib
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

from goodbot.archive_values import DamagedRange
from goodbot.errors import RunError
from goodbot.store.warc.warc_archive import WarcArchive
from goodbot.store.warc.warc_reader import MEMBER_START, read_member
from goodbot.store.warc.warc_record import encode_capture
from goodbot.store.warc.warc_survey import responses, survey
from goodbot.values import Headers, RecordRef, Response
from store.warc.archive_samples import (
    REQUEST_HEAD,
    capture,
    member_ends,
    numbered,
    only_file,
    reader,
    warc_files,
    writer,
)

PAGE = b"<html>" + b"<p>Hello, archive.</p>" * 2000

SAMPLES = {
    "page": Response(200, (("Content-Type", "text/html"), ("Content-Length", str(len(PAGE)))), PAGE, reason="OK"),
    "chunks removed": Response(200, (("Transfer-Encoding", "chunked"),), b"5\r\nabcde\r\n0\r\n\r\n", reason="OK"),
    "gzip and chunks": Response(
        200, (("Content-Encoding", "gzip"), ("transfer-encoding", "chunked")), gzip.compress(PAGE), reason="OK"
    ),
    "cut": Response(200, (("Content-Length", "99999"),), PAGE, truncated="length"),
    "lost": Response(200, (("Content-Length", "99999"),), PAGE, truncated="disconnect"),
    "empty": Response(200, (("Content-Length", "0"),), b""),
    "not modified": Response(304, (("ETag", '"1"'), ("Content-Length", "900")), b"", reason="Not Modified"),
    "empty value": Response(200, (("X-Empty", ""), ("X-After", "1")), b"x"),
    "duplicates": Response(200, (("Set-Cookie", "a"), ("Set-Cookie", "b")), b"x"),
    "latin-1": Response(200, (("X-Name", "caf\xe9"),), b"x"),
    "many headers": Response(200, tuple((f"X-{n}", "v" * 20) for n in range(1000)), b"x"),
    "HTTP/2": Response(200, (("server", "x"),), PAGE, version="HTTP/2"),
    "HTTP/1.0": Response(200, (("Server", "x"),), PAGE, version="HTTP/1.0"),
    "one megabyte": Response(200, (), random.Random(1).randbytes(1_000_000)),
}


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, RecordRef]]:
    """A file of all samples, and where each is."""
    folder = tmp_path_factory.mktemp("warc")
    archive = writer(folder)
    records = {name: archive.put(capture(response)) for name, response in SAMPLES.items()}
    records["withheld"] = archive.put(capture(SAMPLES["page"]), headers_only=True)
    archive.close()
    return only_file(folder), records


Samples = tuple[Path, dict[str, RecordRef]]


# ---- what other readers see -----------------------------------------------------------------------------------


def test_warcio_reads_every_record_and_finds_every_digest_right(samples: Samples) -> None:
    path, records = samples
    seen: dict[int, bytes] = {}
    with path.open("rb") as file:
        iterator = ArchiveIterator(file, check_digests="raise", verify_http=True)
        types = []
        for record in iterator:
            types.append(record.rec_type)
            body = record.raw_stream.read()
            assert record.digest_checker.passed or record.rec_headers["Content-Length"] == "0"
            if record.rec_type == "response":
                seen[iterator.get_record_offset()] = body
    assert types == ["warcinfo", *["response", "request"] * len(records)]
    bodies = {name: response.body for name, response in SAMPLES.items()} | {"withheld": b""}
    assert seen == {records[name].offset: body for name, body in bodies.items()}


def test_warcio_check_is_content(samples: Samples, capsys: pytest.CaptureFixture[str]) -> None:
    class Options:
        inputs = (str(samples[0]),)
        verbose = False

    checker = Checker(Options())
    checker.process_all()
    assert checker.exit_value == 0
    assert capsys.readouterr() == ("", "")


def test_fastwarc_reads_every_record_and_finds_every_digest_right(samples: Samples) -> None:
    path, records = samples
    with path.open("rb") as file:
        found = {
            record.stream_pos: record.reader.read()
            for record in FastIterator(file, WarcRecordType.response, verify_digests=True)
        }
    bodies = {name: response.body for name, response in SAMPLES.items()} | {"withheld": b""}
    assert found == {records[name].offset: body for name, body in bodies.items()}


@pytest.mark.parametrize("name", SAMPLES)
def test_others_can_seek_to_a_record(samples: Samples, name: str) -> None:
    path, records = samples
    expected = SAMPLES[name]
    with path.open("rb") as file:
        file.seek(records[name].offset)
        fast = next(iter(FastIterator(file, parse_http=False)))
        assert fast.verify_block_digest()
        fast.parse_http()
        assert fast.verify_payload_digest()
        assert fast.http_headers.status_code == expected.status
        assert len(fast.http_headers) == len(expected.headers)
        file.seek(records[name].offset)
        slow = next(iter(ArchiveIterator(file)))
        assert slow.rec_headers["WARC-Target-URI"] == "http://example.org/a?b=c"
        assert slow.http_headers.get_statuscode() == str(expected.status)
        assert len(slow.http_headers.headers) == len(expected.headers)


def test_a_content_coding_is_kept_and_others_decode_it(samples: Samples) -> None:
    path, records = samples
    with path.open("rb") as file:
        file.seek(records["gzip and chunks"].offset)
        assert next(iter(ArchiveIterator(file))).content_stream().read() == PAGE
        file.seek(records["gzip and chunks"].offset)
        assert next(iter(FastIterator(file, auto_decode="all"))).reader.read() == PAGE


def test_nobody_unchunks_what_looks_like_chunks(samples: Samples) -> None:
    path, records = samples
    body = SAMPLES["chunks removed"].body
    with path.open("rb") as file:
        file.seek(records["chunks removed"].offset)
        assert next(iter(ArchiveIterator(file))).content_stream().read() == body
        file.seek(records["chunks removed"].offset)
        assert next(iter(FastIterator(file, auto_decode="all"))).reader.read() == body


FIELDS: list[tuple[str, str, str | None]] = [
    ("page", "WARC-Type", "response"),
    ("page", "WARC-Date", "2026-05-28T20:26:40.250000Z"),
    ("page", "WARC-IP-Address", "192.0.2.7"),
    ("page", "WARC-Target-URI", "http://example.org/a?b=c"),
    ("page", "Content-Type", "application/http; msgtype=response"),
    ("page", "WARC-Truncated", None),
    ("page", "WARC-Protocol", None),
    ("page", "WARC-Goodbot-Body", None),
    ("cut", "WARC-Truncated", "length"),
    ("lost", "WARC-Truncated", "disconnect"),
    ("empty", "WARC-Payload-Digest", "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"),
    ("HTTP/2", "WARC-Protocol", "h2c"),
    ("withheld", "WARC-Goodbot-Body", "withheld; noarchive"),
    ("withheld", "WARC-Payload-Digest", None),
    ("withheld", "WARC-Truncated", None),
]


@pytest.mark.parametrize(("name", "field", "expected"), FIELDS)
def test_fields(samples: Samples, name: str, field: str, expected: str | None) -> None:
    path, records = samples
    with path.open("rb") as file:
        file.seek(records[name].offset)
        assert next(iter(ArchiveIterator(file))).rec_headers[field] == expected


def test_the_warcinfo_record_comes_first_and_no_two_records_have_one_name(samples: Samples) -> None:
    path, _ = samples
    with path.open("rb") as file:
        records = [
            (dict(r.rec_headers.headers), r.raw_stream.read()) for r in ArchiveIterator(file, no_record_parse=True)
        ]
    info, text = records[0]
    assert info["WARC-Filename"] == path.name == "goodbot-20260528202640-00000.warc.gz"
    for line in (b"software: goodbot/test", b"format: WARC File Format 1.1", b"robots: obeyed (RFC 9309)"):
        assert line in text.split(b"\r\n")
    assert UUID(info["WARC-Record-ID"].removeprefix("<urn:uuid:").rstrip(">")).version == 4
    assert len({fields["WARC-Record-ID"] for fields, _ in records}) == len(records)
    for (answer, _), (request, head) in zip(records[1::2], records[2::2], strict=True):
        assert request["WARC-Concurrent-To"] == answer["WARC-Record-ID"]
        assert request["Content-Type"] == "application/http; msgtype=request"
        assert head == REQUEST_HEAD


def test_each_record_is_one_member_and_every_member_ends(samples: Samples) -> None:
    path, records = samples
    content = path.read_bytes()
    starts = [0, *member_ends(content)][:-1]
    assert len(starts) == 1 + 2 * len(records)
    assert {record.offset for record in records.values()} <= set(starts)
    assert all(content[start:].startswith(MEMBER_START) for start in starts)


def test_a_metadata_record_where_it_is_asked_for(tmp_path: Path) -> None:
    archive = writer(tmp_path)
    encoded = encode_capture(capture(SAMPLES["page"]), metadata=True, via="http://example.org/\r\nfrom: x")
    record = archive.append(encoded)
    archive.put(capture(SAMPLES["empty"]))
    archive.close()
    with only_file(tmp_path).open("rb") as file:
        file.seek(record.offset)
        iterator = ArchiveIterator(file, check_digests="raise")
        response, _, metadata, _, _ = ((r.rec_type, r.rec_headers, r.raw_stream.read()) for r in iterator)
    assert (response[0], metadata[0]) == ("response", "metadata")
    assert metadata[1]["WARC-Concurrent-To"] == response[1]["WARC-Record-ID"]
    assert metadata[1]["Content-Type"] == "application/warc-fields"
    assert metadata[2] == b"fetchTimeMs: 100\r\nvia: http://example.org/ from: x\r\n"


# ---- what is written ------------------------------------------------------------------------------------------


INJECTIONS: list[tuple[str, Headers, Headers]] = [
    ("line in a value", (("A", "b\r\nSet-Cookie: c"),), (("A", "b Set-Cookie: c"),)),
    ("end of header in a value", (("A", "b\r\n\r\n<html>"),), (("A", "b <html>"),)),
    ("lone CR, LF and NUL", (("A", "b\rc\nd\0e"),), (("A", "b c d e"),)),
    ("line in a name", (("A\r\nB", "c"),), (("A B", "c"),)),
    ("colon in a name", ((":path", "c"), ("a:b", "c")), (("-path", "c"), ("a-b", "c"))),
    ("folded name", (("A", "b"), (" B", "c")), (("A", "b"), ("B", "c"))),
    ("no latin-1", (("A", "\u4e2d\udce9"),), (("A", "??"),)),
]


@pytest.mark.parametrize(("name", "headers", "expected"), INJECTIONS)
def test_a_header_stays_one_line(tmp_path: Path, name: str, headers: Headers, expected: Headers) -> None:
    archive = writer(tmp_path)
    archived = archive.read(archive.put(capture(Response(200, headers, b"body", reason="O\r\n\r\nK"))))
    archive.close()
    assert archived.response == Response(200, expected, b"body", reason="O K"), name


def test_files_are_closed_at_their_size_and_numbered_whatever_the_clock(tmp_path: Path) -> None:
    archive = writer(tmp_path, size_limit_bytes=50_000)
    records = [archive.put(numbered(n)) for n in range(10)]
    archive.close()
    (tmp_path / "goodbot-19990101000000-00099.warc.gz").write_bytes(only_member(b""))
    again = writer(tmp_path)
    last = again.put(numbered(10))
    assert last.file.endswith("-00100.warc.gz")
    assert [item.record for item in again.captures()] == [*records, last]
    again.close()
    assert len({record.file for record in records}) > 2


def only_member(data: bytes) -> bytes:
    """A warcinfo record of the shortest kind, or `data`, as a gzip member."""
    return isal_zlib.compress(data or b"WARC/1.1\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n\r\n", 1, 31)


def test_each_run_writes_a_file_of_its_own_and_none_if_it_has_nothing(tmp_path: Path) -> None:
    for expected in ([], ["00000"], ["00000", "00001"]):
        archive = writer(tmp_path)
        if expected:
            archive.put(numbered(1))
        archive.close()
        assert sorted(path.name.split("-")[2][:5] for path in warc_files(tmp_path)) == expected


def test_a_second_writer_is_refused_and_a_reader_is_not(tmp_path: Path) -> None:
    archive = writer(tmp_path)
    record = archive.put(numbered(1))
    archive.flush()
    with pytest.raises(RunError, match="another crawl is writing"):
        writer(tmp_path)
    assert reader(tmp_path).read(record).response == numbered(1).result
    archive.close()
    writer(tmp_path).close()


def test_reading_only_changes_and_makes_nothing(tmp_path: Path) -> None:
    archive = reader(tmp_path / "none")
    assert list(archive.captures()) == []
    with pytest.raises(ValueError, match="not open for writing"):
        archive.put(numbered(1))
    archive.close()
    assert not (tmp_path / "none").exists()


# ---- any bytes ------------------------------------------------------------------------------------------------


TEXT = st.text(st.characters(codec="latin-1", exclude_characters="\r\n\0")).map(lambda text: text.strip(" \t"))
NAMES = st.one_of(
    st.text("abcXYZ-_!1", min_size=1),
    st.sampled_from(
        ["Content-Length", "transfer-encoding", "X-Crawl-Content-Length", "x-crawl-X-Crawl-Transfer-Encoding"]
    ),
)
ANY_RESPONSE = st.builds(
    Response,
    status=st.integers(0, 9999),
    headers=st.lists(st.tuples(NAMES, TEXT)).map(tuple),
    body=st.binary(),
    version=st.sampled_from(["HTTP/1.0", "HTTP/1.1", "HTTP/2", "HTTP/3"]),
    reason=TEXT,
    truncated=st.sampled_from([None, "length", "disconnect"]),
)


@pytest.fixture(scope="module")
def growing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WarcArchive]:
    archive = writer(tmp_path_factory.mktemp("growing"))
    yield archive
    archive.close()


@given(response=ANY_RESPONSE, fetched_at=st.floats(0, 4e9))
def test_any_response_is_read_back_as_it_was(growing: WarcArchive, response: Response, fetched_at: float) -> None:
    source = capture(response)
    archived = growing.read(growing.put(type(source)(source.request, response, fetched_at, 0.1)))
    assert archived.response == response
    assert archived.fetched_at == pytest.approx(fetched_at, abs=2e-6)


WARC_HEAD = b"WARC/1.1\r\nWARC-Type: response\r\nContent-Type: application/http\r\nWARC-Target-URI: http://a/\r\n"
PARTS = st.lists(
    st.sampled_from(
        [
            WARC_HEAD,
            b"WARC-Date: 2026-01-01T00:00:00Z\r\n",
            b"WARC-Date: 9\xff\r\n",
            b"Content-Length: 19\r\n",
            b"Content-Length: -1\r\n",
            b"HTTP/1.1 200 OK\r\n",
            b"HTTP/1.1 \xb2\r\n",
            b"\r\n\r\n",
            b"\r\n",
            b":",
            b"\0",
        ]
    )
    | st.binary(max_size=8)
).map(b"".join)


def read_all(content: bytes) -> list[Response]:
    """What can be read of a file; what cannot is a gap, and no error."""
    gaps: list[DamagedRange] = []
    file = io.BytesIO(content)
    found = list(responses(file, survey(file, "x.warc.gz", read_member), gaps.append))
    assert all(0 <= gap.start < gap.end <= len(content) and gap.what for gap in gaps)
    return [archived.response for archived in found]


@given(PARTS)
def test_any_record_is_read_or_called_damaged(data: bytes) -> None:
    read_all(isal_zlib.compress(data, 1, 31))


@given(st.binary())
def test_any_file_is_read_or_called_damaged(data: bytes) -> None:
    read_all(data)
    read_all(MEMBER_START + data)


@given(place=st.integers(0), bit=st.integers(0, 7))
def test_a_flipped_bit_never_gives_a_wrong_record(samples: Samples, place: int, bit: int) -> None:
    content = bytearray(samples[0].read_bytes()[:20_000])
    content[place % len(content)] ^= 1 << bit
    found = read_all(bytes(content))
    whole = iter(read_all(samples[0].read_bytes()[:20_000]))
    assert all(response in whole for response in found), "in order, and each as it was"
    assert len(found) >= len(read_all(samples[0].read_bytes()[:20_000])) - 1


def test_records_of_another_writer_are_read() -> None:
    """zlib's members and fields in another order; a body in chunks would stay as it is stored."""
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nhello"
    head = WARC_HEAD + b"WARC-Date: 2026-01-01T00:00:00Z\r\nContent-Length: %d\r\n\r\n" % len(block)
    (response,) = read_all(gzip.compress(head + block + b"\r\n\r\n"))
    assert response == Response(200, (("Content-Type", "text/plain"),), b"hello", reason="OK")
