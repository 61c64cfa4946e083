"""WARC files in the forms that other programs write, whole and damaged."""

import gzip
import hashlib
import io
import sys
import tracemalloc
from collections.abc import Callable

import pytest
from fastwarc.warc import WarcRecord as FastRecord
from fastwarc.warc import WarcRecordType
from isal import isal_zlib
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from goodbot.store.foreign.capture_reader import looks_like_archive, read_archive, unix_time
from goodbot.store.foreign.foreign_values import Damage
from store.foreign.foreign_samples import AT, HTML, ID, Read, http, members, page, pages, record, response, sha1

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

FIVE = pages(5)
URLS = [f"http://example.org/{number}" for number in range(5)]


def split(size: int) -> Callable[[list[bytes]], bytes]:
    """gzip members that end anywhere, as bgzip and others make them."""

    def made(records: list[bytes]) -> bytes:
        data = b"".join(records)
        return b"".join(gzip.compress(data[at : at + size]) for at in range(0, len(data), size))

    return made


def zstd_with_dictionary(records: list[bytes]) -> bytes:
    samples = [response(f"http://example.org/{number}", page(number)) for number in range(500)]
    dictionary = zstd.train_dict(samples, 4096)
    frame = b"\x5d\x2a\x4d\x18" + len(dictionary.dict_content).to_bytes(4, "little") + dictionary.dict_content
    return frame + b"".join(zstd.compress(one, zstd_dict=dictionary) for one in records)


FORMS: dict[str, Callable[[list[bytes]], bytes]] = {
    "a member for each record": members,
    "plain": b"".join,
    "one member for all": lambda records: gzip.compress(b"".join(records)),
    "members that end anywhere": split(100),
    "members of one byte": split(1),
    "several records in a member": lambda records: members([b"".join(records[:2]), b"".join(records[2:])]),
    "empty members between": lambda records: b"".join(gzip.compress(one) + gzip.compress(b"") for one in records),
    "zeros at the end": lambda records: members(records) + bytes(1000),
    "zstd frames": lambda records: b"".join(map(zstd.compress, records)),
    "one zstd frame": lambda records: zstd.compress(b"".join(records)),
    "zstd with a dictionary": zstd_with_dictionary,
    "more line ends between": b"\r\n\r\n".join,
    "one line end between": lambda records: b"".join(one[:-2] for one in records),
    "no line end between": lambda records: b"".join(one[:-4] for one in records),
    "lines end in LF": lambda records: b"".join(one.replace(b"\r\n", b"\n", one.count(b"\r\n")) for one in _for_lf()),
}


def _for_lf() -> list[bytes]:
    """The same records, whose lengths are stated without CR."""
    return [
        record("response", http(page(n)).replace(b"\r\n", b"\n"), URLS[n], content_type="application/http")
        for n in range(5)
    ]


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_every_form_of_a_file_is_read(form: Callable[[list[bytes]], bytes]) -> None:
    data = form(FIVE)
    found = Read(data)
    assert (found.urls, found.damaged) == (URLS, [])
    assert found.bodies == [page(number) for number in range(5)]
    assert looks_like_archive(io.BytesIO(data))


