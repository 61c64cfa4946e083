"""Fetches single documents outside a crawl, for commands and web pages: a robots.txt, a page, a list.

Like `wiring` it uses concrete classes, not only ports.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from importlib.metadata import version
from itertools import islice
from typing import Final

from goodbot.clock import SystemClock
from goodbot.config import Settings
from goodbot.errors import RunError
from goodbot.exclusion import Access, Verdict
from goodbot.human import counted
from goodbot.page.coding import decode_content
from goodbot.ports import RobotsStore, Transport
from goodbot.robot.crawl.assembly import transport_of
from goodbot.robot.crawl.outcome_of import GONE
from goodbot.robot.fetch.guard import AddressGuard, Network
from goodbot.robot.fetch.identity import identity_of
from goodbot.robot.fetch.resolver import nameserver
from goodbot.robot.fetch.reverse import ReverseLookup
from goodbot.robot.fetch.signing import signer_of
from goodbot.robot.fetch.transport import CurlTransport
from goodbot.robot.manners.pace import Pace, PacedTransport
from goodbot.robot.manners.permission import Permission, is_incomplete
from goodbot.robot.manners.redirects import MAX_REDIRECTS, redirect_target
from goodbot.robot.manners.walled_answers import wall_of_answer
from goodbot.robot.scope.seeding import opened_networks
from goodbot.store.memory.memory_frontier import MemoryFrontier
from goodbot.url import Url, is_private_address, is_private_host, parse_url
from goodbot.values import Capture, Failure, Headers, Method, Request, Response
from goodbot.web.checker.site_robots import RobotsFetcher
from goodbot.web.public_sites import PublicSites, visitors_settings

OWN = identity_of(Settings(), version("goodbot"))
"""The identity of goodbot's own requests outside a crawl."""

DOCUMENT_BYTES: Final = 8 * 1024 * 1024
MAX_SITEMAPS: Final = 20
MAX_WAIT_S: Final = 60.0
"""If a host requires a longer delay, the request fails instead of waiting."""


# ---- one robots.txt, one page ----------------------------------------------------------------------------------------


def fetch_access(url: Url) -> Access:
    """Fetches the robots.txt in force at the origin of a URL that the user typed, private or not."""
    return asyncio.run(_fetch_access(url))


async def _fetch_access(url: Url) -> Access:
    async with _open_robot(_networks_of(url), MemoryFrontier()) as (permission, _):
        return await permission.access(url)


@dataclass(frozen=True, slots=True)
class PageVisit:
    """The result of requesting one page: the URL of the last request, with the robots.txt and the verdict for it.

    `capture` is None if the verdict forbids the URL; then only robots.txt was fetched.
    """

    url: Url
    verdict: Verdict
    capture: Capture | None
    access: Access


def fetch_page(url: Url) -> PageVisit:
    """Fetches the page at a URL that the user typed, private or not, and follows up to `MAX_REDIRECTS` redirects.

    Each target needs its own verdict. A redirect from a public host to a private address is refused.
    """
    return asyncio.run(visit_page(url, _networks_of(url), MemoryFrontier()))


async def visit_page(
    url: Url,
    networks: Iterable[Network],
    store: RobotsStore,
    redirects: int = MAX_REDIRECTS,
    pace: Pace | None = None,
) -> PageVisit:
    """Does the same as `fetch_page`, for one of several pages: `store` keeps their robots.txt and `pace` the delays of
    their hosts. Private addresses are allowed in `networks` only."""
    async with _open_robot(networks, store, pace) as (permission, transport):
        access = await permission.access(url)
        verdict = access.verdict(url.text, OWN.token)
        paced = PacedTransport(transport, permission.pace, MAX_WAIT_S)
        capture = await paced.send(Request(url, verdict)) if verdict.allowed else None
    target = redirect_target(capture) if capture is not None else None
    if capture is None or target is None or not redirects:
        return PageVisit(url, verdict, capture, access)
    from_public = capture.peer is not None and not is_private_address(capture.peer)
    return await visit_page(target, () if from_public else networks, store, redirects - 1, permission.pace)


