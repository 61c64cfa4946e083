"""What is meant → a tantivy query. tantivy's own parser is not used: 3,000 nested parentheses end its process.

A word scores where it scores best, and a little in the other fields (disjunction max): a word in title, heading and
text is one word found, not three. Neighbours of the query that stand near each other in a document add to its score.

The numbers were chosen on Cranfield (225 queries, nDCG@10) and hold on known items in Debian's manuals; all lie on
plateaus.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from tantivy import Occur, Query, Schema

from goodbot.index.analysis import is_prefix_term
from goodbot.index.query import AllOf, AnyOf, Node, QueryWords, SiteFilter

BOOSTS = {"body": 1.0, "title": 1.5, "headings": 1.2, "address": 0.5, "summary": 0.6, "keywords": 0.2}
"""Title: 1.0 and 2.0 are 0.004 worse, 3.0 is 0.02 worse and begins to lose known items."""

OTHER_FIELDS = 0.3
"""Share of the score of the fields that are not the best one; 0.0 and 1.0 are within 0.005."""

NEAR_FIELDS = ("title", "body")
NEAR_BOOST = 0.5
"""0 is 0.014 worse, 2 is 0.017 worse."""

NEAR_SLOP = 8
"""How many places apart neighbours may stand; 0 to 4 are 0.006 worse."""

COMPLETE_BONUS = 10.0
"""Added to documents with every word when any word will do, so that they come first."""

Clause = tuple[Occur, Query]


class Planner:
    """Makes queries for one schema."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema

    def strict(self, query: AllOf) -> Query:
        """Documents with every word; stop words are wished for only, unless there is nothing else."""
        return Query.boolean_query([*self._complete(query), *self._near(query)])

    def relaxed(self, query: AllOf) -> Query:
        """Documents with any of the words, and with all that is insisted on: phrases, title words, sites, groups."""
        insisted = [node for node in query.required if _is_insisted(node)]
        wished = _plain_words(_weighty(query.required))
        clauses = [(Occur.Must, self._node(node)) for node in insisted]
        clauses += [(Occur.MustNot, self._node(node)) for node in query.excluded]
        if wished:
            some = Query.boolean_query([(Occur.Should, self._loosely(words)) for words in wished])
            clauses.append((Occur.Must, some))
        complete = Query.const_score_query(Query.boolean_query(list(self._complete(query))), COMPLETE_BONUS)
        return Query.boolean_query([*clauses, *self._near(query), (Occur.Should, complete)])

    def _complete(self, group: AllOf) -> Iterator[Clause]:
        weighty = _weighty(group.required)
        for node in group.required:
            yield Occur.Must if node in weighty else Occur.Should, self._node(node)
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

    def _loosely(self, words: QueryWords) -> Query:
        """Of a word of several parts any part will do."""
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
        rows = [Query.boost_query(self._row(name, terms, slop), boost * BOOSTS[name]) for name in fields]
        return Query.disjunction_max_query(rows, OTHER_FIELDS)

    def _row(self, name: str, terms: tuple[str, ...], slop: int) -> Query:
        """The terms in a row in one field. A phrase of one term is a panic of tantivy's, not an error."""
        if len(terms) > 1:
            return Query.phrase_query(self._schema, name, list(terms), slop)
        if is_prefix_term(terms[0]):
            return Query.regex_query(self._schema, name, f"{terms[0]}.?")
        return Query.term_query(self._schema, name, terms[0])


def _is_insisted(node: Node) -> bool:
    """Whoever writes quotes, fields, OR or a group means it."""
    return not isinstance(node, QueryWords) or node.insisted


def _weighty(nodes: Sequence[Node]) -> Sequence[Node]:
    """Without stop words, unless there is no other word."""
    weighty = [node for node in nodes if not (isinstance(node, QueryWords) and node.is_stop_word)]
    return weighty if any(not isinstance(node, SiteFilter) for node in weighty) else nodes


def _plain_words(nodes: Sequence[Node]) -> list[QueryWords]:
    return [node for node in nodes if isinstance(node, QueryWords) and not node.insisted]
