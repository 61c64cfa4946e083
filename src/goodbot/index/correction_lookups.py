"""Asks the documents of an index what corrections and completions need to know."""

from collections.abc import Iterator
from typing import Final

from tantivy import Occur, Query

from goodbot.index.best_documents import best_documents
from goodbot.index.correction import Documents
from goodbot.index.filters import with_filters
from goodbot.index.index_reader import stored_page
from goodbot.index.index_state import IndexState
from goodbot.index.link_texts import LinkTexts
from goodbot.index.locate import word_places
from goodbot.index.query import parse_query
from goodbot.index.query_builder import QueryBuilder
from goodbot.index.query_values import Filter

EXAMINED_PAGES: Final = 40
EXAMINED_PLACES: Final = 100
"""The limits for the pages in which the spelling of a word is looked up, and for the places in each."""


def correction_lookups(
    state: IndexState, builder: QueryBuilder, links: LinkTexts, filters: tuple[Filter, ...] = ()
) -> Documents:
    """Returns the look-ups for queries with some `filters`. They see no document that must not be shown."""
    searcher = state.searcher

    def complete(text: str, filters: tuple[Filter, ...] = ()) -> int:
        built = builder.build(with_filters(parse_query(text), filters))
        if built is None:
            return 0
        return int(searcher.search(built.complete or built.main, 1).count)  # type: ignore[attr-defined]

    def matching(query: str) -> int:
        return complete(query, filters)

    def score(query: str) -> float:
        built = builder.build(with_filters(parse_query(query), filters))
        return max((score for score, _ in searcher.search(built.main, 1).hits), default=0.0) if built else 0.0

    def words(terms: tuple[str, ...]) -> Iterator[list[str]]:
        queries = [(Occur.Should, Query.term_query(state.schema, "body", term)) for term in terms]
        if state.withheld is not None:
            queries.append((Occur.MustNot, state.withheld))
        for _, address in best_documents(searcher, Query.boolean_query(queries), EXAMINED_PAGES).documents:
            page = stored_page(searcher, address)
            texts = (page.title, page.text)
            yield [
                text[start:end]
                for text in texts
                for start, end, _ in word_places(text, frozenset(terms), page.language, EXAMINED_PLACES)
            ]

    return Documents(complete, matching, score, words, links.has)
