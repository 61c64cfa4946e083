"""An application on a port: until Ctrl-C, or for the length of a `with` block."""

import asyncio
import errno
import ipaddress
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

import uvicorn
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import ASGIApp

from goodbot.errors import InputError, RunError
from goodbot.web.connections import ConnectionLimit, connections_most
from goodbot.web.quiet import throttled, without_files


def serve(
    app: ASGIApp,
    host: str,
    port: int,
    on_ready: Callable[[str], None] = lambda url: None,
    listener: socket.socket | None = None,
) -> None:
    """Answers on `host` and `port` (0: any free one), or at the `listener` made of them, until Ctrl-C, then finishes
    what is under way (2 s at most) and returns; a SIGTERM ends the process in the same way.

    `on_ready` gets the URL once requests are answered. Raises RunError if the address cannot be had,
    InputError for a port that does not exist. Prints nothing; the
    log has faults only. On loopback only requests that name this machine are answered: a site whose name is turned to
    127.0.0.1 (DNS rebinding) cannot have a visitor's browser read the index.
    """
    with listener or listening(host, port) as ours, throttled():
        server = _Server(app, ours, host, on_ready)
        try:
            server.run(sockets=[ours])
        except KeyboardInterrupt:  # raised again by uvicorn once everything is finished
            pass


@contextmanager
def running(app: ASGIApp, host: str = "127.0.0.1", port: int = 0, room: ConnectionLimit | None = None) -> Iterator[str]:
    """The same in a thread, until the block ends; gives the URL. `room`: how many connections there may be, and how
    long they may wait."""
    ready = Event()
    with listening(host, port) as listener, throttled():
        server = _Server(app, listener, host, lambda url: ready.set(), room)

        def run() -> None:
            try:
                server.run(sockets=[listener])
            finally:
                ready.set()  # nobody waits for a server that failed to start

        thread = Thread(target=run, name="goodbot-web")
        thread.start()
        try:
            ready.wait()
            yield server.url
        finally:
            server.should_exit = True
            thread.join()


class _Server(uvicorn.Server):
    """A quiet uvicorn that says when it is ready."""

    def __init__(
        self,
        app: ASGIApp,
        listener: socket.socket,
        host: str,
        on_ready: Callable[[str], None],
        room: ConnectionLimit | None = None,
    ) -> None:
        if _is_loopback(listener):
            names = [host, "localhost", "*.localhost", "127.0.0.1", "[::1]", "::1"]
            app = TrustedHostMiddleware(app, allowed_hosts=names, www_redirect=False)
        super().__init__(
            uvicorn.Config(
                app,
                http=(room or ConnectionLimit(connections_most())).protocol,  # type: ignore[arg-type]  # makes one, as a class does
                loop="asyncio",
                backlog=connections_most() // 2,  # asyncio accepts so many before it looks at any
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
        asyncio.get_running_loop().set_exception_handler(without_files)
        await super().startup(sockets)
        self._on_ready(self.url)


def listening(host: str, port: int) -> socket.socket:
    """A socket for `serve`, which closes it. Raises as `serve` does."""
    if not 0 <= port <= 65535:  # getaddrinfo takes it modulo 65536
        raise InputError(f"port {port} does not exist: choose one from 0 to 65535 with --port")
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, _, _, _, address = min(found, key=lambda entry: entry[0] != socket.AF_INET)  # `localhost` is 127.0.0.1
        return socket.create_server(address[:2], family=family)
    except (OSError, UnicodeError) as error:
        raise RunError(_trouble(host, port, error)) from error


def _trouble(host: str, port: int, error: Exception) -> str:
    number = error.errno if isinstance(error, OSError) else None
    if isinstance(error, socket.gaierror | UnicodeError) or number == errno.EADDRNOTAVAIL:
        return f"{host} is no address of this machine: choose another with --host"
    if number == errno.EADDRINUSE:
        return f"port {port} is in use on {host}: choose another with --port"
    if number == errno.EACCES:
        return f"port {port} needs more rights than this user has: choose one above 1023 with --port"
    return f"cannot listen on {host} port {port}: {os.strerror(number) if number else error}"


def _is_loopback(listener: socket.socket) -> bool:
    return ipaddress.ip_address(listener.getsockname()[0]).is_loopback


def _url(listener: socket.socket, host: str) -> str:
    """Where a browser on this machine finds it: a wildcard address is not one to visit."""
    address, port = listener.getsockname()[:2]
    if ipaddress.ip_address(address).is_unspecified:
        host = "localhost"
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"
