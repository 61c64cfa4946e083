"""Audits a site from the crawl in a folder: reads frontier and archive, and fetches nothing. Like `wiring` it uses
concrete classes, not only ports.

The memory does not grow with the crawl: facts and findings are in a temporary file (see `audit.staging`). Each page is
read once, and once more if the place of a finding within it must be found.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

from goodbot.archive_values import ArchivedResponse
from goodbot.audit import index_kinds, page_kinds
from goodbot.audit.findings import AuditFinding, finding
from goodbot.audit.judging import (
    canonical_problems,
    content_problems,
    link_problem,
    listed_problems,
    noindex_problems,
    weight_problems,
)
from goodbot.audit.list_places import EntryPlace, record_places, sitemap_places
from goodbot.audit.page_places import LinkPlace, PagePlaces, find_places, places_of
from goodbot.audit.reading import ClosedUrls, RequestedUrls, page_facts, source_of, url_facts
from goodbot.audit.site_facts import PageFacts, follow
from goodbot.audit.staging import Staging, VisitedUrl, open_staging
from goodbot.config import Settings
from goodbot.crawl_folder import CrawlFolder, archived_pages, open_archive, open_ledger
from goodbot.errors import DamagedError, InputError
from goodbot.human import counted
from goodbot.page import Body
from goodbot.page.coding import decode_content
from goodbot.page.document import read_extract
from goodbot.page.encoding import decode_text
from goodbot.page.list_file import ListFile, open_listing
from goodbot.page.page_building import page_of
from goodbot.page.sitemap import MAX_LIST_BYTES
from goodbot.ports import CrawlReader
from goodbot.robot.crawl.answer_facts import AnswerSize, answer_size
from goodbot.store.warc.warc_archive import WarcArchive
from goodbot.url import Url, resolve
from goodbot.values import RecordRef, UrlRecord

SLOW_S: Final = 2.0
"""The time of an answer from which a page is slow, by default."""

HEAVY_BYTES: Final = 1_000_000
"""The size of an HTML page, as sent, from which it is heavy, by default."""

PLACES: Final = 20
"""How many pages are named for each target of a link, and for each title, by default."""

Progress = Callable[[int, int], object]
"""Called with the number of pages done and the number of all pages."""


@dataclass(frozen=True, slots=True)
class AuditOptions:
    """`host`: the only host (`Url.host_key`) of which findings are reported; None: all. `slow_s`: the longest time of
    an answer; `heavy_bytes`: the largest size of an HTML page; `places`: how many pages are named for one target of a
    link, or one title."""

    host: str | None = None
    slow_s: float = SLOW_S
    heavy_bytes: int = HEAVY_BYTES
    places: int = PLACES


@dataclass(slots=True)
class SiteAudit:
    """An audit. Its findings are in `staging`. `pages` counts the pages that were read; `notes` are sentences that say
    what could not be found out; `lost` are the pages whose records are damaged."""

    staging: Staging
    pages: int = 0
    notes: list[str] = field(default_factory=list)
    lost: list[UrlRecord] = field(default_factory=list)
    lost_count: int = 0

    def lose(self, record: UrlRecord) -> None:
        """Notes a page whose record is damaged."""
        self.lost_count += 1
        if len(self.lost) < 1:
            self.lost.append(record)


@contextmanager
def audit_site(path: Path, options: AuditOptions, progress: Progress) -> Iterator[SiteAudit]:
    """Audits the crawl in `path`, which may be running; the audit can be used within the block. Raises InputError if
    there is no crawl, RunError if the temporary file cannot be written."""
    with ExitStack() as stack:
        ledger = stack.enter_context(open_ledger(path))
        archive = _archive_of(path, stack)
        audit = SiteAudit(stack.enter_context(open_staging()))
        _Auditing(path, options, ledger, archive, audit).run(progress)
        yield audit


def _archive_of(path: Path, stack: ExitStack) -> WarcArchive | None:
    """Opens the archive; None if the crawl keeps none."""
    try:
        return stack.enter_context(open_archive(path))
    except InputError:
        return None


class _Auditing:
    """One audit while it runs."""

    def __init__(
        self, path: Path, options: AuditOptions, ledger: CrawlReader, archive: WarcArchive | None, audit: SiteAudit
    ) -> None:
        self._folder = CrawlFolder(path)
        self._settings: Settings = self._folder.settings_before()
        self._keeps = self._folder.keeps()
        self._options = options
        self._ledger = ledger
        self._archive = archive
        self._audit = audit
        self._staging = audit.staging
        self._closing = ClosedUrls(ledger.load_robots)
        self._requested = RequestedUrls(ledger.load_robots)
        self._has_rendered = False

    def run(self, progress: Progress) -> None:
        """Reads everything, and writes the findings."""
        self._staging.add_urls(self._visited())
        self._staging.end_urls()
        self._name_sitemaps()
        status = self._ledger.status()
        self._read_pages(status.states["visited"], progress)
        self._find_links()
        self._find_in_sitemaps()
        self._find_on_pages()
        if not status.finished:
            left = counted(status.states["ready"] + status.states["leased"], "URL")
            self._audit.notes.append(
                f"the crawl is not finished ({left} to fetch): orphan pages are not reported, and more may be wrong"
            )
        elif self._archive is not None and not self._has_rendered:
            self._find_orphans()
        self._find_places()
        self._note_limits()

    # ---- reading the frontier

    def _visited(self) -> Iterator[VisitedUrl]:
        """Yields the URLs that were visited, and those that robots.txt closes."""
        for record in self._ledger.records():
            facts = url_facts(record)
            if facts is None:
                continue
            self._has_rendered |= record.seen is not None and record.seen.rendered
            at = record.record
            file, offset = (None, None) if at is None else (at.file, at.offset)
            url = record.url
            yield VisitedUrl(facts, url.host_key, url.origin, file, offset, record.depth, record.same_as is not None)

    def _name_sitemaps(self) -> None:
        for origin in self._staging.origins():
            access = self._ledger.load_robots(origin)
            if access is None or access.result != "successful":
                continue
            robots_txt = Url(f"{origin}/robots.txt")
            urls = [url for text in access.rules.sitemaps if (url := resolve(robots_txt, text)) is not None]
            self._staging.name_lists(robots_txt.text, (url.text for url in urls))

    # ---- reading pages

    def _read_pages(self, total: int, progress: Progress) -> None:
        if self._archive is None:
            self._read_records(total, progress)
            return
        for done, archived in enumerate(archived_pages(self._ledger, self._archive, self._keeps, self._audit.lose), 1):
            self._read(archived)
            progress(done, max(total, done))

    def _read(self, archived: ArchivedResponse) -> None:
        if archived.headers_only:
            return
        listing = open_listing(archived.url, archived.response, text=False)
        if listing is not None:
            self._read_list(archived.url, listing)
            return
        self._audit.pages += 1
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
            size_bytes=len(archived.response.body),
            taken_s=None if sent is None else sent.taken_s,
        )
        translations = [(language, url.text) for language, url in page.alternates]
        problems = self._staging.add_page(facts, self._requested.both(link.url for link in page.links), translations)
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

    def _read_records(self, total: int, progress: Progress) -> None:
        """Takes what is known of pages from the frontier alone."""
        for record in self._ledger.records():
            facts = url_facts(record)
            if facts is None or facts.state != "page":
                continue
            self._audit.pages += 1
            sent = self._answer(record.url)
            page = PageFacts(
                record.url.text,
                is_html=bool(record.title),
                title=record.title or "",
                size_bytes=sent.size_bytes if sent is not None else 0,
                taken_s=sent.taken_s if sent is not None else None,
            )
            self._staging.add_page(page, (), ())
            progress(self._audit.pages, max(total, self._audit.pages))

    def _answer(self, url: Url) -> AnswerSize | None:
        """Returns size and time of the last answer, from the events of the visit."""
        record = self._ledger.record(url)
        return None if record is None else answer_size(record.events)

    # ---- findings

    def _in_scope(self, url: str) -> bool:
        return self._options.host is None or Url(url).host_key == self._options.host

    def _find_links(self) -> None:
        if self._archive is None:
            self._staging.findings.add(self._sources_of_problems())
            return
        for page, rows in groupby(self._staging.problem_pages(), key=itemgetter(0)):
            if self._in_scope(page):
                self._staging.findings.add(self._link_findings(page, [(target, pages) for _, target, pages in rows]))

    def _link_findings(self, page: str, targets: Iterable[tuple[str, int]]) -> Iterator[AuditFinding]:
        places = self._places_in(page)
        links: dict[str, list[LinkPlace]] = {}
        for link in places.links if places is not None else ():
            for requested in self._requested.both([Url(link.url)]):
                links.setdefault(requested, []).append(link)
        for target, pages in targets:
            facts = self._staging.url(target)
            problem = None if facts is None else link_problem(facts, self._staging.url)
            if problem is None:
                continue
            if places is None:
                yield problem.at(page, None, pages)
                continue
            for link in links.get(target, ()):
                yield problem.at(page, link.text, pages, link.place)

    def _sources_of_problems(self) -> Iterator[AuditFinding]:
        """Yields a finding for each problem at the page where the crawl first found its URL."""
        for facts in self._staging.problems():
            record = self._ledger.record(Url(facts.url))
            source = None if record is None else source_of(record)
            problem = link_problem(facts, self._staging.url)
            if source is not None and problem is not None and self._in_scope(source):
                yield problem.at(source, None, None)

    def _find_in_sitemaps(self) -> None:
        staging, host = self._staging, self._options.host
        for entry in staging.entries(host):
            facts, page = staging.url(entry.url), staging.page(entry.url)
            if facts is not None:
                staging.findings.add(listed_problems(entry.sitemap, facts, page, staging.url, self._closing))
        unknown = {Url(url).host_key for url in self._unread_sitemaps()}
        hosts = dict.fromkeys(Url(url).host_key for url in staging.read_lists())
        for each in hosts:
            if each not in unknown and host in (None, each):
                missing = (url for url in staging.unlisted(each) if self._closing(url) is None)
                staging.findings.add(finding(index_kinds.UNLISTED, url) for url in missing)

    def _unread_sitemaps(self) -> Iterator[str]:
        """Writes the findings about sitemaps that cannot be read; yields those of which nothing is known."""
        staging = self._staging
        for url, named_by in staging.unread_lists():
            end = follow(url, lambda each: facts.redirect if (facts := staging.url(each)) is not None else None).end
            facts = staging.url(end)
            if end != url and staging.is_read_list(end):
                continue
            if facts is None:
                yield url
            elif self._in_scope(url):
                why = "it is not a sitemap" if facts.state == "page" else facts.why
                staging.findings.add([finding(index_kinds.UNREAD_SITEMAP, named_by or url, "entry", url, why=why)])

    def _find_on_pages(self) -> None:
        staging, options = self._staging, self._options
        has_content = self._archive is not None
        for page in staging.pages(options.host):
            staging.findings.add(content_problems(page, has_content=has_content))
            staging.findings.add(weight_problems(page, options.slow_s, options.heavy_bytes))
            staging.findings.add(noindex_problems(page, self._closing))
            staging.findings.add(canonical_problems(page, staging.url, staging.page, self._closing))
        for group in staging.repeated_titles(options.host, options.places):
            related = {"title": group.title, "pages": list(group.urls), "count": group.pages}
            words: dict[str, Any] = {"title": f"`{group.title}`", "count": f"{group.pages:,}"}
            staging.findings.add(
                finding(page_kinds.REPEATED_TITLE, url, "title", "", related=related, **words) for url in group.urls
            )
        staging.findings.add(
            finding(
                page_kinds.NO_RETURN_LINK,
                page,
                "translation",
                target,
                related={"language": language},
                language=language,
            )
            for page, target, language in staging.one_sided_translations(options.host)
        )

    def _find_orphans(self) -> None:
        for url, is_listed, depth in self._staging.orphans(self._options.host):
            if Url(url).path != "/":
                origin = "from a sitemap" if is_listed else "as a seed" if depth == 0 else "from a feed or a submission"
                self._staging.findings.add([finding(page_kinds.ORPHAN, url, origin=origin)])

    # ---- places

    def _find_places(self) -> None:
        if self._archive is not None:
            for page, rows in groupby(self._staging.findings.unplaced(), key=itemgetter(3)):
                self._place(page, [(number, part, target) for number, part, target, _ in rows])
        for url, entries in groupby(self._staging.findings.unplaced_entries(), key=itemgetter(1)):
            wanted: dict[str, list[int]] = {}
            for number, _, target in entries:
                wanted.setdefault(target, []).append(number)
            for found in self._entry_places(Url(url), wanted):
                for number in wanted[found.url]:
                    self._staging.findings.place(number, *found.place)

    def _place(self, page: str, findings: Sequence[tuple[int, str, str]]) -> None:
        """Gives findings (number, part, target) about one page their places in it."""
        places = self._places_in(page, {part for _, part, _ in findings})
        if places is not None:
            for number, part, target in findings:
                link = next(places_of(places, part, target), None)
                if link is not None:
                    self._staging.findings.place(number, *link.place)

    def _entry_places(self, url: Url, wanted: Iterable[str]) -> Iterator[EntryPlace]:
        if url.path == "/robots.txt":
            access = self._ledger.load_robots(url.origin)
            return record_places(access.body if access is not None else b"", url, set(wanted))
        archived = self._archived(url.text)
        if archived is None:
            return iter(())
        body = decode_content(archived.response, MAX_LIST_BYTES).body
        text = decode_text(body, archived.response.header("content-type"), html=False)[0]
        return sitemap_places(text, url, set(wanted))

    def _places_in(self, page: str, wanted: Collection[str] = ("link",)) -> PagePlaces | None:
        """Returns the places in a page; None if it is not HTML, or cannot be read."""
        facts, archived = self._staging.page(page), self._archived(page)
        if facts is None or not facts.is_html or archived is None:
            return None
        return find_places(Body(archived.response, self._settings.decoded_limit).text, archived.url, wanted)

    def _archived(self, url: str) -> ArchivedResponse | None:
        place = self._staging.stored(url)
        if place is None or self._archive is None or not self._keeps(RecordRef(*place)):
            return None
        try:
            return self._archive.read(RecordRef(*place))
        except DamagedError:
            return None

    def _note_limits(self) -> None:
        if self._archive is None:
            self._audit.notes.append(
                "the crawl keeps no archive (--no-archive): links are reported at the page where each was found first, "
                "without line and column; sitemaps, canonical URLs, noindex, languages and orphan pages are not checked"
            )
        elif self._has_rendered:
            self._audit.notes.append(
                "a browser rendered pages of this crawl, and the archive has them as sent: links that scripts add are "
                "not checked, and orphan pages are not reported"
            )
