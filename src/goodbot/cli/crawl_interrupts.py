"""Handles Ctrl-C while a crawl is opened, runs and is closed."""

import asyncio
import signal
from collections.abc import Callable
from types import FrameType
from typing import Final, Self

_NUMBERS: Final = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """Counts Ctrl-C and SIGTERM in a `with` block of a coroutine, and calls `act` in the event loop for each. None is
    lost, not even in the last turn of the loop.

    At first each cancels the block's task; `act_by` sets another function to call.
    """

    def __init__(self) -> None:
        self.pressed = 0
        self._loop = asyncio.get_running_loop()
        task = asyncio.current_task()
        self._act: Callable[[], object] = task.cancel if task is not None else lambda: None

    def act_by(self, act: Callable[[], object]) -> None:
        """Sets the function to call from now on."""
        self._act = act

    def __enter__(self) -> Self:
        self._before = [signal.signal(number, self._press) for number in _NUMBERS]
        return self

    def __exit__(self, *raised: object) -> None:
        for number, handler in zip(_NUMBERS, self._before, strict=True):
            signal.signal(number, handler)

    def _press(self, number: int, frame: FrameType | None) -> None:
        self.pressed += 1
        self._loop.call_soon_threadsafe(self._react)

    def _react(self) -> None:
        self._act()
