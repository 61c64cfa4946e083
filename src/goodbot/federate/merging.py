"""Merges the hits of several sources into one order, by reciprocal rank fusion. Pure.

A page gets 1/(60 + rank) from each source that lists it: G. V. Cormack, C. L. A. Clarke, S. Büttcher, "Reciprocal Rank
Fusion outperforms Condorcet and individual Rank Learning Methods", SIGIR 2009. Only ranks count, since the scores of
different engines cannot be compared.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from math import fsum
from typing import Final, NamedTuple

from goodbot.exclusion.text.octets import normal_triplets
from goodbot.search_values import Hit
from goodbot.url import parse_url

K: Final = 60
"""The constant of the paper: the larger, the less the first ranks of one source count against agreement of several."""


class RankedHits(NamedTuple):
    """Hits of one source in its order, each with its rank among all entries that the source sent, from 1."""

    source: str
    hits: Sequence[tuple[int, Hit]]


class SourceRank(NamedTuple):
    """A source that lists a page, and the rank there, from 1."""

    source: str
    rank: int


@dataclass(frozen=True, slots=True)
class MergedHit:
    """A page, and the sources that list it, in the order of the sources. `hit` is that of the first of them."""

    hit: Hit
    sources: tuple[SourceRank, ...]
    score: float


@dataclass(slots=True)
class _Found:
    hit: Hit
    ranks: dict[str, int] = field(default_factory=dict)


def merge(lists: Sequence[RankedHits], seen: Collection[str] = ()) -> list[MergedHit]:
    """Returns the pages of all lists, except those whose `page_key` is in `seen`: the highest score first. Of equal
    scores, the page comes first that an earlier list has; within a list, the order stays."""
    found: dict[str, _Found] = {}
    for source, hits in lists:
        for rank, hit in hits:
            key = page_key(hit)
            if key not in seen:
                found.setdefault(key, _Found(hit)).ranks.setdefault(source, rank)
    merged = [
        MergedHit(
            each.hit,
            tuple(SourceRank(source, rank) for source, rank in each.ranks.items()),
            fsum(1 / (K + rank) for rank in each.ranks.values()),
        )
        for each in found.values()
    ]
    return sorted(merged, key=lambda each: -each.score)


def page_key(hit: Hit) -> str:
    """Returns what is equal for hits of the same page: its URL in normal form, without a fragment, percent-encoded as
    RFC 3986 §6.2.2 says; the id if it has no http or https URL."""
    url = parse_url(hit.url)
    return normal_triplets(url.text) if url is not None else hit.id
