"""Orders the best documents of a search by score and priors (factors that do not depend on the query), merges equal
texts and translations, and mixes hosts. Pure.

Tantivy's Python binding cannot take priors into account, so the order is decided here, `WINDOW` documents at a time.
"""

import math
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from operator import attrgetter
from types import MappingProxyType
from typing import Final, NamedTuple, TypeVar

WINDOW: Final = 200
"""The number of documents that are ordered together. If a reader asks for further hits, the next ones are ordered for
themselves and follow."""

PARTS: Final = MappingProxyType(
    {
        "complete": "pages with every word come first",
        "near": "words that are near each other as in the query add to the score",
        "joined": "the parts of joined words such as os.path.join add to the score where they are together",
        "names": "pages whose title, headings or terms have a joined word such as os.path.join as a whole rank higher",
        "repeated": "words that occur repeatedly in a long query count more",
        "headings": "headings count",
        "terms": "terms of definition lists count",
        "summary": "META description and keywords count",
        "address": "the words of the URL count",
        "alternatives": "ALT texts of images count",
        "anchors": "texts of links to the page count",
        "fragments": "fragments that links name (#os.path.join), and the texts of those links, count",
        "rank": "pages that many pages link to rank higher",
        "depth": "pages in few directories rank higher",
        "language": "pages in the reader's languages rank higher",
        "lists": "pages that are only lists of links rank lower",
        "twins": "pages with the same text, and translations, are one hit",
        "spelling": "words that no page has are corrected",
        "hosts": "at most three hits of a host follow one another",
    }
)
"""The parts of the ranking that can be switched off, each with what it does."""

CONDITIONS: Final = "conditions"
"""Names the score of a page found by conditions alone."""
REASONS: Final = MappingProxyType(
    {**PARTS, CONDITIONS: "the query has no word to score, so each page that meets its conditions gets one point"}
)
"""What adds to a score besides words, or multiplies it, each with the reason."""

PRIORS: Final = ("rank", "depth", "language", "lists")
"""The parts that multiply the score of a document."""

COMPLETE_BONUS: Final = 20.0
NEAR_WEIGHT: Final = 0.2
NEAR_SLOP: Final = 8
JOINED_WEIGHT: Final = 0.5
NAME_WEIGHT: Final = 3.0
STOP_WEIGHT: Final = 0.2
OTHER_FIELDS: Final = 0.3
"""The share of the other fields' scores that is added to the score of the best field."""
FRAGMENT_WEIGHT: Final = 0.5
ANCHOR_WEIGHT: Final = 0.2

RANK_WEIGHT: Final = 0.03
DEPTH_WEIGHT: Final = 0.01
MAX_DEPTH: Final = 8
OTHER_LANGUAGE: Final = 0.8
LIST_FACTOR: Final = 0.9
HITS_IN_A_ROW: Final = 3
OTHER_HOST: Final = 0.5
"""The least share of the score of a hit that one of another host needs to come before it."""


class Candidate(NamedTuple):
    """A document found. `place` is its position in the caller's list, `number` its number in the index. `rank` is its
    PageRank relative to the mean (1.0); `group` is the same for translations of a page, `twin` for equal texts;
    `tongue` is its language. `number` and the last three are 0 if unknown."""

    score: float
    place: int
    number: int = 0
    host: int = 0
    group: int = 0
    twin: int = 0
    tongue: int = 0
    depth: int = 0
    is_list: bool = False
    rank: float = 1.0


class Ranked(NamedTuple):
    """A hit: its score with priors, its place, and the places of its copies and translations, best first. `versions`
    are all of them, by which more can be found; none if copies and translations are hits of their own."""

    score: float
    place: int
    others: tuple[int, ...] = ()
    versions: tuple[Candidate, ...] = ()


