"""Tests that each fault of bytes that should be a WARC record has a message of its own."""

import gzip
from pathlib import Path

import pytest

from goodbot.errors import DamagedError
from goodbot.store.warc.warc_reader import parse_record, read_member
from goodbot.values import RecordRef

RECORD = b"WARC/1.1\r\nWARC-Type: response\r\nContent-Length: 5\r\n\r\nhello\r\n\r\n"
PLACE = RecordRef("x.warc.gz", 0)

CASES = [
    ("not a record", b"hello, I am a text\r\n\r\n", "this is not a WARC record"),
    ("nothing", b"", "this is not a WARC record"),
    ("cut in its content", RECORD[:-6], "this WARC record is cut short: it has 55 of the 61 bytes that it states"),
    ("cut in its fields", RECORD[:30], "this WARC record is cut short: its fields do not end"),
    ("more than a record", RECORD * 2, "this WARC record is longer than the 61 bytes that it states"),
    ("without length", RECORD.replace(b"Length", b"Lenght"), "this is not a WARC record: it states no length"),
]


@pytest.mark.parametrize(("data", "said"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_each_cause(tmp_path: Path, data: bytes, said: str) -> None:
    path = tmp_path / PLACE.file
    path.write_bytes(gzip.compress(data))
    with path.open("rb") as file, pytest.raises(DamagedError) as caught:
        read_member(file, PLACE)
    assert str(caught.value) == f"x.warc.gz is damaged at byte 0: {said}"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (RECORD[:-1], "this WARC record is cut short: it has 60 of the 61 bytes that it states"),
        (RECORD + b"!", "this WARC record is longer than the 61 bytes that it states"),
        (b"hello\r\n\r\n", "this is not a WARC record"),
    ],
)
def test_of_data_that_was_unpacked_before(data: bytes, said: str) -> None:
    with pytest.raises(DamagedError, match=f"{said}$"):
        parse_record(data, PLACE)
