"""Where the words of a text are that have sought terms."""

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.index.analysis import query_terms, word_terms
from goodbot.index.languages import STEMMERS
from goodbot.index.locate import (
    ENOUGH_PLACES,
    MAX_ANALYSED_CHARS,
    MAX_EXAMINED,
    MAX_TERMS,
    begun_places,
    word_places,
)

LANGUAGES: Final = ["en", "de", "fr", "ru", "el", "tr", "ja", "ar", "", "zz", *STEMMERS]


def sought(words: str, language: str) -> frozenset[str]:
    return frozenset(terms[0] for terms in query_terms(words, (language,)))


def words(text: str, query: str, language: str = "en") -> list[str]:
    return [text[start:end] for start, end, _ in word_places(text, sought(query, language), language)]


FOUND = [
    ("English", "en", "Robots crawl; a robot is crawling.", "robot crawls", ["Robots", "crawl", "robot", "crawling"]),
    ("a stem with another last letter", "en", "try, tries and trying", "tries", ["try", "tries", "trying"]),
    ("inside a word", "en", "disrobotic robotics xrobot", "robot", ["robotics"]),
    ("German", "de", "Häuser, Haus und HÄUSERN", "Hauses", ["Häuser", "Haus", "HÄUSERN"]),
    ("sharp s", "de", "STRASSE und Straße", "straße", ["STRASSE", "Straße"]),
    ("French, after an article", "fr", "Les ARBRES, l'arbre", "arbre", ["ARBRES", "arbre"]),
    ("accents", "en", "Café, cafe\u0301 and cafe", "cafe", ["Café", "cafe\u0301", "cafe"]),
    ("Turkish capitals", "tr", "İSTANBUL İstanbul istanbul", "istanbul", ["İSTANBUL", "İstanbul", "istanbul"]),
    ("full width", "en", "ＦＩＬＥ file", "file", ["ＦＩＬＥ", "file"]),
    ("Russian", "ru", "Кошка и кошки, ёж и еж", "кошкой ёж", ["Кошка", "кошки", "ёж", "еж"]),
    ("Ukrainian", "uk", "Їжак, її їжаки", "їжак", ["Їжак", "їжаки"]),
    ("Greek", "el", "Ο ΛΌΓΟΣ, ο λόγος", "λόγος", ["ΛΌΓΟΣ", "λόγος"]),
    ("Latin words in a Russian text", "ru", "Пакет update-rc.d", "rc", ["rc"]),
    ("Arabic", "ar", "هذا كتاب", "كتاب", ["كتاب"]),
    ("Hebrew", "he", "שלום לך", "שלום", ["שלום"]),
    ("Hindi", "hi", "हिन्दी भाषा", "हिन्दी", ["हिन्दी"]),
    ("Han", "ja", "私は東京都に住む", "東京都", ["東京", "京都"]),
    ("Thai", "th", "ภาษาไทย", "ไทย", ["ไท", "ทย"]),
    ("Hangul", "ko", "한국어를 배우다", "한국", ["한국"]),
    ("C++ and C#", "en", "C, C++ and C#", "C++ C#", ["C++", "C#"]),
    ("apostrophes", "en", "don't, don’t, dont", "don't", ["don't", "don’t", "dont"]),
    ("characters outside the first plane", "en", "𝐑obot 😀 robot", "robot", ["𝐑obot", "robot"]),
    ("Deseret", "en", "𐐔𐐇𐐝 𐐼𐐯𐑅", "𐐼𐐯𐑅", ["𐐔𐐇𐐝", "𐐼𐐯𐑅"]),
    ("nothing", "en", "nothing of it", "robot", []),
    ("no text", "en", "", "robot", []),
    ("no terms", "en", "robot", "", []),
]


@pytest.mark.parametrize(("name", "language", "text", "query", "expected"), FOUND, ids=[row[0] for row in FOUND])
def test_words_are_found_in_many_scripts(name: str, language: str, text: str, query: str, expected: list[str]) -> None:
    assert words(text, query, language) == expected


