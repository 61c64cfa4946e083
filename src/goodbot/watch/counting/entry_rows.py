"""Reads the lines of a block: the usual combined format here, everything else by `LineReader`."""

from collections import Counter
from collections.abc import Callable
from typing import Final, NamedTuple

from goodbot.watch.blocks import Block
from goodbot.watch.counting.counting_options import CountingOptions
from goodbot.watch.counting.judged_target import host_name
from goodbot.watch.counting.request_cache import trim
from goodbot.watch.formats.field_values import ABSENT
from goodbot.watch.formats.log_times import parse_common_time
from goodbot.watch.formats.recognition import LineReader
from goodbot.watch.log_entries import LONGEST_LINE, LogEntry, SkipReason

COMBINED: Final = "combined"

SIZE_DIGITS: Final = 12
"""Digits of the largest size. A larger one is not believed, so sums fit in 64 bits."""

EntryRow = tuple[str, int, int, str, int, int, bool | None, str | None, float | None, int]
"""The fields of a `LogEntry` before `forwarded`, and the place of its line in the block. A plain tuple is made in a
quarter of the time."""


class ReadLines(NamedTuple):
    """The requests of a block in the order of its lines, and the lines that are none."""

    entries: list[EntryRow]
    lines: int
    skipped: Counter[SkipReason]
    formats: Counter[str]
    signed: dict[int, LogEntry]
    """The requests with a signature, by the place of their line."""
    elsewhere: dict[int, str]
    """With a host in the options: the hosts of requests to others, by the place of their line."""
    hosts: Counter[str]
    """Without one: the hosts of all requests, as far as the log has them."""


def within(entries: list[EntryRow], options: CountingOptions) -> list[EntryRow]:
    """Returns the requests between `since` and `until`."""
    since, until = options.since, options.until
    if since is None and until is None:
        return entries
    low, high = since if since is not None else -(1 << 62), until if until is not None else 1 << 62
    return [entry for entry in entries if low <= entry[1] < high]


class LineBlocks:
    """Reads blocks of one log, line by line. Regular lines of the combined format take 1.5 µs each."""

    def __init__(self, options: CountingOptions) -> None:
        self._options = options
        self._times = TimeCache()
        self._answers = AnswerCache()

    def read(self, block: Block) -> ReadLines:
        """Reads the requests of a block."""
        trim(self._times, self._answers)
        lines = block.data.decode("latin-1").split("\n")
        if not lines[-1]:
            lines.pop()
        reader = LineReader(self._options.pattern, block.header)
        signed: dict[int, LogEntry] = {}
        elsewhere: dict[int, str] = {}
        hosts: Counter[str] = Counter()
        entries, skipped, regular = self._entries(lines, reader, signed, elsewhere, hosts)
        formats = Counter(reader.formats)
        if regular:
            formats[COMBINED] += regular
        return ReadLines(entries, len(lines), skipped, formats, signed, elsewhere, hosts)

    def _entries(
        self,
        lines: list[str],
        reader: LineReader,
        signed: dict[int, LogEntry],
        elsewhere: dict[int, str],
        hosts: Counter[str],
    ) -> tuple[list[EntryRow], Counter[SkipReason], int]:
        entries: list[EntryRow] = []
        skipped: Counter[SkipReason] = Counter()
        add, times, answers, read = entries.append, self._times, self._answers, reader.read
        irregular = 0
        client_of = self._options.client_of
        plain = self._options.pattern is None and max(map(len, lines), default=0) <= LONGEST_LINE
        for place, line in enumerate(lines):
            parts = line.split('"')
            if plain and len(parts) == 7 and parts[4] == " " and parts[6] in _ENDS and '\\"' not in line:
                head, request, answer, referrer, _, agent, _ = parts
                time, known = times[head[-29:]], answers[answer]
                address = head[:-34]
                if time and known and head[-34:-29] == _NOBODY and address and _is_plain(address):
                    status, size = known
                    is_referred = referrer not in ABSENT
                    name = agent if agent != "-" else ""
                    add((address, *time, request, status, size, is_referred, name, None, place))
                    continue
            irregular += 1
            entry = read(line)
            if isinstance(entry, LogEntry):
                entry = checked(entry, client_of)
                add((*entry[:9], place))
                if entry.signature is not None:
                    signed[place] = entry
                note_host(entry, place, self._options, elsewhere, hosts)
            else:
                skipped[entry] += 1
        return entries, skipped, len(lines) - irregular


_ENDS: Final = ("", "\r")
_NOBODY: Final = " - - "


def _is_plain(address: str) -> bool:
    """Whether an address has no port, brackets or anything else that is not part of it, such as a byte order mark."""
    return not (
        " " in address or not "!" <= address[0] <= "~" or address[0] == "[" or "," in address or address.count(":") == 1
    )


def checked(entry: LogEntry, client_of: Callable[[str, str], str] | None) -> LogEntry:
    """Returns an entry with the address of the client behind a proxy, and with a size of 0 if that of the log is too
    large."""
    if entry.size >= _TOO_LARGE:
        entry = entry._replace(size=0)
    if client_of is None or entry.forwarded is None:
        return entry
    return entry._replace(address=client_of(entry.address, entry.forwarded))


_TOO_LARGE: Final = 10**SIZE_DIGITS


def note_host(
    entry: LogEntry, place: int, options: CountingOptions, elsewhere: dict[int, str], hosts: Counter[str]
) -> None:
    """Notes the host that a request was for, if requests are judged by a robots.txt: another one than the site's in
    `elsewhere`; if the site is not known, in `hosts`."""
    if (options.rules is None and options.host is None) or not entry.host:
        return
    host = host_name(entry.host)
    if options.host is None:
        hosts[host] += 1
    elif host != options.host:
        elsewhere[place] = host


class TimeCache(dict[str, tuple[int, int] | None]):
    """The seconds and the hour of `[17/May/2015:10:05:03 +0000] `; None for anything else."""

    def __missing__(self, text: str) -> tuple[int, int] | None:
        is_time = len(text) == 29 and text[0] == "[" and text[-2:] == "] "
        found = self[text] = parse_common_time(text[1:-2]) if is_time else None
        return found


class AnswerCache(dict[str, tuple[int, int] | None]):
    """The status and size of ` 200 5316 `; None for anything else."""

    def __missing__(self, text: str) -> tuple[int, int] | None:
        found = self[text] = _answer(text)
        return found


def _answer(text: str) -> tuple[int, int] | None:
    status, size = text[1:4], text[5:-1]
    if text[:1] != " " or text[4:5] != " " or text[-1:] != " " or not status.isdecimal() or status < "100":
        return None
    if size == "-":
        return int(status), 0
    return (int(status), int(size)) if size.isdecimal() and len(size) <= SIZE_DIGITS else None
