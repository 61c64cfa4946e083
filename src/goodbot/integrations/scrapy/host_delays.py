"""What the scheduler and the middlewares share: which host a request is for, and until when that host is held."""

from collections.abc import Container, MutableMapping
from typing import Final, Protocol
from weakref import WeakKeyDictionary

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.utils.httpobj import urlparse_cached

from goodbot.exclusion.robotstxt.timing import Timing
from goodbot.url import parse_url


class HostDelays(Protocol):
    """The delays of the hosts of one crawl; `Manners` implements it.

    `leased`: the requests that goodbot's scheduler has given out, and takes back if they would have to wait long.
    `put_back_until`: for each request given back, when it may be sent (Unix seconds)."""

    leased: Container[Request]
    put_back_until: MutableMapping[Request, float]

    def note_rules(self, request: Request, timing: Timing) -> None:
        """Notes what the robots.txt of a request's site asks for."""

    def held_until(self, host: str, leased: int, now: float) -> float | None:
        """Returns until when no request may go to a host, of which `leased` requests are in progress (infinity: until
        one of them is answered); None if one may go now."""


delays: Final[MutableMapping[Crawler, HostDelays]] = WeakKeyDictionary()
"""The `HostDelays` of each crawl that enables `Manners`."""


def host_of_request(request: Request) -> str:
    """Returns the unit of politeness: the host, or host and port on private addresses; for other schemes, the
    scheme."""
    url = parse_url(request.url)
    return request.url.partition("/")[0] if url is None else url.host_key


def queue_of_request(request: Request) -> str:
    """Returns the queue in which a request waits: that of its host, or one for each `download_slot` that a spider uses
    at this host."""
    host, slot = host_of_request(request), request.meta.get("download_slot")
    return host if slot is None or slot == urlparse_cached(request).hostname else f"{slot} {host}"


def host_of_queue(queue: str) -> str:
    """Returns the host of a queue."""
    return queue.rpartition(" ")[2]
