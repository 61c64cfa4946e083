"""Sends the log messages of goodbot to standard error, to a file of JSON lines, or to both.

Only the logger `goodbot` gets handlers: the root logger, and with it the logs of other packages, stays as it is. Each
module logs with `logging.getLogger(__name__)`. Without `start_logging` the handlers of the surrounding program apply.
"""

import logging
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from goodbot.errors import InputError
from goodbot.exclusion.text.shown_text import strict_json, visible
from goodbot.files import cannot_write

LEVELS: Final = ("debug", "info", "warning", "error")
"""Lowest first."""

DEFAULT_JSON_LEVEL: Final = "info"
"""The lowest level written to the JSON file when no level is set."""

_STANDARD_ATTRIBUTES: Final = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "at"}


@dataclass(frozen=True, slots=True)
class LogSettings:
    """Where log messages go. With `level`, those of this level and above go to standard error as text; with
    `json_file`, they are appended to that file as JSON lines (from "info" upwards when `level` is None)."""

    level: str | None = None
    json_file: Path | None = None


SILENT: Final = LogSettings()
"""Sends log messages nowhere."""


def start_logging(settings: LogSettings) -> None:
    """Replaces the handlers of the logger `goodbot` by those that `settings` ask for; with none, nothing is printed.

    Raises InputError for an unknown level; InputError or RunError for a file that cannot be written (see
    `cannot_write`).
    """
    level = _number_of(settings.level or DEFAULT_JSON_LEVEL)
    handlers: list[logging.Handler] = []
    if settings.json_file is not None:
        handlers.append(JsonLinesHandler(settings.json_file))
    if settings.level is not None:
        handlers.append(_text_handler())
    _replace_handlers(handlers, level)


def _number_of(level: str) -> int:
    if level.lower() not in LEVELS:
        raise InputError(f"unknown log level {level!r}: use one of {', '.join(LEVELS)}")
    return logging.getLevelNamesMapping()[level.upper()]


def _replace_handlers(handlers: list[logging.Handler], level: int) -> None:
    logger = logging.getLogger("goodbot")
    for old in list(logger.handlers):
        logger.removeHandler(old)
        old.close()
    for handler in handlers or [logging.NullHandler()]:
        logger.addHandler(handler)
    logger.setLevel(level if handlers else logging.NOTSET)
    logger.propagate = not handlers  # a handler of the root logger would write the same message again


def _text_handler() -> logging.Handler:
    handler = logging.StreamHandler()
    handler.setFormatter(TextFormatter())
    return handler


class TextFormatter(logging.Formatter):
    """Formats a message as one line: `2026-11-22 13:14:15Z WARNING goodbot.robot.crawl.crawler: message`, in UTC.

    The message may quote text from the Web: characters that could steer a terminal are escaped.
    """

    converter = staticmethod(time.gmtime)

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s", "%Y-%m-%d %H:%M:%SZ")

    def format(self, record: logging.LogRecord) -> str:
        """See `logging.Formatter.format`. A traceback keeps its lines."""
        record.message = record.getMessage()
        record.asctime = self.formatTime(record, self.datefmt)
        lines = [self.formatMessage(record), *_traceback_of(record).splitlines()]
        return "\n".join(map(visible, lines))


class JsonLinesHandler(logging.Handler):
    """Appends each message to a file as one JSON object on one line.

    Each line is a single write to a file opened with O_APPEND, so several processes can share the file. The keys are
    `at` (Unix seconds), `level`, `logger`, `message` and `process` (its id), then the event's own fields (`extra`), and
    `traceback` if there is one. If the file cannot be written (a full disk), one line on standard error says so, and
    the handler writes nothing more.
    """

    def __init__(self, file: Path) -> None:
        super().__init__()
        self._file = file
        try:
            self._descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise cannot_write(file, error) from error

    def emit(self, record: logging.LogRecord) -> None:
        """See `logging.Handler.emit`."""
        if self._descriptor < 0:
            return
        try:
            self._append(json_line(record))
        except OSError as error:
            self.close()
            if sys.stderr is not None:
                sys.stderr.write(f"goodbot: cannot write the log {visible(str(self._file))}: {error.strerror}\n")
        except Exception:  # noqa: BLE001  (`handleError` reports it, as every handler of `logging` does)
            self.handleError(record)

    def _append(self, line: bytes) -> None:
        while line:  # a full disk takes a part of a line, and refuses the rest
            line = line[os.write(self._descriptor, line) :]

    def close(self) -> None:
        """See `logging.Handler.close`."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
        super().close()


def json_line(record: logging.LogRecord) -> bytes:
    """Returns the record as one line of JSON (ASCII), with its newline."""
    fields = {
        "at": record.created,
        "level": record.levelname.lower(),
        "logger": record.name,
        "message": record.getMessage(),
        "process": record.process,
    }
    own = {key: value for key, value in record.__dict__.items() if key not in _STANDARD_ATTRIBUTES | fields.keys()}
    if traceback := _traceback_of(record):
        own["traceback"] = traceback
    return strict_json(fields | own, default=str).encode("ascii") + b"\n"


def _traceback_of(record: logging.LogRecord) -> str:
    return logging.Formatter().formatException(record.exc_info) if record.exc_info else ""
