"""WACZ files of others: read, and refused where they are hostile; and those that goodbot writes."""

import gzip
import io
import json
import struct
import zipfile
from pathlib import Path

import pytest

from goodbot.store.foreign.wacz_writer import WaczPage, WaczWriter
from store.foreign.foreign_samples import Read, http, members, page, pages, record, response, wacz, zipped

FIVE = members(pages(5))
URLS = [f"http://example.org/{number}" for number in range(5)]
OTHERS = members(pages(2, "http://other.example"))


def test_all_warc_files_are_read_and_nothing_else() -> None:
    entries = [
        ("archive/a.warc.gz", FIVE),
        ("archive/b.warc", b"".join(pages(2, "http://other.example"))),
        ("indexes/index.cdx.gz", b"\x1f\x8b"),
        ("pages/pages.jsonl", b'{"format": "json-pages-1.0", "id": "pages"}\n{"url": "http://example.org/0"}\n'),
        ("pages/extraPages.jsonl", b"{}\n"),
    ]
    found = Read(wacz(entries))
    assert (found.urls, found.damaged) == ([*URLS, "http://other.example/0", "http://other.example/1"], [])


def test_deflated_entries_are_read() -> None:
    found = Read(wacz([("archive/a.warc.gz", FIVE)], zipfile.ZIP_DEFLATED))
    assert (found.urls, found.damaged) == (URLS, [])