def answered_page(url: Url, capture: Capture) -> Response:
    """Returns the page at `url`. Raises RunError if the answer is no page: a failure, an error status, half a page, a
    bot wall."""
    answer = capture.result
    if isinstance(answer, Failure):
        raise RunError(f"cannot fetch {url}: {answer.detail}")
    if (wall := wall_of_answer(capture)) is not None:
        raise RunError(f"a bot wall ({wall.name}) answers in place of {url} (status {answer.status})")
    if 300 <= answer.status < 400:
        raise RunError(f"{url} redirects too often, or to an invalid URL (status {answer.status})")
    if not 200 <= answer.status < 300:
        raise RunError(f"{url} answers with status {answer.status}: there is no page")
    if answer.truncated == "disconnect":
        raise RunError(f"the answer of {url} ends too early, after {counted(len(answer.body), 'byte')}")
    return answer


@asynccontextmanager
async def _open_robot(
    networks: Iterable[Network], store: RobotsStore, pace: Pace | None = None
) -> AsyncIterator[tuple[Permission, CurlTransport]]:
    """Opens a robot for requests outside a crawl. It may reach the private ranges in `networks`."""
    settings, clock = Settings(), SystemClock()
    transport = transport_of(settings, AddressGuard(networks), OWN, clock)
    try:
        yield Permission(settings, OWN.token, transport, store, clock, pace=pace, turn_timeout_s=MAX_WAIT_S), transport
    finally:
        await transport.close()


def _networks_of(url: Url) -> list[Network]:
    return opened_networks(Settings(allow_private=True), [url])


# ---- documents, lists, names ----------------------------------------------------------------------------------------


def fetch_document(url: Url) -> bytes:
    """Fetches a document that the user names, such as a list of address ranges. It is no part of a crawl, so robots.txt
    does not apply. Redirects are followed, but none from a public host to a private address.

    Raises RunError unless there is a complete answer with status 200 of at most `DOCUMENT_BYTES`.
    """
    return asyncio.run(_fetch_document(url))


async def _fetch_document(url: Url) -> bytes:
    urls, capture = await _follow_redirects(url, "the user names this document")
    if isinstance(capture.result, Failure):
        raise RunError(f"cannot fetch {urls[-1]}: {capture.result.detail}")
    if redirect_target(capture) is not None:
        raise RunError(f"{url} redirects too often")
    return _complete_body(urls[-1], capture.result)


async def _follow_redirects(url: Url, reason: str, section: str = "") -> tuple[list[Url], Capture]:
    """Returns the URLs requested one after another, and the last answer. The last answer is itself a redirect if there
    were more than `MAX_REDIRECTS`, or if it leads back to an earlier URL; that URL is then added at the end of the
    list."""
    settings, clock = Settings(allow_private=True), SystemClock()
    networks, urls, pace = opened_networks(settings, [url]), [url], Pace(settings, clock)
    while True:
        target = urls[-1]
        transport: Transport = transport_of(settings, AddressGuard(networks), OWN, clock)
        if not is_private_host(target.host):  # a private host belongs to the user and needs no delay
            transport = PacedTransport(transport, pace, MAX_WAIT_S)
        try:
            verdict = Verdict(True, None, None, reason, section, url=target.text, agent=OWN.token)
            capture = await transport.send(Request(target, verdict))
        finally:
            await transport.close()
        onward = redirect_target(capture)
        if onward is None or len(urls) > MAX_REDIRECTS:
            return urls, capture
        if onward in urls:
            return [*urls, onward], capture
        if capture.peer is not None and not is_private_address(capture.peer):
            networks = []
        urls.append(onward)


def _complete_body(url: Url, answer: Response) -> bytes:
    if answer.status != 200:
        raise RunError(f"{url} answers with status {answer.status}: there is no document")
    decoded = decode_content(answer, DOCUMENT_BYTES)
    if not decoded.complete or decoded.error is not None:
        raise RunError(f"the answer of {url} is incomplete: {decoded.error or 'it ends too early, or is too long'}")
    return decoded.body


@dataclass(frozen=True, slots=True)
class FetchedDocument:
    """A robots.txt as the server sent it: `body` is decoded, at most `DOCUMENT_BYTES`. If `status` is None there was no
    answer, and `failure` says why. `redirects` are the URLs requested, one after another."""

    body: bytes
    status: int | None
    headers: Headers
    redirects: tuple[str, ...]
    failure: str | None = None


