"""Reads lines by a pattern of the user's: literal text separates the fields, without regular expressions."""

from typing import Final

from goodbot.watch.formats.field_values import (
    ABSENT,
    forwarded_client,
    parse_address,
    parse_seconds,
    parse_size,
    parse_status,
    present,
    signature_fields,
    unescaped,
)
from goodbot.watch.formats.log_times import parse_any_time
from goodbot.watch.formats.pattern_syntax import Field, Meaning, Part, parse_pattern_text
from goodbot.watch.formats.value_cache import ValueCache
from goodbot.watch.log_entries import LogEntry, SignatureFields, SkipReason

NAME: Final = "custom pattern"

_UNITS_PER_SECOND: Final[tuple[tuple[Meaning, float], ...]] = (
    ("seconds", 1.0),
    ("milliseconds", 1e3),
    ("microseconds", 1e6),
)
_ADDRESSES: Final[tuple[Meaning, ...]] = ("address", "forwarded")
_NUMBERS: Final[frozenset[Meaning]] = frozenset({"status", "size", "seconds", "milliseconds", "microseconds"})
_MORE: Final = (",", ":")
"""A list of upstreams goes on after these."""


class PatternFormat:
    """A format that the user describes; see `parse_pattern`."""

    name: Final = NAME

    def __init__(self, parts: list[Part]) -> None:
        self._start = parts[0] if isinstance(parts[0], str) else ""
        self._steps = [
            (field, after if isinstance(after, str) else "", _is_quoted(before, after))
            for before, field, after in zip(["", *parts], parts, [*parts[1:], ""], strict=False)
            if isinstance(field, Field)
        ]
        self._has_signatures = any(field.meaning == "signature input" for field, _, _ in self._steps)

    def parse(self, line: str) -> LogEntry | SkipReason:
        """Reads a line; `unknown format` if the literal text of the pattern is not in it."""
        values = self._values(line)
        return "unknown format" if values is None else self._entry(values)

    def _values(self, line: str) -> dict[Meaning, str] | None:
        """Cuts a line into its fields. If several have one meaning, the first one counts; of addresses, the first that
        is there."""
        if not line.startswith(self._start):
            return None
        values: dict[Meaning, str] = {}
        at = len(self._start)
        for field, after, is_quoted in self._steps:
            end = _end(line, at, after, is_quoted, field.is_list)
            if end < 0:
                return None
            meaning = field.meaning
            if meaning in _NUMBERS and " " in line[at:end]:  # the last field is followed by others
                return None
            if meaning not in values or (meaning in _ADDRESSES and values[meaning] in ABSENT):
                values[meaning] = line[at:end]
            at = end + len(after)
        return values if at >= len(line) else None

    def _entry(self, values: dict[Meaning, str]) -> LogEntry | SkipReason:
        get = values.get
        client = get("address") or forwarded_client(get("forwarded", ""))
        address, time, status = (
            parse_address(client),
            _times[values["time"]],
            parse_status(get("status", "-")),
        )
        if not address:
            return "unknown format"
        if time is None or status is None:
            return "bad time" if time is None else "bad status"
        agent = get("agent")
        return LogEntry(
            address,
            *time,
            _request(values),
            status,
            parse_size(get("size", "-")),
            values["referrer"] not in ABSENT if "referrer" in values else None,
            agent if agent != "-" else "",
            next((parse_seconds(values[unit], units) for unit, units in _UNITS_PER_SECOND if unit in values), None),
            present(get("forwarded", "-")),
            _signature(values) if self._has_signatures else None,
            present(get("authority", "-")),
        )


def parse_pattern(text: str) -> PatternFormat:
    """Returns the format that a pattern describes, written as for LogFormat of Apache or log_format of nginx.

    Raises `InputError` if it cannot be used: an unknown field, fields that nothing separates, no address or time.
    """
    return PatternFormat(parse_pattern_text(text))


def _signature(values: dict[Meaning, str]) -> SignatureFields | None:
    get = values.get
    return signature_fields(
        unescaped(values["signature input"]),
        unescaped(get("signature", "")),
        unescaped(get("signature agent", "")),
        get("authority", ""),
    )


def _is_quoted(before: Part, after: Part) -> bool:
    return isinstance(before, str) and isinstance(after, str) and before[-1:] == after[:1] == '"'


def _end(line: str, at: int, after: str, is_quoted: bool, is_list: bool) -> int:
    """Returns where the field at `at` ends, which is where the text `after` it begins; -1 if it is not there."""
    if not after:
        return len(line)
    end = line.find(after, at)
    while end >= 0 and ((is_quoted and _is_escaped(line, at, end)) or (is_list and _goes_on(line, end))):
        end = line.find(after, end + 1)
    return end


def _is_escaped(line: str, at: int, quote: int) -> bool:
    """Whether there is an odd number of backslashes before a quote."""
    start = quote
    while start > at and line[start - 1] == "\\":
        start -= 1
    return (quote - start) % 2 == 1


def _goes_on(line: str, end: int) -> bool:
    """Whether a list of upstreams goes on: nginx separates its values by `, ` and ` : `."""
    return line[end - 1 : end] in _MORE or line.startswith(" : ", end)


def _request(values: dict[Meaning, str]) -> str:
    """Returns the request line, or makes it of its parts."""
    if "request" in values:
        return values["request"]
    method, target, query, protocol = (values.get(part, "") for part in _REQUEST_PARTS)
    if method == "-":
        return method
    if query not in ABSENT:
        target += query if query[0] == "?" else f"?{query}"
    return " ".join(part for part in (method, target, protocol) if part not in ABSENT)


_REQUEST_PARTS: Final[tuple[Meaning, ...]] = ("method", "target", "query", "protocol")
_times: Final = ValueCache(parse_any_time)
