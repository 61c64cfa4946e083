"""The history of one site's robots.txt: a folder with an index of all fetches, and each different body once.

`copies.jsonl` (see `line_file`) has one line for each fetch; `DIGEST.txt` is a body, named by its SHA-256. A line is
appended after its body was written, so a kill at any moment costs at most the copy that was being added.
"""

import hashlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from goodbot.errors import InputError, RunError
from goodbot.exclusion import LIMIT_BYTES
from goodbot.files import write_whole
from goodbot.watch.history.index_lines import index_line, read_index_line
from goodbot.watch.history.line_file import append, appending, last_lines, lines_in

INDEX: Final = "copies.jsonl"
MAX_BODY_BYTES: Final = LIMIT_BYTES + 1
"""One byte more than counts, so that a cut is noticed."""

MAX_DAMAGE: Final = 100
"""How many sentences about damage are kept."""

CLOCK_AHEAD_S: Final = 86_400.0
"""A copy dated further in the future than this was dated by a wrong clock."""


@dataclass(frozen=True, slots=True)
class RobotsCopy:
    """One dated copy of a site's robots.txt, or of the failure to fetch it.

    `url` is that of robots.txt, `at` the time of the fetch (Unix seconds), `status` that of the last answer, None if
    there was none; then `failure` says why: a kind as in `exclusion.Access.failure`, or a few words. `body` is at most
    `MAX_BODY_BYTES`. `redirects` are the URLs requested, one after another.
    """

    url: str
    at: float
    status: int | None
    failure: str | None
    headers: tuple[tuple[str, str], ...]
    body: bytes
    redirects: tuple[str, ...] = ()

    def is_like(self, other: "RobotsCopy") -> bool:
        """Whether both fetches had the same result: body, status and failure."""
        return (self.body, self.status, self.failure) == (other.body, other.status, other.failure)


class History:
    """The copies of one site in a folder, which is made by the first `add`.

    `damage` has one sentence for each problem that the last reading found: a line or a body that cannot be read, a
    wrong date.
    """

    def __init__(self, folder: Path, now: Callable[[], float] = time.time) -> None:
        self.folder = folder
        self.damage: list[str] = []
        self._now = now

    def add(self, copy: RobotsCopy) -> bool:
        """Appends a copy. Returns whether body, status or failure differ from the copy that was added last; True if
        there is none. Raises InputError or RunError if the folder cannot be written."""
        body = copy.body[:MAX_BODY_BYTES]
        digest = hashlib.sha256(body).hexdigest() if body else None
        line = index_line(copy.url, copy.at, copy.status, copy.failure, copy.headers, digest, copy.redirects)
        with appending(self.folder / INDEX) as index:
            found = (last for raw in last_lines(index) if (last := read_index_line(raw)) is not None)
            last = next(found, None)
            if digest is not None and self._body(digest) is None:
                write_whole(self.folder / f"{digest}.txt", body)
            append(index, line)
        return last is None or (last.digest, last.status, last.failure) != (digest, copy.status, copy.failure)

    def copies(self) -> list[RobotsCopy]:
        """Returns the copies that can be read, sorted by time, even if the clock was set back in between. Raises
        RunError if the index cannot be read."""
        return sorted(self._read(), key=lambda copy: copy.at)

    def added(self) -> list[RobotsCopy]:
        """Returns the same copies in the order in which they were added."""
        return list(self._read())

    def _read(self) -> Iterator[RobotsCopy]:
        self.damage = []
        bodies: dict[str | None, bytes | None] = {None: b""}
        before = 0.0
        for number, line in enumerate(map(read_index_line, lines_in(self.folder / INDEX)), 1):
            if line is None:
                self._report(f"line {number} of {INDEX} cannot be read")
                continue
            if line.digest not in bodies:
                bodies[line.digest] = self._body(line.digest or "")
            body = bodies[line.digest]
            if body is None:
                self._report(f"line {number} of {INDEX}: its body {line.digest}.txt is missing or changed")
                continue
            self._check_date(number, line.at, before)
            before = line.at
            yield RobotsCopy(line.url, line.at, line.status, line.failure, line.headers, body, line.redirects)

    def _check_date(self, number: int, at: float, before: float) -> None:
        if at > self._now() + CLOCK_AHEAD_S:
            self._report(f"line {number} of {INDEX}: its date is in the future")
        elif at < before:
            self._report(f"line {number} of {INDEX}: its date is earlier than that of the copy before")

    def _report(self, sentence: str) -> None:
        if len(self.damage) < MAX_DAMAGE:
            self.damage.append(sentence)

    def _body(self, digest: str) -> bytes | None:
        """Returns a body; None if it is missing, unreadable or not what the digest says."""
        try:
            with (self.folder / f"{digest}.txt").open("rb") as file:
                body = file.read(MAX_BODY_BYTES + 1)
        except OSError:
            return None
        return body if hashlib.sha256(body).hexdigest() == digest else None


def open_histories(folder: Path) -> dict[str, History]:
    """Returns the histories in a folder by the names of their sites (see `site_names`); the folder of one site has one.
    Other files are ignored. Raises InputError if there is no such folder."""
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder; `goodbot remember` makes one")
    if (folder / INDEX).is_file():
        return {folder.resolve().name: History(folder)}
    try:
        inside = sorted(folder.iterdir())
    except OSError as error:
        raise RunError(f"cannot read {folder}: {error.strerror or error}") from error
    return {path.name: History(path) for path in inside if (path / INDEX).is_file()}
