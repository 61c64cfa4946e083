"""Reaches into Scrapy's engine where it has no public interface: which requests are in progress, and a call that makes
it ask the scheduler again. Scrapy 2.13 to 2.19 have the same attributes."""

import logging
from collections.abc import Callable
from typing import Any, Final

from scrapy import Request, Spider, signals
from scrapy.core.engine import ExecutionEngine
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider

from goodbot.errors import GoodbotError

_LOG: Final = logging.getLogger(__name__)

FAILED: Final = "goodbot_failed"
"""The close reason of a spider whose folder or settings cannot be used."""


def requests_in_progress(crawler: Crawler | None) -> set[Request] | None:
    """Returns the requests that the engine has begun and not ended: a request ends when its callback or errback has
    returned, and what that yielded has been stored or has gone through the pipelines. None: there is no engine."""
    found = getattr(_slot(crawler), "inprogress", None)
    return found if isinstance(found, set) else None


def ask_again(crawler: Crawler | None) -> None:
    """Makes the engine call `next_request` soon."""
    slot = _slot(crawler)
    if slot is not None and slot.closing is None:
        slot.nextcall.schedule()


def close_spider(crawler: Crawler | None, reason: str) -> None:
    """Begins to close the spider. If the reason is `FAILED`, the commands of Scrapy then end with status 1."""
    if crawler is None or crawler.engine is None or crawler.spider is None or _slot(crawler) is None:
        return
    engine, spider = crawler.engine, crawler.spider
    if reason == FAILED:
        _end_with_status_1(crawler)
    if hasattr(engine, "close_spider_async"):  # Scrapy 2.14
        from scrapy.utils.defer import deferred_from_coro  # noqa: PLC0415

        deferred_from_coro(engine.close_spider_async(reason=reason))
    else:
        engine.close_spider(spider, reason)


def end_at_opening(error: GoodbotError, crawler: Crawler, *, inert: bool) -> None:
    """Ends a crawl that is being opened, with the error as one line of the log. `inert`: no request will be sent, so
    the spider is closed after opening. Scrapy before 2.19 needs `inert`: without it, the error is raised into
    Scrapy."""
    at_once = hasattr(ExecutionEngine, "scheduler")
    if not (at_once or inert):
        raise error

    def end(spider: Spider) -> None:
        raise CloseSpider(FAILED)

    _LOG.error("%s", error, extra={"spider": crawler.spider})
    _end_with_status_1(crawler)
    # At `spider_opened` all parts of Scrapy are open, so that they can be closed.
    crawler.signals.connect(end, signals.spider_opened if at_once else signals.spider_idle, weak=False)


def _end_with_status_1(crawler: Crawler) -> None:
    """Scrapy does so if a crawler has no spider in the end, because that could not be made."""

    def forget(spider: Spider) -> None:
        crawler.spider = None

    crawler.signals.connect(forget, signals.spider_closed, weak=False)


def repeated_call(function: Callable[[], None]) -> Any:
    """Returns an object whose `start(interval, now=False)` calls the function regularly until its `stop()`."""
    try:
        from scrapy.utils.asyncio import create_looping_call  # noqa: PLC0415  (since Scrapy 2.14)
    except ImportError:
        from twisted.internet.task import LoopingCall  # noqa: PLC0415

        return LoopingCall(function)
    return create_looping_call(function)


def has_asyncio() -> bool:
    """Returns whether Scrapy runs on asyncio, with or without Twisted's reactor."""
    try:
        from scrapy.utils.asyncio import is_asyncio_available  # noqa: PLC0415  (since Scrapy 2.14)
    except ImportError:
        from scrapy.utils.reactor import is_asyncio_reactor_installed  # noqa: PLC0415

        return is_asyncio_reactor_installed()
    return is_asyncio_available()


def is_one_off(crawler: Crawler, spider: Spider) -> bool:
    """Returns whether this is not a crawl, but a command of Scrapy that requests single pages: `shell`, which keeps the
    engine open, or `fetch`, `view`, `parse` or `check`, which replace the start of the spider."""
    slot = _slot(crawler)
    is_replaced = str(getattr(type(spider).start, "__module__", "")).startswith("scrapy.commands.")
    return is_replaced or not getattr(slot, "close_if_idle", True)


def _slot(crawler: Crawler | None) -> Any:
    engine = None if crawler is None else crawler.engine
    return getattr(engine, "_slot", None)
