"""Killed writers, two writers, damaged files. What might end a process runs in one of its own."""

import json
import shutil
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from disks import MOUNTS, remount, small_disk
from goodbot.errors import DamagedError, InputError, RunError
from goodbot.index import META_FILE, TantivyIndex, TantivySearch, load_mark
from goodbot.index.schema import SCHEMA_VERSION
from goodbot.index.version_file import VERSION_FILE, remedy
from goodbot.search_values import Document


def document(name: str, text: str) -> Document:
    return Document(id=name, url=f"https://example.org/{name}", title=name, text=text)


def make(folder: Path, pages: int = 50) -> None:
    """Two segments, and in one of them a page that was replaced."""
    index = TantivyIndex(folder)
    for number in range(pages):
        index.add(document(f"{number:03}", f"robot number{number} " + "lorem ipsum " * (number % 9)))
    index.commit()
    index.add(document("000", "robot again"))
    index.commit()
    index.close()


def test_a_link_that_leads_to_another_index(tmp_path: Path) -> None:
    """An open search reads the other index from then on, also when the first one is gone."""
    link = tmp_path / "index"
    make(tmp_path / "first", 5)
    make(tmp_path / "second", 7)
    link.symlink_to("first")
    search = TantivySearch(link)
    assert search.search("robot", 10).total == 5
    (tmp_path / "draft").symlink_to("second")
    (tmp_path / "draft").replace(link)
    shutil.rmtree(tmp_path / "first")
    assert search.search("robot", 10).total == 7


def python(script: str, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", textwrap.dedent(script), *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


WRITER = """
    import sys
    from pathlib import Path
    from goodbot.index import TantivyIndex
    from goodbot.search_values import Document
    index = TantivyIndex(Path(sys.argv[1]))
    number = 0
    while True:
        index.add(Document(id=str(number), url="", title="", text="robot " + "lorem " * 500))
        number += 1
        if number % 20 == 0:
            index.commit()
            print(number, flush=True)
"""


def test_a_killed_writer_loses_nothing_committed(tmp_path: Path) -> None:
    for _ in range(3):
        with python(WRITER, str(tmp_path)) as writer:
            assert writer.stdout is not None
            committed = 0
            for line in writer.stdout:
                committed = int(line)
                if committed >= 100:
                    writer.send_signal(signal.SIGKILL)
                    break
            committed = max([committed, *map(int, writer.stdout.read().split())])
        assert TantivySearch(tmp_path).count() >= committed
        index = TantivyIndex(tmp_path)
        index.add(document("after", "a wanderer"))
        index.commit()
        index.close()
        assert [hit.id for hit in TantivySearch(tmp_path).search("wanderer").hits] == ["after"]


def files_with(word: bytes, folder: Path) -> list[str]:
    found = []
    for file in list(folder.iterdir()):
        try:
            found += [file.name] * (word in file.read_bytes())
        except FileNotFoundError:
            pass  # tantivy has merged it away meanwhile
    return found


@pytest.mark.parametrize("tries", [1, 3])
def test_a_commit_that_is_killed_before_its_last_step_can_be_repeated(tmp_path: Path, tries: int) -> None:
    """Its files have the names that the next commit gives to its own."""
    index = TantivyIndex(tmp_path)
    for name in "abc":
        index.add(Document(name, "", name, "lion"))
    index.commit()
    index.close()
    committed = (tmp_path / META_FILE).read_bytes()
    for _ in range(tries):
        index = TantivyIndex(tmp_path)
        index.add(Document("a", "", "a", "zebra"))
        index.commit()
        index.close()
        (tmp_path / META_FILE).write_bytes(committed)
        assert TantivySearch(tmp_path).search("zebra").total == 0
    index = TantivyIndex(tmp_path)
    index.add(Document("a", "", "a", "zebra"))
    index.commit()
    index.close()
    assert [hit.id for hit in TantivySearch(tmp_path).search("zebra").hits] == ["a"]
    assert TantivySearch(tmp_path).count() == 3


@pytest.mark.long
@pytest.mark.parametrize("pages", [1, 200, 25_000])
def test_what_was_removed_is_in_no_file_after_a_purge(tmp_path: Path, pages: int) -> None:
    """25,000 make a segment that tantivy does not hold to be as small as others are."""
    index = TantivyIndex(tmp_path)
    for number in range(pages):
        index.add(document(f"kept{number}", "lion"))
    index.add(document("gone", "zebra"))
    index.add(document("kept0", "lion again"))
    index.commit()
    index.add(document("also gone", "zebra"))
    index.commit()
    index.remove("gone")
    index.remove("also gone")
    index.purge()
    assert files_with(b"zebra", tmp_path) == []
    search = TantivySearch(tmp_path)
    assert (search.count(), search.search("zebra").total, search.search("again").total) == (pages, 0, 1)
    index.purge()
    index.add(document("new", "wanderer"))
    index.commit()
    index.close()
    assert (search.count(), search.search("wanderer").total) == (pages + 1, 1)


def test_another_process_sees_each_commit(tmp_path: Path) -> None:
    TantivyIndex(tmp_path).close()
    search = TantivySearch(tmp_path)
    with python(WRITER, str(tmp_path)) as writer:
        assert writer.stdout is not None
        for line in writer.stdout:
            assert search.search("robot").total >= int(line)
            if int(line) >= 300:
                break
        writer.kill()


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    first = TantivyIndex(tmp_path)
    with pytest.raises(RunError, match=f"another process is writing the index in {tmp_path}"):
        TantivyIndex(tmp_path)
    first.add(document("one", "robot"))
    first.commit()
    first.close()
    TantivyIndex(tmp_path).close()
    assert TantivySearch(tmp_path).count() == 1


def test_a_closed_writer_says_so(tmp_path: Path) -> None:
    index = TantivyIndex(tmp_path)
    index.close()
    with pytest.raises(RunError):
        index.commit()


@pytest.mark.parametrize("made", [False, True], ids=["no folder", "empty folder"])
def test_no_index(tmp_path: Path, made: bool) -> None:
    folder = tmp_path / "index"
    if made:
        folder.mkdir()
    with pytest.raises(InputError, match=f"no index in {folder}"):
        TantivySearch(folder)


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="cannot write the index"):
        TantivyIndex(tmp_path / "file")


