"""Fetches the robots.txt of a site that a visitor names: from public sites only, as politely as a crawl does, and only
so many per minute."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from goodbot.check import HttpAnswer
from goodbot.config import Settings
from goodbot.errors import InputError
from goodbot.exclusion import Access
from goodbot.exclusion.text.shown_text import shown
from goodbot.page import decode_content
from goodbot.ports import Clock, RobotsStore, Transport
from goodbot.robot.fetch.guard import private_range
from goodbot.robot.manners.permission import ROBOTS_LIMIT_BYTES, Permission
from goodbot.robot.manners.redirects import redirect_target
from goodbot.robot.manners.robots_redirects import MAX_ROBOTS_REDIRECTS
from goodbot.url import Url, is_private_host, parse_url
from goodbot.values import Capture, Request, Response

FETCH_TIMEOUT_S: Final = 15.0
"""Limits one fetch, redirects included, because a visitor is waiting."""
REFUSAL_DELAY_S: Final = 1.0
"""A name without a public address is refused only after this many seconds, so that the response time does not reveal
whether a name server knows the name."""
REUSE_S: Final = 10.0
"""An answer is reused for this many seconds instead of being fetched again."""
FETCHES_PER_MINUTE: Final = 20
SITES_CACHED: Final = 16
"""Each cached answer has at most `ROBOTS_LIMIT_BYTES`."""
SITE_CHARS: Final = 2000


@dataclass(frozen=True)
class SiteRobots:
    """The response of a site at `at` (Unix seconds) to a request for its robots.txt at `url`: the decoded `body`,
    status and headers (`answer`), and the rules that follow for robots (`access`)."""

    url: Url
    body: bytes
    answer: HttpAnswer
    access: Access
    at: float


class TooManyRequestsError(InputError):
    """There are too many requests at the moment; the visitor may try again later."""


class _NoPublicAddressError(InputError):
    """A name has no address, or only private ones. The message does not reveal which."""


class RobotsFetcher:
    """Fetches the robots.txt of public sites, with the contact of `settings`. `transport` makes the transport of one
    fetch, which must refuse private addresses and is closed afterwards; `store` makes an empty store."""

    def __init__(
        self,
        settings: Settings,
        token: str,
        transport: Callable[[], Transport],
        store: Callable[[], RobotsStore],
        clock: Clock,
        timeout_s: float = FETCH_TIMEOUT_S,
        refusal_delay_s: float = REFUSAL_DELAY_S,
    ) -> None:
        self._settings = settings
        self._token = token
        self._transport = transport
        self._store = store
        self._clock = clock
        self._timeout_s = timeout_s
        self._refusal_delay_s = refusal_delay_s
        self._cache: OrderedDict[str, SiteRobots] = OrderedDict()
        self._fetched_at: deque[float] = deque(maxlen=FETCHES_PER_MINUTE)

    async def fetch(self, text: str) -> SiteRobots:
        """Fetches the robots.txt of the site of a URL; `example.org` means https. A server that does not answer is a
        result too.

        Raises InputError, in one sentence,

        - if `text` is not a URL;
        - if the host, or the target of a redirect, has no public address;
        - if the settings have no contact, or a proxy;
        - if there are too many requests per minute (`TooManyRequestsError`);
        - if the fetch takes too long.
        """
        url = _site_url(text)
        cached = self._cache.get(url.origin)
        if cached is not None and 0 <= self._clock.now() - cached.at < REUSE_S:
            return cached
        self._count_fetch()
        refused_at = self._clock.now() + self._refusal_delay_s
        try:
            async with asyncio.timeout(self._timeout_s):
                site = await self._fetch(url)
        except _NoPublicAddressError:
            await self._clock.sleep(max(refused_at - self._clock.now(), 0.0))
            raise
        except TimeoutError as error:
            raise InputError(f"{shown(url.host)} has not answered within {self._timeout_s:g} seconds") from error
        self._cache[url.origin] = site
        self._cache.move_to_end(url.origin)
        while len(self._cache) > SITES_CACHED:
            self._cache.popitem(last=False)
        return site

    def cached(self, origin: str) -> SiteRobots | None:
        """Returns the last answer of this origin, if it is among the last `SITES_CACHED` answers."""
        return self._cache.get(origin)

    @property
    def why_not(self) -> str:
        """Says in one sentence why these settings permit no fetch; empty if they do."""
        if self._settings.contact is None:
            return (
                "this server fetches from no site, because it has no contact for site owners: set `contact` in "
                "`goodbot.toml`, or `GOODBOT_CONTACT`, to a mail address or a URL, and restart `goodbot serve`; or "
                "paste the file"
            )
        if self._settings.proxy:
            return "this server fetches through a proxy, so it cannot check that an address is public: paste the file"
        return ""

    def _count_fetch(self) -> None:
        """Counts one more fetch. Raises InputError if it is not allowed now."""
        if self.why_not:
            raise InputError(self.why_not)
        now = self._clock.now()
        if len(self._fetched_at) == FETCHES_PER_MINUTE and 0 <= now - self._fetched_at[0] < 60:
            raise TooManyRequestsError(
                "too many sites were fetched in the last minute: try again in a minute, or paste the file"
            )
        self._fetched_at.append(now)

    async def _fetch(self, url: Url) -> SiteRobots:
        transport = _RecordingTransport(self._transport())
        try:
            permission = Permission(self._settings, self._token, transport, self._store(), self._clock)
            access = await permission.access(url)
        finally:
            await transport.close()
        chain, last = transport.redirect_chain(url.robots_txt)
        redirects = tuple(each.text for each in chain) if len(chain) > 1 else ()
        if isinstance(last.result, Response):
            body = decode_content(last.result, ROBOTS_LIMIT_BYTES).body
            answer = HttpAnswer(last.result.status, last.result.headers, redirects)
            return SiteRobots(url.robots_txt, body, answer, access, last.fetched_at)
        if last.result.kind in ("private-address", "dns"):
            raise _refusal(last.request.url.host, redirected=bool(redirects))
        return SiteRobots(
            url.robots_txt, b"", HttpAnswer(None, (), redirects, last.result.detail), access, last.fetched_at
        )


class _RecordingTransport:
    """Records every capture of another `Transport`: at most six for one robots.txt, and a few for the robots.txt of
    hosts that it redirects to."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._captures: dict[Url, Capture] = {}

    async def send(self, request: Request) -> Capture:
        capture = await self._transport.send(request)
        self._captures[request.url] = capture
        return capture

    def redirect_chain(self, start: Url) -> tuple[list[Url], Capture]:
        """Follows the redirects from `start`. Returns their URLs, the target of the last redirect included, and the
        last capture."""
        chain, last = [start], self._captures[start]
        while len(chain) <= MAX_ROBOTS_REDIRECTS + 1 and (target := redirect_target(last)) is not None:
            chain.append(target)
            if target not in self._captures:
                break
            last = self._captures[target]
        return chain, last

    async def close(self) -> None:
        await self._transport.close()


def _site_url(text: str) -> Url:
    """Parses the URL of a site. Raises InputError if it is not one, or if its host is a private address."""
    text = text.strip()
    if not text or len(text) > SITE_CHARS:
        raise InputError(f"give the address of a site, such as https://example.org/, {SITE_CHARS:,} characters at most")
    url = parse_url(text if "://" in text else f"https://{text}")
    if url is None:
        raise InputError(f"{shown(text)} is not an http or https URL")
    if _is_private_address(url.host):
        raise _refusal(url.host, redirected=False)
    return url


def _is_private_address(host: str) -> bool:
    """Returns whether `host` is `localhost` or a private IP address. Resolves no name."""
    return is_private_host(host) or private_range(host) is not None


def _refusal(host: str, *, redirected: bool) -> InputError:
    """Makes the error for a host without a public address. Names get the same sentence whether they have private
    addresses or none, so that visitors cannot map the internal network."""
    name = shown(host)
    subject = f"it redirects to {name}, which" if redirected else name
    ends = "and this page fetches from public sites only: paste the file instead"
    if _is_private_address(host):
        return InputError(f"{subject} is on a private address, {ends}")
    return _NoPublicAddressError(f"{subject} has no public address, {ends}")
