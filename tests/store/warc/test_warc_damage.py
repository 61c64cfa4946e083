"""Damaged archives: reading goes on behind damage, checks find it, repairs put the files in order, and nothing that can
be read is ever removed."""

import io
import os
import random
import shutil
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from fastwarc.warc import ArchiveIterator as FastIterator
from hypothesis import given
from hypothesis import strategies as st
from isal import isal_zlib
from warcio.archiveiterator import ArchiveIterator

from goodbot.archive_values import DamagedRange
from goodbot.store.warc import warc_check, warc_survey
from goodbot.store.warc.warc_check import FileCheck
from goodbot.store.warc.warc_reader import MEMBER_START, read_member
from goodbot.store.warc.warc_survey import responses, survey
from goodbot.values import Capture, RecordRef, Response
from store.warc.archive_samples import (
    capture,
    index_of,
    leave_as_killed,
    member_ends,
    numbered,
    only_file,
    reader,
    writer,
)
from store.warc.test_warc_index import check_index

COUNT = 12


@pytest.fixture
def kept(tmp_path: Path) -> dict[RecordRef, Capture]:
    """Twelve captures in one file of `tmp_path`, whose writer has closed it."""
    archive = writer(tmp_path)
    records = {archive.put(numbered(number)): numbered(number) for number in range(COUNT)}
    archive.close()
    return records


def overwrite(warc: Path, start: int, data: bytes, *, silently: bool = False) -> None:
    """As a broken disk does; `silently`: the file is not newer for it."""
    times = warc.stat().st_atime_ns, warc.stat().st_mtime_ns
    with warc.open("r+b") as file:
        file.seek(start)
        file.write(data)
    if silently:
        os.utime(warc, ns=times)
    else:
        age_indexes(warc.parent)


def age_indexes(folder: Path) -> None:
    """Files written within one tick of the clock have one time: the indexes are a second older."""
    for index in folder.glob("*.cdxj"):
        os.utime(index, ns=(index.stat().st_mtime_ns - 1_000_000_000,) * 2)


def checked(folder: Path) -> list[FileCheck]:
    return list(reader(folder).check(lambda done, size: None))


def repaired(folder: Path) -> None:
    archive = writer(folder)
    for file in archive.check(lambda done, size: None):
        if not file.is_sound:
            archive.repair(file)
    archive.close()


def read(folder: Path) -> tuple[list[RecordRef], list[DamagedRange]]:
    gaps: list[DamagedRange] = []
    return [archived.record for archived in reader(folder).captures(gaps.append)], gaps


DAMAGE: dict[str, Callable[[int], bytes]] = {
    "noise": lambda length: random.Random(length).randbytes(length),
    "zeros": bytes,
    "beginnings of members": lambda length: (MEMBER_START * length)[:length],
    "a member inside": lambda length: isal_zlib.compress(b"x" * 100, 0, 31).ljust(length, b"\1")[:length],
}


@pytest.mark.parametrize("silently", [True, False])
@pytest.mark.parametrize("indexed", [True, False])
@pytest.mark.parametrize("name", DAMAGE)
def test_3000_bytes_in_the_middle_cost_only_the_records_they_lie_in(
    tmp_path: Path, kept: dict[RecordRef, Capture], name: str, indexed: bool, silently: bool
) -> None:
    warc = only_file(tmp_path)
    content = warc.read_bytes()
    start = len(content) // 2
    overwrite(warc, start, DAMAGE[name](3000), silently=silently)
    ends = [0, *member_ends(content)]
    hit = [begin for begin, end in pairwise(ends) if begin < start + 3000 and end > start]
    sound = [record for record in kept if record.offset not in hit]
    if not indexed:
        index_of(warc).unlink()
    found, gaps = read(tmp_path)
    assert found == sound
    assert [gap.start for gap in gaps] == hit[:1]
    (check,) = checked(tmp_path)
    assert check.gaps == gaps
    assert list(check.captures) == [record.offset for record in sound]
    assert check.lost == (len(kept) - len(sound) if indexed else 0)
    assert not check.is_sound
    pieces = b"".join(reader(tmp_path).export()[1])
    assert len(list(ArchiveIterator(io.BytesIO(pieces)))) == len(ends) - 1 - len(hit)
    repaired(tmp_path)
    (check,) = checked(tmp_path)
    assert check.is_sound
    assert (warc.stat().st_size, list(check.captures)) == (len(content), [record.offset for record in sound])
    assert all(reader(tmp_path).read(record).response == kept[record].result for record in sound)
    check_index(warc)
    with warc.open("rb") as stream:
        assert len(list(FastIterator(stream, verify_digests=True))) == len(ends) - 1 - len(hit)
    (aside,) = (tmp_path / "damaged").iterdir()
    assert (
        aside.read_bytes() == content[gaps[0].start : start] + DAMAGE[name](3000) + content[start + 3000 : gaps[0].end]
    )


