"""Snapshots: they copy what is new, keep some versions, and leave the version before them whole whatever happens."""

import os
import re
import shutil
import signal
from collections.abc import Callable, Iterable
from pathlib import Path
from threading import Event, Thread

import pytest

from disks import MOUNTS, small_disk
from goodbot.errors import BusyError, DamagedError, InputError, RunError
from goodbot.index import TantivyIndex, TantivySearch
from goodbot.index.copies import Contents, Manifest, hold_index, open_cache, take_snapshot
from goodbot.index.copies.published import load_manifest, load_pointer
from goodbot.places.folder_place import FolderPlace
from goodbot.places.fsspec_place import FsspecPlace
from goodbot.places.place import Place
from index.copies.sample_index import ORIGIN, Original, page, urls


@pytest.fixture
def original(tmp_path: Path) -> Original:
    original = Original(tmp_path / "index")
    original.add(page(number) for number in range(3))
    return original


def latest(place: FolderPlace | FsspecPlace) -> Manifest:
    """The latest version, all of whose contents are there."""
    pointer = load_pointer(place)
    assert pointer is not None
    manifest = load_manifest(place, pointer)
    there = place.list("files")
    assert [file.path for file in manifest.files if there.get(file.digest) != file.size] == []
    return manifest


def found_in(place: FolderPlace, cache: Path) -> list[str]:
    """What a search for `zebra` finds in the latest version."""
    with open_cache(cache, place.name) as copies:
        manifest = latest(place)
        copies.fetch(place, manifest, lambda copying: None)
        return urls(copies.put_in_place(manifest).open())


def contents_of(folder: Path) -> set[str]:
    return {file.name for file in (folder / "files").iterdir()}


def test_a_snapshot_has_the_whole_index(original: Original, tmp_path: Path) -> None:
    done = original.snapshot(tmp_path / "place")
    manifest = latest(FolderPlace(tmp_path / "place"))
    assert manifest == done.manifest
    assert (manifest.documents, manifest.origin, manifest.schema) == (3, ORIGIN, 6)
    assert done.copied_files == len(contents_of(tmp_path / "place")) == len({file.digest for file in manifest.files})
    names = {file.path.rpartition("/")[2] for file in manifest.files}
    assert {"meta.json", "goodbot.json", "links.json", "ranks", "completions.sqlite", "hidden.json"} < names
    assert found_in(FolderPlace(tmp_path / "place"), tmp_path / "cache") == urls_of(original)


def urls_of(original: Original) -> list[str]:
    return urls(TantivySearch(original.folder))


def test_a_second_snapshot_copies_only_what_is_new(original: Original, tmp_path: Path) -> None:
    place = tmp_path / "place"
    before = original.snapshot(place)
    same = original.snapshot(place)
    assert (same.copied_files, same.copied_bytes, same.manifest.files) == (0, 0, before.manifest.files)
    original.add([page(3)])
    more = original.snapshot(place)
    known = {file.digest for file in before.manifest.files}
    new = {file.digest: file.size for file in more.manifest.files if file.digest not in known}
    assert (more.copied_files, more.copied_bytes) == (len(new), sum(new.values()))
    stayed = {file.path for file in before.manifest.files if file.path.endswith((".store", ".idx", ".pos", ".term"))}
    assert not [file for file in more.manifest.files if file.digest in new and file.path in stayed]
    assert more.manifest.documents == 4


def test_segments_that_are_known_are_not_read_again(original: Original, tmp_path: Path) -> None:
    place = tmp_path / "place"
    original.snapshot(place)
    with hold_index(original.folder) as held:
        for file in held.files:
            if file.is_segment:
                file.content.close()  # reading it would be an error
        contents = Contents(original.hidden, b"", ORIGIN)
        done = take_snapshot(held, contents, FolderPlace(place), 3, lambda copying: None)
    assert done.copied_files == 0


@pytest.mark.parametrize("keep", [1, 2, 5])
def test_the_last_versions_are_kept(keep: int, original: Original, tmp_path: Path) -> None:
    place = tmp_path / "place"
    made = []
    for number in range(3, 7):
        original.add([page(number)])
        made.append(original.snapshot(place, keep).manifest)
    kept = {file.stem for file in (place / "manifests").iterdir()}
    assert made[-1].version in kept
    assert kept <= {manifest.version for manifest in made}
    assert len(kept) == min(keep, 4)
    named = {file.digest for manifest in made if manifest.version in kept for file in manifest.files}
    assert contents_of(place) == named


