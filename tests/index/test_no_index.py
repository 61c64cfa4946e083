"""Searches of a crawl that keeps no index, and of one whose index does not exist yet."""

from pathlib import Path

import pytest

from goodbot.errors import DamagedError, InputError, NoIndexError
from goodbot.index import AwaitedSearch, NoSearch, TantivyIndex, TantivySearch
from goodbot.ports import Search
from goodbot.search_values import Choices, Document, Filters


def test_without_an_index_every_search_says_why() -> None:
    search = NoSearch("this crawl has none")
    with pytest.raises(NoIndexError, match="this crawl has none"):
        search.search("robot")
    with pytest.raises(NoIndexError, match="this crawl has none"):
        search.explain("robot", "https://a.example/")
    assert (search.suggest("r"), search.choices(), search.count()) == ((), Choices(), 0)


def test_until_there_is_an_index_nothing_is_found(tmp_path: Path) -> None:
    opened: list[Search] = []

    def open_index() -> Search | None:
        if not tmp_path.joinpath("index").exists():
            return None
        opened.append(TantivySearch(tmp_path / "index"))
        return opened[-1]

    search = AwaitedSearch(open_index)
    results = search.search('robot "crawl', filters=Filters(site="a.example"))
    assert (results.total, results.hits, results.listed) == (0, (), 0)
    assert results.searched_for == "robot, crawl, on a.example"
    assert (search.suggest("r"), search.choices(), search.count()) == ((), Choices(), 0)
    assert search.explain("robot", "https://a.example/") is None
    for query, filters, limit in (("", Filters(), 1), ("robot", Filters(before="soon"), 1), ("robot", Filters(), -1)):
        with pytest.raises(InputError):
            search.search(query, limit, filters=filters)
    index = TantivyIndex(tmp_path / "index")
    index.add(Document("1", "https://a.example/", "Robots", "a robot", language="en"))
    index.commit()
    index.close()
    assert [hit.id for hit in search.search("robot").hits] == ["1"]
    assert (search.count(), search.choices().languages) == (1, (("en", 1),))
    assert len(opened) == 1


def test_what_opening_raises_is_raised_until_it_succeeds(tmp_path: Path) -> None:
    TantivyIndex(tmp_path).close()
    meta = tmp_path / "meta.json"
    content = meta.read_bytes()
    meta.write_text("{")
    search = AwaitedSearch(lambda: TantivySearch(tmp_path))
    with pytest.raises(DamagedError):
        search.search("robot")
    meta.write_bytes(content)
    assert search.search("robot").total == 0
