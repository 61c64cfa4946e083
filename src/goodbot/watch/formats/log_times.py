"""Reads the times of access logs.

Every function returns Unix seconds and the hour of the day as the log has it (0 to 23), or None for text that is no
time from 1970 to 2999.
"""

from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Final

LogTime = tuple[int, int]
"""Unix seconds, and the hour of the day as the log has it."""

FIRST_YEAR: Final = 1970
LAST_YEAR: Final = 2999
LONGEST_TIME: Final = 64
"""Characters of the longest text that can be a time."""

_MONTHS: Final = {
    name: number
    for number, name in enumerate("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(), 1)  # noqa: SIM905
}
_TWO_DIGITS: Final = {f"{number:02}": number for number in range(100)}
_DAY_S: Final = 86_400
_EPOCH_DAY: Final = date(FIRST_YEAR, 1, 1).toordinal()
_EPOCH: Final = datetime(FIRST_YEAR, 1, 1, tzinfo=UTC)
_END_S: Final = (date(LAST_YEAR, 12, 31).toordinal() + 1 - _EPOCH_DAY) * _DAY_S


def parse_common_time(text: str) -> LogTime | None:
    """Reads `17/May/2015:10:05:03 +0000`, the time of the common format. Fractions of a second are cut off."""
    start = _start_of_day(text[:11])
    hour, minute, second = _clock(text[12:20])
    if start is None or hour < 0 or text[11:12] != ":":
        return None
    zone = text[20:]
    if zone[:1] == ".":
        zone = zone[1:].lstrip("0123456789")
    offset = _offset(zone) if len(zone) <= 7 else None
    return None if offset is None else (start + hour * 3600 + minute * 60 + second - offset, hour)


def parse_w3c_time(text: str) -> LogTime | None:
    """Reads `2015-05-17 10:05:03`, the date and the time of W3C logs, which are in UTC."""
    return parse_iso_time(text) if text[10:11] == " " else None


def parse_iso_time(text: str) -> LogTime | None:
    """Reads `2015-05-17T10:05:03+02:00`. Without a zone it is UTC. Fractions of a second are cut off."""
    if not 19 <= len(text) <= LONGEST_TIME or text[4] != "-" or text[7] != "-" or text[10] not in "T ":
        return None
    try:
        time = datetime.fromisoformat(f"{text[:10]}T{text[11:].replace(' ', '')}")
    except ValueError:
        return None
    if not FIRST_YEAR <= time.year <= LAST_YEAR:
        return None
    if time.tzinfo is None:
        time = time.replace(tzinfo=UTC)
    difference = time - _EPOCH
    return difference.days * _DAY_S + difference.seconds, time.hour


def epoch_time(number: float) -> LogTime | None:
    """Reads seconds, milliseconds, microseconds or nanoseconds since 1970; its size shows which. The hour is in UTC."""
    for unit in (1, 1_000, 1_000_000, 1_000_000_000):
        if 0 <= number < _END_S * unit:
            seconds = int(number // unit)
            return seconds, seconds % _DAY_S // 3600
    return None


def parse_any_time(text: str) -> LogTime | None:
    """Reads a time in any of these forms; brackets around it do not matter."""
    text = text[:LONGEST_TIME].strip("[] ")
    if text[2:3] == "/":
        return parse_common_time(text)
    if text[4:5] == "-":
        return parse_iso_time(text)
    if text[4:5] == "/":
        return parse_iso_time(text.replace("/", "-"))
    whole, point, fraction = text.partition(".")
    if not (whole.isdecimal() and whole.isascii()) or (point and not fraction.isdecimal()):
        return None
    return epoch_time(int(whole))


@lru_cache(1024)
def _start_of_day(text: str) -> int | None:
    """Returns the Unix seconds of `17/May/2015`."""
    day, month, year = _TWO_DIGITS.get(text[:2]), _MONTHS.get(text[3:6]), text[7:]
    if day is None or month is None or text[2] != "/" or text[6:7] != "/":
        return None
    if len(year) != 4 or not (year.isascii() and year.isdecimal()) or not FIRST_YEAR <= int(year) <= LAST_YEAR:
        return None
    try:
        return (date(int(year), month, day).toordinal() - _EPOCH_DAY) * _DAY_S
    except ValueError:  # 31 February
        return None


def _clock(text: str) -> tuple[int, int, int]:
    """Reads `10:05:03`; the hour is -1 if it is none. A leap second is the 60th."""
    hour, minute, second = (_TWO_DIGITS.get(part, 99) for part in (text[:2], text[3:5], text[6:]))
    is_time = hour < 24 and minute < 60 and second <= 60 and text[2] == text[5] == ":"
    return (hour, minute, second) if is_time else (-1, 0, 0)


@lru_cache(1024)
def _offset(text: str) -> int | None:
    """Returns the seconds of ` +0200` or ` +02:00`."""
    digits = text[2:].replace(":", "", 1)
    hours, minutes = _TWO_DIGITS.get(digits[:2]), _TWO_DIGITS.get(digits[2:])
    if text[:2] not in _SIGNS or hours is None or minutes is None or hours > 23 or minutes > 59:
        return None
    return _SIGNS[text[:2]] * (hours * 3600 + minutes * 60)


_SIGNS: Final = {" +": 1, " -": -1}
