"""Reads when and how often a robots.txt lets a robot crawl: Crawl-delay, Request-rate, Visit-time.

RFC 9309 defines none of them; its §2.2.4 permits reading other records. Crawl-delay is custom, the other two are from
Sean Conner (An Extended Standard for Robot Exclusion, 1996). All times are UTC.
"""

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeVar

from goodbot.exclusion.text.decimals import decimal_number, seconds_text, whole_number
from goodbot.exclusion.text.shown_text import shown
from goodbot.exclusion.verdict import Record

Window = tuple[int, int]
"""The first and the last minute of the UTC day (0–1439), both included. If the first is the later one, the window
crosses midnight."""

_DAY_MINUTES: Final = 1440
_FIELDS: Final = frozenset({"crawl-delay", "request-rate", "visit-time"})
_UNITS: Final = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}

_DURATION = re.compile(r"([0-9]+)([smhdSMHD]?)")
_CLOCK_TIME = re.compile(r"[0-9]{4}")

ReadRecord = TypeVar("ReadRecord")


class RequestRate(NamedTuple):
    """At most `documents` in `seconds`, within `window`. A rate without a window applies when no rate with one does."""

    documents: int
    seconds: float
    window: Window | None

    @property
    def gap_s(self) -> float:
        """The seconds between two requests if they are spread evenly."""
        return self.seconds / self.documents


class Unread(NamedTuple):
    """A record with an invalid value, and the reason. `value` is safe to print, cut after 120 characters."""

    line: int
    field: str
    value: str
    reason: str


@dataclass(frozen=True, slots=True)
class Visit:
    """Whether a robot may crawl at one instant. `from_at` (Unix seconds) is that instant, or when the next window
    opens.

    `gap_s` is the shortest time in seconds between two requests that is required at that instant, None if none is.
    """

    may_come: bool
    from_at: float
    gap_s: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class Timing:
    """The limits for one robot: the longest Crawl-delay in seconds, every rate, every window of Visit-time.

    Without a window the robot may crawl at any time. `unread` lists the invalid records of these fields, by line.
    """

    delay_s: float | None = None
    rates: tuple[RequestRate, ...] = ()
    windows: tuple[Window, ...] = ()
    unread: tuple[Unread, ...] = ()

    @classmethod
    def of(cls, records: Iterable[Record]) -> "Timing":
        """Reads all these records together. Linear; never raises, whatever the values."""
        records = [record for record in records if record[1] in _FIELDS]
        unread: list[Unread] = []
        delays = _read(records, "crawl-delay", _delay, unread)
        rates = _read(records, "request-rate", parse_rate, unread)
        windows = _read(records, "visit-time", parse_window, unread)
        return cls(max(delays, default=None), tuple(rates), tuple(windows), tuple(sorted(unread)))

    def at(self, now: float) -> Visit:
        """Returns whether the robot may crawl at `now` (Unix seconds), from when, and how often. Linear in the number
        of rates and windows.

        `from_at` is as exact as a float of that size. Raises ValueError for NaN and infinity.
        """
        if not math.isfinite(now):
            raise ValueError(f"not a time in Unix seconds: {now}")
        minutes = math.floor(now) // 60  # integers, which represent every minute of any float exactly
        minute = minutes % _DAY_MINUTES
        wait, window = min(((_wait(window, minute), window) for window in self.windows), default=(0, None))
        gap_s, asks = self._gap(minute)
        from_at = float((minutes + wait) * 60) if wait else now
        return Visit(not wait, from_at, gap_s, f"{_may_crawl(wait, window)}, {asks}.")

    def _gap(self, minute: int) -> tuple[float | None, str]:
        """Returns the required gap and the words for it: of the slowest rate whose window is open (or else of the
        slowest one without a window), or the Crawl-delay if that is longer."""
        in_force = [rate for rate in self.rates if rate.window and not _wait(rate.window, minute)]
        in_force = in_force or [rate for rate in self.rates if not rate.window]
        slowest = max(in_force, key=lambda rate: rate.gap_s, default=None)
        if slowest and (self.delay_s is None or slowest.gap_s > self.delay_s):
            return slowest.gap_s, f"and {_written(slowest)} asks for {seconds_text(slowest.gap_s)} between two requests"
        if self.delay_s is not None:
            return self.delay_s, f"and Crawl-delay asks for {seconds_text(self.delay_s)} between two requests"
        return None, "and no time between two requests is required"


