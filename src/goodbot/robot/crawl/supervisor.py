"""Lets a running crawl be seen and told: takes wishes twice a second, and says how it goes."""

import asyncio
import logging
import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from goodbot.human import counted
from goodbot.lesson_values import Lesson
from goodbot.live import ControlRequest, EndReason, LiveStatus, RunState
from goodbot.ports import Clock, ControlInbox, Frontier, RunnableCrawl, Say
from goodbot.robot.crawl.statistics import CrawlStatistics
from goodbot.url import Url
from goodbot.values import Discovery, Outcome

LOOK_S: Final = 0.5
KINDS_MOST: Final = 20
"""Of errors shown."""

_log = logging.getLogger(__name__)


class Supervisor:
    """Runs a crawl, and looks after its wishes meanwhile. `refuse` is that of its scope, `to_fetch` counts URLs ready
    or leased, `bar` has the frontier find and lease nothing more of a host (False: nothing is
    known of it), `unlist` takes its pages out of the search,
    a part at each step. `again` counts what a crawl that keeps fresh asks for again, and says when that begins.
    `drop` takes lessons out of the frontier by their ids, and gives them."""

    def __init__(
        self,
        crawler: RunnableCrawl,
        *,
        wishes: ControlInbox,
        frontier: Frontier,
        refuse: Callable[[Url, int], str | None],
        to_fetch: Callable[[], int],
        bar: Callable[[str], bool],
        unlist: Callable[[str], Iterator[None]],
        workers: int,
        clock: Clock,
        timer: Callable[[], float] = time.monotonic,
        again: Callable[[], tuple[int, float | None]] | None = None,
        drop: Callable[[Iterable[str]], Sequence[Lesson]] = lambda ids: (),
    ) -> None:
        self._crawler = crawler
        self._wishes = wishes
        self._frontier = frontier
        self._refuse = refuse
        self._to_fetch = to_fetch
        self._bar = bar
        self._unlist = unlist
        self._unlisting: deque[Iterator[None]] = deque()
        self._workers = workers
        self._clock = clock
        self._timer = timer
        self._again = again
        self._drop = drop
        self._began_at = clock.now()
        self._max_pages: int | None = None
        self._pace: RunState = "running"
        self._tally = CrawlStatistics(timer())

    def observe(self, outcome: Outcome) -> None:
        """Counts an outcome that has been committed."""
        if _log.isEnabledFor(logging.DEBUG):
            url, status = outcome.url.text, outcome.status
            fields = {"url": url, "state": outcome.state, "status": status}
            _log.debug("%s: %s: %s", url, outcome.state, outcome.why, extra=fields)
        self._tally.observe(outcome, self._timer())

    def stop(self) -> None:
        """Pages in flight finish, nothing new begins."""
        self._pace = "stopping"
        self._crawler.stop()

    async def run(self, max_pages: int | None, say: Say, tick: Callable[[LiveStatus], None]) -> EndReason:
        """As `Crawler.run`; `say` is told what was wished, `tick` twice a second how it goes."""
        self._max_pages = max_pages
        _log.info("crawl started: %s", counted(self._workers, "worker"), extra={"workers": self._workers})
        try:
            reason = await self._run(max_pages, say, tick)
        except Exception:
            _log.exception("crawl ended by a failure, outcomes: %s", self._counts())
            raise
        _log.info(
            "crawl ended (%s), outcomes: %s", reason, self._counts(), extra={"reason": reason, "states": self._states()}
        )
        return reason

    async def _run(self, max_pages: int | None, say: Say, tick: Callable[[LiveStatus], None]) -> EndReason:
        watch = asyncio.create_task(self._watch(say, tick))
        run = asyncio.create_task(self._crawler.run(max_pages))
        try:
            await asyncio.wait((run, watch), return_when=asyncio.FIRST_COMPLETED)
            if not run.done():  # the watch only ends by an error
                run.cancel()
            await asyncio.wait((run,))
        finally:
            watch.cancel()
            run.cancel()
            await asyncio.gather(run, watch, return_exceptions=True)
        if not watch.cancelled():
            watch.result()
        return run.result()

    def _states(self) -> dict[str, int]:
        return dict(self._tally.states)

    def _counts(self) -> str:
        return ", ".join(f"{count} {state}" for state, count in sorted(self._states().items())) or "none"

    async def _watch(self, say: Say, tick: Callable[[LiveStatus], None]) -> None:
        while True:
            for wish in self._wishes.take(say):
                self._carry_out(wish, say)
            live = self.live()
            self._wishes.show(live)
            tick(live)
            await self._until_next_look()

    async def _until_next_look(self) -> None:
        """Pages of forgotten hosts leave the search meanwhile; between two steps the crawl goes on."""
        until = self._timer() + LOOK_S
        while self._unlisting and self._timer() < until:
            self._unlist_some()
            await self._clock.sleep(0)
        await self._clock.sleep(max(until - self._timer(), 0))

    def _unlist_some(self) -> None:
        if next(self._unlisting[0], self) is self:
            self._unlisting.popleft()

    def _carry_out(self, wish: ControlRequest, say: Say) -> None:
        match wish.kind:
            case "submit":
                self._submit(wish.urls, say)
            case "forget":
                self._forget(wish.urls, say)
            case "unlearn":
                dropped = self._drop(wish.lessons)
                self._crawler.unlearn(dropped)
                say(f"{counted(len(dropped), 'lesson')} dropped")
            case "stop":
                say("stopping on request: the pages in flight finish first")
                self.stop()
            case "pause" if self._pace == "running":
                say("pausing on request: the pages in flight finish; `goodbot resume` resumes the crawl")
                self._pace = "paused"
                self._crawler.pause()
            case "resume" if self._pace == "paused":
                say("resuming on request")
                self._pace = "running"
                self._crawler.resume()

    def _submit(self, urls: Iterable[Url], say: Say) -> None:
        """Those in scope are known from now on."""
        found = [Discovery(url, 0) for url in urls if self._refuse(url, 0) is None]
        new = self._frontier.add(found)
        say(f"{counted(len(found), 'URL')} submitted, {new} new")
        self._crawler.wake()

    def _forget(self, urls: Iterable[Url], say: Say) -> None:
        """The crawl leaves the hosts, and their pages leave the search, at once: all of them before the wish is taken
        for done, if they are few. What else is kept of the hosts is removed when the crawl ends."""
        for host in dict.fromkeys(url.host_key for url in urls):
            is_known = self._bar(host)
            rest = (
                "its pages leave the search index now, all else is removed at the end"
                if is_known
                else "the crawl did not know it"
            )
            say(f"{host}: no more requests are sent; {rest}")
            self._crawler.leave(host)
            if is_known:
                self._unlisting.append(self._unlist(host))
        if self._unlisting:
            self._unlist_some()

    def live(self) -> LiveStatus:
        """How it goes now."""
        now, tally = self._timer(), self._tally
        to_fetch = self._to_fetch()
        rate, mean = tally.rates(now)
        waiting, next_at = self._again() if self._again is not None and not to_fetch else (0, None)
        left = to_fetch if self._max_pages is None else min(to_fetch, max(self._max_pages - tally.pages, 0))
        return LiveStatus(
            pid=os.getpid(),
            started_at=self._began_at,
            at=self._clock.now(),
            pace=self._pace,
            pages=tally.pages,
            bytes=tally.bytes,
            rate=rate,
            mean_rate=mean,
            to_fetch=to_fetch,
            in_flight=self._crawler.in_flight,
            hosts=tally.hosts(now),
            workers=self._workers,
            left_s=min(left / rate, 1e9) if rate > 0 and self._pace == "running" else None,
            errors=tally.errors(KINDS_MOST),
            troubles=tally.troubles(),
            waiting=waiting,
            next_at=next_at,
        )
