"""Finds the translations and copies of the hits that are shown."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import tantivy
from tantivy import Occur, Query

from goodbot.index.best_documents import best_documents
from goodbot.index.index_reader import Opened, with_number
from goodbot.index.keys import tongue_of
from goodbot.index.ranking import Ranked, languages_first

MAX_VERSIONS: Final = 100
"""The limit for the versions of a page that are looked up, on average over the hits of a page of results."""


class _Member(NamedTuple):
    """A translation or copy; `is_found`: the query finds it."""

    address: tantivy.DocAddress
    tongue: int
    is_found: bool


class Versions(NamedTuple):
    """A hit: its score, its page and the other versions of the page, in their order."""

    score: float
    addresses: list[tantivy.DocAddress]


def find_versions(
    opened: Opened,
    main: Query,
    shown: Sequence[Ranked],
    addresses: Sequence[tantivy.DocAddress],
    languages: Sequence[str],
    withheld: Query | None = None,
) -> list[Versions]:
    """Returns the hits to show with all their translations and copies, also those that the query does not find, but not
    those that `withheld` finds. The version in the reader's language comes first if the query finds it."""
    index, searcher = opened
    versions = [(at, version) for at, item in enumerate(shown) for version in item.versions]
    owner = {("group", version.group): at for at, version in versions if version.group}
    owner |= {("twin", version.twin): at for at, version in versions if version.twin}
    sets = [(name, [mark for field, mark in owner if field == name]) for name in ("group", "twin")]
    alike = [(Occur.Should, with_number(index.schema, name, marks)) for name, marks in sets if marks]
    members: list[list[_Member]] = [[] for _ in shown]
    if alike:
        clauses = [
            (Occur.Must, Query.boolean_query(alike)),
            (Occur.Should, Query.const_score_query(main, 1.0)),
            *([(Occur.MustNot, withheld)] if withheld is not None else []),
        ]
        scored = best_documents(searcher, Query.boolean_query(clauses), MAX_VERSIONS * len(shown)).documents
        members_at = [address for _, address in scored]
        columns = [
            [int(value or 0) for value in searcher.fast_field_values(name, members_at)]
            for name in ("group", "twin", "tongue")
        ]
        for (score, address), group, twin, tongue in zip(scored, *columns, strict=True):
            at = owner.get(("group", group), owner.get(("twin", twin)))
            if at is not None:
                members[at].append(_Member(address, tongue, score > 0.0))
    preferred = {tongue_of(code): number for number, code in reversed(list(enumerate(languages)))}
    return [_in_order(item, addresses, members[at], preferred) for at, item in enumerate(shown)]


def _in_order(
    item: Ranked, addresses: Sequence[tantivy.DocAddress], members: Sequence[_Member], preferred: Mapping[int, int]
) -> Versions:
    """Returns the versions of a hit: first the one in the most preferred language that the query finds, then the best
    one in each further language."""
    ranked = [addresses[place] for place in (item.place, *item.others)]
    places = {(address.segment_ord, address.doc): at for at, address in enumerate(ranked)}
    by_rank = sorted(members, key=lambda one: places.get((one.address.segment_ord, one.address.doc), len(ranked)))
    if len(by_rank) < 2:
        return Versions(item.score, ranked)
    first = min(
        (one for one in by_rank if one.is_found),
        key=lambda one: preferred.get(one.tongue, len(preferred)),
        default=by_rank[0],
    )
    rest = sorted(
        (one for one in by_rank if one is not first), key=lambda one: preferred.get(one.tongue, len(preferred))
    )
    ordered = [first, *languages_first([first, *rest], lambda one: one.tongue)]
    return Versions(item.score, [one.address for one in ordered])
