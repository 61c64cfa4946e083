"""Finds out which logs have changed while servers write them (`--follow`)."""

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from goodbot.watch.reader.log_files import find_logs, is_compressed_name, rotated_logs

LOOK_S: Final = 0.5
"""Seconds between two looks."""

MOST_OPEN: Final = 200
"""Logs that are kept open, so that they can be read to their end after they were moved or removed."""

MOST_QUIET: Final = 1200
"""Looks without anything new after which a log that was moved or removed is closed."""

_BY_NUMBER: Final = Path("/dev/fd")
"""Open files have a path here, even if they have no other one any more."""


@dataclass(frozen=True, slots=True)
class ChangedLogs:
    """Logs that are new or have changed since the last look."""

    logs: tuple[str, ...] = ()
    rotated: tuple[str, ...] = ()
    """Files that have the name of a log and a number or a date. A followed log may have been renamed or copied to one;
    the others are from before."""
    gone: tuple[str, ...] = ()
    """Logs that were followed and do not have their name any more: the paths of open files."""


class FollowedLogs:
    """Looks at logs again and again: at files, and at folders, in which new logs may appear. Close it after use."""

    def __init__(self, names: Sequence[str], root: Path = Path("/")) -> None:
        self._names = names
        self._root = root
        self._seen: dict[str, _Seen] = {}
        self._open: dict[str, BinaryIO] = {}
        self._gone: list[_Gone] = []

    def look(self) -> ChangedLogs:
        """Returns what has changed; at the first look, everything.

        A compressed file counts only if it has not changed between two looks: else its content may not be complete.
        Raises InputError if a folder cannot be listed.
        """
        is_first = not self._seen
        logs = dict.fromkeys(find_logs(self._names, self._root, may_be_none=True).logs)
        rotated = dict.fromkeys(path for log in logs for path in _rotated(log) if path not in logs)
        before, self._seen = self._seen, {}
        changed = [path for path in (*logs, *rotated) if self._is_changed(path, before.get(path), is_first)]
        self._keep_open(logs)
        return ChangedLogs(
            tuple(path for path in changed if path in logs),
            tuple(path for path in changed if path in rotated),
            tuple(self._changed_since_gone()),
        )

    def close(self) -> None:
        """Closes all files."""
        for file in (*self._open.values(), *(one.file for one in self._gone)):
            file.close()
        self._open, self._gone = {}, []

    def _is_changed(self, path: str, seen: "_Seen | None", is_first: bool) -> bool:
        try:
            info = Path(path).stat()
        except OSError:  # it is not there yet, or not there any more
            return False
        stamp = _stamp(info)
        is_same = seen is not None and seen.stamp == stamp
        if seen is not None and is_same and seen.is_reported:
            self._seen[path] = seen
            return False
        is_reported = is_first or is_same or not is_compressed_name(path)
        self._seen[path] = _Seen(stamp, is_reported)
        return is_reported

    def _keep_open(self, logs: Iterable[str]) -> None:
        """Opens logs, and notices which ones do not have their name any more."""
        for path, file in list(self._open.items()):
            seen = self._seen.get(path)
            if seen is None or seen.stamp[:2] != _stamp(os.fstat(file.fileno()))[:2]:
                self._gone.append(_Gone(self._open.pop(path)))
        for path in logs:
            if path not in self._open and len(self._open) < MOST_OPEN and not is_compressed_name(path):
                try:
                    if stat.S_ISREG(os.stat(path).st_mode) and _BY_NUMBER.is_dir():
                        self._open[path] = open(path, "rb", buffering=0)  # noqa: SIM115  (`close` closes it)
                except OSError:  # it was renamed in this moment
                    continue

    def _changed_since_gone(self) -> Iterator[str]:
        for one in self._gone:
            stamp = _stamp(os.fstat(one.file.fileno()))
            one.quiet = one.quiet + 1 if stamp == one.stamp else 0
            one.stamp = stamp
            if one.quiet > MOST_QUIET:
                one.file.close()
            elif not one.quiet:
                yield str(_BY_NUMBER / str(one.file.fileno()))
        self._gone = [one for one in self._gone if not one.file.closed]


Stamp = tuple[int, int, int, int]
"""What changes with the content of a file: device, number, bytes, and when it was written."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """A file at the last look, and whether `look` has reported it."""

    stamp: Stamp
    is_reported: bool


@dataclass(slots=True)
class _Gone:
    """A log that does not have its name any more, and for how many looks it has not changed."""

    file: BinaryIO
    stamp: Stamp | None = None
    quiet: int = 0


def _stamp(info: os.stat_result) -> Stamp:
    return info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns


def _rotated(log: str) -> list[str]:
    try:
        return rotated_logs(Path(log))
    except OSError:  # the folder is not there yet
        return []
