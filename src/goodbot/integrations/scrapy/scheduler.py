"""A scheduler for Scrapy that keeps its requests when the process is killed (for the setting `SCHEDULER`)."""

import logging
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Self

from scrapy import Request, Spider, signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.crawler import Crawler
from scrapy.dupefilters import BaseDupeFilter, RFPDupeFilter
from scrapy.exceptions import CloseSpider
from scrapy.utils.misc import build_from_crawler, load_object

from goodbot.clock import SystemClock
from goodbot.errors import GoodbotError
from goodbot.human import counted
from goodbot.integrations.scrapy.engine_access import (
    FAILED,
    ask_again,
    close_spider,
    end_at_opening,
    is_one_off,
    repeated_call,
    requests_in_progress,
)
from goodbot.integrations.scrapy.host_delays import HostDelays, delays, host_of_queue, queue_of_request
from goodbot.integrations.scrapy.request_coding import RequestCoder, UnreadableRequestError, UnstorableError
from goodbot.integrations.scrapy.settings import is_private_folder, requests_file, wait_most_s
from goodbot.store.requests.request_store import NewRequest, Recovered, RequestStore
from goodbot.store.requests.requests_file import FILE_NAME

_LOG: Final = logging.getLogger(__name__)

TICK_S: Final = 0.25
"""How often changes are put on disk, and waiting hosts are looked at."""
COMMIT_REQUESTS: Final = 10
"""After this many finished requests, a commit follows without waiting for `TICK_S`: a commit takes 0.2 ms, and a kill
repeats fewer requests."""
WAITING: Final = "goodbot_waiting"
_STORED_START: Final = "goodbot_stored_start"
"""This key in `meta` marks start requests that were stored; their redirects and retries inherit it."""


class StoredDupeFilter(RFPDupeFilter):
    """Scrapy's duplicate filter, except that the store keeps the fingerprints, and `RequestStore.add` checks them."""

    store: RequestStore | None = None

    def request_seen(self, request: Request) -> bool:
        """Returns whether the request was stored. Does not add it."""
        return self.store is not None and self.store.has_seen(self.fingerprinter.fingerprint(request))


