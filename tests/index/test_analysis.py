"""Text → terms."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goodbot.index import analysis
from goodbot.index.analysis import (
    CACHED_CHUNKS,
    MAX_WORD_CHARS,
    TermCache,
    identifier_endings,
    identifiers,
    located_terms,
    query_terms,
    terms,
)

SAME = [
    ("English forms", "robots robot's Robot ROBOTS’"),
    ("English verbs", "crawling crawled crawls crawl"),
    ("Russian forms", "пакет пакета пакетами Пакеты"),
    ("ё is е", "ёлка елка Ёлки елки"),
    ("stress mark", "за\u0301мок замок"),
    ("diacritics", "café cafe CAFE\u0301"),
    ("Vietnamese", "Đặng dang"),
    ("sharp s", "Straße strasse"),
    ("Greek, final sigma and accent", "Λόγος ΛΟΓΟΣ λογος"),
    ("Arabic points", "مُحَمَّد محمد"),
    ("Hebrew points", "מַיִם מים"),
    ("soft hyphen", "exam\u00adple example"),
    ("elision", "l'homme homme d’homme"),
    ("full-width letters", "ＲＯＢＯＴ robot"),
    ("dotless and dotted i", "İstanbul istanbul"),
]

SPLIT = [
    ("signs", "C++ and C# not page#anchor", "c++ and c# not page anchor"),
    ("C++ with a number", "c++17", "c++ 17"),
    ("apostrophe", "don't", "dont"),
    ("parts", "update-rc.d x_y 3.14", "updat rc d x y 3 14"),
    ("й stays й", "йод", "йод"),
    ("Devanagari marks", "हिन्दी", "हिन्दी"),
    ("Han pairs", "東京都", "東京 京都 都"),
    ("Han beside Latin", "Python入門", "python 入門 門"),
    ("Hangul", "한국어", "한국 국어 어"),
    ("one Han character", "駅", "駅"),
    ("long words are cut", "a" * 100, "a" * 64),
    ("nothing", " .,-'’ ", ""),
]


IDENTIFIERS = [
    ("dots", "call os.path.join(a, *b) now", ["os.path.join"]),
    ("underscores", "pg_dump, PG_DUMPALL.", ["pg_dump", "pg_dumpall"]),
    ("C++", "QString::split() and x->y_z", ["qstring::split", "x->y_z"]),
    ("paths and packages", "debian/rules update-rc.d", ["debian/rules", "update-rc.d"]),
    ("hyphens alone are prose", "a read-only, built-in x-terminal-emulator", []),
    ("no words, no numbers", "robots 3.14 2024-05-01 1_000 1/2", []),
    ("separators at the ends", ".profile robots.txt. /etc/", ["robots.txt"]),
    ("accents", "Café_Noir", ["cafe_noir"]),
    ("Cyrillic", "ёлка.лес", ["елка.лес"]),
    ("long ones are cut", "a_" * 100, [("a_" * 100)[:64]]),
]

ENDINGS = [
    ("os.path.join", ["os.path.join", "path.join"]),
    ("c.pg_dump", ["c.pg_dump", "pg_dump"]),
    ("asyncio.create_task", ["asyncio.create_task", "create_task"]),
    ("a::b->c.d", ["a::b->c.d", "b->c.d", "c.d"]),
    ("robots.txt", ["robots.txt"]),
    ("a/b/c/d/e/f/g", ["a/b/c/d/e/f/g", "d/e/f/g", "e/f/g", "f/g"]),
]


@pytest.mark.parametrize(("name", "text", "expected"), IDENTIFIERS)
def test_joined_words_are_identifiers(name: str, text: str, expected: list[str]) -> None:
    assert list(identifiers(text)) == expected


@pytest.mark.parametrize(("identifier", "endings"), ENDINGS)
def test_endings_of_identifiers(identifier: str, endings: list[str]) -> None:
    assert list(identifier_endings(identifier)) == endings


@settings(deadline=None)
@given(st.text(alphabet=st.sampled_from("aB1é_.:/->- 東 "), max_size=200))
def test_identifiers_of_any_text_have_no_space_and_are_short(text: str) -> None:
    for name in identifiers(text):
        assert " " not in name
        assert all(name.endswith(ending) for ending in identifier_endings(name))
        assert len(name) <= 3 * MAX_WORD_CHARS


@pytest.mark.parametrize(("name", "text"), SAME)
def test_forms_of_one_word_are_one_term(name: str, text: str) -> None:
    assert len(set(terms(text).split())) == 1, terms(text)


@pytest.mark.parametrize(("name", "text", "expected"), SPLIT)
def test_words(name: str, text: str, expected: str) -> None:
    assert terms(text) == expected


def test_a_query_leaves_out_the_last_character_of_a_run() -> None:
    assert query_terms("東京都 駅") == (("東京",), ("京都",), ("駅",))


@settings(deadline=None)
@given(st.text(max_size=300))
def test_terms_and_their_places_agree(text: str) -> None:
    found = terms(text).split()
    places = list(located_terms(text, frozenset(found)))
    assert [term for _, _, term in places if term] == found[: len(places)]
    assert all(0 <= start < end <= len(text) for start, end, _ in places)


TRICKY = st.text("aZ9C_#+'’-. \t\x00\x1c\x85\xa0\xad\u0301\u200d\u2014\u3000éйё東京한\U00020000\ud800", max_size=60)


@settings(deadline=None, max_examples=500)
@given(TRICKY | st.text(max_size=300) | TRICKY.map(lambda text: "".join(text.split()) * 4))
def test_terms_are_those_of_the_words_of_the_whole_text(text: str) -> None:
    words = analysis._WORD.findall(text)
    assert terms(text).split() == " ".join(map(TermCache()._of_word, words)).split()


@given(TRICKY)
def test_terms_can_be_encoded(text: str) -> None:
    assert terms(text).encode().decode() == terms(text)


def test_long_text_is_read_in_stretches() -> None:
    text = "alpha " * 500 + "omega " + "東" * 5000 + " omega"
    places = [text[start:end] for start, end, _ in located_terms(text, frozenset({"omega"}))]
    assert places == ["omega", "omega"]


def test_chunks_remembered_are_bounded_and_frequent_ones_stay() -> None:
    known = TermCache()
    assert known["crawling"] == "crawl"
    for number in range(5 * CACHED_CHUNKS):
        known[f"word{number}"]
        if not number % 1000:
            assert known["crawling"] == "crawl"
    assert len(known) + len(known.older) <= 2 * CACHED_CHUNKS
    assert "crawling" in {**known, **known.older}
