"""Finds the words of a text that have one of the wanted terms, without analysing the other words. Pure."""

import re

from goodbot.index.analysis import fold, is_unspaced, located_terms, word_at, word_terms

ENOUGH_PLACES = 20
"""The number of places of one term after which the rest of the text is not searched for it."""
MAX_EXAMINED = 500
"""The number of words examined for one term."""
MAX_ANALYSED_CHARS = 10_000
"""The part of a text that is analysed if no word begins like a term."""
MAX_TERMS = 64
"""The limit for located terms: the longest are chosen, because they are rare."""

Place = tuple[int, int, str]
"""Start, end, term."""


def word_places(text: str, sought: frozenset[str], language: str, enough: int = ENOUGH_PLACES) -> list[Place]:
    """Returns (start, end, term) of words with one of the wanted terms `sought`, in order; at most about `enough` of
    each.

    Words that begin like a term are found in the folded text. A few words do not begin like their terms (`Æther` has
    the term `aether`): only if no other is found, the beginning of the text is analysed.
    """
    return begun_places(text, sought, language, enough) or list(
        located_terms(text[:MAX_ANALYSED_CHARS], sought, language)
    )


def begun_places(text: str, sought: frozenset[str], language: str, enough: int = ENOUGH_PLACES) -> list[Place]:
    """Returns (start, end, term) of words that begin like a wanted term and have it, in order; at most about `enough`
    of each term, the first ones."""
    folded = _folded(text)
    places: list[Place] = []
    for term in sorted(sought, key=len, reverse=True)[:MAX_TERMS]:
        places += _places_of(term, text, folded, language, enough)
    return sorted(places)


def _places_of(term: str, text: str, folded: str, language: str, enough: int) -> list[Place]:
    is_pair = is_unspaced(term)
    beginning = term if is_pair else _beginning(term)
    places: list[Place] = []
    examined, at = 0, folded.find(beginning)
    while at >= 0 and len(places) < enough and examined < MAX_EXAMINED:
        end = at + len(beginning)
        if is_pair:
            places.append((at, end, term))
        elif not (at and folded[at - 1].isalnum()):
            examined += 1
            word = word_at(text, at)
            if word and term in word_terms(word, language):
                end = at + len(word)
                places.append((at, end, term))
        at = folded.find(beginning, end)
    return places


def _beginning(term: str) -> str:
    """Returns the beginning that all words with this term have: stemmers replace at most the last letter of a stem
    (`try` has the stem `tri`)."""
    return term[:-1] if len(term) > 3 or (len(term) == 3 and term[-1] == "i") else term


MAX_FOLDED = 200
"""The number of distinct characters that are folded; no text in an alphabet has as many."""

_ASCII = bytes(range(0x80))
_FOLDABLE = re.compile(r"[^\x00-\x7f\u0430-\u0450\u3000-\u9fff\uac00-\ud7a3]")
"""Characters that may differ from their folded forms after `str.lower`: not ASCII, plain Cyrillic, Han and Hangul."""


def _folded(text: str) -> str:
    """Folds a text so that places stay the same: each character becomes one character. `str.replace` for each distinct
    character takes a tenth of the time of `str.translate`."""
    lower = text.lower()
    if len(lower) != len(text):  # `İ` becomes two characters
        lower = "".join(char.lower()[:1] for char in text)
    if not lower.isascii():
        rest = lower.encode("utf-8", "surrogatepass").translate(None, _ASCII).decode("utf-8", "surrogatepass")
        for char in sorted(set(_FOLDABLE.findall("".join(set(rest)))))[:MAX_FOLDED]:
            folded = fold(char)[:1]
            if folded and folded != char:
                lower = lower.replace(char, folded)
    return lower
