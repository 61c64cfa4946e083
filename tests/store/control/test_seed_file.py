"""Tests lists of seeds that are stored with a crawl."""

from pathlib import Path

import pytest

from goodbot.errors import DamagedError, RunError
from goodbot.store.control.seed_file import SeedFolder, SeedSpool
from goodbot.url import Url

URLS = [Url(f"https://e.example/{number}") for number in range(5)]


def kept(folder: SeedFolder, urls: list[Url]) -> None:
    """Puts a list there."""
    with SeedSpool() as spool:
        for url in urls:
            spool.add(url)
        folder.take(spool)


def test_a_list_is_new_until_it_is_settled(tmp_path: Path) -> None:
    folder = SeedFolder(tmp_path / "seeds")
    assert not folder
    kept(folder, URLS[:3])
    assert folder
    assert list(folder) == list(folder.new()) == URLS[:3]
    folder.settle()
    assert list(folder) == URLS[:3]
    assert list(folder.new()) == []
    kept(folder, URLS[3:])
    assert sorted(folder) == URLS
    assert list(folder.new()) == URLS[3:]


def test_the_same_list_again_is_one_list(tmp_path: Path) -> None:
    folder = SeedFolder(tmp_path / "seeds")
    for _ in range(3):
        kept(folder, URLS)
        assert list(folder.new()) == URLS
        folder.settle()
    assert list(folder) == URLS
    assert len(list(folder.path.iterdir())) == 1


def test_nothing_is_no_list(tmp_path: Path) -> None:
    folder = SeedFolder(tmp_path / "seeds")
    kept(folder, [])
    folder.take(None)
    assert not folder.path.exists()


def test_a_damaged_list(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_bytes(b"https://e.example/\nhttps://e.exa")
    with pytest.raises(DamagedError, match=r"x\.txt, line 2"):
        list(SeedFolder(tmp_path))
    (tmp_path / "x.txt").write_bytes(b"https://e.example/\xff\n")
    with pytest.raises(DamagedError, match=r"x\.txt"):
        list(SeedFolder(tmp_path))


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "seeds").write_text("a file")
    with pytest.raises(RunError, match="cannot write"):
        kept(SeedFolder(tmp_path / "seeds"), URLS)
