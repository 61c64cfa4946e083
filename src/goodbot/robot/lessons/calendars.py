"""Finds dates in URLs, and stops calendars that never end. Bounded memory, no I/O."""

import re
from dataclasses import dataclass, field
from datetime import date
from typing import Final

from goodbot.lru import LruCache, share_of

MAX_CALENDARS: Final = 2048
"""Calendars of all hosts of a crawl; usually 1 kB each, at most 10: 20 MB."""

DATES: Final = 24
"""Different dates visited before anything is refused: two years of months, or three weeks of days."""

AHEAD_DAYS: Final = 366
_DATES_KEPT: Final = 64
_TEXTS_KEPT: Final = 100
"""More than the 84 texts of a year of days whose pages say nothing but the names of the day and the month."""

_NUMBER = re.compile(r"[0-9]++")

_DATE = re.compile(
    r"(?<![0-9])((?:19|20|21)[0-9]{2})(?:([-/_.])(0[1-9]|1[0-2]|[1-9](?![0-9]))(?:\2(0[1-9]|[12][0-9]|3[01]|[1-9](?![0-9])))?"
    r"|(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01]))(?![0-9])"
)
"""Matches 2026-05, 2026/5/17, 20260517, but not 202605: numbers of six digits are as often ids."""

_YEAR = re.compile(r"(?<=[?&/_])(y(?:ear|r)?[=/])((?:19|20|21)[0-9]{2})(?![0-9])", re.IGNORECASE)
_MONTH = re.compile(r"(?<=[?&/_])(m(?:onth|on)?[=/])(0?[1-9]|1[0-2])(?![0-9])", re.IGNORECASE)
_DAY = re.compile(r"(?<=[?&/_])(d(?:ay)?[=/])(0?[1-9]|[12][0-9]|3[01])(?![0-9])", re.IGNORECASE)


def date_in(text: str) -> tuple[str, int] | None:
    """Returns the URL with its first date replaced, and that date as a day number; None if it has none. Linear."""
    if not ("20" in text or "19" in text or "21" in text):  # no year: 0.1 µs, and the expressions take 3.6
        return None
    start = text.find("/", 8)
    found = _DATE.search(text, start)
    if found is not None:
        year, _, month, day, tight_month, tight_day = found.groups()
        ordinal = _ordinal(year, month or tight_month, day or tight_day)
        return (f"{text[: found.start()]}DATE{text[found.end() :]}", ordinal) if ordinal else None
    year_at, month_at = _YEAR.search(text, start), _MONTH.search(text, start)
    if year_at is None or month_at is None:
        return None
    day_at = _DAY.search(text, start)
    ordinal = _ordinal(year_at[2], month_at[2], day_at[2] if day_at else None)
    shape = text
    for part in sorted(filter(None, (year_at, month_at, day_at)), key=lambda part: -part.start()):
        shape = f"{shape[: part.start(2)]}DATE{shape[part.end(2) :]}"
    return (shape, ordinal) if ordinal else None


def _ordinal(year: str, month: str, day: str | None) -> int | None:
    try:
        return date(int(year), int(month), int(day or 1)).toordinal()
    except ValueError:
        return None


def without_date(text: str, day: int) -> str:
    """Returns a text without the numbers of that day, which its page may repeat."""
    at = date.fromordinal(day)
    tight = f"{at.year}{at.month:02d}"
    own = {str(at.year), str(at.month), str(at.day), tight, f"{tight}{at.day:02d}"}
    return _NUMBER.sub(lambda number: "" if number[0].lstrip("0") in own else number[0], text)


@dataclass(slots=True)
class Calendar:
    """What is known of one calendar: the dates visited, the texts of their pages, the first and last date whose page
    had text of its own, and the number of empty pages in a row."""

    dates: set[int] = field(default_factory=set)
    texts: dict[int, None] = field(default_factory=dict)
    first_full: int = 0
    last_full: int = 0
    empty: int = 0

    def is_new(self, text: str) -> bool:
        """Returns whether none of the last dates had this text, and remembers it."""
        text_hash = hash(text)
        known = text_hash in self.texts
        if not known and len(self.texts) >= _TEXTS_KEPT:
            self.texts.pop(next(iter(self.texts)))
        self.texts[text_hash] = None
        return not known

    def visited(self, day: int, full: bool) -> None:
        """Records a page of that day. `full`: its text differs from that of other dates."""
        if len(self.dates) < _DATES_KEPT:
            self.dates.add(day)
        if full:
            self.first_full = min(self.first_full or day, day)
            self.last_full = max(self.last_full, day)
            self.empty = 0
        else:
            self.empty += 1

    def bounds(self, day: int, today: int) -> tuple[int, int, str] | None:
        """Returns the first and the last day that may still be requested, and why; None if there are no bounds."""
        if len(self.dates) < DATES:
            return None
        if self.empty >= DATES:
            why = f"{self.empty} dates in a row have pages with the same text"
            return self.first_full - AHEAD_DAYS, self.last_full + AHEAD_DAYS, why
        if day > today + AHEAD_DAYS:
            return 1, today + AHEAD_DAYS, f"{len(self.dates)} dates were visited, and the calendar does not end"
        return None


class Calendars:
    """What is known of the calendars of all hosts, by shape."""

    def __init__(self, processes: int = 1) -> None:
        self._known: LruCache[str, Calendar] = LruCache(share_of(MAX_CALENDARS, processes))

    def of(self, shape: str) -> Calendar:
        """Returns what is known of one calendar."""
        return self._known.get_or(shape, Calendar)

    def forget(self, shape: str) -> None:
        """Forgets a calendar, because its bounds are now a lesson."""
        self._known.pop(shape)


def sentence(shape: str, first: int, last: int, why: str) -> str:
    """Returns why dates outside the bounds are not requested."""
    begin = "" if first <= 1 else f"before {date.fromordinal(first).isoformat()} or "
    return f"a trap: an endless calendar, {shape}, {begin}after {date.fromordinal(last).isoformat()}: {why}"
