"""Writes sitemaps of the pages that a crawl has found indexable. Fetches nothing. Like `wiring` it uses concrete
classes, not only ports.

The memory does not grow with the crawl: the pages are in a temporary file (TMPDIR), about 100 bytes each.
"""

import gzip
import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Final, Literal
from urllib.parse import quote

from goodbot.archive_values import ArchivedResponse
from goodbot.audit.reading import DisallowedUrls, engine_directives
from goodbot.audit.site_facts import is_language_tag
from goodbot.audit.sitemap_files import MAX_LOC_CHARS, SitemapEntry, divide, format_index, format_sitemap
from goodbot.audit.temporary_database import temporary_database
from goodbot.config import Settings
from goodbot.crawl_folder import CrawlFolder, open_archive, open_ledger
from goodbot.errors import DamagedError, InputError
from goodbot.exclusion import Directives
from goodbot.exclusion.page.page_dates import parse_page_date
from goodbot.exclusion.text.shown_text import shown
from goodbot.files import cannot_write, writing_whole
from goodbot.human import counted
from goodbot.page import Body
from goodbot.page.document import DocumentKind, read_extract
from goodbot.page.extract import Extract
from goodbot.page.list_file import may_list, open_listing
from goodbot.page.page_building import page_of
from goodbot.page.sitemap import MAX_ENTRIES
from goodbot.ports import Archive, CrawlReader
from goodbot.url import Url
from goodbot.values import REDIRECTS, Page, UrlRecord

HOSTS_NAMED: Final = 5
"""How many hosts an error names."""

_PDF: Final = ("application/pdf", "application/x-pdf")

Reason = Literal["noindex", "canonical", "disallowed", "copy", "type", "long"]
"""Why a page is left out: it asks not to be indexed; it names another canonical URL; robots.txt disallows it for a
search engine; the crawl found it to be a copy; it is neither HTML nor PDF; its URL is too long for a sitemap."""

Progress = Callable[[int, int], object]
"""Called with the number of pages done and the number of all pages."""


@dataclass(slots=True)
class WrittenSitemaps:
    """What was written: the files, the index first if there is one; the number of URLs in them; the origin of these
    URLs; how many pages of this origin are left out, by reason. `other_origins` counts pages to list that have another
    scheme or port on the same host. `unfinished` counts the URLs that the crawl has still to fetch."""

    files: list[Path] = field(default_factory=list)
    urls: int = 0
    origin: str = ""
    left_out: Counter[Reason] = field(default_factory=Counter)
    other_origins: int = 0
    unfinished: int = 0


def write_sitemaps(
    path: Path,
    file: Path,
    host: str | None,
    base: Url | None,
    progress: Progress,
    *,
    origin: str = "",
    most_urls: int = MAX_ENTRIES,
) -> WrittenSitemaps:
    """Writes the sitemap of the crawl in `path` to `file`, compressed if its name ends in `.gz`. If one file cannot
    hold all URLs, `file` is a sitemap index, and the sitemaps `NAME-1.xml`, `NAME-2.xml`… are beside it; the index
    names them at `base` (None: the root of the host).

    The pages are those of `host` (`Url.host_key`), or of the only host of the crawl; only those of `origin`, if it is
    given. They are in the order of their URLs, at most `most_urls` in one file; each file is written whole and then
    renamed, the index last. Writes nothing if there is no page to list. Raises InputError if there is no crawl or no
    archive, for several hosts without `host`, and for an unusable file name; DamagedError, before anything is written,
    if pages cannot be read; RunError if the disk is full."""
    written = WrittenSitemaps()
    with open_ledger(path) as ledger, open_archive(path) as archive, _open_entries() as entries:
        status = ledger.status()
        written.unfinished = status.states["ready"] + status.states["leased"]
        crawl = CrawlFolder(path)
        reading = _Reading(crawl.settings_before(), DisallowedUrls(ledger.load_robots))
        keeps = crawl.keeps()
        for done, record in enumerate(_visited(ledger, host, origin), 1):
            if record.record is not None and keeps(record.record):
                entries.add(reading.entry(record, _read(archive, record)), record.url)
            progress(done, max(status.states["visited"], done))
        written.origin = entries.choose(path, written)
        written.left_out = reading.left_out(written.origin)
        if written.origin:
            _write(file, entries, written, base, most_urls)
    return written


