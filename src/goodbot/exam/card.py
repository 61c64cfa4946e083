"""Makes the score card: judges what was observed at each site by the rules."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from goodbot.exam.exam_values import ExamRequest, ExamSite, Observed, SiteJudgement
from goodbot.exam.expectations import OnLaterVisit
from goodbot.exam.rules import RULES, Kind, Rule


@dataclass(frozen=True, slots=True)
class Mark:
    """One expectation and its judgement."""

    rule: Rule
    expected: str
    judgement: SiteJudgement

    @property
    def points(self) -> int:
        return self.rule.points if self.judgement.passed else 0

    @property
    def fails(self) -> bool:
        """Whether this mark fails the site; extras never do."""
        return not (self.judgement.passed or self.rule.extra)


@dataclass(frozen=True, slots=True)
class SiteCard:
    """The result of one site. `skipped` says why it was not part of the exam, `pending` why it is not judged yet. A
    site without requests has no points."""

    name: str
    teaches: str
    source: str
    marks: tuple[Mark, ...]
    requests: int = 0
    skipped: str | None = None
    pending: str | None = None

    @property
    def state(self) -> Literal["passed", "failed", "skipped", "pending"]:
        """The result in one word."""
        if self.pending:
            return "pending"
        return "skipped" if self.passed is None else "passed" if self.passed else "failed"

    @property
    def passed(self) -> bool | None:
        """Whether the crawler passed the site; None if it was skipped."""
        return None if self.skipped else not any(mark.fails for mark in self.marks)

    @property
    def points(self) -> int:
        return sum(mark.points for mark in self.marks)

    @property
    def max_points(self) -> int:
        """The points a crawler can get here, extras included."""
        return sum(mark.rule.points for mark in self.marks)

    @property
    def offending(self) -> ExamRequest | None:
        """The first request that broke an expectation."""
        found = [mark.judgement.offending for mark in self.marks if mark.fails and mark.judgement.offending]
        return min(found, key=lambda request: request.at, default=None)

    @property
    def expected(self) -> str:
        return "; ".join(mark.expected for mark in self.marks)

    @property
    def observed(self) -> str:
        """What the crawler did where it failed, or everywhere if it failed nowhere."""
        if self.skipped:
            return f"skipped: {self.skipped}"
        shown = [mark for mark in self.marks if mark.fails] or self.marks
        return "; ".join(dict.fromkeys(mark.judgement.observed for mark in shown))


@dataclass(frozen=True, slots=True)
class ScoreCard:
    """The result of the whole exam. Memory and CPU time are those of the examined processes, None if none ran.

    `began_at` is in Unix seconds, like the times of requests. `refused_connections` counts connections that came when
    no more could be open.
    """

    crawler: str
    sites: tuple[SiteCard, ...]
    peak_memory_bytes: int | None = None
    cpu_s: float | None = None
    elapsed_s: float | None = None
    began_at: float | None = None
    refused_connections: int = 0

    @property
    def passed(self) -> bool:
        return all(site.passed is not False for site in self.sites)

    def total(self, kind: Kind) -> tuple[int, int]:
        """Returns the points of one kind, and how many there are to get."""
        marks = [mark for site in self.sites for mark in site.marks if mark.rule.kind == kind]
        return sum(mark.points for mark in marks), sum(mark.rule.points for mark in marks)

    def as_json(self) -> dict[str, Any]:
        """Returns the card as JSON, in the form that programs rely on."""
        manners, skill = self.total("manners"), self.total("skill")
        return {
            "crawler": self.crawler,
            "passed": self.passed,
            "sites": [_site_json(site) for site in self.sites],
            "manners": {"points": manners[0], "max": manners[1]},
            "skill": {"points": skill[0], "max": skill[1]},
            "peak_memory_bytes": self.peak_memory_bytes,
            "cpu_s": self.cpu_s,
            "elapsed_s": self.elapsed_s,
            "began_at": self.began_at,
            "refused_connections": self.refused_connections,
        }


def judge_site(site: ExamSite, seen: Observed) -> SiteCard:
    """Judges what a crawler did at one site."""
    return SiteCard(site.name, site.teaches, site.source, tuple(_marks(site, seen)), requests=len(seen.requests))


def skipped_site(site: ExamSite, reason: str) -> SiteCard:
    """Returns the card of a site that could not be part of the exam."""
    return SiteCard(site.name, site.teaches, site.source, (), skipped=reason)


def _marks(site: ExamSite, seen: Observed) -> Iterable[Mark]:
    for expectation in site.expects:
        if isinstance(expectation, OnLaterVisit) and seen.visits < expectation.visits:
            continue
        refused = expectation.rule == "secure" and any(
            seen.connections.values()
        )  # a good crawler sends no request there
        judgement = expectation.judge(seen) if seen.requests or refused else SiteJudgement(False, "sent no request")
        where = ""
        if len(site.labels) > 1 and expectation.origin is not None:
            where = f" ({origin_name(expectation.origin)})"
        if seen.requests:
            judgement = replace(judgement, observed=judgement.observed + where)
        yield Mark(RULES[expectation.rule], expectation.expected + where, judgement)


def origin_name(label: str) -> str:
    """Returns the name of an origin on the card, for a site that has several."""
    return f"{label or 'main'} origin"


def _site_json(site: SiteCard) -> Mapping[str, Any]:
    return {
        "name": site.name,
        "passed": site.passed,
        "state": site.state,
        "expected": site.expected,
        "observed": site.observed,
        "points": site.points,
        "max": site.max_points,
        "teaches": site.teaches,
        "source": site.source,
        "requests": site.requests,
        "skipped": site.skipped,
        "first_offending": _request_json(site.offending),
        "marks": [
            {
                "rule": mark.rule.code,
                "kind": mark.rule.kind,
                "extra": mark.rule.extra,
                "passed": mark.judgement.passed,
                "expected": mark.expected,
                "observed": mark.judgement.observed,
                "points": mark.points,
                "max": mark.rule.points,
            }
            for mark in site.marks
        ],
    }


def _request_json(request: ExamRequest | None) -> Mapping[str, Any] | None:
    if request is None:
        return None
    return {
        "origin": request.origin,
        "method": request.method,
        "target": request.target,
        "at": request.at,
        "status": request.status,
        "visit": request.visit,
    }
