"""Removes pages and sites from the search when their owners prove that they want it."""

import asyncio
import logging
import secrets
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple

from goodbot.crawl_bounds import CrawlBounds
from goodbot.crawl_folder import CrawlFolder
from goodbot.errors import GoodbotError, RunError
from goodbot.exclusion import Access
from goodbot.search_values import Hidden
from goodbot.store.control.removals import RemovalFile
from goodbot.url import Url
from goodbot.url_lookup import report_on
from goodbot.values import UrlRecord
from goodbot.visitor_urls import is_internal
from goodbot.visitor_values import Proof, Removal, RemovalAnswer, TokenFile
from goodbot.visitors.submissions import VisitorRequests
from goodbot.visitors.typed_urls import TypedUrls
from goodbot.web.public_sites import MAX_HOPS, PublicSites, SiteVisit
from goodbot.web.visitors.removal_proofs import disallowed, has_token, says_no, token_file_url

_LOG: Final = logging.getLogger(__name__)

SETTLE_S: Final = 10.0
"""How often removals that end with a visit are compared with the frontier."""
MAX_SETTLED: Final = 1_000
"""Removals compared at a time, in turn: 50 µs each."""

_BY_OPERATOR: Final = "only the operator of this search can remove it"
_LASTS: Final[dict[Proof, str]] = {
    "page": "until the crawl has visited the page again",
    "robots.txt": "until the crawl has read robots.txt again and the page is due",
    "token file": "until the operator of this search lifts it",
}


class _Proved(NamedTuple):
    proof: Proof
    reason: str