def test_a_response_is_read_with_all_that_its_record_says() -> None:
    block = http(b"<p>x", "404 Not Here", [("X-A", "1"), ("X-a", "2"), ("Content-Type", "text/html")])
    fields = {"warc_ip_address": "192.0.2.1", "warc_protocol": "h2", "warc_payload_digest": "sha256:ab"}
    (found,) = Read(record("response", block, "<http://example.org/%20x>", **fields)).captures
    assert (found.url.text, found.at, found.peer, found.payload) == (
        "http://example.org/%20x",
        AT,
        "192.0.2.1",
        "sha256:ab",
    )
    response = found.response
    assert (response.status, response.reason, response.version) == (404, "Not Here", "HTTP/2")
    assert response.headers == (("X-A", "1"), ("X-a", "2"), ("Content-Type", "text/html"))


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")  # of warcio
@pytest.mark.parametrize("form", ["gzip", "plain"])
def test_files_of_warcio_are_read(form: str) -> None:
    file = io.BytesIO()
    writer = WARCWriter(file, gzip=form == "gzip")
    writer.write_record(writer.create_warcinfo_record("x.warc.gz", {"software": "test"}))
    for number in range(5):
        head = StatusAndHeaders("200 OK", list(HTML), protocol="HTTP/1.1")
        made = writer.create_warc_record(URLS[number], "response", io.BytesIO(page(number)), http_headers=head)
        asked = StatusAndHeaders("GET / HTTP/1.1", [("Host", "example.org")], is_http_request=True)
        request = writer.create_warc_record(URLS[number], "request", http_headers=asked)
        writer.write_request_response_pair(request, made)
    found = Read(file.getvalue())
    assert (found.urls, found.damaged, found.others) == (URLS, [], 6)
    assert found.captures[0].request_head.startswith(b"GET / HTTP/1.1\r\nHost: example.org")


def test_files_of_fastwarc_are_read() -> None:
    file = io.BytesIO()
    for number in range(5):
        made = FastRecord()
        made.init_headers(WarcRecordType.response)
        made.headers["WARC-Target-URI"] = URLS[number]
        made.set_bytes_content(http(page(number)))
        made.is_http = True
        made.write(file, checksum_data=True)
    found = Read(file.getvalue())
    assert (found.urls, found.damaged) == (URLS, [])


def test_heritrix_writes_the_request_after_the_response() -> None:
    uri, block = "http://example.org/", b"GET / HTTP/1.0\r\nUser-Agent: Mozilla/5.0 (compatible; heritrix)\r\n\r\n"
    records = [
        record("warcinfo", b"software: Heritrix/3.4\r\n", content_type="application/warc-fields"),
        record("response", b"20240301\n", "dns:example.org", content_type="text/dns"),
        response(uri, b"<p>x", warc_record_id=ID.format(1)),
        record("request", block, uri, warc_concurrent_to=ID.format(1), warc_record_id=ID.format(2)),
        record("metadata", b"via: http://example.org/a\r\n", uri, warc_concurrent_to=ID.format(1)),
    ]
    found = Read(members(records))
    assert (found.urls, found.skipped, found.others) == ([uri], ["not http"], 3)
    assert found.captures[0].request_head == block


def test_common_crawl_renames_fields_and_truncates() -> None:
    uri = "https://example.org/"
    headers = [
        ("Content-Type", "text/html"),
        ("X-Crawl-Content-Encoding", "gzip"),
        ("X-Crawl-Transfer-Encoding", "chunked"),
        ("Content-Length", "4"),
    ]
    block = b"GET / HTTP/1.1\r\nUser-Agent: CCBot/2.0\r\n\r\n"
    records = [
        record("request", block, uri, warc_record_id=ID.format(1)),
        record(
            "response", http(b"<p>x", headers=headers), uri, warc_concurrent_to=ID.format(1), warc_truncated="length"
        ),
        record("metadata", b"fetchTimeMs: 3\r\n", uri, warc_concurrent_to=ID.format(1)),
    ]
    (found,) = Read(members(records)).captures
    assert (found.response.body, found.response.truncated) == (b"<p>x", "length")
    assert ("Transfer-Encoding", "chunked") in found.response.headers
    assert found.request_head == block


def test_browsertrix_writes_resources_and_revisits() -> None:
    payload = sha1(page(0))
    records = [
        response("http://example.org/0", page(0), warc_payload_digest=payload),
        record("resource", b'{"pageid": "1"}', "urn:pageinfo:http://example.org/0", content_type="application/json"),
        record("resource", b"text", "urn:text:http://example.org/0", content_type="text/plain"),
        record("resource", b"<p>resource", "http://example.org/r", content_type="text/html"),
        record(
            "revisit",
            b"HTTP/1.1 200 OK\r\nX: 1\r\n\r\n",
            "http://example.org/again",
            content_type="application/http; msgtype=response",
            warc_payload_digest=payload,
            warc_profile="http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
        ),
    ]
    found = Read(members(records))
    assert found.skipped == ["not http", "not http"]
    page_, resource, revisit = found.captures
    assert (resource.response.status, resource.response.body) == (200, b"<p>resource")
    assert (revisit.refers_to, revisit.response.headers, revisit.response.body) == (payload, (("X", "1"),), b"")
    assert (page_.payload, page_.refers_to) == (payload, None)


