"""Turns parsed queries into queries of Tantivy. Tantivy's own parser is not used, because 3,000 nested parentheses
crash the process.

`goodbot.index.word_queries` has the queries for single words. `docs/relevance.md` has how much each part of the score
improves results.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice, pairwise
from typing import Final, NamedTuple

from tantivy import FieldType, Occur, Query, Schema

from goodbot.index.analysis import identifiers
from goodbot.index.keys import WRITTEN_ALIKE, target_of
from goodbot.index.query import plain_words
from goodbot.index.query_values import AllOf, AnyOf, Filter, Node, ParsedQuery, Words
from goodbot.index.ranking import (
    ANCHOR_WEIGHT,
    COMPLETE_BONUS,
    CONDITIONS,
    FRAGMENT_WEIGHT,
    JOINED_WEIGHT,
    NAME_WEIGHT,
    NEAR_SLOP,
    NEAR_WEIGHT,
    STOP_WEIGHT,
    Ranking,
)
from goodbot.index.schema import WEIGHTS
from goodbot.index.synonyms import SynonymTable
from goodbot.index.vocabulary import Vocabulary
from goodbot.index.word_queries import NEAR_FIELDS, Part, Position, WordQueries, main_words, with_synonyms

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

MEDIA_TYPES: Final = {
    "htm": ("html", "text/html", "application/xhtml+xml"),
    "html": ("htm", "text/html", "application/xhtml+xml"),
    "pdf": ("application/pdf",),
    "txt": ("text/plain",),
    "md": ("text/markdown",),
}
"""What `filetype:` also finds: URLs of pages often have no extension."""

Clause = tuple[Occur, Query]

_POINT: Final = 1.0
"""The score of a document found by conditions alone."""


class ScoredWord(NamedTuple):
    """A word that a hit may lack, as typed: what it scores in a page, and in texts of links to the page."""

    typed: str
    part: Part
    links: tuple[Query, ...] = ()


class BuiltQuery(NamedTuple):
    """The queries for one parsed query. `main` finds and scores documents. `filters` has the conditions, None if there
    are none. `complete` finds the documents with every word; None if `main` finds no others, or if the query has too
    many words. `links` searches the texts of links; None if there are no words. `synonyms` are terms that also count as
    words of the query.

    `main` adds up the scores of `words`, of the `required` nodes and of the `bonuses`, which are named as in
    `ranking.REASONS`. No document that it finds has the score 0. `score`: all of them have this one.
    """

    main: Query
    filters: Query | None
    complete: Query | None
    links: Query | None
    synonyms: frozenset[str]
    words: tuple[ScoredWord, ...] = ()
    required: tuple[Node, ...] = ()
    bonuses: tuple[tuple[str, Query], ...] = ()
    score: float | None = None


class QueryBuilder:
    """Builds queries for one schema. `languages` are the main languages of the documents, as two-letter codes, `rare`
    those of few documents. No query finds the documents that `withheld` finds."""

    def __init__(
        self,
        schema: Schema,
        vocabulary: Vocabulary,
        languages: Sequence[str],
        rare: Sequence[str],
        ranking: Ranking,
        synonyms: SynonymTable | None = None,
        withheld: Query | None = None,
    ) -> None:
        self._schema = schema
        self._synonyms = synonyms or SynonymTable((), languages)
        self._vocabulary = vocabulary
        self._ranking = ranking
        self._withheld = withheld
        off = {name for part, names in _FIELDS_OF_PARTS.items() if not ranking.has(part) for name in names}
        self._fields = tuple(name for name in WEIGHTS if name not in off)
        self._words = WordQueries(schema, vocabulary, languages, rare, self._fields)

    def build(self, parsed: ParsedQuery, link_schema: Schema | None = None) -> BuiltQuery | None:
        """Returns the queries, or None if the query has no word and no condition."""
        soft = list(plain_words(parsed))
        are_soft = frozenset(soft)
        hard = list(dict.fromkeys(node for node in parsed.root.required if node not in are_soft))
        typed, positions = self._read(soft)
        filters = self._filters(hard, parsed.root.excluded)
        if not (positions or filters):
            return None
        if self._withheld is not None:
            filters.append((Occur.MustNot, self._withheld))
        is_needed = not any(map(self._is_scored, hard))
        complete = self._complete(main_words(positions), least=2 if is_needed else 1)
        words = self._scored(typed, positions, link_schema, repeats=parsed.is_prose and self._ranking.has("repeated"))
        bonuses = (
            tuple(self._bonuses(soft, positions, complete)) if positions else self._points(is_scored=not is_needed)
        )
        any_word = Query.boolean_query([(Occur.Should, word.part.query) for word in words])
        clauses = [*filters, *([(Occur.Must if is_needed else Occur.Should, any_word)] if positions else [])]
        return BuiltQuery(
            Query.boolean_query([*clauses, *((Occur.Should, query) for _, query in bonuses)]),
            _finding(filters) if filters else None,
            Query.boolean_query([*filters, (Occur.Must, complete)]) if complete is not None else None,
            _any_of([query for word in words for query in word.links])
            if positions and link_schema is not None
            else None,
            frozenset().union(*(set(position.terms).difference(position.own) for position in positions)),
            words,
            tuple(hard),
            bonuses,
            _POINT if not positions and all(isinstance(node, Filter) for node in hard) else None,
        )

    def _read(self, soft: Sequence[Words]) -> tuple[list[str], list[Position]]:
        """Returns the words as typed, and as searched for."""
        read = list(self._words.read(words.text for words in soft))
        return [typed for typed, _ in read], with_synonyms([position for _, position in read], self._synonyms)

    def _filters(self, hard: Iterable[Node], excluded: Iterable[Node]) -> list[Clause]:
        filters = [(Occur.Must, query) for node in hard if (query := self.required(node)) is not None]
        filters += [(Occur.MustNot, query) for node in dict.fromkeys(excluded) if (query := self.required(node))]
        return filters

    # ---- words that a hit may lack ----

    def _scored(
        self, typed: Sequence[str], positions: Sequence[Position], link_schema: Schema | None, *, repeats: bool
    ) -> tuple[ScoredWord, ...]:
        """Scores each word once, called as it was first typed."""
        counts, main = Counter(positions), set(main_words(positions))
        names = dict(reversed(list(zip(positions, typed, strict=True))))
        fields = (
            self._fields if len(counts) <= MANY_WORDS else tuple(name for name in self._fields if name in TEXT_FIELDS)
        )
        scored = []
        for position, count in counts.items():
            weight = (float(count) if repeats else 1.0) * (1.0 if position in main else STOP_WEIGHT)
            links = tuple(self._links(position, link_schema)) if link_schema is not None and position in main else ()
            scored.append(ScoredWord(names[position], self._words.word(position, fields, weight), links))
        return tuple(scored)

    def _links(self, position: Position, schema: Schema) -> Iterator[Query]:
        """Searches the texts of links for a word. Their scores are added to those of the documents."""
        for name, part, weight in (("anchors", "anchors", ANCHOR_WEIGHT), ("fragments", "fragments", FRAGMENT_WEIGHT)):
            if self._ranking.has(part):
                for term in position.terms:
                    yield Query.boost_query(Query.term_query(schema, name, term), weight)

    def _complete(self, main: Sequence[Position], least: int) -> Query | None:
        if not least <= len(main) <= MANY_WORDS:
            return None
        return Query.boolean_query([(Occur.Must, self._words.anywhere(position)) for position in main])

    def _bonuses(
        self, soft: Sequence[Words], positions: Sequence[Position], complete: Query | None
    ) -> Iterator[tuple[str, Query]]:
        if self._ranking.has("joined"):
            yield from (("joined", query) for query in self._joined(soft))
        if self._ranking.has("names"):
            yield from (("names", query) for query in self._named(soft))
        if self._ranking.has("near"):
            yield from (("near", query) for query in self._near(positions))
        if self._ranking.has("complete") and complete is not None:
            yield "complete", Query.const_score_query(complete, COMPLETE_BONUS)

    def _points(self, *, is_scored: bool) -> tuple[tuple[str, Query], ...]:
        """Scores the documents found by conditions alone. Without it, priors could not order them."""
        return () if is_scored else ((CONDITIONS, _everything(_POINT)),)

    def _joined(self, soft: Sequence[Words]) -> Iterator[Query]:
        """Scores the parts of joined words where they are together."""
        read = (self._words.read([words.text]) for words in dict.fromkeys(soft))
        every = (tuple(self._usual(position) for _, position in words) for words in read)
        for terms in islice((terms for terms in every if len(terms) > 1), MAX_PAIRS):
            yield from self._phrases(JOINED_FIELDS, terms, JOINED_WEIGHT, 0)

    def _named(self, soft: Sequence[Words]) -> Iterator[Query]:
        """Scores pages that have a joined word in title, headings or terms, the more the rarer it is there."""
        for name in dict.fromkeys(name for words in soft for name in identifiers(words.text)):
            if rarity := self._vocabulary.rarity("names", name):
                query = Query.term_query(self._schema, "names", name, "basic")
                yield Query.const_score_query(query, NAME_WEIGHT * rarity)

    def _near(self, positions: Sequence[Position]) -> Iterator[Query]:
        """Scores words that follow one another in the query where they are near each other."""
        main = set(main_words(positions))
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

    # ---- what a hit must have ----

    def required(self, node: Node) -> Query | None:
        """Finds and scores the documents that meet a node; None if it has no condition."""
        match node:
            case Words():
                part = self.exactly(node)
                return part.query if part is not None else None
            case Filter():
                return Query.const_score_query(self._filter(node), 0.0)
            case AnyOf():
                choices = [
                    (Occur.Should, query) for choice in dict.fromkeys(node.choices) if (query := self.required(choice))
                ]
                return Query.boolean_query(choices) if choices else None
            case AllOf():
                parts = [(Occur.Must, query) for item in dict.fromkeys(node.required) if (query := self.required(item))]
                excluded = [(Occur.MustNot, query) for item in node.excluded if (query := self.required(item))]
                return _finding([*parts, *excluded]) if parts or excluded else None

    def _is_scored(self, node: Node) -> bool:
        """Whether every document that meets a node has a score for it."""
        match node:
            case Words():
                return self.exactly(node) is not None
            case Filter():
                return False
            case AnyOf():
                return all(map(self._is_scored, node.choices))
            case AllOf():
                return any(map(self._is_scored, node.required))

    def exactly(self, words: Words) -> Part | None:
        """Finds and scores words as typed; None if there is no word."""
        return self._words.exactly(words)

    def _filter(self, node: Filter) -> Query:
        match node.name:
            case "site":
                return Query.term_query(self._schema, "site", node.value, "basic")
            case "filetype":
                kinds = (node.value, *MEDIA_TYPES.get(node.value, ()))
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


def _any_of(queries: Sequence[Query]) -> Query:
    return Query.boolean_query([(Occur.Should, query) for query in queries]) if queries else Query.empty_query()


def _finding(clauses: Sequence[Clause]) -> Query:
    """Finds what meets the clauses; Tantivy finds nothing if all of them exclude."""
    if all(occur is Occur.MustNot for occur, _ in clauses):
        clauses = [*clauses, (Occur.Must, _everything(0.0))]
    return Query.boolean_query(clauses)


def _everything(score: float) -> Query:
    return Query.const_score_query(Query.all_query(), score)
