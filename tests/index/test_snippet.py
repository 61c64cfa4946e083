"""Snippets: which piece, how long, what is marked."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goodbot.index import snippet as snippets
from goodbot.index.query import parse_query
from goodbot.index.snippet import SNIPPET_CHARS, Shown, Snippet
from goodbot.index.sought import Sought, SoughtTerms

FILLER = "Lorem ipsum dolor sit amet consectetur adipiscing elit. " * 40


def sought(query: str) -> Sought:
    return SoughtTerms(parse_query(query)).in_language("en")


def make_snippet(text: str, terms: Sought, otherwise: str = "", most: int | None = None) -> Snippet:
    return snippets.make_snippet(Shown(text, otherwise, max_chars=most), terms)


def snippet(text: str, query: str, otherwise: str = "") -> Snippet:
    return make_snippet(text, sought(query), otherwise)


def marked(found: Snippet) -> list[str]:
    return [found.text[start:end] for start, end in found.highlights]


MARKED = [
    ("other form, English", "Robots were crawling.", "robot crawl", ["Robots", "crawling"]),
    ("other form, Russian", "Список пакетов и пакету", "пакет", ["пакетов", "пакету"]),
    ("ё", "Играем в Сапёра", "сапера", ["Сапёра"]),
    ("accent", "Au café", "cafe", ["café"]),
    ("accent in two characters", "Au cafe\u0301 noir", "café", ["cafe\u0301"]),
    ("Han pairs join", "私は東京都に住む", "東京都", ["東京都"]),
    ("part of a word of parts", "run update-rc.d now", "rc.d", ["rc", "d"]),
    ("stop words are not marked", "the robots of the Web", "the robots", ["robots"]),
    ("unless there is nothing else", "the robots", "the", ["the"]),
]


@pytest.mark.parametrize(("name", "text", "query", "expected"), MARKED)
def test_marks(name: str, text: str, query: str, expected: list[str]) -> None:
    found = snippet(text, query)
    assert found.text == text
    assert marked(found) == expected


def test_window_around_the_words() -> None:
    found = snippet(f"{FILLER} A robot obeys its rules. {FILLER}", "robot rules")
    assert "A robot obeys its rules." in found.text
    assert found.text.startswith("… ")
    assert found.text.endswith(" …")
    assert SNIPPET_CHARS * 0.8 < len(found.text) <= SNIPPET_CHARS + 4
    inside = found.text.removeprefix("… ").removesuffix(" …")
    assert f" {inside} " in f" {FILLER} A robot obeys its rules. {FILLER}".replace("  ", " ")


def test_two_windows_for_words_far_apart() -> None:
    found = snippet(f"{FILLER} robot {FILLER} rules {FILLER}", "rules robot")
    assert marked(found) == ["robot", "rules"]
    assert found.text.count("…") == 3
    assert len(found.text) <= SNIPPET_CHARS + 8


def test_the_window_with_most_words_wins() -> None:
    found = snippet(f"robot one. {FILLER} robot rules. {FILLER} rules.", "robot rules")
    assert "robot rules." in found.text


ELSEWHERE = [
    ("description", "A text.", "Of robots.", "robots", "Of robots.", ["robots"]),
    ("beginning of the text", "A text.", "", "robots", "A text.", []),
    ("nothing at all", "", "", "robots", "", []),
    ("blanks only", " \n\t ", " ", "robots", "", []),
]


@pytest.mark.parametrize(("name", "text", "otherwise", "query", "expected", "marks"), ELSEWHERE)
def test_words_found_elsewhere(
    name: str, text: str, otherwise: str, query: str, expected: str, marks: list[str]
) -> None:
    found = snippet(text, query, otherwise)
    assert (found.text, marked(found)) == (expected, marks)


SUMMARY = "About robots and what they do on the Web."
FAR = f"robots {FILLER} rules"
SUMMARIES = [
    # description, whether it is a summary, text, query, whether the description is shown
    ("a summary", SUMMARY, True, "A robot text.", "robot", True),
    ("no summary", SUMMARY, False, "A robot text.", "robot", False),
    ("without the word", SUMMARY, True, "A kettle text.", "kettle", False),
    ("with one word of two", SUMMARY, True, "A robot and its rules.", "robot rules", False),
    ("with the word that the text has", SUMMARY, True, "A robot text.", "robot rules", True),
    ("the text has both, in two places", SUMMARY, True, FAR, "robot rules", False),
    ("both have both", f"{SUMMARY} By rules.", True, FAR, "robot rules", True),
    ("stop words do not count", SUMMARY, True, "The robot text of it.", "the robot of it", True),
    ("the word is beyond what is shown", f"{FILLER} robots", True, "A robot text.", "robot", False),
]


@pytest.mark.parametrize(
    ("otherwise", "is_summary", "text", "query", "expected"),
    [case[1:] for case in SUMMARIES],
    ids=[case[0] for case in SUMMARIES],
)
def test_summaries(otherwise: str, is_summary: bool, text: str, query: str, expected: bool) -> None:
    found = snippets.make_snippet(Shown(text, otherwise, is_summary=is_summary), sought(query))
    assert (found.text == otherwise) is expected
    assert marked(found)


def test_a_section_that_answers_comes_before_a_summary() -> None:
    shown = Shown("Some text.\nRobots\nThey crawl.", SUMMARY, headings=("Robots",), is_summary=True)
    assert snippets.make_snippet(shown, sought("robots")).text.endswith("Robots They crawl.")


def test_one_line() -> None:
    assert snippet("a robot\n\n  and\tmore", "robot").text == "a robot and more"


def test_marks_without_width_are_left_out() -> None:
    found = snippet("Con\u00adtainer\u200e |\u200b vector \u2060and list.", "vector")
    assert (found.text, marked(found)) == ("Container | vector and list.", ["vector"])


def test_text_without_blanks_is_cut_anyway() -> None:
    found = snippet("x" * 5000 + "東京" + "語" * 100_000, "東京")
    assert marked(found) == ["東京"]
    assert len(found.text) <= SNIPPET_CHARS + 4


SHORTER = [
    ("nothing", 0, ""),
    ("less than nothing", -1, ""),
    ("one character", 1, ""),
    ("a word", 10, "… robot …"),
    ("a few words", 30, "… A robot obeys its rules. …"),
]


@pytest.mark.parametrize(("name", "most", "expected"), SHORTER)
def test_shorter_if_the_page_asks(name: str, most: int, expected: str) -> None:
    text = f"{FILLER}A robot obeys its rules. {FILLER}"
    found = make_snippet(text, sought("robot"), "Of robots.", most)
    assert found.text == expected


def test_longer_is_not_longer() -> None:
    wanted = sought("rules robot")
    text = f"{FILLER} robot {FILLER} rules {FILLER}"
    assert make_snippet(text, wanted, "", 10_000) == make_snippet(text, wanted)


def test_of_the_description_too() -> None:
    assert make_snippet("A text.", sought("robot"), FILLER, 30).text == "Lorem ipsum dolor sit …"


WORDS = st.lists(st.sampled_from(["robot", "Robots", "rule", "東京都", "ёж", "the", "x" * 300, "\n", "é"])).map(
    " ".join
)


def test_positions_count_code_points() -> None:
    """As docs/reference/http.md says: 🤖 is one, though it has two UTF-16 units and four bytes; `é` in two is two."""
    found = snippet("🤖🤖 cafe\u0301: a robot", "robot")
    ((start, end),) = found.highlights
    assert (start, end, found.text[start:end]) == (12, 17, "robot")
    assert len(found.text[:start].encode("utf-16-le")) // 2 == 14


@settings(deadline=None)
@given(
    st.one_of(st.text(), WORDS),
    st.sampled_from(["robot rule", "東京", "ежи the", "x"]),
    st.text(max_size=50) | WORDS,
    st.booleans(),
)
def test_any_text(text: str, query: str, otherwise: str, is_summary: bool) -> None:
    found = snippets.make_snippet(Shown(text, otherwise, is_summary=is_summary), sought(query))
    assert len(found.text) <= 2 * SNIPPET_CHARS + 8
    assert "\n" not in found.text
    last = 0
    for start, end in found.highlights:
        assert last <= start < end <= len(found.text)
        last = end


@settings(deadline=None)
@given(st.one_of(st.text(), WORDS), st.sampled_from(["robot rule", "東京", "x"]), st.text(max_size=50), st.integers())
def test_never_longer_than_the_page_asks(text: str, query: str, otherwise: str, most: int) -> None:
    found = make_snippet(text, sought(query), otherwise, most)
    assert len(found.text) <= max(most, 0)
    assert all(0 <= start < end <= len(found.text) for start, end in found.highlights)