def test_what_was_purged_from_the_index_is_in_no_file(original: Original, tmp_path: Path) -> None:
    place = tmp_path / "place"
    original.add([page(9, "unicorn")])
    original.snapshot(place)
    index = TantivyIndex(original.folder)
    index.remove("https://pages.example/9")
    index.purge()
    index.close()
    original.snapshot(place, keep=1)
    assert not [file for file in (place / "files").iterdir() if b"unicorn" in file.read_bytes()]


OTHER_FILES = [
    *("index.html", "goodbot.toml", "frontier.sqlite", "latest.json"),
    *("files/thesis.pdf", "files/0123.part", "manifests/cargo.json", "manifests/20261127T105051-efcd374e.txt"),
]


@pytest.mark.parametrize("name", OTHER_FILES)
def test_a_folder_with_other_files_is_refused(name: str, original: Original, tmp_path: Path) -> None:
    file = tmp_path / "place" / name
    file.parent.mkdir(parents=True)
    file.write_bytes(b"mine")
    with pytest.raises(InputError, match=f"has other files, such as {name}"):
        original.snapshot(tmp_path / "place")
    assert [each for each in (tmp_path / "place").rglob("*") if each.is_file()] == [file]
    assert file.read_bytes() == b"mine"


def test_hidden_files_stay(original: Original, tmp_path: Path) -> None:
    place = tmp_path / "place"
    original.snapshot(place)
    files = [place / folder / ".DS_Store" for folder in ("", "files", "manifests")]
    for file in files:
        file.write_bytes(b"of a file manager")
    original.add([page(3)])
    original.snapshot(place, keep=1)
    assert [file for file in files if not file.is_file()] == []


def test_two_snapshots_at_once(original: Original, tmp_path: Path) -> None:
    place = FolderPlace(tmp_path / "place")
    with place.exclusive(), pytest.raises(BusyError, match="another snapshot"):
        original.snapshot(tmp_path / "place")


class Robbed(FsspecPlace):
    """A place without a lock. After each manifest, another snapshot removes a content that it does not know."""

    times = 1

    def write(self, path: str, pieces: Iterable[bytes]) -> None:
        super().write(path, pieces)
        if path == "latest.json" and self.times:
            self.times -= 1
            self.remove(f"files/{min(self.list('files'))}")


def test_two_snapshots_at_once_without_a_lock(original: Original, tmp_path: Path) -> None:
    place = Robbed(f"memory://{tmp_path}/robbed")
    done = original.snapshot(place)
    assert latest(place) == done.manifest
    place.times = 9
    with pytest.raises(BusyError, match="another snapshot"):
        original.snapshot(place)


DAMAGE = {
    "a torn pointer": ("latest.json", b'{"version": "2026'),
    "another pointer": ("latest.json", b"[]"),
    "a torn content": ("files/*", b"half"),
    "a torn manifest": ("manifests/*", b"{"),
    "a content that nobody names": ("files/" + "0" * 64, b"left by a kill"),
    "a part": ("files/.goodbot-0123.part", b"left by a kill"),
}


@pytest.mark.parametrize(("pattern", "content"), DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_place_is_mended(pattern: str, content: bytes, original: Original, tmp_path: Path) -> None:
    place = tmp_path / "place"
    original.snapshot(place)
    for file in sorted(place.glob(pattern)) or [place / pattern]:
        file.write_bytes(content)
    done = original.snapshot(place)
    assert latest(FolderPlace(place)) == done.manifest
    assert contents_of(place) == {file.digest for file in done.manifest.files}
    assert found_in(FolderPlace(place), tmp_path / "cache") == urls_of(original)


def damage(place: Place, path: str, change: Callable[[bytes], bytes]) -> str:
    """Damages the content of a file of the latest version, and returns its name."""
    pointer = load_pointer(place)
    assert pointer is not None
    file = next(file for file in load_manifest(place, pointer).files if re.fullmatch(path, file.path))
    place.write(file.place, [change(place.read(file.place, 0, file.size) or b"")])
    return file.digest


def flipped(content: bytes) -> bytes:
    return content[:3] + bytes([content[3] ^ 1]) + content[4:]


HARM: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "a bit of a segment": (r"index/\w+\.store", flipped),
    "a bit of a small file": (r"hidden\.json", flipped),
    "a short segment": (r"index/\w+\.idx", lambda content: content[:-1]),
    "a long segment": (r"index/\w+\.idx", lambda content: content + b"x"),
    "nothing": (r"synonyms\.txt", lambda content: content),
}


