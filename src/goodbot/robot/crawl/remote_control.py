"""Controls a crawl from another process, whether the crawl is running or not."""

import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal, TypeVar

from goodbot.errors import BusyError, RunError
from goodbot.live import ControlKind, ControlRequest, LiveStatus
from goodbot.ports import ControlFiles, Frontier, Ledger
from goodbot.report_values import MachineView
from goodbot.robot.crawl.submissions import Refuse as Refuse
from goodbot.robot.crawl.submissions import refuse_submitted, submitted_urls
from goodbot.url import Url
from goodbot.values import State, Status, UrlRecord

REPLY_TIMEOUT_S: Final = 10.0
"""How long to wait until a running crawl has carried out a request."""
POLL_S: Final = 0.1
URLS_PER_REQUEST: Final = 100

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Submitted:
    """The result of submitting a URL: why it was refused, or its state before (None: unknown) and now."""

    url: Url
    refused: str | None = None
    before: State | None = None
    now: State | None = None


@dataclass(frozen=True, slots=True)
class CrawlView:
    """The state of a crawl at one moment. `live` is None if the crawl is not running, or has not published its status
    yet."""

    status: Status
    running: bool
    live: LiveStatus | None


@dataclass(frozen=True, slots=True)
class CrawlFigures:
    """The state of a crawl for programs that watch it. `status` is None if the database that keeps the crawl does not
    answer. `is_up`: whether it does; None if the folder keeps the crawl. `machines` are those that take part."""

    status: Status | None
    running: bool
    live: LiveStatus | None
    is_up: bool | None = None
    machines: tuple[MachineView, ...] = ()


class RemoteControl:
    """Carries out the requests of users for one crawl. Methods raise RunError if a running crawl does not answer."""

    def __init__(
        self,
        control: ControlFiles,
        *,
        ledger: Callable[[], AbstractContextManager[Ledger]],
        frontier: Callable[[], AbstractContextManager[Frontier]],
        scope: Callable[[Iterable[Url]], Refuse],
        timeout_s: float = REPLY_TIMEOUT_S,
    ) -> None:
        self._control = control
        self._ledger = ledger
        self._frontier = frontier
        self._scope = scope
        self._timeout_s = timeout_s

    def live(self) -> LiveStatus | None:
        """The live status of the running crawl; None if it is not running."""
        return self._control.live()

    def is_running(self) -> bool:
        """Whether a process runs this crawl now."""
        return self._control.is_running()

    def send(self, kind: Literal["pause", "resume", "stop"]) -> bool:
        """Pauses, resumes or stops a running crawl and waits until that is done; False if the crawl is not running."""
        if not self._deliver([ControlRequest(kind)]):
            return False
        for _ in self._polls():
            if _is_done(kind, self._control.live(), self._control.is_running()):
                break
        return True

    def submit(
        self, urls: Iterable[Url], *, public_only: bool = False, modified_at: float | None = None
    ) -> list[Submitted]:
        """Adds the URLs in scope to the crawl. A URL that is gone or disallowed without a next visit is requested
        again. `public_only`, `modified_at`: see `Discovery`. Raises InputError for a URL that this crawl may never
        request."""
        unique_urls = list(dict.fromkeys(urls))
        refuse = self._scope(unique_urls)
        refused = {url: refuse_submitted(refuse, url, public_only=public_only) for url in unique_urls}
        in_scope = [url for url in unique_urls if refused[url] is None]
        known = self._records(in_scope)
        if in_scope:
            closed = {url for url, record in known.items() if record.is_closed}
            self._add(list(_submissions(in_scope, closed, modified_at, public_only=public_only)), refuse)
        now = self._records(in_scope)
        return [Submitted(url, refused[url], _state(known.get(url)), _state(now.get(url))) for url in unique_urls]

    def forget(self, url: Url) -> bool:
        """Makes a running crawl forget the host of `url`; False if the crawl is not running."""
        return self._deliver([ControlRequest("forget", (url,))])

    def unlearn(self, ids: Iterable[str]) -> bool:
        """Makes a running crawl drop lessons; False if the crawl is not running."""
        return self._deliver([ControlRequest("unlearn", lessons=part) for part in _chunks(ids)])

    def _add(self, requests: list[ControlRequest], refuse: Refuse) -> None:
        """Adds the URLs of the requests through the running crawl, or directly if it is not running. A crawl that is
        just starting holds the frontier but does not take requests yet."""
        until = time.monotonic() + self._timeout_s
        while not self._deliver(requests):
            try:
                with self._frontier() as frontier:
                    for request in requests:
                        frontier.add(submitted_urls(refuse, request.urls, request.public_only, request.modified_at))
                    return
            except BusyError:
                if time.monotonic() > until:
                    raise
                time.sleep(POLL_S)

    def _records(self, urls: Iterable[Url]) -> dict[Url, UrlRecord]:
        with self._ledger() as ledger:
            records = {url: ledger.record(url) for url in urls}
        return {url: record for url, record in records.items() if record is not None}

    def _deliver(self, requests: list[ControlRequest]) -> bool:
        """Posts requests and waits until the running crawl has taken all of them. If the crawl is not running,
        withdraws them and returns False."""
        if not self._control.is_running():
            return False
        names = [self._control.post(request) for request in requests]
        running = True
        for _ in self._polls():
            names = [name for name in names if self._control.is_waiting(name)]
            running = self._control.is_running()
            if not names or not running:
                break
        left = [name for name in names if self._control.withdraw(name)]
        if left and running:
            live = self._control.live()
            crawl = f"the crawl (process {live.pid})" if live else "the crawl"
            raise RunError(f"{crawl} has not answered within {self._timeout_s:.0f} s: try again")
        return not left

    def _polls(self) -> Iterator[None]:
        """Yields at once, then every `POLL_S` until the timeout."""
        until = time.monotonic() + self._timeout_s
        yield
        while time.monotonic() < until:
            time.sleep(POLL_S)
            yield


def _state(record: UrlRecord | None) -> State | None:
    return record.state if record is not None else None


def _submissions(
    urls: list[Url], closed: Collection[Url], modified_at: float | None, *, public_only: bool
) -> Iterator[ControlRequest]:
    """Yields the requests that submit URLs. Those that are `closed` are reported as changed, since only a report makes
    them ready."""
    others = [url for url in urls if url not in closed]
    reported = [url for url in urls if url in closed]
    for group, at in ((others, modified_at), (reported, time.time() if modified_at is None else modified_at)):
        for part in _chunks(group):
            yield ControlRequest("submit", part, (), public_only, at)


def _chunks(items: Iterable[Item]) -> Iterator[tuple[Item, ...]]:
    left = iter(items)
    while chunk := tuple(islice(left, URLS_PER_REQUEST)):
        yield chunk


def _is_done(kind: ControlKind, live: LiveStatus | None, running: bool) -> bool:
    if not running:
        return True
    if kind == "stop" or live is None:
        return False
    return live.pace in ("paused" if kind == "pause" else "running", "stopping")
