"""What a killed import has written to the archive without committing it is cut off."""

from pathlib import Path

from goodbot.store.warc.warc_files import cut_back
from store.warc.archive_samples import index_of, leave_as_killed, numbered, only_file, reader, warc_files, writer


def numbers(folder: Path) -> list[str | None]:
    return [kept.response.header("x-number") for kept in reader(folder).captures()]


def killed_after(folder: Path, committed: int, written: int) -> tuple[str, int]:
    """An archive of a run that was killed when `committed` of its captures were; returns where it ended then."""
    archive = writer(folder)
    end = archive.written_to()
    for number in range(written):
        archive.put(numbered(number))
        if number + 1 == committed:
            archive.flush()
            end = archive.written_to()
    archive.close()
    last = warc_files(folder)[-1]
    leave_as_killed(last, last.read_bytes())
    return end


def test_what_was_not_committed_goes(tmp_path: Path) -> None:
    end = killed_after(tmp_path, 2, 5)
    cut_back(tmp_path, *end)
    assert numbers(tmp_path) == ["0", "1"]
    assert only_file(tmp_path).stat().st_size == end[1]
    writer(tmp_path).close()
    assert index_of(only_file(tmp_path)).exists()


def test_a_first_file_goes_if_nothing_was_committed(tmp_path: Path) -> None:
    end = killed_after(tmp_path, 0, 3)
    assert end == ("", 0)
    cut_back(tmp_path, *end)
    assert warc_files(tmp_path) == []


def test_a_file_of_an_earlier_run_stays(tmp_path: Path) -> None:
    archive = writer(tmp_path)
    archive.put(numbered(7))
    archive.close()
    before = only_file(tmp_path).read_bytes()
    end = killed_after(tmp_path, 0, 3)
    assert end == (warc_files(tmp_path)[0].name, len(before))
    cut_back(tmp_path, *end)
    assert only_file(tmp_path).read_bytes() == before
    assert index_of(only_file(tmp_path)).exists()


def test_nothing_is_cut_off_after_another_run(tmp_path: Path) -> None:
    end = killed_after(tmp_path, 2, 5)
    archive = writer(tmp_path)
    archive.put(numbered(9))
    archive.close()
    cut_back(tmp_path, *end)
    assert numbers(tmp_path) == ["0", "1", "2", "3", "4", "9"]


def test_a_file_that_is_shorter_or_missing_stays_as_it_is(tmp_path: Path) -> None:
    name, size = killed_after(tmp_path, 2, 5)
    content = only_file(tmp_path).read_bytes()
    cut_back(tmp_path, name, len(content) + 1)
    assert only_file(tmp_path).read_bytes() == content
    only_file(tmp_path).unlink()
    cut_back(tmp_path, name, size)
    assert warc_files(tmp_path) == []
