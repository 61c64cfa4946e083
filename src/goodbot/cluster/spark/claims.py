"""Lets only one process run a fetch task, although Spark runs a task again that seems lost: a machine that is cut off
from the driver may still be sending requests.

A task has a file in the store that names its latest attempt. An attempt that finds its name there may send requests for
`VALID_S`; it looks again every `LOOK_S`. A new attempt writes its own name and then waits for `VALID_S`, by
which time the one before it has looked, unless it knows that the process of that one has ended.
"""

import asyncio
import os
import secrets
import socket
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from goodbot.clock import passed_s
from goodbot.cluster.spark.store_files import StoreFiles
from goodbot.errors import RunError

LOOK_S: Final = 5.0
VALID_S: Final = 20.0
"""An attempt that cannot look, since the store does not answer, stops sending requests after `VALID_S`."""

_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")


class Attempt(NamedTuple):
    """One attempt to run a task: the process that runs it, and its machine since its last start."""

    id: str
    machine: str
    pid: int


_DECODER: Final = msgspec.json.Decoder(Attempt)


class TaskLostError(RunError):
    """Another attempt has taken over the task."""


class TaskClaim:
    """The claim of this process on a task, in the file `path`. `until`: it may send requests until then
    (`passed_s`)."""

    def __init__(self, files: StoreFiles, path: str) -> None:
        self._files = files
        self._path = path
        self.attempt = Attempt(secrets.token_hex(8), _machine(), os.getpid())
        self.until = 0.0

    def take(self) -> float | None:
        """Writes the claim. Returns how many seconds to wait before the first request; None: no attempt came before
        this one. Blocks; raises RunError if the store cannot be used."""
        data = msgspec.json.encode(self.attempt)
        while True:
            before = self._files.read_tagged(self._path)
            looked_at = passed_s()
            if self._files.write_if(self._path, data, None if before is None else before.tag) is not None:
                self.until = looked_at + VALID_S
                return None if before is None else _wait_s(before.data)

    async def keep(self) -> None:
        """Keeps looking. Ends with TaskLostError when another attempt has taken the task."""
        while True:
            await asyncio.sleep(LOOK_S)
            looked_at = passed_s()
            try:
                data = await asyncio.to_thread(self._files.read, self._path)
            except RunError:
                continue  # the right to send requests ends by itself
            if data is None or _attempt_in(data) != self.attempt:
                raise TaskLostError(f"another process has taken over {self._path}")
            self.until = looked_at + VALID_S


def _machine() -> str:
    try:
        return f"{socket.gethostname()} {_BOOT_ID.read_text().strip()}"
    except OSError:  # not on Linux: without this, an attempt is never known to be gone
        return secrets.token_hex(8)


def _attempt_in(data: bytes) -> Attempt | None:
    """Returns the attempt that a claim names; None if the file is damaged."""
    try:
        return _DECODER.decode(data)
    except msgspec.MsgspecError:
        return None


def _wait_s(before: bytes) -> float:
    """Returns how long the attempt before may still send requests."""
    attempt = _attempt_in(before)
    if attempt is not None and attempt.machine == _machine() and not Path(f"/proc/{attempt.pid}").exists():
        return 0.0
    return VALID_S
