"""Finds the words that may have been meant by a misspelt one. Pure.

A word is changed in one place: a letter is left out, added or replaced, or two are exchanged (Damerau 1964: four of
five spelling errors). The index shows which of these words exist, so no list of words is needed.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Final, NamedTuple

from goodbot.index.analysis import fold

MIN_CHARS: Final = 4
MAX_CHARS: Final = 24
"""Shorter words have too many neighbours, longer ones are names made by programs."""
MOST_CHANGED: Final = 4
"""The limit for words of a query whose correction is looked up."""
CHOICES: Final = 5
"""The number of candidates that are kept, the most frequent ones; the other words of the query decide between them."""
CLEARLY: Final = 50
"""A word that a few documents have may be misspelt if a similar one is in this many times as many."""
FIRST_LETTER: Final = 0.2
"""The weight of a change of the first letter, which writers rarely get wrong (Pollock and Zamora 1984)."""
OTHER_LETTER: Final = 0.3
"""The weight of a letter too many that is not doubled, and of a wrong letter that is neither the next on the keyboard
nor a vowel for a vowel."""

_ALPHABETS: Final = (
    "abcdefghijklmnopqrstuvwxyz",
    "абвгдежзийклмнопрстуфхцчшщъыьэюя",
    "αβγδεζηθικλμνξοπρστυφχψω",
)


_NEXT_KEYS: Final = frozenset(
    pair
    for row in ("qwertyuiop", "asdfghjkl", "zxcvbnm", "йцукенгшщзхъ", "фывапролджэ", "ячсмитьбю")
    for one, other in pairwise(row)
    for pair in (one + other, other + one)
)
_VOWELS: Final = frozenset("aeiouyаеиоуыэюяαεηιουω")


class Choice(NamedTuple):
    """The terms of a word that may have been meant, the number of documents that have one of them, and how likely the
    error is, from 0 to 1."""

    terms: tuple[str, ...]
    documents: int
    weight: float = 1.0


def can_be_misspelt(word: str) -> bool:
    """Whether a folded word can be corrected: it has letters of one alphabet only, and a usual length."""
    return MIN_CHARS <= len(word) <= MAX_CHARS and _alphabet(word) is not None


def _alphabet(word: str) -> str | None:
    return next((letters for letters in _ALPHABETS if all(letter in letters for letter in word)), None)


def neighbours(word: str) -> Iterator[str]:
    """Yields the words that differ from a folded word in one place, likelier errors first, some of them twice. There
    are about 53 for each letter."""
    letters = _alphabet(word) or ""
    splits = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    yield from (head + tail[1] + tail[0] + tail[2:] for head, tail in splits if len(tail) > 1)
    yield from (head + letter + tail for head, tail in splits for letter in letters)
    yield from (head + tail[1:] for head, tail in splits if tail)
    yield from (head + letter + tail[1:] for head, tail in splits if tail for letter in letters)


def likelihood(typed: str, meant: str) -> float:
    """Returns how likely it is that somebody typed a word for another one that differs in one place, from 0 to 1."""
    same = next(
        (at for at, (one, other) in enumerate(zip(typed, meant, strict=False)) if one != other),
        min(len(typed), len(meant)),
    )
    weight = 1.0 if same else FIRST_LETTER
    if len(typed) > len(meant):
        return weight if typed[same] == typed[same - 1 : same] else weight * OTHER_LETTER
    if len(typed) < len(meant) or typed[same + 1 :] != meant[same + 1 :]:
        return weight  # a letter left out, or two exchanged
    pair = typed[same] + meant[same]
    return weight if pair in _NEXT_KEYS or _VOWELS.issuperset(pair) else weight * OTHER_LETTER


def choices(
    word: str, stems: Callable[[str], tuple[str, ...]], count: Callable[[tuple[str, ...]], int]
) -> list[Choice]:
    """Returns the words that may have been meant, at most `CHOICES`: the likeliest first, by number of documents and
    `likelihood`. `stems` gives the terms of a word, `count` the number of documents that have one of
    these terms."""
    best: dict[tuple[str, ...], Choice] = {}
    for candidate in dict.fromkeys(neighbours(word)):
        if candidate == word or len(candidate) < MIN_CHARS - 1:
            continue
        terms = stems(candidate)
        if terms not in best and (documents := count(terms)):
            best[terms] = Choice(terms, documents, likelihood(word, candidate))
    return sorted(best.values(), key=lambda choice: -choice.documents * choice.weight)[:CHOICES]


def halves(word: str) -> Iterator[tuple[str, str]]:
    """Yields the pairs of words of which a word without its space may consist."""
    least = MIN_CHARS - 1
    yield from ((word[:at], word[at:]) for at in range(least, len(word) - least + 1))


def closest(word: str, pages: Iterable[Iterable[str]]) -> str | None:
    """Returns the word that differs from a folded word in one place, and that the first page with such words has most
    often; None if no page has one."""
    near = set(neighbours(word)) - {word}
    for found in pages:
        counts = Counter(one for one in found if fold(one) in near)
        if counts:
            return max(counts, key=lambda one: counts[one])
    return None
