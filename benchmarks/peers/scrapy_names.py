"""Makes Scrapy send its DNS queries to one name server (setting NAME_SERVER), with the DNS client of Twisted."""

from typing import Any

from scrapy.resolver import CachingThreadedResolver, dnscache
from twisted.internet.abstract import isIPAddress
from twisted.internet.defer import Deferred, succeed
from twisted.internet.error import DNSLookupError
from twisted.names.client import Resolver


class Names(CachingThreadedResolver):
    """Sends queries directly to the name server, since the resolver of the system does not know these names."""

    @classmethod
    def from_crawler(cls, crawler: Any, reactor: Any) -> "Names":
        names = super().from_crawler(crawler, reactor)
        address, _, port = crawler.settings["NAME_SERVER"].rpartition(":")
        names._client = Resolver(servers=[(address, int(port))], reactor=reactor)
        return names

    def getHostByName(self, name: str, timeout: Any = ()) -> Deferred:  # noqa: N802  (Twisted's name)
        if isIPAddress(name):
            return succeed(name)
        if name in dnscache:
            return succeed(dnscache[name])
        return self._client.lookupAddress(name).addCallbacks(self._keep, self._fail, callbackArgs=(name,))

    def _keep(self, answer: Any, name: str) -> str:
        dnscache[name] = answer[0][0].payload.dottedQuad()
        return dnscache[name]

    def _fail(self, failure: Any) -> None:
        raise DNSLookupError(str(failure.value))  # Scrapy would print other exceptions
