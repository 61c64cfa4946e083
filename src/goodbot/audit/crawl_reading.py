"""Reads what a crawl has found into the staging of an audit: the outcomes of its URLs, its pages,
sitemaps and feeds."""

from collections.abc import Iterator

from goodbot.archive_values import ArchivedResponse
from goodbot.audit.audited_crawl import AuditedCrawl
from goodbot.audit.options import AuditOptions
from goodbot.audit.reading import RequestedUrls, engine_directives, links_but, noindex_of, page_facts, url_facts
from goodbot.audit.site_facts import PageFacts
from goodbot.audit.staging import Staging, VisitedUrl
from goodbot.config import Settings
from goodbot.page import Body
from goodbot.page.document import read_extract
from goodbot.page.list_file import ListFile, open_listing
from goodbot.page.page_building import page_of
from goodbot.robot.crawl.answer_facts import AnswerSize, answer_size
from goodbot.url import Url, resolve


class CrawlReading:
    """Reads one crawl. A page to which only canonical URLs or `<link rel="alternate">` lead is an orphan. `pages`
    counts the pages that were read, of the host that `options` choose; `has_rendered`: a browser rendered some pages of
    the crawl."""

    def __init__(
        self,
        staging: Staging,
        ledger: AuditedCrawl,
        settings: Settings,
        requested: RequestedUrls,
        options: AuditOptions,
    ) -> None:
        self._staging = staging
        self._ledger = ledger
        self._settings = settings
        self._requested = requested
        self._options = options
        self.pages = 0
        self.has_rendered = False

    # ---- reading the frontier

    def visited(self) -> Iterator[VisitedUrl]:
        """Yields the URLs that were visited, and those that robots.txt disallows."""
        for record in self._ledger.records():
            facts = url_facts(record)
            if facts is None:
                continue
            self.has_rendered |= record.seen is not None and record.seen.rendered
            at = record.record
            file, offset = (None, None) if at is None else (at.file, at.offset)
            url = record.url
            yield VisitedUrl(facts, url.host_key, url.origin, file, offset, record.depth, record.same_as is not None)

    def name_sitemaps(self) -> None:
        """Notes the sitemaps that robots.txt files name."""
        for origin in self._staging.origins():
            access = self._ledger.load_robots(origin)
            if access is None or access.result != "successful":
                continue
            robots_txt = Url(f"{origin}/robots.txt")
            urls = [url for text in access.rules.sitemaps if (url := resolve(robots_txt, text)) is not None]
            self._staging.name_lists(robots_txt.text, (url.text for url in urls))

    # ---- reading pages

    def read(self, archived: ArchivedResponse) -> None:
        """Reads a page, a sitemap or a feed. Leaves out a page without its body (noarchive)."""
        if archived.headers_only:
            return
        listing = open_listing(archived.url, archived.response, text=False, check=True)
        if listing is not None:
            self._read_list(archived.url, listing)
            return
        self.pages += self._options.includes(archived.url.text)
        body = Body(archived.response, self._settings.decoded_limit)
        kind, found, encoding = read_extract(
            body, url=archived.url, text=False, document_bytes=self._settings.document_limit
        )
        page = page_of(archived.url, archived.response, self._settings.agent, found, encoding)
        sent = self._answer(archived.url)
        facts = page_facts(
            page,
            is_html=kind == "html",
            lang=found.language,
            noindex=noindex_of(engine_directives(found.metas, archived.response.headers)),
            size_bytes=len(archived.response.body),
            taken_s=None if sent is None else sent.taken_s,
        )
        translations = [(language, url.text) for language, url in page.alternates]
        links = self._requested.both(links_but(page, found, {"canonical", "alternate"}))
        heads = self._requested.both(links_but(page, found, {"canonical"}))
        problems = self._staging.add_page(facts, links, translations, heads)
        self._staging.note_problem(facts.url, problems, self._options.places)

    def _read_list(self, url: Url, listing: ListFile) -> None:
        if listing.kind != "feed":
            self._staging.read_list(url.text)
        for piece in listing.pieces():
            urls = self._requested.both(item.url for item in piece)
            if listing.kind == "sitemap index":
                self._staging.name_lists(url.text, (item.url.text for item in piece))
            elif listing.kind == "sitemap":
                self._staging.add_entries(url.text, urls)
            else:
                self._staging.note_problem(url.text, self._staging.problems_among(urls), self._options.places)
        if listing.kind != "feed" and listing.flaw is not None:
            self._staging.note_flaw(url.text, listing.flaw)

    def read_records(self) -> Iterator[None]:
        """For a crawl without an archive: adds what the frontier knows about each page, except URLs named as sitemaps.
        Yields None after each page."""
        for record in self._ledger.records():
            facts = url_facts(record)
            if facts is None or facts.state != "page" or self._staging.is_named_list(facts.url):
                continue
            self.pages += self._options.includes(facts.url)
            sent = self._answer(record.url)
            page = PageFacts(
                record.url.text,
                is_html=bool(record.title),
                title=record.title or "",
                size_bytes=sent.size_bytes if sent is not None else 0,
                taken_s=sent.taken_s if sent is not None else None,
            )
            self._staging.add_page(page, (), ())
            yield

    def _answer(self, url: Url) -> AnswerSize | None:
        """Returns size and time of the last response, from the events of the visit."""
        record = self._ledger.record(url)
        return None if record is None else answer_size(record.events)
