"""Archives whose files are moved to a place: they are read, checked, repaired and changed there as in their folder."""

import json
import random
import shutil
import threading
from itertools import count
from pathlib import Path
from uuid import uuid4

import pytest
from warcio.archiveiterator import ArchiveIterator

from goodbot.archive_values import FILE_MISSING, DamagedRange
from goodbot.errors import DamagedError, RunError
from goodbot.places.opening import open_place
from goodbot.store.warc import archive_files, moved_note
from goodbot.store.warc.archive_files import ArchiveFiles, place_of
from goodbot.store.warc.moved_note import MovedNote, save_note
from goodbot.store.warc.warc_archive import WarcArchive
from goodbot.store.warc.warc_forget import Removed, forget_host
from goodbot.values import Capture, RecordRef, Response
from store.warc.archive_samples import StillClock, capture, numbered, reader, warc_files, writer
from store.warc.place_samples import Killed, SamplePlace, Steps, move_all, moving_writer, opener, rest_moved
from store.warc.test_warc_damage import checked, read, repaired

HOSTS = ("a.example", "b.example")


@pytest.fixture(params=["folder", "fsspec memory", "fsspec local"])
def url(tmp_path: Path, request: pytest.FixtureRequest) -> str:
    names = {
        "folder": f"file://{tmp_path}/a%20place",
        "fsspec memory": f"memory://{uuid4().hex}/place",
        "fsspec local": f"local://{tmp_path}/place",
    }
    return names[request.param]


def page(number: int) -> Capture:
    """A page of one of two hosts; every third file has only pages of the second."""
    host = HOSTS[1] if number % 12 < 4 else HOSTS[number % 2]
    body = b"of %s: %d " % (host.encode(), number) + random.Random(number).randbytes(3000)
    return capture(Response(200, (("X-Number", str(number)),), body), f"http://{host}/{number}")