def asked_delay_s(records: Iterable[Record]) -> float | None:
    """Returns the longest Crawl-delay among these records, which satisfies all of them; None if none can be read."""
    values = (value for _, field, value in records if field == "crawl-delay")
    return max((delay for value in values if (delay := parse_delay(value)) is not None), default=None)


def parse_delay(value: str) -> float | None:
    """Returns the seconds of a Crawl-delay: a plain decimal number, not negative, at most `MAX_NUMBER` (a larger
    number counts as that).

    Anything else (`1e3`, `10s`, `-1`, `inf`) gives None. Crawl-delay is in no standard; RFC 9309 §2.2.4 permits reading
    it.
    """
    return decimal_number(value)


def parse_rate(value: str) -> RequestRate | str:
    """Returns a Request-rate (`1/10m 1300-1659`), or the reason why the value is invalid.

    Documents and time are whole numbers of at least 1 (larger than `MAX_NUMBER` they count as that); the units are s
    (default), m, h, d in any case. Source: Conner 2.0, and Protego for d, days. Our reading: spaces are allowed around
    the slash; an invalid window makes the record invalid.
    """
    documents, slash, rest = value.partition("/")
    if not slash:
        return "expected documents/time, such as 1/10m"
    time, *windows = rest.split(maxsplit=1) or [""]
    count, span = whole_number(documents.strip()), _DURATION.fullmatch(time)
    if not count:
        return "the number of documents must be a whole number of at least 1"
    number = whole_number(span.group(1)) if span else None
    if not span or not number:
        return "the time must be a whole number of at least 1, with unit s, m, h or d, or none"
    window = parse_window(windows[0]) if windows else None
    if isinstance(window, str):
        return f"in its window, {window}"
    return RequestRate(count, float(number * _UNITS[span.group(2).lower()]), window)


def parse_window(value: str) -> Window | str:
    """Returns a Visit-time (`0600-0845` or `0600 0845`, hours and minutes UTC), or the reason why the value is invalid.

    Source: Conner 2.0, and the draft of October 1996 for the space. Our reading: the last minute belongs to the
    window, 2400 is the end of the day, and spaces are allowed around the hyphen.
    """
    ends = [end.strip() for end in value.split("-", 2)] if "-" in value else value.split(maxsplit=2)
    if len(ends) != 2 or not all(map(_CLOCK_TIME.fullmatch, ends)):
        return "expected two four-digit times (HHMM-HHMM)"
    first, last = map(_minute, ends)
    if ends[1] == "2400":
        last = _DAY_MINUTES - 1
    return "hours must be 00-23 and minutes 00-59" if first is None or last is None else (first, last)


def _minute(clock: str) -> int | None:
    hours, minutes = int(clock[:2]), int(clock[2:])
    return hours * 60 + minutes if hours < 24 and minutes < 60 else None


def _delay(value: str) -> float | str:
    delay_s = parse_delay(value)
    return delay_s if delay_s is not None else "expected a plain number of seconds"


def _read(
    records: Iterable[Record], field: str, reader: Callable[[str], ReadRecord | str], unread: list[Unread]
) -> list[ReadRecord]:
    """Returns the valid values of one field, and adds the invalid ones to `unread`."""
    values: list[ReadRecord] = []
    for line, name, value in records:
        if name == field:
            found = reader(value)
            if isinstance(found, str):
                unread.append(Unread(line, field, shown(value), found))
            else:
                values.append(found)
    return values


def _wait(window: Window, minute: int) -> int:
    """Returns the minutes until the window opens; 0 if it is open."""
    first, last = window
    return 0 if (minute - first) % _DAY_MINUTES <= (last - first) % _DAY_MINUTES else (first - minute) % _DAY_MINUTES


def _may_crawl(wait: int, window: Window | None) -> str:
    if window is None:
        return "The robot may crawl at any time"
    if wait:
        return f"The robot may not crawl before {_clock(window[0])} UTC (Visit-time {_span(window)})"
    return f"The robot may crawl now (Visit-time {_span(window)} UTC)"


def _written(rate: RequestRate) -> str:
    span = f" {_span(rate.window)} UTC" if rate.window else ""
    return f"Request-rate {rate.documents}/{rate.seconds:.0f}s{span}"


def _span(window: Window) -> str:
    return f"{_clock(window[0])}-{_clock(window[1])}"


def _clock(minute: int) -> str:
    return f"{minute // 60:02}{minute % 60:02}"
