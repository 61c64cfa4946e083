"""The examined crawler: started, its output drained, its processes found and measured, stopped if need be."""

import asyncio
import os
import resource
import secrets
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, Final, Self

import psutil

from goodbot.errors import InputError
from goodbot.ports import Clock

SAMPLE_S: Final = 0.1
_YOUNG_S: Final = 1.0
"""For so long a new process is looked at again: between fork and exec its environment is not its own."""
GRACE_S: Final = 5.0
"""How long processes may take to end once they got SIGTERM."""
TAIL_BYTES: Final = 64 * 1024
"""The end of the output, which is always kept."""
LOG_LIMIT_BYTES: Final = 256 * 1024 * 1024
MARK: Final = "EXAM_DRIVE_ID"
"""The environment variable by which processes are known whose parents have gone."""

_PIECE_BYTES: Final = 64 * 1024
_LAST_PIECES: Final = 64
_KILL_S: Final = 2.0


class Output:
    """What a command prints: always read, so that it never waits; its end kept, all of it written to `log` if given.

    Of a log at most `limit_bytes` are written. `fault` says why it could not be written to its end.
    """

    def __init__(self, log: Path | None = None, limit_bytes: int = LOG_LIMIT_BYTES) -> None:
        self.fault: str | None = None
        self._tail = bytearray()
        self._left = limit_bytes
        self._log: BinaryIO | None = None
        if log is not None:
            try:
                self._log = log.open("wb")
            except OSError as error:
                raise InputError(f"cannot write {log}: {error.strerror}") from error

    @property
    def tail(self) -> str:
        """The last 64 KiB, as text."""
        return self._tail.decode(errors="replace")

    def add(self, data: bytes) -> None:
        self._tail += data
        del self._tail[:-TAIL_BYTES]
        if self._log is not None and self._left > 0:
            kept = data[: self._left]
            self._left -= len(kept)
            self._write(kept if self._left else kept + b"\n[the rest is not kept]\n")

    def close(self) -> None:
        if self._log is not None:
            try:
                self._log.close()
            except OSError as error:
                self.fault = self.fault or error.strerror or str(error)
            self._log = None

    def _write(self, data: bytes) -> None:
        assert self._log is not None  # noqa: S101  (`add` asks)
        try:
            self._log.write(data)
            self._log.flush()
        except OSError as error:
            self.fault = error.strerror or str(error)
            self._left = 0


class ProcessTree:
    """All processes that come from the commands of one drive, also those that outlive or leave their parents.

    A process is one of them if its parent is, or if its environment has our mark, which is inherited. Others are never
    touched; one that empties its environment and loses its parent between two samples is not found. Memory is the sum
    of the resident sets at one moment, in bytes; CPU is in seconds.
    """

    def __init__(self) -> None:
        self.environment = {MARK: secrets.token_hex(16)}
        self.found = False
        self.memory_bytes = 0
        self.peak_bytes = 0
        self._past_cpu_s = 0.0
        self._reaped_before_s = _reaped_cpu_s()
        self._alive: dict[int, tuple[psutil.Process, float]] = {}
        self._looked_at = set(psutil.pids())

    @property
    def cpu_s(self) -> float:
        """User and system time: what each process was last seen with, or what the system counted of those that ended
        under their parents, whichever is more."""
        seen = self._past_cpu_s + sum(cpu_s for _, cpu_s in self._alive.values())
        return max(seen, _reaped_cpu_s() - self._reaped_before_s)

    def sample(self) -> None:
        """Looks at all processes once. `found` says whether any was there, if only until it was measured: it may have
        left children."""
        self._find()
        self.found = bool(self._alive)
        self.memory_bytes = 0
        for pid, (process, last_s) in list(self._alive.items()):
            measured = _measure(process)
            if measured is None:
                self._past_cpu_s += last_s
                del self._alive[pid]
            else:
                self.memory_bytes += measured[0]
                self._alive[pid] = (process, measured[1])
        self.peak_bytes = max(self.peak_bytes, self.memory_bytes)

    def send(self, number: signal.Signals) -> None:
        """A signal to all that live. psutil makes sure that a number used again is not taken for the old process."""
        for process, _ in self._alive.values():
            try:
                process.send_signal(number)
            except psutil.Error:
                pass  # it has just ended, or has become another user's: the next sample tells

    def _find(self) -> None:
        pids = set(psutil.pids())
        young = set[int]()
        for pid in sorted(pids - self._looked_at):  # parents come before their children
            try:
                process = psutil.Process(pid)
                if process.ppid() in self._alive or process.environ().get(MARK) == self.environment[MARK]:
                    self._alive[pid] = (process, 0.0)
                elif time.time() - process.create_time() < _YOUNG_S:
                    young.add(pid)
            except psutil.Error:
                continue  # gone already, or none of ours
        self._looked_at = pids - young

    def adopt(self, pid: int) -> None:
        """The command itself is one of them, whatever its environment says at this moment."""
        try:
            self._alive[pid] = (psutil.Process(pid), 0.0)
        except psutil.Error:
            pass  # it has ended already


