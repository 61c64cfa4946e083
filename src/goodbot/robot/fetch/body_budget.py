"""Limits the bytes of long answers that one process holds, both those arriving and those waiting to be read.

A transfer reserves room for its whole body, so that it can end once it has begun; without room it is paused, and its
bytes stay with the server. The transfer that has waited longest gets room first. A quarter of the room is only for
answers of medium length, so that these do not wait for long ones.

If no long answer waits to be read, the oldest long transfer is never paused, so that a body longer than the whole
budget still arrives. If no answer is released for `RELEASE_TIMEOUT_S`, the oldest paused transfer goes on as well,
because the holder of an answer may be waiting for that transfer. The time then doubles, so that slow reading does not
fill the memory.
"""

import asyncio
from collections.abc import Callable
from typing import Final
from weakref import finalize

from goodbot.values import Response

FREE_BYTES: Final = 256 * 1024
"""Shorter bodies are not counted: 64 of them are 16 MB."""

MEDIUM_BYTES: Final = 1024 * 1024
"""Longer bodies, and those whose length is unknown, are long."""

RELEASE_TIMEOUT_S: Final = 30.0
"""How long paused transfers wait for an answer to be released. Reading a sitemap takes 2 s, a document up to 6 s."""


class BodyShare:
    """The room that one transfer holds. `resume` is called, from the event loop, when it may go on after a pause.
    `expected`: the length of the body, if the server says; `most`: its greatest length."""

    def __init__(self, bodies: "BodyBudget", resume: Callable[[], None], expected: int | None, most: int) -> None:
        self._bodies = bodies
        self.resume = resume
        self._expected = expected
        self._most = most
        self.is_long = expected is None or expected > bodies.medium
        self.bytes = 0
        self.needed = 0

    def grows_to(self, size: int) -> bool:
        """Returns whether the body may grow to this length now; if not, the caller pauses the transfer."""
        if size <= max(FREE_BYTES, self.bytes):
            return True
        if self._expected is None or size > self._expected:
            self.is_long = True
            self.needed = max(size, min(size + MEDIUM_BYTES, self._most))
        else:
            self.needed = max(size, min(self._expected, self._most))
        return self._bodies.grow(self)

    def ends(self, response: Response | None) -> None:
        """Ends the transfer; its room stays taken as long as the answer is in use."""
        self._bodies.ended(self, response)


class BodyBudget:
    """The budget of one process; None: no limit."""

    def __init__(self, limit_bytes: int | None, release_timeout_s: float = RELEASE_TIMEOUT_S) -> None:
        self._limit = float("inf") if limit_bytes is None else limit_bytes
        self.medium = min(MEDIUM_BYTES, self._limit / 4)
        self._release_timeout_s = self._wait_s = release_timeout_s
        self._shares: dict[BodyShare, None] = {}
        self._paused: set[BodyShare] = set()
        self._allowed_over_limit: set[BodyShare] = set()
        self._unread_long = 0
        self._timer: asyncio.TimerHandle | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self.bytes = 0

    @property
    def paused(self) -> int:
        """How many transfers wait for room."""
        return len(self._paused)

    def grow(self, share: BodyShare) -> bool:
        """Takes the room that the transfer needs; False if there is none, or if others have waited longer."""
        self._loop = self._loop or asyncio.get_running_loop()
        self._shares[share] = None
        same = [item for item in self._shares if item.is_long == share.is_long]
        is_next = not any(item in self._paused for item in same[: same.index(share)])
        if self._take(share, is_next=is_next):
            return True
        self._paused.add(share)
        self._start_timer()
        return False

    def ended(self, share: BodyShare, response: Response | None) -> None:
        """See `BodyShare.ends`."""
        self._shares.pop(share, None)
        self._paused.discard(share)
        self._allowed_over_limit.discard(share)
        held = len(response.body) if response is not None and share.bytes else 0
        self.bytes += held - share.bytes
        share.bytes = 0
        if held:
            self._unread_long += held * share.is_long
            finalize(response, self._schedule_freed, held, is_long=share.is_long).atexit = False
        if self._paused and self._loop is not None:  # libcurl may be calling us, so paused transfers resume later
            self._loop.call_soon(self._resume)

    def _take(self, share: BodyShare, *, is_next: bool) -> bool:
        more = share.needed - share.bytes
        limit = self._limit * 3 / 4 if share.is_long else self._limit
        if not (is_next and self.bytes + more <= limit) and not self._may_exceed(share):
            return False
        self.bytes += more
        share.bytes = share.needed
        return True

    def _may_exceed(self, share: BodyShare) -> bool:
        if share is not self._oldest(is_long=share.is_long):
            return False
        return share in self._allowed_over_limit or (share.is_long and not self._unread_long)

    def _oldest(self, *, is_long: bool) -> BodyShare | None:
        return next((item for item in self._shares if item.is_long == is_long), None)

    def _schedule_freed(self, held: int, *, is_long: bool) -> None:
        """Runs in the thread that used the answer last, so it only schedules `_freed`."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._freed, held, is_long)

    def _freed(self, held: int, is_long: bool) -> None:
        self.bytes -= held
        self._unread_long -= held * is_long
        self._wait_s = self._release_timeout_s
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._resume()

    def _start_timer(self) -> None:
        if self._timer is None and self._loop is not None:
            self._timer = self._loop.call_later(self._wait_s, self._allow_oldest)

    def _allow_oldest(self) -> None:
        self._timer = None
        self._wait_s *= 2
        self._allowed_over_limit.update(filter(None, (self._oldest(is_long=True), self._oldest(is_long=False))))
        self._resume()

    def _resume(self) -> None:
        """Resumes the transfers for which there is room, in the order in which they came."""
        blocked = {True: False, False: False}
        for share in [item for item in self._shares if item in self._paused]:
            if share not in self._paused:  # resuming an earlier one has ended it
                continue
            if self._take(share, is_next=not blocked[share.is_long]):
                self._paused.discard(share)
                share.resume()
            else:
                blocked[share.is_long] = True
        if self._paused:
            self._start_timer()
