"""Wraps a `Client` for programs without asyncio: one event loop in a thread of its own serves any number of threads."""

import asyncio
import threading
import weakref
from collections.abc import Coroutine
from concurrent.futures import CancelledError
from types import TracebackType
from typing import Any, Self, TypeVar

from goodbot.errors import InputError, RunError
from goodbot.exclusion import Access, Verdict
from goodbot.robot.client.answer import Answer
from goodbot.robot.client.client import Client
from goodbot.robot.client.given_arguments import GivenFields
from goodbot.robot.client.reading import Reading
from goodbot.robot.manners.redirects import MAX_REDIRECTS
from goodbot.url import Url

_T = TypeVar("_T")


class BlockingClient:
    """Does what a `Client` does, and blocks until it is done. Its thread starts with the first call and ends with
    `close`, or when the object is garbage-collected."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._closed = False

    def get(
        self,
        url: str | Url,
        *,
        headers: GivenFields = (),
        redirects: int = MAX_REDIRECTS,
        public_only: bool = False,
        timeout_s: float | None = None,
    ) -> Answer:
        """See `Client.get`."""
        return self._run(
            self._client.get(url, headers=headers, redirects=redirects, public_only=public_only, timeout_s=timeout_s)
        )

    def head(
        self,
        url: str | Url,
        *,
        headers: GivenFields = (),
        redirects: int = MAX_REDIRECTS,
        public_only: bool = False,
        timeout_s: float | None = None,
    ) -> Answer:
        """See `Client.head`."""
        return self._run(
            self._client.head(url, headers=headers, redirects=redirects, public_only=public_only, timeout_s=timeout_s)
        )

    def read(
        self,
        url: str | Url,
        *,
        whole: bool = False,
        render: bool = False,
        headers: GivenFields = (),
        redirects: int = MAX_REDIRECTS,
        public_only: bool = False,
        timeout_s: float | None = None,
    ) -> Reading:
        """See `Client.read`."""
        return self._run(
            self._client.read(
                url,
                whole=whole,
                render=render,
                headers=headers,
                redirects=redirects,
                public_only=public_only,
                timeout_s=timeout_s,
            )
        )

    def may_fetch(self, url: str | Url) -> Verdict:
        """See `Client.may_fetch`."""
        return self._run(self._client.may_fetch(url))

    def rules(self, url: str | Url) -> Access:
        """See `Client.rules`."""
        return self._run(self._client.rules(url))

    def close(self) -> None:
        """Closes every connection and ends the thread. Calls that still wait raise RunError. May be called again."""
        with self._lock:
            self._closed = True
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is None or thread is None:
            return
        _stop(loop)
        thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _run(self, call: Coroutine[Any, Any, _T]) -> _T:
        with self._lock:  # so that it is scheduled before the shutdown of `close`
            if self._closed:
                call.close()
                raise InputError("this robot is closed")
            future = asyncio.run_coroutine_threadsafe(call, self._running_loop())
        try:
            return future.result()
        except CancelledError:
            raise RunError("this robot was closed while the call waited") from None
        except BaseException:  # Ctrl-C while waiting: cancel the call
            future.cancel()
            raise

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            loop = self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=_serve, args=(loop, self._client), name="goodbot", daemon=True)
            self._thread.start()
            weakref.finalize(self, _stop, loop)
        return self._loop


def _serve(loop: asyncio.AbstractEventLoop, client: Client) -> None:
    """Runs the event loop until it is stopped. Calls made before that have started by then."""
    try:
        loop.run_forever()
    finally:
        loop.run_until_complete(_shut_down(client))
        loop.close()


def _stop(loop: asyncio.AbstractEventLoop) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(loop.stop)


async def _shut_down(client: Client) -> None:
    """Cancels the calls under way, then closes the connections."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await client.disconnect()  # another `BlockingClient` may use it later
