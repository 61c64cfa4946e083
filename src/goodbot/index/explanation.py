"""Explains the place of a page among the hits of a query, by running each part of the query on that page alone."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations_with_replacement
from typing import Final, NamedTuple

import tantivy
from tantivy import Occur, Query

from goodbot.index.finder import Finder, Found, tongues_of
from goodbot.index.index_reader import stored_page, with_number
from goodbot.index.index_state import IndexState
from goodbot.index.keys import document_key, hash_of, untranslated
from goodbot.index.link_texts import LinkTexts
from goodbot.index.query import said
from goodbot.index.query_builder import BuiltQuery, QueryBuilder, ScoredWord
from goodbot.index.query_values import AllOf, AnyOf, Filter, Node, ParsedQuery, Words
from goodbot.index.ranking import Candidate, Ranked, Ranking
from goodbot.index.versions import find_versions
from goodbot.index.word_queries import Part
from goodbot.search_values import ExplainedWord, Explanation
from goodbot.url import parse_url

EXPLAINED_HITS: Final = (10, 100, 1_000)
"""A page is looked for among this many first hits, then among more: which texts of links count, and so the order, can
depend on how many hits are needed. Most readers see the first ten."""

MAX_ALIKE: Final = 100
"""The limit for the documents that are looked through for a URL: the translations of a page, and the parts of a page
that were imported as documents of their own."""
_CODE: Final = re.compile(r"(?<![a-z])[a-z]{2}(?![a-z])", re.IGNORECASE)
_MAX_CODES: Final = 8

Scores = list[tuple[str, float]]


class Answered(NamedTuple):
    """A query, and the documents found, of which the first `needed` hits are in their order. `languages` are those of
    the reader, `otherwise` the common ones."""

    parsed: ParsedQuery
    built: BuiltQuery
    found: Found
    needed: int
    languages: Sequence[str]
    otherwise: Sequence[str]


class PageAlone:
    """Runs queries on one document of an index. `address` is its place, `url` its URL."""

    def __init__(self, state: IndexState, address: tantivy.DocAddress) -> None:
        self.state = state
        self.address = address
        self.shown = stored_page(state.searcher, address)
        self.url = self.shown.url or self.shown.id
        self._only = _with_key(state, self.shown.id)

    def score(self, query: Query) -> float | None:
        """Returns the score of the document for a query; None: the query does not find it."""
        restricted = Query.boolean_query([(Occur.Must, self._only), (Occur.Must, query)])
        hits = self.state.searcher.search(restricted, 1, count=False).hits
        return float(hits[0][0]) if hits else None

    def scores(self, part: Part) -> Scores:
        """Returns what each field adds to the score for a word or phrase."""
        return _added_up(self._scores(part))

    def _scores(self, part: Part) -> Scores:
        score = self.score(part.query)
        if score is None:
            return []
        if part.field:
            return [(part.field, score)]
        found = [scores for choice in part.choices if (scores := self._scores(choice))]
        best = max(range(len(found)), key=lambda at: _total(found[at]))
        return [
            (name, added if at == best else added * part.share)
            for at, scores in enumerate(found)
            for name, added in scores
        ]


def find_page(state: IndexState, url: str) -> PageAlone | None:
    """Returns the document with an id or a URL; None: there is none that may be shown. If several imported documents
    have the URL, it is one of them."""
    parsed = parse_url(url.partition("#")[0])
    names = dict.fromkeys([url, *([parsed.text] if parsed else [])])
    for name in names:
        for page in _shown(state, _with_key(state, name), 1):
            return page
    alike = with_number(state.schema, "group", [hash_of(group) for name in names for group in _groups(name)])
    pages = list(_shown(state, alike, MAX_ALIKE))
    return next((page for name in names for page in pages if page.url == name), None)


def _shown(state: IndexState, query: Query, limit: int) -> Iterator[PageAlone]:
    """Yields the documents that a query finds, without those that must not be shown."""
    clauses = [(Occur.Must, query)]
    if state.withheld is not None:
        clauses.append((Occur.MustNot, state.withheld))
    for _, address in state.searcher.search(Query.boolean_query(clauses), limit, count=False).hits:
        yield PageAlone(state, address)


def _groups(url: str) -> Collection[str]:
    """Returns what field `group` may have for a document with this URL: which parts of it are tags of languages depends
    on the language of the document."""
    codes = list(dict.fromkeys(code.lower() for code in _CODE.findall(url)))[:_MAX_CODES]
    return {untranslated(url, *pair) for pair in combinations_with_replacement(("", *codes), 2)}


def _with_key(state: IndexState, document_id: str) -> Query:
    return Query.const_score_query(Query.term_query(state.schema, "key", document_key(document_id), "basic"), 0.0)


class Explainer:
    """Explains the places of pages among the hits."""

    def __init__(self, builder: QueryBuilder, finder: Finder, links: LinkTexts, ranking: Ranking) -> None:
        self._builder = builder
        self._finder = finder
        self._links = links
        self._ranking = ranking

    def place(self, page: PageAlone, answered: Answered) -> tuple[int, Ranked] | None:
        """Returns the position of the hit that shows a page, or a translation or copy of it, and that hit; None: it is
        not among the hits needed."""
        candidate, found = self._candidate(page, 0.0, answered), answered.found
        for position, item in enumerate(found.ranked[: answered.needed], 1):
            if _has(item, page, found) or any(_alike(candidate, version) for version in item.versions):
                return position, item
        return None

    def explain(self, page: PageAlone, answered: Answered) -> Explanation:
        """Explains the place of a page among the documents found."""
        own = page.score(answered.built.main)
        position, item = self.place(page, answered) or (None, None)
        is_found = own is not None or (item is not None and _has(item, page, answered.found))
        explanation = Explanation(page.url, page.shown.title, is_found, position=position)
        candidate = self._candidate(page, own or 0.0, answered)
        words = (*self._words(page, candidate.number, answered), *self._required(page, answered.built.required))
        if not is_found:
            return replace(explanation, words=words, notes=tuple(self._why_not(page, answered)))
        tongues = tongues_of(answered.languages)
        return replace(
            explanation,
            score=candidate.score * self._ranking.factor(candidate, tongues),
            words=words,
            bonuses=tuple(_added_up(self._bonuses(page, answered.built))),
            factors=self._ranking.factors(candidate, tongues),
            notes=tuple(self._notes(page, answered, item)),
        )

    def _candidate(self, page: PageAlone, score: float, answered: Answered) -> Candidate:
        found = [(score, page.address)]
        return self._finder.candidates(page.state.searcher, found, answered.found.linked)[0]

    def _words(self, page: PageAlone, number: int, answered: Answered) -> Iterator[ExplainedWord]:
        """Explains the words that a hit may lack."""
        is_linked = number in answered.found.linked
        for word in answered.built.words:
            scores = page.scores(word.part)
            if is_linked and (added := self._from_links(word, number)):
                scores.append(("links", added))
            yield _explained(word.typed, scores)

    def _from_links(self, word: ScoredWord, number: int) -> float:
        if not word.links:
            return 0.0
        return self._links.score(Query.boolean_query([(Occur.Should, query) for query in word.links]), number)

    def _required(self, page: PageAlone, nodes: Sequence[Node]) -> Iterator[ExplainedWord]:
        """Explains the words that a hit must have. Recursive, as deep as the query."""
        for node in dict.fromkeys(nodes):
            match node:
                case Words():
                    if (part := self._builder.exactly(node)) is not None:
                        yield _explained(said(node), page.scores(part))
                case AnyOf():
                    yield from self._required(page, [choice for choice in node.choices if self._meets(page, choice)])
                case AllOf():
                    yield from self._required(page, node.required)
                case Filter():
                    pass

    def _meets(self, page: PageAlone, node: Node) -> bool:
        query = self._builder.required(node)
        return query is None or page.score(query) is not None

    def _bonuses(self, page: PageAlone, built: BuiltQuery) -> Iterator[tuple[str, float]]:
        for name, query in built.bonuses:
            if score := page.score(query):
                yield name, score

    def _notes(self, page: PageAlone, answered: Answered, item: Ranked | None) -> Iterator[str]:
        """Yields why the hits do not show a page that the query finds."""
        if item is None:
            yield f"the page is not among the first {answered.needed:,} results"
            return
        languages, found = [*answered.languages, *answered.otherwise], answered.found
        state, main = page.state, answered.built.main
        (hit,) = find_versions(state.opened, main, [item], found.addresses, languages, state.withheld)
        if not _same(hit.addresses[0], page.address):
            shown = stored_page(state.searcher, hit.addresses[0])
            yield f"the page is a translation or copy of {shown.url or shown.id}, which is shown as the result"

    def _why_not(self, page: PageAlone, answered: Answered) -> Iterator[str]:
        """Yields why the query does not find the page."""
        root = answered.parsed.root
        failed = [node for node in answered.built.required if not self._meets(page, node)]
        yield from (f"the page does not meet a condition: {said(node)}" for node in dict.fromkeys(failed))
        present = [node for node in root.excluded if self._builder.required(node) and self._meets(page, node)]
        yield from (f"the query excludes pages that match: {said(node)}" for node in dict.fromkeys(present))
        if not (failed or present):
            yield "the page has none of the words"


def _explained(word: str, scores: Scores) -> ExplainedWord:
    return ExplainedWord(word, tuple(sorted(scores, key=lambda pair: -pair[1])))


def _added_up(scores: Iterable[tuple[str, float]]) -> Scores:
    found: dict[str, float] = {}
    for name, score in scores:
        found[name] = found.get(name, 0.0) + score
    return list(found.items())


def _total(scores: Scores) -> float:
    return sum(score for _, score in scores)


def _has(item: Ranked, page: PageAlone, found: Found) -> bool:
    return any(_same(found.addresses[place], page.address) for place in (item.place, *item.others))


def _alike(one: Candidate, other: Candidate) -> bool:
    return bool(one.group and one.group == other.group) or bool(one.twin and one.twin == other.twin)


def _same(one: tantivy.DocAddress, other: tantivy.DocAddress) -> bool:
    return (one.segment_ord, one.doc) == (other.segment_ord, other.doc)
