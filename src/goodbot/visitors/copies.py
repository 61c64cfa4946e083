"""Shows the last copy of a page in the archive, as far as the page permits that."""

import threading
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Final

from goodbot.archive_values import ArchivedResponse
from goodbot.clock import SystemClock
from goodbot.config import Settings
from goodbot.crawl_bounds import CrawlBounds
from goodbot.crawl_folder import SOFTWARE, CrawlFolder
from goodbot.errors import DamagedError
from goodbot.exclusion import Directives
from goodbot.human import human_time
from goodbot.index.keys import site_terms
from goodbot.page import Body
from goodbot.page.document import read_extract
from goodbot.page.page_building import page_of
from goodbot.robot.crawl.wishes import restrictions_in
from goodbot.robot.fetch.identity import identity_of
from goodbot.search_values import Hidden
from goodbot.store.warc.warc_archive import WarcArchive
from goodbot.url import Url, resolve
from goodbot.url_lookup import report_on
from goodbot.values import NOT_INDEXED, REDIRECTS, LastVisit, UrlRecord
from goodbot.visitor_values import CachedCopy, NoCopy
from goodbot.visitors.submission_rules import BARRED

READ_AT_ONCE: Final = 2
"""Copies read at the same time; others wait. A PDF takes up to six seconds and 136 MiB in a process of its own, a page
of HTML some 50 MiB for a moment."""

UNKNOWN: Final = "this crawl does not know the page"
REMOVED: Final = "the owner of the page had it removed from this search"
LOST: Final = "the copy of the page is no longer in the archive"
NOT_VISITED: Final = "the crawl has not visited the page yet"

_WITHOUT_PAGE: Final = {
    "ready": NOT_VISITED,
    "leased": NOT_VISITED,
    "visited": "the crawl has no page at this URL",
    "disallowed": "robots.txt of its site forbids the page",
    "out-of-scope": "the page does not belong to this crawl",
    "failed": "the crawl could not fetch the page",
    "gone": "the page is gone",
}


_NOT_FOUND: Final = {"noindex", "nosearch"}
NOT_COPIED: Final = {*_NOT_FOUND, "noarchive", "nosnippet", "max-snippet:0"}
"""Restrictions that forbid a copy."""


class CachedCopies:
    """Reads copies from the archive of the crawl in a folder, running or not. `hidden` returns the pages that must not
    be shown. Several threads may use it."""

    def __init__(
        self,
        folder: CrawlFolder,
        bounds: CrawlBounds,
        hidden: Callable[[], Hidden],
        now: Callable[[], float] = time.time,
    ) -> None:
        self._folder = folder
        self._bounds = bounds
        self._hidden = hidden
        self._now = now
        self._reading = threading.BoundedSemaphore(READ_AT_ONCE)

    def copy_of(self, url: Url) -> CachedCopy | NoCopy:
        """Returns the last copy of a page, if the page permits showing it. Raises RunError if the crawl's files cannot
        be used."""
        settings = self._bounds.current().settings
        with self._folder.open_reader() as frontier:
            record = report_on(frontier, settings, url).record
            forgotten = frontier.forgotten_hosts()
        if record is None:
            return NoCopy(UNKNOWN)
        if record.url.host_key in forgotten:  # while a crawl runs, its pages are still in the archive
            return NoCopy(BARRED)
        hidden = self._hidden()
        if hides(hidden, url) or hides(hidden, record.url):
            return NoCopy(REMOVED)
        if reason := withheld(record, self._now(), archives=settings.archive, keeps_index=settings.index):
            return NoCopy(reason)
        with self._reading:
            archived = self._read(record)
            return archived if isinstance(archived, NoCopy) else copy_from(archived, settings, self._now())

    def _read(self, record: UrlRecord) -> ArchivedResponse | NoCopy:
        """Reads the record from the archive as it is now: a running crawl may add to it or remove from it."""
        if record.record is None:
            return NoCopy(LOST)
        archive = WarcArchive(self._folder.warc, SystemClock(), SOFTWARE, read_only=True)
        try:
            archived = archive.read(record.record)
        except DamagedError:
            return NoCopy(LOST)
        finally:
            archive.close()
        return archived if archived.url == record.url else NoCopy(LOST)