def link(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = 0o120777 << 16
    return info


HOSTILE = [
    ("../archive/x.warc.gz", "leads out"),
    ("archive/../../x.warc.gz", "leads out"),
    ("/archive/x.warc.gz", "leads out"),
    ("archive\\..\\x.warc.gz", "leads out"),
    ("C:/archive/x.warc.gz", "leads out"),
    (link("archive/x.warc.gz"), "symbolic link"),
]


@pytest.mark.parametrize(("name", "what"), HOSTILE)
def test_hostile_entries_are_refused_and_the_others_read(name: str | zipfile.ZipInfo, what: str) -> None:
    found = Read(zipped([("archive/a.warc.gz", FIVE), (name, OTHERS)]))
    assert found.urls == URLS
    assert len(found.damaged) == 1
    assert what in found.whats[0]


@pytest.mark.parametrize("name", ["archive\\a.warc.gz", "./archive/a.warc.gz", "archive//./a.warc.gz"])
def test_unusual_names_are_read_once(name: str) -> None:
    assert Read(wacz([(name, FIVE)])).urls == URLS
    twice = Read(zipped([("archive/a.warc.gz", FIVE), (name, OTHERS)]))
    assert (twice.urls, twice.whats) == (URLS, ["its name occurs twice in the ZIP file"])


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_second_entry_of_a_name_is_refused() -> None:
    found = Read(zipped([("archive/a.warc.gz", FIVE), ("archive/a.warc.gz", OTHERS)]))
    assert (found.urls, found.whats) == (URLS, ["its name occurs twice in the ZIP file"])


def test_an_encrypted_entry_is_refused() -> None:
    data = bytearray(zipped([("archive/a.warc.gz", FIVE), ("archive/b.warc.gz", OTHERS)]))
    second = data.rindex(b"PK\x01\x02")
    data[second + 8] |= 1
    found = Read(bytes(data))
    assert (found.urls, found.whats) == (URLS, ["it is encrypted"])


def test_entries_that_overlap_are_refused() -> None:
    """The form of a ZIP bomb whose entries share their data."""
    data = bytearray(zipped([("archive/a.warc.gz", FIVE), ("archive/b.warc.gz", OTHERS)]))
    second = data.rindex(b"PK\x01\x02")
    data[second + 42 : second + 46] = struct.pack("<I", 1)
    found = Read(bytes(data))
    assert (found.urls, found.whats) == (URLS, ["it overlaps with another entry of the ZIP file"])


@pytest.mark.parametrize("kept", [0.3, 0.7, 0.99])
def test_what_is_left_of_a_torn_zip_file_is_read(kept: float) -> None:
    data = wacz([(f"archive/{number}.warc.gz", members([one])) for number, one in enumerate(pages(20))])
    found = Read(data[: int(len(data) * kept)])
    assert found.urls == [f"http://example.org/{number}" for number in range(len(found.urls))]
    assert 20 * kept * 0.6 < len(found.urls) <= 20
    assert "the ZIP directory is missing" in found.whats[0]


def test_a_flipped_bit_in_an_entry_costs_one_record() -> None:
    data = bytearray(wacz([("archive/a.warc.gz", FIVE)]))
    data[100] ^= 0x55
    found = Read(bytes(data))
    assert found.urls == URLS[1:]
    assert found.damaged


@pytest.mark.parametrize("mark", [b"PK\x01\x02", b"PK\x03\x04"], ids=["directory", "header of an entry"])
def test_a_damaged_zip_file_is_reported(mark: bytes) -> None:
    data = bytearray(wacz([("archive/a.warc.gz", FIVE), ("archive/b.warc.gz", OTHERS)]))
    at = data.index(mark, 10)
    data[at : at + 2] = b"XX"
    found = Read(bytes(data))
    assert found.damaged
    assert found.urls


def test_a_wrong_digest_of_a_file_is_reported_and_the_file_read() -> None:
    stated = {"resources": [{"path": "archive/a.warc.gz", "hash": "sha256:" + "0" * 64, "bytes": 1}]}
    found = Read(zipped([("archive/a.warc.gz", FIVE), ("datapackage.json", json.dumps(stated).encode())]))
    assert found.urls == URLS
    assert found.whats == ["its SHA-256 is not the one that datapackage.json states"]


@pytest.mark.parametrize(
    "description", [b"", b"[]", b"{}", b'{"resources": 7}', b'{"resources": [1]}', b"[" * 100_000, b"\xff"]
)
def test_any_description_will_do(description: bytes) -> None:
    found = Read(zipped([("archive/a.warc.gz", FIVE), ("datapackage.json", description)]))
    assert (found.urls, found.whats) == (URLS, ["it cannot be read, so digests of files are not compared"])


def test_an_empty_zip_file_has_nothing() -> None:
    found = Read(zipped([]))
    assert (found.urls, found.damaged) == ([], [])


def test_a_collection_of_wacz_files_says_what_to_do() -> None:
    found = Read(zipped([("archive/one.wacz", wacz([("archive/a.warc.gz", FIVE)]))]))
    assert found.urls == []
    assert "import those files instead" in found.whats[0]


def test_a_huge_directory_is_not_loaded() -> None:
    data = bytearray(zipped([("archive/a.warc.gz", FIVE)]))
    end = data.rindex(b"PK\x05\x06")
    data[end + 12 : end + 16] = struct.pack("<I", 0x7FFFFFFF)
    found = Read(bytes(data))
    assert found.urls == URLS
    assert "the ZIP directory is too long" in found.whats[0]


# ---- writing --------------------------------------------------------------------------------------------------------


def entry(number: int) -> str:
    return f'org,example)/{number:05} 20240301100000 {{"url": "http://example.org/{number}"'


def test_a_file_is_written_that_can_be_read(tmp_path: Path) -> None:
    out = io.BytesIO()
    writer = WaczWriter(out, tmp_path, "goodbot/test", 1_709_287_200.0)
    with writer.warc("a.warc.gz") as warc:
        for number in reversed(range(7000)):
            warc.add([members([response(f"http://example.org/{number}", page(number))])], entry(number))
    writer.finish([WaczPage("1", "http://example.org/1", 1_709_287_200.5, "Pag\u00e9")])
    found = Read(out.getvalue())
    assert (len(found.urls), found.damaged) == (7000, [])
    with zipfile.ZipFile(out) as archive:
        assert archive.testzip() is None
        assert archive.getinfo("archive/a.warc.gz").compress_type == zipfile.ZIP_STORED
        lines = archive.read("pages/pages.jsonl").splitlines()
        index = archive.read("indexes/index.cdx.gz")
        secondary = archive.read("indexes/index.idx").decode().splitlines()
        stated = json.loads(archive.read("datapackage.json"))
    assert json.loads(lines[0])["format"] == "json-pages-1.0"
    expected = {"id": "1", "url": "http://example.org/1", "ts": "2024-03-01T10:00:00Z", "title": "Pag\u00e9"}
    assert json.loads(lines[1]) == expected
    assert [one["path"] for one in stated["resources"]] == [
        "archive/a.warc.gz",
        "indexes/index.cdx.gz",
        "indexes/index.idx",
        "pages/pages.jsonl",
    ]
    assert secondary[0] == '!meta 0 {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}'
    assert len(secondary) == 4
    listed = gzip.decompress(index).decode().splitlines()
    assert listed == sorted(listed)
    assert len(listed) == 7000
    for line in secondary[1:]:
        key, time, value = line.split(" ", 2)
        place = json.loads(value)
        block = gzip.decompress(index[place["offset"] : place["offset"] + place["length"]]).decode()
        assert block.startswith(f"{key} {time} ")
    last = json.loads(listed[-1].split(" ", 2)[2])
    at, length = int(last["offset"]), int(last["length"])
    with zipfile.ZipFile(out) as archive:
        warc_data = archive.read("archive/a.warc.gz")
    assert Read(warc_data[at : at + length]).urls == ["http://example.org/6999"]


def test_an_entry_without_records_is_an_empty_file() -> None:
    found = Read(wacz([("archive/a.warc.gz", b"")]))
    assert (found.urls, found.damaged) == ([], [])


def test_a_record_of_another_kind_is_read_over() -> None:
    found = Read(
        wacz([("archive/a.warc.gz", members([record("warcinfo", b"x: y"), record("response", http(b"x"), URLS[0])]))])
    )
    assert (found.urls, found.others) == (URLS[:1], 1)


def test_warc_files_that_are_not_read_are_listed() -> None:
    """Those in other folders, and those that the description lists but the file lacks."""
    entries = [("archive/a.warc.gz", FIVE), ("archive/sub/b.warc.gz", OTHERS)]
    description = {"resources": [{"path": "archive/c.warc.gz", "hash": "sha256:" + "0" * 64}]}
    found = Read(zipped([*entries, ("datapackage.json", json.dumps(description).encode())]))
    assert found.urls == URLS
    assert [(damage.entry, damage.what) for damage in found.damaged] == [
        ("archive/c.warc.gz", "datapackage.json lists it, but it is missing"),
        ("archive/sub/b.warc.gz", "it is not read, because it is not in the folder archive/"),
    ]
