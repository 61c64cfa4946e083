"""Carries out IndexNow requests: checks the key of a site, and makes its changed pages due."""

import asyncio
import hmac
import time
from collections.abc import Callable
from typing import Final

from goodbot.crawl_bounds import CrawlBounds
from goodbot.errors import InputError
from goodbot.lru import LruCache
from goodbot.page import decode_content
from goodbot.visitor_urls import is_internal
from goodbot.visitor_values import IndexNowOutcome, Submission
from goodbot.visitors.submissions import VisitorRequests
from goodbot.web.public_sites import MAX_HOPS, NoPublicAddressError, PublicSites, SiteVisit, TooManyRequestsError
from goodbot.web.visitors.indexnow import IndexNowRequest

KEY_FILE_BYTES: Final = 1000
KEY_REUSE_S: Final = 3600.0
"""A key that was right is not fetched again for this long."""
KEYS_CACHED: Final = 1_000
FORESEEN_URLS: Final = 100
"""If none of the first URLs belongs to the crawl, the key is not fetched."""
UNCHECKED_URLS: Final = 100
"""If the key cannot be checked, only this many URLs of a request are submitted, since anyone may have sent it."""


class IndexNowRequests:
    """Carries out IndexNow requests for the crawl of `visitors`. Fetches key files from public sites only."""

    def __init__(
        self,
        visitors: VisitorRequests,
        bounds: CrawlBounds,
        sites: PublicSites,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._visitors = visitors
        self._bounds = bounds
        self._sites = sites
        self._now = now
        self._right_until: LruCache[tuple[str, str], float] = LruCache(KEYS_CACHED)

    def knows(self, host: str) -> bool:
        """Returns whether a host (with its port if that is not the default) is that of a seed, or in the frontier.
        Raises InputError or RunError if the crawl's files cannot be used."""
        return self._visitors.knows(host)

    async def take(self, request: IndexNowRequest) -> IndexNowOutcome:
        """Checks the key, and submits the URLs. If the key is right, pages visited before are due at once. Raises
        RunError if the crawl does not answer, or its files cannot be used."""
        foreseen = await asyncio.to_thread(self._visitors.foresee, request.urls[:FORESEEN_URLS])
        if not any(item.result in ("submitted", "known") for item in foreseen):
            return IndexNowOutcome(403, f"none of the URLs was submitted: {foreseen[0].reason}", tuple(foreseen))
        if self._cannot_check(request):
            return await self._submit_unchecked(request)
        try:
            trouble = await self._trouble(request)
        except TooManyRequestsError as error:
            return IndexNowOutcome(429, str(error))
        except NoPublicAddressError as error:
            if request.key_location.authority in self._bounds.current().authorities:
                return await self._submit_unchecked(request)
            return IndexNowOutcome(403, f"the key file cannot be fetched: {error}")
        except InputError as error:
            return IndexNowOutcome(403, f"the key file cannot be fetched: {error}")
        if trouble:
            return IndexNowOutcome(403, trouble)
        done = await asyncio.to_thread(self._visitors.submit_urls, request.urls, changed=True)
        return IndexNowOutcome(200, _counted(done), tuple(done))

    def _cannot_check(self, request: IndexNowRequest) -> bool:
        return is_internal(request.key_location) or bool(self._sites.why_not)

    async def _submit_unchecked(self, request: IndexNowRequest) -> IndexNowOutcome:
        done = await asyncio.to_thread(self._visitors.submit_urls, request.urls[:UNCHECKED_URLS])
        taken = f"only the first {UNCHECKED_URLS} URLs" if len(request.urls) > UNCHECKED_URLS else "the URLs"
        reason = f"this server cannot check the key, so {taken} count as submitted by a visitor: "
        return IndexNowOutcome(202, reason + _counted(done), tuple(done))

    async def _trouble(self, request: IndexNowRequest) -> str:
        """Says why the key is not accepted; empty if it is right."""
        place = request.key_location.text, request.key
        if (self._right_until.get(place) or 0.0) > self._now():
            return ""
        trouble = await self._sites.visit(request.key_location, lambda visit: _check_key(visit, request))
        if not trouble:
            self._right_until.put(place, self._now() + KEY_REUSE_S)
        return trouble


async def _check_key(visit: SiteVisit, request: IndexNowRequest) -> str:
    document = await visit.document(request.key_location, hops=MAX_HOPS)
    response = document.response
    if response is None:
        return f"the key file was not fetched: {document.trouble}"
    if response.status != 200:
        return f"{request.key_location} answers with status {response.status}"
    content = decode_content(response, KEY_FILE_BYTES + 1).body
    found = content.removeprefix(b"\xef\xbb\xbf").strip() if len(content) <= KEY_FILE_BYTES else b""
    return "" if hmac.compare_digest(found, request.key.encode()) else f"{request.key_location} does not have the key"


def _counted(done: list[Submission]) -> str:
    taken = sum(item.result in ("submitted", "known") for item in done)
    return f"{taken:,} of {len(done):,} URLs belong to this crawl"