def hides(hidden: Hidden, url: Url) -> bool:
    """Returns whether a page is hidden: itself, or its host, or a parent domain of its host."""
    return url.text in hidden.urls or not hidden.sites.isdisjoint(site_terms(url))


def withheld(record: UrlRecord, now: float, *, archives: bool, keeps_index: bool = True) -> str:
    """Says why no copy is shown, as far as the frontier knows; empty if there may be one. `archives`: the crawl keeps
    an archive; `keeps_index`: and a search index. Pure."""
    seen = record.seen
    if seen is None or record.state not in ("visited", "ready", "leased"):
        return _WITHOUT_PAGE[record.state]
    if seen.available_until is not None and seen.available_until <= now:
        return f"the page asks not to be shown after {human_time(seen.available_until)}"
    if record.status in REDIRECTS and not seen.indexed:
        return "its server redirects to another page"
    if not seen.indexed and (reason := _left_out(record, seen, keeps_index=keeps_index)):
        return reason
    if seen.rendered:
        return "a browser rendered the page for this crawl, and the archive has no copy of what it showed"
    if seen.record is None:
        return LOST if archives else "this crawl keeps no archive"
    return ""


def _left_out(record: UrlRecord, seen: LastVisit, *, keeps_index: bool) -> str:
    """Says why a page that is in no index has no copy; empty if that is only because the crawl kept no index."""
    reasons = [event.reason for event in record.events if event.step == "index" and event.decision == "no"]
    reason = reasons[-1] if reasons else "it left the index" if keeps_index else NOT_INDEXED
    if reason != NOT_INDEXED:
        is_copy = keeps_index and record.same_as is not None
        return (
            f"the page is a copy of {record.same_as}" if is_copy else f"the page is not in the search index: {reason}"
        )
    return "the page asks not to be indexed" if restrictions_in(seen.wishes) & _NOT_FOUND else ""


def copy_from(archived: ArchivedResponse, settings: Settings, now: float) -> CachedCopy | NoCopy:
    """Returns the copy in an archived answer, if the page permits showing it. Never raises."""
    url, response = archived.url, archived.response
    if archived.headers_only:
        return NoCopy("the page asks not to be archived")
    if not 200 <= response.status < 300:
        return NoCopy(LOST)
    body = Body(response, settings.decoded_limit)
    kind, found, encoding = read_extract(body, url=url, document_bytes=settings.document_limit)
    token = identity_of(settings, version("goodbot")).token
    page = page_of(url, response, token, found, encoding)
    if reason := _refused(page.directives, now):
        return NoCopy(reason)
    base = (resolve(url, found.base) if found.base is not None else None) or url
    copy = CachedCopy(url, archived.fetched_at, response.media_type, page.title, base)
    if kind == "html":
        return _with(copy, html=body.text)
    text = found.text if kind == "pdf" else body.text if kind != "other" else ""
    if not text.strip():
        return NoCopy(f"no text can be shown of {response.media_type or 'a document without type'}")
    return _with(copy, text=text)


def _with(copy: CachedCopy, *, html: str | None = None, text: str | None = None) -> CachedCopy:
    return CachedCopy(copy.url, copy.fetched_at, copy.media_type, copy.title, copy.base, html, text)


def _refused(directives: Directives, now: float) -> str:
    """Says why the page itself forbids a copy; empty if it does not."""
    if not directives.archive:
        return "the page asks not to be archived"
    if not directives.index:
        return "the page asks not to be indexed"
    if not directives.snippet or directives.max_snippet == 0:
        return "the page asks that nothing of its text be shown"
    if directives.unavailable_after is not None and not directives.is_available(now):
        return f"the page asks not to be shown after {human_time(directives.unavailable_after)}"
    return ""
