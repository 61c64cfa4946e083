"""Following the snapshots of an index: fetching, verifying, swapping, and what goes on when the source is damaged."""

import json
import logging
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, Thread

import pytest

from disks import MOUNTS, small_disk
from goodbot.errors import BusyError, InputError, RunError
from goodbot.index import TantivySearch, explanation_json, load_synonyms, results_json
from goodbot.index.copies import CopyCache, Follower, open_cache
from goodbot.index.copies.copy_cache import FIRST_PIECE_BYTES, MIN_PIECE_BYTES
from goodbot.index.copies.copy_manifest import digest_of, named_digests
from goodbot.index.copies.published import load_manifest, load_pointer, load_versions
from goodbot.places.folder_place import FolderPlace
from goodbot.places.place import TooSlowError
from goodbot.search_values import Document, Hidden
from index.copies.sample_index import Original, Recorded, page, urls

EVERY_S = 0.02


@pytest.fixture
def original(tmp_path: Path) -> Original:
    original = Original(tmp_path / "index")
    original.add(page(number) for number in range(3))
    return original


@pytest.fixture
def place(original: Original, tmp_path: Path) -> Path:
    original.snapshot(tmp_path / "place")
    return tmp_path / "place"


@pytest.fixture
def source(place: Path) -> Recorded:
    return Recorded(FolderPlace(place))


@pytest.fixture
def cache(source: Recorded, tmp_path: Path) -> Iterator[CopyCache]:
    with open_cache(tmp_path / "cache", source.name) as cache:
        yield cache


@pytest.fixture
def follower(source: Recorded, cache: CopyCache) -> Iterator[Follower]:
    follower = Follower(source, cache, EVERY_S)
    yield follower
    if follower._thread.ident is not None:
        follower.join()


def until(condition: Callable[[], object]) -> None:
    """Waits until it is so; the time limit of the test ends this."""
    while not condition():
        time.sleep(0.005)


def problem(follower: Follower) -> str:
    until(lambda: follower.state().problem)
    return follower.state().problem or ""


def fetched(cache: CopyCache, source: Recorded) -> TantivySearch:
    pointer = load_pointer(source)
    assert pointer is not None
    manifest = load_manifest(source, pointer)
    cache.fetch(source, manifest, lambda copying: None)
    return cache.put_in_place(manifest).open()


# ---- equal answers --------------------------------------------------------------------------------------------------

QUERIES = [
    "zebra",
    "crossing 1",
    "zebbra",
    "page",
    "site:pages.example",
    "intitle:page -zebra",
    "kettle",
    "k8s",
    "lion",
]


def answers(search: TantivySearch, query: str) -> object:
    results = search.search(query)
    found = results_json(results) | {"took_ms": 0, "as_of": results.as_of}
    explained = [explanation_json(query, why) for hit in results.hits if (why := search.explain(query, hit.url))]
    return found, explained, search.suggest(query[:4]), search.choices(), search.count()


def test_a_copy_answers_like_its_original(original: Original, source: Recorded, cache: CopyCache, place: Path) -> None:
    original.add([page(20, "lion"), page(21, "lion"), Document("22", "", "Kubernetes", "A kettle.", language="en")])
    original.hidden = Hidden(frozenset({"https://pages.example/1", "https://pages.example/20"}))
    original.synonyms = b"k8s => kubernetes\n"
    original.snapshot(place)
    (original.folder.parent / "synonyms.txt").write_bytes(original.synonyms)
    synonyms = load_synonyms(original.folder.parent / "synonyms.txt")
    own = TantivySearch(original.folder, None, synonyms, lambda: original.hidden)
    copy = fetched(cache, source)
    for query in QUERIES:
        assert answers(copy, query) == answers(own, query), query
    assert own.search("lion").total == 1


# ---- following ------------------------------------------------------------------------------------------------------


def test_a_new_version_is_swapped_in(original: Original, follower: Follower, place: Path, cache: CopyCache) -> None:
    first = follower.start()
    assert (urls(follower.search), follower.state().version) == (urls_of(original), first.version)
    original.add([page(9)])
    second = original.snapshot(place).manifest
    until(lambda: follower.state().version == second.version)
    assert len(urls(follower.search)) == 4
    assert follower.state().problem is None
    until(lambda: [each.name for each in cache._versions.iterdir()] == [second.version])
    assert {each.name for each in cache._files.iterdir()} == {file.digest for file in second.files}


