"""The contract of `ports.Archive`, over every implementation."""

import pickle
from base64 import b32encode
from collections.abc import Callable, Iterator
from hashlib import sha1
from io import BytesIO
from pathlib import Path
from random import Random

import pytest
from fastwarc.warc import ArchiveIterator as FastIterator
from fastwarc.warc import WarcRecordType

from goodbot.archive_values import DamagedRange
from goodbot.errors import DamagedError
from goodbot.ports import Archive
from goodbot.store.memory.memory_archive import MemoryArchive
from goodbot.store.warc.warc_archive import WarcArchive
from goodbot.store.warc.warc_record import encode_capture
from goodbot.values import Failure, RecordRef, Response
from store.warc.archive_samples import NOON, MovedArchive, StillClock, capture

IMPLEMENTATIONS: dict[str, Callable[[Path], Archive]] = {
    "warc": lambda folder: WarcArchive(folder / "warc", StillClock(), "goodbot/test"),
    "warc-tiny-files": lambda folder: WarcArchive(folder, StillClock(), "goodbot/test", size_limit_bytes=1),
    "warc-moved": MovedArchive,
    "memory": lambda folder: MemoryArchive(),
}


@pytest.fixture(params=IMPLEMENTATIONS)
def archive(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Archive]:
    archive = IMPLEMENTATIONS[request.param](tmp_path)
    yield archive
    archive.close()


RESPONSES = {
    "page": Response(200, (("Content-Type", "text/html"), ("Content-Length", "4")), b"page", reason="OK"),
    "no headers": Response(200, (), b"x"),
    "nothing at all": Response(204, (), b""),
    "not modified": Response(304, (("ETag", '"1"'), ("Content-Length", "900")), b"", reason="Not Modified"),
    "redirect": Response(301, (("Location", "/b"),), b"", version="HTTP/1.0"),
    "empty value": Response(200, (("X-Empty", ""), ("A", "b")), b"x"),
    "duplicates in order": Response(200, (("A", "2"), ("a", "1"), ("A", "2")), b"x"),
    "latin-1 value": Response(200, (("X", "caf\xe9 \x85\xa0"),), b"x", reason="\xc7a va"),
    "very many": Response(200, tuple((f"X-{n}", "v" * 100) for n in range(3000)), b"x"),
    "chunks removed": Response(200, (("Transfer-Encoding", "chunked"),), b"5\r\nabcde\r\n0\r\n\r\n"),
    "prefixed by the site": Response(200, (("X-Crawl-Transfer-Encoding", "a"), ("X-CRAWL-content-length", "1")), b""),
    "cut by us": Response(200, (("Content-Length", "900"),), b"x" * 500, truncated="length"),
    "cut by them": Response(200, (("content-length", "900"),), b"x" * 500, truncated="disconnect"),
    "blank lines in the body": Response(200, (), b"\r\n\r\nWARC/1.1\r\n\r\n"),
    "HTTP/2": Response(200, (("server", "x"),), b"x", version="HTTP/2"),
    "HTTP/3": Response(200, (("server", "x"),), b"x", version="HTTP/3"),
    "odd status": Response(999, (), b"x"),
    "one megabyte": Response(200, (), bytes(range(256)) * 4096),
}


@pytest.mark.parametrize("name", RESPONSES)
def test_a_response_is_read_back_as_it_was(archive: Archive, name: str) -> None:
    record = archive.put(capture(RESPONSES[name]))
    archived = archive.read(record)
    assert archived.response == RESPONSES[name]
    assert archived.url.text == "http://example.org/a?b=c"
    assert archived.fetched_at == pytest.approx(NOON, abs=1e-6)
    assert archived.record == record
    assert not archived.headers_only


def test_headers_only_keeps_no_body(archive: Archive) -> None:
    answer = Response(200, (("Content-Length", "6"), ("X-Robots-Tag", "noarchive")), b"secret", truncated="length")
    archived = archive.read(archive.put(capture(answer), headers_only=True))
    assert archived.headers_only
    assert archived.response == Response(200, answer.headers, b"")


def test_what_another_process_encoded_is_kept_as_if_put_here(archive: Archive) -> None:
    encoded = [pickle.loads(pickle.dumps(encode_capture(capture(RESPONSES["page"]), only))) for only in (False, True)]
    read = [archive.read(archive.append(item)) for item in encoded]
    assert [item.response.body for item in read] == [b"page", b""]
    assert [item.headers_only for item in read] == [item.headers_only for item in encoded] == [False, True]
    assert encoded[0].digest == "sha1:" + b32encode(sha1(b"page").digest()).decode()
    assert encoded[1].digest is None


def test_the_same_payload_may_come_again_under_any_url(archive: Archive) -> None:
    body = Random(1).randbytes(5000)
    urls = [f"http://example.org/{number}" for number in (1, 2, 1, 3)]
    records = [archive.put(capture(Response(200, (("X-N", url),), body), url)) for url in urls]
    for read in (list(archive.captures()), [archive.read(record) for record in records]):
        assert [item.response for item in read] == [Response(200, (("X-N", url),), body) for url in urls]
        assert [item.record for item in read] == records


def test_everything_can_be_taken_out_as_one_file(archive: Archive) -> None:
    for number in range(5):
        archive.put(capture(Response(200, (), b"%d" % number)))
    size, pieces = archive.export()
    content = b"".join(pieces)
    assert len(content) == size
    read = FastIterator(BytesIO(content), record_types=WarcRecordType.response, verify_digests=True)
    assert [record.reader.read() for record in read] == [b"%d" % number for number in range(5)]


def test_captures_come_in_the_order_kept(archive: Archive) -> None:
    kept = [archive.put(capture(Response(200, (), b"%d" % n), f"http://example.org/{n}")) for n in range(20)]
    archive.flush()
    kept += [archive.put(capture(Response(200, (), b"20"), "http://example.org/20"))]
    lost: list[DamagedRange] = []
    read = list(archive.captures(lost.append))
    assert lost == []
    assert [item.record for item in read] == kept
    assert [item.response.body for item in read] == [b"%d" % n for n in range(21)]
    assert [item.url.path for item in read] == [f"/{n}" for n in range(21)]


def test_the_same_url_may_be_kept_again(archive: Archive) -> None:
    first, second = (archive.put(capture(Response(200, (), body))) for body in (b"old", b"new"))
    assert archive.read(first).response.body == b"old"
    assert archive.read(second).response.body == b"new"


def test_a_failure_is_not_archived(archive: Archive) -> None:
    with pytest.raises(ValueError, match="connection refused"):
        archive.put(capture(Failure("connect", "connection refused")))
    assert list(archive.captures()) == []


@pytest.mark.parametrize(
    "record",
    [
        RecordRef("goodbot-20260101000000-00099.warc.gz", 0),
        RecordRef("../../etc/passwd", 0),
        RecordRef("memory", 7),
        RecordRef("goodbot-20260101000000-00000.warc.gz", -1),
    ],
)
def test_a_record_that_is_not_there_is_an_error_that_names_it(archive: Archive, record: RecordRef) -> None:
    archive.put(capture(RESPONSES["page"]))
    with pytest.raises(DamagedError, match=record.file.replace(".", r"\.")):
        archive.read(record)


def test_an_empty_archive_has_no_captures_and_closes(archive: Archive) -> None:
    archive.flush()
    assert list(archive.captures()) == []
    archive.close()
    archive.close()
