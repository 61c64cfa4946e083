"""Watches and controls a running crawl from outside, through small files in its folder.

A running crawl holds `control/lock`; the system frees it when the process ends. `live.json` has the crawl's last
status. A control request is a file `control/*.request`, written completely and then renamed; the crawl reads and
removes these files in the order of their names. It trusts none of them: a file that cannot be read is moved to
`control/damaged`.
"""

import fcntl
import json
import os
import secrets
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final

from goodbot.errors import RunError
from goodbot.live import ControlRequest, LiveStatus
from goodbot.store.control.live_file import format_live, parse_live
from goodbot.url import Url, parse_url

MAX_FILE_BYTES: Final = 1 << 20
MAX_REQUEST_URLS: Final = 100
"""A request of this many of the longest URLs, with JSON escapes, still fits into a file of `MAX_FILE_BYTES`."""
MAX_ID_CHARS: Final = 100
"""Length of a lesson's id."""
MAX_REQUESTS: Final = 1000
"""Requests taken at a time; the others wait for the next time."""
MAX_DAMAGED: Final = 100
_MAX_TIME: Final = 1e12
_KINDS: Final = ("pause", "resume", "stop", "submit", "forget", "unlearn")
_WITH_URLS: Final = ("submit", "forget")
_LASTING: Final = (*_WITH_URLS, "unlearn")
"""Requests that the next crawl carries out if the one they were meant for has ended."""


