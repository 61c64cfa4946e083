"""What was learned about origins, in force: which URLs are not asked for, and why. Bounded memory, no I/O."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from typing import Final, NamedTuple

from goodbot.robot.calendars import date_in, sentence
from goodbot.robot.cleaning import parameters, without
from goodbot.robot.families import families_of
from goodbot.robot.recent import Recent
from goodbot.url import Url
from goodbot.values import Lesson

ORIGINS_MOST: Final = 20_000
"""Of which lessons are remembered: some hundred bytes each."""

LESSONS_MOST: Final = 1000
"""Of one kind and origin: who has more traps than that is asked for a few pages of each."""

_PARAMETERS: Final = 30


class Refusal(NamedTuple):
    """Why a URL is not asked for, and the one to ask for instead, if there is one."""

    reason: str
    instead: Url | None = None


@dataclass(slots=True)
class _Origin:
    """The lessons of one origin: evidence by parameter and by family, bounds by calendar, canonical URLs that its pages
    name by mistake, and whose mirror it is."""

    parameters: dict[str, str] = field(default_factory=dict)
    families: dict[str, str] = field(default_factory=dict)
    calendars: dict[str, tuple[int, int, str]] = field(default_factory=dict)
    canonicals: set[str] = field(default_factory=set)
    mirror: tuple[str, str] | None = None


class Learned:
    """Lessons by origin. What a lesson is about: an origin and, behind a blank, what of it."""

    def __init__(self) -> None:
        self._origins: Recent[str, _Origin] = Recent(ORIGINS_MOST)

    def take(self, lessons: Iterable[Lesson]) -> None:
        """From now on they are in force."""
        for lesson in lessons:
            origin, _, subject = lesson.about.partition(" ")
            known = self._origins.get_or(origin, _Origin)
            match lesson.kind:
                case "parameter" if len(known.parameters) < LESSONS_MOST:
                    known.parameters[subject] = lesson.evidence
                case "family" if len(known.families) < LESSONS_MOST:
                    known.families[subject] = lesson.evidence
                case "calendar" if len(known.calendars) < LESSONS_MOST:
                    _narrow(known.calendars, subject, lesson.evidence)
                case "canonical" if len(known.canonicals) < LESSONS_MOST:
                    known.canonicals.add(subject)
                case "mirror":
                    known.mirror = subject, lesson.evidence

    def refuse(self, text: str) -> Refusal | None:
        """Why a URL is not to be asked for. 0.2 µs where nothing was learned."""
        origin = text[: text.find("/", 8)]
        known = self._origins.get(origin)
        return self._judge(text, origin, known) if known is not None else None

    def _judge(self, text: str, origin: str, known: _Origin) -> Refusal | None:
        if known.mirror is not None:
            counterpart, evidence = known.mirror
            return Refusal(evidence, Url(counterpart + text[len(origin) :]))
        if known.parameters and (cleaned := self.without_learned(text)) != text:
            name = next(name for name, _ in parameters(text, _PARAMETERS) if name in known.parameters)
            return Refusal(known.parameters[name], Url(cleaned))
        if known.families:
            for name in families_of(text):
                if name in known.families:
                    return Refusal(known.families[name])
        return _off_the_calendar(text, known) if known.calendars else None

    def without_learned(self, text: str) -> str:
        """The URL without the parameters that change nothing there."""
        known = self._origins.get(text[: text.find("/", 8)])
        if known is None or not known.parameters:
            return text
        for name in {name for name, _ in parameters(text, _PARAMETERS)} & known.parameters.keys():
            text = without(text, name)
        return text

    def is_known(self, kind: str, origin: str, subject: str) -> bool:
        """Whether it was learned already."""
        known = self._origins.get(origin)
        if known is None:
            return False
        match kind:
            case "mirror":
                return known.mirror is not None
            case "calendar":
                shape, first, last = _bounds(subject)
                before = known.calendars.get(shape)
                return before is not None and first <= before[0] and before[1] <= last
            case "family":
                return subject in known.families
            case "canonical":
                return subject in known.canonicals
        return subject in known.parameters


def _bounds(subject: str) -> tuple[str, int, int]:
    """A shape and its first and last day, as a lesson about a calendar names them."""
    shape, first, last = (*subject.split(" "), "", "")[:3]
    return shape, _day(first, date.min), _day(last, date.max)


def _day(text: str, otherwise: date) -> int:
    day = int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0
    return day if date.min.toordinal() <= day <= date.max.toordinal() else otherwise.toordinal()


def _narrow(calendars: dict[str, tuple[int, int, str]], subject: str, why: str) -> None:
    shape, first, last = _bounds(subject)
    before = calendars.get(shape, (first, last, why))
    calendars[shape] = max(first, before[0]), min(last, before[1]), why


def _off_the_calendar(text: str, known: _Origin) -> Refusal | None:
    found = date_in(text)
    if found is None or found[0] not in known.calendars:
        return None
    first, last, why = known.calendars[found[0]]
    return None if first <= found[1] <= last else Refusal(sentence(found[0], first, last, why))
