"""Serves an application on a port: until Ctrl-C, or while a `with` block runs."""

import asyncio
import errno
import ipaddress
import logging
import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread, current_thread, main_thread
from typing import Final

import uvicorn
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from goodbot.errors import InputError, RunError
from goodbot.web.server.connections import HEAD_BYTES, ConnectionLimit, connections_most
from goodbot.web.server.cut_off_requests import CutOffRequests
from goodbot.web.server.log_throttle import log_accept_errors_briefly, throttled
from goodbot.web.server.request_log import LOGGER, RequestLog
from goodbot.web.server.security_headers import HEADERS, SecurityHeaders

_LOG: Final = logging.getLogger(LOGGER)


def serve(
    app: ASGIApp,
    host: str,
    port: int,
    on_ready: Callable[[str], None] = lambda url: None,
    listener: socket.socket | None = None,
    public_host: str | None = None,
) -> None:
    """Serves `app` on `host` and `port` (0: any free one), or on a `listener` already opened for them. Returns after
    Ctrl-C or SIGTERM, once open requests are answered (2 s at most).

    Calls `on_ready` with the URL as soon as it answers requests. Raises RunError if it cannot listen on the address,
    InputError for a port that does not exist. Prints nothing; logs to `goodbot.web`. On loopback it answers only
    requests whose Host is this machine or `public_host`. Otherwise a site could make a visitor's browser read the
    index, by resolving its own name to 127.0.0.1 (DNS rebinding).
    """
    with listener or listening(host, port) as opened, throttled():
        server = _Server(app, opened, host, on_ready, public_host=public_host)
        try:
            with _interrupted_by_sigterm():
                server.run(sockets=[opened])
        except KeyboardInterrupt:  # raised again by uvicorn once everything is finished
            pass


@contextmanager
def _interrupted_by_sigterm() -> Iterator[None]:
    """Makes SIGTERM raise KeyboardInterrupt, as Ctrl-C does. Only the main thread receives signals."""
    if current_thread() is not main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


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
    """A uvicorn server that prints nothing, logs when it starts and stops, and calls `on_ready` once it answers."""

    def __init__(
        self,
        app: ASGIApp,
        listener: socket.socket,
        host: str,
        on_ready: Callable[[str], None],
        limit: ConnectionLimit | None = None,
        public_host: str | None = None,
    ) -> None:
        if _is_loopback(listener):
            names = [host, "localhost", "*.localhost", "127.0.0.1", "[::1]", "::1"]
            names += [public_host] if public_host else []
            app = _for_hosts(app, names)
        super().__init__(
            uvicorn.Config(
                RequestLog(CutOffRequests(app)),
                http=(limit or ConnectionLimit(connections_most())).protocol,  # type: ignore[arg-type]  # a factory will do
                loop="asyncio",
                h11_max_incomplete_event_size=HEAD_BYTES,
                backlog=connections_most() // 2,  # asyncio accepts so many before it handles any
                lifespan="off",
                ws="none",
                log_config=None,
                log_level="warning",
                access_log=False,
                proxy_headers=False,
                server_header=False,
                timeout_graceful_shutdown=2,
            )
        )
        self.url = _url(listener, host)
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        asyncio.get_running_loop().set_exception_handler(log_accept_errors_briefly)
        await super().startup(sockets)
        _LOG.info("serving on %s", self.url)
        self._on_ready(self.url)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets)
        _LOG.info("stopped serving on %s", self.url)


def _for_hosts(app: ASGIApp, names: list[str]) -> ASGIApp:
    """Refuses requests whose Host is not one of `names`. The refusal has security headers; other responses stay as they
    are."""

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        async def answer(scope: Scope, receive: Receive, _: Send) -> None:
            await app(scope, receive, send)

        checked = TrustedHostMiddleware(answer, allowed_hosts=names, www_redirect=False)
        await SecurityHeaders(checked, HEADERS)(scope, receive, send)

    return guarded


def listening(host: str, port: int) -> socket.socket:
    """Opens a socket for `serve`, which closes it. Raises the same errors as `serve`."""
    if not 0 <= port <= 65535:  # getaddrinfo would take it modulo 65536
        raise InputError(f"port {port} does not exist: choose one from 0 to 65535 with --port")
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, _, _, _, address = min(
            found, key=lambda entry: entry[0] != socket.AF_INET
        )  # `localhost` means 127.0.0.1
        server = socket.create_server(address[:2], family=family)
    except (OSError, UnicodeError) as error:
        raise RunError(_trouble(host, port, error)) from error
    # Connections inherit this. asyncio sets it only on sockets that name their protocol, which these do not; without
    # it, the second part of a response waits 40 ms for the client to acknowledge the first.
    server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return server


def _trouble(host: str, port: int, error: Exception) -> str:
    number = error.errno if isinstance(error, OSError) else None
    if isinstance(error, socket.gaierror | UnicodeError) or number == errno.EADDRNOTAVAIL:
        return f"{host} is not an address of this machine: choose another with --listen"
    if number == errno.EADDRINUSE:
        return f"port {port} is in use on {host}: choose another with --port"
    if number == errno.EACCES:
        return f"port {port} is reserved for administrators: choose one above 1023 with --port"
    return f"cannot listen on {host} port {port}: {os.strerror(number) if number else error}"


def _is_loopback(listener: socket.socket) -> bool:
    return ipaddress.ip_address(listener.getsockname()[0]).is_loopback


def _url(listener: socket.socket, host: str) -> str:
    """Returns the URL for a browser on this machine: `localhost` for a wildcard address such as 0.0.0.0."""
    address, port = listener.getsockname()[:2]
    if ipaddress.ip_address(address).is_unspecified:
        host = "localhost"
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"
