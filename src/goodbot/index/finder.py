"""Finds the documents of a query and puts them in order."""

import math
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import tantivy
from tantivy import Occur, Query

from goodbot.index.best_documents import Best, Scored, best_documents, first_documents, rounded
from goodbot.index.index_reader import Opened, with_number
from goodbot.index.keys import tongue_of
from goodbot.index.link_texts import LinkTexts
from goodbot.index.query_builder import BuiltQuery
from goodbot.index.ranking import WINDOW, Candidate, Ranked, Ranking

LINKED_PAGES: Final = 300
"""A search considers this many of the pages whose link texts match best."""
ADDED_PAGES: Final = 50
"""At most this many of them are added to the pages whose own words match best."""
LINKED_HITS: Final = 100
"""Pages are added only if they may be among this many first hits."""
MOST_PRIOR: Final = 1.3
"""A page found by its link texts alone is added only if its score times this factor could reach the best pages.
Query-independent factors rarely change the ratio of two scores by more than this."""
MAX_COUNTED: Final = 1_000
"""Up to this many documents, the first page of hits counts the hits exactly."""
MAX_EXAMINED: Final = 20_000
"""The limit for documents that are examined for the last pages of hits, if most of them are translations and copies."""


class Found(NamedTuple):
    """The documents of a search, best first, and how many there are. `listed`: see `Results`. `linked` has the scores
    of the pages whose link texts match best, by their numbers."""

    total: int
    complete: int
    listed: int | None
    ranked: list[Ranked]
    addresses: list[tantivy.DocAddress]
    linked: Mapping[int, float]


class Wanted(NamedTuple):
    """What a search needs: the first `needed` hits, for a reader of `languages`. A translation in one of `otherwise` is
    shown if there is none in these. `mixes_hosts`: hits of different hosts alternate."""

    needed: int
    languages: Sequence[str] = ()
    otherwise: Sequence[str] = ()
    mixes_hosts: bool = True


class Finder:
    """Finds documents by their own words and by the texts of `links` to them."""

    def __init__(self, links: LinkTexts, ranking: Ranking) -> None:
        self._links = links
        self._ranking = ranking

    def find(self, opened: Opened, built: BuiltQuery, wanted: Wanted) -> Found:
        """Returns the documents that a query finds."""
        _, searcher = opened
        needed = wanted.needed
        scored, matching = self._best(opened, built, WINDOW * max(1, -(-needed // WINDOW)))
        linked = self._links.scores(built.links, LINKED_PAGES) if built.links is not None else {}
        added = self._added(opened, built, scored[:WINDOW], linked, needed)
        tongues, common = tongues_of(wanted.languages), tongues_of(wanted.otherwise)
        block, at = [*scored[:WINDOW], *added], WINDOW
        addresses, ranked, known = list[tantivy.DocAddress](), list[Ranked](), set[int]()
        while block:  # each is ordered for itself, so that the hits before it stay where they are
            candidates = self.candidates(searcher, block, linked, len(addresses))
            ranked += self._ranking.order(candidates, tongues, known, otherwise=common, mixes_hosts=wanted.mixes_hosts)
            addresses += [address for _, address in block]
            if len(ranked) >= needed or at >= min(matching, MAX_EXAMINED):
                break
            if len(scored) < min(at + WINDOW, matching):
                scored = self._best(opened, built, min(2 * at, MAX_EXAMINED)).documents
            block, at = scored[at : at + WINDOW], at + WINDOW
        complete = total = matching + sum(1 for score, _ in added if not score)
        if built.complete is not None:
            complete = int(searcher.search(built.complete, 1).count)  # type: ignore[attr-defined]
        listed = len(ranked) if at >= min(matching, MAX_EXAMINED) else None
        if listed is None and matching <= MAX_COUNTED:
            scored = self._best(opened, built, matching).documents if len(scored) < matching else scored
            listed = len(ranked) + self._ranking.count(_marks(searcher, [place for _, place in scored[at:]]), known)
        return Found(total, complete, listed, ranked, addresses, linked)

    def _best(self, opened: Opened, built: BuiltQuery, most: int) -> Best:
        if built.score is not None:
            return first_documents(opened, built.main, built.score, most)
        return best_documents(opened[1], built.main, most, WINDOW)

    def _added(
        self,
        opened: Opened,
        built: BuiltQuery,
        best: list[Scored],
        linked: dict[int, float],
        needed: int,
    ) -> list[Scored]:
        """Returns pages whose links match well but that are not among the best pages by their own words. It returns all
        that may be among the first `LINKED_HITS`, so that all pages of hits have one order. It returns none if none can
        be among the first `needed`."""
        index, searcher = opened
        numbers = [int(number or 0) for number in searcher.fast_field_values("number", [place for _, place in best])]
        totals = sorted((score + linked.get(number, 0.0) for number, (score, _) in zip(numbers, best, strict=True)))
        own = best[-1][0] if len(best) == WINDOW else 0.0
        least = (totals[-LINKED_HITS] if len(totals) >= LINKED_HITS else 0.0) / MOST_PRIOR - own
        others = [number for number in linked.keys() - set(numbers) if linked[number] > least]
        others = sorted(others, key=lambda number: (-linked[number], number))[:ADDED_PAGES]
        far = totals[-needed] / MOST_PRIOR - own if 0 < needed <= len(totals) else -math.inf
        if not others or linked[others[0]] <= far:
            return []
        clauses = [(Occur.Must, with_number(index.schema, "number", others)), (Occur.Should, built.main)]
        if built.filters is not None:
            clauses.append((Occur.Must, Query.const_score_query(built.filters, 0.0)))
        return best_documents(searcher, Query.boolean_query(clauses), len(others)).documents

    def candidates(
        self,
        searcher: tantivy.Searcher,
        scored: Sequence[Scored],
        linked: Mapping[int, float],
        before: int = 0,
    ) -> list[Candidate]:
        """Returns the documents, which come after `before` others, with the values that order them. Equal scores are in
        the order of the numbers, so that the order does not depend on when a document was added."""
        addresses = [address for _, address in scored]
        columns = [
            [int(value or 0) for value in searcher.fast_field_values(name, addresses)]
            for name in ("number", "host", "group", "twin", "tongue", "depth", "list")
        ]
        ranks = self._links.ranks(columns[0]) if self._ranking.has("rank") else {}
        rows = sorted(zip(*columns, range(len(scored)), strict=True))
        return [
            Candidate(
                rounded(scored[place][0]) + linked.get(number, 0.0),
                before + place,
                number,
                host=host,
                group=group,
                twin=twin,
                tongue=tongue,
                depth=depth,
                is_list=bool(is_list),
                rank=ranks.get(number, 1.0),
            )
            for number, host, group, twin, tongue, depth, is_list, place in rows
        ]


def tongues_of(languages: Sequence[str]) -> list[int]:
    """Returns the tongues of languages, without those that have none."""
    return [tongue for code in languages if (tongue := tongue_of(code))]


def _marks(searcher: tantivy.Searcher, addresses: list[tantivy.DocAddress]) -> list[list[int]]:
    """Returns the numbers, groups and twins of documents."""
    return [
        [int(value or 0) for value in searcher.fast_field_values(name, addresses)]
        for name in ("number", "group", "twin")
    ]
