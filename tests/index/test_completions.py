"""What a query that is being typed may be completed to."""

import sqlite3
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goodbot.index import TantivyIndex, TantivySearch, refresh_links
from goodbot.index.completions import COMMON, PhraseCounter, completions
from goodbot.search_values import Document
from goodbot.values import Section


def file_of(folder: Path, counter: PhraseCounter) -> Path:
    file = folder / "completions.sqlite"
    counter.write(file)
    return file


def test_titles_come_before_headings(tmp_path: Path) -> None:
    counter = PhraseCounter()
    counter.add_page("Crawl delay", ["Crawlers", "Crawl"])
    counter.add_page("Robots", ["Crawlers"])
    assert completions([file_of(tmp_path, counter)], "crawl", 9) == ["Crawl delay", "Crawlers", "Crawl"]


@pytest.mark.parametrize(
    ("title", "typed", "expected"),
    [
        ("os.path — Common paths — Python 3.11 documentation", "os", ["os.path"]),
        ("os.path — Common paths — Python 3.11 documentation", "comm", ["Common paths"]),
        ("5.1.3. List comprehensions", "list", ["List comprehensions"]),
        ("os.path.join(path, *paths)", "os.path.j", ["os.path.join"]),
        ("Naïve Bayes", "naive", ["Naïve Bayes"]),
        ("Ёж в саду", "еж", ["Ёж в саду"]),
        ("東京の駅", "東京", ["東京の駅"]),
        ("C++", "c++", ["C++"]),
        ("Introduction to C#", "intro", ["Introduction to C#"]),
        ("operator==(std::pair) - reference", "operator", ["operator=="]),
        ("std::pair - reference", "std::p", ["std::pair"]),
        ("Use of (robots: pair)", "pair", ["pair"]),
        ("x" * 61, "x", []),
    ],
)
def test_what_a_title_gives(tmp_path: Path, title: str, typed: str, expected: list[str]) -> None:
    counter = PhraseCounter()
    counter.add_page(title, [])
    assert completions([file_of(tmp_path, counter)], typed, 9) == expected


def test_what_many_pages_have_is_no_completion(tmp_path: Path) -> None:
    counter = PhraseCounter()
    for number in range(COMMON + 1):
        counter.add_page(f"Page {number} — The manual", ["See also"])
    file = file_of(tmp_path, counter)
    assert completions([file], "see", 9) == completions([file], "the", 9) == []
    assert len(completions([file], "page", 100)) == COMMON + 1


def test_memory_is_bounded(tmp_path: Path) -> None:
    counter = PhraseCounter(most=10)
    for number in range(1000):
        counter.add_page(f"Title {number}", [])
        counter.add_page("Often here", [])
    file = file_of(tmp_path, counter)
    assert len(completions([file], "title", 100)) <= 10
    with sqlite3.connect(file) as connection:
        assert connection.execute("SELECT count(*) FROM phrases").fetchone()[0] <= 10


@pytest.fixture(scope="module")
def search(tmp_path_factory: pytest.TempPathFactory) -> TantivySearch:
    folder = tmp_path_factory.mktemp("index")
    index = TantivyIndex(folder)
    sections = (Section("delay", "Crawl delay"), Section("os.path.join", "os.path.join(path)", is_term=True))
    index.add(Document("1", "https://a.example/1", "Robots", "A robot waits: the crawl delay.", sections=sections))
    index.add(Document("2", "https://a.example/2", "Delivery of letters", "A letter is delivered."))
    code = (Section("a", "-fPIC and -Wall"), Section("b", "std::pair in C++"), Section("c", "rules, NOT wishes"))
    index.add(Document("4", "https://a.example/4", "Node.js", "Of node.js, std::pair and -fPIC.", sections=code))
    hidden = (Section("secret", "Secret heading"),)
    index.add(Document("3", "https://a.example/3", "Silent", "Nothing is shown.", snippet_chars=0, sections=hidden))
    index.commit()
    index.close()
    refresh_links(folder)
    return TantivySearch(folder)


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("cra", ("Crawl delay", "crawl")),
        ("os.path.j", ("os.path.join",)),
        ("robots del", ("robots delay",)),
        ("letters del", ("letters delivery",)),
        ("sec", ()),
        ("zzz", ()),
        ("", ()),
        ("  ", ()),
        ('"', ()),
        ("node.j", ("Node.js",)),
        ("the node.j", ("the node.js",)),
        ("node std::p", ("node std::pair",)),
        ("c+", ("c++",)),
        ('"crawl del', ("Crawl delay", '"crawl delay"')),
        ("(robots del", ("(robots delay)",)),
        ("robots -lett", ("robots -letters",)),
        ("-lett", ("-letters",)),
        ("-fp", ('"-fPIC and -Wall"', "-fpic")),
        ("rules", ('"rules, NOT wishes"', "rules")),
    ],
)
def test_suggestions(search: TantivySearch, typed: str, expected: tuple[str, ...]) -> None:
    assert search.suggest(typed) == expected


def test_suggestions_are_limited(search: TantivySearch) -> None:
    assert len(search.suggest("d", 1)) == 1


@settings(deadline=None, max_examples=100)
@given(typed=st.text(max_size=300))
def test_anything_may_be_typed(search: TantivySearch, typed: str) -> None:
    found = search.suggest(typed)
    assert len(found) <= 8
    assert not any(text.count('"') % 2 for text in found)


def test_without_a_refresh_nothing_is_suggested(tmp_path: Path) -> None:
    index = TantivyIndex(tmp_path)
    index.add(Document("1", "https://a.example/", "Robots", "A robot."))
    index.commit()
    index.close()
    assert TantivySearch(tmp_path).suggest("rob") == ()
