"""Reports the progress of work on a search index: a rebuild (with its reason), an import, a refresh, a
copy."""

import time
from collections.abc import Callable

from goodbot.human import counted, human_bytes, human_duration
from goodbot.index import Refreshed, StoppedError
from goodbot.index_care import Imported
from goodbot.index_opening import Indexing

LINE_EVERY_S = 10.0
FIRST_LINE_S = 2.0

_REASONS = {
    "not kept": "not in the archive (--no-archive, or rendered by a browser)",
    "withheld": "archived without the body (noarchive)",
    "damaged": "damaged in the archive, or missing from it",
}


class IndexProgress:
    """Reports at once why an index is rebuilt, and every ten seconds how many pages are indexed."""

    def __init__(self, say: Callable[[str], None], timer: Callable[[], float] = time.monotonic) -> None:
        self._say = say
        self._timer = timer
        self._started = self._last_line_at = timer()

    def __call__(self, state: Indexing) -> None:
        now = self._timer()
        if state.finished:
            self._end(state)
        elif not state.read:
            self._started = self._last_line_at = now
            if state.why is not None:
                doing = f"{state.why}: building the index" if state.why else "building the search index"
                self._say(f"{doing} from the archive ({counted(state.total, 'page')})")
        elif now - self._last_line_at >= LINE_EVERY_S:
            self._last_line_at = now
            self._say(index_line(state, now - self._started))

    def _end(self, state: Indexing) -> None:
        if state.why is not None:
            self._say(f"the search index is complete: {counted(state.documents, 'page')} indexed")
        for reason, count in state.lost.items():
            self._say(f"{counted(count, 'page')} will be fetched again: {_REASONS[reason]}")


class ImportProgress:
    """Reports the number of imported documents after 2 s, then every ten seconds."""

    def __init__(self, say: Callable[[str], None], timer: Callable[[], float] = time.monotonic) -> None:
        self._say = say
        self._timer = timer
        self._started = timer()
        self._next_line_at = self._started + FIRST_LINE_S

    def __call__(self, state: Imported) -> None:
        now = self._timer()
        if now >= self._next_line_at and not state.documents:
            self._next_line_at = now + LINE_EVERY_S
            rate = state.read / max(now - self._started, 0.001)
            self._say(f"imported {counted(state.read, 'document')}, {rate:.1f}/s")


class RefreshProgress:
    """Reports how many pages' links are read after 2 s, then every ten seconds. Raises StoppedError if
    `is_stopped`."""

    def __init__(
        self,
        say: Callable[[str], None],
        is_stopped: Callable[[], bool] = lambda: False,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        self._say = say
        self._is_stopped = is_stopped
        self._timer = timer
        self._started = timer()
        self._next_line_at = self._started + FIRST_LINE_S

    def __call__(self, state: Refreshed) -> None:
        if self._is_stopped() and not state.finished:
            raise StoppedError
        now = self._timer()
        if now >= self._next_line_at and not state.finished:
            self._next_line_at = now + LINE_EVERY_S
            rate = state.read / max(now - self._started, 0.001)
            left = human_duration((state.total - state.read) / rate) if rate > 0 else "unknown"
            pages = counted(state.total, "page")
            self._say(f"read the links of {state.read:,} of {pages}, {rate:.1f}/s, about {left} left")


class CopyProgress:
    """Reports how much of an index is copied or fetched after 2 s, then every ten seconds. `done` is what was done with
    the bytes: `copied`. `begins`: from now on it is about another copy."""

    def __init__(self, say: Callable[[str], None], done: str, timer: Callable[[], float] = time.monotonic) -> None:
        self._say = say
        self._what = done
        self._timer = timer
        self._started: float | None = None
        self._before = 0
        self._next_line_at = 0.0

    def __call__(self, done: int, total: int, *, begins: bool = False) -> None:
        now = self._timer()
        if self._started is None or begins:
            self._started, self._before, self._next_line_at = now, done, now + FIRST_LINE_S
        if now >= self._next_line_at and done < total:
            self._next_line_at = now + LINE_EVERY_S
            amount = f"{self._what} {human_bytes(done)} of {human_bytes(total)}"
            rate = (done - self._before) / max(now - self._started, 0.001)
            if rate < 1:
                self._say(amount)
                return
            self._say(f"{amount}, {human_bytes(rate)}/s, about {human_duration((total - done) / rate)} left")


def index_line(state: Indexing, seconds: float) -> str:
    """`indexed 12,000 of 100,000 pages, 640.0/s, about 2 min 18 s left`."""
    rate = state.read / max(seconds, 0.001)
    left = human_duration(max(state.total - state.read, 0) / rate) if rate > 0 else "unknown"
    return f"indexed {state.read:,} of {counted(state.total, 'page')}, {rate:.1f}/s, about {left} left"
