"""Tests WARC records of any size: large bodies, and a few bytes that decompress to many."""

import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from fastwarc.warc import ArchiveIterator as FastIterator
from fastwarc.warc import WarcRecordType
from isal import isal_zlib
from warcio.archiveiterator import ArchiveIterator

from goodbot.archive_values import DamagedRange
from goodbot.store.warc.warc_record import encode_capture
from goodbot.values import Response
from store.warc.archive_samples import capture, only_file, reader, writer
from store.warc.test_warc_archive import only_member


@pytest.mark.parametrize("make", [pytest.param(os.urandom, marks=pytest.mark.long), bytes])
def test_a_body_of_any_size_is_read_back(tmp_path: Path, make: Callable[[int], bytes]) -> None:
    """Over the 64 MiB that readers once took at most; by the other readers as well, and as a repeat."""
    answer = Response(200, (("Content-Type", "application/zip"),), make(70 * 1024 * 1024))
    archive = writer(tmp_path)
    records = [archive.put(capture(answer, f"http://example.org/{number}")) for number in range(2)]
    assert [archive.read(record).response == answer for record in records] == [True, True]
    assert sum(item.response == answer for item in archive.captures()) == 2
    archive.close()
    with only_file(tmp_path).open("rb") as stream:
        read = FastIterator(stream, record_types=WarcRecordType.response, verify_digests=True)
        assert [record.reader.read() == answer.body for record in read] == [True]
    with only_file(tmp_path).open("rb") as stream:
        kept = (item for item in ArchiveIterator(stream, check_digests="raise") if item.rec_type == "response")
        assert [item.content_stream().read() == answer.body for item in kept] == [True]


def test_packing_a_large_body_takes_little_more_than_what_comes_out() -> None:
    body = bytes(64 * 1024 * 1024)
    tracemalloc.start()
    encode_capture(capture(Response(200, (), body)))
    assert tracemalloc.get_traced_memory()[1] < 16 * 1024 * 1024
    tracemalloc.stop()


@pytest.mark.parametrize("head", [b"", b"WARC/1.1\r\nContent-Length: 9\r\n\r\n", b"WARC/1.1\r\n"])
def test_a_bomb_is_called_damaged_and_takes_bounded_memory(tmp_path: Path, head: bytes) -> None:
    squeezer = isal_zlib.compressobj(1, wbits=31)
    bomb = b"".join([squeezer.compress(head), *(squeezer.compress(bytes(1024 * 1024)) for _ in range(300))])
    bomb += squeezer.flush()
    (tmp_path / "goodbot-20260101000000-00000.warc.gz").write_bytes(bomb + only_member(b""))
    tracemalloc.start()
    gaps: list[DamagedRange] = []
    assert list(reader(tmp_path).captures(gaps.append)) == []
    assert [(gap.start, gap.end) for gap in gaps] == [(0, len(bomb))]
    assert tracemalloc.get_traced_memory()[1] < 8 * 1024 * 1024
    tracemalloc.stop()