@MOUNTS
def test_an_index_where_nothing_can_be_written(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 8) as disk:
        make(disk / "index")
        remount(disk, "ro")
        search = TantivySearch(disk / "index")
        assert search.search("robot").total == 50
        remount(disk, "rw")
        index = TantivyIndex(disk / "index")
        index.add(document("new", "robot " + "lorem ipsum" * 9))
        index.commit()
        index.close()
        remount(disk, "ro")
        found = search.search("robot", limit=60)
        assert (found.total, "new" in {hit.id for hit in found.hits}) == (51, True)


@MOUNTS
def test_an_index_where_nothing_can_be_written_and_nowhere_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with small_disk(tmp_path / "disk", 8) as disk:
        make(disk / "index")
        remount(disk, "ro")
        monkeypatch.setattr("tempfile.tempdir", str(disk))
        with pytest.raises(RunError, match="set TMPDIR to a writable folder"):
            TantivySearch(disk / "index")


def test_an_index_that_went_away(tmp_path: Path) -> None:
    make(tmp_path / "index")
    search = TantivySearch(tmp_path / "index")
    shutil.rmtree(tmp_path / "index")
    with pytest.raises(DamagedError, match="import the documents again"):
        search.search("robot")  # not the fault of who asks


@pytest.mark.parametrize("name", ["frontier.sqlite", "writer", "warc"])
def test_only_an_index_of_imports_is_imported_again(tmp_path: Path, name: str) -> None:
    index = tmp_path / "index"
    again = f"import the documents again: goodbot index import FILE.jsonl --into {tmp_path}"
    assert remedy(index) == f"delete {index}, then {again}"
    (tmp_path / name).touch()
    assert remedy(index) == f"rebuild it with: goodbot index rebuild --in {tmp_path}"


def test_a_folder_that_went_away(tmp_path: Path) -> None:
    make(tmp_path / "crawl" / "index")
    search = TantivySearch(tmp_path / "crawl" / "index")
    shutil.move(tmp_path / "crawl", tmp_path / "away")
    with pytest.raises(DamagedError, match="crawl is missing: put it back"):
        search.search("robot")


def test_an_index_is_known_by_its_mark(tmp_path: Path) -> None:
    """It stays the same index, however often it is opened, and is written further with each commit."""
    index = TantivyIndex(tmp_path / "one")
    marks = [index.commit()]
    for number in range(3):
        index.add(document(str(number), "robot"))
        marks.append(index.commit())
    index.remove("1")
    marks.append(index.commit())
    index.add(document("lost", "robot"))
    index.close()
    index = TantivyIndex(tmp_path / "one")
    index.purge()
    marks.append(index.commit())
    index.close()
    assert marks == sorted(set(marks))
    assert len({mark.identity for mark in marks}) == 1
    assert load_mark(tmp_path / "one") == marks[-1]
    TantivyIndex(tmp_path / "two").close()
    assert load_mark(tmp_path / "two").identity != marks[0].identity
    assert marks[-1].fault_for(marks[0]) is None
    assert marks[0].fault_for(marks[1]) == "the search index is an older copy"


