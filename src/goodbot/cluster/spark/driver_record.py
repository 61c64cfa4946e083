"""The record by which a driver holds the lock of a store, and what it says about the process that wrote it."""

import os
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from goodbot.errors import DamagedError

PATH: Final = "driver.json"
LONGEST_S: Final = 3600.0
"""A record is valid for at most an hour: somebody may wait for its end."""

_Text = Annotated[str, Meta(max_length=1000)]


@dataclass(frozen=True, slots=True)
class Process:
    """A process. `machine` names the start of its machine and the processes that it can see; empty if the system does
    not say. `started` is when the process started, as its machine counts."""

    host: _Text
    machine: _Text
    pid: Annotated[int, Meta(gt=0)]
    started: _Text


@dataclass(frozen=True, slots=True)
class DriverRecord:
    """What `driver.json` says. `driver` is a random id, `beat` counts the renewals. `passed_s` is the clock of the
    machine when the record was written (`clock.passed_s`): only processes of that machine may compare it. A driver that
    does not renew the record for `valid_s` seconds is dead."""

    driver: _Text
    process: Process
    command: _Text
    beat: int
    passed_s: float
    valid_s: Annotated[float, Meta(gt=0, le=LONGEST_S)]
    is_released: bool = False

    @property
    def holder(self) -> str:
        """Names the driver for a message."""
        return f"`{self.command}` on {self.process.host} (process {self.process.pid})"


def format_record(record: DriverRecord) -> bytes:
    """Returns the content of `driver.json`."""
    return msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n"


def parse_record(data: bytes, url: str) -> DriverRecord:
    """Reads the content of `driver.json` in the store at `url`. Raises DamagedError."""
    try:
        return msgspec.json.decode(data, type=DriverRecord)
    except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError) as error:
        raise DamagedError(f"{url}/{PATH} is damaged: if no driver runs on this store, remove it") from error


def this_process() -> Process:
    """Returns the process that calls it."""
    pid = os.getpid()
    return Process(socket.gethostname(), _this_machine(), pid, _started(pid))


def has_ended(process: Process, here: Process) -> bool:
    """Whether `process` has ended. False if `here`, a process of this machine, cannot see it."""
    if not are_together(process, here):
        return False
    try:
        os.kill(process.pid, 0)
    except (ProcessLookupError, OverflowError):
        return True
    except PermissionError:
        return False
    started = _started(process.pid)
    return bool(started and process.started) and started != process.started


def are_together(one: Process, other: Process) -> bool:
    """Whether both ran on the same machine since its start, see the same processes, and have the same clock."""
    return one.machine != "" and (one.host, one.machine) == (other.host, other.machine)


def _this_machine() -> str:
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:  # not Linux
        return ""
    return " ".join([boot, *(_namespace(kind) for kind in ("pid", "time"))])


def _namespace(kind: str) -> str:
    """Containers may have processes and a clock of their own."""
    try:
        return os.readlink(f"/proc/self/ns/{kind}")
    except OSError:  # an old kernel
        return ""


def _started(pid: int) -> str:
    """Returns when a process was started; `ended` if it has ended and its parent has not noticed; empty if it cannot be
    seen."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    fields = text.rpartition(")")[2].split()  # from the third, the state, on (proc_pid_stat(5))
    return "ended" if fields[0] in "ZX" else fields[19]
