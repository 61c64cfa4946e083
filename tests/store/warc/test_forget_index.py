"""Tests that a host is removed from WARC files whatever the state of their indexes: the records decide."""

import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from isal import isal_zlib

from goodbot.store.warc.warc_files import settle
from goodbot.values import RecordRef
from store.sqlite.test_forgetting import HOST, page
from store.warc.archive_samples import index_of, reader, warc_files, writer
from store.warc.test_warc_damage import checked, repaired
from store.warc.test_warc_index import check_index

OTHER = "b.example"
PAGES = 8


def lines_of(warc: Path) -> list[bytes]:
    return index_of(warc).read_bytes().splitlines(keepends=True)


def emptied(warc: Path) -> None:
    index_of(warc).write_bytes(b"")


def noise(warc: Path) -> None:
    index_of(warc).write_bytes(random.Random(1).randbytes(5000))


def cut_after_some_lines(warc: Path) -> None:
    index_of(warc).write_bytes(b"".join(lines_of(warc)[:PAGES]))  # sorted: those of the other host


def cut_within_a_line(warc: Path) -> None:
    data = index_of(warc).read_bytes()
    index_of(warc).write_bytes(data[: len(data) * 3 // 4])


def without_one_line(warc: Path) -> None:
    index_of(warc).write_bytes(b"".join(lines_of(warc)[:-1]))


def of_another_file(warc: Path) -> None:
    index_of(warc).write_bytes(index_of(warc_files(warc.parent)[0]).read_bytes())


def without_its_name(warc: Path) -> None:
    index_of(warc).write_bytes(index_of(warc).read_bytes().replace(HOST.encode(), b"somewhere"))


def with_a_line_too_many(warc: Path) -> None:
    index_of(warc).write_bytes(index_of(warc).read_bytes() + b'example,gone)/ 2026 {"url": "http://gone.example/\n')


def with_a_place_behind_the_end(warc: Path) -> None:
    index_of(warc).write_bytes(index_of(warc).read_bytes().replace(b'"offset": "', b'"offset": "9', 1))


def lengths_that_lead_over_others(warc: Path) -> None:
    lines = [line for line in lines_of(warc) if HOST.encode() not in line]
    index_of(warc).write_bytes(b"".join(line.replace(b'"length": "', b'"length": "9') for line in lines))


def gone(warc: Path) -> None:
    index_of(warc).unlink()


DAMAGE: list[Callable[[Path], None]] = [
    emptied,
    noise,
    cut_after_some_lines,
    cut_within_a_line,
    without_one_line,
    of_another_file,
    without_its_name,
    with_a_line_too_many,
    with_a_place_behind_the_end,
    lengths_that_lead_over_others,
    gone,
]
SEEN_BY_CHECK = [damage for damage in DAMAGE if damage not in (gone, without_its_name)]


@pytest.fixture
def kept(tmp_path: Path) -> list[RecordRef]:
    """Two files, each with captures of two hosts; the records of the host that stays."""
    records = []
    for _ in range(2):
        archive = writer(tmp_path)
        for number in range(PAGES):
            archive.put(page(HOST, number))
            records.append(archive.put(page(OTHER, number)))
        archive.close()
    return records


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda damage: damage.__name__)
def test_an_index_that_is_damaged_hides_nothing(
    tmp_path: Path, kept: list[RecordRef], damage: Callable[[Path], None]
) -> None:
    warc = warc_files(tmp_path)[1]
    damage(warc)
    archive = writer(tmp_path)
    assert archive.forget(HOST)[0] == 2 * PAGES
    assert archive.forget(HOST) == (0, 0)
    archive.close()
    assert [found.record for found in reader(tmp_path).captures()] == kept
    for file in warc_files(tmp_path):
        assert all(HOST.encode() not in data for data in (index_of(file).read_bytes(), *unpacked(file)))
        check_index(file)
    repaired(tmp_path)  # an index that knew more than the file has may have been right
    assert all(check.is_sound for check in checked(tmp_path))
    assert [found.record for found in reader(tmp_path).captures()] == kept


def unpacked(warc: Path) -> Iterator[bytes]:
    """What each member holds."""
    rest = warc.read_bytes()
    while rest:
        inflater = isal_zlib.decompressobj(31)
        yield inflater.decompress(rest)
        rest = inflater.unused_data


@pytest.mark.parametrize("damage", DAMAGE[:-1], ids=lambda damage: damage.__name__)
def test_an_index_of_a_file_without_the_host_is_made_anew_as_well(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    """It may name the host all the same."""
    for host in (HOST, OTHER):
        archive = writer(tmp_path)
        for number in range(PAGES):
            archive.put(page(host, number))
        archive.close()
    warc = warc_files(tmp_path)[1]
    damage(warc)
    archive = writer(tmp_path)
    assert archive.forget(HOST) == (PAGES, 0)
    archive.close()
    assert HOST.encode() not in index_of(warc).read_bytes()
    check_index(warc)


@pytest.mark.usefixtures("kept")
def test_files_without_the_host_are_not_written(tmp_path: Path) -> None:
    states = [(file, file.stat().st_mtime_ns, file.stat().st_ino) for file in tmp_path.iterdir()]
    archive = writer(tmp_path)
    assert archive.forget("nobody.example") == (0, 0)
    archive.close()
    assert [(file, file.stat().st_mtime_ns, file.stat().st_ino) for file in tmp_path.iterdir()] == states


def test_damage_of_file_and_index_together(tmp_path: Path, kept: list[RecordRef]) -> None:
    """What cannot be read is removed, counted and noted."""
    warc = warc_files(tmp_path)[1]
    data = bytearray(warc.read_bytes())
    middle = kept[-3].offset + 500
    data[middle : middle + 3000] = random.Random(2).randbytes(3000)
    warc.write_bytes(data)
    times = (index_of(warc).stat().st_mtime_ns - 1_000_000_000,) * 2
    os.utime(warc, ns=times)
    noise(warc)
    archive = writer(tmp_path)
    captures, dropped = archive.forget(HOST)
    assert (captures, dropped > 2000) == (2 * PAGES, True)
    archive.close()
    assert all(HOST.encode() not in data for file in warc_files(tmp_path) for data in unpacked(file))
    found = [found.record for found in reader(tmp_path).captures()]
    assert found == [record for record in kept if record != kept[-3]]
    check_index(warc)
    archive = writer(tmp_path)
    assert [gap.file for gap in archive.damage] == [warc.name]
    archive.close()


@pytest.mark.parametrize(
    "damage",
    [damage for damage in DAMAGE if damage not in (gone, without_its_name)],
    ids=lambda damage: damage.__name__,
)
def test_a_check_finds_it_and_a_repair_mends_it(
    tmp_path: Path, kept: list[RecordRef], damage: Callable[[Path], None]
) -> None:
    """It compares places, not names."""
    warc = warc_files(tmp_path)[1]
    damage(warc)
    assert [check.is_sound for check in checked(tmp_path)] == [True, False]
    found = [found.record for found in reader(tmp_path).captures()]
    assert len(found) == 2 * len(kept)
    repaired(tmp_path)
    assert all(check.is_sound for check in checked(tmp_path))
    settle(warc)
    check_index(warc)
