"""Listening on loopback: a task for each connection, all ended together."""

import asyncio
import contextlib
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
"""What may wait for a client that does not read: more would count as taken."""
MOST_OPEN: Final = 2000
"""Connections to one listener at the same time, if the process may open files enough."""
_HANDSHAKE_S: Final = 20.0
_BACKLOG: Final = 256
_AT_A_TIME: Final = 16
_PAUSE_S: Final = 0.1
_LAST_DATA_RECV: Final = 52
"""Where `struct tcp_info` of Linux has the milliseconds since data last came."""

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
_GONE = (ConnectionError, asyncio.IncompleteReadError, TimeoutError, ssl.SSLError)


class HandshakeError(ConnectionError):
    """TLS did not come about; the connection is of no more use."""


def room() -> int:
    """How many connections may be open at once: the process needs files for other things too."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_OPEN if soft == resource.RLIM_INFINITY else max(1, min(MOST_OPEN, soft // 3))


def unread_s(connection: socket.socket | None) -> float:
    """For how long what came last has been there: to be asked when it is read. The system's own count, in seconds; 0
    where the system does not say, or the connection has ended."""
    if connection is None or sys.platform != "linux":
        return 0.0
    try:
        told = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _LAST_DATA_RECV + 4)
    except OSError:
        return 0.0
    return float(struct.unpack_from("=I", told, _LAST_DATA_RECV)[0]) / 1000


class Listener:
    """Sockets that are listened on until `stop`. `refused` counts connections that came when `most_open` were open:
    they are closed at once."""

    def __init__(self, most_open: int | None = None) -> None:
        self.most_open = most_open or room()
        self.refused = 0
        self._servers: list[socket.socket] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def listen(self, host: str, port: int, talk: Talk) -> int:
        """The port, which is any free one for 0. Each connection is closed when `talk` returns or the client leaves.

        Raises RunError if the port cannot be had.
        """
        server = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
        try:
            server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            server.bind((host, port))
            server.listen(_BACKLOG)
        except (OSError, OverflowError) as error:
            server.close()
            number = error.errno if isinstance(error, OSError) else None
            raise RunError(f"cannot serve on {host}:{port}: {os.strerror(number) if number else error}") from error
        server.setblocking(False)
        self._servers.append(server)
        self._watch(server, talk)
        chosen: int = server.getsockname()[1]
        return chosen

    async def stop(self) -> None:
        """Ends all connections at once, whatever they are at."""
        loop = asyncio.get_running_loop()
        for server in self._servers:
            loop.remove_reader(server)
            server.close()
        self._servers.clear()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _watch(self, server: socket.socket, talk: Talk) -> None:
        if server in self._servers:  # else it was stopped meanwhile
            asyncio.get_running_loop().add_reader(server, self._accept, server, talk)

    def _accept(self, server: socket.socket, talk: Talk) -> None:
        """Takes what is waiting, some at a time: asyncio's own servers open more than they can hold."""
        loop = asyncio.get_running_loop()
        for _ in range(_AT_A_TIME):
            try:
                client, _ = server.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError:  # no files left: who waits is taken when there are
                loop.remove_reader(server)
                loop.call_later(_PAUSE_S, self._watch, server, talk)
                return
            self._admit(client, talk)

    def _admit(self, client: socket.socket, talk: Talk) -> None:
        if len(self._tasks) >= self.most_open:
            self.refused += 1
            client.close()
            return

        def ended(task: asyncio.Task[None]) -> None:
            self._tasks.discard(task)
            client.close()

        client.setblocking(False)
        task = asyncio.create_task(_hold(client, talk))
        self._tasks.add(task)
        task.add_done_callback(ended)


async def _hold(client: socket.socket, talk: Talk) -> None:
    """One connection, to its end. The talk begins as soon as it is made, before anything is read."""
    reader = asyncio.StreamReader(limit=HEAD_LIMIT_BYTES)
    async with asyncio.TaskGroup() as group:

        def made(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            group.create_task(_to_the_end(talk, reader, writer))

        loop = asyncio.get_running_loop()
        await loop.connect_accepted_socket(lambda: asyncio.StreamReaderProtocol(reader, made), client)


async def _to_the_end(talk: Talk, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.transport.set_write_buffer_limits(BUFFER_BYTES)
    try:
        try:
            await talk(reader, writer)
        except HandshakeError:
            return
        except _GONE:
            pass  # the client has left, or says nothing more
        writer.close()
        with contextlib.suppress(*_GONE):
            await writer.wait_closed()
    finally:
        writer.transport.abort()  # at a stop nobody is waited for who does not read; else it is closed already


async def begin_tls(writer: asyncio.StreamWriter, context: ssl.SSLContext) -> None:
    """The server's handshake. Raises HandshakeError.

    To be called before anything else is awaited on the connection: what the client says first must not be read as text.
    """
    try:
        await writer.start_tls(context, ssl_handshake_timeout=_HANDSHAKE_S)
    except OSError as error:  # also SSLError and TimeoutError
        raise HandshakeError from error
    writer.transport.set_write_buffer_limits(BUFFER_BYTES)
