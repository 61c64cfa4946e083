"""Refreshing link texts: when it is needed, which page gets which text, and what a stop or a kill leaves behind."""

import shutil
import subprocess
import sys
import textwrap
from contextlib import suppress
from pathlib import Path

import pytest

from goodbot.errors import RunError
from goodbot.index import (
    Refreshed,
    StoppedError,
    TantivyIndex,
    TantivySearch,
    index_statistics,
    needs_refresh,
    refresh_links,
)
from goodbot.index import refresh as refreshing
from goodbot.index.keys import hash_of
from goodbot.index.link_texts import POINTER, LinkTexts, refreshed_mark
from goodbot.search_values import Document
from goodbot.url import Url
from goodbot.values import Link


def url(page: str) -> str:
    return f"https://pages.example/{page}"


def link(page: str, text: str, rel: tuple[str, ...] = (), fragments: tuple[tuple[str, str], ...] = ()) -> Link:
    return Link(Url(url(page)), text, rel, fragments)


def document(page: str, *links: Link, text: str = "lion") -> Document:
    return Document(url(page), url(page), f"Page {page}", text, links=links)


def write(folder: Path, *documents: Document, removed: str | None = None) -> None:
    """Adds these, and commits."""
    index = TantivyIndex(folder)
    for one in documents:
        index.add(one)
    if removed is not None:
        index.remove(url(removed))
    index.commit()
    index.close()


def found(folder: Path, query: str) -> set[str]:
    """The last parts of the URLs of the pages found."""
    return {hit.url.rpartition("/")[2] for hit in TantivySearch(folder).search(query).hits}


def link_folders(folder: Path) -> list[str]:
    return [place.name for place in folder.glob("links-*")]


# ---- which page gets which text --------------------------------------------------------------------------------------

LINKS = [
    ("a text", [link("b", "zebra")], "zebra", {"b"}),
    ("another form of the word", [link("b", "zebras")], "zebra", {"b"}),
    ("a text of a link with a fragment", [link("b", "", (), (("part", "zebra"),))], "zebra", {"b"}),
    ("a fragment", [link("b", "x", (), (("zebra.join", ""),))], "zebra", {"b"}),
    ("a fragment replaces the text", [link("b", "zebra", (), (("part", "x"),))], "zebra", set[str]()),
    ("other relations are links", [link("b", "zebra", ("next",))], "zebra", {"b"}),
    ("nofollow", [link("b", "zebra", ("nofollow",))], "zebra", set[str]()),
    ("the same link twice, once nofollow", [link("b", "x", ("nofollow",)), link("b", "zebra")], "zebra", {"b"}),
    ("to the page itself", [link("a", "zebra")], "zebra", set[str]()),
    ("to a page that is not in the index", [link("unknown", "zebra")], "zebra", set[str]()),
    ("to two pages", [link("b", "zebra"), link("c", "zebra kettle")], "zebra", {"b", "c"}),
    ("no text", [link("b", "")], "zebra", set[str]()),
    ("a text without words", [link("b", "→ !")], "zebra", set[str]()),
    ("Han", [link("b", "東京の駅")], "東京", {"b"}),
    ("no letters that can be encoded", [link("b", "zebra \ud800")], "zebra", {"b"}),
]


@pytest.mark.parametrize(("name", "links", "query", "expected"), LINKS)
def test_the_texts_of_links_find_the_pages_that_they_lead_to(
    tmp_path: Path, name: str, links: list[Link], query: str, expected: set[str]
) -> None:
    write(tmp_path, document("a", *links), document("b"), document("c"))
    assert found(tmp_path, query) == set()
    assert refresh_links(tmp_path) == Refreshed(3, 3, finished=True)
    assert found(tmp_path, query) == expected


def test_a_text_is_stemmed_in_the_language_of_the_page_that_the_link_leads_to(tmp_path: Path) -> None:
    german = Document(url("b"), url("b"), "B", "Das ist nicht der Hund, der auf dem Sofa war.", language="de")
    write(tmp_path, document("a", link("b", "Häuser")), german)
    refresh_links(tmp_path)
    assert found(tmp_path, "Haus") == {"b"}


