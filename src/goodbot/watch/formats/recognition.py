"""Recognizes the format of each line of a log."""

from typing import Final

from goodbot.watch.formats.json_lines import json_format
from goodbot.watch.formats.line_format import LineFormat
from goodbot.watch.formats.quoted import quoted_format
from goodbot.watch.formats.w3c import FIELDS, W3cFormat, w3c_format
from goodbot.watch.log_entries import LONGEST_LINE, LogEntry, SkipReason

_BEFORE: Final = "\0\xef\xbb\xbf \t\r\n"
"""May precede a line: a log that was cut while its server wrote has NULs, an edited one a byte order mark."""
_AFTER: Final = "\0 \t\r\n"


class LineReader:
    """Reads the lines of one log. A log may have lines of several formats; this is fastest when the format stays.

    `pattern` is the format of all lines, if the user gives one. `header` is the last `#Fields:` line before the first
    line, if reading begins within a log.
    """

    def __init__(self, pattern: LineFormat | None = None, header: str | None = None) -> None:
        self.header = header
        """The last `#Fields:` line."""
        self.formats: dict[str, int] = {}
        """How many requests there were in each format."""
        self._pattern = pattern
        self._last: LineFormat | None = pattern
        self._w3c: W3cFormat | None = w3c_format(header.strip()) if header else None

    def read(self, line: str) -> LogEntry | SkipReason:
        """Reads a line of wire text, with or without its newline."""
        if len(line) > LONGEST_LINE:
            return "too long"
        if not "!" <= line[:1] <= "~" or line[-1] <= " ":
            line = line.lstrip(_BEFORE).rstrip(_AFTER)
            if not line:
                return "empty"
        last = self._last
        if last is not None:
            entry = last.parse(line)
            if not isinstance(entry, str):
                self.formats[last.name] = self.formats.get(last.name, 0) + 1
                return entry
        return self._read_other(line)

    def _read_other(self, line: str) -> LogEntry | SkipReason:
        """Reads a line that has not the format of the last one."""
        if line[0] == "#":
            self._read_comment(line)
            return "comment"
        found = self._recognized(line)
        if isinstance(found, str):
            return found
        entry = found.parse(line)
        if not isinstance(entry, str):
            self._last = found
            self.formats[found.name] = self.formats.get(found.name, 0) + 1
        return entry

    def _recognized(self, line: str) -> LineFormat | SkipReason:
        if self._pattern is not None:
            return self._pattern
        if line[0] == "{":
            return json_format(line) or "unknown format"
        if self._w3c is None:
            return quoted_format(line)
        entry = self._w3c.parse(line)
        if isinstance(entry, LogEntry):
            return self._w3c
        found = quoted_format(line)  # a line of another format may have as many words
        return found if entry == "unknown format" or not isinstance(found, str) else self._w3c

    def _read_comment(self, line: str) -> None:
        if line.startswith(FIELDS):
            self.header = line
            self._w3c = w3c_format(line)
            if isinstance(self._last, W3cFormat):
                self._last = self._w3c
