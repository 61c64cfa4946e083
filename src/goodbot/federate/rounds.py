"""What each source has sent for one search, in rounds of about ten hits, and the merged result. Pure.

All hits of a round come before those of the next one. So a page of results stays as it is when later pages are
requested, and a service is asked for ten hits at a time, as its own visitors ask.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Final, Literal, Self

from goodbot.federate.answers import Answer
from goodbot.federate.fetching import Trouble
from goodbot.federate.merging import MergedHit, RankedHits, merge, page_key
from goodbot.federate.template import HITS_PER_ROUND
from goodbot.search_values import Hit

MAX_ROUNDS: Final = 5
"""How often each source is asked at most for one query."""
OWN: Final = "this index"
"""The name of the searcher's own index among the sources."""

State = Literal["answered", "late", "failed"]


@dataclass(frozen=True, slots=True)
class SourceReport:
    """What became of one source. `url` is what was named, a template included. `hits` counts those it sent; `took_ms`
    is how long they took, or how long they were waited for. `why` says in one clause why it is left out, or sent no
    more. `is_lasting`: what was named is no search service."""

    name: str
    url: str
    state: State
    hits: int = 0
    took_ms: float = 0.0
    why: str = ""
    is_lasting: bool = False


def left_out(sources: Iterable[SourceReport]) -> tuple[SourceReport, ...]:
    """Returns the sources that did not answer, or not to every request."""
    return tuple(each for each in sources if each.why)


@dataclass(frozen=True, slots=True)
class Merged:
    """The first hits of all sources that answered; names of sources are those of `sources`, where the own index is the
    first. `is_complete`: no source has more; `can_continue`: more can be requested."""

    hits: tuple[MergedHit, ...]
    sources: tuple[SourceReport, ...]
    is_complete: bool
    can_continue: bool

    @property
    def left_out(self) -> tuple[SourceReport, ...]:
        """The sources that did not answer, or not to every request."""
        return left_out(self.sources)


@dataclass(slots=True)
class Source:
    """Collects what one source sends: the hits of each round. `count` counts them, `listed` all entries of its lists,
    also those that are no hits."""

    name: str
    url: str = ""
    rounds: list[RankedHits] = field(default_factory=list)
    count: int = 0
    listed: int = 0
    took_ms: float = 0.0
    state: State = "answered"
    why: str = ""
    is_lasting: bool = False
    is_done: bool = False

    def rename(self, name: str) -> None:
        """Gives it another name, as that is known only when the description is."""
        self.name = name
        self.rounds = [ranked._replace(source=name) for ranked in self.rounds]

    @classmethod
    def of(cls, report: SourceReport) -> Self:
        """Makes a source that was left out before, for that reason."""
        source = cls(report.name, report.url, took_ms=report.took_ms)
        source.end(Trouble(report.why, is_lasting=report.is_lasting), report.state)
        return source

    def add_own(self, hits: Sequence[Hit], took_ms: float) -> None:
        """Adds hits of the own index, which took some time."""
        self.add_answer(Answer(tuple(hits), listed=len(hits)), took_ms)

    def add_answer(self, answer: Answer | Trouble, took_ms: float) -> None:
        """Adds the answer of a round, which took some time."""
        self.took_ms += took_ms
        if isinstance(answer, Trouble):
            self.end(answer, "failed")
            return
        self.rounds.append(RankedHits(self.name, answer.hits, self.listed, answer.ranks))
        self.count += len(answer.hits)
        self.listed += answer.listed
        is_last = answer.listed < HITS_PER_ROUND if answer.total is None else self.listed >= answer.total
        self.is_done = is_last or not answer.listed

    def end(self, trouble: Trouble, state: State) -> None:
        """Notes why nothing more comes. A source that has sent hits has answered."""
        self.why, self.is_lasting, self.is_done = trouble.why, trouble.is_lasting, True
        self.state = self.state if self.count else state

    def report(self) -> SourceReport:
        """Returns what became of it."""
        return SourceReport(self.name, self.url, self.state, self.count, self.took_ms, self.why, self.is_lasting)


def rounds_for(needed: int) -> int:
    """Returns how many rounds give so many hits if a single source has them."""
    return min(max(1, -(-needed // HITS_PER_ROUND)), MAX_ROUNDS)


def merged_sources(sources: Sequence[Source], asked: int) -> Merged:
    """Merges what all sources sent in `asked` rounds."""
    hits, seen = list[MergedHit](), set[str]()
    for lists in zip_longest(*(source.rounds for source in sources), fillvalue=RankedHits("", ())):
        found = merge(lists, seen)
        seen.update(page_key(each.hit) for each in found)
        hits += found
    is_complete = all(source.is_done for source in sources)
    reports = tuple(source.report() for source in sources)
    return Merged(tuple(hits), reports, is_complete, not is_complete and asked < MAX_ROUNDS)
