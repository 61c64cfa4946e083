r"""Reads lines whose request is in quotes: the common and the combined format, and the formats made from them.

    [host[:port]] address ident user [time] "request" status size ["referrer" "agent"] [more fields]

Apache writes a quote inside a field as `\"`, nginx as `\x22`; both stay as the log has them.
"""

from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple

from goodbot.watch.formats.field_values import (
    ABSENT,
    forwarded_client,
    is_number,
    looks_forwarded,
    parse_address,
    parse_size,
    parse_status,
    parse_with_unit,
    present,
    valid_duration,
)
from goodbot.watch.formats.log_times import parse_any_time
from goodbot.watch.formats.value_cache import ValueCache
from goodbot.watch.log_entries import LogEntry, SkipReason

TailKind = Literal["", "times", "X-Forwarded-For", "other fields"]

REQUEST_TIME_KEYS: Final = frozenset(("rt", "request_time", "req_time", "reqtime", "time", "duration"))
"""Names before the seconds of a request, as in `rt=0.005`."""

FORWARDED_KEYS: Final = frozenset(("xff", "fwd", "forwarded", "x_forwarded_for", "http_x_forwarded_for"))


class Answer(NamedTuple):
    """What follows the request: status, size, and sometimes more."""

    status: int
    size: int
    more: tuple[str, ...]


class Tail(NamedTuple):
    """What the fields at the end of a line say."""

    kind: TailKind
    duration_s: float | None
    forwarded: str | None


