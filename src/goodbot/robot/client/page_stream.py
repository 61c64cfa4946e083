"""Pages on their way to a program that crawls: each is handed over before it counts as visited.

Between a `Crawler` and its batch, in one process. What was not handed over when a program stops is not settled: its URL
is ready again. A program that is slow holds the crawl back, since a page waits here until it is wanted.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Final, Self

from goodbot.archive_values import EncodedRecords
from goodbot.live import HostRequest
from goodbot.ports import Clock, Leases
from goodbot.robot.crawl.assembly import RecordingSink
from goodbot.robot.crawl.loop import MAX_SLEEP_S
from goodbot.robot.crawl.outcome_of import Encode
from goodbot.values import Capture, FoundLinks, LastVisit, Lease, Release, Response
from goodbot.visit_values import VisitResult

WAITING_MOST: Final = 16
"""Pages that wait; those in flight come to it."""


@dataclass(frozen=True, slots=True)
class StreamedPage(EncodedRecords):
    """The records of a capture, and the capture, which the archive has no use for."""

    capture: Capture | None = None


class PageStream:
    """A `RecordingSink` and `Leases` between a crawler and those it is `fitted` to."""

    def __init__(self, room: int = WAITING_MOST) -> None:
        self._room = room
        self._waiting: deque[tuple[VisitResult, Capture]] = deque()
        self._unsettled: dict[str, int] = {}
        self._releases: dict[str, Release] = {}
        self._changed = asyncio.Event()
        self._closed = False
        self.wake: Callable[[], None] = lambda: None

    def fitted(self, batch: RecordingSink, leases: Leases, clock: Clock) -> Self:
        """Itself, once it is said where readings go in the end, and where leases come from."""
        self._batch = batch
        self._leases = leases
        self._clock = clock
        return self

    def encoding(self, encode: Encode | None) -> Encode:
        """`encode`, which keeps the capture as well."""

        def caught(capture: Capture, headers_only: bool = False, *, about: LastVisit | None = None) -> EncodedRecords:
            if encode is None:
                return StreamedPage(b"", 0, "", "", None, "", headers_only, capture)
            made = encode(capture, headers_only, about=about)
            said: dict[str, Any] = {item.name: getattr(made, item.name) for item in fields(EncodedRecords)}
            return StreamedPage(**said, capture=capture)

        return caught

    # ---- for the program --------------------------------------------------------------------------------------------

    async def first(self) -> Capture | None:
        """The page that has waited longest, once there is one; None: there will be none."""
        while not self._waiting and not self._closed:
            await self._change()
        return self._waiting[0][1] if self._waiting else None

    def take(self) -> None:
        """The program is done with that page: it counts as visited."""
        reading, _ = self._waiting.popleft()
        host = reading.outcome.url.host_key
        self._batch.add(reading)
        self._unsettled[host] -= 1
        if not self._unsettled[host]:
            del self._unsettled[host]
            if release := self._releases.pop(host, None):
                self._batch.release(release)
        self._changed.set()
        self.wake()

    def close(self) -> None:
        """The crawl has ended."""
        self._closed = True
        self._changed.set()

    async def _change(self) -> None:
        self._changed.clear()
        await self._changed.wait()

    # ---- for the crawler: Leases ------------------------------------------------------------------------------------

    def lease(self, hosts: int, urls_per_host: int, now: float) -> list[Lease]:
        """See `Leases`."""
        return list(self._leases.lease(hosts, urls_per_host, now))

    def next_ready_at(self) -> float | None:
        """See `Leases`. As long as pages wait, whose links nobody knows yet, the crawl is not finished."""
        ready_at = self._leases.next_ready_at()
        return self._clock.now() + MAX_SLEEP_S if ready_at is None and self._waiting else ready_at

    # ---- for the crawler: Keeper ------------------------------------------------------------------------------------

    def __bool__(self) -> bool:
        return bool(self._batch)

    def add(self, reading: VisitResult) -> None:
        """See `Sink`."""
        capture = _page_of(reading)
        if capture is None:
            self._batch.add(reading)
            return
        host = reading.outcome.url.host_key
        self._unsettled[host] = self._unsettled.get(host, 0) + 1
        self._waiting.append((reading, capture))
        self._changed.set()

    def find(self, found: FoundLinks) -> None:
        """See `Sink`. A list is handed over when all of it is read; what it names may be known before."""
        self._batch.find(found)

    def release(self, release: Release) -> None:
        """See `Sink`. A lease ends when its last page was handed over."""
        if release.host in self._unsettled:
            self._releases[release.host] = release
        else:
            self._batch.release(release)

    async def has_room(self, *, for_list: bool = False) -> None:
        """See `Sink`."""
        while len(self._waiting) >= self._room:
            await self._change()
        await self._batch.has_room(for_list=for_list)

    def keep(self, encoded: EncodedRecords) -> object:
        """See `RecordingSink`."""
        return self._batch.keep(encoded)

    def note(self, asked: HostRequest) -> None:
        """See `RecordingSink`."""
        self._batch.note(asked)

    def give_back(self) -> None:
        """See `Sink`."""
        self._batch.give_back()

    def due_in_s(self) -> float:
        """See `Sink`."""
        return self._batch.due_in_s()

    def commit_if_due(self) -> None:
        """See `Sink`."""
        self._batch.commit_if_due()

    def commit(self) -> None:
        """See `Sink`."""
        self._batch.commit()

    def commit_all(self) -> None:
        """See `Sink`."""
        self._batch.commit_all()


def _page_of(reading: VisitResult) -> Capture | None:
    """The capture of a page; None for what is none: a redirect, a refusal, what is as it was."""
    encoded = reading.encoded
    if reading.outcome.state != "visited" or not isinstance(encoded, StreamedPage) or encoded.capture is None:
        return None
    result = encoded.capture.result
    return encoded.capture if isinstance(result, Response) and 200 <= result.status < 300 else None
