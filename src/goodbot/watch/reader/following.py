"""Finds out which logs have changed while servers write them (`--follow`)."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from goodbot.watch.reader.log_files import find_logs, is_compressed_name, rotated_logs

LOOK_S: Final = 0.5
"""Seconds between two looks."""


@dataclass(frozen=True, slots=True)
class ChangedLogs:
    """Logs that are new or have changed since the last look."""

    logs: tuple[str, ...] = ()
    rotated: tuple[str, ...] = ()
    """Files that have the name of a log and a number or a date. A followed log may have been renamed or copied to one;
    the others are from before."""


class FollowedLogs:
    """Looks at logs again and again: at files, and at folders, in which new logs may appear."""

    def __init__(self, names: Sequence[str], root: Path = Path("/")) -> None:
        self._names = names
        self._root = root
        self._seen: dict[str, _Seen] = {}

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
        return ChangedLogs(
            tuple(path for path in changed if path in logs), tuple(path for path in changed if path in rotated)
        )

    def _is_changed(self, path: str, seen: "_Seen | None", is_first: bool) -> bool:
        try:
            info = Path(path).stat()
        except OSError:  # it is not there yet, or not there any more
            return False
        stamp = info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns
        is_same = seen is not None and seen.stamp == stamp
        if seen is not None and is_same and seen.is_reported:
            self._seen[path] = seen
            return False
        is_reported = is_first or is_same or not is_compressed_name(path)
        self._seen[path] = _Seen(stamp, is_reported)
        return is_reported


@dataclass(frozen=True, slots=True)
class _Seen:
    """A file at the last look: what changes with its content, and whether `look` has reported it."""

    stamp: tuple[int, int, int, int]
    is_reported: bool


def _rotated(log: str) -> list[str]:
    try:
        return rotated_logs(Path(log))
    except OSError:  # the folder is not there yet
        return []
