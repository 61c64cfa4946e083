"""Controls what Ctrl-C interrupts, and which processes receive it.

A terminal sends Ctrl-C to every process of the command. Python raises KeyboardInterrupt between any two instructions:
in the middle of an import, or in a callback whose exceptions are printed and dropped. Commands load this module first,
so it imports nothing from goodbot.
"""

import os
import signal
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from threading import current_thread, main_thread
from types import FrameType
from typing import Any, Final, TypeVar

INTERRUPTED: Final = "goodbot: interrupted"
STATUS: Final = 130
"""128 plus the signal number, as a shell reports it."""

_T = TypeVar("_T")


def leave_at_once() -> None:
    """Makes Ctrl-C end the process at once, with one line. Used while there is nothing to clean up. If the parent
    process made this one ignore SIGINT, it keeps ignoring it."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, _leave)


def raise_again() -> None:
    """Ends `leave_at_once`: Ctrl-C raises KeyboardInterrupt again."""
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _leave(number: int, frame: FrameType | None) -> None:
    if sys.stderr is not None:
        os.write(2, f"{INTERRUPTED}\n".encode())
    os._exit(STATUS)


@contextmanager
def whole(make: Callable[[], AbstractContextManager[_T]]) -> Iterator[_T]:
    """Enters and leaves the context that `make` returns without interruption: a Ctrl-C meanwhile takes effect
    afterwards."""
    stack = ExitStack()
    try:
        with _put_off():
            value = stack.enter_context(make())
        yield value
    finally:
        with _put_off():
            stack.close()


@contextmanager
def _put_off() -> Iterator[None]:
    pressed: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: pressed.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if pressed:
            signal.raise_signal(signal.SIGINT)


def run_async(work: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
    """Runs the coroutine that `work` makes, as `asyncio.run` does. A Ctrl-C while the event loop is made takes effect
    before `work` is called."""
    import asyncio  # noqa: PLC0415  (takes longer than the other imports of a command that does not need it)

    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT,))

    async def interruptible() -> _T:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        await asyncio.sleep(0)  # is cancelled after a Ctrl-C
        return await work()

    try:
        return asyncio.run(interruptible())
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def stopped_as_by_ctrl_c() -> Iterator[None]:
    """Makes SIGTERM, and SIGHUP when the terminal is closed, do what Ctrl-C does. A SIGHUP that is ignored, as under
    nohup, stays ignored. Only the main thread receives signals."""
    if current_thread() is not main_thread():
        yield
        return
    stops = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, lambda _, frame: signal.raise_signal(signal.SIGINT)) for number in stops}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def kept_from_children() -> Iterator[None]:
    """Blocks SIGINT and SIGTERM for processes that this thread starts in the block, until they choose otherwise. No
    signal to this process is lost."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def ignore_for_good() -> None:
    """Makes a process started in `kept_from_children` ignore SIGINT and SIGTERM. Its own children ignore them too, and
    inherit no signal mask."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGINT, signal.SIGTERM))