def filled(folder: Path, pages: int = 24) -> dict[RecordRef, Capture]:
    """Writes files of four pages each."""
    archive = writer(folder, size_limit_bytes=14_000)
    records = {archive.put(page(number)): page(number) for number in range(pages)}
    archive.close()
    assert len(warc_files(folder)) == -(-pages // 4)
    return records


def names_at(url: str) -> dict[str, int]:
    return open_place(url).list("")


def note_of(folder: Path, name: str) -> dict[str, object]:
    noted: dict[str, object] = json.loads((folder / name.replace(".warc.gz", ".moved")).read_bytes())
    return noted


def everything_in(folder: Path, url: str) -> bytes:
    """All uncompressed records, here and at the place."""
    place, parts = open_place(url), list[bytes]()
    for name, size in place.list("").items():
        (folder.parent / "one").write_bytes(place.read(name, 0, size) or b"")
        parts.append(
            (folder.parent / "one").read_bytes() if name.endswith(".cdxj") else records_of(folder.parent / "one")
        )
    parts += [records_of(path) for path in warc_files(folder)]
    parts += [path.read_bytes() for path in folder.glob("*.cdxj")]
    return b"".join(parts)


def records_of(path: Path) -> bytes:
    with path.open("rb") as file:
        return b"".join(
            record.rec_headers.to_str().encode() + record.content_stream().read() for record in ArchiveIterator(file)
        )


def check_readable(folder: Path, records: dict[RecordRef, Capture]) -> None:
    archive = reader(folder)
    assert {archived.record for archived in archive.captures()} == set(records)
    for record, kept in records.items():
        assert archive.read(record).response == kept.result


def test_files_are_read_where_they_were_moved(tmp_path: Path, url: str) -> None:
    folder = tmp_path / "warc"
    records = filled(folder)
    sizes = {path.name: path.stat().st_size for path in warc_files(folder)}
    before = b"".join(reader(folder).export()[1])
    move_all(folder, url)
    assert warc_files(folder) == []
    there = names_at(url)
    assert {name: size for name, size in there.items() if name.endswith(".gz")} == sizes
    assert len([name for name in there if name.endswith(".cdxj")]) == len(sizes)
    for name, size in sizes.items():
        noted = note_of(folder, name)
        assert (noted["url"], noted["bytes"], noted["whole"]) == (f"{url}/{name}", size, True)
    check_readable(folder, records)
    archive = reader(folder)
    total, pieces = archive.export()
    assert (total, b"".join(pieces)) == (len(before), before)
    assert all(check.is_sound for check in checked(folder))
    assert archive.missing(dict.fromkeys(sizes, 100)) == []
    archive.close()


def test_opening_for_writing_leaves_moved_files_and_their_names(tmp_path: Path, url: str) -> None:
    records = filled(tmp_path / "warc")
    move_all(tmp_path / "warc", url)
    archive = writer(tmp_path / "warc")
    assert archive.damage == []
    record = archive.put(numbered(1))
    archive.close()
    assert record.file.endswith("-00006.warc.gz")
    check_readable(tmp_path / "warc", records | {record: numbered(1)})


def test_a_crawl_moves_each_file_when_it_is_finished(tmp_path: Path) -> None:
    url = f"file://{tmp_path}/place"
    place = SamplePlace(url)
    archive = moving_writer(tmp_path / "warc", url, place, 14_000)
    records = {archive.put(page(number)): page(number) for number in range(10)}
    archive.flush()
    assert rest_moved(archive) is None
    assert warc_files(tmp_path / "warc") == []
    assert all(name.endswith(("-0123abcd.warc.gz", "-0123abcd.cdxj")) for name in names_at(url))
    records[archive.put(page(10))] = page(10)
    for record, kept in records.items():
        assert archive.read(record).response == kept.result
    archive.close()
    check_readable(tmp_path / "warc", records)
    assert len(warc_files(tmp_path / "warc")) == 1, "what is not moved when the archive is closed stays here"
    archive = moving_writer(tmp_path / "warc", url, place)
    assert rest_moved(archive) is None
    archive.close()
    assert warc_files(tmp_path / "warc") == []
    check_readable(tmp_path / "warc", records)


def test_while_the_place_is_away_files_stay_here_and_one_line_says_so(tmp_path: Path) -> None:
    url = f"file://{tmp_path}/place"
    place = SamplePlace(url)
    place.is_away = True
    archive = moving_writer(tmp_path / "warc", url, place, 14_000)
    assert archive.mover is not None
    records = {archive.put(page(number)): page(number) for number in range(9)}
    for _ in range(2):
        left = rest_moved(archive)
        assert left is not None
        assert left.startswith("3 WARC files not moved yet (cannot reach ")
        assert left.endswith("the next crawl moves them")
    assert len(warc_files(tmp_path / "warc")) == 3
    check_readable(tmp_path / "warc", records)
    assert list(archive.mover.notices()) == []
    archive.close()
    place.is_away = False
    archive = moving_writer(tmp_path / "warc", url, place)
    assert rest_moved(archive) is None
    archive.close()
    check_readable(tmp_path / "warc", records)


def test_a_place_that_answers_again(tmp_path: Path) -> None:
    url = f"file://{tmp_path}/place"
    filled(tmp_path / "warc")
    place = SamplePlace(url)
    place.is_away = True
    archive = moving_writer(tmp_path / "warc", url, place)
    mover = archive.mover
    assert mover is not None
    lines: list[str] = []
    while not lines:
        lines += mover.notices()
    place.is_away = False
    while warc_files(tmp_path / "warc"):
        mover.wake()
    while len(lines) < 2:
        lines += mover.notices()
    archive.close()
    assert lines == [
        f"cannot move WARC files now, trying again later: cannot reach {tmp_path}/place",
        f"moving WARC files to {url}/ again",
    ]


@pytest.mark.long
def test_the_rest_is_left_on_request(tmp_path: Path) -> None:
    url = f"file://{tmp_path}/place"
    filled(tmp_path / "warc", 4)
    archive = moving_writer(tmp_path / "warc", url, held := HeldPlace(url))
    left = archive.move_rest(lambda done, size: None, lambda: True)
    assert left == "1 WARC file not moved yet: the next crawl moves it"
    held.go_on.set()
    archive.close()


class HeldPlace(SamplePlace):
    """Writes nothing before `go_on`."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.go_on = threading.Event()

    def list(self, folder: str) -> dict[str, int]:
        self.go_on.wait()
        return super().list(folder)


def test_a_password_is_in_no_note(tmp_path: Path) -> None:
    records = filled(tmp_path / "warc", 4)
    url, place = "ftp://me:sesame@host.example/archive", SamplePlace(f"file://{tmp_path}/place")
    opened: list[str] = []

    def remember(address: str) -> SamplePlace:
        opened.append(address)
        return place

    files = ArchiveFiles(tmp_path / "warc", url, remember)
    for path in files.paths():
        files.move(path, place_of(url))
    assert opened == [url]
    (record, *_) = records
    assert note_of(tmp_path / "warc", record.file)["url"] == f"ftp://me@host.example/archive/{record.file}"
    archive = WarcArchive(
        *(tmp_path / "warc", StillClock(), ""),
        read_only=True,
        move_to="ftp://me:new@host.example/archive/",
        opener=remember,
    )
    assert archive.read(record).record == record
    assert opened[1:] == ["ftp://me:new@host.example/archive/"]


def test_another_place_is_used_for_new_files_only(tmp_path: Path) -> None:
    records = filled(tmp_path / "warc", 8)
    first, second = (f"file://{tmp_path}/{name}" for name in ("first", "second"))
    move_all(tmp_path / "warc", first)
    archive = writer(tmp_path / "warc", move_to=second)
    records[archive.put(page(30))] = page(30)
    assert rest_moved(archive) is None
    archive.close()
    assert (len(names_at(first)), len(names_at(second))) == (4, 2)
    check_readable(tmp_path / "warc", records)


# ---- places that have files ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_noted", [None, False, True], ids=["not noted", "noted", "noted as whole"])
@pytest.mark.parametrize("name", ["file://{}", "local://{}", "simplecache::file://{}", "file://{}/../warc", "link"])
def test_a_file_is_not_moved_to_itself(tmp_path: Path, name: str, is_noted: bool | None) -> None:
    """Not even if its note says so, as after a link was changed; with another place, it is moved there."""
    folder = tmp_path / "warc"
    records = filled(folder, 8)
    (tmp_path / "link").symlink_to(folder)
    url = f"file://{tmp_path}/link" if name == "link" else name.format(folder)
    for path in warc_files(folder) if is_noted is not None else []:
        save_note(path, MovedNote(place_of(url), path.stat().st_size, whole=is_noted is True))
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(RunError, match="is the folder of the archive: use another URL"):
        move_all(folder, url)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    other = f"file://{tmp_path}/place"
    move_all(folder, other)
    assert len(names_at(other)) == 4
    assert len(list(folder.glob("*.cdxj"))) == 2
    check_readable(folder, records)


def test_what_became_of_the_copy_is_seen_before_the_file_is_removed(tmp_path: Path) -> None:
    """The place becomes the folder itself while a file is copied."""
    folder, place = tmp_path / "warc", tmp_path / "place"
    filled(folder, 4)
    size = warc_files(folder)[0].stat().st_size

    def change(count: int) -> None:
        if count == 0 and not place.is_symlink():
            shutil.rmtree(place)
            place.symlink_to(folder)

    files = ArchiveFiles(folder, f"file://{place}")
    with pytest.raises(RunError, match="is the folder of the archive"):
        files.move(warc_files(folder)[0], place_of(f"file://{place}"), change)
    assert warc_files(folder)[0].stat().st_size == size


@pytest.mark.parametrize("kind", [".warc.gz", ".cdxj"])
def test_a_file_that_no_note_names_is_not_replaced(tmp_path: Path, url: str, kind: str) -> None:
    """As of another crawl, or if an object store is another name of this folder."""
    folder = tmp_path / "warc"
    records = filled(folder, 4)
    name = warc_files(folder)[0].name.replace(".warc.gz", kind)
    open_place(url).write(name, [b"of another"])
    for _ in range(2):
        with pytest.raises(RunError, match=f"has a file {name} that is not known as a copy of ours"):
            move_all(folder, url)
    assert names_at(url) == {name: 10}
    assert list(folder.glob("*.moved")) == []
    check_readable(folder, records)


# ---- kills -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> Steps:
    """A step before and after each note, and before the local file is removed."""
    steps = Steps()

    def save(warc: Path, note: moved_note.MovedNote) -> None:
        steps()
        moved_note.save_note(warc, note)
        steps()

    def prove(path: Path, file: object) -> str:
        steps()
        return ""

    monkeypatch.setattr(archive_files, "save_note", save)
    monkeypatch.setattr(archive_files, "proof_of_index", prove)
    return steps


def killed_after(steps: Steps, last: int) -> None:
    steps.done, steps.last = 0, last


@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_move_that_is_killed_anywhere_is_completed(tmp_path: Path, steps: Steps, elsewhere: bool) -> None:
    """Also if the files are to be moved to another place by then."""
    for last in count():
        folder, url = tmp_path / str(last) / "warc", f"file://{tmp_path}/{last}/place"
        records = filled(folder, 8)
        killed_after(steps, last)
        try:
            move_all(folder, url, SamplePlace(url, steps))
            is_killed = False
        except Killed:
            is_killed = True
        killed_after(steps, -1)
        check_readable(folder, records)
        now = f"file://{tmp_path}/{last}/other" if elsewhere else url
        archive = writer(folder, move_to=now)
        assert rest_moved(archive) is None
        archive.close()
        assert warc_files(folder) == []
        check_readable(folder, records)
        places = names_at(url) | names_at(f"file://{tmp_path}/{last}/other")
        assert len(places) == len(names_at(url)) + len(names_at(f"file://{tmp_path}/{last}/other")) == 4
        if not is_killed:
            break
    assert last > 20


def test_a_removal_that_is_killed_anywhere_is_completed(tmp_path: Path, steps: Steps) -> None:
    for last in count():
        folder, url = tmp_path / str(last) / "warc", f"file://{tmp_path}/{last}/place"
        records = filled(folder, 8)
        move_all(folder, url)
        killed_after(steps, last)
        try:
            forget_host(ArchiveFiles(folder, url, opener(SamplePlace(url, steps))), HOSTS[0])
            is_killed = False
        except Killed:
            is_killed = True
        killed_after(steps, -1)
        others = {record: kept for record, kept in records.items() if kept.request.url.host == HOSTS[1]}
        archive = reader(folder)
        assert all(archive.read(record).response == kept.result for record, kept in others.items())
        writer(folder).close()
        forget_host(ArchiveFiles(folder), HOSTS[0])
        assert warc_files(folder) == []
        check_readable(folder, others)
        assert HOSTS[0].encode() not in everything_in(folder, url)
        if not is_killed:
            break
    assert last > 15


# ---- forgetting a host -----------------------------------------------------------------------------------------------


def test_a_host_is_removed_from_moved_files(tmp_path: Path, url: str) -> None:
    folder = tmp_path / "warc"
    records = filled(folder)
    move_all(folder, url)
    assert HOSTS[0].encode() in everything_in(folder, url)
    archive = writer(folder)
    gone = [record for record, kept in records.items() if kept.request.url.host == HOSTS[0]]
    assert archive.forget(HOSTS[0]) == Removed(len(gone), 0)
    archive.close()
    assert warc_files(folder) == []
    assert HOSTS[0].encode() not in everything_in(folder, url)
    check_readable(folder, {record: kept for record, kept in records.items() if record not in gone})
    assert all(check.is_sound for check in checked(folder))


def test_files_without_the_host_are_not_read_at_their_place(tmp_path: Path) -> None:
    folder, url = tmp_path / "warc", f"file://{tmp_path}/place"
    records = filled(folder)
    place = SamplePlace(url)
    move_all(folder, url, place)
    place.reads.clear()
    forget_host(ArchiveFiles(folder, url, opener(place)), HOSTS[0])
    holding = {record.file for record, kept in records.items() if kept.request.url.host == HOSTS[0]}
    assert {name for name, _, _ in place.reads} == holding
    assert len(holding) == 4
    place.reads.clear()
    for index in folder.glob("*.cdxj"):
        index.write_bytes(index.read_bytes() + b"\n")  # not the index that was proven
    forget_host(ArchiveFiles(folder, url, opener(place)), "c.example")
    assert len({name for name, _, _ in place.reads}) == 6


def test_a_host_is_removed_while_files_are_moved(tmp_path: Path) -> None:
    url = f"file://{tmp_path}/place"
    archive = moving_writer(tmp_path / "warc", url, SamplePlace(url), 14_000)
    records = {archive.put(page(number)): page(number) for number in range(24)}
    archive.forget(HOSTS[0])
    assert rest_moved(archive) is None
    archive.close()
    assert HOSTS[0].encode() not in everything_in(tmp_path / "warc", url)
    check_readable(
        tmp_path / "warc", {record: kept for record, kept in records.items() if kept.request.url.host == HOSTS[1]}
    )


def test_a_host_cannot_be_removed_while_the_place_is_away(tmp_path: Path) -> None:
    folder, url = tmp_path / "warc", f"file://{tmp_path}/place"
    records = filled(folder)
    place = SamplePlace(url)
    move_all(folder, url, place)
    place.is_away = True
    with pytest.raises(RunError, match="cannot reach"):
        forget_host(ArchiveFiles(folder, url, opener(place)), HOSTS[0])
    place.is_away = False
    check_readable(folder, records)


# ---- damage ----------------------------------------------------------------------------------------------------------


def test_a_damaged_file_at_its_place_is_found_and_repaired(tmp_path: Path, url: str) -> None:
    folder = tmp_path / "warc"
    records = filled(folder, 8)
    move_all(folder, url)
    place, bad = open_place(url), [*records][1]
    content = place.read(bad.file, 0, 1_000_000) or b""
    place.write(bad.file, [content[: bad.offset + 500], bytes(100), content[bad.offset + 600 :]])
    with pytest.raises(DamagedError, match=f"{bad.file} is damaged at byte {bad.offset}"):
        reader(folder).read(bad)
    sound = [record for record in records if record != bad]
    found, gaps = read(folder)
    assert found == sound
    assert [(gap.file, gap.start) for gap in gaps] == [(bad.file, bad.offset)]
    repaired(folder)
    assert warc_files(folder) == []
    assert read(folder) == (sound, [])
    assert all(check.is_sound for check in checked(folder))
    assert len(list((folder / "damaged").iterdir())) == 1


@pytest.mark.parametrize("refuses", [False, True])
def test_a_file_cut_off_at_its_place_is_damaged(tmp_path: Path, refuses: bool) -> None:
    """Some places refuse to read behind the end of a file."""
    folder, url = tmp_path / "warc", f"file://{tmp_path}/place"
    records = filled(folder, 8)
    place = SamplePlace(url)
    move_all(folder, url, place)
    place.refuses_behind_the_end = refuses
    last = [record for record in records if record.file == next(iter(records)).file][-1]
    place.write(last.file, [place.read(last.file, 0, last.offset) or b""])
    archive = WarcArchive(folder, StillClock(), "", read_only=True, opener=opener(place))
    with pytest.raises(DamagedError, match="the file ends within the record"):
        archive.read(last)
    gaps: list[DamagedRange] = []
    assert len(list(archive.captures(gaps.append))) == 7
    assert [(gap.file, gap.start) for gap in gaps] == [(last.file, last.offset)]
    assert [check.is_sound for check in archive.check(lambda done, size: None)] == [False, True]
    repaired(folder)
    assert read(folder) == ([record for record in records if record != last], [])


def test_a_longer_file_is_read_no_further(tmp_path: Path, url: str) -> None:
    records = filled(tmp_path / "warc", 4)
    move_all(tmp_path / "warc", url)
    place, name = open_place(url), next(iter(records)).file
    place.write(name, [place.read(name, 0, 1_000_000) or b"", b"more" * 10])
    assert read(tmp_path / "warc") == ([*records], [])


def test_a_file_that_is_missing_at_its_place(tmp_path: Path, url: str) -> None:
    folder = tmp_path / "warc"
    records = filled(folder, 8)
    move_all(folder, url)
    gone = next(iter(records)).file
    size = names_at(url)[gone]
    open_place(url).remove(gone)
    with pytest.raises(DamagedError, match=f"{gone} is missing from the archive"):
        reader(folder).read(next(iter(records)))
    rest = [record for record in records if record.file != gone]
    assert read(folder) == (rest, [DamagedRange(gone, 0, size, FILE_MISSING)])
    check = checked(folder)[0]
    assert (check.is_sound, check.lost, check.size) == (False, 4, 0)
    gaps: list[DamagedRange] = []
    assert len(b"".join(reader(folder).export(gaps.append)[1])) == sum(
        length for name, length in names_at(url).items() if name.endswith(".gz")
    )
    assert len(gaps) == 1
    repaired(folder)
    assert read(folder) == (rest, [])
    assert all(check.is_sound for check in checked(folder))


def test_an_empty_place_is_not_mounted(tmp_path: Path, url: str) -> None:
    folder = tmp_path / "warc"
    records = filled(folder, 8)
    move_all(folder, url)
    place = open_place(url)
    for name in place.list(""):
        place.remove(name)
    with pytest.raises(RunError, match="is it mounted") as caught:
        reader(folder).read(next(iter(records)))
    assert not isinstance(caught.value, DamagedError)
    with pytest.raises(RunError, match="is it mounted"):
        repaired(folder)
    assert len(list(folder.glob("*.moved"))) == 2


@pytest.mark.parametrize("text", [b"", b"[]", b'{"url": 1}', b'{"url": "s3://b/another.warc.gz"}', b"\xff"])
def test_a_note_that_cannot_be_read(tmp_path: Path, text: bytes) -> None:
    folder, url = tmp_path / "warc", f"file://{tmp_path}/place"
    records = filled(folder, 8)
    move_all(folder, url)
    first = next(iter(records))
    (folder / first.file.replace(".warc.gz", ".moved")).write_bytes(text)
    with pytest.raises(DamagedError, match="does not say where"):
        reader(folder).read(first)
    rest = [record for record in records if record.file != first.file]
    found, gaps = read(folder)
    assert (found, [gap.file for gap in gaps]) == (rest, [first.file])
    archive = writer(folder)
    assert archive.missing({first.file: first.offset})
    with pytest.raises(DamagedError, match="does not say where"):
        archive.forget(HOSTS[0])
    archive.close()
    repaired(folder)
    assert read(folder) == (rest, [])


def test_one_record_is_read_with_one_short_request(tmp_path: Path) -> None:
    folder, url = tmp_path / "warc", f"file://{tmp_path}/place"
    archive = writer(folder)
    records = {archive.put(numbered(number)): numbered(number) for number in range(40)}
    archive.close()
    place = SamplePlace(url)
    move_all(folder, url, place)
    place.reads.clear()
    record = [*records][20]
    read_only = WarcArchive(folder, StillClock(), "", read_only=True, opener=opener(place))
    assert read_only.read(record).response == records[record].result
    assert [(name, start) for name, start, _ in place.reads] == [(record.file, record.offset)]
    assert place.reads[0][2] <= 64 * 1024
