"""Which words are near a misspelt one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.index.spelling import CHOICES, can_be_misspelt, choices, closest, halves, likelihood, neighbours


@pytest.mark.parametrize(
    ("word", "neighbour"),
    [
        ("robts", "robots"),
        ("robbots", "robots"),
        ("robpts", "robots"),
        ("robtos", "robots"),
        ("obots", "robots"),
        ("кошкм", "кошки"),
        ("λογσ", "λογοσ"),
    ],
    ids=["left out", "added", "replaced", "exchanged", "first letter", "Russian", "Greek"],
)
def test_one_error_away(word: str, neighbour: str) -> None:
    assert neighbour in set(neighbours(word))


def test_two_errors_are_too_many() -> None:
    assert "robots" not in set(neighbours("rbts"))


@pytest.mark.parametrize("word", ["dog", "c99lib", "東京都", "кошкa", "naïve", "", "a" * 25, "don't"])
def test_words_that_are_left_alone(word: str) -> None:
    assert not can_be_misspelt(word)


@pytest.mark.parametrize("word", ["robts", "кошкм", "internationalization"])
def test_words_that_can_be_corrected(word: str) -> None:
    assert can_be_misspelt(word)


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=24))
def test_neighbours_are_few(word: str) -> None:
    assert sum(1 for _ in neighbours(word)) <= 54 * len(word) + 26


def test_choices_are_the_most_frequent_words() -> None:
    known = {"robots": 90, "robes": 5, "probots": 900, "ropts": 10, "rots": 7, "robs": 6, "robt": 4, "rob": 1}
    found = choices("robts", lambda word: (word,), lambda terms: known.get(terms[0], 0))
    assert [choice.terms[0] for choice in found] == ["robots", "ropts", "rots", "robs", "robes"]
    assert len(found) == CHOICES


def test_forms_of_one_word_are_one_choice() -> None:
    found = choices(
        "robts",
        lambda word: ("robot",) if word in ("robots", "robot") else (word,),
        lambda terms: int(terms == ("robot",)),
    )
    assert [choice.terms for choice in found] == [("robot",)]


def test_the_first_letter_is_rarely_wrong() -> None:
    known = {"mail": 100, "nail": 30}
    found = choices("naill", lambda word: (word,), lambda terms: known.get(terms[0], 0))
    assert [choice.terms[0] for choice in found] == ["nail"]
    found = choices(
        "nails", lambda word: (word,), lambda terms: {"mails": 100, "snails": 80, "nail": 70}.get(terms[0], 0)
    )
    assert [choice.terms[0] for choice in found] == ["nail", "mails", "snails"]


def test_the_closest_word_is_one_that_is_written() -> None:
    pages = [["tablespaces"], ["Tablespace", "tablespace", "Tablespace"], ["tablespace"] * 9]
    assert closest("tablespacce", pages) == "Tablespace"
    assert closest("tablespacce", [["tablespacing", "tablespacce", ""]]) is None


def test_halves() -> None:
    assert list(halves("crawldelay")) == [
        ("cra", "wldelay"),
        ("craw", "ldelay"),
        ("crawl", "delay"),
        ("crawld", "elay"),
        ("crawlde", "lay"),
    ]
    assert list(halves("robot")) == []


@pytest.mark.parametrize(
    ("typed", "meant", "others"),
    [
        ("functoin", "function", ["functon", "functoid"]),
        ("robbots", "robots", ["robbops"]),
        ("linx", "linux", ["lint", "line"]),
        ("tabel", "tabels", ["taxel"]),
        ("hsot", "host", ["shot", "hgot"]),
        ("vitual", "virtual", ["visual"]),
        ("selwct", "select", ["selbct"]),
        ("definate", "definite", ["defingte"]),
    ],
)
def test_frequent_errors_weigh_most(typed: str, meant: str, others: list[str]) -> None:
    """Letters exchanged, left out or doubled, the next key, a vowel for a vowel."""
    assert likelihood(typed, meant) == 1.0
    assert all(likelihood(typed, other) < 1.0 for other in others if other in set(neighbours(typed)))
