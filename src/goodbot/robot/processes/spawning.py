"""Starts worker processes as programs. The module `forking` forks them instead, where it can."""

import asyncio
import socket
import sys
from collections.abc import Awaitable, Callable
from typing import Protocol

from goodbot.errors import RunError
from goodbot.interrupts import kept_from_children
from goodbot.robot.crawl.page_mark import PageMark


class Process(Protocol):
    """A worker process as the coordinator sees it. `returncode` is None while it runs, negative if a signal ended
    it."""

    @property
    def pid(self) -> int: ...

    @property
    def returncode(self) -> int | None: ...

    async def wait(self) -> int: ...

    def kill(self) -> None: ...


Start = Callable[[socket.socket, PageMark], Awaitable[Process]]
"""Starts a worker with its end of a socket pair, and the mark that it shares with the coordinator. Raises RunError."""


async def start_process(connection: socket.socket, mark: PageMark) -> Process:
    """Starts a worker as a program. The caller closes its copy of `connection`."""
    descriptors = connection.fileno(), mark.descriptor
    try:
        with kept_from_children():
            return await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", "goodbot.robot.processes.worker", *map(str, descriptors)),
                pass_fds=descriptors,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
            )
    except OSError as error:
        raise RunError(f"cannot start a worker process: {error.strerror}") from error
