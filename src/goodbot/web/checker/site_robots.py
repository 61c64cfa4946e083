"""Fetches the robots.txt of a site that a visitor names."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from goodbot.check import HttpAnswer
from goodbot.config import Settings
from goodbot.errors import UrlError
from goodbot.exclusion import Access
from goodbot.exclusion.text.shown_text import shown
from goodbot.page import decode_content
from goodbot.ports import Clock, RobotsStore, Transport
from goodbot.robot.manners.permission import ROBOTS_LIMIT_BYTES
from goodbot.url import Url
from goodbot.values import Response
from goodbot.visitor_urls import visitor_url
from goodbot.web.public_sites import FETCH_TIMEOUT_S as FETCH_TIMEOUT_S
from goodbot.web.public_sites import FETCHES_PER_MINUTE as FETCHES_PER_MINUTE
from goodbot.web.public_sites import REFUSAL_DELAY_S as REFUSAL_DELAY_S
from goodbot.web.public_sites import NoAnswerError, PublicSites, SiteVisit, is_written_private
from goodbot.web.public_sites import TooManyRequestsError as TooManyRequestsError

REUSE_S: Final = 10.0
"""An answer is reused for this many seconds instead of being fetched again."""
SITES_CACHED: Final = 16
"""Each cached answer has at most `ROBOTS_LIMIT_BYTES`."""
SITE_CHARS: Final = 2000
INSTEAD: Final = "paste the file"


@dataclass(frozen=True)
class SiteRobots:
    """The response of a site at `at` (Unix seconds) to a request for its robots.txt at `url`: the decoded `body`,
    status and headers (`answer`), and the rules that follow for robots (`access`)."""

    url: Url
    body: bytes
    answer: HttpAnswer
    access: Access
    at: float


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
        limits = {"timeout_s": timeout_s, "refusal_delay_s": refusal_delay_s}
        self._sites = PublicSites(settings, token, transport, store, clock, instead=INSTEAD, **limits)
        self._clock = clock
        self._cache: OrderedDict[str, SiteRobots] = OrderedDict()

    async def fetch(self, text: str) -> SiteRobots:
        """Fetches the robots.txt of the site of a URL; `example.org` means https. A server that does not answer is a
        result too. Raises UrlError, in one sentence, if `text` is not a URL; NoAnswerError if the site asks robots to
        wait; and the errors of `PublicSites.visit`."""
        url = self._site_url(text)
        cached = self._cache.get(url.origin)
        if cached is not None and 0 <= self._clock.now() - cached.at < REUSE_S:
            return cached
        site = await self._sites.visit(url, lambda visit: _read(visit, url))
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
        return self._sites.why_not

    def _site_url(self, text: str) -> Url:
        """Parses the URL of a site. Raises UrlError if it is not one, RefusedVisitError if its host is a private
        address."""
        text = text.strip()
        if not text or len(text) > SITE_CHARS:
            raise UrlError(
                f"give the address of a site, such as https://example.org/, {SITE_CHARS:,} characters at most"
            )
        url = visitor_url(text)
        if is_written_private(url.host):
            raise self._sites.refuse.error(url.host, redirected=False)
        return url


async def _read(visit: SiteVisit, url: Url) -> SiteRobots:
    access = await visit.access(url)
    chain, last = visit.redirect_chain(url.robots_txt)
    if last is None:
        raise NoAnswerError(f"{shown(url.host)} asked robots to wait: try again later, or {INSTEAD}")
    redirects = tuple(each.text for each in chain) if len(chain) > 1 else ()
    if isinstance(last.result, Response):
        body = decode_content(last.result, ROBOTS_LIMIT_BYTES).body
        answer = HttpAnswer(last.result.status, last.result.headers, redirects)
        return SiteRobots(url.robots_txt, body, answer, access, last.fetched_at)
    answer = HttpAnswer(None, (), redirects, last.result.detail)
    return SiteRobots(url.robots_txt, b"", answer, access, last.fetched_at)
