"""Listens on loopback: one task for each connection, all ended together."""

import asyncio
import contextlib
import errno
import os
import resource
import socket
import ssl
import struct
import sys
from collections.abc import Awaitable, Callable
from typing import Final

from goodbot.errors import RunError

HEAD_LIMIT_BYTES: Final = 64 * 1024
BUFFER_BYTES: Final = 64 * 1024
"""The bytes buffered for a client that does not read. A larger buffer would count as read by the client."""
MOST_OPEN: Final = 2000
"""The limit of connections open to one listener, if the process may open that many files."""
_HANDSHAKE_TIMEOUT_S: Final = 20.0
_BACKLOG: Final = 256
_ACCEPTED_AT_A_TIME: Final = 16
_NO_FILES_WAIT_S: Final = 0.1
_LAST_DATA_RECV: Final = 52
"""The offset in the `struct tcp_info` of Linux of the milliseconds since data last arrived."""

ConnectionHandler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
_CLIENT_GONE = (ConnectionError, asyncio.IncompleteReadError, TimeoutError, ssl.SSLError)


class HandshakeError(ConnectionError):
    """The TLS handshake failed; the connection is useless."""


def max_connections() -> int:
    """Returns how many connections may be open at once: a third of the files that the process may open, at most
    2000."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_OPEN if soft == resource.RLIM_INFINITY else max(1, min(MOST_OPEN, soft // 3))


def unread_s(connection: socket.socket | None) -> float:
    """Returns for how many seconds the last data had been waiting, by the system's own clock. Call it when the data is
    read. Returns 0 if the system does not provide it, or the connection has ended."""
    if connection is None or sys.platform != "linux":
        return 0.0
    try:
        info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _LAST_DATA_RECV + 4)
    except OSError:
        return 0.0
    return float(struct.unpack_from("=I", info, _LAST_DATA_RECV)[0]) / 1000


class Listener:
    """Sockets that listen until `stop`. `refused` counts connections that came when `most_open` were open already: they
    are closed at once."""

    def __init__(self, most_open: int | None = None) -> None:
        self.most_open = most_open or max_connections()
        self.refused = 0
        self._servers: list[socket.socket] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def listen(self, host: str, port: int, handle: ConnectionHandler) -> int:
        """Listens, and returns the port: any free one for 0. Each connection is closed when `handle` returns or the
        client leaves.

        Raises RunError if the port is unavailable.
        """
        server = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
        try:
            server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            server.bind((host, port))
            server.listen(_BACKLOG)
        except (OSError, OverflowError) as error:
            server.close()
            number = error.errno if isinstance(error, OSError) else None
            if number == errno.EADDRINUSE:  # as `goodbot serve` says it
                raise RunError(f"port {port} is in use on {host}: choose another with --port") from error
            raise RunError(f"cannot serve on {host}:{port}: {os.strerror(number) if number else error}") from error
        server.setblocking(False)
        self._servers.append(server)
        self._watch(server, handle)
        chosen: int = server.getsockname()[1]
        return chosen

    async def stop(self) -> None:
        """Closes all connections at once, whatever they are doing."""
        loop = asyncio.get_running_loop()
        for server in self._servers:
            loop.remove_reader(server)
            server.close()
        self._servers.clear()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _watch(self, server: socket.socket, handle: ConnectionHandler) -> None:
        if server in self._servers:  # else `stop` was called meanwhile
            asyncio.get_running_loop().add_reader(server, self._accept, server, handle)

    def _accept(self, server: socket.socket, handle: ConnectionHandler) -> None:
        """Accepts a few waiting connections: asyncio's own servers accept more than the process has files for."""
        loop = asyncio.get_running_loop()
        for _ in range(_ACCEPTED_AT_A_TIME):
            try:
                client, _ = server.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError:  # no files left: accepts again later
                loop.remove_reader(server)
                loop.call_later(_NO_FILES_WAIT_S, self._watch, server, handle)
                return
            self._admit(client, handle)

    def _admit(self, client: socket.socket, handle: ConnectionHandler) -> None:
        if len(self._tasks) >= self.most_open:
            self.refused += 1
            client.close()
            return

        def ended(task: asyncio.Task[None]) -> None:
            self._tasks.discard(task)
            client.close()

        client.setblocking(False)
        task = asyncio.create_task(_hold(client, handle))
        self._tasks.add(task)
        task.add_done_callback(ended)


async def _hold(client: socket.socket, handle: ConnectionHandler) -> None:
    """Handles one connection to its end. The handler starts as soon as the connection is made, before anything is
    read."""
    reader = asyncio.StreamReader(limit=HEAD_LIMIT_BYTES)
    async with asyncio.TaskGroup() as group:

        def made(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            group.create_task(_handle_to_the_end(handle, reader, writer))

        loop = asyncio.get_running_loop()
        await loop.connect_accepted_socket(lambda: asyncio.StreamReaderProtocol(reader, made), client)


async def _handle_to_the_end(
    handle: ConnectionHandler, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    writer.transport.set_write_buffer_limits(BUFFER_BYTES)
    try:
        try:
            await handle(reader, writer)
        except HandshakeError:
            return
        except _CLIENT_GONE:
            pass  # the client has left, or sends nothing more
        writer.close()
        with contextlib.suppress(*_CLIENT_GONE):
            await writer.wait_closed()
    finally:
        writer.transport.abort()  # else a client that does not read would delay a stop


async def begin_tls(writer: asyncio.StreamWriter, context: ssl.SSLContext) -> None:
    """Does the server's part of the TLS handshake. Raises HandshakeError.

    Call it before you await anything else on the connection: the client's first bytes must not be read as plain text.
    """
    try:
        await writer.start_tls(context, ssl_handshake_timeout=_HANDSHAKE_TIMEOUT_S)
    except OSError as error:  # also SSLError and TimeoutError
        raise HandshakeError from error
    writer.transport.set_write_buffer_limits(BUFFER_BYTES)
