"""Limits how much strangers can make a server write into its log."""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

LINES_A_MINUTE: Final = 20
_LOGGERS: Final = ("uvicorn.error", "asyncio", "goodbot.web.search_app")
_log = logging.getLogger("uvicorn.error")


class Throttle(logging.Filter):
    """Lets `LINES_A_MINUTE` records of each minute pass; the last one says that others are left out."""

    def __init__(self) -> None:
        super().__init__()
        self._minute = 0.0
        self._lines = 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether it is written."""
        minute = record.created // 60
        if minute != self._minute:
            self._minute, self._lines = minute, 0
        self._lines += 1
        if self._lines == LINES_A_MINUTE:
            record.msg, record.args = "%s (more messages of this minute are left out)", (record.getMessage(),)
        return self._lines <= LINES_A_MINUTE


@contextmanager
def throttled() -> Iterator[None]:
    """Applies the limit to the log within the block."""
    throttle = Throttle()
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(throttle)
    try:
        yield
    finally:
        for name in _LOGGERS:
            logging.getLogger(name).removeFilter(throttle)


def without_files(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """An exception handler of event loops: writes one line and no traceback if a connection cannot be accepted because
    the process has too many open files. asyncio tries again after a second."""
    error = context.get("exception")
    if isinstance(error, OSError) and "accept" in str(context.get("message")):
        _log.warning("a connection could not be accepted: %s", error.strerror)
    else:
        loop.default_exception_handler(context)
