"""A line on the terminal that shows the progress of a long task."""

import time
from collections.abc import Callable
from types import TracebackType

from goodbot.cli.command_class import logs_to_terminal
from goodbot.cli.printing import can_rewrite, is_quiet, overwrite
from goodbot.human import human_bytes, human_duration

SHOWN_AFTER_S = 2.0
EVERY_S = 0.5


class ProgressLine:
    """Shows `1.2 GB of 4.0 GB, 120.3 MB/s, about 23 s left` after two seconds if standard error is a terminal, and
    wipes it at the end. `amount` formats a count of bytes, or of what else is done."""

    def __init__(self, amount: Callable[[float], str] = human_bytes) -> None:
        self._amount = amount
        self._started = time.monotonic()
        self._next = self._started + SHOWN_AFTER_S if _may_show() else float("inf")
        self._shown = False

    def report(self, done: int, size: int) -> None:
        """Shows that `done` of `size` are processed."""
        now = time.monotonic()
        if now < self._next or not done:
            return
        rate = done / (now - self._started)
        left = human_duration(max(size - done, 0) / rate)
        line = f"{self._amount(done)} of {self._amount(size)}, {self._amount(rate)}/s, about {left} left"
        overwrite(line)
        self._next, self._shown = now + EVERY_S, True

    def wipe(self) -> None:
        """Wipes the line, before a result is printed on the same terminal."""
        if self._shown:
            overwrite("")
        self._shown = False

    def __enter__(self) -> "ProgressLine":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.wipe()


def _may_show() -> bool:
    return can_rewrite() and not is_quiet() and not logs_to_terminal()
