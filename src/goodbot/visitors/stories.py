"""Collects what is known about a URL, in the frontier and in the index, and tells its story."""

import threading
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version

from goodbot.config import Settings
from goodbot.crawl_bounds import Bounds, CrawlBounds
from goodbot.crawl_folder import CrawlFolder
from goodbot.errors import GoodbotError
from goodbot.exclusion import Verdict
from goodbot.index.document_lookup import DocumentLookup
from goodbot.index.keys import site_terms
from goodbot.index.stored_page import StoredPage
from goodbot.ports import CrawlReader
from goodbot.robot.crawl.wishes import restrictions_in
from goodbot.robot.fetch.identity import identity_of
from goodbot.store.control.control_files import ControlFolder
from goodbot.url import Url
from goodbot.url_lookup import report_on
from goodbot.url_story import StoryFacts, redirect_target, tell_story
from goodbot.values import UrlRecord
from goodbot.visitor_values import Removal, Story, SubmissionResult, UrlReport
from goodbot.visitors.copies import NOT_COPIED, withheld
from goodbot.visitors.submission_rules import SubmissionRules


class UrlStories:
    """Tells the stories of URLs of the crawl in a folder, running or not. `removals` returns the removals in force;
    `takes_urls`: visitors may submit URLs. Several threads may use it."""

    def __init__(
        self,
        folder: CrawlFolder,
        bounds: CrawlBounds,
        removals: Callable[[], Sequence[Removal]] = lambda: (),
        now: Callable[[], float] = time.time,
        *,
        takes_urls: bool = True,
    ) -> None:
        self._folder = folder
        self._bounds = bounds
        self._removals = removals
        self._now = now
        self._takes_urls = takes_urls
        self._control = ControlFolder(folder.path)
        self._opening = threading.Lock()
        self._lookup: DocumentLookup | None = None

    def story_of(self, url: Url) -> Story:
        """Returns the story of a URL. Raises RunError if the crawl's files cannot be used."""
        bounds = self._bounds.current()
        with self._folder.open_reader() as frontier:
            report = report_on(frontier, bounds.settings, url)
            refusal = SubmissionRules(bounds, frontier, self._now()).refusal(url, report)
            facts = self._facts(bounds, frontier, report, refusal)
        return tell_story(url, report, facts)

    def _facts(
        self, bounds: Bounds, frontier: CrawlReader, report: UrlReport, refusal: tuple[SubmissionResult, str] | None
    ) -> StoryFacts:
        url, record = report.requested_as, report.record
        place, now = frontier.queue_place(url), self._now()
        document, is_read = self._document(bounds.settings, url, now)
        removal = self._removal_of(url)
        is_hidden = removal is not None or (refusal is not None and refusal[0] == "forgotten")
        target = redirect_target(record) if record is not None else None
        return StoryFacts(
            keeps_index=bounds.settings.index,
            in_index=document is not None if is_read else None,
            removal=removal,
            refusal=refusal,
            takes_urls=self._takes_urls,
            target_refusal=bounds.scope.refuse(target, record.depth) or "" if record and target else "",
            original_found=self._is_found(bounds.settings, record.same_as, now) if record and record.same_as else None,
            verdict=_stored_verdict(bounds.settings, frontier, url),
            before=place.before if place is not None else 0,
            ready_at=place.ready_at if place is not None else None,
            running=self._control.is_running(),
            has_copy=not is_hidden and _has_copy(bounds.settings, record, document, now),
            now=now,
        )

    def _document(self, settings: Settings, url: Url, now: float) -> tuple[StoredPage | None, bool]:
        """Returns the page in the index, and whether there is an index that can be read."""
        if not settings.index and not self._folder.index.is_dir():
            return None, False
        try:
            with self._opening:
                self._lookup = self._lookup or DocumentLookup(self._folder.index)
            return self._lookup.find(url.text, now), True
        except GoodbotError:  # searches report it
            return None, False

    def _is_found(self, settings: Settings, url: Url, now: float) -> bool | None:
        document, is_read = self._document(settings, url, now)
        return document is not None if is_read else None

    def _removal_of(self, url: Url) -> Removal | None:
        sites = site_terms(url)
        found = (each for each in self._removals() if each.url == url or (each.site is not None and each.site in sites))
        return next(found, None)


def _has_copy(settings: Settings, record: UrlRecord | None, document: StoredPage | None, now: float) -> bool:
    """Returns whether a copy of the page may be shown, without reading the archive."""
    if record is None or withheld(record, now, archives=settings.archive, keeps_index=settings.index):
        return False
    if document is not None:
        return document.has_copy
    has_headers_alone = any(event.step == "keep" and event.decision == "headers" for event in record.events)
    return not has_headers_alone and not (record.seen is not None and restrictions_in(record.seen.wishes) & NOT_COPIED)


def _stored_verdict(settings: Settings, frontier: CrawlReader, url: Url) -> Verdict | None:
    """Returns the verdict of the robots.txt that the crawl has, however old; None if it has none."""
    access = frontier.load_robots(url.origin)
    if access is None:
        return None
    return access.in_dialect(settings.dialect).verdict(url.text, identity_of(settings, version("goodbot")).token)