@pytest.mark.parametrize("at_an_end", [True, False])
@pytest.mark.parametrize("silently", [True, False])
def test_a_file_cut_in_half_is_no_torn_file(
    tmp_path: Path, kept: dict[RecordRef, Capture], silently: bool, at_an_end: bool
) -> None:
    warc = only_file(tmp_path)
    content = warc.read_bytes()
    ends = member_ends(content)
    length = ends[len(ends) // 2] if at_an_end else len(content) // 2
    times = warc.stat().st_atime_ns, warc.stat().st_mtime_ns
    os.truncate(warc, length)
    if silently:
        os.utime(warc, ns=times)
    else:
        age_indexes(tmp_path)
    sound = [record for record in kept if any(end <= length for end in ends if end > record.offset)]
    for _ in range(2):
        found, gaps = read(tmp_path)
        assert found == sound
        assert (len(gaps), gaps[0].end > length) == (1, True), "the index knows how long the file was"
        archive = writer(tmp_path)  # cuts nothing off, and remembers
        assert archive.damage == ([] if silently else gaps)
        assert archive.missing({warc.name: max(record.offset for record in kept)})
        assert archive.missing({warc.name: sound[-1].offset}) == []
        archive.close()
        assert warc.stat().st_size == length
    (check,) = checked(tmp_path)
    assert check.lost == len(kept) - len(sound)
    repaired(tmp_path)
    assert read(tmp_path) == (sound, [])
    assert checked(tmp_path)[0].is_sound
    check_index(warc)


def test_a_file_that_is_missing_is_noticed(tmp_path: Path) -> None:
    archive = writer(tmp_path)
    (gap,) = archive.missing({"goodbot-20260101000000-00007.warc.gz": 100})
    assert (gap.start, gap.end, gap.what) == (0, 100, "there is no such file")
    archive.close()


def test_damage_in_a_file_left_by_a_kill_is_no_torn_end(tmp_path: Path, kept: dict[RecordRef, Capture]) -> None:
    """Also if what is damaged seems to go on to the end of the file: whole records behind it are kept."""
    warc = only_file(tmp_path)
    content = warc.read_bytes()
    place = [*kept][5].offset
    forged = MEMBER_START + b"\0\xff" + b"\0\xff\xff\0\0"  # a stored block of 65,535 bytes
    leave_as_killed(warc, content[:place] + forged + content[place + len(forged) :] + b"\x1f\x8b torn")
    found, gaps = read(tmp_path)
    assert found == [record for record in kept if record.offset != place]
    assert [gap.start for gap in gaps] == [place]
    archive = writer(tmp_path)
    assert archive.damage == gaps
    archive.close()
    assert warc.stat().st_size == len(content), "the torn end is cut off, and nothing else"


def test_where_a_checksum_is_wrong_the_member_ends_where_its_data_do(tmp_path: Path) -> None:
    """A page that is an archive itself, stored as it came: what it holds is never taken for captures of ours."""
    inner = writer(tmp_path / "inner")
    inner.put(capture(Response(200, (), b"forged"), "http://bank.example/"))
    inner.close()
    page = b"HTTP/1.1 200 OK\r\n\r\n" + only_file(tmp_path / "inner").read_bytes()
    head = b"WARC/1.1\r\nWARC-Type: response\r\nContent-Length: %d\r\n\r\n" % len(page)
    data = head + page + b"\r\n\r\n"
    stored = b"\1" + len(data).to_bytes(2, "little") + (len(data) ^ 0xFFFF).to_bytes(2, "little") + data
    outer = MEMBER_START + b"\0\xff" + stored + bytes(8)
    behind = only_file(tmp_path / "inner").read_bytes()
    (found,) = [item for item in survey(io.BytesIO(outer + behind), "x", read_member) if isinstance(item, DamagedRange)]
    assert (found.start, found.end) == (0, len(outer))


def test_an_index_that_does_not_agree_is_made_anew(tmp_path: Path, kept: dict[RecordRef, Capture]) -> None:
    index = index_of(only_file(tmp_path))
    lines = index.read_bytes().splitlines(keepends=True)
    index.write_bytes(b"".join(lines[1:]))
    (check,) = checked(tmp_path)
    assert (check.index_is_true, check.gaps, check.is_sound) == (False, [], False)
    repaired(tmp_path)
    assert index.read_bytes() == b"".join(lines)
    assert not (tmp_path / "damaged").exists()
    assert checked(tmp_path)[0].is_sound


@pytest.mark.parametrize(("module", "step"), [(shutil, "copyfile"), (warc_check, "fill"), (warc_check, "settle")])
def test_a_repair_cut_off_in_between_is_done_by_the_next(
    tmp_path: Path, kept: dict[RecordRef, Capture], monkeypatch: pytest.MonkeyPatch, module: object, step: str
) -> None:
    warc = only_file(tmp_path)
    overwrite(warc, warc.stat().st_size // 2, bytes(3000))
    sound, _ = read(tmp_path)

    def cut(*arguments: object) -> None:
        if step == "copyfile":
            Path(str(arguments[1])).write_bytes(b"half")
        raise KeyboardInterrupt

    archive = writer(tmp_path)
    (file,) = archive.check(lambda done, size: None)
    with monkeypatch.context() as patched:
        patched.setattr(module, step, cut)
        with pytest.raises(KeyboardInterrupt):
            archive.repair(file)
    archive.close()
    assert read(tmp_path)[0] == sound
    repaired(tmp_path)
    assert read(tmp_path) == (sound, [])
    assert checked(tmp_path)[0].is_sound
    assert sorted(path.suffix for path in tmp_path.iterdir()) == ["", ".cdxj", ".gz"]


def test_a_digest_that_is_another_is_damage(tmp_path: Path) -> None:
    archive = writer(tmp_path)
    archive.put(capture(Response(200, (), b"what it was"), "http://example.org/"))
    archive.put(numbered(1))
    archive.close()
    warc = only_file(tmp_path)
    content = warc.read_bytes()
    ends = member_ends(content)
    forged = isal_zlib.decompress(content[ends[0] : ends[1]], 31).replace(b"what it was", b"what it is.")
    leave_as_killed(warc, content[: ends[0]] + isal_zlib.compress(forged, 1, 31) + content[ends[1] :])
    (check,) = checked(tmp_path)
    assert [(gap.start, gap.what) for gap in check.gaps] == [(ends[0], "its digest does not match")]
    repaired(tmp_path)
    assert checked(tmp_path)[0].is_sound
    assert len(read(tmp_path)[0]) == 1


def test_repeats_of_a_payload_that_is_lost_are_lost_as_well(tmp_path: Path) -> None:
    archive = writer(tmp_path)
    same = Response(200, (), random.Random(1).randbytes(5000))
    first, again = (archive.put(capture(same, f"http://example.org/{number}")) for number in range(2))
    other = archive.put(numbered(3))
    archive.close()
    overwrite(only_file(tmp_path), first.offset + 3000, bytes(100))
    (check,) = checked(tmp_path)
    assert sorted(gap.start for gap in check.gaps) == [first.offset, again.offset]
    assert (check.lost, list(check.captures)) == (2, [other.offset])
    repaired(tmp_path)
    assert checked(tmp_path)[0].is_sound
    assert read(tmp_path) == ([other], [])


def test_a_torn_end_that_is_being_written_is_no_damage(tmp_path: Path) -> None:
    archive = writer(tmp_path)
    record = archive.put(numbered(1))
    archive.flush()
    with only_file(tmp_path).open("ab") as file:
        file.write(MEMBER_START + b"half")
    (check,) = checked(tmp_path)
    assert (check.is_sound, list(check.captures)) == (True, [record.offset])
    archive.close()


PARTS = st.sampled_from([MEMBER_START + b"\0\xff", b"\0\xff\xff\0\0", b"WARC/1.1\r\n", b"\0", b"\3\0"])


@given(st.lists(PARTS | st.binary()))
def test_any_bytes_before_a_record_cost_none_behind(parts: list[bytes]) -> None:
    record = isal_zlib.compress(b"WARC/1.1\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n\r\n", 1, 31)
    data = b"".join(parts)
    items = list(survey(io.BytesIO(data + record), "x", read_member))
    last = items[-1]
    assert not isinstance(last, DamagedRange)
    assert (last[0].offset, last[1].end) == (len(data), len(data) + len(record))


def test_beginnings_made_to_be_read_again_and_again_take_linear_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each begins a record that goes on to the end of the file, in stored blocks that all lead to the same end."""
    begin = MEMBER_START + b"\0\xff" + b"\0\x0b\0\xf4\xff" + b"WARC/1.1\r\nC"
    monkeypatch.setattr(warc_survey, "_MAX_SPENT_BYTES", 100_000)
    hop = b"\0" + len(begin).to_bytes(2, "little") + (len(begin) ^ 0xFFFF).to_bytes(2, "little")
    count = 20_000
    data = b"".join([begin + hop] * count)
    file = Counted(data)
    gaps: list[DamagedRange] = []
    assert list(responses(file, survey(file, "x", read_member), gaps.append)) == []
    assert [(gap.start, gap.end) for gap in gaps] == [(0, len(data))]
    assert file.taken < 200 * len(data), "a thousand bytes for each that is tried, and a share of what they lead to"


class Counted(io.BytesIO):
    taken = 0

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(size)
        self.taken += len(data)
        return data
