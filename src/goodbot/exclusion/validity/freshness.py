"""Decides how long an answer may be used, and when a server accepts the next request (RFC 9111 §4.2, RFC 9110
§10.2.3)."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime

from goodbot.exclusion.text.decimals import whole_number
from goodbot.exclusion.text.months import MONTH_NUMBERS

LONGEST_FRESH_S = 24 * 3600.0
"""RFC 9309 §2.4: a copy SHOULD NOT be used for more than 24 hours, whatever its headers say."""

WEEK_S = 7 * 24 * 3600.0
"""How long a file is used if its headers do not say (draft-koster-robots-00 3.4). Our choice: in the dialects that
permit more than 24 hours, also the longest time that any file is used."""

STALE_FRESH_S = 60.0
"""Our choice: `max-age=0`, `no-store` or an old `Expires` must not cause a fetch of robots.txt for every page. Many
servers send them with every answer, not because their rules change every second."""

SHORTEST_FRESH_S = 5.0
"""Our choice: a short lifetime is respected, but with one page per second at most a sixth of the requests are for
robots.txt."""

Headers = Iterable[tuple[str, str]]

_CLOCK = r"(\d\d):(\d\d):(\d\d)"
_IMF_FIXDATE = re.compile(rf"[A-Za-z]{{3}}, (\d\d) ([A-Za-z]{{3}}) (\d{{4}}) {_CLOCK} GMT", re.ASCII)
_RFC850_DATE = re.compile(rf"[A-Za-z]{{6,9}}, (\d\d)-([A-Za-z]{{3}})-(\d\d) {_CLOCK} GMT", re.ASCII)
_ASCTIME_DATE = re.compile(rf"[A-Za-z]{{3}} ([A-Za-z]{{3}}) ([ \d]\d) {_CLOCK} (\d{{4}})", re.ASCII)


def fresh_for_s(
    headers: Headers, now: float, default_s: float = LONGEST_FRESH_S, longest_s: float = LONGEST_FRESH_S
) -> float:
    """Returns for how many seconds to use an answer received at `now`: as its headers say, but at least five seconds
    and at most `longest_s`; a minute if they make it stale at once; `default_s` if they do not say.

    `Cache-Control` (no-store, no-cache, max-age) takes precedence over `Expires`; `Age` is subtracted. An invalid
    lifetime means stale (RFC 9111 §4.2.1, §5.3). `s-maxage` is for shared caches and is ignored.
    """
    fields = _joined(headers)
    lifetime = _lifetime_s(fields, now)
    if lifetime is None:
        return default_s
    age = _seconds(fields.get("age", "").partition(",")[0]) or 0.0  # the first of a list (RFC 9111 §5.1)
    left_s = lifetime - age
    return min(max(left_s, SHORTEST_FRESH_S) if left_s > 0 else STALE_FRESH_S, longest_s)


def _lifetime_s(fields: dict[str, str], now: float) -> float | None:
    ages: list[float] = []
    for directive in set(fields.get("cache-control", "").split(",")):  # a set, so that 1 MB of commas is cheap
        name, _, value = directive.partition("=")
        name = name.strip().lower()
        if name in ("no-store", "no-cache"):
            return 0.0
        if name == "max-age":
            ages.append(_seconds(value.strip().strip('"')) or 0.0)
    if ages:
        return min(ages)
    if "expires" not in fields:
        return None
    expires = parse_http_date(fields["expires"])
    if expires is None:
        return 0.0
    date = parse_http_date(fields.get("date", ""))
    return expires - (now if date is None else date)


def retry_after_s(headers: Headers, now: float) -> float | None:
    """Returns the seconds from `now` that Retry-After asks to wait (not negative); None if it is missing or invalid.

    If `Date` of the answer is earlier than `now`, a date in Retry-After is counted from `Date`: the server's clock may
    be slow."""
    fields = _joined(headers)
    value = fields.get("retry-after", "")
    seconds = _seconds(value)
    if seconds is not None:
        return seconds
    date = parse_http_date(value)
    if date is None:
        return None
    sent = parse_http_date(fields.get("date", ""))
    return max(0.0, date - (now if sent is None else min(now, sent)))


def parse_http_date(text: str) -> float | None:
    """Parses an HTTP date in any of its three forms (RFC 9110 §5.6.7). Returns Unix seconds, or None if it is
    invalid."""
    text = text.strip()
    if match := _IMF_FIXDATE.fullmatch(text):
        day, month, year, *clock = match.groups()
    elif match := _RFC850_DATE.fullmatch(text):
        day, month, year, *clock = match.groups()
        # Deviation (RFC 9110 §5.6.7): two-digit years from 70 on are in the 1900s; the RFC's rule (at most 50 years
        # from now) would need a clock.
        year = ("19" if year >= "70" else "20") + year
    elif match := _ASCTIME_DATE.fullmatch(text):
        month, day, *clock, year = match.groups()
    else:
        return None
    return _unix_seconds(year, month, day, clock)


def _unix_seconds(year: str, month: str, day: str, clock: list[str]) -> float | None:
    month_number = MONTH_NUMBERS.get(month.lower())
    if month_number is None:
        return None
    hour, minute, second = map(int, clock)
    try:
        at = datetime(int(year), month_number, int(day), hour, minute, min(second, 59), tzinfo=UTC)
    except ValueError:  # no such day
        return None
    return at.timestamp()


def _seconds(text: str) -> float | None:
    number = whole_number(text.strip())
    return None if number is None else float(number)


def _joined(headers: Headers) -> dict[str, str]:
    """Returns the fields by name in lower case: all Cache-Control fields joined, of any other the first."""
    fields: dict[str, str] = {}
    controls: list[str] = []
    for name, value in headers:
        key = name.lower()
        if key == "cache-control":
            controls.append(value)
        else:
            fields.setdefault(key, value)
    if controls:
        fields["cache-control"] = ",".join(controls)
    return fields
