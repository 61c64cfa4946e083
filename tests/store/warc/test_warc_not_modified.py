"""Tests a 304 in the archive: a revisit record that names the capture it confirms (ISO 28500:2017, 6.7.3)."""

from dataclasses import replace
from pathlib import Path

from fastwarc.warc import ArchiveIterator, WarcRecordType
from isal import isal_zlib
from warcio.archiveiterator import ArchiveIterator as WarcioIterator

from goodbot.exclusion import Verdict
from goodbot.store.warc.warc_archive import WarcArchive
from goodbot.store.warc.warc_record import encode_capture
from goodbot.testing import FakeClock
from goodbot.url import Url
from goodbot.values import Capture, LastVisit, Request, Response

URL = Url("http://example.org/page")
NOW = 1_700_000_000.25
REQUEST = Request(URL, Verdict(True, None, None, "", "", url=URL.text))
PAGE = Response(200, (("Content-Type", "text/html"), ("ETag", '"1"')), b"<title>Page</title>" + b"words " * 500)
SAME = Response(304, (("ETag", '"1"'), ("X-Long", "x" * 2000)), b"")
HEAD = b'GET /page HTTP/1.1\r\nIf-None-Match: "1"\r\n\r\n'


def archive_of(folder: Path) -> WarcArchive:
    return WarcArchive(folder, FakeClock(), "goodbot/test")


def visited_twice(folder: Path) -> tuple[LastVisit, Capture]:
    """A page in one file, and then, in the next, that it has not changed."""
    archive = archive_of(folder)
    first = encode_capture(Capture(REQUEST, PAGE, NOW, 0.1, "192.0.2.1", HEAD))
    seen = LastVisit(NOW, NOW + 60, 60.0, NOW, etag='"1"', digest=first.digest, record=archive.append(first))
    archive.close()
    archive = archive_of(folder)
    again = Capture(REQUEST, SAME, NOW + 60, 0.1, "192.0.2.1", HEAD)
    place = archive.append(encode_capture(again, about=seen))
    assert archive.read(place).response == SAME
    archive.close()
    return seen, again


def test_both_readers_know_what_a_304_speaks_of(tmp_path: Path) -> None:
    seen, _ = visited_twice(tmp_path)
    old, new = sorted(tmp_path.glob("*.warc.gz"))
    with old.open("rb") as stream:
        (date,) = [r.rec_headers["WARC-Date"] for r in WarcioIterator(stream) if r.rec_type == "response"]
    with new.open("rb") as stream:
        records = {r.rec_type: (r.rec_headers, r.http_headers) for r in WarcioIterator(stream, check_digests="raise")}
    assert list(records) == ["warcinfo", "revisit", "request"]
    headers, http = records["revisit"]
    assert headers["WARC-Profile"] == "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
    assert headers["WARC-Refers-To-Target-URI"] == URL.text
    assert headers["WARC-Refers-To-Date"] == date
    assert headers["WARC-Payload-Digest"] == seen.digest
    assert http.get_statuscode() == "304"
    assert records["request"][0]["WARC-Concurrent-To"] == headers["WARC-Record-ID"]
    with new.open("rb") as stream:
        (record,) = ArchiveIterator(stream, record_types=WarcRecordType.revisit, verify_digests=True)
        assert (record.http_headers.status_code, record.headers["WARC-Target-URI"]) == (304, URL.text)


def test_the_captures_of_an_archive_are_read_past_a_304(tmp_path: Path) -> None:
    seen, _ = visited_twice(tmp_path)
    archive = WarcArchive(tmp_path, FakeClock(), "", read_only=True)
    assert [captured.response.status for captured in archive.captures()] == [200, 304]
    assert seen.record is not None
    assert archive.read(seen.record).response == PAGE


def test_an_index_made_anew_has_the_304_as_well(tmp_path: Path) -> None:
    visited_twice(tmp_path)
    new = max(tmp_path.glob("*.cdxj"))
    text = new.read_text()
    assert '"mime": "warc/revisit", "status": "304", "digest": "' in text
    new.unlink()
    archive_of(tmp_path).close()
    assert new.read_text() == text


def test_a_host_is_forgotten_with_its_304(tmp_path: Path) -> None:
    visited_twice(tmp_path)
    archive = archive_of(tmp_path)
    assert archive.forget(URL.host_key).captures == 2
    assert list(archive.captures()) == []
    archive.close()


def test_a_304_nobody_asked_for_is_a_response_like_others(tmp_path: Path) -> None:
    seen, again = visited_twice(tmp_path)
    for encoded in (encode_capture(again), encode_capture(replace(again, result=PAGE), about=seen)):
        record = isal_zlib.decompress(encoded.data[: encoded.length], 31)
        assert record.startswith(b"WARC/1.1\r\nWARC-Type: response\r\n")
