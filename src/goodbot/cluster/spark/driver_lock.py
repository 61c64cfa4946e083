"""Lets only one driver work on a store: it holds a record there, and renews it. Clocks of different machines are never
compared: a record that somebody else watches for as long as it is valid, and that stays the same, is dead."""

import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from goodbot.clock import passed_s
from goodbot.cluster.spark.driver_record import (
    PATH,
    DriverRecord,
    Process,
    are_together,
    format_record,
    has_ended,
    parse_record,
    this_process,
)
from goodbot.cluster.spark.store_files import StoreFiles, Tagged
from goodbot.errors import BusyError, GoodbotError, RunError
from goodbot.human import counted

_LOG: Final = logging.getLogger(__name__)
_RETRY_S: Final = 1.0
"""How often a renewal is tried again after an error."""
_COMMAND_CHARS: Final = 200


class DriverLock:
    """The lock of a store, which this driver holds. `check` must be called before each change of the store that others
    can see."""

    def __init__(self, files: StoreFiles, record: DriverRecord, tag: str, renew_s: float) -> None:
        self._files = files
        self._record = record
        self._tag = tag
        self._renew_s = renew_s
        self._taken_by: str | None = None
        self._failure = ""
        self._writing = threading.Lock()
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="driver lock", daemon=True)

    @property
    def holds(self) -> bool:
        """Whether no other driver can have taken the lock."""
        return not self._ending.is_set() and self._is_valid()

    def check(self) -> None:
        """Raises RunError if another driver has taken the lock, or may have taken it since the store was away. A lock
        that was not renewed in time is renewed first: if that succeeds, nobody has taken it."""
        if self._ending.is_set():
            raise RunError(f"this driver has given back the lock of {self._files.url}")
        if not self._is_valid():
            self._renew()
        if self._taken_by is not None:
            raise RunError(f"{self._taken_by}, so this driver stops: run the command again when the other has ended")
        if not self._is_valid():
            raise RunError(
                f"{self._files.url} could not be written for {self._record.valid_s:.0f} seconds, so another driver may"
                f" have taken it over: {self._failure or 'the lock was not renewed'}; run the command again"
            )

    def start(self) -> None:
        """Begins to renew the lock, in a thread of its own."""
        self._thread.start()

    def release(self) -> None:
        """Ends the renewals, and gives the lock back if the store can be written now; else it ends by itself."""
        self._ending.set()
        self._thread.join(self._renew_s)
        if not self._writing.acquire(timeout=self._renew_s):
            return  # the store does not answer
        try:
            if self._is_valid():
                self._write(is_released=True)
        except GoodbotError as error:
            _LOG.warning("the lock of %s was not released: %s", self._files.url, error)
        finally:
            self._writing.release()

    def _is_valid(self) -> bool:
        return self._taken_by is None and passed_s() - self._record.passed_s < self._record.valid_s

    def _run(self) -> None:
        pause_s = self._renew_s
        while not self._ending.wait(pause_s):
            pause_s = self._renew_s if self._renew() else min(self._renew_s, _RETRY_S)
            if self._taken_by is not None:
                break

    def _renew(self) -> bool:
        """Renews the record. Returns whether that succeeded."""
        with self._writing:
            if self._taken_by is not None or self._ending.is_set():
                return False
            try:
                return self._write() or (self._is_still_ours() and self._write())
            except GoodbotError as error:
                if not self._failure:
                    _LOG.warning("the lock of %s was not renewed: %s", self._files.url, error)
                self._failure = str(error)
                return False

    def _write(self, *, is_released: bool = False) -> bool:
        record = replace(self._record, beat=self._record.beat + 1, passed_s=passed_s(), is_released=is_released)
        tag = self._files.write_if(PATH, format_record(record), self._tag)
        if tag is None:
            return False
        self._record, self._tag, self._failure = record, tag, ""
        return True

    def _is_still_ours(self) -> bool:
        """Whether the record is one of this driver that was written although its answer was lost: then it counts."""
        found = self._files.read_tagged(PATH)
        if found is None:
            self._taken_by = f"{self._files.url}/{PATH} was removed"
            return False
        record = parse_record(found.data, self._files.url)
        if record.driver != self._record.driver:
            self._taken_by = f"{record.holder} has taken over {self._files.url}"
            return False
        self._record, self._tag = record, found.tag
        return True


@contextmanager
def driver_lock(
    files: StoreFiles,
    command: str,
    say: Callable[[str], None],
    *,
    valid_s: float = 30.0,
    renew_s: float = 10.0,
    process: Process | None = None,
) -> Iterator[DriverLock]:
    """Holds the lock of a store during the block. `command` is what this driver runs, `process` where (this process).

    If a driver on another machine may still run, waits up to the time for which its record is valid (30 seconds), and
    says so before, in one line. Raises BusyError if another driver runs, DamagedError if its record cannot be read.
    """
    here = process or this_process()
    shown = " ".join(command.split())[:_COMMAND_CHARS]
    lock = _taken(files, DriverRecord(os.urandom(16).hex(), here, shown, 0, 0.0, valid_s), say, renew_s)
    lock.start()
    try:
        yield lock
    finally:
        lock.release()


def _taken(files: StoreFiles, ours: DriverRecord, say: Callable[[str], None], renew_s: float) -> DriverLock:
    watch = _Watch(files.url, ours.process, say)
    while True:
        found = files.read_tagged(PATH)
        pause_s = watch.pause_s(found)
        if pause_s:
            time.sleep(pause_s)
            continue
        record = replace(ours, passed_s=passed_s())
        tag = files.write_if(PATH, format_record(record), None if found is None else found.tag)
        if tag is not None:
            return DriverLock(files, record, tag, renew_s)


class _Watch:
    """Watches the record in the store at `url` until it shows whether its driver runs."""

    def __init__(self, url: str, here: Process, say: Callable[[str], None]) -> None:
        self._url = url
        self._here = here
        self._say = say
        self._tag: str | None = None
        self._since_s = self._last_s = 0.0

    def pause_s(self, found: Tagged | None) -> float:
        """Returns 0 if the record that was just read can be replaced, else the seconds after which it must be read
        again. Raises BusyError if its driver runs."""
        now_s = passed_s()
        record = None if found is None else parse_record(found.data, self._url)
        if found is None or record is None or self._is_free(record, now_s):
            self._tag = ""  # if it has changed when it is read next, somebody has written it just now
        elif self._tag is None:
            self._tag, self._since_s = found.tag, now_s
            self._say(
                f"{record.holder} holds the lock of {self._url}: waiting up to {record.valid_s:.0f} seconds to see"
                " whether it still runs"
            )
        elif self._tag != found.tag:
            raise self._busy(record, now_s - self._last_s)
        elif now_s - self._since_s >= record.valid_s:
            self._tag = ""
        self._last_s = now_s
        return min(1.0, record.valid_s / 10) if record is not None and self._tag else 0.0

    def _is_free(self, record: DriverRecord, now_s: float) -> bool:
        """Decides without waiting, where that is possible."""
        if record.is_released or has_ended(record.process, self._here):
            return True
        if not are_together(record.process, self._here):
            return False
        age_s = now_s - record.passed_s
        if age_s < record.valid_s:
            raise self._busy(record, age_s)
        return True

    def _busy(self, record: DriverRecord, age_s: float) -> BusyError:
        return BusyError(
            f"another driver works on {self._url}: {record.holder} renewed its lock"
            f" {counted(round(age_s), 'second')} ago; wait until it ends, or stop it"
        )