SKIPPED = [
    ("urn", record("response", http(b""), "urn:uuid:1"), "not http"),
    ("ftp", record("response", http(b""), "ftp://example.org/"), "not http"),
    ("no URL", record("response", http(b"")), "not http"),
    ("hostile URL", record("response", http(b""), "http://[::1"), "no usable URL"),
    ("no date", record("response", http(b""), "http://example.org/", warc_date=None), "no usable date"),
    (
        "before 1970",
        record("response", http(b""), "http://example.org/", warc_date="0001-01-01T00:00:00Z"),
        "no usable date",
    ),
    ("no HTTP", record("response", b"hello", "http://example.org/"), "no HTTP response"),
    ("HTTP/0.9", record("response", b"<html>", "http://example.org/"), "no HTTP response"),
    ("empty", record("response", b"", "http://example.org/"), "no HTTP response"),
    ("status 999", record("response", http(b"", "999 No"), "http://example.org/"), "no HTTP response"),
    ("304", record("response", http(b"", "304 Not Modified"), "http://example.org/"), "not modified"),
    ("revisit without digest", record("revisit", http(b""), "http://example.org/"), "no original"),
]


@pytest.mark.parametrize(("data", "why"), [row[1:] for row in SKIPPED], ids=[row[0] for row in SKIPPED])
def test_what_is_no_page_is_skipped_and_counted(data: bytes, why: str) -> None:
    found = Read(data + FIVE[0])
    assert (found.skipped, found.urls, found.damaged) == ([why], URLS[:1], [])


@pytest.mark.parametrize("first", ["request", "response"])
def test_an_answer_to_a_post_is_no_page(first: str) -> None:
    uri = "http://example.org/form"
    both = [
        record("request", b"POST /form HTTP/1.1\r\n\r\nx=1", uri, warc_record_id=ID.format(1)),
        response(uri, b"<p>x", warc_concurrent_to=ID.format(1)),
    ]
    found = Read(members(both if first == "request" else both[::-1]) + members(FIVE))
    assert (found.skipped, found.urls) == (["not GET"], URLS)


def test_a_request_of_another_response_is_not_taken() -> None:
    uri = "http://example.org/0"
    records = [
        record(
            "request", b"POST / HTTP/1.1\r\n\r\n", uri, warc_record_id=ID.format(8), warc_concurrent_to=ID.format(9)
        ),
        response(uri, b"<p>x", warc_record_id=ID.format(1), warc_concurrent_to=ID.format(2)),
    ]
    assert Read(members(records)).urls == [uri]


# ---- damage ---------------------------------------------------------------------------------------------------------

GZ = [gzip.compress(one) for one in FIVE]


def flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :]


def wrong_length(number: int, change: int) -> bytes:
    length = len(http(page(number)))
    return FIVE[number].replace(b"content-length: %d" % length, b"content-length: %d" % (length + change))


def digested(one: bytes) -> bytes:
    """The second record, with the digest of its right block."""
    digest = sha1(http(page(1))).encode()
    return one.replace(b"content-length", b"warc-block-digest: " + digest + b"\r\ncontent-length", 1)


LONG_FIELD = b"WARC/1.0\r\nX: " + b"x" * 2_000_000 + b"\r\n" + FIVE[1][10:]
ALL, OTHERS = [0, 1, 2, 3, 4], [0, 2, 3, 4]


def second(one: bytes) -> bytes:
    """The five records, plain, with another one in place of the second."""
    return b"".join((FIVE[0], one, *FIVE[2:]))


