"""Finds the best documents of a query, in an order that depends on the documents alone.

Tantivy orders documents of equal score by their places in the index, which depend on when they were added, and on how
indexes are joined. Here they are in the order of their numbers. The last of the seven digits of a score depends on the
order in which parts of it were added, so scores are rounded.
"""

from typing import Final, NamedTuple

import tantivy
from tantivy import FieldType, Occur, Query

from goodbot.index.index_reader import Opened

_SPLITTER: Final = float((1 << 36) + 1)
"""Keeps 17 of the 53 bits of a number (Dekker 1971), about five digits."""
_MAX_EXAMINED: Final = 20_000
"""The limit for documents that are read to find all of equal score. Beyond it, their places in the index decide."""
_MAX_DEPTH: Final = 100

Scored = tuple[float, tantivy.DocAddress]


class Best(NamedTuple):
    """The best documents, and how many the query finds."""

    documents: list[Scored]
    found: int


def best_documents(searcher: tantivy.Searcher, query: Query, most: int, step: int = 1) -> Best:
    """Returns the best documents, at most `most`, which is at least 1. Those of equal score are in the order of their
    numbers; if `step` is greater than 1, only where it matters which of them are before a multiple of `step`."""
    # Tantivy allocates memory for the requested number, and panics if it is 0.
    every, asked = max(1, int(searcher.num_docs)), most + 1
    while True:
        result = searcher.search(query, min(asked, every))
        hits = result.hits
        if len(hits) < min(asked, every) or asked > max(most, _MAX_EXAMINED) or _are_apart(hits, most):
            break
        asked *= 2
    found = int(result.count)  # type: ignore[attr-defined]  # missing in tantivy's stub
    at = step
    while at < len(hits):
        first, after = _equal_around(hits, at)
        if first < at:
            hits[first:after] = _by_number(searcher, hits[first:after])
        at += max(1, (after - at) // step) * step
    return Best(hits[:most], found)


def rounded(score: float) -> float:
    """Returns a score without the digits that depend on the order in which its parts were added."""
    scaled = _SPLITTER * score
    return scaled - (scaled - score)


def _are_apart(hits: "list[Scored]", most: int) -> bool:
    """Whether the first documents after `most` others have a lower score."""
    return len(hits) <= most or rounded(hits[most - 1][0]) > rounded(hits[-1][0])


def _equal_around(hits: "list[Scored]", at: int) -> tuple[int, int]:
    """Returns where the documents begin and end that have the score of the one at `at`."""
    score, first, after = rounded(hits[at][0]), at, at + 1
    while first and rounded(hits[first - 1][0]) == score:
        first -= 1
    while after < len(hits) and rounded(hits[after][0]) == score:
        after += 1
    return first, after


def _by_number(searcher: tantivy.Searcher, hits: "list[Scored]") -> "list[Scored]":
    numbers = searcher.fast_field_values("number", [address for _, address in hits])
    rows = sorted((int(number or 0), place) for place, number in enumerate(numbers))
    return [hits[place] for _, place in rows]


def first_documents(opened: Opened, query: Query, score: float, most: int) -> Best:
    """Does the same for a query that gives this score to all documents: those in few directories come first."""
    index, searcher = opened
    result = searcher.search(query, min(most, max(1, searcher.num_docs)))
    found = int(result.count)  # type: ignore[attr-defined]  # missing in tantivy's stub
    if found <= most:
        places = [address for _, address in result.hits]
        keys = (searcher.fast_field_values(name, places) for name in ("depth", "number"))
        rows = sorted(zip(*([int(value or 0) for value in values] for values in keys), range(found), strict=True))
        return Best([(score, places[place]) for _, _, place in rows], found)
    documents: list[Scored] = []
    for depth in range(_MAX_DEPTH + 1):
        is_there = Query.range_query(index.schema, "depth", FieldType.Unsigned, depth, depth)
        both = Query.boolean_query([(Occur.Must, query), (Occur.Must, Query.const_score_query(is_there, 0.0))])
        left = most - len(documents)
        hits = searcher.search(both, left, count=False, order_by_field="number", order=tantivy.Order.Asc).hits
        documents += [(score, address) for _, address in hits]
        if len(documents) == most:
            break
    return Best(documents, found)
