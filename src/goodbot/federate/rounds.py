"""What each source has sent for one search, and the merged result. Pure.

Hits are merged in rounds: the first ten of each source come before the second ten of any source. So a page of results
stays as it is when later pages are requested, and a service is asked for ten hits at a time, as its own visitors ask.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, Self

from goodbot.federate.answers import ENDS_EARLY, Answer
from goodbot.federate.fetching import Trouble
from goodbot.federate.merging import MergedHit, RankedHits, merge, page_key
from goodbot.federate.template import HITS_PER_ROUND
from goodbot.search_values import Hit

MAX_ROUNDS: Final = 5
MAX_HITS_OF_SOURCE: Final = MAX_ROUNDS * HITS_PER_ROUND
"""Of a longer list, the rest is not used."""
MAX_REQUESTS: Final = 5
"""How often each source is asked at most for one query. One that sends less than ten hits at a time gives fewer."""
OWN: Final = "this index"
"""The name of the searcher's own index among the sources."""

State = Literal["answered", "late", "failed"]


@dataclass(frozen=True, slots=True)
class SourceReport:
    """What became of one source. `url` is what was named, a template included. `hits` counts the pages that it gave to
    these results, each once; `took_ms` is how long they took, or how long they were waited for. `why` says in one
    clause why it is left out, or sent no more. `is_lasting`: what was named is no search service."""

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
    """Collects what one source sends: each page at its first rank. `listed` counts the entries of all its lists, also
    those that are no hits."""

    name: str
    url: str = ""
    found: dict[str, tuple[int, Hit]] = field(default_factory=dict)
    listed: int = 0
    requests: int = 0
    took_ms: float = 0.0
    state: State = "answered"
    why: str = ""
    is_lasting: bool = False
    has_ended: bool = False

    @property
    def is_done(self) -> bool:
        """Whether it is asked no more."""
        return self.has_ended or self.listed >= MAX_HITS_OF_SOURCE or self.requests == MAX_REQUESTS

    @classmethod
    def of(cls, report: SourceReport) -> Self:
        """Makes a source that was left out before, for that reason."""
        source = cls(report.name, report.url, took_ms=report.took_ms)
        source.end(Trouble(report.why, is_lasting=report.is_lasting), report.state)
        return source

    def add_own(self, hits: Sequence[Hit], took_ms: float) -> None:
        """Adds the next ten hits of the own index, fewer if there are no more, which took some time."""
        self.add_answer(Answer(tuple(hits), tuple(range(1, len(hits) + 1)), len(hits)), took_ms)

    def add_answer(self, answer: Answer | Trouble, took_ms: float) -> None:
        """Adds the next answer, which took some time."""
        self.took_ms += took_ms
        if isinstance(answer, Trouble):
            self.end(answer, "failed")
            return
        before = len(self.found)
        for rank, hit in zip(answer.ranks, answer.hits, strict=True):
            if self.listed + rank <= MAX_HITS_OF_SOURCE:
                self.found.setdefault(page_key(hit), (self.listed + rank, hit))
        self.requests += 1
        self.listed += answer.listed
        is_last = answer.listed < HITS_PER_ROUND if answer.total is None else self.listed >= answer.total
        repeats = bool(answer.hits) and len(self.found) == before
        self.has_ended = is_last or repeats or not answer.listed
        if answer.is_cut:
            self.end(Trouble(ENDS_EARLY), "failed")

    def end(self, trouble: Trouble, state: State) -> None:
        """Notes why nothing more comes. A source that has sent hits has answered."""
        self.why, self.is_lasting, self.has_ended = trouble.why, trouble.is_lasting, True
        self.state = self.state if self.found else state

    def round(self, number: int) -> RankedHits:
        """Returns the hits of a round; the first one is 0."""
        ranks = range(number * HITS_PER_ROUND + 1, (number + 1) * HITS_PER_ROUND + 1)
        return RankedHits(self.name, [ranked for ranked in self.found.values() if ranked[0] in ranks])

    def has_more(self, asked: int) -> bool:
        """Whether it may have hits beyond so many rounds."""
        return not self.has_ended or self.listed > asked * HITS_PER_ROUND

    def report(self, asked: int) -> SourceReport:
        """Returns what became of it in so many rounds."""
        hits = sum(rank <= asked * HITS_PER_ROUND for rank, _ in self.found.values())
        return SourceReport(self.name, self.url, self.state, hits, self.took_ms, self.why, self.is_lasting)


def rounds_for(needed: int) -> int:
    """Returns how many rounds give so many hits if a single source has them."""
    return min(max(1, -(-needed // HITS_PER_ROUND)), MAX_ROUNDS)


def merged_sources(sources: Sequence[Source], asked: int) -> Merged:
    """Merges what all sources sent for `asked` rounds."""
    hits, seen = list[MergedHit](), set[str]()
    for number in range(asked):
        found = merge([source.round(number) for source in sources], seen)
        seen.update(page_key(each.hit) for each in found)
        hits += found
    is_complete = not any(source.has_more(asked) for source in sources)
    reports = tuple(source.report(asked) for source in sources)
    return Merged(tuple(hits), reports, is_complete, not is_complete and asked < MAX_ROUNDS)
