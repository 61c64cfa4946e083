"""Runs the calls of a store, one after another: at once, or in a thread if the store is another machine's.

While a call waits, the event loop goes on: workers report, and Ctrl-C, control files and the live status act. What
follows a call is given with it, so the code is the same in both cases.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from queue import SimpleQueue
from typing import Final, Protocol, TypeVar

from goodbot.errors import StoreAwayError

FIRST_WAIT_S: Final = 1.0
MOST_WAIT_S: Final = 30.0
"""How long to wait before a call is repeated while the server is away: at first, doubled each time, and at most."""

_LOG: Final = logging.getLogger(__name__)

T = TypeVar("T")


def nothing(result: object) -> None:
    """Does nothing with the result of a call."""


class StoreCalls(Protocol):
    """Runs calls of one store in the order given."""

    @property
    def why_away(self) -> str:
        """Why the calls wait, such as a server that does not answer, for people; empty if they do not wait."""
        ...

    @property
    def away(self) -> str:
        """`why_away`, and for how long already; empty if the calls do not wait."""
        ...

    def run(self, call: Callable[[], T], then: Callable[[T], object] = nothing) -> None:
        """Runs a call, then `then` with its result, in the event loop. An error of the call, or of `then`, ends the
        crawl."""
        ...

    async def finish(self) -> None:
        """Waits until all calls so far, and what follows them, are done."""
        ...


class DirectCalls:
    """Runs each call at once. Errors are raised to the caller."""

    why_away: Final = ""
    away: Final = ""

    def run(self, call: Callable[[], T], then: Callable[[T], object] = nothing) -> None:
        """See `StoreCalls.run`."""
        then(call())

    async def finish(self) -> None:
        """See `StoreCalls.finish`."""


class StoreThread:
    """Runs calls in a thread of its own, from `start` to `close`. A call that raises StoreAwayError is repeated until
    it succeeds, ever less often. `failed` gets any other error, in the event loop; later calls are not run then."""

    def __init__(self, failed: Callable[[BaseException], object], first_wait_s: float = FIRST_WAIT_S) -> None:
        self._failed = failed
        self._first_wait_s = first_wait_s
        self._queue: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._work, name="store", daemon=True)
        self._loop = asyncio.get_running_loop()
        self._has_failed = False
        self._away_since: float | None = None
        self._why = ""
        self._ending: asyncio.Future[None] | None = None

    def start(self) -> "StoreThread":
        """Starts the thread; returns itself."""
        self._thread.start()
        return self

    @property
    def why_away(self) -> str:
        """See `StoreCalls.why_away`."""
        return "" if self._away_since is None else self._why

    @property
    def away(self) -> str:
        """See `StoreCalls.away`."""
        since = self._away_since
        if since is None:
            return ""
        return f"{self._why}, for {time.monotonic() - since:.0f} s"

    def run(self, call: Callable[[], T], then: Callable[[T], object] = nothing) -> None:
        """See `StoreCalls.run`."""

        def work() -> None:
            result = self._repeated(call)
            self._in_loop(lambda: then(result))

        self._queue.put(work)

    async def finish(self) -> None:
        """See `StoreCalls.finish`. Returns at once after an error."""
        done: asyncio.Future[None] = self._loop.create_future()

        def end() -> None:
            if not done.done():
                done.set_result(None)

        self._queue.put(lambda: self._in_loop(end))
        if not self._has_failed:
            self._ending = done
            await done

    def close(self) -> None:
        """Ends the thread after the call that runs now; a call that waits for the server is given up."""
        self._closing.set()
        self._queue.put(None)

    def wait_closed(self) -> None:
        """Waits until the thread has ended, after `close`, so that others may use its connections."""
        self._thread.join()

    def _work(self) -> None:
        while (work := self._queue.get()) is not None and not self._closing.is_set():
            try:
                work()
            except BaseException as error:  # noqa: BLE001 - the event loop raises it again
                self._in_loop(lambda error=error: self._fail(error))  # type: ignore[misc]
                return

    def _repeated(self, call: Callable[[], T]) -> T:
        wait_s = self._first_wait_s
        while True:
            try:
                result = call()
            except StoreAwayError as error:
                self._why = str(error)
                if self._away_since is None:
                    self._away_since = time.monotonic()
                    _LOG.warning("%s; trying again", error)
                if self._closing.wait(wait_s):
                    raise
                wait_s = min(2 * wait_s, MOST_WAIT_S)
            else:
                if self._away_since is not None:
                    _LOG.info("the database server answers again")
                self._away_since = None
                return result

    def _in_loop(self, step: Callable[[], object]) -> None:
        def guarded() -> None:
            try:
                step()
            except BaseException as error:  # noqa: BLE001 - `failed` raises it again
                self._fail(error)

        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(guarded)

    def _fail(self, error: BaseException) -> None:
        self._has_failed = True
        self.close()
        if self._ending is not None and not self._ending.done():
            self._ending.set_result(None)
        self._failed(error)
