"""The Index and Search ports: what every implementation does."""

from collections.abc import Callable
from pathlib import Path

import pytest

from goodbot.errors import InputError
from goodbot.index import META_FILE, AwaitedSearch, TantivyIndex, TantivySearch
from goodbot.ports import Index, Search
from goodbot.search_values import Choices, Document, Filters

Opened = tuple[Callable[[], Index], Callable[[], Search]]


@pytest.fixture(params=["tantivy", "awaited"])
def opened(tmp_path: Path, request: pytest.FixtureRequest) -> Opened:
    """How to open an index for writing and for reading."""
    folder = tmp_path / "index"

    def read() -> Search | None:
        return TantivySearch(folder) if (folder / META_FILE).exists() else None

    if request.param == "awaited":
        return lambda: TantivyIndex(folder), lambda: AwaitedSearch(read)
    return lambda: TantivyIndex(folder), lambda: TantivySearch(folder)


def document(name: str, text: str) -> Document:
    return Document(id=name, url=f"https://example.org/{name}", title=name, text=text)


def ids(search: Search, query: str, limit: int = 10, offset: int = 0) -> list[str]:
    return [hit.id for hit in search.search(query, limit, offset).hits]


def test_nothing_is_found_before_commit(opened: Opened) -> None:
    write, read = opened
    index = write()
    index.commit()
    search = read()
    index.add(document("one", "a robot"))
    assert (ids(search, "robot"), search.count()) == ([], 0)
    index.commit()
    assert (ids(search, "robot"), search.count()) == (["one"], 1)
    index.close()


def test_close_does_not_commit(opened: Opened) -> None:
    write, read = opened
    index = write()
    index.add(document("one", "a robot"))
    index.close()
    index.close()
    assert read().count() == 0


def test_a_document_replaces_the_one_of_its_id(opened: Opened) -> None:
    write, read = opened
    index = write()
    index.add(document("one", "a robot"))
    index.add(document("one", "a spider"))
    index.commit()
    search = read()
    assert (ids(search, "robot"), ids(search, "spider")) == ([], ["one"])
    index.add(document("one", "a wanderer"))
    index.commit()
    assert (ids(search, "spider"), ids(search, "wanderer"), search.count()) == ([], ["one"], 1)
    index.close()


@pytest.mark.parametrize("name", ["plain", "x" * 100_000, "ключ", "a b c", "lone \ud800"])
def test_remove(opened: Opened, name: str) -> None:
    write, read = opened
    index = write()
    index.add(document("other", "a robot"))
    index.add(document(name, "a robot"))
    index.remove(name)
    index.remove("never was there")
    index.commit()
    assert ids(read(), "robot") == ["other"]
    index.close()


def test_pages_of_results(opened: Opened) -> None:
    write, read = opened
    index = write()
    for number in range(40):
        index.add(document(f"{number:02}", "robot " * (1 + number % 4)))
        if number % 7 == 0:
            index.commit()
    index.commit()
    index.close()
    search = read()
    whole = search.search("robot", 100)
    scores = [hit.score for hit in whole.hits]
    assert (whole.total, len(whole.hits)) == (40, 40)
    assert scores == sorted(scores, reverse=True)
    for size in (1, 3, 10):
        pages = [ids(search, "robot", size, offset) for offset in range(0, 40, size)]
        assert [each for page in pages for each in page] == [hit.id for hit in whole.hits]
    beyond = search.search("robot", 10, 10**15)
    assert (beyond.total, beyond.hits) == (40, ())
    assert search.search("robot", 0).total == 40


def test_what_a_hit_shows(opened: Opened) -> None:
    write, read = opened
    index = write()
    index.add(Document(id="7", url="https://example.org/a", title="A <b>title</b>", text="Of robots and men."))
    index.commit()
    index.close()
    results = read().search("robot")
    (hit,) = results.hits
    assert (results.query, results.total) == ("robot", 1)
    assert results.took_ms > 0
    assert (hit.id, hit.url, hit.title, hit.snippet) == (
        "7",
        "https://example.org/a",
        "A <b>title</b>",
        "Of robots and men.",
    )
    assert [hit.snippet[start:end] for start, end in hit.highlights] == ["robots"]


def test_an_empty_index_answers(opened: Opened) -> None:
    write, read = opened
    write().close()
    search = read()
    assert (search.search("robot").total, search.count()) == (0, 0)


@pytest.mark.parametrize("query", ["", "  "])
def test_an_empty_query(opened: Opened, query: str) -> None:
    write, read = opened
    write().close()
    with pytest.raises(InputError):
        read().search(query)
    with pytest.raises(InputError):
        read().explain(query, "https://example.org/one")


def test_filters(opened: Opened) -> None:
    write, read = opened
    index = write()
    index.add(document("one", "a robot"))
    index.add(Document(id="two", url="https://other.example/two", title="", text="a robot"))
    index.commit()
    index.close()
    search = read()
    for site, expected in (("other.example", ["two"]), ("example.org", ["one"]), ("", ["one", "two"])):
        assert sorted(hit.id for hit in search.search("robot", filters=Filters(site=site)).hits) == expected
    with pytest.raises(InputError, match="after: needs a date, such as 2024-05-01"):
        search.search("robot", filters=Filters(after="soon"))


def test_explain(opened: Opened) -> None:
    write, read = opened
    index = write()
    index.add(Document(id="https://a.example/1", url="https://a.example/1", title="Robots", text="a robot"))
    index.commit()
    index.close()
    search = read()
    (hit,) = search.search("robot").hits
    found, other = search.explain("robot", hit.url), search.explain("kettle", hit.url)
    assert found is not None
    assert (found.is_found, found.position) == (True, 1)
    assert found.score == pytest.approx(hit.score, abs=1e-3)
    assert {name for word in found.words for name, _ in word.fields} == {"title", "body"}
    assert other is not None
    assert (other.is_found, other.position) == (False, None)
    assert search.explain("robot", "https://a.example/2") is None
    assert search.explain("robot", hit.url, filters=Filters(site="b.example")) is not None


def test_choices(opened: Opened) -> None:
    write, read = opened
    index = write()
    index.commit()
    search = read()
    assert search.choices() == Choices()
    index.add(Document(id="1", url="https://a.example/1.html", title="", text="ein", language="de"))
    index.commit()
    assert search.choices() == Choices((("de", 1),), (("html", 1),))
    index.close()


@pytest.mark.parametrize(("query", "found"), [("-robot", ["two"]), ("site:example.org", ["one", "two"]), ("...", [])])
def test_a_query_without_a_word(opened: Opened, query: str, found: list[str]) -> None:
    write, read = opened
    index = write()
    index.add(document("one", "a robot"))
    index.add(document("two", "a spider"))
    index.commit()
    assert sorted(ids(read(), query)) == found
    index.close()
