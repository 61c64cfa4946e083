"""Serves an application on a port: until Ctrl-C, or while a `with` block runs."""

import asyncio
import ipaddress
import logging
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from threading import Event, Thread
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from goodbot.interrupts import stopped_as_by_ctrl_c
from goodbot.listening import listening, url_of
from goodbot.web.server.bounded_protocol import BoundedProtocol
from goodbot.web.server.connections import HEAD_BYTES, ConnectionLimit, connections_most
from goodbot.web.server.cut_off_requests import CutOffRequests
from goodbot.web.server.host_names import for_hosts
from goodbot.web.server.log_throttle import log_accept_errors_briefly, throttled
from goodbot.web.server.request_log import LOGGER, RequestLog
from goodbot.web.server.request_targets import RequestTargets

BACKLOG: Final = 1024
"""How many connections the kernel holds until they are accepted. Beyond that, clients try again after a second."""
ACCEPTED_AT_ONCE: Final = 32
"""How many connections asyncio accepts before it serves others: few, so that those without a place are answered as
fast as they come."""
_LOG: Final = logging.getLogger(LOGGER)


def serve(
    app: ASGIApp,
    host: str,
    port: int,
    on_ready: Callable[[str], None] = lambda url: None,
    listener: socket.socket | None = None,
    public_host: str | None = None,
    on_stop: Callable[[], None] = lambda: None,
    *,
    lifespan: bool = False,
) -> None:
    """Serves `app` on `host` and `port` (0: any free one), or on a `listener` already opened for them. Returns after
    Ctrl-C, SIGTERM or SIGHUP, once open requests are answered (2 s at most).

    Calls `on_ready` with the URL as soon as it answers requests, `on_stop` when it begins to stop. `lifespan`: the
    application wants to know when the server starts and ends (ASGI lifespan). Raises RunError if
    it cannot listen on the address, InputError for a port that does not exist. Prints nothing; logs to `goodbot.web`.
    On loopback it answers only requests whose Host is this machine or `public_host`. Otherwise a site could make a
    visitor's browser read the index, by resolving its own name to 127.0.0.1 (DNS rebinding).
    """
    with listener or listening(host, port) as opened, throttled():
        server = _Server(app, opened, host, on_ready, public_host=public_host, on_stop=on_stop, lifespan=lifespan)
        try:
            with stopped_as_by_ctrl_c():
                server.run(sockets=[opened])
        except KeyboardInterrupt:  # raised again by uvicorn once everything is finished
            pass


@contextmanager
def running(
    app: ASGIApp, host: str = "127.0.0.1", port: int = 0, limit: ConnectionLimit | None = None
) -> Iterator[str]:
    """Serves `app` in a thread until the block ends; yields the URL. `limit` bounds the connections and how long each
    may wait."""
    ready = Event()
    with listening(host, port) as listener, throttled():
        server = _Server(app, listener, host, lambda url: ready.set(), limit)

        def run() -> None:
            try:
                server.run(sockets=[listener])
            finally:
                ready.set()  # also if the server failed to start, so that the caller does not wait

        thread = Thread(target=run, name="goodbot-web")
        thread.start()
        try:
            ready.wait()
            yield server.url
        finally:
            server.should_exit = True
            thread.join()


class _Server(uvicorn.Server):
    """A uvicorn server that prints nothing, logs when it starts and stops, and calls `on_ready` once it answers,
    `on_stop` when it begins to stop."""

    def __init__(
        self,
        app: ASGIApp,
        listener: socket.socket,
        host: str,
        on_ready: Callable[[str], None],
        limit: ConnectionLimit | None = None,
        public_host: str | None = None,
        on_stop: Callable[[], None] = lambda: None,
        *,
        lifespan: bool = False,
    ) -> None:
        if _is_loopback(listener):
            names = [host, "localhost", "*.localhost", "127.0.0.1", "[::1]", "::1"]
            names += [public_host] if public_host else []
            app = for_hosts(app, names)
        super().__init__(
            uvicorn.Config(
                RequestTargets(RequestLog(CutOffRequests(app))),
                http=partial(BoundedProtocol, limit or ConnectionLimit(connections_most())),  # type: ignore[arg-type]  # a factory will do
                loop="asyncio",
                h11_max_incomplete_event_size=HEAD_BYTES,
                backlog=ACCEPTED_AT_ONCE,
                lifespan="on" if lifespan else "off",
                ws="none",
                log_config=None,
                log_level="warning",
                access_log=False,
                proxy_headers=False,
                server_header=False,
                timeout_graceful_shutdown=2,
            )
        )
        self.url = url_of(listener, host)
        self._listener = listener
        self._on_ready = on_ready
        self._on_stop = on_stop

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        asyncio.get_running_loop().set_exception_handler(log_accept_errors_briefly)
        await super().startup(sockets)
        self._listener.listen(BACKLOG)
        _LOG.info("serving on %s", self.url)
        self._on_ready(self.url)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._on_stop()
        await super().shutdown(sockets)
        _LOG.info("stopped serving on %s", self.url)


def _is_loopback(listener: socket.socket) -> bool:
    return ipaddress.ip_address(listener.getsockname()[0]).is_loopback