class ExaminedCrawler:
    """One command under way, in a session of its own, without standard input."""

    def __init__(self, process: subprocess.Popen[bytes], tree: ProcessTree, output: Output, pipe: int) -> None:
        self._process = process
        self._tree = tree
        self._output = output
        self._pipe: int | None = pipe
        self._quiet = 0
        asyncio.get_running_loop().add_reader(pipe, self._read)

    @classmethod
    def start(cls, command: Sequence[str], tree: ProcessTree, output: Output) -> Self:
        """Raises InputError if there is no such command, or it cannot be run."""
        reading, writing = os.pipe()
        os.set_blocking(reading, False)
        try:
            process = subprocess.Popen(  # noqa: S603  (the user's own command, no shell)
                command,
                stdin=subprocess.DEVNULL,
                stdout=writing,
                stderr=writing,
                env={**os.environ, **tree.environment},
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            os.close(reading)
            what = error.strerror if isinstance(error, OSError) else str(error)
            raise InputError(f"cannot run {command[0]!r}: {what}") from error
        finally:
            os.close(writing)
        tree.adopt(process.pid)
        return cls(process, tree, output, reading)

    @property
    def status(self) -> int | None:
        """Exit status of the command itself; minus the signal that ended it; None: it still runs."""
        return self._process.returncode

    def sample(self) -> bool:
        """Measures; gives whether anything still runs. One look may miss a process that is just leaving its parent."""
        ended = self._process.poll() is not None
        self._tree.sample()
        self._quiet = self._quiet + 1 if ended and not self._tree.found else 0
        return self._quiet < 2

    async def stop(self, clock: Clock) -> None:
        """SIGTERM to all that still runs, five seconds later SIGKILL; at once if cancelled meanwhile."""
        try:
            self._tree.send(signal.SIGTERM)
            until = clock.now() + GRACE_S
            while self.sample() and clock.now() < until:
                await clock.sleep(SAMPLE_S)
        finally:
            self._kill()
            self._close()

    def _kill(self) -> None:
        until = time.monotonic() + _KILL_S
        while self.sample() and time.monotonic() < until:
            self._tree.send(signal.SIGKILL)
            time.sleep(SAMPLE_S / 10)

    def _read(self) -> bool:
        """Whether something came."""
        if self._pipe is None:
            return False
        try:
            data = os.read(self._pipe, _PIECE_BYTES)
        except BlockingIOError:
            return False
        if data:
            self._output.add(data)
        else:
            self._leave_pipe()
        return bool(data)

    def _close(self) -> None:
        for _ in range(_LAST_PIECES):
            if not self._read():
                break
        self._leave_pipe()

    def _leave_pipe(self) -> None:
        if self._pipe is not None:
            asyncio.get_running_loop().remove_reader(self._pipe)
            os.close(self._pipe)
            self._pipe = None


def _measure(process: psutil.Process) -> tuple[int, float] | None:
    """Resident bytes and CPU seconds; None if it has ended."""
    try:
        with process.oneshot():
            if process.status() == psutil.STATUS_ZOMBIE or not process.is_running():
                return None
            times = process.cpu_times()
            return process.memory_info().rss, times.user + times.system
    except psutil.AccessDenied:
        return 0, 0.0  # another user's by now: it lives, and cannot be measured
    except psutil.Error:
        return None


def _reaped_cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