def _visited(ledger: CrawlReader, host: str | None, origin: str) -> Iterator[UrlRecord]:
    for record in ledger.records():
        is_meant = host in (None, record.url.host_key) and origin in ("", record.url.origin)
        if is_meant and record.state == "visited" and record.status not in REDIRECTS:
            yield record


def _read(archive: Archive, record: UrlRecord) -> ArchivedResponse:
    assert record.record is not None  # noqa: S101  (see the caller)
    try:
        return archive.read(record.record)
    except DamagedError as error:
        raise DamagedError(f"{error}; nothing is written (goodbot archive repair, then crawl again)") from error


# ---- which pages ----------------------------------------------------------------------------------------------------


class _Reading:
    """Decides which pages are listed, and with what."""

    def __init__(self, settings: Settings, disallowed: DisallowedUrls) -> None:
        self._settings = settings
        self._disallowed = disallowed
        self._left_out: dict[str, Counter[Reason]] = defaultdict(Counter)

    def left_out(self, origin: str) -> Counter[Reason]:
        """Counts the pages of an origin that are left out, by reason; those of all origins if it is empty."""
        return self._left_out[origin] if origin else sum(self._left_out.values(), Counter())

    def entry(self, record: UrlRecord, archived: ArchivedResponse) -> SitemapEntry | None:
        """Returns the entry of a page, or None if it is left out."""
        url = record.url
        if not 200 <= archived.response.status < 300:
            return None
        if may_list(url, archived.response) and open_listing(url, archived.response, text=False) is not None:
            return None
        kind, page, engines = self._page(url, archived)
        reason = self._reason(record, archived, kind, page, engines)
        if reason is not None:
            self._left_out[url.origin][reason] += 1
            return None
        return SitemapEntry(url.text, _changed_at(record, archived), _translations(page))

    def _page(self, url: Url, archived: ArchivedResponse) -> tuple[DocumentKind, Page, list[Directives]]:
        response = archived.response
        if response.media_type in _PDF:  # reading it takes a process, and its content says nothing about indexing
            page = page_of(url, response, self._settings.agent, Extract(), "utf-8")
            return "pdf", page, engine_directives((), response.headers)
        body = Body(response, self._settings.decoded_limit)
        kind, found, encoding = read_extract(body, url=url, text=False, document_bytes=0)
        page = page_of(url, response, self._settings.agent, found, encoding)
        return kind, page, engine_directives(found.metas, response.headers)

    def _reason(
        self,
        record: UrlRecord,
        archived: ArchivedResponse,
        kind: DocumentKind,
        page: Page,
        engines: Iterable[Directives],
    ) -> Reason | None:
        is_hidden = archived.headers_only and not (record.seen is not None and record.seen.indexed)
        if kind not in ("html", "pdf"):
            return "type"
        if is_hidden or not all(each.index and each.is_available(archived.fetched_at) for each in engines):
            return "noindex"
        if page.canonical is not None and page.canonical != record.url:
            return "canonical"
        if record.same_as is not None:
            return "copy"
        if self._disallowed(record.url.text) is not None:
            return "disallowed"
        return "long" if len(record.url.text) > MAX_LOC_CHARS else None


def _translations(page: Page) -> tuple[tuple[str, str], ...]:
    """Returns the translations that a page names, and the page itself first if it names others only, as Google's guide
    to localized versions demands; without it if its language is not known."""
    named = tuple((language, each.text) for language, each in page.alternates)
    own = (page.language or "").lower()
    has_own = any(language == own or each == page.url.text for language, each in named)
    return ((own, page.url.text), *named) if named and not has_own and is_language_tag(own) else named


def _changed_at(record: UrlRecord, archived: ArchivedResponse) -> float | None:
    """Returns Last-Modified of the response, unless it is later than the visit; else when the crawl last found the page
    changed; else None."""
    stated = parse_page_date(archived.response.header("last-modified") or "")
    if stated is not None and 0 < stated <= archived.fetched_at:
        return stated
    return record.seen.changed_at if record.seen is not None else archived.fetched_at


# ---- the pages found ------------------------------------------------------------------------------------------------


