"""Links to the sections of a page that answer a query."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.index import TantivyIndex, TantivySearch
from goodbot.index.query import parse_query
from goodbot.index.section_links import MAX_SECTION_LINKS, best_sections, section_links
from goodbot.index.sought import SoughtTerms
from goodbot.search_values import Document, SectionLink
from goodbot.values import Section

SECTIONS = (
    ("os.path", "Common path operations"),
    ("os.path.abspath", "os.path.abspath(path)"),
    ("os.path.join", "os.path.join(path, *paths)"),
    ("dict.setdefault", "setdefault(key[, default])"),
    ("notes", "Notes"),
)


def chosen(query: str, title: str = "Manual") -> tuple[list[int], bool]:
    return best_sections(title, SECTIONS, SoughtTerms(parse_query(query)).in_language("en").main, "en")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("os.path.join", ([2], True)),
        ("joining os paths", ([2], True)),
        ("dict setdefault", ([3], True)),
        ("note", ([4], True)),
        ("setdefault of kettles in the kitchen", ([], False)),
        ("kettle", ([], False)),
    ],
)
def test_the_sections_with_the_most_words(query: str, expected: tuple[list[int], bool]) -> None:
    assert chosen(query) == expected


def test_most_words_are_enough() -> None:
    assert chosen("os path split") == ([0, 1, 2], False)


def test_the_heading_of_the_page_is_not_repeated() -> None:
    assert chosen("path operations", "Common path operations — Manual")[0] == []


def test_a_link_has_the_address_of_the_page() -> None:
    links = section_links("https://a.example/b?c=d#e", (("a b", "Ä"), ("ü", "Ö")), [0, 1])
    assert links == (
        SectionLink("https://a.example/b?c=d#a%20b", "Ä"),
        SectionLink("https://a.example/b?c=d#%C3%BC", "Ö"),
    )


def test_a_hit_lists_them_and_its_snippet_is_from_the_first(tmp_path: Path) -> None:
    index = TantivyIndex(tmp_path)
    text = (
        "os.path\n"
        + "Paths are strings. " * 20
        + "\n"
        + "os.path.abspath(path)\nCalls join(os.getcwd(), path).\nos.path.join(path, *paths)\nJoins segments."
        + " It joins them." * 20
    )
    sections = tuple(Section(anchor, heading, is_term=True) for anchor, heading in SECTIONS)
    index.add(Document("1", "https://a.example/os.path.html", "os.path", text, sections=sections))
    index.commit()
    index.close()
    hit = TantivySearch(tmp_path).search("os.path.join").hits[0]
    assert hit.sections == (SectionLink("https://a.example/os.path.html#os.path.join", "os.path.join(path, *paths)"),)
    assert hit.snippet.startswith("… os.path.join(path, *paths) Joins segments. It joins them.")


def test_a_page_that_shows_no_text_shows_no_sections(tmp_path: Path) -> None:
    index = TantivyIndex(tmp_path)
    section = Section("a", "Secret robots")
    index.add(Document("1", "https://a.example/", "A", "Secret robots.", snippet_chars=0, sections=(section,)))
    index.commit()
    index.close()
    assert TantivySearch(tmp_path).search("robots").hits[0].sections == ()


@given(
    st.lists(st.tuples(st.text(max_size=20), st.text(alphabet="os path\njoin ж日", max_size=30)), max_size=50),
    st.text(alphabet="os path join ж日", max_size=30),
    st.text(max_size=20),
)
def test_any_sections(sections: list[tuple[str, str]], query: str, title: str) -> None:
    numbers, _ = best_sections(title, sections, SoughtTerms(parse_query(query)).in_language("en").main, "en")
    assert numbers == sorted(set(numbers))
    assert len(numbers) <= MAX_SECTION_LINKS
    assert all(link.url.isascii() for link in section_links("https://a.example/", sections, numbers))


def test_a_word_of_all_sections_counts_in_the_section_with_the_others() -> None:
    """`os` is in the first 400 sections, of which only 200 are looked at."""
    sections = [(f"os.f{number}", f"os.f{number}()") for number in range(400)]
    sections.append(("os.walk", "os.walk(top)"))
    terms = SoughtTerms(parse_query("os.walk")).in_language("en").main
    assert best_sections("os", sections, terms, "en") == ([400], True)
