"""Commands of goodbot in processes that are forked from one that has loaded it."""

import asyncio
import atexit
import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from io import FileIO
from pathlib import Path
from typing import cast

from journey.preloaded import Command


@cache
def _server() -> socket.socket:
    """The way to the process that forks for each command; it ends with the tests."""
    ours, theirs = socket.socketpair()
    program = Path(__file__).with_name("preloaded.py")
    process = subprocess.Popen(
        [sys.executable, "-W", "error", str(program), str(theirs.fileno())],
        stdin=subprocess.PIPE,  # pipes, as its commands have
        stdout=subprocess.PIPE,
        pass_fds=[theirs.fileno()],
    )
    theirs.close()

    def end() -> None:
        ours.close()
        process.communicate()

    atexit.register(end)
    return ours


async def forked(command: Command, limit: int) -> asyncio.subprocess.Process:
    """A `goodbot` that was loaded before, and is otherwise a process as asyncio starts them; `limit`: bytes of output
    taken while nobody asks for them."""
    loop = asyncio.get_running_loop()
    (stdin, to_it), (from_it, stdout), (messages, stderr), (report, reported) = (os.pipe() for _ in range(4))
    descriptors = [stdin, stdout, stderr, reported]
    data = json.dumps(command).encode()
    socket.send_fds(_server(), [len(data).to_bytes(4, "big")], descriptors)
    _server().sendall(data)
    for descriptor in descriptors:
        os.close(descriptor)
    reports, reporting = await _readable(FileIO(report), limit)
    pid = int(await reports.readline())
    idle = asyncio.StreamReaderProtocol(asyncio.StreamReader())
    writing, _ = await loop.connect_write_pipe(lambda: idle, FileIO(to_it, "w"))
    streams = _Streams(
        asyncio.StreamWriter(writing, idle, None, loop),
        *await _readable(FileIO(from_it), limit),
        *await _readable(FileIO(messages), limit),
    )
    transport = cast("asyncio.SubprocessTransport", _Forked(pid, streams, reports, reporting))
    return asyncio.subprocess.Process(transport, cast("asyncio.subprocess.SubprocessStreamProtocol", streams), loop)


async def _readable(pipe: FileIO, limit: int) -> tuple[asyncio.StreamReader, asyncio.ReadTransport]:
    reader = asyncio.StreamReader(limit=limit)
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    return reader, transport


@dataclass
class _Streams:
    """What `asyncio.subprocess.Process` asks of its protocol: the pipes of a process."""

    stdin: asyncio.StreamWriter
    stdout: asyncio.StreamReader
    out: asyncio.ReadTransport
    stderr: asyncio.StreamReader
    err: asyncio.ReadTransport


class _Forked:
    """What `asyncio.subprocess.Process` asks of its transport, for a process that is no child of ours."""

    def __init__(
        self, pid: int, streams: _Streams, reports: asyncio.StreamReader, reporting: asyncio.ReadTransport
    ) -> None:
        self._pid = pid
        self._pipes: list[asyncio.BaseTransport] = [streams.stdin.transport, streams.out, streams.err]
        self._status: int | None = None
        self._end = asyncio.create_task(self._until_it_ends(reports, reporting))

    async def _until_it_ends(self, reports: asyncio.StreamReader, reporting: asyncio.ReadTransport) -> int:
        try:
            self._status = int(await reports.readline())
            return self._status
        finally:
            reporting.close()

    def get_pid(self) -> int:
        return self._pid

    def get_returncode(self) -> int | None:
        return self._status

    def get_pipe_transport(self, number: int) -> asyncio.BaseTransport:
        return self._pipes[number]

    async def _wait(self) -> int:
        return await asyncio.shield(self._end)

    def send_signal(self, number: int) -> None:
        """Also to one that has ended, reported or not yet: nothing happens then, as asyncio has it."""
        if self._status is None:
            with suppress(ProcessLookupError):
                os.kill(self._pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)