def second_member(one: bytes) -> bytes:
    """The five records, a member each, with other bytes in place of the second."""
    return b"".join((GZ[0], one, *GZ[2:]))


def unsized(length: str | None) -> bytes:
    return record("response", http(page(1)), URLS[1], content_length=length)


DAMAGED: list[tuple[str, bytes, list[int], str]] = [
    ("cut in a member", b"".join(GZ)[:-30], [0, 1, 2, 3], "a record is cut short"),
    ("cut in a record", b"".join(FIVE)[:-30], [0, 1, 2, 3], "a record is cut short"),
    ("cut in the fields", b"".join(FIVE[:2]) + FIVE[2][:40], [0, 1], "the fields of a record do not end"),
    ("cut in a gzip header", b"".join(GZ[:2]) + GZ[2][:5], [0, 1], "within compressed data"),
    ("cut in a zstd frame", zstd.compress(b"".join(FIVE[:2])) + zstd.compress(FIVE[2])[:-9], [0, 1], "compressed data"),
    ("a flipped bit", second_member(flipped(GZ[1], 60)), OTHERS, ""),
    ("a wrong checksum", second_member(flipped(GZ[1], len(GZ[1]) - 6)), OTHERS, "damaged"),
    ("garbage between members", second_member(b"garbage" * 20000 + GZ[1]), ALL, "not a compressed record"),
    ("garbage between records", second(b"garbage\n" * 20000 + FIVE[1]), ALL, ""),
    ("a missing member", second_member(GZ[1][:20]), OTHERS, ""),
    ("a member that is no record", second_member(gzip.compress(b"x" * 100) + GZ[1]), ALL, "not a WARC record"),
    ("no length", second(unsized(None)), ALL, "no length"),
    ("a length that is no number", second(unsized("-5")), ALL, "no length"),
    ("a length too short", second(wrong_length(1, -5)), ALL, "wrong length"),
    ("a length too long", second(wrong_length(1, 40)), ALL, "wrong length"),
    ("a length that ends in the next header", second(wrong_length(1, 9)), ALL, "wrong length"),
    ("a length of two records, by the digest", second(digested(wrong_length(1, len(FIVE[2])))), ALL, "wrong length"),
    ("a length longer than the file", second(wrong_length(1, 4000)), ALL, "wrong length"),
    ("a length too long, in a member", second_member(gzip.compress(wrong_length(1, 40))), ALL, "wrong length"),
    ("an endless field", second(LONG_FIELD), OTHERS, "do not end"),
    ("an endless field, in a member", second_member(gzip.compress(LONG_FIELD)), OTHERS, "do not end"),
    ("a wrong digest", second(response(URLS[1], page(1), warc_block_digest=sha1(b""))), ALL, "digest"),
    ("text in front", b"hello\n" + b"".join(FIVE), ALL, ""),
]


@pytest.mark.parametrize(("data", "left", "what"), [row[1:] for row in DAMAGED], ids=[row[0] for row in DAMAGED])
def test_after_damage_reading_goes_on(data: bytes, left: list[int], what: str) -> None:
    found = Read(data)
    assert found.urls == [URLS[number] for number in left]
    assert found.damaged
    assert what in found.whats[0]
    assert len(found.damaged) <= 2


def test_damage_names_the_url_of_its_record() -> None:
    cut = b"".join(FIVE)[:-10]
    found = Read(cut)
    assert [damage.url for damage in found.damaged] == [URLS[4]]
    assert str(found.damaged[0]).endswith(f"({URLS[4]})")
    long = Damage("a.warc", "", 0, "damaged", "http://example.org/" + "x" * 8000)
    assert len(str(long)) < 300


@pytest.mark.parametrize("name", ["sha1", "sha-1", "sha256", "md5", "unheard-of"])
def test_digests_of_every_kind_are_compared(name: str) -> None:
    block = http(page(0))
    stated = {"sha1": sha1(block), "sha-1": sha1(block).replace("sha1", "sha-1")}
    stated["sha256"] = f"sha256:{hashlib.sha256(block).hexdigest()}"
    stated["md5"] = f"MD5:{hashlib.md5(block, usedforsecurity=False).hexdigest().upper()}"
    value = stated.get(name, f"{name}:0")
    assert Read(response(URLS[0], page(0), warc_block_digest=value)).damaged == []


