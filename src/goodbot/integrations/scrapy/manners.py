"""A downloader middleware for Scrapy that keeps the delays sites ask for, and sends nothing to private addresses."""

import logging
import math
from collections.abc import Container, MutableMapping
from contextlib import AsyncExitStack
from typing import Final, NamedTuple, Self
from weakref import WeakKeyDictionary

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.settings import BaseSettings

from goodbot.clock import SystemClock
from goodbot.config import Settings
from goodbot.errors import GoodbotError, InputError
from goodbot.exclusion import RobotsTxt
from goodbot.exclusion.robotstxt.timing import Timing
from goodbot.integrations.scrapy.engine_access import end_at_opening, has_asyncio
from goodbot.integrations.scrapy.failures import failure_of
from goodbot.integrations.scrapy.host_delays import delays, host_of_request
from goodbot.integrations.scrapy.private_addresses import PrivateAddresses
from goodbot.integrations.scrapy.settings import open_networks, seconds, wait_most_s
from goodbot.lru import LruCache
from goodbot.robot.fetch.guard import Network
from goodbot.robot.manners.pace import Pace, Turn
from goodbot.robot.manners.politeness import NOTHING_ASKED, asked_gap_s, bounded_timing
from goodbot.url import Url, parse_url
from goodbot.values import Capture, Failure
from goodbot.values import Request as SentRequest
from goodbot.values import Response as Answer

_LOG: Final = logging.getLogger(__name__)

PUT_BACK_S: Final = 1.0
"""A request that has to wait longer than this goes back to goodbot's scheduler, so that it takes none of the
CONCURRENT_REQUESTS."""
AHEAD_S: Final = 0.25
"""The scheduler hands out a request up to this many seconds early; the middleware waits for the remaining time."""
MAX_HOSTS: Final = 50_000
_LONGEST_S: Final = 1e9
_UNTIL_ANSWER: Final = math.inf
_NO_ASYNCIO: Final = (
    "goodbot.integrations.scrapy.Manners needs Scrapy's asyncio reactor, the default: remove TWISTED_REACTOR from your"
    " settings. Or disable Manners (None in DOWNLOADER_MIDDLEWARES); goodbot then keeps no delays, and only Resolver"
    " checks private addresses"
)

_NO_RULES: Final = RobotsTxt.parse(b"")
"""A placeholder: Scrapy has already checked robots.txt, but goodbot's `Request` needs a verdict."""


class _Sent(NamedTuple):
    """A request on its way: its turn at the host ends when `stack` is closed."""

    stack: AsyncExitStack
    turn: Turn
    url: Url
    at: float


