"""Turns parsed queries into tantivy queries. tantivy's own parser is not used: 3,000 nested parentheses crash its
process.

A word counts in the field where it scores best, and a little in the others (disjunction max): a word in title, heading
and text is one match, not three. Adjacent words of the query that are near each other in a document add to its score.

The numbers were tuned on Cranfield (225 queries, nDCG@10) and also work for known items in Debian's manuals; small
changes make little difference.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from tantivy import Occur, Query, Schema

from goodbot.index.analysis import is_prefix_term
from goodbot.index.query import AllOf, AnyOf, Node, QueryWords, SiteFilter

BOOSTS = {"body": 1.0, "title": 1.5, "headings": 1.2, "address": 0.5, "summary": 0.6, "keywords": 0.2}
"""For the title, 1.0 and 2.0 are 0.004 worse; 3.0 is 0.02 worse and begins to lose known items."""

OTHER_FIELDS = 0.3
"""The share of the scores of fields other than the best one; 0.0 and 1.0 differ by less than 0.005."""

NEAR_FIELDS = ("title", "body")
NEAR_BOOST = 0.5
"""The weight of adjacent words of the query that are near each other; 0 is 0.014 worse, 2 is 0.017 worse."""

NEAR_SLOP = 8
"""The distance, in words, that counts as near; 0 to 4 are 0.006 worse."""

COMPLETE_BONUS = 10.0
"""The bonus for documents with every word when any word suffices, so that they come first."""

Clause = tuple[Occur, Query]


class QueryBuilder:
    """Builds tantivy queries for one schema."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema

    def strict(self, query: AllOf) -> Query:
        """Matches documents with every word; stop words are optional, unless there are no others."""
        return Query.boolean_query([*self._complete(query), *self._near(query)])

    def relaxed(self, query: AllOf) -> Query:
        """Matches documents with any of the words, and with everything required: phrases, title words, sites,
        groups."""
        required = [node for node in query.required if _is_required(node)]
        optional = _plain_words(_main_words(query.required))
        clauses = [(Occur.Must, self._node(node)) for node in required]
        clauses += [(Occur.MustNot, self._node(node)) for node in query.excluded]
        if optional:
            any_word = Query.boolean_query([(Occur.Should, self._any_part(words)) for words in optional])
            clauses.append((Occur.Must, any_word))
        complete = Query.const_score_query(Query.boolean_query(list(self._complete(query))), COMPLETE_BONUS)
        return Query.boolean_query([*clauses, *self._near(query), (Occur.Should, complete)])

    def _complete(self, group: AllOf) -> Iterator[Clause]:
        main_words = _main_words(group.required)
        for node in group.required:
            yield Occur.Must if node in main_words else Occur.Should, self._node(node)
        for node in group.excluded:
            yield Occur.MustNot, self._node(node)

    def _node(self, node: Node) -> Query:
        match node:
            case QueryWords():
                return self._words(node)
            case SiteFilter():
                return Query.const_score_query(Query.term_query(self._schema, "site", node.authority, "basic"), 0.0)
            case AnyOf():
                return Query.boolean_query([(Occur.Should, self._node(choice)) for choice in node.choices])
            case AllOf():
                return Query.boolean_query(list(self._complete(node)))

    def _any_part(self, words: QueryWords) -> Query:
        """Matches any part of a word of several parts."""
        if len(words.terms) == 1:
            return self._words(words)
        parts = [words, *(QueryWords((term,)) for term in words.terms)]
        return Query.boolean_query([(Occur.Should, self._words(part)) for part in parts])

    def _words(self, words: QueryWords) -> Query:
        fields = ("title",) if words.where == "title" else tuple(BOOSTS)
        return self._best_of(fields, words.terms, boost=1.0, slop=0)

    def _near(self, query: AllOf) -> Iterator[Clause]:
        terms = [term for words in _plain_words(query.required) if not words.is_stop_word for term in words.terms]
        for first, second in pairwise(terms):
            if first != second:
                pair = self._best_of(NEAR_FIELDS, (first, second), boost=NEAR_BOOST, slop=NEAR_SLOP)
                yield Occur.Should, pair

    def _best_of(self, fields: Iterable[str], terms: tuple[str, ...], *, boost: float, slop: int) -> Query:
        queries = [Query.boost_query(self._in_field(name, terms, slop), boost * BOOSTS[name]) for name in fields]
        return Query.disjunction_max_query(queries, OTHER_FIELDS)

    def _in_field(self, name: str, terms: tuple[str, ...], slop: int) -> Query:
        """Matches the terms, one after the other, in one field. tantivy panics for a phrase of one term."""
        if len(terms) > 1:
            return Query.phrase_query(self._schema, name, list(terms), slop)
        if is_prefix_term(terms[0]):
            return Query.regex_query(self._schema, name, f"{terms[0]}.?")
        return Query.term_query(self._schema, name, terms[0])


def _is_required(node: Node) -> bool:
    """Whether a node is always required: quotes, fields, OR and groups are meant literally."""
    return not isinstance(node, QueryWords) or node.is_required


def _main_words(nodes: Sequence[Node]) -> Sequence[Node]:
    """Leaves out stop words, unless there are no other words."""
    main_words = [node for node in nodes if not (isinstance(node, QueryWords) and node.is_stop_word)]
    return main_words if any(not isinstance(node, SiteFilter) for node in main_words) else nodes


def _plain_words(nodes: Sequence[Node]) -> list[QueryWords]:
    return [node for node in nodes if isinstance(node, QueryWords) and not node.is_required]
