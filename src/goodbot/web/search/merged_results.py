"""One page of the hits of several sources, and what other services are asked. Pure."""

from dataclasses import dataclass, replace
from typing import Final

from goodbot.federate import Merged, MergedHit, SourceReport, left_out, scored
from goodbot.search_values import Results
from goodbot.web.search.search_query import HITS_PER_PAGE, MAX_PAGE, PARAMETERS, SearchQuery, page_count

_OPERATORS: Final = {"language": "lang"}
"""Fields of `Filters` whose operator has another name."""


@dataclass(frozen=True, slots=True)
class MergedResults:
    """One page of merged hits. `found` is the result of our own index with these hits in place of its own; `hits` are
    the same with their sources. `pages` counts the pages known so far; `is_cut`: sources have more than can be
    requested."""

    found: Results
    hits: tuple[MergedHit, ...]
    sources: tuple[SourceReport, ...]
    pages: int
    is_cut: bool

    @property
    def left_out(self) -> tuple[SourceReport, ...]:
        """The services that did not answer, or not to every request."""
        return left_out(self.sources)

    @property
    def answered(self) -> tuple[SourceReport, ...]:
        """The sources that answered, our own index included."""
        return tuple(each for each in self.sources if each.state == "answered")

    def sources_of_hits(self) -> list[list[str]]:
        """Returns the names of the sources of each hit."""
        return [[source for source, _ in hit.sources] for hit in self.hits]


def sent_query(query: SearchQuery) -> str:
    """Returns what other services are asked: the query as typed, and the filters as operators, such as `lang:de`, which
    some services do not know."""
    values = ((_OPERATORS.get(name, name), getattr(query.filters, name)) for name in PARAMETERS.values())
    return " ".join([query.query, *(f"{name}:{value}" for name, value in values if value)])


def page_of(query: SearchQuery, own: Results, merged: Merged) -> MergedResults:
    """Returns the page of merged hits that was requested."""
    hits = merged.hits[query.offset : query.offset + HITS_PER_PAGE]
    pages = page_count(len(merged.hits))
    if merged.can_continue and pages <= query.page and len(hits) == HITS_PER_PAGE:
        pages = min(query.page + 1, MAX_PAGE)
    return MergedResults(
        replace(own, hits=scored(hits), total=max(own.total, len(merged.hits))),
        hits,
        merged.sources,
        pages,
        is_cut=query.page == pages and not merged.is_complete and not merged.can_continue,
    )