class _Entries:
    """The pages found, in a temporary file."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection
        self._db.executescript(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; CREATE TABLE entries (origin TEXT, url TEXT,"
            " host TEXT, changed_at REAL, translations TEXT, PRIMARY KEY (origin, url)) WITHOUT ROWID; BEGIN;"
        )

    def add(self, entry: SitemapEntry | None, url: Url) -> None:
        """Adds an entry, if there is one."""
        if entry is not None:
            row = (url.origin, entry.url, url.host_key, entry.changed_at, json.dumps(entry.translations))
            self._db.execute("INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?, ?)", row)

    def choose(self, path: Path, written: WrittenSitemaps) -> str:
        """Returns the origin of the pages; the one with the most pages if a host has several (schemes, ports); empty
        if there are no pages. Raises InputError for several hosts."""
        rows = self._db.execute(
            "SELECT origin, host, count(*) FROM entries GROUP BY origin ORDER BY count(*) DESC, origin DESC"
        ).fetchall()
        hosts = dict.fromkeys(row[1] for row in rows)
        if len(hosts) > 1:
            named = ", ".join(shown(each) for each in list(hosts)[:HOSTS_NAMED])
            more = ", …" if len(hosts) > HOSTS_NAMED else ""
            raise InputError(
                f"the crawl in {path} has pages of {counted(len(hosts), 'host')}, and a sitemap lists one:"
                f" choose it with --host ({named}{more})"
            )
        written.other_origins = sum(row[2] for row in rows[1:])
        return rows[0][0] if rows else ""

    def of(self, origin: str) -> Iterator[SitemapEntry]:
        """Yields the entries of an origin, ordered by URL."""
        rows = self._db.execute(
            "SELECT url, changed_at, translations FROM entries WHERE origin = ? ORDER BY url", (origin,)
        )
        for url, changed_at, translations in rows:
            yield SitemapEntry(url, changed_at, tuple((each[0], each[1]) for each in json.loads(translations)))


@contextmanager
def _open_entries() -> Iterator[_Entries]:
    with temporary_database("the pages of the sitemap") as connection:
        yield _Entries(connection)


# ---- files ----------------------------------------------------------------------------------------------------------


def _write(file: Path, entries: _Entries, written: WrittenSitemaps, base: Url | None, most_urls: int) -> None:
    counts = divide(entries.of(written.origin), most_urls)
    written.urls = sum(counts)
    if len(counts) == 1:
        _write_file(file, format_sitemap(entries.of(written.origin)))
        written.files = [file]
        return
    left = entries.of(written.origin)
    sitemaps: list[tuple[str, float | None]] = []
    parts: list[Path] = []
    place = f"{written.origin}/" if base is None else base.text
    for number, count in enumerate(counts, 1):
        part = _part_of(file, number)
        latest = _Latest(islice(left, count))
        _write_file(part, format_sitemap(latest))
        sitemaps.append((f"{place}{quote(part.name)}", latest.at))
        parts.append(part)
    _write_file(file, format_index(sitemaps))
    written.files = [file, *parts]


class _Latest:
    """Passes entries on, and notes the latest change."""

    def __init__(self, entries: Iterable[SitemapEntry]) -> None:
        self._entries = entries
        self.at: float | None = None

    def __iter__(self) -> Iterator[SitemapEntry]:
        for entry in self._entries:
            if entry.changed_at is not None:
                self.at = max(self.at or 0.0, entry.changed_at)
            yield entry


def _part_of(file: Path, number: int) -> Path:
    """Returns the name of a sitemap that an index names: `sitemap.xml.gz` → `sitemap-1.xml.gz`."""
    name = file.name
    stem, dot, rest = name.partition(".")
    return file.with_name(f"{stem}-{number}{dot}{rest}") if stem else file.with_name(f"{name}-{number}")


def _write_file(file: Path, pieces: Iterable[bytes]) -> None:
    try:
        with writing_whole(file) as output:
            if file.name.lower().endswith(".gz"):
                with gzip.GzipFile(filename="", mode="wb", fileobj=output, mtime=0) as packed:
                    packed.writelines(pieces)
            else:
                output.writelines(pieces)
    except OSError as error:
        raise cannot_write(file, error) from error