def test_an_index_of_an_older_goodbot_gets_an_identity(tmp_path: Path) -> None:
    make(tmp_path)
    (tmp_path / VERSION_FILE).write_text(json.dumps({"schema": SCHEMA_VERSION}))
    assert load_mark(tmp_path).identity == ""
    assert TantivySearch(tmp_path).count() == 50
    index = TantivyIndex(tmp_path)
    assert index.commit().identity == load_mark(tmp_path).identity != ""
    index.close()


def test_an_index_made_anew(tmp_path: Path) -> None:
    make(tmp_path / "index")
    search = TantivySearch(tmp_path / "index")
    assert search.count() == 50
    shutil.rmtree(tmp_path / "index")
    make(tmp_path / "index", pages=3)
    assert search.search("robot").total == 3
    assert search.count() == 3


@pytest.mark.parametrize("opener", [TantivyIndex, TantivySearch])
def test_a_newer_schema(tmp_path: Path, opener: type[TantivyIndex | TantivySearch]) -> None:
    make(tmp_path)
    (tmp_path / VERSION_FILE).write_text(json.dumps({"schema": SCHEMA_VERSION + 1}))
    with pytest.raises(RunError, match="newer goodbot"):
        opener(tmp_path)


@pytest.mark.parametrize("opener", [TantivyIndex, TantivySearch])
def test_an_index_without_its_meta_file(tmp_path: Path, opener: type[TantivyIndex | TantivySearch]) -> None:
    make(tmp_path)
    (tmp_path / "meta.json").unlink()
    with pytest.raises(DamagedError, match=r"meta\.json is missing"):
        opener(tmp_path)


TRIALS = """
    import sys
    from pathlib import Path
    from goodbot.errors import DamagedError
    from goodbot.index import TantivyIndex, TantivySearch
    from goodbot.search_values import Document

    def outcome(folder):
        search = TantivySearch(folder)
        results = [search.search(query, 60) for query in ("robot", '"lorem ipsum"', "title:000", "number7 again")]
        index = TantivyIndex(folder)
        index.add(Document(id="new", url="", title="", text="robot new"))
        index.commit()
        index.close()
        return [[(hit.id, hit.snippet, hit.score) for hit in each.hits] for each in results]

    def outcome_or_damage(folder):
        try:
            return outcome(folder)
        except DamagedError as error:
            assert "\\n" not in str(error)
            return "damaged"

    expected = outcome(Path(sys.argv[1]))
    for folder in map(Path, sys.argv[2:]):
        found = outcome_or_damage(folder)
        print(folder.name, "damaged" if found == "damaged" else "right" if found == expected else "WRONG")
"""


def _damages(content: bytes) -> dict[str, bytes]:
    middle = len(content) // 2
    return {
        "empty": b"",
        "half": content[:middle],
        "short": content[:-1],
        "long": content + b"\0",
        "zeros": bytes(len(content)),
        "garbage": bytes((place * 197 + 71) % 256 for place in range(len(content))),
        "bit": content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :] if content else b"x",
    }


@pytest.mark.long
def test_damaged_files_are_named_or_do_no_harm(tmp_path: Path) -> None:
    make(tmp_path / "whole")
    copies = []
    for file in sorted((tmp_path / "whole").iterdir()):
        variants: dict[str, bytes | None] = {**_damages(file.read_bytes()), "gone": None}
        for name, content in variants.items():
            copy = tmp_path / f"{file.name}-{name}"
            shutil.copytree(tmp_path / "whole", copy)
            (copy / file.name).unlink()
            if content is not None:
                (copy / file.name).write_bytes(content)
            copies.append(str(copy))
    shutil.copytree(tmp_path / "whole", tmp_path / "expected")
    with python(TRIALS, str(tmp_path / "expected"), *copies) as trials:
        out, err = trials.communicate()
    assert (trials.returncode, err) == (0, "")
    outcomes = dict(line.rsplit(" ", 1) for line in out.splitlines())
    assert len(outcomes) == len(copies)
    assert "WRONG" not in outcomes.values(), outcomes
    assert all(outcomes[f"meta.json-{name}"] == "damaged" for name in ("empty", "half", "zeros", "garbage", "gone"))
