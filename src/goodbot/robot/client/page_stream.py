"""Streams the pages of a crawl to a program. A page counts as visited when the program has finished with it.

The stream stands between a `Crawler` and its batch, in one process. Pages that the program has not finished when it
stops are not settled: their URLs are ready again. A slow program slows the crawl, since pages wait here until it takes
them.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Final, Self

from goodbot.archive_values import EncodedRecords
from goodbot.live import HostRequest
from goodbot.ports import Leases
from goodbot.robot.crawl.assembly import RecordingSink
from goodbot.robot.crawl.outcome_of import Encode
from goodbot.values import Capture, FoundLinks, LastVisit, Lease, Release, Response
from goodbot.visit_values import VisitResult

MAX_WAITING: Final = 16
"""Pages that may wait for the program, in addition to those in flight."""


@dataclass(frozen=True, slots=True)
class StreamedPage(EncodedRecords):
    """The archive records of a capture, and the capture itself, which the program gets."""

    capture: Capture | None = None


class PageStream:
    """A `RecordingSink` and `Leases` for a crawler, over the batch and the leases given to `fitted`."""

    def __init__(self, room: int = MAX_WAITING) -> None:
        self._room = room
        self._waiting: deque[tuple[VisitResult, Capture]] = deque()
        self._unsettled: dict[str, int] = {}
        self._releases: dict[str, Release] = {}
        self._changed = asyncio.Event()
        self._closed = False
        self.wake: Callable[[], None] = lambda: None

    def fitted(self, batch: RecordingSink, leases: Leases) -> Self:
        """Sets where results go after the program, and where leases come from. Returns itself."""
        self._batch = batch
        self._leases = leases
        return self

    def encoding(self, encode: Encode | None) -> Encode:
        """Returns a function that does the same as `encode`, and keeps the capture as well."""

        def encode_and_keep(
            capture: Capture, headers_only: bool = False, *, about: LastVisit | None = None
        ) -> EncodedRecords:
            if encode is None:
                return StreamedPage(b"", 0, "", "", None, "", headers_only, capture)
            made = encode(capture, headers_only, about=about)
            values: dict[str, Any] = {item.name: getattr(made, item.name) for item in fields(EncodedRecords)}
            return StreamedPage(**values, capture=capture)

        return encode_and_keep

    # ---- for the program --------------------------------------------------------------------------------------------

    async def first(self) -> Capture | None:
        """Waits for a page and returns the one that has waited longest; None when the crawl has ended."""
        while not self._waiting and not self._closed:
            await self._change()
        return self._waiting[0][1] if self._waiting else None

    def take(self) -> None:
        """Settles the page that `first` returned: the program has finished with it."""
        result, _ = self._waiting.popleft()
        host = result.outcome.url.host_key
        self._batch.add(result)
        self._unsettled[host] -= 1
        if not self._unsettled[host]:
            del self._unsettled[host]
            if release := self._releases.pop(host, None):
                self._batch.release(release)
        self._changed.set()
        self.wake()

    def close(self) -> None:
        """Notes that the crawl has ended: `first` returns None after the last page."""
        self._closed = True
        self._changed.set()

    async def _change(self) -> None:
        self._changed.clear()
        await self._changed.wait()

    # ---- for the crawler: Leases ------------------------------------------------------------------------------------

    def lease(self, hosts: int, urls_per_host: int, now: float, *, sized: bool = False) -> list[Lease]:
        """See `Leases`."""
        return list(self._leases.lease(hosts, urls_per_host, now, sized=sized))

    def next_ready_at(self) -> float | None:
        """See `Leases`."""
        return self._leases.next_ready_at()

    def is_finished(self) -> bool:
        """See `Leases`. While pages wait, whose links the frontier does not have yet, the crawl is not finished."""
        return not self._waiting and self._leases.is_finished()

    # ---- for the crawler: Sink --------------------------------------------------------------------------------------

    def __bool__(self) -> bool:
        return bool(self._batch)

    def add(self, result: VisitResult) -> None:
        """See `Sink`."""
        capture = _page_of(result)
        if capture is None:
            self._batch.add(result)
            return
        host = result.outcome.url.host_key
        self._unsettled[host] = self._unsettled.get(host, 0) + 1
        self._waiting.append((result, capture))
        self._changed.set()

    def find(self, found: FoundLinks) -> None:
        """See `Sink`. The program gets a sitemap or feed when it has been read to the end; its links are known
        earlier."""
        self._batch.find(found)

    def release(self, release: Release) -> None:
        """See `Sink`. A lease ends when the program has finished with its last page."""
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

    def note(self, request: HostRequest) -> None:
        """See `RecordingSink`."""
        self._batch.note(request)

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


def _page_of(result: VisitResult) -> Capture | None:
    """Returns the capture of a page; None for other results: a redirect, a refusal, an unchanged page."""
    encoded = result.encoded
    if result.outcome.state != "visited" or not isinstance(encoded, StreamedPage) or encoded.capture is None:
        return None
    response = encoded.capture.result
    return encoded.capture if isinstance(response, Response) and 200 <= response.status < 300 else None
