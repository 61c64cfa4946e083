"""Starts worker processes."""

import asyncio
import os
import socket
import sys
from collections.abc import Awaitable, Callable
from typing import Final, Protocol

from goodbot.errors import RunError
from goodbot.interrupts import kept_from_children
from goodbot.robot.crawl.page_mark import PageMark

_MALLOC_ENV: Final = {"MALLOC_MMAP_THRESHOLD_": "262144", "MALLOC_TRIM_THRESHOLD_": "1048576"}
"""Settings of glibc: the memory of large pages is returned to the system after they were read."""


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
    """Starts a worker in a process of its own. The caller closes its copy of `connection`."""
    descriptors = connection.fileno(), mark.descriptor
    try:
        with kept_from_children():
            return await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", "goodbot.robot.processes.worker", *map(str, descriptors)),
                pass_fds=descriptors,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                env={**_MALLOC_ENV, **os.environ},
            )
    except OSError as error:
        raise RunError(f"cannot start a worker process: {error.strerror}") from error
