"""Builds the queries that find and score single words and phrases.

A word counts in the field where it scores best, and a little in the others (disjunction max): a word in title, heading
and text is one match, not three. `goodbot.index.ranking` has the weights.

Words are stemmed in several languages. The stems of a language of few documents are searched for only in its documents:
the Hungarian stem of `init` is `in`, a word of every English page.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from tantivy import Occur, Query, Schema

from goodbot.index.analysis import (
    folded_words,
    is_prefix_term,
    query_terms,
    stop_words,
    terms_by_language,
    words_of,
)
from goodbot.index.keys import escaped
from goodbot.index.query_values import Words
from goodbot.index.ranking import OTHER_FIELDS
from goodbot.index.schema import WEIGHTS
from goodbot.index.synonyms import SynonymTable
from goodbot.index.vocabulary import Vocabulary

NEAR_FIELDS: Final = ("title", "body")

_ENDING = re.compile(r"\.(?:x?html?|php|aspx?|jsp|pdf|txt|xml|md)$", re.IGNORECASE)
"""The extension of a file name in a URL, which is not indexed as a word of the URL."""


class Position(NamedTuple):
    """A word of a query. `own` has its stems in the main languages, `terms` these and its synonyms of one word,
    `phrases` its synonyms of several words, `foreign` further stems with the rare languages that have them."""

    own: tuple[str, ...]
    terms: tuple[str, ...]
    phrases: tuple[tuple[str, ...], ...] = ()
    foreign: tuple[tuple[str, tuple[str, ...]], ...] = ()
    is_stop: bool = False


class Part(NamedTuple):
    """A query that scores a word or phrase. One that looks in a single `field` has no `choices`; any other has the
    score of the best of its choices and `share` of the scores of the others."""

    query: Query
    field: str = ""
    choices: "tuple[Part, ...]" = ()
    share: float = OTHER_FIELDS


def best_of(choices: Sequence[Part], share: float = OTHER_FIELDS) -> Part:
    """Scores by the best of the choices, and a share of the others."""
    if not choices:
        return Part(Query.empty_query())
    return Part(Query.disjunction_max_query([choice.query for choice in choices], share), "", tuple(choices), share)


class WordQueries:
    """Builds the queries for words in some `fields` of documents. `languages` are the main languages of the documents,
    as two-letter codes, `rare` those of few documents."""

    def __init__(
        self,
        schema: Schema,
        vocabulary: Vocabulary,
        languages: Sequence[str],
        rare: Sequence[str],
        fields: Sequence[str],
    ) -> None:
        self._schema = schema
        self._vocabulary = vocabulary
        self._languages = tuple(languages)
        self._rare = tuple(rare)
        self.fields = tuple(fields)

    def read(self, texts: Iterable[str]) -> Iterator[tuple[str, Position]]:
        """Yields the words of some texts, as typed and as searched for, without synonyms. A run of characters of a
        script without spaces is several words, each of which is called by its term."""
        words = [word for text in texts for word in words_of(text)]
        stops = self._stop_words(frozenset(words))
        for word in words:
            every = query_terms(word, self._languages)
            for own in every:
                found = terms_by_language(word, self._rare)
                foreign = tuple((term, tuple(names)) for term, names in found.items() if term not in own)
                typed = word if len(every) == 1 else own[0]
                yield typed, Position(own, own, foreign=foreign, is_stop=word in stops)

    def _stop_words(self, words: frozenset[str]) -> frozenset[str]:
        """Returns the stop words of a query: those of the main languages, and of a rare one if it has more of them."""
        stops = stop_words(words, self._languages)
        others = max((stop_words(words, (language,)) for language in self._rare), key=len, default=stops)
        return stops | others if len(others) > max(1, len(stops)) else stops

    def word(self, position: Position, fields: Iterable[str], weight: float = 1.0) -> Part:
        """Scores a word by its best field."""
        choices = [
            Part(Query.boost_query(self._term(name, term), weight * share * WEIGHTS[name]), name)
            for name in fields
            for term, share in self._shares(name, position)
        ]
        choices += [
            Part(Query.boost_query(query, weight * WEIGHTS[name]), name)
            for name in fields
            if name in NEAR_FIELDS
            for query in self._meant(name, position)
        ]
        choices += [
            self._in_languages(
                names,
                [
                    Part(Query.boost_query(self._term(name, term), weight * WEIGHTS[name]), name)
                    for name in self._having(fields, term)
                ],
            )
            for term, names in position.foreign
        ]
        return best_of(choices)

    def anywhere(self, position: Position) -> Query:
        """Finds the documents that have a word in any field."""
        queries = [self._term(name, term) for name in self.fields for term, _ in self._shares(name, position)]
        queries += [query for name in NEAR_FIELDS for query in self._meant(name, position)]
        queries += [
            self._in_languages(
                names, [Part(self._term(name, term), name) for name in self._having(self.fields, term)]
            ).query
            for term, names in position.foreign
        ]
        return Query.boolean_query([(Occur.Should, query) for query in queries]) if queries else Query.empty_query()

    def exactly(self, words: Words) -> Part | None:
        """Scores words that must be in a document as typed: a phrase, a word of a title or URL, or a beginning; None if
        there is no word."""
        fields = {"title": ("title",), "url": ("address",), "anywhere": self.fields}[words.where]
        if words.prefix:
            return self._prefix(words.text, fields)
        positions = [position for _, position in self.read([words.text])]
        if words.where == "url" and len(positions) > 1 and (ending := _ENDING.search(words.text)):
            return self.exactly(replace(words, text=words.text[: ending.start()]))
        if len(positions) == 1:
            return self.word(positions[0], fields)
        main = _phrases_in(words.text, self._languages)
        phrases = [self._phrase(fields, terms) for terms in main]
        phrases += [
            self._in_languages(names, [self._phrase(fields, terms)])
            for terms, names in _phrases_in(words.text, self._rare).items()
            if terms not in main
        ]
        return best_of(phrases) if phrases else None

    def _phrase(self, fields: Iterable[str], terms: Sequence[str]) -> Part:
        phrases = ((name, Query.phrase_query(self._schema, name, list(terms), 0)) for name in fields)
        return best_of([Part(Query.boost_query(query, WEIGHTS[name]), name) for name, query in phrases])

    def _prefix(self, text: str, fields: Iterable[str]) -> Part | None:
        """Finds words that begin with the last word of `text` or with one of its stems: a stemmer may have shortened
        the indexed words."""
        stems = (term for _, position in list(self.read([text]))[-1:] for term in position.own)
        beginnings = dict.fromkeys([*folded_words(text)[-1:], *stems])
        patterns = [f"{escaped(beginning)}.*" for beginning in beginnings if beginning]
        found = [Part(Query.regex_query(self._schema, name, pattern), name) for name in fields for pattern in patterns]
        return best_of(found, 0.0) if found else None

    def _having(self, fields: Iterable[str], term: str) -> list[str]:
        """Returns the fields in which documents have a term."""
        return [name for name in fields if self._vocabulary.count(name, term)]

    def _in_languages(self, languages: Iterable[str], parts: Sequence[Part]) -> Part:
        """Scores by the best of the parts, but finds only documents in one of the languages."""
        best = best_of(parts)
        if not parts:
            return best
        allowed = [(Occur.Should, Query.term_query(self._schema, "language", name, "basic")) for name in languages]
        is_allowed = Query.const_score_query(Query.boolean_query(allowed), 0.0)
        return best._replace(query=Query.boolean_query([(Occur.Must, best.query), (Occur.Must, is_allowed)]))

    def _shares(self, name: str, position: Position) -> list[tuple[str, float]]:
        """Returns the terms of a word that documents have in a field, each with its weight."""
        if is_prefix_term(position.own[0]):
            return [(position.own[0], 1.0)]
        return self._vocabulary.shares(name, position.terms)

    def _meant(self, name: str, position: Position) -> Iterator[Query]:
        """Yields queries for the synonyms that have several words."""
        for terms in position.phrases:
            yield Query.phrase_query(self._schema, name, list(terms), 0)

    def _term(self, name: str, term: str) -> Query:
        if is_prefix_term(term):
            return Query.regex_query(self._schema, name, f"{escaped(term)}.?")
        return Query.term_query(self._schema, name, term)


def with_synonyms(words: Sequence[Position], synonyms: SynonymTable) -> list[Position]:
    """Returns the words with their synonyms."""
    made = []
    for word, meant in zip(words, synonyms.find([word.own for word in words]), strict=True):
        alike = [term for others in meant if len(others) == 1 for term in others[0]]
        phrases = [tuple(terms[0] for terms in others) for others in meant if len(others) > 1]
        terms = tuple(dict.fromkeys([*word.own, *alike]))
        made.append(word._replace(terms=terms, phrases=tuple(dict.fromkeys(phrases))))
    return made


def main_words(positions: Sequence[Position]) -> list[Position]:
    """Returns the distinct words without stop words, unless there are no others."""
    distinct = list(dict.fromkeys(positions))
    return [position for position in distinct if not position.is_stop] or distinct


def _phrases_in(text: str, languages: Sequence[str]) -> dict[tuple[str, ...], list[str]]:
    """Returns the sequences of terms of a phrase, each with the languages that have it."""
    found: dict[tuple[str, ...], list[str]] = {}
    for language in languages:
        if terms := tuple(position[0] for position in query_terms(text, (language,))):
            found.setdefault(terms, []).append(language)
    return found