@dataclass(frozen=True, slots=True)
class Ranking:
    """Decides the order of hits. `without`: parts (see `PARTS`) that are switched off."""

    without: frozenset[str] = field(default=frozenset())

    def has(self, part: str) -> bool:
        """Whether a part is on."""
        return part not in self.without

    def order(
        self,
        found: Iterable[Candidate],
        tongues: Sequence[int] = (),
        known: set[int] | None = None,
        *,
        otherwise: Sequence[int] = (),
        mixes_hosts: bool = True,
    ) -> list[Ranked]:
        """Returns the hits in their order. `tongues` are the reader's languages, the preferred one first; a translation
        in one of `otherwise` is shown if there is none in these. Documents with equal scores stay in the order of
        `found`. `known` has numbers, groups and twins of the documents of earlier calls, which are left out, and gets
        those of this call."""
        known = set() if known is None else known
        new = [item for item in found if known.isdisjoint(self._marks(item))] if known else list(found)
        for name in ("number", "group", "twin") if self.has("twins") else ("number",):
            known.update(map(attrgetter(name), new))
        known.discard(0)
        scored = sorted(((self.factor(item, tongues) * item.score, item) for item in new), key=lambda pair: -pair[0])
        groups = self._grouped(scored, (*tongues, *otherwise)) if self.has("twins") else [[pair] for pair in scored]
        if mixes_hosts and self.has("hosts"):
            groups = _mixed(groups)
        return [self._ranked(group) for group in groups]

    def _ranked(self, group: "list[_Scored]") -> Ranked:
        score, first = group[0]
        others = tuple([item.place for _, item in group[1:]])
        return Ranked(score, first.place, others, tuple([item for _, item in group]) if self.has("twins") else ())

    def count(self, columns: Sequence[Sequence[int]], known: set[int]) -> int:
        """Returns how many hits further documents make, by their numbers, groups and twins. `known`: see `order`."""
        found = 0
        for number, group, twin in zip(*columns, strict=True):
            marks = self._marks(Candidate(0.0, 0, number, group=group, twin=twin))
            found += known.isdisjoint(marks)
            known.update(marks)
            known.discard(0)
        return found

    def _marks(self, item: Candidate) -> tuple[int, ...]:
        return (item.number, item.group, item.twin) if self.has("twins") else (item.number,)

    def factor(self, item: Candidate, tongues: Sequence[int]) -> float:
        """Returns the number by which the priors multiply a score."""
        factor = 1.0
        if self.has("rank"):
            factor *= 1.0 + RANK_WEIGHT * math.log(item.rank)
        if self.has("depth"):
            factor *= 1.0 - DEPTH_WEIGHT * min(item.depth, MAX_DEPTH)
        if self.has("language") and item.tongue and tongues and item.tongue not in tongues:
            factor *= OTHER_LANGUAGE
        if self.has("lists") and item.is_list:
            factor *= LIST_FACTOR
        return factor

    def factors(self, item: Candidate, tongues: Sequence[int]) -> tuple[tuple[str, float], ...]:
        """Returns the factors of `factor`, by the parts of the ranking that they belong to."""
        return tuple(
            (part, Ranking(frozenset(PRIORS) - {part}).factor(item, tongues)) for part in PRIORS if self.has(part)
        )

    def _grouped(self, scored: "list[_Scored]", tongues: Sequence[int]) -> "list[list[_Scored]]":
        """Returns the documents of each group together, where its best document was. The document in the reader's
        preferred language is first in its group, then the best in each other language, then further copies."""
        groups: dict[int, list[_Scored]] = {}
        leader: dict[int, int] = {}
        for pair in scored:
            item = pair[1]
            marks = [mark for mark in (item.group, item.twin) if mark]
            first = next((leader[mark] for mark in marks if mark in leader), item.place)
            for mark in marks:
                leader.setdefault(mark, first)
            groups.setdefault(first, []).append(pair)
        preferred = {tongue: number for number, tongue in enumerate(dict.fromkeys(tongues))}
        for group in groups.values():
            if len(group) > 1:
                best = group[0][0]
                group.sort(key=lambda pair: preferred.get(pair[1].tongue, len(preferred)))
                group[0] = (best, group[0][1])
                group[1:] = languages_first(group, lambda pair: pair[1].tongue)
        return list(groups.values())


_Scored = tuple[float, Candidate]
_T = TypeVar("_T")


def languages_first(group: Sequence[_T], tongue: Callable[[_T], int]) -> list[_T]:
    """Returns all but the first: the best in each further language, then the remaining ones."""
    seen = {tongue(group[0])}
    first, rest = list[_T](), list[_T]()
    for item in group[1:]:
        (rest if tongue(item) in seen else first).append(item)
        seen.add(tongue(item))
    return first + rest


def _is_other_near(groups: list[list[_Scored]], at: int) -> bool:
    """Whether the next hit of another host is about as good as a hit."""
    score, own = groups[at][0][0], groups[at][0][1].host
    other = next((group[0][0] for group in islice(groups, at + 1, None) if group[0][1].host != own), -math.inf)
    return other >= OTHER_HOST * score


def _mixed(groups: list[list[_Scored]]) -> list[list[_Scored]]:
    """Moves hits forward so that at most `HITS_IN_A_ROW` of a host follow one another while others are left that are
    about as good."""
    ordered: list[list[_Scored]] = []
    waiting: deque[list[_Scored]] = deque()  # further hits of a host that has `HITS_IN_A_ROW`
    host, row = 0, 0
    for at, group in enumerate(groups):
        own = group[0][1].host
        if ordered and own == host and row >= HITS_IN_A_ROW and _is_other_near(groups, at):
            waiting.append(group)
            continue
        ordered.append(group)
        host, row = own, row + 1 if own == host else 1
        if waiting:
            moved = [waiting.popleft() for _ in range(min(HITS_IN_A_ROW, len(waiting)))]
            ordered += moved
            host, row = moved[0][0][1].host, len(moved)
    return [*ordered, *waiting]
