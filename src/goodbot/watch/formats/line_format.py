"""The interface of a log format."""

from typing import Protocol

from goodbot.watch.log_entries import LogEntry, SkipReason


class LineFormat(Protocol):
    """A format whose lines can be read one by one."""

    @property
    def name(self) -> str:
        """The name that reports show: `combined`, `JSON (Caddy)`."""

    def parse(self, line: str) -> LogEntry | SkipReason:
        """Reads a line of wire text without its newline; `unknown format` if the line has another format."""
