"""The file of synonyms, and searches with them."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.errors import InputError
from goodbot.index import TantivyIndex, TantivySearch, load_synonyms
from goodbot.index.synonyms import MAX_BYTES, MAX_MEANT, Synonym, SynonymTable
from goodbot.search_values import Document

FILE = """\ufeff# words of the Web
robot, crawler , web spider
k8s => kubernetes, container  platform

"""


def test_a_file(tmp_path: Path) -> None:
    file = tmp_path / "synonyms.txt"
    file.write_text(FILE, encoding="utf-8")
    assert load_synonyms(file) == (
        Synonym("robot", "crawler"),
        Synonym("robot", "web spider"),
        Synonym("crawler", "robot"),
        Synonym("crawler", "web spider"),
        Synonym("web spider", "robot"),
        Synonym("web spider", "crawler"),
        Synonym("k8s", "kubernetes"),
        Synonym("k8s", "container platform"),
    )


def test_no_file(tmp_path: Path) -> None:
    assert load_synonyms(tmp_path / "synonyms.txt") == ()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"robot\n", "line 1: needs two words"),
        (b"a, b\n, ,\n", "line 2: needs two words"),
        (b"robot =>\n", "line 1: needs two words"),
        (b"=> robot\n", "line 1: needs two words"),
        (b"robot, ...\n", "line 1: `...` has no word"),
        (b"robot, one two three four five six\n", "line 1: `one two three four five six` has more than 5 words"),
        (b"\xff, robot\n", "is not valid UTF-8"),
        (b"#" * (MAX_BYTES + 1), "is too long"),
    ],
)
def test_what_cannot_be_read(tmp_path: Path, data: bytes, message: str) -> None:
    file = tmp_path / "synonyms.txt"
    file.write_bytes(data)
    with pytest.raises(InputError, match=message):
        load_synonyms(file)


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        load_synonyms(tmp_path)


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    file = tmp_path_factory.mktemp("any") / "synonyms.txt"
    file.write_bytes(data)
    with suppress(InputError):
        assert all(one.typed and one.meant for one in load_synonyms(file))


def test_synonyms_of_one_word_are_limited() -> None:
    table = SynonymTable([Synonym("a1", f"b{number}") for number in range(100)], ("en",))
    assert len(table.find([("a1",)])[0]) == MAX_MEANT


PAGES = [
    Document("robot", "https://a.example/1", "Robot", "A robot reads pages."),
    Document("crawlers", "https://a.example/2", "Two", "Crawlers follow links."),
    Document("spider", "https://a.example/3", "Three", "A web spider of the first years."),
    Document("web", "https://a.example/4", "Four", "A spider in its web."),
    Document("kubernetes", "https://a.example/5", "Five", "Kubernetes runs containers."),
]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("robots", {"robot", "crawlers", "spider"}),
        ("crawler", {"robot", "crawlers", "spider"}),
        ("web spider", {"robot", "crawlers", "spider", "web"}),
        ("k8s", {"kubernetes"}),
        ("kubernetes", {"kubernetes"}),
        ('"robots"', {"robot"}),
    ],
)
def test_searches_find_synonyms(tmp_path: Path, query: str, expected: set[str]) -> None:
    index = TantivyIndex(tmp_path)
    for page in PAGES:
        index.add(page)
    index.commit()
    index.close()
    synonyms = (
        *(
            Synonym(one, two)
            for one in ("robot", "crawler", "web spider")
            for two in ("robot", "crawler", "web spider")
            if one != two
        ),
        Synonym("k8s", "kubernetes"),
    )
    results = TantivySearch(tmp_path, synonyms=synonyms).search(query)
    assert {hit.id for hit in results.hits} == expected


def test_synonyms_are_highlighted(tmp_path: Path) -> None:
    index = TantivyIndex(tmp_path)
    index.add(PAGES[1])
    index.commit()
    index.close()
    hit = TantivySearch(tmp_path, synonyms=[Synonym("robot", "crawler")]).search("robots").hits[0]
    assert [hit.snippet[start:end] for start, end in hit.highlights] == ["Crawlers"]
