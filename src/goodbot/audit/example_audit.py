"""Audits the example sites of the kinds of findings, without a server and an archive. It uses the same checks as an
audit, so the messages are the same."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Final

from goodbot.archive_values import ArchivedResponse
from goodbot.audit.crawl_reading import CrawlReading
from goodbot.audit.findings import AuditFinding
from goodbot.audit.kind import AuditKind, SitePage
from goodbot.audit.options import AuditOptions
from goodbot.audit.place_finding import PlaceFinder
from goodbot.audit.reading import RequestedUrls
from goodbot.audit.site_findings import SiteFindings
from goodbot.audit.staging import Staging
from goodbot.config import Settings
from goodbot.exclusion import Access
from goodbot.robot.crawl.answer_facts import redirect_reason, took_reason
from goodbot.url import Url, resolve
from goodbot.values import Event, RecordRef, Response, State, UrlRecord

SITE: Final = "https://example.org"
_AT: Final = 1_700_000_000.0


def example_finding(kind: AuditKind) -> AuditFinding:
    """Returns the first finding of this kind about its example site. Raises LookupError if there is none, which the
    tests rule out."""
    crawl = _ExampleCrawl(kind.example)
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        staging = Staging(connection)
        _audit(crawl, staging)
        found = next(staging.findings.select(code=kind.code), None)
    if found is None:
        raise LookupError(f"the example of {kind.code} has no such finding")
    return found


def _audit(crawl: "_ExampleCrawl", staging: Staging) -> None:
    settings, options = Settings(), AuditOptions()
    requested = RequestedUrls(crawl.load_robots)
    reading = CrawlReading(staging, crawl, settings, requested, options)
    staging.add_urls(reading.visited())
    staging.end_urls()
    reading.name_sitemaps()
    for archived in crawl.archived():
        reading.read(archived)
    places = PlaceFinder(staging, crawl, settings, crawl.read)
    findings = SiteFindings(staging, crawl, requested, places, options)
    findings.find_links()
    findings.find_in_sitemaps()
    findings.find_on_pages()
    findings.find_orphans()
    places.find_all()


class _ExampleCrawl:
    """A finished crawl of an example site, in which every page was visited."""

    def __init__(self, pages: Sequence[SitePage]) -> None:
        self._robots = next((page for page in pages if page.path == "/robots.txt"), None)
        self._pages = [page for page in pages if page is not self._robots]
        self._records = {f"{SITE}{page.path}": _record(page, number) for number, page in enumerate(self._pages)}

    def record(self, url: Url) -> UrlRecord | None:
        """Returns what the crawl knows about a URL."""
        return self._records.get(url.text)

    def records(self) -> Iterator[UrlRecord]:
        """Yields every URL of the site."""
        return iter(self._records.values())

    def load_robots(self, origin: str) -> Access | None:
        """Returns the robots.txt of the site; an empty one if the example has none."""
        body = b"" if self._robots is None else self._robots.sent_body(SITE)
        return Access.from_response(200, (), body, _AT) if origin == SITE else None

    def archived(self) -> Iterator[ArchivedResponse]:
        """Yields the responses that are pages, as `archived_pages` does."""
        for record in self._records.values():
            if record.state == "visited" and record.status == 200 and record.record is not None:
                yield self.read(record.record)

    def read(self, place: RecordRef) -> ArchivedResponse:
        """Returns the response at a place of the archive."""
        page = self._pages[place.offset]
        response = Response(page.status, (("Content-Type", page.media_type),), page.sent_body(SITE))
        return ArchivedResponse(Url(f"{SITE}{page.path}"), _AT, response, place)


def _record(page: SitePage, number: int) -> UrlRecord:
    """Returns what a crawl notes about a page after its visit."""
    url = Url(f"{SITE}{page.path}")
    target = resolve(url, page.location) if page.location else None
    why = f"status {page.status}" if target is None else redirect_reason(page.status, target)
    state: State = "gone" if page.status in (404, 410) else "failed" if page.status >= 400 else "visited"
    if state == "failed":
        why += f" ({Settings().tries} tries)"
    took = Event(_AT, "fetch", str(page.status), took_reason(len(page.sent_body(SITE)), page.taken_s))
    depth = 0 if page.path == "/" else 1
    place = RecordRef("example.warc.gz", number)
    return UrlRecord(url, state, depth, page.status, _AT, why=why, record=place, events=(took,))
