"""Makes every signal that asks a service to end stop it in the same way."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType

Handler = Callable[[int, FrameType | None], None]


@contextmanager
def interrupted_by_stop_signals() -> Iterator[None]:
    """Makes SIGTERM raise KeyboardInterrupt, as Ctrl-C does, and SIGHUP do what SIGTERM does: a server whose terminal
    was closed ends. If SIGHUP is ignored, as under nohup, it stays ignored. Only the main thread receives signals."""
    if current_thread() is not main_thread():
        yield
        return
    handlers: dict[signal.Signals, Handler] = {signal.SIGTERM: signal.default_int_handler}
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        handlers[signal.SIGHUP] = _terminate
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _terminate(number: int, frame: FrameType | None) -> None:
    signal.raise_signal(signal.SIGTERM)  # uvicorn handles this one