BEGINNING_OTHERWISE = [
    ("æ", "en", "An Æther here", "aether", "Æther"),
    ("ligature", "en", "a ﬁle", "file", "ﬁle"),
    ("Arabic points", "ar", "كِتَاب", "كتاب", "كِتَاب"),
    ("Hebrew points", "he", "שָׁלוֹם", "שלום", "שָׁלוֹם"),
]


@pytest.mark.parametrize(("name", "language", "text", "query", "expected"), BEGINNING_OTHERWISE)
def test_words_that_do_not_begin_like_their_terms_are_found_near_the_beginning_if_there_are_no_others(
    name: str, language: str, text: str, query: str, expected: str
) -> None:
    assert words(text, query, language) == [expected]
    assert words("x " * MAX_ANALYSED_CHARS + text, query, language) == []


def test_the_places_of_one_term_are_bounded() -> None:
    text = "robot rule " * 1000
    assert words(text, "robot rule") == ["robot", "rule"] * ENOUGH_PLACES
    assert len(begun_places(text, frozenset({"robot"}), "en", 300)) == 300


def test_other_words_with_the_same_beginning_are_examined_in_bounds() -> None:
    few, many = "robotomy " * (MAX_EXAMINED - 1), "robotomy " * MAX_EXAMINED
    assert words(f"{few}robot", "robot") == ["robot"]
    assert begun_places(f"{many}robot", frozenset({"robot"}), "en") == []


def test_the_longest_terms_are_located() -> None:
    long, short = [f"word{number:03}" for number in range(MAX_TERMS)], [f"x{number:02}" for number in range(20)]
    places = begun_places(" ".join([*short, *long]), frozenset([*short, *long]), "en")
    assert [term for _, _, term in places] == long


LETTERS: Final = "aeitrsßçéëøıİŁЁёйиїκΛςσגשׁכتا\u064b日本語ทไ한국ﬁＡ𝐑𐐔'’-_+#0½ \n\t\u0301\u200d\u00ad\u202e\x00\ud800😀"
TEXTS = st.one_of(st.text(max_size=80), st.text(LETTERS, max_size=80))


@given(text=TEXTS, query=TEXTS, language=st.sampled_from(LANGUAGES), own=st.integers(0, 10))
def test_any_text_has_places_that_are_words_with_the_term(text: str, query: str, language: str, own: int) -> None:
    """Also for terms that are parts of the text itself."""
    terms = sought(query, language) | sought(text[own : own + 20], language)
    places = word_places(text, terms, language)
    assert places == sorted(places)
    for start, end, term in places:
        assert 0 <= start < end <= len(text)
        assert term in terms
        assert term in word_terms(text[start:end], language)


@given(text=TEXTS, terms=st.frozensets(st.text(LETTERS, max_size=5), max_size=100), language=st.text(max_size=3))
def test_any_terms_may_be_sought(text: str, terms: frozenset[str], language: str) -> None:
    for start, end, term in word_places(text, terms, language):
        assert 0 <= start <= end <= len(text)
        assert term in terms


@given(st.lists(st.sampled_from(["robot", "Robots", "robotomy", "ёж", "Ежи", "日本", "x"]), max_size=15))
def test_each_word_is_found_whatever_is_around_it(parts: list[str]) -> None:
    assert words(", ".join(parts), "robot") == [part for part in parts if part in ("robot", "Robots")]


LONG = [
    ("one word", "a" * 1_000_000, "a"),
    ("a beginning again and again", "robo" * 250_000, "robot"),
    ("words that are no hits", "robotomy " * 100_000, "robot"),
    ("letters that change their number", "İ" * 300_000, "i"),
    ("marks", "e" + "\u0301" * 300_000, "e"),
    ("all letters", "".join(map(chr, (*range(0xD800), *range(0xE000, 0x30000)))), "ж"),
    ("Han", "日本" * 300_000, "日本"),
]


@pytest.mark.parametrize(("name", "text", "query"), LONG, ids=[row[0] for row in LONG])
def test_long_texts_end(name: str, text: str, query: str) -> None:
    for start, end, _ in word_places(text, sought(query, "en"), "en"):
        assert 0 <= start < end <= len(text)