class Manners:
    """Waits before a request until its host may be requested: after the Crawl-delay or Request-rate of its robots.txt
    (with goodbot's `RobotsTxtMiddleware`), its Retry-After, and a back-off that doubles with each 429, 503 or failed
    request. Hosts of one address take turns. Requests to private addresses are not sent (see `PrivateAddresses`).

    Needs Scrapy's asyncio reactor. Without it, or with unusable settings, the spider ends before the first request.

    Place it next to the downloader (950), so that answers from the HTTP cache do not wait. Without goodbot's scheduler,
    a request that waits takes one of the CONCURRENT_REQUESTS. Scrapy before 2.14 passes `spider` to the methods.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._clock = SystemClock()
        self._crawler = crawler
        self._timings: LruCache[str, Timing] = LruCache(MAX_HOSTS)
        self._sent: MutableMapping[Request, _Sent] = WeakKeyDictionary()
        self.put_back_until: MutableMapping[Request, float] = WeakKeyDictionary()
        self.leased: Container[Request] = ()
        self._wait_most_s = 0.0
        limits, allowed = Settings(), list[Network]()
        try:
            if not has_asyncio():
                raise InputError(_NO_ASYNCIO)
            limits, allowed = _limits(crawler.settings), open_networks(crawler.settings)
            self._wait_most_s = wait_most_s(crawler.settings)
        except GoodbotError as error:
            end_at_opening(error, crawler, inert=False)
        self._pace = Pace(limits, self._clock)
        self._private = PrivateAddresses(allowed, self._clock)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Makes the middleware of a crawl; Scrapy calls this."""
        manners = cls(crawler)
        delays[crawler] = manners
        return manners

    def note_rules(self, request: Request, timing: Timing) -> None:
        """See `HostDelays.note_rules`."""
        self._timings.put(host_of_request(request), bounded_timing(timing))

    def held_until(self, host: str, leased: int, now: float) -> float | None:
        """See `HostDelays.held_until`."""
        timing = self._timings.get(host) or NOTHING_ASKED
        lanes = 1 if asked_gap_s(timing, now) else self._pace.lanes(host)
        if leased >= lanes:
            return _UNTIL_ANSWER
        ready_at = self._pace.ready_at(host, timing)
        return ready_at if ready_at > now + AHEAD_S else None

    async def process_request(self, request: Request, spider: Spider | None = None) -> Request | None:
        """Waits for the host. Returns the request itself to put it back into goodbot's scheduler. Raises IgnoreRequest
        if it must not be sent, or is none of the scheduler's and would have to wait too long."""
        url = parse_url(request.url)
        if url is None:
            return None
        reason = await self._private.refusal(request, url)
        if reason is not None:
            self._inc("goodbot/private_address")
            raise IgnoreRequest(reason)
        stack = AsyncExitStack()
        turn = await stack.enter_async_context(self._pace.turn(url))
        try:
            timing = self._timings.get(url.host_key) or NOTHING_ASKED
            most_s = PUT_BACK_S if request in self.leased else self._wait_most_s
            until = await turn.wait_until_ready(timing, most_s)
        except BaseException:
            await stack.aclose()
            raise
        if until is not None:
            await stack.aclose()
            if request in self.leased:
                self.put_back_until[request] = until
                return request
            self._inc("goodbot/wait_too_long")
            wait_s = until - self._clock.now()
            raise IgnoreRequest(
                f"{url.host_key} asks for a wait of {wait_s:.0f} s, more than GOODBOT_WAIT_MOST ({most_s:g} s)"
            )
        self._sent[request] = _Sent(stack, turn, url, self._clock.now())
        return None

    async def process_response(self, request: Request, response: Response, spider: Spider | None = None) -> Response:
        """Records the answer. Raises IgnoreRequest if a private address has given it."""
        fields = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in _fields(response))
        address = None if request.meta.get("proxy") or response.ip_address is None else str(response.ip_address)
        await self._answered(request, Answer(response.status, fields, b""), address)
        url = parse_url(request.url)
        if address is not None and url is not None:
            reason = self._private.refusal_of([address], request, url)
            if reason is not None:
                self._inc("goodbot/private_address")
                raise IgnoreRequest(reason)
        return response

    async def process_exception(self, request: Request, exception: Exception, spider: Spider | None = None) -> None:
        """Records that there was no answer."""
        await self._answered(request, failure_of(exception), None)

    async def _answered(self, request: Request, result: Answer | Failure, address: str | None) -> None:
        sent = self._sent.pop(request, None)
        if sent is None:  # another middleware has answered
            return
        described = SentRequest(sent.url, _NO_RULES.verdict(sent.url.text, "*"))
        capture = Capture(described, result, sent.at, self._clock.now() - sent.at, address)
        timing = self._timings.get(sent.url.host_key) or NOTHING_ASKED
        delay = sent.turn.answered(capture, timing)
        if delay.reason:
            self._inc("goodbot/delayed")
            _LOG.debug("%s: %s", sent.url.host_key, delay.reason)
        await sent.stack.aclose()

    def _inc(self, name: str) -> None:
        if self._crawler.stats is not None:
            self._crawler.stats.inc_value(name)


def _fields(response: Response) -> list[tuple[bytes, bytes]]:
    return [(name, value) for name, values in response.headers.items() for value in values]


def _limits(settings: BaseSettings) -> Settings:
    return Settings(
        per_host=max(1, settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN")),
        delay=0.0,  # DOWNLOAD_DELAY is Scrapy's own
        response_factor=0.0,
        address_delay=seconds(settings, "GOODBOT_ADDRESS_DELAY", Settings().address_delay),
        crawl_delay_most=_LONGEST_S,
        retry_after_most=_LONGEST_S,
    )
