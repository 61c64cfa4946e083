"""Turns parsed queries into queries of Tantivy. Tantivy's own parser is not used, because 3,000 nested parentheses
crash the process.

A word counts in the field where it scores best, and a little in the others (disjunction max): a word in title, heading
and text is one match, not three. `goodbot.index.ranking` has the weights, `docs/relevance.md` how much each part
improves results.

Words are stemmed in several languages. The stems of a language of few documents are searched for only in its documents:
the Hungarian stem of `init` is `in`, a word of every English page.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice, pairwise
from typing import Final, NamedTuple

from tantivy import FieldType, Occur, Query, Schema

from goodbot.index.analysis import (
    folded_words,
    identifiers,
    is_prefix_term,
    query_terms,
    stop_words,
    terms_by_language,
    words_of,
)
from goodbot.index.keys import WRITTEN_ALIKE, escaped, target_of
from goodbot.index.query import plain_words
from goodbot.index.query_values import AllOf, AnyOf, Filter, Node, ParsedQuery, Words
from goodbot.index.ranking import (
    ANCHOR_WEIGHT,
    COMPLETE_BONUS,
    FRAGMENT_WEIGHT,
    JOINED_WEIGHT,
    NAME_WEIGHT,
    NEAR_SLOP,
    NEAR_WEIGHT,
    OTHER_FIELDS,
    STOP_WEIGHT,
    Ranking,
)
from goodbot.index.schema import WEIGHTS
from goodbot.index.synonyms import SynonymTable
from goodbot.index.vocabulary import Vocabulary

NEAR_FIELDS: Final = ("title", "body")
JOINED_FIELDS: Final = ("title", "body", "terms")
MANY_WORDS: Final = 24
"""A query with more distinct words is searched for only in `TEXT_FIELDS`. If it has more besides stop words, no page
counts as complete."""
TEXT_FIELDS: Final = ("title", "headings", "body", "summary")
MAX_PAIRS: Final = 64
"""The limit for pairs of words, and for joined words, whose nearness counts."""

_FIELDS_OF_PARTS: Final = {
    "headings": ("headings",),
    "terms": ("terms",),
    "summary": ("summary", "keywords"),
    "address": ("address",),
    "alternatives": ("alternatives",),
}

_ENDING = re.compile(r"\.(?:x?html?|php|aspx?|jsp|pdf|txt|xml|md)$", re.IGNORECASE)
"""The extension of a file name in a URL, which is not indexed as a word of the URL."""

_MEDIA_TYPES: Final = {
    "htm": ("html", "text/html", "application/xhtml+xml"),
    "html": ("htm", "text/html", "application/xhtml+xml"),
    "pdf": ("application/pdf",),
    "txt": ("text/plain",),
    "md": ("text/markdown",),
}
"""What `filetype:` also finds: URLs of pages often have no extension."""

Clause = tuple[Occur, Query]


class Position(NamedTuple):
    """A word of a query. `own` has its stems in the main languages, `terms` these and its synonyms of one word,
    `phrases` its synonyms of several words, `foreign` further stems with the rare languages that have them."""

    own: tuple[str, ...]
    terms: tuple[str, ...]
    phrases: tuple[tuple[str, ...], ...] = ()
    foreign: tuple[tuple[str, tuple[str, ...]], ...] = ()
    is_stop: bool = False


class BuiltQuery(NamedTuple):
    """The queries for one parsed query. `main` finds and scores documents. `filters` has the conditions, None if there
    are none. `complete` finds the documents with every word; None if `main` finds no others, or if the query has too
    many words. `links` searches the texts of links; None if there are no words. `synonyms` are terms that also count as
    words of the query."""

    main: Query
    filters: Query | None
    complete: Query | None
    links: Query | None
    synonyms: frozenset[str]


class QueryBuilder:
    """Builds queries for one schema. `languages` are the main languages of the documents, as two-letter codes, `rare`
    those of few documents."""

    def __init__(
        self,
        schema: Schema,
        vocabulary: Vocabulary,
        languages: Sequence[str],
        rare: Sequence[str],
        ranking: Ranking,
        synonyms: SynonymTable | None = None,
    ) -> None:
        self._schema = schema
        self._synonyms = synonyms or SynonymTable((), languages)
        self._vocabulary = vocabulary
        self._languages = tuple(languages)
        self._rare = tuple(rare)
        self._ranking = ranking
        off = {name for part, names in _FIELDS_OF_PARTS.items() if not ranking.has(part) for name in names}
        self._fields = tuple(name for name in WEIGHTS if name not in off)

    def build(self, parsed: ParsedQuery, link_schema: Schema | None = None) -> BuiltQuery | None:
        """Returns the queries, or None if the query has no word and no condition."""
        soft = list(plain_words(parsed))
        hard = [node for node in parsed.root.required if node not in soft]
        filters = [(Occur.Must, query) for node in hard if (query := self._required(node)) is not None]
        filters += [
            (Occur.MustNot, query) for node in dict.fromkeys(parsed.root.excluded) if (query := self._required(node))
        ]
        positions = self._expanded(list(self._read(words.text for words in soft)))
        if not (positions or filters):
            return None
        clauses = [*filters]
        complete = None
        main_words = self._main_words(positions)
        if positions:
            scoring = self._words(positions, main_words, repeats=parsed.is_prose and self._ranking.has("repeated"))
            is_needed = all(isinstance(node, Filter) for node in hard)
            complete = self._complete(main_words, least=2 if is_needed else 1)
            any_word = Query.boolean_query([(Occur.Should, query) for query in scoring])
            clauses.append((Occur.Must if is_needed else Occur.Should, any_word))
            bonuses = [*self._joined(soft), *self._named(soft), *self._near(positions, main_words)]
            if complete is not None and self._ranking.has("complete"):
                bonuses.append(Query.const_score_query(complete, COMPLETE_BONUS))
            clauses += [(Occur.Should, query) for query in bonuses]
        if all(occur is Occur.MustNot for occur, _ in clauses):
            clauses.append((Occur.Must, Query.const_score_query(Query.all_query(), 1.0)))
        return BuiltQuery(
            Query.boolean_query(clauses),
            Query.boolean_query(filters) if filters else None,
            Query.boolean_query([*filters, (Occur.Must, complete)]) if complete is not None else None,
            self._links(soft, positions, link_schema) if link_schema is not None and positions else None,
            frozenset().union(*(set(position.terms).difference(position.own) for position in positions)),
        )

    # ---- words that a hit may lack ----

    def _read(self, texts: Iterable[str]) -> Iterator[Position]:
        """Yields the words of some texts, without synonyms."""
        words = [word for text in texts for word in words_of(text)]
        stops = self._stop_words(frozenset(words))
        for word in words:
            for own in query_terms(word, self._languages):
                found = terms_by_language(word, self._rare)
                foreign = tuple((term, tuple(names)) for term, names in found.items() if term not in own)
                yield Position(own, own, foreign=foreign, is_stop=word in stops)

    def _stop_words(self, words: frozenset[str]) -> frozenset[str]:
        """Returns the stop words of a query: those of the main languages, and of a rare one if it has more of them."""
        stops = stop_words(words, self._languages)
        others = max((stop_words(words, (language,)) for language in self._rare), key=len, default=stops)
        return stops | others if len(others) > max(1, len(stops)) else stops

    def _expanded(self, words: Sequence[Position]) -> list[Position]:
        """Returns the words with their synonyms."""
        made = []
        for word, meant in zip(words, self._synonyms.find([word.own for word in words]), strict=True):
            alike = [term for others in meant if len(others) == 1 for term in others[0]]
            phrases = [tuple(terms[0] for terms in others) for others in meant if len(others) > 1]
            terms = tuple(dict.fromkeys([*word.own, *alike]))
            made.append(word._replace(terms=terms, phrases=tuple(dict.fromkeys(phrases))))
        return made

    def _main_words(self, positions: Sequence[Position]) -> list[Position]:
        """Returns the distinct words without stop words, unless there are no others."""
        distinct = list(dict.fromkeys(positions))
        return [position for position in distinct if not position.is_stop] or distinct

    def _words(
        self, positions: Sequence[Position], main_words: Sequence[Position], *, repeats: bool
    ) -> Iterator[Query]:
        counts = Counter(positions)
        fields = (
            self._fields if len(counts) <= MANY_WORDS else tuple(name for name in self._fields if name in TEXT_FIELDS)
        )
        for position, count in counts.items():
            weight = float(count) if repeats else 1.0
            yield self._word(position, fields, weight if position in main_words else weight * STOP_WEIGHT)

    def _word(self, position: Position, fields: Iterable[str], weight: float = 1.0) -> Query:
        """Scores a word by its best field."""
        queries = [
            Query.boost_query(self._term(name, term), weight * share * WEIGHTS[name])
            for name in fields
            for term, share in self._shares(name, position)
        ]
        queries += [
            Query.boost_query(query, weight * WEIGHTS[name])
            for name in fields
            if name in NEAR_FIELDS
            for query in self._meant(name, position)
        ]
        queries += [
            self._in_languages(
                names,
                [
                    Query.boost_query(self._term(name, term), weight * WEIGHTS[name])
                    for name in self._having(fields, term)
                ],
            )
            for term, names in position.foreign
        ]
        return Query.disjunction_max_query(queries, OTHER_FIELDS) if queries else Query.empty_query()

    def _having(self, fields: Iterable[str], term: str) -> list[str]:
        """Returns the fields in which documents have a term."""
        return [name for name in fields if self._vocabulary.count(name, term)]

    def _in_languages(self, languages: Iterable[str], queries: Sequence[Query]) -> Query:
        """Scores by the best of the queries, but finds only documents in one of the languages."""
        if not queries:
            return Query.empty_query()
        allowed = [(Occur.Should, Query.term_query(self._schema, "language", name, "basic")) for name in languages]
        return Query.boolean_query(
            [
                (Occur.Must, Query.disjunction_max_query(list(queries), OTHER_FIELDS)),
                (Occur.Must, Query.const_score_query(Query.boolean_query(allowed), 0.0)),
            ]
        )

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

    def _complete(self, main_words: Sequence[Position], least: int) -> Query | None:
        if not least <= len(main_words) <= MANY_WORDS:
            return None
        return Query.boolean_query([(Occur.Must, self._anywhere(position)) for position in main_words])

    def _anywhere(self, position: Position) -> Query:
        queries = [self._term(name, term) for name in self._fields for term, _ in self._shares(name, position)]
        queries += [query for name in NEAR_FIELDS for query in self._meant(name, position)]
        queries += [
            self._in_languages(names, [self._term(name, term) for name in self._having(self._fields, term)])
            for term, names in position.foreign
        ]
        return Query.boolean_query([(Occur.Should, query) for query in queries]) if queries else Query.empty_query()

    def _joined(self, soft: Sequence[Words]) -> Iterator[Query]:
        """Scores the parts of joined words where they are together."""
        if self._ranking.has("joined"):
            every = (tuple(map(self._usual, self._read([words.text]))) for words in dict.fromkeys(soft))
            for terms in islice((terms for terms in every if len(terms) > 1), MAX_PAIRS):
                yield from self._phrases(JOINED_FIELDS, terms, JOINED_WEIGHT, 0)

    def _named(self, soft: Sequence[Words]) -> Iterator[Query]:
        """Scores pages that have a joined word in title, headings or terms, the more the rarer it is there."""
        if self._ranking.has("names"):
            for name in dict.fromkeys(name for words in soft for name in identifiers(words.text)):
                if rarity := self._vocabulary.rarity("names", name):
                    query = Query.term_query(self._schema, "names", name, "basic")
                    yield Query.const_score_query(query, NAME_WEIGHT * rarity)

    def _near(self, positions: Sequence[Position], main_words: Sequence[Position]) -> Iterator[Query]:
        """Scores words that follow one another in the query where they are near each other."""
        if self._ranking.has("near"):
            main = set(main_words)
            terms = [self._usual(position) for position in positions if position in main]
            pairs = dict.fromkeys(pair for pair in pairwise(terms) if pair[0] != pair[1])
            for pair in [*pairs][:MAX_PAIRS]:
                yield from self._phrases(NEAR_FIELDS, pair, NEAR_WEIGHT, NEAR_SLOP)

    def _usual(self, position: Position) -> str:
        """Returns the term of a word that most documents have."""
        if len(position.own) == 1:
            return position.own[0]
        return max(position.own, key=lambda term: self._vocabulary.count("body", term))

    def _phrases(self, names: Iterable[str], terms: Sequence[str], weight: float, slop: int) -> Iterator[Query]:
        for name in names:
            if name in self._fields:
                query = Query.phrase_query(self._schema, name, list(terms), slop)
                yield Query.boost_query(query, weight * WEIGHTS[name])

    def _links(self, soft: Sequence[Words], positions: Sequence[Position], schema: Schema) -> Query:
        """Searches the texts of links. Their scores are added to those of the documents."""
        queries = []
        for name, part, weight in (("anchors", "anchors", ANCHOR_WEIGHT), ("fragments", "fragments", FRAGMENT_WEIGHT)):
            if self._ranking.has(part):
                main_words = self._main_words(positions)
                queries += [
                    Query.boost_query(Query.term_query(schema, name, term), weight)
                    for position in main_words
                    for term in position.terms
                ]
        return Query.boolean_query([(Occur.Should, query) for query in queries]) if queries else Query.empty_query()

    # ---- what a hit must have ----

    def _required(self, node: Node) -> Query | None:
        """Matches the documents that meet a node; None if it has no condition."""
        match node:
            case Words():
                return self._required_words(node)
            case Filter():
                return Query.const_score_query(self._filter(node), 0.0)
            case AnyOf():
                choices = [
                    (Occur.Should, query) for choice in dict.fromkeys(node.choices) if (query := self._required(choice))
                ]
                return Query.boolean_query(choices) if choices else None
            case AllOf():
                parts = [
                    (Occur.Must, query) for item in dict.fromkeys(node.required) if (query := self._required(item))
                ]
                excluded = [(Occur.MustNot, query) for item in node.excluded if (query := self._required(item))]
                if excluded and not parts:
                    parts = [(Occur.Must, Query.const_score_query(Query.all_query(), 0.0))]
                return Query.boolean_query([*parts, *excluded]) if parts else None

    def _required_words(self, words: Words) -> Query | None:
        fields = {"title": ("title",), "url": ("address",), "anywhere": self._fields}[words.where]
        if words.prefix:
            return self._prefix(words.text, fields)
        positions = list(self._read([words.text]))
        if words.where == "url" and len(positions) > 1 and (ending := _ENDING.search(words.text)):
            return self._required_words(replace(words, text=words.text[: ending.start()]))
        if len(positions) == 1:
            return self._word(positions[0], fields)
        main = _phrases_in(words.text, self._languages)
        phrases = [self._phrase(fields, terms) for terms in main]
        phrases += [
            self._in_languages(names, [self._phrase(fields, terms)])
            for terms, names in _phrases_in(words.text, self._rare).items()
            if terms not in main
        ]
        return Query.disjunction_max_query(phrases, OTHER_FIELDS) if phrases else None

    def _phrase(self, fields: Iterable[str], terms: Sequence[str]) -> Query:
        queries = [
            Query.boost_query(Query.phrase_query(self._schema, name, list(terms), 0), WEIGHTS[name]) for name in fields
        ]
        return Query.disjunction_max_query(queries, OTHER_FIELDS)

    def _prefix(self, text: str, fields: Iterable[str]) -> Query | None:
        """Matches words that begin with the last word of `text` or with one of its stems: a stemmer may have shortened
        the indexed words."""
        stems = (term for position in list(self._read([text]))[-1:] for term in position.own)
        beginnings = dict.fromkeys([*folded_words(text)[-1:], *stems])
        patterns = [f"{escaped(beginning)}.*" for beginning in beginnings if beginning]
        queries = [Query.regex_query(self._schema, name, pattern) for name in fields for pattern in patterns]
        return Query.disjunction_max_query(queries, 0.0) if queries else None

    def _filter(self, node: Filter) -> Query:
        match node.name:
            case "site":
                return Query.term_query(self._schema, "site", node.value, "basic")
            case "filetype":
                kinds = (node.value, *_MEDIA_TYPES.get(node.value, ()))
                return Query.term_set_query(self._schema, "kind", list(kinds))
            case "lang":
                has_tag = self._vocabulary.count("language", node.value)
                code = node.value if has_tag else node.value.partition("-")[0]
                return Query.term_query(self._schema, "language", WRITTEN_ALIKE.get(code, code), "basic")
            case "link":
                return Query.term_query(self._schema, "targets", target_of(node.value), "basic")
            case "before" | "after":
                day = int(datetime.fromisoformat(node.value).replace(tzinfo=UTC).timestamp())
                first, last = (1, max(day, 1)) if node.name == "before" else (max(day, 1), 1 << 63)
                return Query.range_query(self._schema, "date", FieldType.Unsigned, first, last, include_upper=False)


def _phrases_in(text: str, languages: Sequence[str]) -> dict[tuple[str, ...], list[str]]:
    """Returns the sequences of terms of a phrase, each with the languages that have it."""
    found: dict[tuple[str, ...], list[str]] = {}
    for language in languages:
        if terms := tuple(position[0] for position in query_terms(text, (language,))):
            found.setdefault(terms, []).append(language)
    return found
