"""Reads the lines of a block into columns, with pyarrow and numpy: many lines at a time.

A line is read here if it is regular: in the combined format, with exactly six quotes and no odd detail. Every other
line is read by `LineReader`, so both counters read every line alike.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from goodbot.watch.blocks import Block
from goodbot.watch.counting.counting_options import CountingOptions
from goodbot.watch.counting.entry_rows import COMBINED, SIZE_DIGITS, TimeCache, checked, note_host
from goodbot.watch.counting.request_cache import trim
from goodbot.watch.formats.recognition import LineReader
from goodbot.watch.log_entries import LONGEST_LINE, LogEntry, SkipReason

Ints = npt.NDArray[np.int64]

Bytes = npt.NDArray[np.uint8]

_NEWLINE, _RETURN, _QUOTE, _SPACE, _DASH, _ZERO, _BACKSLASH, _TILDE = b'\n\r" -0\\~'
_TIME_CHARS: Final = 29
_NOBODY: Final = b" - - "
"""What a regular line has between address and time: no identity and no user."""


@dataclass(slots=True)
class TextColumn:
    """Texts as places in an array of different ones; -1 for None."""

    codes: Ints
    values: pa.BinaryArray

    def take(self, rows: npt.NDArray[Any]) -> "TextColumn":
        """Returns some of the rows; the array of different texts stays whole."""
        return TextColumn(self.codes[rows], self.values)

    def octets(self) -> list[bytes]:
        """Returns the different texts."""
        octets: list[bytes] = self.values.to_numpy(zero_copy_only=False).tolist()
        return octets

    def texts(self, codes: Ints) -> list[str]:
        """Returns the texts of codes, none of which may be -1."""
        taken = self.values.take(pa.array(codes)).to_numpy(zero_copy_only=False).tolist()
        return [octets.decode("latin-1") for octets in taken]


@dataclass(slots=True)
class Columns:
    """The requests of a block, in the order of its lines; see `LogEntry`."""

    address: TextColumn
    at: Ints
    hour: Ints
    request: TextColumn
    status: Ints
    size: Ints
    referrer: Ints
    """1 with, 0 without, -1 not known."""
    agent: TextColumn
    duration: npt.NDArray[np.float64]
    """NaN if not known."""
    line: Ints
    """The place of the line in the block."""

    def __len__(self) -> int:
        return len(self.at)

    def take(self, rows: npt.NDArray[Any]) -> "Columns":
        """Returns some of the rows."""
        return Columns(
            self.address.take(rows),
            self.at[rows],
            self.hour[rows],
            self.request.take(rows),
            self.status[rows],
            self.size[rows],
            self.referrer[rows],
            self.agent.take(rows),
            self.duration[rows],
            self.line[rows],
        )


@dataclass(slots=True)
class ReadColumns:
    """The requests of a block, and the lines that are none."""

    columns: Columns
    lines: int
    skipped: Counter[SkipReason]
    formats: Counter[str]
    signed: dict[int, LogEntry]
    elsewhere: dict[int, str]
    hosts: Counter[str]
    """The requests with a signature, by the place of their line."""


class ColumnReader:
    """Reads blocks of one log. Regular lines take 0.4 µs each."""

    def __init__(self, options: CountingOptions) -> None:
        self._options = options
        self._times = TimeCache()

    def read(self, block: Block) -> ReadColumns:
        """Reads the requests of a block."""
        trim(self._times)
        data = block.data if block.data.endswith(b"\n") or not block.data else block.data + b"\n"
        text = np.frombuffer(data, np.uint8)
        marks = np.flatnonzero((text == _NEWLINE) | (text == _QUOTE))
        newlines = np.flatnonzero(text[marks] == _NEWLINE)
        ends = marks[newlines]
        starts = np.concatenate([np.zeros(1, np.int64), ends[:-1] + 1])[: len(ends)]
        six = (np.diff(newlines, prepend=-1) == 7) & (ends - starts <= LONGEST_LINE)
        if self._options.pattern is not None:
            six[:] = False
        rows = np.flatnonzero(six)
        quotes = marks[newlines[rows][:, None] + np.arange(-6, 0)]
        columns, is_regular = self._regular(data, text, starts[rows], ends[rows], quotes, rows)
        rows = rows[is_regular]
        others = np.delete(np.arange(len(ends)), rows)
        reader = LineReader(self._options.pattern, block.header)
        entries, places, skipped = self._others(data, starts[others], ends[others], others, reader)
        formats = Counter(reader.formats)
        if len(rows):
            formats[COMBINED] += len(rows)
        if entries:
            order = np.argsort(np.concatenate([rows, places]), kind="stable")
            columns = _with_entries(columns, entries, places).take(order)
        pairs = list(zip(places, entries, strict=True))
        signed = {place: entry for place, entry in pairs if entry.signature is not None}
        elsewhere: dict[int, str] = {}
        hosts: Counter[str] = Counter()
        for place, entry in pairs:
            note_host(entry, place, self._options, elsewhere, hosts)
        return ReadColumns(columns, len(ends), skipped, formats, signed, elsewhere, hosts)

    def _others(
        self, data: bytes, starts: Ints, ends: Ints, numbers: Ints, reader: LineReader
    ) -> tuple[list[LogEntry], list[int], Counter[SkipReason]]:
        entries: list[LogEntry] = []
        places: list[int] = []
        skipped: Counter[SkipReason] = Counter()
        client_of = self._options.client_of
        for start, end, number in zip(starts.tolist(), ends.tolist(), numbers.tolist(), strict=True):
            entry = reader.read(data[start:end].decode("latin-1"))
            if isinstance(entry, LogEntry):
                entries.append(checked(entry, client_of))
                places.append(number)
            else:
                skipped[entry] += 1
        return entries, places, skipped

    def _regular(
        self, data: bytes, text: Bytes, starts: Ints, ends: Ints, quotes: Ints, lines: Ints
    ) -> tuple[Columns, npt.NDArray[np.bool_]]:
        """Reads the lines that are regular, and says which are. `quotes` has the places of six quotes for each line."""
        head, answer, after = quotes[:, 0], quotes[:, 1], quotes[:, 5]
        size_start, size_end = answer + 6, quotes[:, 2] - 1
        address_end = head - _TIME_CHARS - len(_NOBODY)
        times = _encoded(data, head - _TIME_CHARS, head)
        known = [self._times[time.decode("latin-1")] for time in times.octets()]
        addresses = _encoded(data, starts, np.maximum(address_end, starts))
        is_plain = _are_plain(addresses.values)
        size, size_is_known = _sizes(text, size_start, size_end)
        status = _digits(text, answer + 2)
        is_regular = (
            (address_end > starts)
            & _holds(text, address_end, _NOBODY)
            & is_plain[addresses.codes]
            & (text[starts] > _SPACE)
            & (text[starts] <= _TILDE)
            & (text[quotes - 1] != _BACKSLASH).all(axis=1)
            & np.array([time is not None for time in known], bool)[times.codes]
            & (text[answer + 1] == _SPACE)
            & (status >= 100)
            & (text[np.minimum(answer + 5, len(text) - 1)] == _SPACE)
            & size_is_known
            & (quotes[:, 4] == quotes[:, 3] + 2)
            & (text[quotes[:, 3] + 1] == _SPACE)
            & ((after + 1 == ends) | ((after + 2 == ends) & (text[after + 1] == _RETURN)))
        )
        keep = np.flatnonzero(is_regular)
        at = np.array([time[0] if time else 0 for time in known], np.int64)
        hour = np.array([time[1] if time else 0 for time in known], np.int64)
        referrer, agent = quotes[keep, 2] + 1, quotes[keep, 4] + 1
        columns = Columns(
            addresses.take(keep),
            at[times.codes[keep]],
            hour[times.codes[keep]],
            _encoded(data, head[keep] + 1, answer[keep]),
            status[keep],
            size[keep],
            1 - _are_absent(text, referrer, quotes[keep, 3]).astype(np.int64),
            _encoded(data, np.minimum(agent + _are_absent(text, agent, after[keep]), after[keep]), after[keep]),
            np.full(len(keep), np.nan),
            lines[keep],
        )
        return columns, is_regular


def _encoded(data: bytes, starts: Ints, ends: Ints) -> TextColumn:
    """Cuts texts out of the data and numbers the different ones, in the order in which they appear."""
    starts = np.maximum(starts, 0)
    offsets = np.empty(2 * len(starts) + 1, np.int32)
    offsets[0:-1:2], offsets[1::2], offsets[-1] = starts, ends, ends[-1] if len(ends) else 0
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    cut = pa.Array.from_buffers(pa.binary(), 2 * len(starts), buffers).take(pa.array(np.arange(0, 2 * len(starts), 2)))
    encoded = cut.dictionary_encode()
    return TextColumn(np.asarray(encoded.indices).astype(np.int64), encoded.dictionary)


def _are_plain(addresses: pa.BinaryArray) -> npt.NDArray[np.bool_]:
    """Says which addresses have no port, brackets or anything else that is not part of them."""
    odd = pc.or_(pc.match_substring(addresses, " "), pc.starts_with(addresses, "["))
    odd = pc.or_(odd, pc.match_substring(addresses, ","))
    has_port = pc.equal(pc.count_substring(addresses, ":"), 1)
    plain: npt.NDArray[np.bool_] = ~np.asarray(pc.or_(odd, has_port))
    return plain


def _are_absent(text: Bytes, starts: Ints, ends: Ints) -> npt.NDArray[np.bool_]:
    """Says which texts are empty or `-`."""
    absent: npt.NDArray[np.bool_] = (ends == starts) | ((ends - starts == 1) & (text[starts] == _DASH))
    return absent


def _holds(text: Bytes, places: Ints, octets: bytes) -> npt.NDArray[np.bool_]:
    """Says for each place whether these octets are there."""
    places = np.clip(places, 0, len(text) - len(octets))
    found = np.ones(len(places), bool)
    for place, octet in enumerate(octets):
        found &= text[places + place] == octet
    return found


def _digits(text: Bytes, starts: Ints) -> Ints:
    """Reads the three digits of a status; -1 if they are none."""
    status = np.zeros(len(starts), np.int64)
    valid = np.ones(len(starts), bool)
    for place in range(3):
        digit = text[np.minimum(starts + place, len(text) - 1)].astype(np.int64) - _ZERO
        valid &= (digit >= 0) & (digit <= 9)
        status = status * 10 + digit
    return np.where(valid, status, -1)


def _sizes(text: Bytes, starts: Ints, ends: Ints) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """Reads the sizes between two places, which a space follows; `-` is 0."""
    lengths = ends - starts
    size = np.zeros(len(starts), np.int64)
    valid = (lengths >= 1) & (lengths <= SIZE_DIGITS) & (text[np.maximum(ends, 0)] == _SPACE)
    for place in range(int(lengths[valid].max(initial=0))):
        inside = valid & (place < lengths)
        digit = text[np.minimum(starts + place, len(text) - 1)].astype(np.int64) - _ZERO
        dash = (digit == _DASH - _ZERO) & (lengths == 1)
        valid &= ~inside | dash | ((digit >= 0) & (digit <= 9))
        size = np.where(inside & ~dash, size * 10 + digit, size)
    return size, valid


def _with_entries(columns: Columns, entries: list[LogEntry], lines: list[int]) -> Columns:
    """Adds entries below the columns, with the places of their lines."""

    def added(column: TextColumn, values: list[str | None]) -> TextColumn:
        octets = pa.array(
            [None if value is None else value.encode("latin-1", "replace") for value in values], pa.binary()
        )
        new = pa.array(octets, pa.binary()).dictionary_encode()
        numbers = pc.index_in(new.dictionary, value_set=column.values)
        unknown = np.flatnonzero(np.asarray(numbers.is_null()))
        places = np.asarray(numbers.fill_null(0)).astype(np.int64)
        places[unknown] = len(column.values) + np.arange(len(unknown))
        codes = np.append(places, -1)[np.asarray(new.indices.fill_null(-1)).astype(np.int64)]
        return TextColumn(
            np.concatenate([column.codes, codes]),
            pa.concat_arrays([column.values, new.dictionary.take(pa.array(unknown))]),
        )

    def more(column: npt.NDArray[Any], values: list[Any]) -> npt.NDArray[Any]:
        return np.concatenate([column, np.array(values, column.dtype)])

    return Columns(
        added(columns.address, [entry[0] for entry in entries]),
        more(columns.at, [entry[1] for entry in entries]),
        more(columns.hour, [entry[2] for entry in entries]),
        added(columns.request, [entry[3] for entry in entries]),
        more(columns.status, [entry[4] for entry in entries]),
        more(columns.size, [entry[5] for entry in entries]),
        more(columns.referrer, [-1 if entry[6] is None else int(entry[6]) for entry in entries]),
        added(columns.agent, [entry[7] for entry in entries]),
        more(columns.duration, [np.nan if entry[8] is None else entry[8] for entry in entries]),
        more(columns.line, lines),
    )
