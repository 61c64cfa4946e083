"""Link texts that are missing, damaged, replaced meanwhile, or too many."""

import json
import logging
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
import tantivy

from goodbot.index import TantivyIndex, TantivySearch, load_mark, needs_refresh, refresh_links
from goodbot.index.completions import FILE as COMPLETIONS_FILE
from goodbot.index.link_texts import (
    MAX_REPEATS,
    MAX_TEXTS,
    POINTER,
    LinkedPage,
    LinkTexts,
    LinkTextsWriter,
    build_link_schema,
    refreshed_mark,
)
from goodbot.index.rank_file import FILE as RANKS_FILE
from goodbot.index.version_file import VERSION_FILE
from goodbot.search_values import Document
from goodbot.url import Url
from goodbot.values import Link

ONE, OTHER = "https://pages.example/1", "https://pages.example/2"


def write(folder: Path, text: str) -> None:
    """An index of two pages; the first links to the second with this text."""
    index = TantivyIndex(folder)
    index.add(Document(ONE, ONE, "One", "A lion.", links=(Link(Url(OTHER), text),)))
    index.add(Document(OTHER, OTHER, "Other", "A kettle."))
    index.commit()
    index.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, "zebra")
    refresh_links(tmp_path)
    return tmp_path


def links_of(folder: Path) -> Path:
    (place,) = folder.glob("links-*")
    return place


def ids(search: TantivySearch, query: str) -> list[str]:
    return [hit.id for hit in search.search(query).hits]


@pytest.mark.parametrize(("query", "expected"), [("zebra", [OTHER]), ("zebra -lion", [OTHER]), ("zebra -kettle", [])])
def test_a_page_is_found_by_the_texts_of_links_to_it(folder: Path, query: str, expected: list[str]) -> None:
    assert ids(TantivySearch(folder), query) == expected


# ---- missing and damaged ---------------------------------------------------------------------------------------------


def remove_pointer(folder: Path) -> None:
    (folder / POINTER).unlink()


def empty_pointer(folder: Path) -> None:
    (folder / POINTER).write_bytes(b"")


def tear_pointer(folder: Path) -> None:
    (folder / POINTER).write_bytes((folder / POINTER).read_bytes()[:-9])


def fill_pointer_with_bytes(folder: Path) -> None:
    (folder / POINTER).write_bytes(bytes(range(256)))


def nest_pointer(folder: Path) -> None:
    (folder / POINTER).write_text("[" * 100_000)


def make_pointer_a_list(folder: Path) -> None:
    (folder / POINTER).write_text('["folder", "mark"]')


def make_pointer_a_folder(folder: Path) -> None:
    (folder / POINTER).unlink()
    (folder / POINTER).mkdir()


def point_nowhere(folder: Path) -> None:
    state = json.loads((folder / POINTER).read_text())
    (folder / POINTER).write_text(json.dumps({**state, "folder": "links-none"}))


def point_to_a_number(folder: Path) -> None:
    (folder / POINTER).write_text('{"folder": 5, "mark": 5}')


def remove_texts(folder: Path) -> None:
    shutil.rmtree(links_of(folder))


def tear_segments(folder: Path) -> None:
    for file in links_of(folder).glob("*.term"):
        file.write_bytes(file.read_bytes()[:-9])


def remove_meta(folder: Path) -> None:
    (links_of(folder) / "meta.json").unlink()


def make_version_newer(folder: Path) -> None:
    (links_of(folder) / VERSION_FILE).write_text('{"schema": 1000, "identity": "x"}')


def tear_ranks(folder: Path) -> None:
    file = links_of(folder) / RANKS_FILE
    file.write_bytes(file.read_bytes()[:-1])


def remove_ranks(folder: Path) -> None:
    (links_of(folder) / RANKS_FILE).unlink()


UNREADABLE: list[Callable[[Path], None]] = [
    remove_pointer,
    empty_pointer,
    tear_pointer,
    fill_pointer_with_bytes,
    nest_pointer,
    make_pointer_a_list,
    make_pointer_a_folder,
    point_nowhere,
    point_to_a_number,
    remove_texts,
    tear_segments,
    remove_meta,
    make_version_newer,
    tear_ranks,
    remove_ranks,
]


