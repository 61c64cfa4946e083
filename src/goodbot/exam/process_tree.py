"""Runs the examined crawler: starts it, reads its output, finds and measures its processes, stops them if necessary."""

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
_NEW_PROCESS_S: Final = 1.0
"""A process is looked at again until this age: between fork and exec its environment is that of its parent."""
TERM_WAIT_S: Final = 5.0
"""How long processes may take to end after SIGTERM."""
TAIL_BYTES: Final = 64 * 1024
"""The last bytes of the output, which are always kept."""
LOG_LIMIT_BYTES: Final = 256 * 1024 * 1024
MARK: Final = "EXAM_DRIVE_ID"
"""The environment variable that identifies processes whose parents have ended."""

_PIECE_BYTES: Final = 64 * 1024
_MAX_LAST_PIECES: Final = 64
_KILL_WAIT_S: Final = 2.0


class Output:
    """Takes the output of a command. It keeps the end, and writes everything to `log` if there is one.

    It writes at most `limit_bytes` to the log. `fault` says why the log could not be written.
    """

    def __init__(self, log: Path | None = None, limit_bytes: int = LOG_LIMIT_BYTES) -> None:
        self.fault: str | None = None
        self._tail = bytearray()
        self._left = limit_bytes
        self._LOG: BinaryIO | None = None
        if log is not None:
            try:
                self._LOG = log.open("wb")
            except OSError as error:
                raise InputError(f"cannot write {log}: {error.strerror}") from error

    @property
    def tail(self) -> str:
        """The last 64 KiB as text."""
        return self._tail.decode(errors="replace")

    def add(self, data: bytes) -> None:
        self._tail += data
        del self._tail[:-TAIL_BYTES]
        if self._LOG is not None and self._left > 0:
            kept = data[: self._left]
            self._left -= len(kept)
            self._write(kept if self._left else kept + b"\n[the rest is not kept]\n")

    def close(self) -> None:
        if self._LOG is not None:
            try:
                self._LOG.close()
            except OSError as error:
                self.fault = self.fault or error.strerror or str(error)
            self._LOG = None

    def _write(self, data: bytes) -> None:
        assert self._LOG is not None  # noqa: S101  (`add` checks)
        try:
            self._LOG.write(data)
            self._LOG.flush()
        except OSError as error:
            self.fault = error.strerror or str(error)
            self._left = 0


class ProcessTree:
    """Finds all processes that the commands of one drive started, including those that outlive or leave their parents.

    A process belongs to the drive if its parent does, or if its environment has our mark, which is inherited. Other
    processes are never touched. A process that empties its environment and loses its parent between two samples is not
    found. Memory is the sum of the resident sets at one moment, in bytes; CPU time is in seconds.
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
        """User and system time: the sum of the last samples of each process, or the system's count for processes that
        ended under their parents, whichever is larger."""
        seen = self._past_cpu_s + sum(cpu_s for _, cpu_s in self._alive.values())
        return max(seen, _reaped_cpu_s() - self._reaped_before_s)

    def sample(self) -> None:
        """Measures all processes once. `found` says whether there were any, even one that ended before it was measured:
        it may have left children."""
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
        """Sends a signal to all live processes. psutil makes sure that a reused process id does not get it."""
        for process, _ in self._alive.values():
            try:
                process.send_signal(number)
            except psutil.Error:
                pass  # it has just ended, or now belongs to another user: the next sample shows

    def _find(self) -> None:
        pids = set(psutil.pids())
        new = set[int]()
        for pid in sorted(pids - self._looked_at):  # parents come before their children
            try:
                process = psutil.Process(pid)
                if process.ppid() in self._alive or process.environ().get(MARK) == self.environment[MARK]:
                    self._alive[pid] = (process, 0.0)
                elif time.time() - process.create_time() < _NEW_PROCESS_S:
                    new.add(pid)
            except psutil.Error:
                continue  # it has ended, or is not ours
        self._looked_at = pids - new

    def adopt(self, pid: int) -> None:
        """Adds the command itself, whatever its environment says at this moment."""
        try:
            self._alive[pid] = (psutil.Process(pid), 0.0)
        except psutil.Error:
            pass  # it has ended already


class ExaminedCrawler:
    """One running command, in its own session, without standard input."""

    def __init__(self, process: subprocess.Popen[bytes], tree: ProcessTree, output: Output, pipe: int) -> None:
        self._process = process
        self._tree = tree
        self._output = output
        self._pipe: int | None = pipe
        self._samples_without_process = 0
        asyncio.get_running_loop().add_reader(pipe, self._read)

    @classmethod
    def start(cls, command: Sequence[str], tree: ProcessTree, output: Output) -> Self:
        """Starts a command. Raises InputError if it does not exist or cannot be run."""
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
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise InputError(f"cannot run {command[0]!r}: {reason}") from error
        finally:
            os.close(writing)
        tree.adopt(process.pid)
        return cls(process, tree, output, reading)

    @property
    def status(self) -> int | None:
        """The exit status of the command itself, or minus the signal that ended it, or None while it runs."""
        return self._process.returncode

    def sample(self) -> bool:
        """Measures, and returns whether anything still runs. One sample may miss a process that is just leaving its
        parent, so it takes two without any."""
        ended = self._process.poll() is not None
        self._tree.sample()
        self._samples_without_process = self._samples_without_process + 1 if ended and not self._tree.found else 0
        return self._samples_without_process < 2

    async def stop(self, clock: Clock) -> None:
        """Sends SIGTERM to all that still run, and SIGKILL after five seconds, or at once if it is cancelled."""
        try:
            self._tree.send(signal.SIGTERM)
            until = clock.now() + TERM_WAIT_S
            while self.sample() and clock.now() < until:
                await clock.sleep(SAMPLE_S)
        finally:
            self._kill()
            self._close()

    def _kill(self) -> None:
        until = time.monotonic() + _KILL_WAIT_S
        while self.sample() and time.monotonic() < until:
            self._tree.send(signal.SIGKILL)
            time.sleep(SAMPLE_S / 10)

    def _read(self) -> bool:
        """Reads some output; returns whether there was any."""
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
        for _ in range(_MAX_LAST_PIECES):
            if not self._read():
                break
        self._leave_pipe()

    def _leave_pipe(self) -> None:
        if self._pipe is not None:
            asyncio.get_running_loop().remove_reader(self._pipe)
            os.close(self._pipe)
            self._pipe = None


def _measure(process: psutil.Process) -> tuple[int, float] | None:
    """Returns resident bytes and CPU seconds, or None if the process has ended."""
    try:
        with process.oneshot():
            if process.status() == psutil.STATUS_ZOMBIE or not process.is_running():
                return None
            times = process.cpu_times()
            return process.memory_info().rss, times.user + times.system
    except psutil.AccessDenied:
        return 0, 0.0  # it now belongs to another user: it is alive, but cannot be measured
    except psutil.Error:
        return None


def _reaped_cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