class ControlFolder:
    """The control files in the folder of a crawl. The crawl itself uses `attend`, `take`, `show` and `close`; those who
    control it use the other methods. Raises RunError if the file system fails."""

    def __init__(self, path: Path) -> None:
        self._folder = path / "control"
        self._live = path / "live.json"
        self._lock: int | None = None
        self._posted_at = 0
        self._under_way: set[str] = set()
        self.shown = ""
        """The last live status shown, as JSON."""

    # ---- for the running crawl ---------------------------------------------------------------------------------------

    def attend(self) -> None:
        """Marks the crawl as running. Requests to an earlier one are dropped, except those that concern its URLs or
        lessons."""
        try:
            self._folder.mkdir(exist_ok=True)
            self._live.unlink(missing_ok=True)
            for name in self._names(".part"):
                (self._folder / name).unlink(missing_ok=True)
            self._lock = os.open(self._folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            fcntl.flock(self._lock, fcntl.LOCK_EX)  # observers hold it for a moment only
        except OSError as error:
            raise RunError(f"cannot use {self._folder}: {error.strerror}") from error
        for name in self._names(".request"):
            request = _read_request(self._folder / name)
            if request is not None and request.kind not in _LASTING:
                self.withdraw(name)

    def take(self, report: Callable[[str], None]) -> Iterator[tuple[ControlRequest, Callable[[], object]]]:
        """See `ControlInbox.take`."""
        for name in self._names(".request"):
            if name in self._under_way:
                continue
            request = _read_request(self._folder / name)
            if request is None:
                self._put_aside(name, report)
            else:
                self._under_way.add(name)
                yield request, partial(self._finish, name)

    def _finish(self, name: str) -> None:
        self.withdraw(name)
        self._under_way.discard(name)

    def show(self, live: LiveStatus) -> None:
        """Replaces `live.json`."""
        part = self._live.with_suffix(".part")
        self.shown = format_live(live)
        try:
            part.write_text(self.shown, encoding="utf-8")
            part.replace(self._live)
        except OSError as error:
            raise RunError(f"cannot write {self._live}: {error.strerror}; what was fetched is kept") from error

    def close(self) -> None:
        """Marks the crawl as ended. May be called twice."""
        if self._lock is not None:
            with suppress(OSError):  # a file left behind does no harm, because the lock is free
                self._live.unlink(missing_ok=True)
            os.close(self._lock)
            self._lock = None

    def _put_aside(self, name: str, report: Callable[[str], None]) -> None:
        file, aside = self._folder / name, self._folder / "damaged"
        try:
            aside.mkdir(exist_ok=True)
            if sum(1 for _ in islice(aside.iterdir(), MAX_DAMAGED)) < MAX_DAMAGED:
                file.replace(aside / f"{time.time_ns():020d}-{secrets.token_hex(4)}")
            else:
                _remove(file)
        except FileNotFoundError:
            return  # withdrawn while it was read
        except OSError as error:
            raise RunError(f"cannot move {file}: {error.strerror}") from error
        report(f"{self._folder} held a file that is not a control request: {name!r}; it was moved to {aside}")

    # ---- for other programs
    # -------------------------------------------------------------------------------------------

    def is_running(self) -> bool:
        """Returns whether a crawl uses the folder now."""
        try:
            descriptor = os.open(self._folder / "lock", os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise RunError(f"cannot read {self._folder}: {error.strerror}") from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
        return False

    def live(self) -> LiveStatus | None:
        """Returns the last status of the running crawl; None if none runs, or its status cannot be read."""
        if not self.is_running():
            return None
        data = _read(self._live)
        return None if data is None else parse_live(data)

    def post(self, request: ControlRequest) -> str:
        """Writes a request of at most `MAX_REQUEST_URLS` URLs; returns the name under which it waits."""
        self._posted_at = max(time.time_ns(), self._posted_at + 1)  # in order, also when the clock is set back
        name = f"{self._posted_at:020d}-{secrets.token_hex(4)}.request"
        part = self._folder / f"{name}.part"
        try:
            part.write_text(json.dumps(_fields_of(request)), encoding="utf-8")
            part.rename(self._folder / name)
        except OSError as error:
            raise RunError(f"cannot write to {self._folder}: {error.strerror}") from error
        return name

    def is_waiting(self, name: str) -> bool:
        """Returns whether the crawl has not taken the request yet."""
        return (self._folder / name).exists()

    def withdraw(self, name: str) -> bool:
        """Removes a request; False if it was gone already."""
        try:
            (self._folder / name).unlink()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise RunError(f"cannot remove {self._folder / name}: {error.strerror}") from error
        return True

    def _names(self, ending: str) -> list[str]:
        try:
            with os.scandir(self._folder) as entries:
                names = (entry.name for entry in islice(entries, 10 * MAX_REQUESTS))
                return sorted(name for name in names if name.endswith(ending))[:MAX_REQUESTS]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise RunError(f"cannot read {self._folder}: {error.strerror}") from error


def _fields_of(request: ControlRequest) -> dict[str, object]:
    marks = {"public_only": request.public_only, "modified_at": request.modified_at} if request.kind == "submit" else {}
    return {
        "request": request.kind,
        "urls": [url.text for url in request.urls],
        "lessons": request.lessons,
        **marks,
    }


def _read_request(file: Path) -> ControlRequest | None:
    """Parses a control request; None for anything else, because the file may come from anyone."""
    data = _read(file)
    if data is None:
        return None
    try:
        value = json.loads(data)
        kind, texts = value["request"], value.get("urls", [])
        public_only, modified_at = value.get("public_only", False), value.get("modified_at")
        urls = tuple(parse_url(text) for text in texts if isinstance(text, str))
        known = kind in _KINDS and isinstance(texts, list) and len(texts) <= MAX_REQUEST_URLS
        ids = value.get("lessons", [])
        lessons = tuple(text for text in ids if isinstance(text, str) and len(text) <= MAX_ID_CHARS)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    if not known or len(urls) != len(texts) or None in urls or (kind in _WITH_URLS) != bool(urls):
        return None
    if (kind == "unlearn") != bool(lessons) or len(lessons) != len(ids) or len(ids) > MAX_REQUEST_URLS:
        return None
    if not isinstance(public_only, bool) or not _is_time(modified_at):
        return None
    return ControlRequest(kind, tuple(url for url in urls if isinstance(url, Url)), lessons, public_only, modified_at)


def _is_time(value: object) -> bool:
    """Returns whether it is a time in Unix seconds, or None."""
    if value is None or isinstance(value, bool):
        return value is None
    return isinstance(value, int | float) and 0 <= value < _MAX_TIME


def _read(file: Path) -> bytes | None:
    """Reads a regular file of bounded size; None for anything else (reading a pipe would block)."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        data = os.read(descriptor, MAX_FILE_BYTES + 1)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return data if len(data) <= MAX_FILE_BYTES else None


def _remove(place: Path) -> None:
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)