def fetch_robots_txt(url: Url) -> FetchedDocument:
    """Fetches a robots.txt that the user names, with status, headers and redirects. Errors are part of the result."""
    urls, capture = asyncio.run(_follow_redirects(url, "robots.txt itself is always allowed", "RFC 9309 2.2.2"))
    redirects = tuple(each.text for each in urls)
    if isinstance(capture.result, Failure):
        return FetchedDocument(b"", None, (), redirects, capture.result.detail)
    decoded = decode_content(capture.result, DOCUMENT_BYTES)
    if is_incomplete(capture.result, decoded):
        return FetchedDocument(b"", None, (), redirects, decoded.error or "the answer ends too early")
    return FetchedDocument(decoded.body, capture.result.status, capture.result.headers, redirects)


def service_request(url: Url, *, method: Method = "GET", headers: Headers = (), body: bytes = b"") -> Request:
    """Makes a request to a service that the user names, such as another search engine. It is a request of the user, not
    part of a crawl, so robots.txt does not apply."""
    verdict = Verdict(True, None, None, "the user names this service", "", url=url.text, agent=OWN.token)
    return Request(url, verdict, headers, method=method, body=body)


@asynccontextmanager
async def service_transport(
    urls: Iterable[Url], timeout_s: float | None = None, max_size: int | None = None
) -> AsyncIterator[Transport]:
    """Opens a transport for the services at `urls`, which the user names. It reaches public addresses, and the private
    ranges in which the URLs lie. `timeout_s` limits each request. Answers of more than `max_size` bytes are cut."""
    settings = Settings(allow_private=True)
    if max_size is not None:
        settings = replace(settings, max_size=max_size)
    if timeout_s is not None:
        settings = replace(settings, timeout=timeout_s, connect_timeout=min(timeout_s, settings.connect_timeout))
    transport = transport_of(settings, AddressGuard(opened_networks(settings, urls)), OWN, SystemClock())
    try:
        yield transport
    finally:
        await transport.close()


def missing_sitemaps(site: Url, sitemaps: Iterable[str]) -> list[str]:
    """Returns which of the first `MAX_SITEMAPS` sitemaps the server answers with 404 or 410.

    Requests them one after another, with the delay of each host and if robots.txt permits. Sitemaps that are disallowed
    or unreachable are not returned.
    """
    urls = dict(islice(((text, url) for text in sitemaps if (url := parse_url(text)) is not None), MAX_SITEMAPS))
    return asyncio.run(_missing(opened_networks(Settings(allow_private=True), [site]), urls))


async def _missing(networks: list[Network], urls: dict[str, Url]) -> list[str]:
    store, missing, pace = MemoryFrontier(), list[str](), Pace(Settings(), SystemClock())
    for text, url in urls.items():
        visit = await visit_page(url, networks, store, pace=pace)
        result = visit.capture.result if visit.capture is not None else None
        if isinstance(result, Response) and result.status in GONE:
            missing.append(text)
    return missing


def robots_fetcher(settings: Settings) -> RobotsFetcher:
    """Makes a fetcher of robots.txt that refuses private addresses and identifies itself as `settings` say."""
    identity, clock = identity_of(settings, version("goodbot")), SystemClock()

    def transport() -> Transport:
        return transport_of(settings, AddressGuard(), identity, clock, signer_of(settings))

    return RobotsFetcher(settings, identity.token, transport, MemoryFrontier, clock)


def public_sites(settings: Settings) -> PublicSites:
    """Makes a visitor of public sites, which refuses private addresses and identifies itself as `settings` say."""
    identity, clock, limited = identity_of(settings, version("goodbot")), SystemClock(), visitors_settings(settings)

    def transport() -> Transport:
        return transport_of(limited, AddressGuard(), identity, clock, signer_of(settings))

    return PublicSites(limited, identity.token, transport, MemoryFrontier, clock)


def reverse_lookup(nameservers: Iterable[str] = (), lifetime_s: float | None = None) -> ReverseLookup:
    """Makes a reverse DNS lookup with these name servers (`ADDRESS` or `ADDRESS:PORT`), else with the system's. A query
    takes `lifetime_s` at most, by default as long as a connection may. Raises InputError for an invalid server."""
    return ReverseLookup([nameserver(text) for text in nameservers], lifetime_s or Settings().connect_timeout)