@pytest.mark.parametrize("damage", UNREADABLE, ids=lambda damage: damage.__name__)
def test_searches_go_without_link_texts_that_cannot_be_read(
    folder: Path, damage: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    """They find what the pages say; a warning of one line names the cause, except if there are none; and a refresh
    repairs it."""
    damage(folder)
    search = TantivySearch(folder)
    with caplog.at_level(logging.WARNING):
        assert (ids(search, "zebra"), ids(search, "kettle")) == ([], [OTHER])
        assert search.suggest("ket") == ()
    assert all("\n" not in line for line in caplog.messages)
    assert all("cannot be read" in line for line in caplog.messages)
    if (folder / POINTER).is_dir():
        (folder / POINTER).rmdir()
    refresh_links(folder)
    assert ids(search, "zebra") == ids(TantivySearch(folder), "zebra") == [OTHER]
    assert search.suggest("oth") == ("Other", "other")[:1]
    assert len(list(folder.glob("links-*"))) == 1
    assert not needs_refresh(folder)


@pytest.mark.parametrize("damage", UNREADABLE[:7], ids=lambda damage: damage.__name__)
def test_a_pointer_that_cannot_be_read_has_no_mark(folder: Path, damage: Callable[[Path], None]) -> None:
    assert refreshed_mark(folder) == load_mark(folder)
    damage(folder)
    assert refreshed_mark(folder) is None
    assert needs_refresh(folder)


@pytest.mark.parametrize("damage", [b"", b"SQLite format 3\0", None], ids=["empty", "torn", "missing"])
def test_only_completions_suffer_from_a_damaged_file_of_them(folder: Path, damage: bytes | None) -> None:
    file = links_of(folder) / COMPLETIONS_FILE
    file.unlink()
    if damage is not None:
        file.write_bytes(damage)
    search = TantivySearch(folder)
    assert search.suggest("oth") == ()
    assert ids(search, "zebra") == [OTHER]


# ---- replaced while a reader has them open ---------------------------------------------------------------------------


def test_a_reader_follows_link_texts_that_are_replaced(folder: Path) -> None:
    search = TantivySearch(folder)
    assert ids(search, "zebra") == [OTHER]
    first = links_of(folder)
    for word in ("wanderer", "samovar"):
        write(folder, word)
        assert ids(search, word) == []
        refresh_links(folder)
        assert not first.exists()
        assert (ids(search, word), ids(search, "zebra")) == ([OTHER], [])


def test_a_reader_loses_link_texts_that_are_removed(folder: Path) -> None:
    search = TantivySearch(folder)
    assert ids(search, "zebra") == [OTHER]
    remove_pointer(folder)
    assert ids(search, "zebra") == []
    assert ids(search, "kettle") == [OTHER]


# ---- bounds ----------------------------------------------------------------------------------------------------------


def written(folder: Path, anchors: Counter[str], fragments: Counter[str]) -> LinkTexts:
    """The link texts of one page."""
    TantivyIndex(folder).close()
    writer = LinkTextsWriter(folder)
    writer.add(LinkedPage(7, "en", anchors, fragments))
    writer.finish(load_mark(folder), [7], [1.0])
    return LinkTexts(folder)


def score(texts: LinkTexts, word: str, field: str = "anchors") -> float:
    return texts.scores(tantivy.Query.term_query(build_link_schema(), field, word), 10).get(7, 0.0)


def test_a_text_counts_a_few_times_at_most(tmp_path: Path) -> None:
    """A page with as many words altogether scores the same for a word that links repeat as often, or more often."""
    words = {"once": 1, "thrice": MAX_REPEATS, "often": 1000}
    texts = written(tmp_path, Counter(words), Counter())
    assert 0 < score(texts, "onc") < score(texts, "thrice") == score(texts, "often")


def test_the_most_frequent_texts_are_kept(tmp_path: Path) -> None:
    rare = {f"rare{number}x": 1 for number in range(MAX_TEXTS)}
    common = {f"common{number}x": 2 for number in range(MAX_TEXTS)}
    texts = written(tmp_path, Counter(rare | common), Counter(rare | common))
    for field in ("anchors", "fragments"):
        assert all(score(texts, word, field) for word in common)
        assert not any(score(texts, word, field) for word in rare)
    assert (texts.has("common0x"), texts.has("rare0x")) == (True, False)


def test_an_abandoned_writer_leaves_nothing(tmp_path: Path) -> None:
    TantivyIndex(tmp_path).close()
    before = sorted(tmp_path.iterdir())
    writer = LinkTextsWriter(tmp_path)
    writer.add(LinkedPage(7, "en", Counter({"zebra": 1}), Counter()))
    assert sorted(tmp_path.iterdir()) != before
    writer.abandon()
    assert sorted(tmp_path.iterdir()) == before
    assert score(LinkTexts(tmp_path), "zebra") == 0.0
