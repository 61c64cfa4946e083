"""Computes when each phase of a study is in force. Pure."""

import hashlib
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import inf
from typing import Final, NamedTuple

from goodbot.watch.history.copies import RobotsCopy
from goodbot.watch.study.plan import StudyPlan

DAY_S: Final = 86_400

MOST_SPANS: Final = 1000
"""Spans of a study that count, the newest ones."""


class Span(NamedTuple):
    """A time in which the rules of a phase are in force: from `start` to before `end`, Unix seconds. `phase` is its
    place in the plan."""

    phase: int
    start: float
    end: float


def planned(plan: StudyPlan) -> Iterator[Span]:
    """Yields the spans in order: each phase once, or without end if the plan repeats them."""
    start, number = plan.start, 0
    while number == 0 or plan.repeat:
        for phase in _order(plan, number):
            end = start + plan.phases[phase].days * DAY_S
            yield Span(phase, start, end)
            start = end
        number += 1


def _order(plan: StudyPlan, number: int) -> list[int]:
    """Returns the order of one round. Shuffled by digests, which are the same in every version of Python."""
    places = list(range(len(plan.phases)))
    if plan.shuffle is None:
        return places
    return sorted(places, key=lambda place: hashlib.sha256(f"{plan.shuffle} {number} {place}".encode()).digest())


@dataclass(frozen=True, slots=True)
class Due:
    """What is due at one time."""

    span: Span | None
    """The span that is in force; None before the study and after it."""
    next: Span | None
    """The span that begins next; None if there is none."""
    is_over: bool

    def body(self, plan: StudyPlan) -> bytes | None:
        """Returns the robots.txt that is due: that of the phase, or the base after the study. None before the study,
        and after a study without a base."""
        if self.span is not None:
            return plan.phases[self.span.phase].body
        return plan.base if self.is_over else None


def due_at(plan: StudyPlan, at: float) -> Due:
    """Returns what is due at a time, Unix seconds."""
    spans = planned(plan)
    for span in spans:
        if at < span.start:
            return Due(None, span, False)
        if at < span.end:
            return Due(span, next(spans, None), False)
    return Due(None, None, True)


def spans_until(plan: StudyPlan, until: float) -> list[Span]:
    """Returns the spans that begin before a time; of many, the newest `MOST_SPANS`."""
    found: deque[Span] = deque(maxlen=MOST_SPANS)
    for span in planned(plan):
        if span.start >= until:
            break
        found.append(span)
    return list(found)


def kept_spans(spans: Iterable[Span], plan: StudyPlan, copies: Iterable[RobotsCopy]) -> list[Span]:
    """Returns the parts of spans in which the robots.txt of the phase was in force, according to dated copies."""
    ordered = sorted(copies, key=lambda copy: copy.at)
    ends = [*(copy.at for copy in ordered[1:]), inf]
    times = [(copy.at, end, copy.body) for copy, end in zip(ordered, ends, strict=False) if copy.status == 200]
    found = []
    for span in spans:
        body = plan.phases[span.phase].body
        for start, end, of_copy in times:
            if of_copy == body and start < span.end and end > span.start and end > start:
                found.append(Span(span.phase, max(start, span.start), min(end, span.end)))
    return found


def joined(spans: Iterable[Span]) -> list[Span]:
    """Makes one span of those of one phase that follow each other without a gap."""
    found: list[Span] = []
    for span in spans:
        if found and found[-1].phase == span.phase and found[-1].end == span.start:
            found[-1] = Span(span.phase, found[-1].start, span.end)
        else:
            found.append(span)
    return found
