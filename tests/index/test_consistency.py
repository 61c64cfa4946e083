"""Whatever happens to an index, it has exactly the pages of the last commit, and the link texts of the last refresh."""

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from goodbot.index import TantivyIndex, TantivySearch, needs_refresh, refresh_links
from goodbot.search_values import Document
from goodbot.url import Url
from goodbot.values import Link

PAGES = 5
WORDS = ["zero", "eins", "duo", "trois", "cuatro"]
ADD = st.tuples(st.just("add"), st.integers(0, PAGES - 1), st.sampled_from(WORDS), st.integers(0, PAGES - 1))
STEPS = st.lists(
    st.one_of(
        ADD,
        st.tuples(st.just("remove"), st.integers(0, PAGES - 1), st.just(""), st.just(0)),
        st.tuples(st.sampled_from(["commit", "crash", "refresh", "purge"]), st.just(0), st.just(""), st.just(0)),
    ),
    max_size=25,
)


def url(page: int) -> str:
    return f"https://pages.example/{page}"


def document(page: int, word: str, target: int) -> Document:
    """A page with one word of its own and one link, whose text names page and target."""
    links = (Link(Url(url(target)), f"from{page}to{target}"),)
    return Document(url(page), url(page), f"Page {page}", f"{word} is on it", links=links)


def found(search: TantivySearch, query: str) -> set[str]:
    return {hit.id for hit in search.search(f'"{query}"' if " " in query else query).hits}


@settings(max_examples=settings().max_examples * 3 // 5)
@given(steps=STEPS)
def test_after_any_steps_the_index_has_the_committed_pages(steps: list[tuple[str, int, str, int]]) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "index"
        index = TantivyIndex(folder)
        index.commit()
        search = TantivySearch(folder)
        committed: dict[int, tuple[str, int]] = {}
        pending: dict[int, tuple[str, int]] = {}
        linked: dict[int, tuple[str, int]] = {}
        for action, page, word, target in steps:
            if action == "add":
                index.add(document(page, word, target))
                pending[page] = word, target
            elif action == "remove":
                index.remove(url(page))
                pending.pop(page, None)
            elif action == "commit":
                index.commit()
                committed = dict(pending)
            elif action == "crash":
                index.close()
                index = TantivyIndex(folder)
                pending = dict(committed)
            elif action == "purge":
                index.purge()
                committed = dict(pending)
                linked = dict(committed) if linked else linked
            else:
                refresh_links(folder)
                linked = dict(committed)
            check(search, committed, linked)
        index.commit()
        refresh_links(folder)
        check(search, pending, pending)
        index.close()


def check(search: TantivySearch, committed: dict[int, tuple[str, int]], linked: dict[int, tuple[str, int]]) -> None:
    assert search.count() == len(committed)
    for word in WORDS:
        expected = {url(page) for page, (own, _) in committed.items() if own == word}
        assert {hit.id for hit in search.search(f'"{word}"').hits} == expected
    for page, (_, target) in linked.items():
        is_known = page != target and target in committed and target in linked
        hits = {hit.id for hit in search.search(f"from{page}to{target}").hits}
        assert hits == ({url(target)} if is_known else set())


@settings(max_examples=settings().max_examples * 3 // 10)
@given(pages=st.lists(ADD, max_size=12))
def test_a_rebuilt_index_answers_as_the_old_one(pages: list[tuple[str, int, str, int]]) -> None:
    """The order in which pages were added, and what they replaced, does not show."""
    with tempfile.TemporaryDirectory() as place:
        grown, rebuilt = Path(place) / "grown", Path(place) / "rebuilt"
        index = TantivyIndex(grown)
        last: dict[int, Document] = {}
        for _, page, word, target in pages:
            last[page] = document(page, word, target)
            index.add(last[page])
            index.commit()
        index.purge()
        index.close()
        index = TantivyIndex(rebuilt)
        for page in sorted(last):
            index.add(last[page])
        index.commit()
        index.close()
        assert needs_refresh(rebuilt)
        for folder in (grown, rebuilt):
            refresh_links(folder)
            assert not needs_refresh(folder)
        one, other = TantivySearch(grown), TantivySearch(rebuilt)
        for query in (*WORDS, "page", "is on it", "from0to1 from1to0"):
            assert one.search(query).hits == other.search(query).hits
