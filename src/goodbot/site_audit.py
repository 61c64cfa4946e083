"""Audits a site from the crawl in a folder: reads frontier and archive, and fetches nothing. Like `wiring` it uses
concrete classes, not only ports.

The memory does not grow with the crawl: facts and findings are in a temporary file (see `audit.staging`). Each page is
read once, and once more if the place of a finding within it must be found.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from goodbot.archive_values import ArchivedResponse
from goodbot.audit.crawl_reading import CrawlReading
from goodbot.audit.options import AuditOptions
from goodbot.audit.place_finding import PlaceFinder
from goodbot.audit.reading import RequestedUrls
from goodbot.audit.site_findings import SiteFindings
from goodbot.audit.staging import Staging, open_staging
from goodbot.crawl_folder import CrawlFolder, archived_pages, open_archive, open_ledger
from goodbot.errors import DamagedError, InputError
from goodbot.human import counted
from goodbot.ports import CrawlReader
from goodbot.store.warc.warc_archive import WarcArchive
from goodbot.values import RecordRef, Status, UrlRecord

Progress = Callable[[int, int], object]
"""Called with the number of pages done and the number of all pages."""


@dataclass(slots=True)
class SiteAudit:
    """An audit. Its findings are in `staging`. `pages` counts the pages that were read, of the host that the options
    choose; `notes` say in sentences what could not be checked. `lost_count` counts pages whose records are damaged;
    `lost` is the first of them."""

    staging: Staging
    pages: int = 0
    notes: list[str] = field(default_factory=list)
    lost: UrlRecord | None = None
    lost_count: int = 0

    def lose(self, record: UrlRecord) -> None:
        """Notes a page whose record is damaged."""
        self.lost_count += 1
        self.lost = self.lost or record


@contextmanager
def audit_site(path: Path, options: AuditOptions, progress: Progress) -> Iterator[SiteAudit]:
    """Audits the crawl in `path`, which may be running; the audit can be used within the block. Raises InputError if
    there is no crawl, RunError if the temporary file cannot be written."""
    with ExitStack() as stack:
        ledger = stack.enter_context(open_ledger(path))
        archive = _archive_of(path, stack)
        audit = SiteAudit(stack.enter_context(open_staging()))
        _run(path, options, ledger, archive, audit, progress)
        yield audit


def _archive_of(path: Path, stack: ExitStack) -> WarcArchive | None:
    """Opens the archive; None if the crawl keeps none."""
    try:
        return stack.enter_context(open_archive(path))
    except InputError:
        return None


def _run(
    path: Path,
    options: AuditOptions,
    ledger: CrawlReader,
    archive: WarcArchive | None,
    audit: SiteAudit,
    progress: Progress,
) -> None:
    folder = CrawlFolder(path)
    settings, keeps, staging = folder.settings_before(), folder.keeps(), audit.staging

    done, total = 0, ledger.status().states["visited"]

    def step() -> None:
        nonlocal done
        done += 1
        progress(done, max(total, done))

    def read(record: RecordRef) -> ArchivedResponse | None:
        step()
        try:
            return archive.read(record) if archive is not None and keeps(record) else None
        except DamagedError:
            return None

    requested = RequestedUrls(ledger.load_robots)
    reading = CrawlReading(staging, ledger, settings, requested, options)
    staging.add_urls(reading.visited())
    staging.end_urls()
    reading.name_sitemaps()
    status = ledger.status()
    if archive is None:
        for _ in reading.read_records():
            step()
    else:
        for archived in archived_pages(ledger, archive, keeps, audit.lose):
            reading.read(archived)
            step()
    audit.pages = reading.pages
    places = None if archive is None else PlaceFinder(staging, ledger, settings, read)
    findings = SiteFindings(staging, ledger, requested, places, options)
    total = done + staging.problem_page_count()
    findings.find_links()
    findings.find_in_sitemaps()
    findings.find_on_pages()
    if archive is not None and status.finished and not reading.has_rendered:
        findings.find_orphans()
    if places is not None:
        total = done + staging.findings.unplaced_count()
        places.find_all()
    audit.notes += _notes(status, has_archive=archive is not None, has_rendered=reading.has_rendered)


def _notes(status: Status, *, has_archive: bool, has_rendered: bool) -> Iterator[str]:
    """Yields what could not be found out."""
    if not status.finished:
        left = counted(status.states["ready"] + status.states["leased"], "URL")
        yield (
            f"the crawl is not finished ({left} to fetch): orphan pages are not reported, and there may be more "
            "problems"
        )
    if not has_archive:
        yield (
            "the crawl keeps no archive (--no-archive): links are reported at the page where each was found first, "
            "without line and column; apart from links, only unreadable sitemaps, repeated titles, slow and heavy "
            "pages are reported"
        )
    elif has_rendered:
        yield (
            "a browser rendered pages of this crawl, and the archive has them as sent: links that scripts add are "
            "not checked, and orphan pages are not reported"
        )
