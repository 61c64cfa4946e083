"""Lists the languages and types of the documents, from which searches may choose."""

from collections.abc import Iterable
from typing import Final

import tantivy
from tantivy import Occur, Query

from goodbot.index.index_state import IndexState
from goodbot.index.query_builder import MEDIA_TYPES
from goodbot.search_values import Choices

MAX_LANGUAGES: Final = 40
MAX_TYPES: Final = 20
_EXAMINED: Final = 200
"""How many of the most frequent languages, and of the most frequent types, are counted."""

_TYPES: Final = {
    "html": ("html", *MEDIA_TYPES["html"]),
    **{name: (name, *others) for name, others in MEDIA_TYPES.items() if name not in ("html", "htm")},
}
"""Types with a short name, each with the extensions and media types that it has."""
_NAMES: Final = {kind: name for name, kinds in _TYPES.items() for kind in kinds}


def count_choices(state: IndexState) -> Choices:
    """Counts the documents of each language and type. A type is a media type, or the short name for some (`html`).
    Other extensions of URLs are left out: they seldom say of what type a page is (`.php`)."""
    languages = [term for term in _terms(state.searcher, "language") if len(term) == 2]
    kinds = [term for term in _terms(state.searcher, "kind") if "/" in term or term in _NAMES]
    types = dict.fromkeys(_NAMES.get(kind, kind) for kind in kinds)
    return Choices(
        _most_frequent(state, "language", ((code, (code,)) for code in languages), MAX_LANGUAGES),
        _most_frequent(state, "kind", ((name, _TYPES.get(name, (name,))) for name in types), MAX_TYPES),
    )


def _terms(searcher: tantivy.Searcher, field: str) -> list[str]:
    """Returns the most frequent terms. Counts include removed documents, so they are approximate."""
    return [term for term, _ in searcher.terms_with_prefix(field, "", limit=_EXAMINED)]


def _most_frequent(
    state: IndexState, field: str, values: Iterable[tuple[str, tuple[str, ...]]], most: int
) -> tuple[tuple[str, int], ...]:
    counted = ((name, _count(state, field, terms)) for name, terms in values)
    found = sorted((pair for pair in counted if pair[1]), key=lambda pair: (-pair[1], pair[0]))
    return tuple(found[:most])


def _count(state: IndexState, field: str, terms: tuple[str, ...]) -> int:
    any_of = [(Occur.Should, Query.term_query(state.schema, field, term, "basic")) for term in terms]
    clauses = [(Occur.Must, Query.boolean_query(any_of))]
    if state.withheld is not None:
        clauses.append((Occur.MustNot, state.withheld))
    return int(state.searcher.search(Query.boolean_query(clauses), 1).count)  # type: ignore[attr-defined]
