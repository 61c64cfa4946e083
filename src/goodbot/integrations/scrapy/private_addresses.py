"""Keeps Scrapy from private addresses: a check before each request, and a resolver that checks when it connects."""

import logging
from collections.abc import Iterable
from typing import Any, Final, Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.resolver import CachingThreadedResolver
from twisted.internet.base import ReactorBase
from twisted.internet.error import DNSLookupError

from goodbot.config import Settings
from goodbot.errors import InputError
from goodbot.integrations.scrapy.settings import open_networks
from goodbot.ports import Clock
from goodbot.robot.fetch.guard import AddressGuard, Network, private_range
from goodbot.robot.fetch.resolver import NameResolver
from goodbot.url import Url, is_private_host, parse_url, reached_address
from goodbot.values import Failure

_LOG: Final = logging.getLogger(__name__)
_ALLOW: Final = "to allow it, add it to GOODBOT_ALLOW_PRIVATE"


class PrivateAddresses:
    """Permits public addresses, and those in GOODBOT_ALLOW_PRIVATE; but no private ones after a redirect from a public
    host. Behind a proxy only addresses in URLs are checked, because the proxy looks names up."""

    def __init__(self, allowed: Iterable[Network], clock: Clock) -> None:
        self._guard = AddressGuard(allowed)
        self._names = NameResolver(Settings(), clock)

    async def refusal(self, request: Request, url: Url) -> str | None:
        """Returns why a request must not be sent, in one sentence; None if it may be sent, or if its host has no
        address."""
        if reached_address(url.host) is not None:
            return self.refusal_of([url.host], request, url)
        if request.meta.get("proxy"):
            return None
        found = await self._names.resolve(url.host)
        return None if isinstance(found, Failure) else self.refusal_of(found, request, url)

    def refusal_of(self, addresses: Iterable[str], request: Request, url: Url) -> str | None:
        """Returns why these addresses of the request's host must not be requested; None if all may be."""
        public_only = _is_led_from_public(request)
        for address in addresses:
            if not self._guard.permits(address, public_only):
                return refusal_text(url.host, address, public_only=public_only)
        return None


def refusal_text(host: str, address: str, *, public_only: bool) -> str:
    """Returns the sentence for the log."""
    named = f"{address} is a private address" if host == address else f"{host} has the private address {address}"
    why = ", and a public host redirected there" if public_only else f": {_ALLOW}"
    return f"{named} (range {private_range(address)}){why}"


def _is_led_from_public(request: Request) -> bool:
    """Returns whether a public host redirected to this request."""
    urls = (parse_url(str(text)) for text in request.meta.get("redirect_urls", ()))
    return any(not is_private_host(url.host) for url in urls if url is not None)


class Resolver(CachingThreadedResolver):
    """Scrapy's resolver (for the setting `TWISTED_DNS_RESOLVER`, before Scrapy 2.15 `DNS_RESOLVER`), except that it
    returns no private addresses but those in GOODBOT_ALLOW_PRIVATE. The connection goes to the address that was
    checked, so a name cannot resolve to another address in between."""

    guard = AddressGuard()

    @classmethod
    def from_crawler(cls, crawler: Crawler, reactor: ReactorBase) -> Self:
        """Makes the resolver; Scrapy calls this. If GOODBOT_ALLOW_PRIVATE cannot be used, no private address is
        given."""
        resolver = super().from_crawler(crawler, reactor)
        try:
            resolver.guard = AddressGuard(open_networks(crawler.settings))
        except InputError as error:
            _LOG.error("%s", error)
        return resolver

    def getHostByName(self, name: str, timeout: Any = ()) -> Any:  # noqa: N802  (Twisted's name)
        """Looks up a name. The result fails with DNSLookupError if its address is private."""
        return super().getHostByName(name, timeout).addCallback(self._checked, name)

    def _checked(self, address: str, name: str) -> str:
        if not self.guard.permits(address, False):
            raise DNSLookupError(refusal_text(name, address, public_only=False))
        return address
