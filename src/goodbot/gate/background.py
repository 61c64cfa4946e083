"""Runs work in threads that hold up nothing: neither the event loop nor the end of the process."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

_T = TypeVar("_T")


def begun(work: Callable[[], _T], name: str, done: Callable[[], None] = lambda: None) -> Future[_T]:
    """Runs `work` in a daemon thread, then `done`, and returns the result to come. The threads of asyncio's executor
    would be waited for when the process ends: a server that does not answer would keep Ctrl-C waiting."""
    future: Future[_T] = Future()
    future.set_running_or_notify_cancel()  # so that who waits for it may be cancelled, and it may not

    def run() -> None:
        try:
            result = work()
        except BaseException as error:  # noqa: BLE001  (any: it is raised where the result is taken)
            done()
            future.set_exception(error)
        else:
            done()
            future.set_result(result)

    threading.Thread(target=run, name=name, daemon=True).start()
    return future
