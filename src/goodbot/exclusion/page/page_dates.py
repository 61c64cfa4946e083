"""Parses dates as pages write them (`unavailable_after`): RFC 822, RFC 850, ISO 8601."""

import re
from datetime import UTC, datetime

from goodbot.exclusion.text.months import MONTH_NUMBERS, MONTHS

_MAX_CHARS = 64

_MONTH_NUMBERS = MONTH_NUMBERS | {month: number for number, month in enumerate(MONTHS, 1)} | {"sept": 9}

_ZONE = r"(?: ?([+-]\d\d:?\d\d|[+-]\d\d|[a-z]{1,5}))?"
_WRITTEN = re.compile(
    r"(?:[a-z]{3,9} )?(\d{1,2})[ -]([a-z]{3,9})[ -](\d{4}|\d\d)(?: (\d{1,2}):(\d\d)(?::(\d\d))?)?" + _ZONE, re.ASCII
)
_ISO = re.compile(
    r"(\d{4})-?(\d\d)-?(\d\d)(?:[t ](\d\d):?(\d\d)(?::?(\d\d)(?:[.]\d{1,9})?)?)?" + _ZONE,
    re.ASCII,
)

_ZONE_HOURS = {"est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7}
"""The time zones of RFC 822 §5.1. An unknown zone counts as UTC (RFC 5322 §4.3)."""


def parse_page_date(text: str) -> float | None:
    """Returns the Unix seconds of a date, with or without a time of day; None if it is invalid.

    Without a zone the date is UTC, without a time the beginning of the day; fractions of a second are ignored. Years of
    two digits from 70 on are in the 1900s. A text of more than 64 characters is invalid. The name of the weekday is not
    compared with the date. Never raises.
    """
    if len(text) > _MAX_CHARS:
        return None
    text = " ".join(text.lower().replace(",", " ").split())
    if match := _ISO.fullmatch(text):
        year, month, day, *clock, zone = match.groups()
    elif (match := _WRITTEN.fullmatch(text)) and match[2] in _MONTH_NUMBERS:
        day, name, year, *clock, zone = match.groups()
        month = str(_MONTH_NUMBERS[name])
        if len(year) == 2:
            year = ("19" if year >= "70" else "20") + year
    else:
        return None
    offset_s = _offset_s(zone or "")
    at = _unix_seconds(int(year), int(month), int(day), [int(number or 0) for number in clock])
    return None if at is None or offset_s is None else at - offset_s


def _unix_seconds(year: int, month: int, day: int, clock: list[int]) -> float | None:
    hour, minute, second = clock
    try:
        at = datetime(year, month, day, hour, minute, 59 if second == 60 else second, tzinfo=UTC)
    except ValueError:  # no such day, or no such time
        return None
    return at.timestamp()


def _offset_s(zone: str) -> int | None:
    """Returns the offset from UTC in seconds, positive to the east; None if it is invalid."""
    if zone[:1] not in ("+", "-"):
        return _ZONE_HOURS.get(zone, 0) * 3600
    digits = zone[1:].replace(":", "")
    hours, minutes = int(digits[:2]), int(digits[2:] or 0)
    if hours > 23 or minutes > 59:
        return None
    seconds = hours * 3600 + minutes * 60
    return seconds if zone[0] == "+" else -seconds
