"""Tests WARC files after a kill, a full disk, damage: flushed records stay, a torn end is cut off, the index agrees."""

import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from goodbot.archive_values import DamagedRange
from goodbot.errors import DamagedError, RunError
from goodbot.values import RecordRef, Response
from store.warc.archive_samples import (
    capture,
    index_of,
    leave_as_killed,
    member_ends,
    numbered,
    only_file,
    reader,
    warc_files,
    writer,
)
from store.warc.test_warc_index import check_index


@pytest.fixture
def small(tmp_path: Path) -> Path:
    archive = writer(tmp_path)
    for number in range(3):
        archive.put(capture(Response(200, (), b"%d" % number)))
    archive.close()
    return only_file(tmp_path)


def test_wherever_a_file_was_torn_whole_members_stay_and_the_rest_is_cut(small: Path) -> None:
    content = small.read_bytes()
    ends = member_ends(content)
    for length in range(1, len(content), 7):
        leave_as_killed(small, content[:length])
        whole = max((end for end in ends if end <= length), default=0)
        kept = sum(end <= length for end in ends[1::2])
        assert len(list(reader(small.parent).captures())) == kept
        archive = writer(small.parent)
        archive.close()
        assert archive.damage == []
        assert (small.read_bytes() if small.exists() else b"") == content[:whole]


def test_zeros_after_the_last_member_are_cut(small: Path) -> None:
    content = small.read_bytes()
    leave_as_killed(small, content[:-10] + bytes(5000))
    writer(small.parent).close()
    assert small.read_bytes() == content[: member_ends(content)[-2]]


def test_damage_before_other_members_is_told_and_nothing_is_cut(small: Path) -> None:
    small_bytes = small.read_bytes()
    content = bytearray(small_bytes)
    place = member_ends(small_bytes)[2]
    content[place + 40] ^= 0xFF
    leave_as_killed(small, bytes(content))
    archive = writer(small.parent)
    assert small.read_bytes() == content
    gaps: list[DamagedRange] = []
    assert [archived.response.body for archived in archive.captures(gaps.append)] == [b"0", b"2"]
    assert gaps == archive.damage
    ((file, start, end, what),) = gaps
    assert (file, start, end) == (small.name, place, member_ends(small_bytes)[3])
    assert what
    with pytest.raises(DamagedError, match=f"{small.name} is damaged at byte {place}: "):
        archive.read(RecordRef(small.name, place))
    archive.close()


def test_a_record_that_is_no_response_is_not_read(small: Path) -> None:
    with pytest.raises(DamagedError, match="damaged at byte 0: this is not a response record"):
        reader(small.parent).read(RecordRef(small.name, 0))


@pytest.fixture
def start_writer(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: str) -> subprocess.Popen[str]:
        script = Path(__file__).with_name("archive_samples.py")
        command = [sys.executable, str(script), str(tmp_path / "warc"), *arguments]
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        with process:
            pass  # waits, and closes its pipe


def flushed_records(lines: list[str]) -> dict[RecordRef, int]:
    words = (line.split() for line in lines if line.endswith("\n"))
    return {RecordRef(name, int(offset)): int(number) for name, offset, number in words}


@pytest.mark.long
def test_what_was_flushed_survives_a_kill_at_any_moment(
    tmp_path: Path, start_writer: Callable[..., subprocess.Popen[str]]
) -> None:
    flushed: dict[RecordRef, int] = {}
    for moment in range(4):
        process = start_writer()
        assert process.stdout is not None
        lines = [process.stdout.readline()]
        time.sleep(random.Random(moment).uniform(0, 0.2))
        process.kill()
        lines += process.communicate()[0].splitlines(keepends=True)
        flushed |= flushed_records(lines)
        writer(tmp_path / "warc").close()
    for path in warc_files(tmp_path / "warc"):
        member_ends(path.read_bytes())
        check_index(path)
    archive = reader(tmp_path / "warc")
    for record, number in flushed.items():
        assert archive.read(record).response == numbered(number).result
    assert flushed.keys() <= {item.record for item in archive.captures()}


def test_a_full_disk_is_one_clear_error_and_what_was_flushed_is_kept(
    tmp_path: Path, start_writer: Callable[..., subprocess.Popen[str]]
) -> None:
    process = start_writer("1000000")
    *lines, last = process.communicate()[0].splitlines(keepends=True)
    assert process.returncode == 0
    assert last == f"error cannot write the archive {tmp_path / 'warc'}: File too large\n"
    archive = writer(tmp_path / "warc")
    assert lines
    for record, number in flushed_records(lines).items():
        assert archive.read(record).response == numbered(number).result
    archive.close()
    member_ends(only_file(tmp_path / "warc").read_bytes())
    check_index(only_file(tmp_path / "warc"))


def test_a_folder_that_cannot_be_made_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(RunError, match=r"cannot write the archive .*: Not a directory"):
        writer(tmp_path / "file" / "warc")
    with pytest.raises(RunError, match=r"cannot write the archive .*: File exists"):
        writer(tmp_path / "file")


def test_where_the_index_cannot_be_written_it_is_one_clear_error_and_made_next_time(tmp_path: Path) -> None:
    archive = writer(tmp_path)
    record = archive.put(numbered(1))
    obstacle = index_of(only_file(tmp_path))
    obstacle.mkdir()
    with pytest.raises(RunError, match=r"cannot write the archive .*: Is a directory"):
        archive.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([obstacle.name, record.file])
    obstacle.rmdir()
    again = writer(tmp_path)
    assert again.read(record).response == numbered(1).result
    again.close()
    check_index(tmp_path / record.file)


def test_once_refused_the_disk_is_not_asked_again(tmp_path: Path) -> None:
    archive = writer(tmp_path / "warc", size_limit_bytes=1)
    archive.put(numbered(1))
    (tmp_path / "warc").rename(tmp_path / "gone")  # the next file cannot be made
    for _ in range(2):
        with pytest.raises(RunError, match=r"cannot write the archive .*warc: No such file or directory"):
            archive.put(numbered(2))
        with pytest.raises(RunError):
            archive.flush()
    archive.close()
