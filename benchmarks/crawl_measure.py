"""Runs a program and measures its cost: elapsed time, and CPU time and memory of all its processes."""

import math
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import psutil

SAMPLE_S = 0.25


class Cost(NamedTuple):
    """The cost of a command and all its child processes. `peak_mb` is the peak of the sum of their memory, in which
    shared memory counts once (PSS). `cpu_s` is exact, but for processes that nobody waits for (Spark's Python
    workers): of these it is what the last sample saw."""

    wall_s: float
    cpu_s: float
    peak_mb: float


@dataclass(frozen=True)
class Limit:
    """When a program is interrupted: `seconds` after `has_begun` first returns true. It is called at each sample."""

    seconds: float
    has_begun: Callable[[], bool]


UNLIMITED = Limit(math.inf, lambda: True)


def measure(
    command: Sequence[str],
    folder: Path,
    *,
    sampled: Callable[[int], None] = lambda pss: None,
    sample_s: float = SAMPLE_S,
    limit: Limit = UNLIMITED,
) -> tuple[str, Cost]:
    """Runs a command in `folder`, and interrupts it (SIGINT) at the limit. Returns its output and its cost.

    Takes a sample every `sample_s` seconds. From the time when `limit.has_begun()` was first true until the interrupt,
    it calls `sampled` with the memory (PSS, in bytes). It ignores the exit status, since wget returns an error if one
    page of a crawl is missing.
    """
    before, began, peak = os.times(), time.monotonic(), 0
    unwaited: dict[int, float] = {}
    until: float | None = None
    is_interrupted = False
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, stdout=output, cwd=folder)
        root = psutil.Process(process.pid)
        while not _has_ended(process, sample_s):
            processes = _descendants(root)
            unwaited |= _unwaited(processes)
            pss, now = _memory([root, *processes]), time.monotonic()
            peak = max(peak, pss)
            if until is None and limit.has_begun():
                until = now + limit.seconds
            if until is not None and not is_interrupted:
                sampled(pss)
                if is_interrupted := now >= until:
                    process.send_signal(signal.SIGINT)
        wall_s, after = time.monotonic() - began, os.times()
        cpu_s = after.children_user + after.children_system - before.children_user - before.children_system
        output.seek(0)
        return output.read(), Cost(wall_s, cpu_s + sum(unwaited.values()), peak / 1e6)


def _has_ended(process: subprocess.Popen[bytes], within_s: float) -> bool:
    try:
        process.wait(within_s)
    except subprocess.TimeoutExpired:
        return False
    return True


def _descendants(root: psutil.Process) -> list[psutil.Process]:
    try:
        found: list[psutil.Process] = root.children(recursive=True)
    except psutil.Error:
        return []  # it has just ended
    return found


def _unwaited(processes: Sequence[psutil.Process]) -> dict[int, float]:
    """Returns the CPU seconds, so far, of processes whose parents ignore SIGCHLD: the system forgets those of their
    children."""
    seconds: dict[int, float] = {}
    ignoring: dict[int, bool] = {}
    for process in processes:
        try:
            parent = process.ppid()
            if parent not in ignoring:
                ignoring[parent] = _ignores_children(parent)
            if ignoring[parent]:
                times = process.cpu_times()
                seconds[process.pid] = times.user + times.system + times.children_user + times.children_system
        except (psutil.Error, OSError):
            pass  # it has just ended
    return seconds


def _ignores_children(pid: int) -> bool:
    status = Path(f"/proc/{pid}/status").read_text()
    ignored = next(line for line in status.splitlines() if line.startswith("SigIgn:"))
    return bool(int(ignored.split()[1], 16) >> (signal.SIGCHLD - 1) & 1)


def _memory(processes: Sequence[psutil.Process]) -> int:
    total = 0
    try:
        for process in processes:
            total += process.memory_full_info().pss
    except psutil.Error:
        pass  # a process has just ended: the next sample counts without it
    return total
