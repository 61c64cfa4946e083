"""Whatever the bytes are, reading ends, raises nothing and loses no record that is whole."""

import gzip
import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from goodbot.store.foreign.capture_reader import looks_like_archive
from goodbot.store.foreign.unpacking import UnpackedStream
from store.foreign.foreign_samples import Read, members, pages, record, wacz

FIVE = pages(5)
FILES = [members(FIVE), b"".join(FIVE), gzip.compress(b"".join(FIVE)), wacz([("archive/a.warc.gz", members(FIVE))])]
URLS = [f"http://example.org/{number}" for number in range(5)]


@given(
    st.binary(max_size=3000),
    st.sampled_from([b"", b"WARC/1.0\r\n", b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"PK\x03\x04", b"\x5d\x2a\x4d\x18"]),
)
def test_any_bytes_can_be_read(data: bytes, start: bytes) -> None:
    Read(start + data)
    looks_like_archive(io.BytesIO(start + data))
    Read(gzip.compress(start + data))


@given(
    st.sampled_from(FILES),
    st.lists(st.tuples(st.integers(0, 3000), st.binary(max_size=20), st.integers(0, 30)), max_size=4),
)
def test_any_damage_can_be_read_over(data: bytes, changes: list[tuple[int, bytes, int]]) -> None:
    for at, new, removed in changes:
        data = data[:at] + new + data[at + removed :]
    found = Read(data)
    assert len(found.captures) <= 10


@given(st.integers(0, 4), st.integers(0, 10_000), st.integers(0, 255))
@example(0, 0, 0)
def test_damage_in_one_member_costs_no_other(number: int, at: int, value: int) -> None:
    parts = list(map(gzip.compress, FIVE))
    one = bytearray(parts[number])
    one[at % len(one)] = value
    parts[number] = bytes(one)
    found = Read(b"".join(parts))
    assert [url for url in found.urls if url != URLS[number]] == [url for url in URLS if url != URLS[number]]


@given(st.integers(1, 4), st.binary(min_size=1, max_size=50).filter(lambda data: b"WARC/" not in data))
def test_bytes_between_records_cost_none(number: int, data: bytes) -> None:
    found = Read(b"".join((*FIVE[:number], data, *FIVE[number:])))
    assert [url for url in found.urls if url in URLS][-(5 - number) :] == URLS[number:]


@given(
    st.dictionaries(
        st.sampled_from(
            ["warc_type", "warc_date", "warc_target_uri", "content_length", "warc_block_digest", "warc_truncated"]
        ),
        st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=40),
    )
)
def test_fields_of_any_content_can_be_read(fields: dict[str, str]) -> None:
    one = record("response", b"HTTP/1.1 200 OK\r\n\r\nx", "http://example.org/x", **fields)
    found = Read(one + b"".join(FIVE))
    assert found.urls[-1:] == URLS[-1:]


def test_records_that_all_state_too_much_take_linear_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each would be read to the end of the file, and all bytes be read again."""
    one = b"WARC/1.0\r\nWARC-Type: metadata\r\nContent-Length: 99999999\r\n\r\n\r\n\r\n"
    taken = 0
    skip = UnpackedStream.skip

    def counted(stream: UnpackedStream, count: int) -> None:
        nonlocal taken
        taken += count
        skip(stream, count)

    monkeypatch.setattr(UnpackedStream, "skip", counted)
    data = one * 20_000
    Read(data)
    assert taken < (64 << 20) + 40 * len(data)


def test_members_that_all_break_off_take_linear_time() -> None:
    one = gzip.compress(b"WARC/1.0\r\n" + b"x" * 1000)[:-8]
    found = Read(one * 20_000)
    assert found.captures == []
