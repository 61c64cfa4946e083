"""Applies the lessons in force about origins: which URLs are not requested, and why. Bounded memory, no I/O."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date
from itertools import chain
from math import inf
from typing import Final, NamedTuple

from goodbot.lesson_values import SPENT, Lesson
from goodbot.lru import LruCache
from goodbot.robot.lessons.budgets import branch_of
from goodbot.robot.lessons.calendars import date_in, sentence
from goodbot.robot.lessons.cleaning import parameters, without
from goodbot.robot.lessons.url_families import families_of
from goodbot.url import Url

MAX_ORIGINS: Final = 20_000
"""Origins with lessons that are remembered: some hundred bytes each."""

MAX_LESSONS: Final = 1000
"""Lessons of one kind and origin. An origin with more traps gets a few requests for each further one."""

_PARAMETERS: Final = 30
_CHECK_S: Final = 60.0
"""The least time between two searches for lapsed lessons, because each walks over all lessons."""


class Refusal(NamedTuple):
    """Why a URL is not requested, and the URL to request instead, if there is one."""

    reason: str
    instead: Url | None = None


@dataclass(slots=True)
class _Origin:
    """The lessons of one origin by subject: parameters, families, branches, canonical URLs that its pages name by
    mistake, calendars, budgets; bounds by calendar; the origin it mirrors; how often lapsed ones were learned."""

    parameters: dict[str, Lesson] = field(default_factory=dict)
    families: dict[str, Lesson] = field(default_factory=dict)
    branches: dict[str, Lesson] = field(default_factory=dict)
    canonicals: dict[str, Lesson] = field(default_factory=dict)
    calendars: dict[str, Lesson] = field(default_factory=dict)
    budgets: dict[str, Lesson] = field(default_factory=dict)
    bounds: dict[str, tuple[int, int, Lesson]] = field(default_factory=dict)
    mirrors: dict[str, Lesson] = field(default_factory=dict)
    times: dict[tuple[str, str], int] = field(default_factory=dict)

    def of(self, kind: str) -> dict[str, Lesson] | None:
        """Returns the lessons of a kind; None for an unknown kind."""
        match kind:
            case "parameter":
                return self.parameters
            case "family":
                return self.families
            case "branch":
                return self.branches
            case "canonical":
                return self.canonicals
            case "calendar":
                return self.calendars
            case "budget":
                return self.budgets
            case "mirror":
                return self.mirrors
        return None

    def all(self) -> Iterator[Lesson]:
        kinds = self.parameters, self.families, self.branches, self.canonicals, self.calendars, self.budgets
        return chain.from_iterable(lessons.values() for lessons in (*kinds, self.mirrors))

    def narrow(self, subject: str, lesson: Lesson) -> None:
        shape, first, last = _bounds(subject)
        before = self.bounds.get(shape, (first, last, lesson))
        self.bounds[shape] = max(first, before[0]), min(last, before[1]), lesson

    def lapse(self, lesson: Lesson, subject: str) -> None:
        """Ends a lesson, but remembers how often it was learned."""
        (self.of(lesson.kind) or {}).pop(subject, None)
        if len(self.times) < MAX_LESSONS:
            self.times[_topic(lesson.kind, lesson.about)] = lesson.times
        if lesson.kind == "calendar":
            self.bounds = {}
            for other in self.calendars.items():
                self.narrow(*other)


class LessonsInForce:
    """The lessons in force, by origin. A lesson is about an origin and, after a space, a part of it. `due_at`: when
    `lapse` is next due."""

    def __init__(self) -> None:
        self._origins: LruCache[str, _Origin] = LruCache(MAX_ORIGINS)
        self.due_at = inf

    def take(self, lessons: Iterable[Lesson]) -> None:
        """Puts lessons in force, or takes lapsed ones out of force."""
        for lesson in lessons:
            origin, _, subject = lesson.about.partition(" ")
            known = self._origins.get_or(origin, _Origin)
            of_kind = known.of(lesson.kind)
            if lesson.lapsed:
                known.lapse(lesson, subject)
            elif of_kind is not None and (len(of_kind) < MAX_LESSONS or subject in of_kind):
                of_kind[subject] = lesson
                self.due_at = min(self.due_at, lesson.until)
                if lesson.kind == "calendar":
                    known.narrow(subject, lesson)

    def times(self, kind: str, about: str) -> int:
        """Returns how often a lesson that has lapsed was learned."""
        known = self._origins.get(about.partition(" ")[0])
        return known.times.get(_topic(kind, about), 0) if known is not None else 0

    def lapse(self, now: float) -> list[Lesson]:
        """Ends the lessons whose time is over, and returns them."""
        every = [lesson for known in self._origins.values() for lesson in known.all()]
        over = [lesson._replace(lapsed=True) for lesson in every if lesson.until <= now]
        self.take(over)
        next_end = min((lesson.until for lesson in every if lesson.until > now), default=inf)
        self.due_at = max(next_end, now + _CHECK_S) if next_end < inf else inf
        return over

    def refuse(self, text: str) -> Refusal | None:
        """Returns why a URL is not requested; None if it may be. 0.2 µs if nothing was learned."""
        origin = text[: text.find("/", 8)]
        known = self._origins.get(origin)
        found = self._judge(text, known) if known is not None else None
        if found is None:
            return None
        lesson, reason = found
        match lesson.kind:
            case "mirror":
                return Refusal(reason, Url(lesson.about.partition(" ")[2] + text[len(origin) :]))
            case "parameter":
                return Refusal(reason, Url(self.without_learned(text)))
        return Refusal(reason)

    def lesson_about(self, text: str) -> Lesson | None:
        """Returns the lesson that keeps a URL out; None if there is none."""
        known = self._origins.get(text[: text.find("/", 8)])
        found = self._judge(text, known) if known is not None else None
        return found[0] if found is not None else None

    def _judge(self, text: str, known: _Origin) -> tuple[Lesson, str] | None:
        """Returns the lesson that applies to a URL, and its reason."""
        for lesson in known.mirrors.values():
            return lesson, lesson.evidence
        if known.parameters and (named := _named(text, known)):
            return named[0], named[0].evidence
        if known.families:
            for name in families_of(text):
                if name in known.families:
                    return known.families[name], known.families[name].evidence
        if known.bounds and (found := _off_the_calendar(text, known)):
            return found
        if known.branches and (branch := known.branches.get(branch_of(text))):
            return branch, branch.evidence
        if known.budgets and (spent := known.budgets.get(SPENT)):
            return spent, spent.evidence
        return None

    def without_learned(self, text: str) -> str:
        """Returns the URL without the parameters that change nothing there."""
        known = self._origins.get(text[: text.find("/", 8)])
        if known is None or not known.parameters:
            return text
        for lesson in _named(text, known):
            text = without(text, lesson.about.partition(" ")[2])
        return text

    def is_known(self, kind: str, origin: str, subject: str) -> bool:
        """Returns whether this lesson is in force already."""
        known = self._origins.get(origin)
        if known is None:
            return False
        match kind:
            case "mirror":
                return bool(known.mirrors)
            case "calendar":
                shape, first, last = _bounds(subject)
                before = known.bounds.get(shape)
                return before is not None and first <= before[0] and before[1] <= last
        return subject in (known.of(kind) or ())


def _topic(kind: str, about: str) -> tuple[str, str]:
    """Returns the part of a lesson that stays the same when it is learned again: for a calendar, all but its bounds."""
    return kind, " ".join(about.split(" ", 2)[:2])


def _named(text: str, known: _Origin) -> list[Lesson]:
    """Returns the lessons about the parameters of a URL."""
    names = dict.fromkeys(name for name, _ in parameters(text, _PARAMETERS))
    return [known.parameters[name] for name in names if name in known.parameters]


def _bounds(subject: str) -> tuple[str, int, int]:
    """Returns the shape of a calendar and its first and last day, from the subject of a lesson."""
    shape, first, last = (*subject.split(" "), "", "")[:3]
    return shape, _day(first, date.min), _day(last, date.max)


def _day(text: str, otherwise: date) -> int:
    day = int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0
    return day if date.min.toordinal() <= day <= date.max.toordinal() else otherwise.toordinal()


def _off_the_calendar(text: str, known: _Origin) -> tuple[Lesson, str] | None:
    found = date_in(text)
    if found is None or found[0] not in known.bounds:
        return None
    first, last, lesson = known.bounds[found[0]]
    return None if first <= found[1] <= last else (lesson, sentence(found[0], first, last, lesson.evidence))