@pytest.mark.parametrize("kind", ["folder", "memory"])
@pytest.mark.parametrize(("path", "change"), HARM.values(), ids=HARM)
def test_what_is_damaged_is_written_again(
    path: str, change: Callable[[bytes], bytes], kind: str, original: Original, tmp_path: Path
) -> None:
    place = FolderPlace(tmp_path / "place") if kind == "folder" else FsspecPlace(f"memory://{tmp_path}/place")
    before = original.snapshot(place).manifest
    name = damage(place, path, change)
    is_damaged = change(b"12345") != b"12345"
    done = original.snapshot(place, verify=True)
    contents = {file.digest: file.size for file in before.files}
    assert done.manifest.files == before.files
    assert done.verified is not None
    assert done.verified.damaged == ({name} if is_damaged else set())
    assert (done.verified.files, done.copied_files) == (len(contents), int(is_damaged))
    with open_cache(tmp_path / "cache", place.name) as copies:
        copies.fetch(place, done.manifest, lambda copying: None)  # compares all digests
    assert original.snapshot(place, verify=True).verified == (len(contents), sum(contents.values()), frozenset())


def test_a_plain_snapshot_reads_no_content(original: Original, tmp_path: Path) -> None:
    """So it does not see damage that leaves the size as it was."""
    place = FolderPlace(tmp_path / "place")
    original.snapshot(place)
    name = damage(place, r"index/\w+\.store", flipped)
    done = original.snapshot(place)
    assert (done.copied_files, done.verified) == (0, None)
    assert name in {file.digest for file in done.manifest.files}


def test_what_only_an_older_version_needs_is_removed_if_damaged(original: Original, tmp_path: Path) -> None:
    """The index does not have it any more. A later snapshot that needs it again does not rely on its size."""
    place = FolderPlace(tmp_path / "place")
    original.synonyms = b"lion => zebra\n"
    original.snapshot(place)
    name = damage(place, r"synonyms\.txt", flipped)
    original.synonyms = b""
    done = original.snapshot(place, verify=True)
    assert done.verified is not None
    assert done.verified.damaged == {name}
    assert name not in contents_of(tmp_path / "place")
    original.synonyms = b"lion => zebra\n"
    assert original.snapshot(place).copied_files == 1
    assert found_in(place, tmp_path / "cache") == urls_of(original)


@pytest.mark.parametrize("name", ["latest.json", "manifests"])
def test_a_place_of_a_newer_goodbot_stays_as_it_is(name: str, original: Original, tmp_path: Path) -> None:
    place = tmp_path / "place"
    original.snapshot(place)
    file = place / name if name == "latest.json" else next((place / name).iterdir())
    newer = file.read_bytes().replace(b'"format": 1', b'"format": 2')
    file.write_bytes(newer)
    with pytest.raises(RunError, match="newer goodbot"):
        original.snapshot(place) if name == "latest.json" else original.snapshot(place, 9)
    assert file.read_bytes() == newer


@MOUNTS
def test_a_full_disk(original: Original, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 2) as disk:
        place = FolderPlace(disk / "place")
        before = original.snapshot(disk / "place").manifest
        original.synonyms = bytes(4 << 20)
        with pytest.raises(RunError, match="No space left on device"):
            original.snapshot(disk / "place")
        assert latest(place) == before
        assert contents_of(disk / "place") >= {file.digest for file in before.files}
        assert not list((disk / "place").rglob("*.part"))
        original.synonyms = b""
        assert latest(place).files == original.snapshot(disk / "place").manifest.files


# ---- the index is written meanwhile ---------------------------------------------------------------------------------


