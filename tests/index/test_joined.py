"""Several indexes searched as one: what they have, which version of a page counts, and what happens while they are
written."""

import re
import shutil
import threading
from pathlib import Path

import pytest

from goodbot.errors import DamagedError, InputError
from goodbot.index import TantivyIndex, TantivySearch
from goodbot.index.deletions import KeptDocuments
from goodbot.search_values import Document, Hidden


def page(name: str, text: str = "zebra", fetched_at: float = 1.0, *, host: str = "pages.example") -> Document:
    url = f"https://{host}/{name}"
    return Document(url, url, f"Page {name}", text, fetched_at=fetched_at)


def write(folder: Path, *documents: Document, removed: str | None = None) -> None:
    index = TantivyIndex(folder)
    for one in documents:
        index.add(one)
    if removed is not None:
        index.remove(f"https://pages.example/{removed}")
    index.commit()
    index.close()


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    """Two indexes, of a and b, and of c."""
    write(tmp_path / "one", page("a"), page("b"))
    write(tmp_path / "two", page("c"))
    return [tmp_path / "one", tmp_path / "two"]


def found(search: TantivySearch, query: str = "zebra") -> list[str]:
    return sorted(hit.url.rpartition("/")[2] for hit in search.search(query, limit=99).hits)


def test_a_search_finds_the_documents_of_all_indexes(folders: list[Path]) -> None:
    search = TantivySearch(folders)
    assert found(search) == ["a", "b", "c"]
    assert search.count() == 3


def test_a_search_sees_the_last_commit_of_each(folders: list[Path]) -> None:
    search = TantivySearch(folders)
    write(folders[1], page("d"), removed="c")
    assert found(search) == ["a", "b", "d"]
    write(folders[0], removed="a")
    assert found(search) == ["b", "d"]
    assert search.search("zebra").as_of == pytest.approx((folders[0] / "meta.json").stat().st_mtime, abs=1e-5)


def test_an_index_without_documents_can_be_joined(folders: list[Path], tmp_path: Path) -> None:
    write(tmp_path / "none")
    assert found(TantivySearch([tmp_path / "none", *folders])) == ["a", "b", "c"]
    assert found(TantivySearch([tmp_path / "none", folders[1]])) == ["c"]


@pytest.mark.parametrize("order", [1, -1])
def test_of_a_page_in_two_indexes_the_newer_visit_counts(folders: list[Path], order: int) -> None:
    write(folders[1], page("a", "zebra lion", fetched_at=2.0))
    search = TantivySearch(folders[::order])
    assert found(search) == ["a", "b", "c"]
    assert found(search, "lion") == ["a"]
    assert search.count() == search.search("zebra").total == 3
    write(folders[0], page("a", "zebra tiger", fetched_at=3.0))
    assert (found(search, "lion"), found(search, "tiger")) == ([], ["a"])
    write(folders[0], removed="a")
    assert (found(search, "lion"), found(search, "tiger")) == (["a"], [])


def test_of_two_visits_at_the_same_time_that_of_the_first_index_counts(folders: list[Path]) -> None:
    write(folders[1], page("a", "zebra lion"))
    assert found(TantivySearch(folders), "lion") == []
    assert found(TantivySearch(folders[::-1]), "lion") == ["a"]


def test_many_pages_in_three_indexes_are_found_once(tmp_path: Path) -> None:
    places = [tmp_path / name for name in ("one", "two", "three")]
    for number, place in enumerate(places):
        write(place, *(page(f"{at}", f"zebra v{number}", (at * 7 + number * 5) % 11) for at in range(number, 150)))
    search = TantivySearch(places)
    assert search.count() == search.search("zebra").total == 150
    for at in (10, 77, 149):
        newest = max(range(3), key=lambda number: ((at * 7 + number * 5) % 11, -number))
        (hit,) = search.search(f"intitle:{at}", limit=1).hits
        assert f"v{newest}" in hit.snippet


def test_merged_segments_are_read_again(folders: list[Path]) -> None:
    search = TantivySearch(folders)
    for number in range(12):  # Tantivy merges eight
        write(folders[1], page(f"n{number}"), page("a", f"zebra v{number}", 2.0 + number))
        assert found(search, f"v{number}") == ["a"]
        assert search.count() == 4 + number


def test_hidden_pages_are_hidden_in_all(folders: list[Path]) -> None:
    hidden = Hidden(urls=frozenset({"https://pages.example/a", "https://pages.example/c"}))
    search = TantivySearch(folders, hidden=lambda: hidden)
    assert found(search) == ["b"]
    assert search.count() == 1


def test_an_index_cannot_be_joined_with_itself(folders: list[Path], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="have the same index: give it once"):
        TantivySearch([folders[0], folders[0]])
    shutil.copytree(folders[0], tmp_path / "copy")
    with pytest.raises(InputError, match="have the same index"):
        TantivySearch([folders[0], tmp_path / "copy"])
    (tmp_path / "copy" / "goodbot.json").write_bytes((folders[1] / "goodbot.json").read_bytes())
    with pytest.raises(InputError, match="one is a copy"):
        TantivySearch([folders[0], tmp_path / "copy"])


def test_a_missing_or_damaged_index_is_named(folders: list[Path], tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no index in .*nothing"):
        TantivySearch([*folders, tmp_path / "nothing"])
    file = next(folders[1].glob("*.term"))
    file.write_bytes(b"x" + file.read_bytes()[1:])
    with pytest.raises(DamagedError, match=re.escape(str(file))):
        TantivySearch(folders)


def test_indexes_are_written_while_they_are_searched(folders: list[Path]) -> None:
    search = TantivySearch(folders)
    counts: list[int] = []
    writers = [threading.Thread(target=_write_many, args=(folder,)) for folder in folders]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        counts.append(search.search("zebra").total)
    assert counts == sorted(counts)
    assert search.search("zebra").total == 3 + 60


def _write_many(folder: Path) -> None:
    index = TantivyIndex(folder)
    for number in range(30):
        index.add(page(f"{folder.name}-{number}"))
        index.commit()
    index.close()


@pytest.mark.parametrize("count", [1, 63, 64, 65, 200])
def test_a_file_of_removed_documents_is_that_of_the_engine(tmp_path: Path, count: int) -> None:
    write(tmp_path, *(page(str(number)) for number in range(count)), page("last"))
    for number in range(0, count, 3):
        write(tmp_path, removed=str(number))
    (file,) = tmp_path.glob("*.del")
    read, made = KeptDocuments(count + 1, file), KeptDocuments(count + 1)
    made.remove(range(0, count, 3))
    assert read.removed() == made.removed() == len(range(0, count, 3))
    assert [read.has(number) for number in range(count + 1)] == [made.has(number) for number in range(count + 1)]
    made.write(tmp_path / "made", next(tmp_path.glob("*.term")))
    assert (tmp_path / "made").read_bytes() == file.read_bytes()
    with pytest.raises(ValueError, match="is not about"):
        KeptDocuments(count, file)
