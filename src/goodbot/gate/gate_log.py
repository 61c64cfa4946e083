"""Writes one JSON line for each decision, in a form that `goodbot watch` reads."""

import errno
import logging
import os
import sys
import threading
from collections import deque
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from goodbot.errors import InputError, RunError
from goodbot.gate.decision import Decision
from goodbot.gate.gate_request import GateRequest

WRITE_EVERY_S: Final = 0.2
MOST_WAITING_BYTES: Final = 16 * 1024 * 1024
"""Lines that wait while the disk is slow. Beyond that, lines are lost and counted."""

_log: Final = logging.getLogger(__name__)


class _Line(msgspec.Struct, omit_defaults=True):
    time: str
    client_ip: str
    host: str
    method: str
    uri: str
    status: int
    user_agent: str
    decision: str
    identity: str
    robot: str = ""
    proof: str = ""
    rule: str = ""
    retry_after_s: int = 0
    meant: int = 0
    """In mode `observe`: the status that the gate would have answered."""
    signature_input: str | None = None
    signature: str | None = None
    signature_agent: str | None = None


_encode: Final = msgspec.json.Encoder().encode


def log_line(request: GateRequest, decision: Decision, status: int, now: float) -> bytes:
    """Returns the line of a decision at a time (Unix seconds), with its end. `status` is what was answered. Octets that
    are not UTF-8 become U+FFFD. Takes about 5 µs."""
    signature = request.signature
    line = _Line(
        _time(now),
        request.client or "-",
        _readable(request.authority),
        _readable(request.method),
        _readable(request.target),
        status,
        _readable(request.user_agent),
        decision.code,
        decision.client.identity,
        decision.client.name,
        decision.client.proof,
        decision.rule,
        decision.retry_after_s,
        decision.status if decision.status != status else 0,
    )
    if signature is not None:
        line.signature_input = _readable(signature.signature_input or "")
        line.signature = _readable(signature.signature or "") or None
        line.signature_agent = _readable(signature.signature_agent or "") or None
    return _encode(line) + b"\n"


def _readable(text: str) -> str:
    return text if text.isascii() else text.encode("latin-1", "replace").decode("utf-8", "replace")


def _time(now: float) -> str:
    return datetime.fromtimestamp(now, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class DecisionLog:
    """Writes lines in a thread of its own, so that a slow disk keeps no request waiting.

    A file that was moved away (logrotate) is made anew. If a line cannot be written, it is lost and counted, and the
    gate goes on.
    """

    def __init__(self, file: Path | None) -> None:
        """None: standard output. Raises InputError or RunError if the file cannot be opened."""
        self._file = file
        self._descriptor = self._opened() if file is not None else sys.stdout.fileno()
        self._waiting: deque[bytes] = deque()
        self._taken_bytes = 0  # written by the thread only, and the next by the callers only
        self._given_bytes = 0
        self._wake = threading.Event()
        self._has_ended = False
        self._is_failing = False
        self._is_torn = False  # whether the file ends within a line
        self._dropped = 0  # lines that found no place, counted by the callers
        self._failed = 0  # lines that could not be written, counted by the thread
        self._thread = threading.Thread(target=self._run, name="goodbot-gate-log", daemon=True)
        self._thread.start()

    @property
    def lost(self) -> int:
        """Lines that could not be written."""
        return self._dropped + self._failed

    def write(self, line: bytes) -> None:
        """Hands over a line. Never waits. After `close`, the line is lost."""
        if self._has_ended or self._given_bytes - self._taken_bytes > MOST_WAITING_BYTES:
            self._dropped += 1
            return
        self._waiting.append(line)
        self._given_bytes += len(line)

    def close(self, timeout_s: float = 5.0) -> None:
        """Writes what waits, for at most `timeout_s`, and closes the file."""
        self._has_ended = True
        self._wake.set()
        self._thread.join(timeout_s)
        if self._thread.is_alive():
            _log.error("the log takes no more lines: the last decisions are not logged")

    def _run(self) -> None:
        while not self._has_ended:
            self._wake.wait(WRITE_EVERY_S)
            self._write_waiting()
        self._write_waiting()
        if self._file is not None:
            os.close(self._descriptor)

    def _write_waiting(self) -> None:
        lines: list[bytes] = []
        while self._waiting:
            lines.append(self._waiting.popleft())
        if not lines:
            return
        data = b"".join(lines)
        rest: bytes | memoryview = data
        try:
            self._follow_rotation()
            if self._is_torn:
                os.write(self._descriptor, b"\n")
                self._is_torn = False
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
            self._is_failing = False
        except (OSError, InputError, RunError) as error:
            written = data[: len(data) - len(rest)]
            self._is_torn = self._is_torn or written[-1:] not in (b"", b"\n")
            self._failed += len(lines) - written.count(b"\n")
            if not self._is_failing:
                what = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
                _log.error("decisions cannot be logged: %s; the gate continues without", what)
            self._is_failing = True
        self._taken_bytes += len(data)

    def _follow_rotation(self) -> None:
        """Opens the file again if its name does not lead to it any more."""
        if self._file is None:
            return
        opened = os.fstat(self._descriptor)
        try:
            named = self._file.stat()
        except FileNotFoundError:
            named = None
        if named is None or (named.st_dev, named.st_ino) != (opened.st_dev, opened.st_ino):
            before, self._descriptor, self._is_torn = self._descriptor, self._opened(), False
            os.close(before)

    def _opened(self) -> int:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK  # a FIFO would wait for a reader
        try:
            descriptor = os.open(str(self._file), flags, 0o640)
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:
            raise InputError(f"cannot write {self._file}: {error.strerror}") from error
        except OSError as error:
            reason = "nobody reads this pipe" if error.errno == errno.ENXIO else error.strerror
            raise RunError(f"cannot write {self._file}: {reason}") from error
        os.set_blocking(descriptor, True)
        return descriptor