class RemovalRequests:
    """Checks requests for removal from the crawl in a folder, and keeps those granted.

    If the page proves the request, it is due at once, and hidden until the crawl has visited it again; that visit
    takes it out of the index. If robots.txt does, the page stays hidden until the crawl has read robots.txt again and
    the page is due; it is not due at once, because the crawl would fetch it by its copy of the old file. A removal by
    token file lasts until the operator lifts it; the crawl keeps fetching those pages. Several threads may use it.
    """

    def __init__(
        self,
        folder: CrawlFolder,
        bounds: CrawlBounds,
        sites: PublicSites,
        visitors: VisitorRequests,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._folder = folder
        self._bounds = bounds
        self._typed = TypedUrls(folder, bounds)
        self._sites = sites
        self._visitors = visitors
        self._now = now
        self._file = RemovalFile(folder.path)
        self._settling = threading.Lock()
        self._settled_at = float("-inf")
        self._turn = 0

    # ---- for everyone -----------------------------------------------------------------------------------------------

    def token_file(self, text: str, *, site: bool = False) -> TokenFile:
        """Returns the file that proves the wish to remove a page, or its whole `site`. Raises UrlError if `text` is
        no URL, RunError if the crawl's folder cannot be written."""
        url = self._typed.read(text)
        subject = _site_of(url) if site else url.text
        token = self._file.token_for(_origin_and(url, subject))
        return TokenFile(subject, token_file_url(url, token), token)

    def why_not(self, url: Url) -> str:
        """Says why nothing can be fetched as proof; empty if it can."""
        if is_internal(url):
            return f"{url.host} may be on a private network, from which this server fetches nothing: {_BY_OPERATOR}"
        return f"this server cannot fetch from {url.host}, so {_BY_OPERATOR}" if self._sites.why_not else ""

    async def request(self, text: str, *, site: bool = False) -> RemovalAnswer:
        """Removes the page at a URL, or its whole `site`, if that is proved now: by robots.txt, by the page, or by the
        token file; for a site by the token file only. The removal takes effect at once.

        Raises UrlError if `text` is no URL, InputError if there are too many removals and in the cases of
        `PublicSites.visit`; RunError if the crawl's files cannot be used."""
        url = self._typed.read(text)
        subject = _site_of(url) if site else url.text
        if reason := self.why_not(url):
            return RemovalAnswer(subject, "not checked", reason)
        known = await asyncio.to_thread(self._known_site if site else self._known_page, url)
        if known is None:
            what = "knows nothing of this site" if site else "has not visited this page"
            return RemovalAnswer(subject, "unknown", f"the crawl {what}, so this search does not show it")
        tokens = await asyncio.to_thread(self.token_file, text, site=site)
        found = await self._sites.visit(url, partial(self._prove, url=known, file=tokens, site=site))
        if isinstance(found, str):
            return RemovalAnswer(subject, "not proved", found)
        return await asyncio.to_thread(self._grant, known, subject, found, site=site)

    def hidden(self) -> Hidden:
        """Returns what no search shows. It is cheap enough for every search. Raises DamagedError if the file of
        removals cannot be read."""
        now = self._now()
        if not 0 <= now - self._settled_at < SETTLE_S and self._settling.acquire(blocking=False):
            try:
                self._settled_at = now
                self._settle()
            except RunError as error:
                _LOG.warning("removals are not compared with the crawl now: %s", error)
            finally:
                self._settling.release()
        return self._file.hidden()

    # ---- for the operator -------------------------------------------------------------------------------------------

    def granted(self) -> list[Removal]:
        """Returns all removals in force, the oldest first."""
        return list(self._file.removals())

    def lift(self, id_: str) -> bool:
        """Lifts a removal: searches show the page or site again. Returns False if there is none with this id."""
        return bool(self._file.drop({id_}))

    # ---- steps ------------------------------------------------------------------------------------------------------

    def _known_page(self, url: Url) -> Url | None:
        """Returns the URL under which the crawl has visited the page."""
        settings = self._bounds.current().settings
        with self._folder.open_reader() as frontier:
            report = report_on(frontier, settings, url)
        return report.requested_as if report.record is not None and report.record.seen is not None else None

    def _known_site(self, url: Url) -> Url | None:
        with self._folder.open_reader() as frontier:
            return url if frontier.knows_host(url.host_key) else None

    async def _prove(self, visit: SiteVisit, *, url: Url, file: TokenFile, site: bool) -> _Proved | str:
        """Returns the proof, or says what was looked for in vain."""
        found = "" if site else await self._prove_by_page(visit, url)
        if not isinstance(found, str):
            return found
        document = await visit.document(file.url, hops=MAX_HOPS)
        if has_token(document, file.content):
            return _Proved("token file", f"the site has the token file {file.url.path}")
        if disallowed(document.verdict):
            reason = document.verdict.reason.rstrip(".")
            return f"robots.txt must allow this robot to fetch {document.url.path}; {reason}"
        status = document.response.status if document.response is not None else None
        said = f"answers with status {status}" if status != 200 else "must contain the token and nothing else"
        why = found, document.trouble or f"{file.url} {said}"
        return "; ".join(dict.fromkeys(reason.rstrip(".") for reason in why if reason))

    async def _prove_by_page(self, visit: SiteVisit, url: Url) -> _Proved | str:
        page = await visit.document(url)
        if reason := disallowed(page.verdict):
            return _Proved("robots.txt", reason)
        if page.response is None:
            return page.trouble
        says = await asyncio.to_thread(says_no, url, page.response, self._sites.token, self._now())
        return _Proved("page", says) if says else "neither robots.txt nor the page asks search services to leave it out"

    def _grant(self, url: Url, subject: str, proved: _Proved, *, site: bool) -> RemovalAnswer:
        removal = Removal(
            secrets.token_hex(5),
            self._now(),
            proved.proof,
            proved.reason,
            url=None if site else url,
            site=subject if site else None,
        )
        self._file.add(removal)
        _LOG.info("%s is removed from the search: %s", removal.subject, removal.reason)
        if removal.proof == "page":
            try:
                self._visitors.submit_urls([url], changed=True)
            except GoodbotError as error:  # it is hidden all the same
                _LOG.warning("%s is not due at once: %s", url, error)
        return RemovalAnswer(
            subject, "removed", f"{proved.reason}; no search shows it, {_LASTS[proved.proof]}", removal
        )

    def _settle(self) -> None:
        """Ends temporary removals of pages that the crawl has settled since."""
        waiting = [each for each in self._file.removals() if each.is_temporary and each.url is not None]
        if not waiting:
            return
        first, self._turn = self._turn % len(waiting), self._turn + MAX_SETTLED
        over = set()
        with self._folder.open_reader() as frontier:
            leaving = set(frontier.leaving())
            for removal in waiting[first : first + MAX_SETTLED]:
                url = removal.url
                if url is None or url in leaving:
                    continue
                if is_over(removal, frontier.record(url), frontier.load_robots(url.origin)):
                    over.add(removal.id)
        if over:
            self._file.drop(over)


def is_over(removal: Removal, record: UrlRecord | None, access: Access | None) -> bool:
    """Returns whether a temporary removal has served its purpose: the frontier knows that the page is in no index, or
    the page was visited since and may be shown. After a proof by robots.txt, that visit must know a newer
    robots.txt. Pure."""
    if record is None:
        return True
    if record.state in ("ready", "leased"):
        return False
    seen = record.seen
    if seen is None or not seen.indexed:
        return True
    knows_rules = removal.proof != "robots.txt" or (access is not None and access.fetched_at > removal.at)
    return seen.at > removal.at and knows_rules


def _site_of(url: Url) -> str:
    return url.authority


def _origin_and(url: Url, subject: str) -> str:
    """Returns the text that a token is made from. It names the page or the site, so the token for one removes no
    other."""
    return f"{url.origin} {subject}"