def test_parts_of_the_pages_do_not_mix_their_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small limits stand in for an index with many pages and links."""
    for name, value in (("PAGES_AT_ONCE", 4), ("PAGES_PER_PART", 3), ("_FLUSHED_AT", 2)):
        monkeypatch.setattr(refreshing, name, value)
    pages = 11
    write(tmp_path, *(document(str(n), link(str((n + 1) % pages), f"to{(n + 1) % pages}x")) for n in range(pages)))
    progress = list[Refreshed]()
    refresh_links(tmp_path, progress.append)
    assert [found(tmp_path, f"to{number}x") for number in range(pages)] == [{str(number)} for number in range(pages)]
    read = [state.read for state in progress]
    assert read == sorted(read)
    assert {state.total for state in progress} == {pages}
    assert [state.finished for state in progress] == [False] * (len(progress) - 1) + [True]


def test_pages_with_many_links_give_rank_to_the_first_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The texts of the others are found all the same."""
    monkeypatch.setattr(refreshing, "MAX_RANKED_LINKS", 0)
    targets = [f"target{number}" for number in range(9)]
    write(tmp_path, document("a", *(link(name, f"zebra {name}") for name in targets)), *map(document, targets))
    refresh_links(tmp_path)
    assert found(tmp_path, "zebra") == set(targets)
    ranks = LinkTexts(tmp_path).ranks([hash_of(url(name)) for name in targets])
    assert len(ranks) == 9
    first, others = [*ranks.values()][:5], [*ranks.values()][5:]
    assert min(first) > 1.05 * max(others)


def test_an_empty_index(tmp_path: Path) -> None:
    write(tmp_path)
    assert refresh_links(tmp_path) == Refreshed(0, 0, finished=True)
    assert found(tmp_path, "zebra") == set()
    assert not needs_refresh(tmp_path)


# ---- when it is needed -----------------------------------------------------------------------------------------------


def test_a_small_index_needs_it_after_any_change(tmp_path: Path) -> None:
    write(tmp_path, document("a"), document("b"))
    assert needs_refresh(tmp_path)
    refresh_links(tmp_path)
    assert not needs_refresh(tmp_path)
    write(tmp_path, document("a", text="zebra"))
    assert needs_refresh(tmp_path)
    refresh_links(tmp_path)
    assert not needs_refresh(tmp_path)
    write(tmp_path, removed="b")
    assert needs_refresh(tmp_path)


@pytest.mark.parametrize(("changed", "expected"), [(0, False), (8, False), (11, True)])
def test_a_larger_index_needs_it_if_a_share_of_it_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: int, expected: bool
) -> None:
    monkeypatch.setattr(refreshing, "SMALL", 99)
    monkeypatch.setattr(refreshing, "CHANGED_SHARE", 0.1)
    write(tmp_path, *(document(str(number)) for number in range(100)))
    refresh_links(tmp_path)
    if changed:
        write(tmp_path, *(document(str(number), text="zebra") for number in range(changed)))
    assert needs_refresh(tmp_path) == expected


def test_link_texts_of_another_index_do_not_count(tmp_path: Path) -> None:
    for name in ("one", "other"):
        write(tmp_path / name, document("a"))
        refresh_links(tmp_path / name)
    (tmp_path / "one" / POINTER).write_bytes((tmp_path / "other" / POINTER).read_bytes())
    assert needs_refresh(tmp_path / "one")


# ---- stopped and killed ----------------------------------------------------------------------------------------------


def stop(state: Refreshed) -> None:
    raise StoppedError


def stop_when_all_is_read(state: Refreshed) -> None:
    if state.read == state.total:
        raise StoppedError


@pytest.mark.parametrize("watch", [stop, stop_when_all_is_read])
def test_a_refresh_that_is_stopped_changes_nothing(tmp_path: Path, watch: type[None]) -> None:
    write(tmp_path, document("a", link("b", "zebra")), document("b"))
    refresh_links(tmp_path)
    before = (tmp_path / POINTER).read_bytes(), link_folders(tmp_path), refreshed_mark(tmp_path)
    write(tmp_path, document("a", link("b", "kettle")))
    with pytest.raises(StoppedError):
        refresh_links(tmp_path, watch)
    assert ((tmp_path / POINTER).read_bytes(), link_folders(tmp_path), refreshed_mark(tmp_path)) == before
    assert (found(tmp_path, "zebra"), found(tmp_path, "kettle")) == ({"b"}, set())
    assert needs_refresh(tmp_path)


