"""What commands and pages ask of the network where there is no crawl: one robots.txt, one page, one list.

Names concrete classes, as `wiring`.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
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
from goodbot.robot.manners.permission import Permission, breaks_off
from goodbot.robot.manners.redirects import REDIRECTS_MOST, redirect_target
from goodbot.robot.manners.walled_answers import wall_of_answer
from goodbot.robot.scope.seeding import opened_networks
from goodbot.store.memory.memory_frontier import MemoryFrontier
from goodbot.url import Url, is_private_address, is_private_host, parse_url
from goodbot.values import Capture, Failure, Headers, Request, Response
from goodbot.web.robots_asker import RobotsAsker

OWN = identity_of(Settings(), version("goodbot"))
"""Who asks where no crawl does."""

DOCUMENT_BYTES: Final = 8 * 1024 * 1024
SITEMAPS_MOST: Final = 20
PATIENCE_S: Final = 60.0
"""A host that rests for longer is not waited for."""


# ---- one robots.txt, one page ----------------------------------------------------------------------------------------


def fetch_access(url: Url) -> Access:
    """The robots.txt in force at the origin of a URL the user typed, private or not."""
    return asyncio.run(_fetch_access(url))


async def _fetch_access(url: Url) -> Access:
    async with _asking(_networks_of(url), MemoryFrontier()) as (permission, _):
        return await permission.access(url)


@dataclass(frozen=True, slots=True)
class PageVisit:
    """What came of asking for one page: the URL asked last, and the robots.txt and the verdict for it.

    `capture` is None where the verdict forbids the fetch; nothing was fetched there then but robots.txt.
    """

    url: Url
    verdict: Verdict
    capture: Capture | None
    access: Access


def fetch_page(url: Url) -> PageVisit:
    """The page at a URL the user typed, private or not, or where its redirects lead, `REDIRECTS_MOST` at most.

    Each target needs a verdict of its own. From a public host none leads to a private address.
    """
    return asyncio.run(visit_page(url, _networks_of(url), MemoryFrontier()))


async def visit_page(
    url: Url,
    networks: Iterable[Network],
    store: RobotsStore,
    redirects: int = REDIRECTS_MOST,
    pace: Pace | None = None,
) -> PageVisit:
    """The same of one of several, whose robots.txt are kept in `store`, and whose hosts rest as `pace` has it; private
    addresses only in `networks`."""
    async with _asking(networks, store, pace) as (permission, transport):
        access = await permission.access(url)
        verdict = access.verdict(url.text, OWN.token)
        paced = PacedTransport(transport, permission.pace, PATIENCE_S)
        capture = await paced.send(Request(url, verdict)) if verdict.allowed else None
    target = redirect_target(capture) if capture is not None else None
    if capture is None or target is None or not redirects:
        return PageVisit(url, verdict, capture, access)
    from_public = capture.peer is not None and not is_private_address(capture.peer)
    return await visit_page(target, () if from_public else networks, store, redirects - 1, permission.pace)


def answered_page(url: Url, capture: Capture) -> Response:
    """The page at `url`. Raises RunError if what came is no page: no answer, a refusal, half a page, a bot wall."""
    answer = capture.result
    if isinstance(answer, Failure):
        raise RunError(f"cannot fetch {url}: {answer.detail}")
    if (wall := wall_of_answer(capture)) is not None:
        raise RunError(f"a bot wall ({wall.name}) answers in place of {url} (status {answer.status})")
    if 300 <= answer.status < 400:
        raise RunError(f"{url} redirects to where there is no page, or on and on (status {answer.status})")
    if not 200 <= answer.status < 300:
        raise RunError(f"{url} answers {answer.status}: there is no page")
    if answer.truncated == "disconnect":
        raise RunError(f"{url} breaks off after {counted(len(answer.body), 'byte')}: what is missing may say more")
    return answer


@asynccontextmanager
async def _asking(
    networks: Iterable[Network], store: RobotsStore, pace: Pace | None = None
) -> AsyncIterator[tuple[Permission, CurlTransport]]:
    """A robot outside any crawl, under its own name, that may reach these private ranges."""
    settings, clock = Settings(), SystemClock()
    transport = transport_of(settings, AddressGuard(networks), OWN, clock)
    try:
        yield Permission(settings, OWN.token, transport, store, clock, pace=pace, patience_s=PATIENCE_S), transport
    finally:
        await transport.close()


def _networks_of(url: Url) -> list[Network]:
    return opened_networks(Settings(allow_private=True), [url])


# ---- documents, lists, names ----------------------------------------------------------------------------------------


def fetch_document(url: Url) -> bytes:
    """The body of a document the user names, which is no part of a crawl, so that no robots.txt is asked: a list of
    address ranges. Its redirects are followed, from a public host to none that is private.

    Raises RunError if there is no whole answer with status 200, or one over `DOCUMENT_BYTES`.
    """
    return asyncio.run(_fetch_document(url))


async def _fetch_document(url: Url) -> bytes:
    asked, capture = await _followed(url, "the user names this document")
    if isinstance(capture.result, Failure):
        raise RunError(f"cannot fetch {asked[-1]}: {capture.result.detail}")
    if redirect_target(capture) is not None:
        raise RunError(f"{url} redirects on and on")
    return _whole(asked[-1], capture.result)


async def _followed(url: Url, reason: str, section: str = "") -> tuple[list[Url], Capture]:
    """What was asked for, one URL after another, and the answer of the last. It is a redirect if that leads back to one
    of them, which then stands at the end again, or if there were more than `REDIRECTS_MOST`."""
    settings, clock = Settings(allow_private=True), SystemClock()
    networks, asked, pace = opened_networks(settings, [url]), [url], Pace(settings, clock)
    while True:
        target = asked[-1]
        transport: Transport = transport_of(settings, AddressGuard(networks), OWN, clock)
        if not is_private_host(target.host):  # a private host is the user's own, who wants to know where it leads
            transport = PacedTransport(transport, pace, PATIENCE_S)
        try:
            verdict = Verdict(True, None, None, reason, section, url=target.text, agent=OWN.token)
            capture = await transport.send(Request(target, verdict))
        finally:
            await transport.close()
        onward = redirect_target(capture)
        if onward is None or len(asked) > REDIRECTS_MOST:
            return asked, capture
        if onward in asked:
            return [*asked, onward], capture
        if capture.peer is not None and not is_private_address(capture.peer):
            networks = []
        asked.append(onward)


def _whole(url: Url, answer: Response) -> bytes:
    if answer.status != 200:
        raise RunError(f"{url} answers {answer.status}: there is no document")
    decoded = decode_content(answer, DOCUMENT_BYTES)
    if not decoded.complete or decoded.error is not None:
        raise RunError(f"{url} did not give the whole of it: {decoded.error or 'it breaks off, or is too long'}")
    return decoded.body


@dataclass(frozen=True, slots=True)
class FetchedDocument:
    """A robots.txt as it was answered: at most `DOCUMENT_BYTES` of it, decoded; None for `status`: no answer, `failure`
    says why. `redirects` are the URLs asked for, one after another."""

    body: bytes
    status: int | None
    headers: Headers
    redirects: tuple[str, ...]
    failure: str | None = None


def fetch_robots_txt(url: Url) -> FetchedDocument:
    """A robots.txt the user names, to be judged with all that came with it. What goes wrong is in the answer."""
    asked, capture = asyncio.run(_followed(url, "robots.txt itself is always allowed", "RFC 9309 2.2.2"))
    redirects = tuple(each.text for each in asked)
    if isinstance(capture.result, Failure):
        return FetchedDocument(b"", None, (), redirects, capture.result.detail)
    decoded = decode_content(capture.result, DOCUMENT_BYTES)
    if breaks_off(capture.result, decoded):
        return FetchedDocument(b"", None, (), redirects, decoded.error or "the answer breaks off")
    return FetchedDocument(decoded.body, capture.result.status, capture.result.headers, redirects)


def missing_sitemaps(site: Url, sitemaps: Iterable[str]) -> list[str]:
    """Those of the first `SITEMAPS_MOST` that are answered with 404 or 410, asked for one by one, each host at its
    pace and with the permission of their robots.txt; what is closed or cannot be reached is not among them."""
    urls = dict(islice(((text, url) for text in sitemaps if (url := parse_url(text)) is not None), SITEMAPS_MOST))
    return asyncio.run(_missing(opened_networks(Settings(allow_private=True), [site]), urls))


async def _missing(networks: list[Network], urls: dict[str, Url]) -> list[str]:
    store, missing, pace = MemoryFrontier(), list[str](), Pace(Settings(), SystemClock())
    for text, url in urls.items():
        visit = await visit_page(url, networks, store, pace=pace)
        result = visit.capture.result if visit.capture is not None else None
        if isinstance(result, Response) and result.status in GONE:
            missing.append(text)
    return missing


def robots_asker(settings: Settings) -> RobotsAsker:
    """What asks public sites, and nothing inside, for their robots.txt: in the name that `settings` say."""
    identity, clock = identity_of(settings, version("goodbot")), SystemClock()

    def transport() -> Transport:
        return transport_of(settings, AddressGuard(), identity, clock, signer_of(settings))

    return RobotsAsker(settings, identity.token, transport, MemoryFrontier, clock)


def reverse_lookup(nameservers: Iterable[str] = ()) -> ReverseLookup:
    """Reverse DNS by these name servers (`ADDRESS` or `ADDRESS:PORT`), else by the system's. Raises InputError."""
    return ReverseLookup([nameserver(text) for text in nameservers], Settings().connect_timeout)
