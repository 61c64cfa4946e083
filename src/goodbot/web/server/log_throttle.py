"""Limits how many lines visitors can make a server write into its log."""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from goodbot.web.server.request_log import LOGGER

LINES_PER_MINUTE: Final = 20
_LOGGERS: Final = ("uvicorn.error", "asyncio", LOGGER)
_LOG: Final = logging.getLogger(LOGGER)


class Throttle(logging.Filter):
    """Passes the first `LINES_PER_MINUTE` warnings and errors of each minute; the last of them says that more are left
    out. Passes every debug and info record, since only the operator turns these on."""

    def __init__(self) -> None:
        super().__init__()
        self._minute = 0.0
        self._lines = 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Returns whether the record is written."""
        if record.levelno < logging.WARNING:
            return True
        minute = record.created // 60
        if minute != self._minute:
            self._minute, self._lines = minute, 0
        self._lines += 1
        if self._lines == LINES_PER_MINUTE:
            record.msg, record.args = "%s (more messages of this minute are left out)", (record.getMessage(),)
        return self._lines <= LINES_PER_MINUTE


@contextmanager
def throttled() -> Iterator[None]:
    """Throttles the loggers of the server within the block."""
    throttle = Throttle()
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(throttle)
    try:
        yield
    finally:
        for name in _LOGGERS:
            logging.getLogger(name).removeFilter(throttle)


def log_accept_errors_briefly(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Handles exceptions of an event loop: logs one line, without a traceback, if a connection cannot be accepted
    because the process has too many open files. asyncio tries again after a second."""
    error = context.get("exception")
    if isinstance(error, OSError) and "accept" in str(context.get("message")):
        _LOG.warning("a connection could not be accepted: %s", error.strerror)
    else:
        loop.default_exception_handler(context)
