"""Crawls of sites on loopback that have public names, and the services for their visitors. For these services 127.0.0.1
alone is a public address."""

from ipaddress import ip_network
from pathlib import Path

from goodbot.clock import SystemClock
from goodbot.config import Settings
from goodbot.crawl_bounds import CrawlBounds
from goodbot.crawl_folder import CrawlFolder
from goodbot.ports import Transport
from goodbot.robot.fetch.guard import AddressGuard
from goodbot.robot.fetch.transport import CurlTransport
from goodbot.testing import FakeResolver, MemoryFrontier
from goodbot.url import Url, parse_url
from goodbot.visitors.copies import CachedCopies
from goodbot.visitors.indexnow import IndexNowRequests
from goodbot.visitors.removals import RemovalRequests
from goodbot.visitors.services import VisitorServices
from goodbot.visitors.stories import UrlStories
from goodbot.visitors.submissions import VisitorRequests
from goodbot.visitors.typed_urls import TypedUrls
from goodbot.web.public_sites import FETCH_TIMEOUT_S, PublicSites, visitors_settings
from journey.goodbot_process import Ended, goodbot
from webserver import WebServer

PUBLIC, INSIDE = "public.example", "inside.example"
"""A name that leads to 127.0.0.1, and one that leads to 127.0.0.2."""
ADDRESSES = {PUBLIC: ["127.0.0.1"], INSIDE: ["127.0.0.2"]}
CONTACT = "me@example.org"


def url_at(server: WebServer, path: str, name: str = PUBLIC) -> Url:
    """Returns the URL of a path under a public name of the server."""
    url = parse_url(f"http://{name}:{server.port}{path}")
    assert url is not None
    return url


async def crawl(server: WebServer, folder: Path, *options: str | Path, name: str = PUBLIC) -> Ended:
    """Crawls the server under a name, to its end."""
    ended = await goodbot(
        *("crawl", url_at(server, "/", name).text, "--into", folder, "--allow-private", "--delay", "0"),
        *("--contact", CONTACT, "--resolve", f"{name}:{server.port}:{ADDRESSES[name][0]}", *options),
    )
    assert ended.status == 0, ended.err
    return ended


def sites(settings: Settings | None = None, *, timeout_s: float = FETCH_TIMEOUT_S) -> PublicSites:
    """Makes a visitor of sites over real sockets."""
    limited = visitors_settings(settings or Settings(contact=CONTACT, delay=0, response_factor=0))
    guard, clock = AddressGuard([ip_network("127.0.0.1/32")]), SystemClock()

    def transport() -> Transport:
        return CurlTransport(limited, _Public(guard), "goodbot/0", CONTACT, clock, resolver=FakeResolver(ADDRESSES))

    parts = limited, "goodbot", transport, MemoryFrontier, clock
    return PublicSites(*parts, timeout_s=timeout_s, refusal_delay_s=0.0)


class _Public(AddressGuard):
    """A guard for which 127.0.0.1 is as public as any address."""

    def __init__(self, guard: AddressGuard) -> None:
        super().__init__()
        self._guard = guard

    def permits(self, address: str, public_only: bool) -> bool:
        return self._guard.permits(address, public_only=False)

    def permitted(self, addresses: tuple[str, ...], public_only: bool) -> tuple[str, ...]:
        return self._guard.permitted(addresses, public_only=False)

    def refusal(self, address: str, public_only: bool) -> str | None:
        return self._guard.refusal(address, public_only=False)


def services(path: Path, public_sites: PublicSites | None = None) -> VisitorServices:
    """Opens the services of a crawl, with these sites."""
    folder, visited = CrawlFolder(path), public_sites or sites()
    bounds = CrawlBounds(folder)
    submissions = VisitorRequests(folder, bounds)
    removals = RemovalRequests(folder, bounds, visited, submissions)
    return VisitorServices(
        TypedUrls(folder, bounds),
        submissions,
        IndexNowRequests(submissions, bounds, visited),
        removals,
        CachedCopies(folder, bounds, removals.hidden),
        UrlStories(folder, bounds, removals.granted),
        removals.hidden,
    )