def test_held_files_stay_what_they_were(original: Original) -> None:
    with hold_index(original.folder) as held:
        names = {file.path for file in held.files}
        shutil.rmtree(original.folder)
        sizes = {file.path: len(file.content.read()) for file in held.files}
    assert sizes == {file.path: file.size for file in held.files}
    assert {"meta.json", "goodbot.json", "links.json"} < names


def test_an_index_without_link_texts(original: Original) -> None:
    (original.folder / "links.json").write_text("{")
    with hold_index(original.folder) as held:
        assert not [file for file in held.files if "links" in file.path]
        assert held.documents == 3


def test_an_index_that_is_missing_or_damaged(original: Original, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no index"), hold_index(tmp_path / "nothing"):
        pass
    next(original.folder.glob("*.store")).unlink()
    with pytest.raises(DamagedError, match=r"\.store is missing"), hold_index(original.folder):
        pass
    (original.folder / "meta.json").write_bytes(b"{}")
    with pytest.raises(DamagedError, match=r"meta\.json is damaged"), hold_index(original.folder):
        pass


def test_an_index_that_is_written_and_merged_meanwhile(original: Original, tmp_path: Path) -> None:
    """Every snapshot is one commit: pages are added in pairs."""
    index, is_done = TantivyIndex(original.folder), Event()

    def write() -> None:
        for number in range(10, 40, 2):
            index.add(page(number))
            index.add(page(number + 1))
            index.commit()
        index.close()
        is_done.set()

    writer = Thread(target=write)
    writer.start()
    counts: list[int] = []
    place = FolderPlace(tmp_path / "place")
    while not is_done.is_set():
        manifest = original.snapshot(place).manifest
        found = found_in(place, tmp_path / "cache")
        counts.append(len(found))
        assert len(found) == manifest.documents
    writer.join()
    assert counts == sorted(counts)
    assert {count % 2 for count in counts} == {1}
    assert original.snapshot(place).manifest.documents == 33


# ---- kill -9 --------------------------------------------------------------------------------------------------------


class Deadly(FolderPlace):
    """Kills the process before or within a write, or before a removal."""

    def __init__(self, folder: Path, at: int) -> None:
        super().__init__(folder)
        self._left = at

    def write(self, path: str, pieces: Iterable[bytes]) -> None:
        self._step()
        super().write(path, self._torn(pieces))

    def remove(self, path: str) -> None:
        self._step()
        super().remove(path)

    def _torn(self, pieces: Iterable[bytes]) -> Iterable[bytes]:
        for piece in pieces:
            yield piece[: len(piece) // 2]
            self._step()
            yield piece[len(piece) // 2 :]

    def _step(self) -> None:
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        self._left -= 1


def killed(original: Original, place: Path, at: int) -> bool:
    """Whether a snapshot in a process of its own was killed at this step; False: it ended before."""
    child = os.fork()
    if child == 0:
        try:
            original.snapshot(Deadly(place, at), keep=1)
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def check_kill(original: Original, first: Manifest, at: int, folder: Path) -> bool:
    """Kills a snapshot at a step, after which either version is whole, and the next snapshot cleans up. Returns False
    if there is no such step."""
    place, after = FolderPlace(folder / f"killed-{at}"), urls_of(original)
    shutil.copytree(folder / "place", place.name)
    if not killed(original, Path(place.name), at):
        return False
    left = latest(place)
    assert found_in(place, folder / f"cache-{at}") == (after[:-1] if left == first else after)
    done = original.snapshot(place, keep=1)
    assert contents_of(Path(place.name)) == {file.digest for file in done.manifest.files}
    return True


@pytest.fixture
def first(original: Original, tmp_path: Path) -> Manifest:
    """The version before a page was added, in `place`."""
    before = urls_of(original)
    manifest = original.snapshot(tmp_path / "place").manifest
    original.add([page(7)])
    assert urls_of(original)[:-1] == before
    return manifest


@pytest.mark.parametrize("at", [0, 1, 9, 28, 35])
def test_kill_9(at: int, first: Manifest, original: Original, tmp_path: Path) -> None:
    check_kill(original, first, at, tmp_path)


@pytest.mark.long
def test_kill_9_at_every_step(first: Manifest, original: Original, tmp_path: Path) -> None:
    steps = 0
    while check_kill(original, first, steps, tmp_path):
        steps += 1
    assert steps > 30