def test_a_long_body_is_cut_and_read_over() -> None:
    long = response(URLS[0], b"x" * 3_000_000)
    found = Read(members([long, *FIVE[1:]]), most_bytes=1000)
    assert (found.urls, found.damaged) == (URLS, [])
    assert (len(found.bodies[0]), found.captures[0].response.truncated) == (1000, "length")


def bomb(record_: bytes, filler: int) -> bytes:
    """A gzip member of `record_` and as many MiB of zeros."""
    packer = isal_zlib.compressobj(2, isal_zlib.DEFLATED, 31)
    zeros = bytes(1 << 20)
    return b"".join((packer.compress(record_), *(packer.compress(zeros) for _ in range(filler)), packer.flush()))


@pytest.mark.parametrize(
    ("start", "urls"),
    [
        (record("response", http(b""), URLS[0], content_length=str(400 << 20)), URLS),
        (b"WARC/1.0\r\nX: ", URLS[1:]),
        (b"", URLS[1:]),
    ],
    ids=["a long record", "endless fields", "no record"],
)
def test_a_decompression_bomb_takes_bounded_memory(start: bytes, urls: list[str]) -> None:
    data = bomb(start, 200) + members(FIVE[1:])
    tracemalloc.start()
    found = Read(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.urls == urls
    assert peak < 24 << 20


@pytest.mark.long
def test_a_file_of_ten_gigabytes_is_read_with_bounded_memory() -> None:
    class Endless(io.RawIOBase):
        """10 GB of captures of 10 MB, and one that is torn."""

        def __init__(self) -> None:
            self.one = members([response(URLS[0], bytes(10_000_000))])
            self.left = 1000
            self.data = self.one

        def read(self, count: int = -1) -> bytes:
            if not self.data and self.left > 1:
                self.left -= 1
                self.data = self.one
            part, self.data = self.data[:count], self.data[count:]
            return part

        def seek(self, *_: int) -> int:
            return 0

    tracemalloc.start()
    count = len([None for _ in read_archive(Endless(), "f", 1 << 20)])  # type: ignore[arg-type]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count >= 999
    assert peak < 32 << 20


@pytest.mark.parametrize(
    "data", [b"", b"hello", b"%PDF-1.7\n", b"\x1f\x8b", gzip.compress(b"hello" * 1000, mtime=0), bytes(5000)]
)
def test_other_files_do_not_look_like_archives(data: bytes) -> None:
    assert not looks_like_archive(io.BytesIO(data))
    assert Read(data).captures == []


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2024-03-01T10:00:00Z", AT),
        ("2024-03-01T10:00:00.250Z", AT + 0.25),
        ("2024-03-01T11:00:00+01:00", AT),
        ("20240301100000", AT),
        ("1960-01-01T00:00:00Z", None),
        ("9999-99-99T00:00:00Z", None),
        ("yesterday", None),
        ("", None),
    ],
)
def test_dates_are_read(text: str, at: float | None) -> None:
    assert unix_time(text) == at


def test_damage_in_a_plain_file_has_its_place() -> None:
    data = second(b"garbage\n" + FIVE[1])
    assert [damage.at for damage in Read(data).damaged] == [len(FIVE[0])]


@pytest.mark.parametrize("uri", ["http://example.org/a>", "<http://example.org/a>"])
def test_only_a_pair_of_brackets_is_not_part_of_a_url(uri: str) -> None:
    (url,) = Read(response(uri, b"x")).urls
    assert url == ("http://example.org/a" if uri.startswith("<") else "http://example.org/a%3E")


def test_a_record_without_a_length_is_kept_whole() -> None:
    assert [capture.response.body for capture in Read(second(unsized(None))).captures] == [page(n) for n in range(5)]
