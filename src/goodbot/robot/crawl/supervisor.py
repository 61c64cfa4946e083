"""Runs a crawl under control: twice a second it carries out control requests and publishes the state of the crawl."""

import asyncio
import logging
import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Final, NamedTuple

from goodbot.errors import GoodbotError
from goodbot.human import counted
from goodbot.lesson_values import Lesson
from goodbot.live import ControlKind, ControlRequest, EndReason, LiveStatus, RunState
from goodbot.ports import Clock, ControlInbox, Frontier, RunnableCrawl, Say
from goodbot.robot.crawl.memory_use import MemoryUse
from goodbot.robot.crawl.statistics import CrawlStatistics
from goodbot.robot.crawl.store_calls import DirectCalls, StoreCalls
from goodbot.robot.crawl.submissions import submitted_urls
from goodbot.url import Url
from goodbot.values import Outcome

CONTROL_INTERVAL_S: Final = 0.5
MAX_ERROR_KINDS: Final = 20
"""Kinds of errors listed in the live status."""

_LOG: Final = logging.getLogger(__name__)


class Supervisor:
    """Runs a crawl and carries out the control requests that arrive meanwhile.

    `refuse`: why the scope refuses a URL. `to_fetch`: the number of URLs ready or leased. `bar`: makes the frontier
    find and lease no more URLs of a host; False if it knows none. `remove_from_index`: removes the pages of a host from
    the index, some at each step. `revisits`: how many pages a crawl with --keep-fresh will visit again, and when it
    visits the first. `drop`: removes lessons from the frontier by their ids, and returns them. `calls` runs these calls
    on the frontier; without it, they are run at once.
    """

    def __init__(
        self,
        crawler: RunnableCrawl,
        *,
        inbox: ControlInbox,
        frontier: Frontier,
        refuse: Callable[[Url, int], str | None],
        to_fetch: Callable[[], int],
        bar: Callable[[str], bool],
        remove_from_index: Callable[[str], Iterator[None]],
        workers: int,
        clock: Clock,
        timer: Callable[[], float] = time.monotonic,
        revisits: Callable[[], tuple[int, float | None]] | None = None,
        drop: Callable[[Iterable[str]], Sequence[Lesson]] = lambda ids: (),
        calls: StoreCalls | None = None,
    ) -> None:
        self._calls = calls or DirectCalls()
        self._ahead = _Ahead(0, 0, None)
        self._is_counting = self._is_away = False
        self._crawler = crawler
        self._inbox = inbox
        self._frontier = frontier
        self._scope_refuses = refuse
        self._count_to_fetch = to_fetch
        self._bar = bar
        self._remove_from_index = remove_from_index
        self._removals: deque[Iterator[None]] = deque()
        self._workers = workers
        self._clock = clock
        self._timer = timer
        self._revisits = revisits
        self._drop = drop
        self._began_at = clock.now()
        self._max_pages: int | None = None
        self._state: RunState = "running"
        self._statistics = CrawlStatistics(timer())
        self._memory = MemoryUse("coordinator" if workers > 1 else "crawler", crawler.holdings)

    def observe(self, outcome: Outcome) -> None:
        """Counts an outcome that has been committed."""
        if _LOG.isEnabledFor(logging.DEBUG):
            url, status = outcome.url.text, outcome.status
            fields = {"url": url, "state": outcome.state, "status": status}
            _LOG.debug("%s: %s: %s", url, outcome.state, outcome.why, extra=fields)
        self._statistics.observe(outcome, self._timer())

    def stop(self) -> None:
        """Ends the crawl: pages in flight finish, no other is requested."""
        self._state = "stopping"
        self._crawler.stop()

    async def run(self, max_pages: int | None, say: Say, show: Callable[[LiveStatus], None]) -> EndReason:
        """See `Crawler.run`. `say` gets a line for each control request, `show` the live status twice a second."""
        self._max_pages = max_pages
        _LOG.info("crawl started: %s", counted(self._workers, "worker"), extra={"workers": self._workers})
        try:
            reason = await self._run(max_pages, say, show)
        except asyncio.CancelledError:
            _LOG.info("crawl cancelled, outcomes: %s", self._counts(), extra={"states": self._states()})
            raise
        except Exception as error:  # whoever called this prints an error of goodbot: no traceback of it in the log
            unexpected = not isinstance(error, GoodbotError)
            fields = {"error": str(error), "states": self._states()}
            _LOG.error("crawl ended by a failure, outcomes: %s", self._counts(), exc_info=unexpected, extra=fields)
            raise
        _LOG.info(
            "crawl ended (%s), outcomes: %s", reason, self._counts(), extra={"reason": reason, "states": self._states()}
        )
        return reason

    async def _run(self, max_pages: int | None, say: Say, show: Callable[[LiveStatus], None]) -> EndReason:
        watch = asyncio.create_task(self._watch(say, show))
        run = asyncio.create_task(self._crawler.run(max_pages))
        try:
            await asyncio.wait((run, watch), return_when=asyncio.FIRST_COMPLETED)
            if not run.done():  # the watch ends only by an error
                run.cancel()
            await asyncio.wait((run,))
        finally:
            watch.cancel()
            run.cancel()
            await asyncio.gather(run, watch, return_exceptions=True)
        if not watch.cancelled():
            watch.result()
        await self._calls.finish()  # the last count of what is ahead: the store is for one thread at a time
        return run.result()

    def _states(self) -> dict[str, int]:
        return dict(self._statistics.states)

    def _counts(self) -> str:
        return ", ".join(f"{count} {state}" for state, count in sorted(self._states().items())) or "none"

    async def _watch(self, say: Say, show: Callable[[LiveStatus], None]) -> None:
        while True:
            for request, done in self._inbox.take(say):
                self._execute(request, done, say)
            self._report(say)
            live = self.live()
            self._inbox.show(live)
            show(live)
            await self._wait()

    def _report(self, say: Say) -> None:
        """Says what has happened to the crawl or its store since the last time."""
        for notice in self._crawler.take_notices():
            say(notice)
        why = self._calls.why_away
        if why and not self._is_away:
            say(f"{why}: waiting; results are kept")
        elif self._is_away and not why:
            say("the database server answers again")
        self._is_away = bool(why)

    async def _wait(self) -> None:
        """Waits until the control requests are checked again. Meanwhile it removes pages of forgotten hosts from the
        index; the crawl goes on between two steps."""
        until = self._timer() + CONTROL_INTERVAL_S
        while self._removals and self._timer() < until:
            self._remove_some()
            await self._clock.sleep(0)
        await self._clock.sleep(max(until - self._timer(), 0))

    def _remove_some(self) -> None:
        if next(self._removals[0], self) is self:
            self._removals.popleft()

    def _execute(self, request: ControlRequest, done: Callable[[], object], say: Say) -> None:
        match request.kind:
            case "submit":
                self._submit(request, done, say)
            case "forget":
                self._forget(request.urls, done, say)
            case "unlearn":
                self._calls.run(partial(self._drop, request.lessons), partial(self._unlearn, done, say))
            case _:
                self._set_pace(request.kind, say)
                done()

    def _set_pace(self, kind: ControlKind, say: Say) -> None:
        match kind:
            case "stop":
                say("stopping on request: the pages in flight finish first")
                self.stop()
            case "pause" if self._state == "running":
                say("pausing on request: the pages in flight finish; `goodbot resume` resumes the crawl")
                self._state = "paused"
                self._crawler.pause()
            case "resume" if self._state == "paused":
                say("resuming on request")
                self._state = "running"
                self._crawler.resume()

    def _unlearn(self, done: Callable[[], object], say: Say, dropped: Sequence[Lesson]) -> None:
        self._crawler.unlearn(dropped)
        say(f"{counted(len(dropped), 'lesson')} dropped")
        done()

    def _submit(self, request: ControlRequest, done: Callable[[], object], say: Say) -> None:
        """Adds those URLs that are in scope to the frontier."""
        found = submitted_urls(self._scope_refuses, request.urls, request.public_only, request.modified_at)

        def added(new: int) -> None:
            say(f"{counted(len(found), 'URL')} submitted, {new} new")
            self._crawler.wake()
            done()

        self._calls.run(partial(self._frontier.add, found), added)

    def _forget(self, urls: Iterable[Url], done: Callable[[], object], say: Say) -> None:
        """Stops requests to the hosts at once and begins to remove their pages from the index. If there are few, all
        are removed before the request counts as done. Other data about the hosts is removed when the crawl ends."""
        hosts = tuple(dict.fromkeys(url.host_key for url in urls))
        for host in hosts:
            self._crawler.leave(host)
        self._calls.run(lambda: [(host, self._bar(host)) for host in hosts], partial(self._remove, done, say))

    def _remove(self, done: Callable[[], object], say: Say, hosts: Iterable[tuple[str, bool]]) -> None:
        for host, is_known in hosts:
            what_follows = (
                "its pages are removed from the search index now, other data about it at the end"
                if is_known
                else "the crawl has no data about it"
            )
            say(f"{host}: no more requests are sent; {what_follows}")
            if is_known:
                self._removals.append(self._remove_from_index(host))
        if self._removals:
            self._remove_some()
        done()

    def _count(self) -> "_Ahead":
        to_fetch = self._count_to_fetch()
        waiting, next_at = self._revisits() if self._revisits is not None and not to_fetch else (0, None)
        return _Ahead(to_fetch, waiting, next_at)

    def _counted(self, ahead: "_Ahead") -> None:
        self._ahead, self._is_counting = ahead, False

    def live(self) -> LiveStatus:
        """The live status of the crawl, with what the frontier answered last about what is ahead."""
        if not self._is_counting:
            self._is_counting = True
            self._calls.run(self._count, self._counted)
        now, statistics = self._timer(), self._statistics
        to_fetch, waiting, next_at = self._ahead
        rate, mean = statistics.rates(now)
        left = to_fetch if self._max_pages is None else min(to_fetch, max(self._max_pages - statistics.pages, 0))
        return LiveStatus(
            pid=os.getpid(),
            started_at=self._began_at,
            at=self._clock.now(),
            pace=self._state,
            pages=statistics.pages,
            bytes=statistics.bytes,
            rate=rate,
            mean_rate=mean,
            to_fetch=to_fetch,
            in_flight=self._crawler.in_flight,
            hosts=statistics.hosts(now),
            workers=self._workers,
            left_s=min(left / rate, 1e9) if rate > 0 and self._state == "running" else None,
            errors=statistics.errors(MAX_ERROR_KINDS),
            troubles=statistics.troubles(MAX_ERROR_KINDS),
            waiting=waiting,
            next_at=next_at,
            memory=self._memory.latest(now),
            store_away=self._calls.away,
        )


class _Ahead(NamedTuple):
    """How many URLs are to be fetched; how many pages wait to be visited again, and when the first is due."""

    to_fetch: int
    waiting: int
    next_at: float | None