class QuotedFormat:
    """The common or the combined format, with or without a host in front and more fields at the end."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def parse(self, line: str) -> LogEntry | SkipReason:
        """Reads a line; one of another format is `unknown format`, also if it is of this family."""
        read = read_quoted(line)
        if isinstance(read, str):
            return read
        return read[1] if read[0] == self.name else "unknown format"


def quoted_format(line: str) -> QuotedFormat | SkipReason:
    """Recognises the format of a line."""
    read = read_quoted(line)
    return read if isinstance(read, str) else QuotedFormat(read[0])


def read_quoted(line: str) -> tuple[str, LogEntry] | SkipReason:
    """Reads a line; returns the name of its format and the request."""
    parts = line.split('"')
    if '\\"' in line:
        parts = _joined(parts)
    if len(parts) != 7 and len(parts) != 3:
        parts = _mended(parts)
    if len(parts) < 3:
        return "unknown format"
    head = parts[0]
    bracket = head.rfind("[")
    client, time, answer = _clients[head[:bracket]], _times[head[bracket + 1 : -2]], _answers[parts[2]]
    if client is None or bracket < 0 or head[-2:] != "] ":
        return "unknown format"
    if time is None:
        return "bad time" if answer else "unknown format"
    if answer is None:
        return "bad status" if parts[2].strip() else "unknown format"
    address, host = client
    if len(parts) == 7 and parts[4] == " " and not parts[6] and not answer.more:
        agent = parts[5]
        name = _COMBINED if host is None else _COMBINED_WITH_HOST
        entry = LogEntry(
            address, *time, parts[1], answer.status, answer.size, parts[3] not in ABSENT, "" if agent == "-" else agent
        )
        return name, entry if host is None else entry._replace(host=host)
    return _read_long(parts, address, host, time, answer)


def _read_long(
    parts: list[str], address: str, host: str | None, time: tuple[int, int], answer: Answer
) -> tuple[str, LogEntry]:
    """Reads a line of any other format of this family."""
    is_combined = len(parts) >= 7 and parts[4] == " "
    referrer = parts[3] not in ABSENT if is_combined else None
    agent = (present(parts[5]) or "") if is_combined else None
    after = parts[6:] if is_combined else ["", *parts[3:]]
    if answer.more:
        after = [" ".join([*answer.more, after[0]]), *after[1:]]
    tail = read_tail(after)
    entry = LogEntry(
        address,
        *time,
        parts[1],
        answer.status,
        answer.size,
        referrer,
        agent,
        tail.duration_s,
        tail.forwarded,
        host=host,
    )
    return _NAMES[is_combined, host is not None, tail.kind], entry


def read_tail(parts: Sequence[str]) -> Tail:
    """Reads the fields at the end of a line, which are cut at quotes: every second one was in quotes.

    The duration is the first of: `rt=0.005` (see `REQUEST_TIME_KEYS`); seconds with three decimals, as nginx writes
    them; `12ms`; a whole number if it is the only field, in microseconds (`%D` of Apache).
    """
    if len(parts) == 1 and (duration := _seconds(parts[0].strip())) is not None:
        return Tail("times", duration, None)
    fields = [*_tail_fields(parts)]
    if not fields:
        return _NO_TAIL
    durations = (_duration(*field) for field in fields)
    duration = next((duration for duration in durations if duration is not None), None)
    forwarded = next((value for field in fields if (value := _forwarded(*field))), None)
    if len(fields) == 1:
        key, value, is_quoted = fields[0]
        if duration is None and not key and not is_quoted and is_number(value):
            duration = valid_duration(int(value) / 1e6)
        elif is_quoted and (forwarded or value == "-"):
            return Tail("X-Forwarded-For", duration, forwarded)
    return Tail("other fields" if duration is None else "times", duration, forwarded)


def _tail_fields(parts: Sequence[str]) -> Iterator[tuple[str, str, bool]]:
    """Gives key (empty if there is none), value, and whether the value was in quotes."""
    key = ""
    for place, part in enumerate(parts):
        if place % 2:
            yield key, part, True
            continue
        words = part.split()
        key = words.pop()[:-1] if words and part[-1] == "=" and place + 1 < len(parts) else ""
        for word in words:
            name, equals, value = word.partition("=")
            yield (name, value, False) if equals else ("", word, False)


def _duration(key: str, value: str, is_quoted: bool) -> float | None:
    if key:
        return _seconds(value) if key in REQUEST_TIME_KEYS else None
    return parse_with_unit(value) if value[-1:] == "s" and not is_quoted else _seconds(value)


def _seconds(text: str) -> float | None:
    """Reads seconds with three decimals. Ratios of compression have two."""
    whole, _, fraction = text.partition(".")
    return valid_duration(float(text)) if len(fraction) == 3 and is_number(fraction) and is_number(whole) else None


def _forwarded(key: str, value: str, is_quoted: bool) -> str | None:
    is_meant = key in FORWARDED_KEYS if key else is_quoted and looks_forwarded(value)
    return present(value) if is_meant else None


def _client(text: str) -> tuple[str, str | None] | None:
    """Reads the text before the time: the address, and the host before it, if there is one.

    The second word of a line without a host, and the third of one with a host, is nearly always `-`. Names of users may
    have spaces.
    """
    words = text.split(" ")
    if len(words) < 4 or words[-1] or not words[0]:
        return None
    if "," in words[0] or "," in words[1]:  # X-Forwarded-For in the place of the address
        first = 0 if "," in words[0] else 1
        last = next((place for place in range(first, len(words)) if words[place][-1:] != ","), first)
        return forwarded_client("".join(words[first : last + 1])) or "-", words[0] if first else None
    has_host = len(words) > 4 and words[1] != "-" and (words[2] == "-" or is_number(words[0].rpartition(":")[2]))
    address = parse_address(words[1] if has_host else words[0])
    return (address, words[0] if has_host else None) if address else None


def _answer(text: str) -> Answer | None:
    words = text.split()
    status = parse_status(words[0]) if len(words) > 1 and text[0] == " " else None
    if status is None or not (is_number(words[1]) or words[1] == "-"):
        return None
    return Answer(status, parse_size(words[1]), tuple(words[2:]))


def _joined(parts: list[str]) -> list[str]:
    """Joins parts that were cut at an escaped quote: one after an odd number of backslashes."""
    joined: list[str] = []
    pieces: list[str] = []
    for part in parts:
        pieces.append(part)
        if (len(part) - len(part.rstrip("\\"))) % 2 == 0:
            joined.append('"'.join(pieces))
            pieces = []
    if pieces:
        joined.append('"'.join(pieces))
    return joined


def _mended(parts: list[str]) -> list[str]:
    """Joins a request that was cut at its own quotes, which some servers do not escape: an answer follows it. Closes
    the last quotes of a line that was cut."""
    for place in range(2, len(parts)):
        if _answer(parts[place]):
            parts = [parts[0], '"'.join(parts[1:place]), *parts[place:]]
            break
    return parts if len(parts) % 2 else [*parts, ""]


def _name(is_combined: bool, has_host: bool, tail: TailKind) -> str:
    extras = " and ".join(filter(None, ("host" if has_host else "", tail)))
    return ("combined" if is_combined else "common") + (f" with {extras}" if extras else "")


_TAIL_KINDS: Final[tuple[TailKind, ...]] = ("", "times", "X-Forwarded-For", "other fields")
_NAMES: Final = {
    (is_combined, has_host, tail): _name(is_combined, has_host, tail)
    for is_combined in (False, True)
    for has_host in (False, True)
    for tail in _TAIL_KINDS
}
_COMBINED: Final = _NAMES[True, False, ""]
_COMBINED_WITH_HOST: Final = _NAMES[True, True, ""]
_NO_TAIL: Final = Tail("", None, None)

_clients: Final = ValueCache(_client)
_times: Final = ValueCache(parse_any_time)
_answers: Final = ValueCache(_answer)
