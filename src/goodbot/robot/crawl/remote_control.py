"""Where a crawl is told things from outside, whether it runs or rests."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal, TypeVar

from goodbot.errors import BusyError, RunError
from goodbot.live import ControlKind, ControlRequest, LiveStatus
from goodbot.ports import ControlFiles, Frontier, Ledger
from goodbot.url import Url
from goodbot.values import Discovery, State, Status

PATIENCE_S: Final = 10.0
"""How long a running crawl is waited for."""
LOOK_S: Final = 0.1
WISH_URLS: Final = 100

Part = TypeVar("Part")
Refuse = Callable[[Url, int], str | None]


@dataclass(frozen=True, slots=True)
class Submitted:
    """What became of a URL: why it was refused, or its state before (None: not known) and now."""

    url: Url
    refused: str | None = None
    before: State | None = None
    now: State | None = None


@dataclass(frozen=True, slots=True)
class CrawlView:
    """One look at a crawl. `live` is None if none runs, or it has not spoken yet."""

    status: Status
    running: bool
    live: LiveStatus | None


class RemoteControl:
    """Takes what users want of one crawl. Raises RunError if a running crawl does not answer."""

    def __init__(
        self,
        control: ControlFiles,
        *,
        ledger: Callable[[], AbstractContextManager[Ledger]],
        frontier: Callable[[], AbstractContextManager[Frontier]],
        scope: Callable[[Iterable[Url]], Refuse],
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._control = control
        self._ledger = ledger
        self._frontier = frontier
        self._scope = scope
        self._patience_s = patience_s

    def live(self) -> LiveStatus | None:
        """The running crawl; None if it rests."""
        return self._control.live()

    def is_running(self) -> bool:
        """Whether a process crawls here now."""
        return self._control.is_running()

    def tell(self, kind: Literal["pause", "resume", "stop"]) -> bool:
        """Has a running crawl pause, go on or stop, and waits until it does; False if none runs."""
        if not self._deliver([ControlRequest(kind)]):
            return False
        for _ in self._moments():
            if _has_come(kind, self._control.live(), self._control.is_running()):
                break
        return True

    def submit(self, urls: Iterable[Url]) -> list[Submitted]:
        """Makes URLs in scope known to the crawl. Raises InputError for one that this crawl may not ask at all."""
        wanted = list(dict.fromkeys(urls))
        refuse = self._scope(wanted)
        refused = {url: refuse(url, 0) for url in wanted}
        taken = [url for url in wanted if refused[url] is None]
        before = self._states(taken)
        if taken:
            self._add(taken)
        now = self._states(taken)
        return [Submitted(url, refused[url], before.get(url), now.get(url)) for url in wanted]

    def forget(self, url: Url) -> bool:
        """Has a running crawl leave the host of `url` for good; False if none runs."""
        return self._deliver([ControlRequest("forget", (url,))])

    def unlearn(self, ids: Iterable[str]) -> bool:
        """Has a running crawl drop lessons; False if none runs."""
        return self._deliver([ControlRequest("unlearn", lessons=part) for part in _parts(ids)])

    def _add(self, urls: list[Url]) -> None:
        """By the running crawl, else here. One that is just starting has the frontier, and takes no wish yet."""
        until = time.monotonic() + self._patience_s
        while not self._deliver([ControlRequest("submit", part) for part in _parts(urls)]):
            try:
                with self._frontier() as frontier:
                    frontier.add(Discovery(url, 0) for url in urls)
                    return
            except BusyError:
                if time.monotonic() > until:
                    raise
                time.sleep(LOOK_S)

    def _states(self, urls: Iterable[Url]) -> dict[Url, State]:
        with self._ledger() as ledger:
            records = {url: ledger.record(url) for url in urls}
        return {url: record.state for url, record in records.items() if record is not None}

    def _deliver(self, wishes: list[ControlRequest]) -> bool:
        """Leaves wishes to the running crawl until it has taken all; False if none runs, and nothing is left then."""
        if not self._control.is_running():
            return False
        names = [self._control.post(wish) for wish in wishes]
        running = True
        for _ in self._moments():
            names = [name for name in names if self._control.is_waiting(name)]
            running = self._control.is_running()
            if not names or not running:
                break
        left = [name for name in names if self._control.withdraw(name)]
        if left and running:
            live = self._control.live()
            who = f"the crawl (process {live.pid})" if live else "the crawl"
            raise RunError(f"{who} has not answered within {self._patience_s:.0f} s: try again")
        return not left

    def _moments(self) -> Iterator[None]:
        """Now and then, as long as there is patience."""
        until = time.monotonic() + self._patience_s
        yield
        while time.monotonic() < until:
            time.sleep(LOOK_S)
            yield


def _parts(items: Iterable[Part]) -> Iterator[tuple[Part, ...]]:
    rest = iter(items)
    while part := tuple(islice(rest, WISH_URLS)):
        yield part


def _has_come(kind: ControlKind, live: LiveStatus | None, running: bool) -> bool:
    if not running:
        return True
    if kind == "stop" or live is None:
        return False
    return live.pace in ("paused" if kind == "pause" else "running", "stopping")