def urls_of(original: Original) -> list[str]:
    return urls(TantivySearch(original.folder))


def test_only_what_is_new_is_fetched(original: Original, follower: Follower, source: Recorded, place: Path) -> None:
    follower.start()
    before = source.read_bytes
    original.add([page(9)])
    done = original.snapshot(place)
    until(lambda: follower.state().version == done.manifest.version)
    assert source.read_bytes - before == done.copied_bytes


def test_a_snapshot_of_the_same_index_is_not_opened_again(original: Original, follower: Follower, place: Path) -> None:
    follower.start()
    opened = follower.search._current
    second = original.snapshot(place).manifest
    until(lambda: follower.state().version == second.version)
    assert follower.search._current is opened
    assert follower.state().taken_at == second.taken_at


def test_a_removal_holds_after_the_next_snapshot(original: Original, follower: Follower, place: Path) -> None:
    follower.start()
    original.hidden = Hidden(frozenset(), frozenset({"pages.example"}))
    second = original.snapshot(place).manifest
    until(lambda: follower.state().version == second.version)
    assert (urls(follower.search), follower.search.count()) == ([], 0)


def test_no_search_is_lost_while_versions_are_swapped(original: Original, follower: Follower, place: Path) -> None:
    follower.start()
    is_over, counts, errors = Event(), [0], list[BaseException]()

    def ask() -> None:
        try:
            while not is_over.is_set():
                counts.append(follower.search.search("zebra", 50).total)
                follower.search.suggest("pag")
        except BaseException as error:  # noqa: BLE001
            errors.append(error)

    threads = [Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(10, 18):
        original.add([page(number)])
        version = original.snapshot(place, keep=1).manifest.version
        until(lambda version=version: follower.state().version == version)  # type: ignore[misc]
    counts.append(follower.search.search("zebra", 50).total)
    is_over.set()
    for thread in threads:
        thread.join()
    assert errors == []
    assert max(counts) == 11


def test_a_version_stays_while_a_search_uses_it(
    original: Original, follower: Follower, place: Path, cache: CopyCache
) -> None:
    first = follower.start()
    with follower.search._used() as search:
        original.add([page(9)])
        second = original.snapshot(place, keep=1).manifest
        until(lambda: follower.state().version == second.version)
        time.sleep(3 * EVERY_S)
        assert search.search("zebra").total == 3
        assert (cache._versions / first.version / "index" / "meta.json").is_file()
    until(lambda: not (cache._versions / first.version).exists())


# ---- a source that is away or damaged --------------------------------------------------------------------------------


def test_a_source_that_goes_away(
    follower: Follower, source: Recorded, caplog: pytest.LogCaptureFixture, original: Original, place: Path
) -> None:
    follower.start()
    source.is_away = True
    assert problem(follower) == "the source is away"
    time.sleep(5 * EVERY_S)
    assert len(urls(follower.search)) == 3
    (line,) = [record.message for record in caplog.records if record.levelno == logging.WARNING]
    assert line.startswith("the source is away; the copy of ")
    assert line.endswith(" old")
    source.is_away = False
    until(lambda: follower.state().problem is None)
    assert "can be followed again" in caplog.text


def test_a_restart_while_the_source_is_away(follower: Follower, source: Recorded, cache: CopyCache) -> None:
    version = follower.start().version
    follower.join()
    source.is_away = True
    again = Follower(source, cache, EVERY_S)
    assert again.start().version == version
    assert len(urls(again.search)) == 3
    again.join()


@pytest.mark.parametrize("fault", ["away", "empty"])
def test_there_is_nothing_to_serve(fault: str, follower: Follower, source: Recorded, place: Path) -> None:
    if fault == "away":
        source.is_away = True
    else:
        shutil.rmtree(place)
    with pytest.raises(RunError, match="away" if fault == "away" else "there is no snapshot of an index"):
        follower.start()
    with pytest.raises(RunError, match="no copy of the index has been fetched yet"):
        follower.search.search("zebra")


def test_a_fetch_that_is_cut_off_is_continued(follower: Follower, source: Recorded, original: Original) -> None:
    source.cut = 10_000
    follower.start()
    assert problem(follower) == "the connection is cut"
    with pytest.raises(RunError, match="no copy"):
        follower.search.count()
    before, source.cut = source.read_bytes, None
    until(lambda: follower.state().version)
    copy = follower.search.copy
    assert copy is not None
    assert before > 0
    assert source.read_bytes == sum({file.digest: file.size for file in copy.manifest.files}.values())


def test_a_content_in_pieces_is_continued_in_the_middle(
    source: Recorded, cache: CopyCache, original: Original, place: Path
) -> None:
    original.synonyms = os.urandom(FIRST_PIECE_BYTES * 3 + 5).hex().encode()[: FIRST_PIECE_BYTES * 3 + 5]
    manifest = original.snapshot(place).manifest
    (large,) = [file for file in manifest.files if file.path == "synonyms.txt"]
    source.cut = sum({file.digest: file.size for file in manifest.files}.values()) - 3
    with pytest.raises(RunError, match="cut"):
        cache.fetch(source, manifest, lambda copying: None)
    assert (cache._files / f"{large.digest}.part").stat().st_size == 3 * FIRST_PIECE_BYTES
    before, source.cut = source.read_bytes, None
    cache.fetch(source, manifest, lambda copying: None)
    assert source.read_bytes - before == 5


def test_pieces_are_as_large_as_the_line_allows(
    source: Recorded, cache: CopyCache, original: Original, place: Path
) -> None:
    original.synonyms = os.urandom(FIRST_PIECE_BYTES).hex().encode()
    manifest = original.snapshot(place).manifest
    source.slow_from = FIRST_PIECE_BYTES // 2
    cache.fetch(source, manifest, lambda copying: None)
    assert max(source.lengths[-4:]) < source.slow_from
    assert source.read_bytes == sum({file.digest: file.size for file in manifest.files}.values())


def test_a_line_that_is_too_slow_for_any_piece(source: Recorded, cache: CopyCache, place: Path) -> None:
    source.slow_from = 1
    pointer = load_pointer(FolderPlace(place))
    assert pointer is not None
    with pytest.raises(TooSlowError, match="in time"):
        cache.fetch(source, load_manifest(FolderPlace(place), pointer), lambda copying: None)
    assert cache._piece_bytes == MIN_PIECE_BYTES


def new_store(place: Path) -> Path:
    """The texts of the segment that the last snapshot added."""
    source = FolderPlace(place)
    pointer = load_pointer(source)
    assert pointer is not None
    versions = [file.stem for file in (place / "manifests").iterdir()]
    before = named_digests(load_versions(source, [name for name in versions if name != pointer.version]).values())
    files = [file for file in load_manifest(source, pointer).files if file.digest not in before]
    return next(place / file.place for file in files if re.fullmatch(r"index/\w+\.store", file.path))


def overwrite(file: Path, content: bytes) -> int:
    file.unlink()
    return file.write_bytes(content)


FAULTS: dict[str, tuple[Callable[[Path], object], str]] = {
    "a missing content": (lambda place: new_store(place).unlink(), "is missing"),
    "a short content": (
        lambda place: overwrite(new_store(place), b"x"),
        "is too short: 1 of the .* the next goodbot index snapshot writes it again",
    ),
    "a long content": (
        lambda place: overwrite(new_store(place), new_store(place).read_bytes() + b"x"),
        "is too long: more than the .* the next goodbot index snapshot writes it again",
    ),
    "another content": (
        lambda place: overwrite(new_store(place), bytes(new_store(place).stat().st_size)),
        "its SHA-256 is another one; goodbot index snapshot --verify writes it again",
    ),
    "a missing manifest": (lambda place: shutil.rmtree(place / "manifests"), r"manifests/.* is missing"),
    "a changed manifest": (
        lambda place: [
            overwrite(file, file.read_bytes().replace(b"0.1.0", b"0.1.1")) for file in (place / "manifests").iterdir()
        ],
        r"manifests/.* is damaged: its SHA-256 is another one than latest\.json says",
    ),
    "a short manifest": (
        lambda place: [overwrite(file, file.read_bytes()[:9]) for file in (place / "manifests").iterdir()],
        r"manifests/.* is damaged: it has 9 bytes, and latest\.json says",
    ),
    "a long manifest": (
        lambda place: [overwrite(file, file.read_bytes() + b"\n") for file in (place / "manifests").iterdir()],
        r"manifests/.* is damaged: it has more bytes, and latest\.json says",
    ),
    "a torn pointer": (lambda place: overwrite(place / "latest.json", b'{"version":'), "latest.json .*is damaged"),
    "a newer pointer": (lambda place: overwrite(place / "latest.json", b'{"format": 2}'), "a newer goodbot"),
    "no pointer": (lambda place: (place / "latest.json").unlink(), "there is no snapshot"),
}


@pytest.mark.parametrize(("damage", "reason"), FAULTS.values(), ids=FAULTS)
def test_a_damaged_source(
    damage: Callable[[Path], object], reason: str, original: Original, place: Path, source: Recorded, tmp_path: Path
) -> None:
    """The version before it goes on answering, and the next whole one is swapped in."""
    with open_cache(tmp_path / "cache", source.name) as cache:
        follower = Follower(source, cache, EVERY_S)
        follower.start()
        source.is_away = True
        problem(follower)
        checked_at = follower.state().checked_at
        original.add([page(9)])
        original.snapshot(place)
        damage(place)
        source.is_away = False
        until(lambda: follower.state().problem != "the source is away")
        with pytest.raises(RunError, match=reason):
            raise RunError(follower.state().problem)
        assert (len(urls(follower.search)), follower.state().checked_at) == (3, checked_at)
        if "newer" not in reason:
            version = original.snapshot(place, verify="--verify" in reason).manifest.version
            until(lambda: follower.state().version == version)
            assert len(urls(follower.search)) == 4
        follower.join()


def republish(place: Path, change: Callable[[dict[str, object]], object]) -> None:
    """Changes the latest manifest, and the pointer with it, as a hostile server can."""
    pointer = json.loads((place / "latest.json").read_bytes())
    file = place / "manifests" / f"{pointer['version']}.json"
    manifest = json.loads(file.read_bytes())
    change(manifest)
    content = json.dumps(manifest).encode()
    file.write_bytes(content)
    (place / "latest.json").write_text(json.dumps(pointer | {"size": len(content), "digest": digest_of(content)}))


HOSTILE: dict[str, tuple[Callable[[dict[str, object]], object], str]] = {
    "a path that climbs": (lambda value: value["files"][0].update(path="index/../../../evil"), "is damaged"),  # type: ignore[index]
    "an absolute path": (lambda value: value["files"][0].update(path="/tmp/evil"), "is damaged"),  # type: ignore[index]
    "a huge size": (lambda value: value["files"][2].update(size=1 << 45), "no room for the copy"),  # type: ignore[index]
    "another version": (lambda value: value.update(version="20000101T000000-00000000"), "another version"),
    "an older index": (lambda value: value.update(schema=1), "an older goodbot"),
    "a newer index": (lambda value: value.update(schema=999), "a newer goodbot"),
    "another byte order": (lambda value: value.update(byte_order="big"), "byte order"),
}


@pytest.mark.parametrize(("change", "reason"), HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_source(
    change: Callable[[dict[str, object]], object], reason: str, follower: Follower, place: Path, tmp_path: Path
) -> None:
    before = sorted(tmp_path.iterdir())
    republish(place, change)
    with pytest.raises(RunError, match=reason):
        follower.start()
    assert sorted(tmp_path.iterdir()) == before
    assert list((tmp_path / "cache" / "versions").iterdir()) == []


FUTURE_S = 86_400
CLAIMS: dict[str, tuple[Callable[[dict[str, object]], object], str]] = {
    "a wrong clock": (
        lambda value: value.update(taken_at=time.time() + FUTURE_S),
        r"is of .*, (24 h|23 h 59 min|1 day) .*in the future: check the clocks of both machines",
    ),
    "too many documents": (
        lambda value: value.update(documents=10**9),
        "says 1,000,000,000 documents, but its index has 3",
    ),
    "a clock that differs a little": (lambda value: value.update(taken_at=time.time() + 30), ""),
    "fewer documents": (lambda value: value.update(documents=1), ""),  # a page may not be shown from a date on
}


@pytest.mark.parametrize(("change", "warning"), CLAIMS.values(), ids=CLAIMS)
def test_what_a_manifest_claims(
    change: Callable[[dict[str, object]], object],
    warning: str,
    source: Recorded,
    cache: CopyCache,
    place: Path,
    original: Original,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It is served, and counted in the index. The log warns once, also when it is followed by another such version."""
    counts: list[int] = []
    follower = Follower(source, cache, EVERY_S, changed=lambda manifest, documents: counts.append(documents))
    republish(place, change)
    version = follower.start().version
    until(lambda: follower.state().checked_at)
    if "clock" in warning:
        original.snapshot(place)
        republish(place, change)
        until(lambda: follower.state().version != version)
    follower.join()
    assert (counts, follower.search.count(), follower.state().problem) == ([3], 3, None)
    lines = [record.message for record in caplog.records if record.levelno == logging.WARNING]
    if "clock" in warning:  # it may have looked at the place while this test rewrote it, and says so
        lines = [line for line in lines if "clock" in line]
    assert len(lines) == bool(warning)
    assert re.search(warning, "".join(lines))


def test_when_the_source_was_last_looked_at_with_success(
    original: Original, follower: Follower, source: Recorded, place: Path
) -> None:
    """Looks that found no new version count, looks that failed do not: see also `test_a_damaged_source`."""
    assert follower.state().checked_at is None
    follower.start()
    until(lambda: follower.state().checked_at)
    first = follower.state().checked_at or 0.0
    until(lambda: (follower.state().checked_at or 0.0) > first)
    second = original.snapshot(place).manifest
    until(lambda: (follower.state().checked_at or 0.0) > second.taken_at)
    until(lambda: follower.state().version == second.version)
    source.is_away = True
    problem(follower)
    last = follower.state().checked_at
    time.sleep(3 * EVERY_S)
    assert follower.state().checked_at == last


def test_an_index_that_cannot_be_opened(original: Original, follower: Follower, place: Path) -> None:
    """The digests are right, but the index was damaged before it was copied."""
    follower.start()
    store = next(original.folder.glob("*.store"))
    content = bytearray(store.read_bytes())
    content[5] ^= 1
    store.write_bytes(content)
    shutil.rmtree(place)
    original.snapshot(place)
    until(lambda: f"the snapshot at {place} was made of a damaged index" in (follower.state().problem or ""))
    assert "fetches it again" not in problem(follower)
    assert len(urls(follower.search)) == 3


COPIED = [
    *("index/*.store", "index/*.fast", "index/meta.json", "index/goodbot.json", "hidden.json", "synonyms.txt"),
    *("index/links.json", "index/links-*/ranks", "index/links-*/completions.sqlite", "index/links-*/*.term"),
]


@pytest.mark.parametrize("is_missing", [False, True])
@pytest.mark.parametrize("name", COPIED)
def test_a_damaged_copy_is_fetched_again(
    name: str,
    is_missing: bool,
    original: Original,
    place: Path,
    follower: Follower,
    source: Recorded,
    cache: CopyCache,
) -> None:
    original.synonyms = b"lion => zebra\n"
    original.snapshot(place)
    version = follower.start().version
    follower.join()
    (file,) = (cache._versions / version).glob(name)
    content = file.read_bytes()
    if is_missing:
        file.unlink()
    else:
        with file.open("r+b") as stream:  # also the content under its digest, which is the same file
            stream.write(b"\0\0\0")
    again = Follower(source, cache, EVERY_S)
    again.start()
    until(lambda: again.search.copy)
    assert urls(again.search, "lion") == urls(again.search)
    assert len(urls(again.search)) == 3
    again.join()
    assert file.read_bytes() == content


# ---- the folder of the copies ---------------------------------------------------------------------------------------

USERS_FILES = ["thesis.pdf", "files/thesis.pdf", "files/0123.part", "versions/v1/thesis.pdf", "versions/thesis.pdf"]


@pytest.mark.parametrize("name", USERS_FILES)
def test_files_of_the_user_stay(name: str, source: Recorded, tmp_path: Path) -> None:
    file = tmp_path / "mine" / name
    file.parent.mkdir(parents=True)
    file.write_bytes(b"mine")
    with pytest.raises(InputError, match="has other files, such as"), open_cache(tmp_path / "mine", source.name):
        pass
    assert [each.read_bytes() for each in (tmp_path / "mine").rglob("*") if each.is_file()] == [b"mine"]


def test_files_that_come_later_stay(follower: Follower, cache: CopyCache, original: Original, place: Path) -> None:
    follower.start()
    for folder in (cache._files, cache._versions):
        (folder / "thesis.pdf").write_bytes(b"mine")
        (folder / ".hidden").write_bytes(b"mine")
    (cache._versions / "v1").mkdir()
    original.add([page(9)])
    version = original.snapshot(place, keep=1).manifest.version
    until(lambda: follower.state().version == version)
    follower.join()
    cache.tidy(follower.search.copies_in_use())
    names = {".hidden", "thesis.pdf"}
    assert {each.name for each in cache._versions.iterdir()} == {version, "v1", *names}
    assert names < {each.name for each in cache._files.iterdir()}


def test_a_first_start_that_fails_keeps_no_source(source: Recorded, tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    with open_cache(folder, "https://wrong.example/copies/"):
        pass
    (folder / "source").write_bytes(b"")
    with open_cache(folder, source.name) as cache:
        fetched(cache, source)
    assert (folder / "source").read_text() == f"{source.name}\n"
    with pytest.raises(InputError, match="has the copy of another index"), open_cache(folder, "https://wrong.example/"):
        pass


# ---- the folder of the copies ---------------------------------------------------------------------------------------


def test_a_folder_that_cannot_be_used(tmp_path: Path, cache: CopyCache, source: Recorded) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_bytes(b"")
    with pytest.raises(InputError, match="has other files, such as thesis"), open_cache(tmp_path / "mine", "a"):
        pass
    with (
        pytest.raises(BusyError, match="another goodbot serve --follow uses"),
        open_cache(tmp_path / "cache", source.name),
    ):
        pass
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "source").write_text("https://a.example/\n")
    with (
        pytest.raises(InputError, match=r"copy of another index \(https://a\.example/\)"),
        open_cache(tmp_path / "one", "b"),
    ):
        pass


def test_files_that_cannot_be_linked(source: Recorded, cache: CopyCache, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some file systems have no hard links."""

    def refuse(*args: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    assert len(urls(fetched(cache, source))) == 3


@MOUNTS
def test_a_full_disk(original: Original, place: Path, source: Recorded, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 70) as disk, open_cache(disk / "cache", source.name) as cache:
        follower = Follower(source, cache, EVERY_S)
        follower.start()
        (disk / "ballast").write_bytes(bytes(60 << 20))
        original.add([page(9)])
        version = original.snapshot(place).manifest.version
        assert "no room for the copy" in problem(follower)
        assert "67.1 MB must stay free" in problem(follower)
        assert len(urls(follower.search)) == 3
        (disk / "ballast").unlink()
        until(lambda: follower.state().version == version)
        follower.join()


def test_what_a_killed_follower_leaves_is_removed(original: Original, follower: Follower, cache: CopyCache) -> None:
    (cache._files / ("0" * 64)).write_bytes(b"x")
    (cache._files / f"{'1' * 64}.part").write_bytes(b"x")
    (cache._versions / "20000101T000000-00000000.part").mkdir()
    (cache._versions / "20000101T000000-00000001").mkdir()
    version = follower.start().version
    until(lambda: [each.name for each in cache._versions.iterdir()] == [version])
    until(lambda: not [each for each in cache._files.iterdir() if each.name.startswith(("00000000", "11111111"))])