class Scheduler(BaseScheduler):
    """Keeps requests in a folder (`GOODBOT_FOLDER`, or else `JOBDIR`) until their callback or errback has run to its
    end, and everything it yielded was stored or has gone through the pipelines.

    After a kill at any moment, the next run repeats the requests that were in progress, and at most
    `COMMIT_REQUESTS` others; nothing is lost, except requests that cannot be encoded, such as those with a lambda as
    callback: these are kept in memory. Hosts take turns, those with the fewest requests in progress first; priorities
    count within a host. Commands such as `scrapy shell` and `parse` do not touch the folder.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self._settings = crawler.settings
        self._clock = SystemClock()
        self._store: RequestStore | None = None
        self._leased: dict[Request, int] = {}
        self._unstored: dict[int, Request] = {}
        self._finished = 0
        self._unstored_logged = self._unreadable_logged = False
        self._in_order = "Fifo" in str(self._settings.get("SCHEDULER_DISK_QUEUE"))
        self._start_queue = str(self._settings.get("SCHEDULER_START_DISK_QUEUE") or "")
        self._wait_most_s = 0.0
        self._delays: HostDelays | None = None
        self._tick: Any = None
        self._temporary: TemporaryDirectory[str] | None = None
        self.df = self._dupe_filter()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Makes a scheduler; Scrapy calls this."""
        return cls(crawler)

    def __len__(self) -> int:
        """Returns how many requests wait."""
        return len(self._store) if self._store is not None else 0

    # ---- what Scrapy calls ------------------------------------------------------------------------------------------

    def open(self, spider: Spider) -> Any:
        """Opens the folder. If that is not possible, one line in the log says why, and the spider is closed."""
        self.spider = spider
        try:
            self._wait_most_s = wait_most_s(self._settings)
            path = self._path(spider)
            self._store = RequestStore.open(path, spider.name)
            self._coder = RequestCoder(spider, private=is_private_folder(path))
        except GoodbotError as error:
            end_at_opening(error, self.crawler, inert=True)
            return self.df.open()
        self._delays = delays.get(self.crawler)
        if self._delays is not None:
            self._delays.leased = self._leased
        self._log_recovered(self._store.recovered)
        self.crawler.signals.connect(self._on_idle, signals.spider_idle)
        self._tick = repeated_call(self._on_tick)
        self._tick.start(TICK_S, now=False)
        if isinstance(self.df, StoredDupeFilter):
            self.df.store = self._store
        return self.df.open()

    def _path(self, spider: Spider) -> Path:
        if not is_one_off(self.crawler, spider):
            return requests_file(self._settings, spider.name)
        self._temporary = TemporaryDirectory(prefix="goodbot-", ignore_cleanup_errors=True)
        return Path(self._temporary.name) / FILE_NAME

    def close(self, reason: str) -> Any:
        """Commits what is done. The next run repeats requests that are still in progress."""
        if self._tick is not None and self._tick.running:
            self._tick.stop()
        if self._store is not None:
            try:
                self._settle()
                self._store.close()
            except GoodbotError as error:
                _LOG.error("%s", error, extra={"spider": self.spider})
            self._store = None
        if self._temporary is not None:
            self._temporary.cleanup()
        return self.df.close(reason)

    def has_pending_requests(self) -> bool:
        """Returns whether requests wait that can be sent within `GOODBOT_WAIT_MOST` seconds."""
        if self._store is None or not len(self._store):
            return False
        try:
            return self._store.next_due() <= self._clock.now() + self._wait_most_s
        except GoodbotError as error:
            self._fail(error)
            return False

    def enqueue_request(self, request: Request) -> bool:
        """Stores a request; returns False if it is a duplicate."""
        if self._store is None:
            return False
        try:
            return self._put_back(self._store, request) or self._enqueue(self._store, request)
        except GoodbotError as error:
            self._fail(error)
            return False

    def next_request(self) -> Request | None:
        """Returns the next request whose host may be requested now, or None."""
        if self._store is None:
            return None
        try:
            self._settle()
            return self._next(self._store)
        except GoodbotError as error:
            self._fail(error)
            return None

    # ---- storing ----------------------------------------------------------------------------------------------------

    def _enqueue(self, store: RequestStore, request: Request) -> bool:
        filtered = isinstance(self.df, StoredDupeFilter) and not request.dont_filter
        is_start = bool(request.meta.get("is_start_request")) and _STORED_START not in request.meta
        fingerprint = self.crawler.request_fingerprinter.fingerprint(request) if filtered or is_start else None
        if self._is_duplicate(store, request, fingerprint if filtered else None):
            self.df.log(request, self.spider)
            return False
        data = self._encoded(request)
        key = store.add(
            NewRequest(
                host=queue_of_request(request),
                data=data,
                priority=request.priority,
                **self._order_of(request),
                fingerprint=fingerprint if filtered else None,
                start=fingerprint if is_start else None,
            )
        )
        if key is None:
            self.df.log(request, self.spider)
            return False
        if data is None:
            self._unstored[key] = request
        self._count("enqueued", in_memory=data is None)
        return True

    def _is_duplicate(self, store: RequestStore, request: Request, fingerprint: bytes | None) -> bool:
        """Asks first, because most requests are duplicates, and these need not be encoded."""
        if fingerprint is not None:
            return store.has_seen(fingerprint)
        return not (request.dont_filter or isinstance(self.df, StoredDupeFilter)) and self.df.request_seen(request)

    def _put_back(self, store: RequestStore, request: Request) -> bool:
        """Takes back a request that has to wait for its host: it waits again at its place. Returns False for all other
        requests."""
        until = None if self._delays is None else self._delays.put_back_until.pop(request, None)
        if until is None or request not in self._leased:
            return False
        store.put_back(self._leased.pop(request))
        store.hold(queue_of_request(request), until)
        return True

    def _order_of(self, request: Request) -> dict[str, bool]:
        """By Scrapy's settings: usually start requests come after others of their priority, in order; the others come
        last one first."""
        if self._start_queue and request.meta.get("is_start_request"):
            return {"late": True, "in_order": "Fifo" in self._start_queue}
        return {"late": False, "in_order": self._in_order}

    def _encoded(self, request: Request) -> bytes | None:
        """Returns None for a request that cannot be encoded, or need not be. `scrapy shell` changes the callback of its
        request afterwards."""
        if self._temporary is not None:
            return None
        try:
            return self._coder.encode(request)
        except UnstorableError as error:
            if not self._unstored_logged:
                self._unstored_logged = True
                _LOG.warning(  # the first words are Scrapy's
                    "Unable to serialize request: %s: %s. It is kept in memory, and a kill would lose it (more are only"
                    " counted, in scheduler/unserializable)",
                    *(request, error),
                    extra={"spider": self.spider},
                )
            self._inc("scheduler/unserializable")
            return None

    # ---- handing out ------------------------------------------------------------------------------------------------

    def _next(self, store: RequestStore) -> Request | None:
        while (host := store.next_host()) is not None:
            if self._delays is not None:
                queue, in_progress = host
                until = self._delays.held_until(host_of_queue(queue), in_progress, self._clock.now())
                if until is not None:
                    store.hold(queue, until)
                    continue
            leased = store.lease()
            if leased is None:
                return None
            request = self._decoded(store, leased.key, leased.data)
            if request is not None:
                self._leased[request] = leased.key
                self._count("dequeued", in_memory=leased.data is None)
                return request
        return None

    def _decoded(self, store: RequestStore, key: int, data: bytes | None) -> Request | None:
        """Returns None for a request that the spider's code cannot make any more. It stays leased, so the next run
        tries again."""
        if data is None:
            return self._unstored[key]
        try:
            request = self._coder.decode(data)
        except UnreadableRequestError as error:
            self._inc("scheduler/unreadable")
            if not self._unreadable_logged:
                self._unreadable_logged = True
                _LOG.error(
                    "cannot rebuild a stored request; it is kept for the next run: %s (further ones are only counted,"
                    " in scheduler/unreadable)",
                    error,
                    extra={"spider": self.spider},
                )
            store.set_aside(key)
            return None
        if request.meta.get("is_start_request"):
            request.meta[_STORED_START] = True
        return request

    # ---- settling ---------------------------------------------------------------------------------------------------

    def _settle(self) -> None:
        """Marks requests as done that the engine has ended, and commits if enough are."""
        in_progress = requests_in_progress(self.crawler)
        if self._store is None or in_progress is None:
            return
        for request in [request for request in self._leased if request not in in_progress]:
            key = self._leased.pop(request)
            self._store.done(key)
            self._unstored.pop(key, None)
            self._finished += 1
        if self._finished >= COMMIT_REQUESTS:
            self._store.commit(durable=False)
            self._finished = 0

    def _on_tick(self) -> None:
        if self._store is None:
            return
        try:
            self._settle()
            self._store.commit()
            if self._store.release(self._clock.now() + TICK_S):
                ask_again(self.crawler)
        except GoodbotError as error:
            self._fail(error)

    def _on_idle(self) -> None:
        """Gives the spider's end a reason of its own if it has failed, or if requests are left for a later run."""
        if self._store is None:
            raise CloseSpider(FAILED)
        try:
            wait_s = self._store.next_due() - self._clock.now()
        except GoodbotError as error:
            self._fail(error)
            raise CloseSpider(FAILED) from error
        if len(self):
            _LOG.warning(
                "%s left: their hosts ask for a wait of %.0f s or longer, more than GOODBOT_WAIT_MOST (%.0f s); run the"
                " spider again after that time",
                *(counted(len(self), "request"), wait_s, self._wait_most_s),
                extra={"spider": self.spider},
            )
            raise CloseSpider(WAITING)

    def _fail(self, error: GoodbotError) -> None:
        """Ends the crawl: what was committed is kept."""
        self._store = None
        _LOG.error("%s", error, extra={"spider": self.spider})
        close_spider(self.crawler, FAILED)

    # ---- small parts ------------------------------------------------------------------------------------------------

    def _dupe_filter(self) -> BaseDupeFilter:
        kind = load_object(self._settings["DUPEFILTER_CLASS"])
        if kind is RFPDupeFilter:
            return StoredDupeFilter(
                debug=self._settings.getbool("DUPEFILTER_DEBUG"), fingerprinter=self.crawler.request_fingerprinter
            )
        made: BaseDupeFilter = build_from_crawler(kind, self.crawler)
        return made

    def _log_recovered(self, recovered: Recovered) -> None:
        waiting, in_flight, lost, done = recovered
        if waiting:
            _LOG.info(
                "Resuming crawl (%d requests scheduled, %d of them were in progress when the last run ended)",
                *(waiting, in_flight),
                extra={"spider": self.spider},
            )
        elif done:
            _LOG.info(
                "This crawl is complete (%d requests are done). Start requests are not sent again: for a new crawl, use"
                " another folder",
                done,
                extra={"spider": self.spider},
            )
        if lost:
            _LOG.warning(
                "lost %s that the last run could not store and did not finish; start requests among them are sent"
                " again",
                counted(lost, "request"),
                extra={"spider": self.spider},
            )

    def _count(self, name: str, *, in_memory: bool) -> None:
        self._inc(f"scheduler/{name}")
        self._inc(f"scheduler/{name}/{'memory' if in_memory else 'disk'}")

    def _inc(self, name: str) -> None:
        if self.crawler.stats is not None:
            self.crawler.stats.inc_value(name)
