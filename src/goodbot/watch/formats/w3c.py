"""Reads the W3C extended log format, which IIS and CloudFront write: a line `#Fields:` names the columns."""

from operator import itemgetter
from typing import Final
from urllib.parse import unquote_to_bytes

from goodbot.watch.formats.field_values import (
    ABSENT,
    parse_address,
    parse_seconds,
    parse_size,
    parse_status,
    present,
)
from goodbot.watch.formats.log_times import parse_w3c_time
from goodbot.watch.formats.value_cache import ValueCache
from goodbot.watch.log_entries import LogEntry, SkipReason

FIELDS: Final = "#Fields:"
"""Begins the line that names the columns."""

_DATE, _TIME, _ADDRESS = "date", "time", "c-ip"
_COLUMNS: Final = (
    (_DATE,),
    (_TIME,),
    (_ADDRESS, "c-dns"),
    ("cs-method",),
    ("cs-uri-stem", "cs-uri"),
    ("cs-uri-query",),
    ("cs-version", "cs-protocol-version"),
    ("sc-status",),
    ("sc-bytes", "bytes"),
    ("cs(referer)",),
    ("cs(user-agent)",),
    ("time-taken",),
    ("x-forwarded-for", "cs(x-forwarded-for)"),
    ("x-host-header", "cs-host", "cs(host)"),
)
"""The columns that are read, each with its other names, in lower case. The first three and the status are needed."""

_REFERRER, _AGENT = 9, 10
_NEEDED: Final = (0, 1, 2, 7)
_MOST_COLUMNS: Final = 1_000


class W3cFormat:
    """The columns that one `#Fields:` line names.

    IIS writes `+` for a space in a User-Agent, and milliseconds for the time taken. CloudFront separates by tabs,
    encodes values as in URLs, and writes seconds with a decimal point.
    """

    def __init__(self, fields: list[str]) -> None:
        names = [name.lower() for name in fields]
        is_cloudfront = "x-edge-location" in names
        self.name = "CloudFront" if is_cloudfront else "W3C (IIS)" if _IIS.intersection(names) else "W3C"
        self._separator = "\t" if is_cloudfront else " "
        self._count = len(names)
        places = [_place(names, column) for column in _COLUMNS]
        self._has_referrer, self._has_agent = places[_REFERRER] < self._count, places[_AGENT] < self._count
        self._values = itemgetter(*places)
        self._texts = ValueCache(_url_decoded if is_cloudfront else _plus_decoded)

    def parse(self, line: str) -> LogEntry | SkipReason:
        """Reads a line; `unknown format` if it has not as many columns as the `#Fields:` line."""
        values = line.split(self._separator)
        if len(values) != self._count:
            values = line.split()
            if len(values) != self._count:
                return "unknown format"
        values.append("-")
        date, clock, address, method, stem, query, version, status, size, referrer, agent, taken, forwarded, host = (
            self._values(values)
        )
        time, code = _times[f"{date} {clock}"], _statuses[status]
        if time is None:
            return "unknown format" if code is None else "bad time"
        if code is None:
            return "bad status"
        return LogEntry(
            parse_address(address),
            *time,
            _request(method, stem, query, version),
            code,
            parse_size(size),
            referrer not in ABSENT if self._has_referrer else None,
            self._texts[agent] if self._has_agent else None,
            parse_seconds(taken, 1 if "." in taken else 1000),
            None if forwarded == "-" else present(self._texts[forwarded]),
            host=None if host == "-" else present(self._texts[host]),
        )


_IIS: Final = {"sc-win32-status", "sc-substatus", "s-sitename", "s-computername", "s-ip"}


def w3c_format(header: str) -> W3cFormat | None:
    """Returns the format that a `#Fields:` line describes, or None if it has no time, address or status."""
    names = header[len(FIELDS) :].split()
    if not header.startswith(FIELDS) or len(names) > _MOST_COLUMNS:
        return None
    lower = [name.lower() for name in names]
    if any(_place(lower, _COLUMNS[needed]) == len(lower) for needed in _NEEDED):
        return None
    return W3cFormat(names)


def _place(names: list[str], column: tuple[str, ...]) -> int:
    """Returns the place of a column; the place after the last one if there is none."""
    return next((names.index(name) for name in column if name in names), len(names))


def _request(method: str, stem: str, query: str, version: str) -> str:
    """Makes a request line of its parts."""
    if method in ABSENT:
        return "-"
    target = stem if query in ABSENT else f"{stem}?{query}"
    return f"{method} {target}" if version in ABSENT else f"{method} {target} {version}"


def _plus_decoded(text: str) -> str:
    """Returns a text with a space for each `+`, but for the plus that robots write before a URL: `;++http://`."""
    if text in ABSENT:
        return ""
    kept = text.replace("(+http", "(\0http").replace("++", "+\0")
    return kept.replace("+", " ").replace("\0", "+")


def _url_decoded(text: str) -> str:
    """Returns a text without percent-encoding. Older logs of CloudFront have it encoded twice: `%2520`."""
    if text in ABSENT:
        return ""
    decoded = unquote_to_bytes(text.encode("latin-1", "replace"))
    if b"%20" in decoded:
        decoded = unquote_to_bytes(decoded)
    return decoded.decode("latin-1")


_times: Final = ValueCache(parse_w3c_time)
_statuses: Final = ValueCache(parse_status)