def test_a_first_refresh_that_is_stopped_leaves_nothing(tmp_path: Path) -> None:
    write(tmp_path, document("a", link("b", "zebra")), document("b"))
    files = sorted(tmp_path.iterdir())
    with pytest.raises(StoppedError):
        refresh_links(tmp_path, stop)
    assert sorted(tmp_path.iterdir()) == files
    assert found(tmp_path, "zebra") == set()


KILLED = """
    import os, signal, sys
    from pathlib import Path
    from goodbot.index import refresh_links

    def die(state):
        if state.read == state.total or sys.argv[2] == "early":
            os.kill(os.getpid(), signal.SIGKILL)

    refresh_links(Path(sys.argv[1]), die)
"""


@pytest.mark.parametrize("moment", ["early", "late"])
def test_what_a_killed_refresh_leaves_is_removed_by_the_next(tmp_path: Path, moment: str) -> None:
    write(tmp_path, document("a", link("b", "zebra")), document("b"))
    refresh_links(tmp_path)
    (kept,) = link_folders(tmp_path)
    write(tmp_path, document("a", link("b", "kettle")))
    for _ in range(2):
        command = [sys.executable, "-c", textwrap.dedent(KILLED), str(tmp_path), moment]
        assert subprocess.run(command, check=False).returncode == -9
    assert len(link_folders(tmp_path)) == 3
    assert kept in link_folders(tmp_path)
    assert (found(tmp_path, "zebra"), found(tmp_path, "kettle")) == ({"b"}, set())
    assert needs_refresh(tmp_path)
    refresh_links(tmp_path)
    (now,) = link_folders(tmp_path)
    assert now != kept
    assert (found(tmp_path, "zebra"), found(tmp_path, "kettle")) == (set(), {"b"})


def test_a_writer_may_add_pages_during_a_refresh(tmp_path: Path) -> None:
    """They get their link texts by the next refresh, which is needed."""
    write(tmp_path, document("a", link("b", "zebra")), document("b"))
    index = TantivyIndex(tmp_path)

    def add_meanwhile(state: Refreshed) -> None:
        if not state.finished:
            index.add(document("c", link("b", "kettle")))
            index.commit()

    refresh_links(tmp_path, add_meanwhile)
    index.close()
    assert (found(tmp_path, "zebra"), found(tmp_path, "kettle")) == ({"b"}, set())
    assert needs_refresh(tmp_path)
    assert index_statistics(tmp_path).refreshed is False
    refresh_links(tmp_path)
    assert found(tmp_path, "kettle") == {"b"}


def test_two_refreshes_at_once_leave_link_texts_that_can_be_read(tmp_path: Path) -> None:
    """The one that ends last may find its folder removed by the other: it says so, and changes nothing."""
    write(tmp_path, document("a", link("b", "zebra")), document("b"))
    others = iter([True])

    def refresh_meanwhile(state: Refreshed) -> None:
        if next(others, False):
            refresh_links(tmp_path)

    with suppress(RunError):
        refresh_links(tmp_path, refresh_meanwhile)
    assert found(tmp_path, "zebra") == {"b"}
    assert not needs_refresh(tmp_path)
    refresh_links(tmp_path)
    assert len(link_folders(tmp_path)) == 1
    assert found(tmp_path, "zebra") == {"b"}


@pytest.mark.parametrize("damage", ["removed", "torn", "without ranks"])
def test_link_texts_that_cannot_be_read_are_made_again(tmp_path: Path, damage: str) -> None:
    write(tmp_path, document("a", link("b", "zebra")), document("b"))
    refresh_links(tmp_path)
    assert not needs_refresh(tmp_path)
    (links,) = tmp_path.glob("links-*")
    match damage:
        case "removed":
            shutil.rmtree(links)
        case "torn":
            (links / "meta.json").write_text("{")
        case _:
            (links / "ranks").unlink()
    assert TantivySearch(tmp_path).search("zebra").hits == ()
    assert needs_refresh(tmp_path)
    refresh_links(tmp_path)
    assert not needs_refresh(tmp_path)
