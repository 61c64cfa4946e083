"""Corrects the spelling of queries with the words in the documents of an index."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from goodbot.index.analysis import fold, query_terms, stem, stop_words, words_of
from goodbot.index.query import plain_words, replace_word
from goodbot.index.query_values import ParsedQuery
from goodbot.index.spelling import CLEARLY, MOST_CHANGED, can_be_misspelt, choices, closest, halves
from goodbot.index.vocabulary import Vocabulary

SPELLING_LANGUAGES: Final = 2
"""Corrections are looked up by their stems in this many of the most frequent languages."""
FIELDS: Final = ("body", "title", "terms")
NAMING_FIELDS: Final = ("title", "headings", "terms")
MAX_WORDS: Final = 100
"""A longer query is a text in which one word matters little. To correct a text of 1,000 words would take seconds."""
MAX_UNSURE: Final = 20
"""A word in more documents than this is not taken for a misspelling."""


class Correction(NamedTuple):
    """Corrected queries. `certain` replaces the words that no document has, `likely` also those that hardly any has.
    None: nothing to correct."""

    certain: str | None = None
    likely: str | None = None


@dataclass(frozen=True, slots=True)
class Documents:
    """The look-ups that a correction needs: the number of documents with all words of a text; the number of those that
    a whole query finds, within its filters, and the score of the best one; the words with one of these terms, for each
    of some documents; whether a link to any document has a term."""

    complete: Callable[[str], int]
    matching: Callable[[str], int]
    score: Callable[[str], float]
    words: Callable[[tuple[str, ...]], Iterable[Iterable[str]]]
    is_linked: Callable[[str], bool]


class Corrector:
    """Corrects queries for one state of an index. `languages` are the main ones of its documents, the most frequent
    first."""

    def __init__(self, vocabulary: Vocabulary, languages: Sequence[str], documents: Documents) -> None:
        self._vocabulary = vocabulary
        self._languages = languages
        self._documents = documents

    def correct(self, query: str, parsed: ParsedQuery) -> Correction:
        """Corrects a query. Quoted words, excluded words, words joined by OR, words with a field and words with `*`
        stay, and so does a query of more than `MAX_WORDS`."""
        certain = likely = query
        left = MOST_CHANGED
        words = dict.fromkeys(word for node in plain_words(parsed) for word in words_of(node.text))
        for word in words if len(words) <= MAX_WORDS else ():
            count = self._count_of(word)
            if count > (0 if parsed.is_prose else MAX_UNSURE) or not left or not can_be_misspelt(fold(word)):
                continue
            left -= 1
            meant = self._meant(word, count, certain)
            if meant is not None:
                likely = replace_word(likely, word, meant)
                certain = certain if count else replace_word(certain, word, meant)
        if likely != certain and self._documents.matching(likely) <= self._documents.matching(certain):
            likely = certain
        return Correction(certain if certain != query else None, likely if likely != query else None)

    def _count_of(self, word: str) -> int:
        """Returns how many documents have a word in one of its forms; 1 if only links have it. A word of a title, a
        heading or a definition term counts as frequent."""
        terms = [term for position in query_terms(word, self._languages) for term in position]
        if self._vocabulary.most(terms, NAMING_FIELDS):
            return MAX_UNSURE + 1
        count = self._vocabulary.most(terms)
        if count <= MAX_UNSURE:
            count = max(count, self._documents.complete(word))  # also finds its stems in rare languages
        return count or int(any(map(self._documents.is_linked, terms)))

    def _meant(self, word: str, count: int, query: str) -> str | None:
        """Returns the word that the user probably meant, or None."""
        folded = fold(word)
        found = choices(folded, self._stems, self._count)
        likely = [choice for choice in found if choice.documents >= CLEARLY * count]
        near = [(one, each.weight) for each in likely if (one := closest(folded, self._documents.words(each.terms)))]
        spelt = [(one, weight) for one, weight in near if not (count and stop_words((one,), self._languages))]
        if not spelt and not count:
            spelt = [(one, 1.0) for one in self._joined(folded)]
        if len(spelt) < 2:
            return spelt[0][0] if spelt else None

        def fit(meant: tuple[str, float]) -> tuple[float, float]:
            changed = replace_word(query, word, meant[0])
            return self._documents.matching(changed) * meant[1], self._documents.score(changed)

        return max(spelt, key=fit)[0]

    def _joined(self, word: str) -> Iterator[str]:
        """Yields two words that were typed as one, if a document has them side by side."""
        for head, tail in halves(word):
            are_known = all(self._count(self._stems(half)) for half in (head, tail))
            if are_known and self._documents.complete(f'"{head} {tail}"'):
                yield f"{head} {tail}"

    def _stems(self, word: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(stem(word, language) for language in self._languages[:SPELLING_LANGUAGES]))

    def _count(self, terms: tuple[str, ...]) -> int:
        return self._vocabulary.most(terms, FIELDS)
