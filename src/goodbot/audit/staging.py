"""Keeps the facts about a crawl, and the findings, in a temporary file while a site is audited.

The file takes about 220 bytes for each page, and 180 for each finding; the links of pages are not kept, except those
with problems, up to a limit for each target. The memory is bounded: SQLite's cache (32 MB) and one
page at a time. URLs are known by 64 bits of their hash: among 10 million URLs the odds that two are confused are 1 in
370,000.

In the names of tables and methods, a list is a sitemap or a sitemap index. Where a method takes a `site`, it is a host
(`Url.host_key`) or an origin, and only its pages are yielded; None: all.
"""

import sqlite3
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, NamedTuple

from goodbot.audit.finding_store import FindingStore
from goodbot.audit.site_facts import URL_STATES, PageFacts, UrlFacts
from goodbot.audit.temporary_database import temporary_database
from goodbot.audit.url_key import key_of
from goodbot.page.well_formed import XmlFlaw

_TABLES: Final = """
PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -32768; PRAGMA locking_mode = EXCLUSIVE;
CREATE TABLE urls (
  key INTEGER PRIMARY KEY, url TEXT NOT NULL, state INTEGER NOT NULL, status INTEGER, why TEXT NOT NULL, redirect TEXT,
  host TEXT NOT NULL, file TEXT, offset INTEGER, depth INTEGER NOT NULL, is_copy INTEGER NOT NULL);
CREATE TABLE origins (origin TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE problems (key INTEGER PRIMARY KEY, pages INTEGER NOT NULL DEFAULT 0);
CREATE TABLE problem_links (key INTEGER NOT NULL, page INTEGER NOT NULL, PRIMARY KEY (key, page)) WITHOUT ROWID;
CREATE TABLE linked (key INTEGER PRIMARY KEY);
CREATE TABLE pages (
  key INTEGER PRIMARY KEY, is_html INTEGER NOT NULL, title TEXT NOT NULL, lang TEXT, language TEXT, noindex TEXT,
  canonical TEXT, size INTEGER NOT NULL, taken REAL);
CREATE TABLE translations (page INTEGER NOT NULL, target INTEGER NOT NULL, url TEXT NOT NULL, language TEXT NOT NULL,
  PRIMARY KEY (page, target)) WITHOUT ROWID;
CREATE TABLE listed (key INTEGER PRIMARY KEY, list INTEGER NOT NULL);
CREATE TABLE lists (key INTEGER PRIMARY KEY, url TEXT NOT NULL, named_by TEXT NOT NULL, was_read INTEGER NOT NULL);
CREATE TABLE flaws (url TEXT PRIMARY KEY, what TEXT NOT NULL, line INTEGER, "column" INTEGER) WITHOUT ROWID;
BEGIN;
"""
_OF_SITE: Final = "(?1 IS NULL OR host = ?1 OR instr(urls.url, ?1 || '/') = 1)"
"""Whether a row of `urls` belongs to a site."""
_CHUNK: Final = 500
_STATE_NUMBERS: Final = {state: number for number, state in enumerate(URL_STATES)}


class VisitedUrl(NamedTuple):
    """A URL that was visited, its host and origin, where its record is in the archive, and its depth in the crawl.
    `is_copy`: the crawl found that the page is a copy of another one."""

    facts: UrlFacts
    host: str
    origin: str
    file: str | None
    offset: int | None
    depth: int
    is_copy: bool


class StoredPlace(NamedTuple):
    """Where the record of a URL is in the archive."""

    file: str
    offset: int


class RepeatedTitle(NamedTuple):
    """A title that `pages` pages have, and some of them."""

    title: str
    pages: int
    urls: tuple[str, ...]


class ListedEntry(NamedTuple):
    """An entry of a sitemap."""

    sitemap: str
    url: str


class Staging:
    """The facts of one audit, and its `findings`. For one thread. Errors of the temporary file are those of sqlite3;
    `open_staging` translates them."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection
        self._db.executescript(_TABLES)
        self.findings = FindingStore(connection)

    # ---- URLs

    def add_urls(self, urls: Iterable[VisitedUrl]) -> None:
        """Adds URLs, with their origins."""
        for url in urls:
            facts = url.facts
            row = (key_of(facts.url), facts.url, _STATE_NUMBERS[facts.state], facts.status, facts.why, facts.redirect)
            rest = (url.host, url.file, url.offset, url.depth, url.is_copy)
            self._db.execute("INSERT OR REPLACE INTO urls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (*row, *rest))
            self._db.execute("INSERT OR IGNORE INTO origins VALUES (?)", (url.origin,))

    def origins(self) -> Iterator[str]:
        """Yields the origins of the URLs."""
        return (origin for (origin,) in self._db.execute("SELECT origin FROM origins ORDER BY origin"))

    def end_urls(self) -> None:
        """Marks the URLs that links should not lead to, and the targets of redirects as linked. Call it once, after all
        URLs are added."""
        bad = [_STATE_NUMBERS[state] for state in ("redirect", "failed", "gone")]
        self._db.execute("INSERT INTO problems (key) SELECT key FROM urls WHERE state IN (?, ?, ?)", bad)
        targets = self._db.execute("SELECT redirect FROM urls WHERE redirect IS NOT NULL AND redirect != url")
        self._db.executemany("INSERT OR IGNORE INTO linked VALUES (?)", ((key_of(url),) for (url,) in targets))

    def url(self, url: str) -> UrlFacts | None:
        """Returns what is known about a URL."""
        row = self._db.execute(
            "SELECT url, state, status, why, redirect FROM urls WHERE key = ?", (key_of(url),)
        ).fetchone()
        return None if row is None else _url_facts(row)

    def stored(self, url: str) -> StoredPlace | None:
        """Returns where the record of a URL is; None if there is none."""
        row = self._db.execute("SELECT file, offset FROM urls WHERE key = ?", (key_of(url),)).fetchone()
        return None if row is None or row[0] is None else StoredPlace(*row)

    # ---- pages

    def add_page(
        self,
        page: PageFacts,
        links: Collection[str],
        translations: Iterable[tuple[str, str]],
        named: Collection[str] = (),
    ) -> list[str]:
        """Adds a page, with the URLs it links to, its translations (language and URL), and the URLs in `named`, which
        it names without a link that readers see. Returns those of `links` and `named` that no link should lead to."""
        own = key_of(page.url)
        self._db.execute(
            "INSERT OR REPLACE INTO pages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(own, page.is_html, page.title, page.lang, page.language, page.noindex, page.canonical),
                *(page.size_bytes, page.taken_s),
            ),
        )
        rows = [(own, key_of(url), url, language) for language, url in translations]
        self._db.executemany("INSERT OR IGNORE INTO translations VALUES (?, ?, ?, ?)", rows)
        others = [url for url in links if url != page.url]
        self._db.executemany("INSERT OR IGNORE INTO linked VALUES (?)", ((key_of(url),) for url in others))
        return self.problems_among([*others, *(url for url in named if url != page.url)])

    def problems_among(self, urls: Iterable[str]) -> list[str]:
        """Returns those of the URLs that links should not lead to."""
        keys = {key_of(url): url for url in urls}
        every = list(keys)
        found: list[str] = []
        for start in range(0, len(every), _CHUNK):
            chunk = every[start : start + _CHUNK]
            marks = ", ".join("?" * len(chunk))
            rows = self._db.execute(f"SELECT key FROM problems WHERE key IN ({marks})", chunk)  # noqa: S608  (marks)
            found += (keys[key] for (key,) in rows)
        return found

    def note_problem(self, page: str, targets: Iterable[str], most: int) -> None:
        """Notes that a page links to targets with problems; the page itself only for the first `most` pages of a
        target."""
        own = key_of(page)
        for target in targets:
            key = key_of(target)
            self._db.execute("UPDATE problems SET pages = pages + 1 WHERE key = ?", (key,))
            self._db.execute(
                "INSERT OR IGNORE INTO problem_links SELECT key, ? FROM problems WHERE key = ? AND pages <= ?",
                (own, key, most),
            )

    def page(self, url: str) -> PageFacts | None:
        """Returns what was read of a page."""
        rows = self._db.execute(
            "SELECT urls.url, pages.* FROM pages JOIN urls USING (key) WHERE key = ?", (key_of(url),)
        )
        row = rows.fetchone()
        return None if row is None else _page_facts(row)

    def pages(self, site: str | None) -> Iterator[PageFacts]:
        """Yields the pages, ordered by URL."""
        rows = self._db.execute(
            f"""SELECT urls.url, pages.* FROM pages JOIN urls USING (key)
            WHERE {_OF_SITE} ORDER BY urls.url""",  # noqa: S608 - a text of ours
            (site,),
        )
        return (_page_facts(row) for row in rows)

    def repeated_titles(self, site: str | None, most: int) -> Iterator[RepeatedTitle]:
        """Yields titles that several indexable pages of one host have, with the first `most` of these pages."""
        rows = self._db.execute(
            f"""WITH titled AS (SELECT urls.url AS url, host, title FROM pages JOIN urls USING (key) WHERE is_html
            AND title != '' AND noindex IS NULL AND (canonical IS NULL OR canonical = urls.url)
            AND {_OF_SITE}),
            numbered AS (SELECT host, title, url, row_number() OVER (PARTITION BY host, title ORDER BY url) AS number,
            count(*) OVER (PARTITION BY host, title) AS pages FROM titled)
            SELECT host, title, pages, url FROM numbered WHERE pages > 1 AND number <= ?2 ORDER BY host, title, url""",  # noqa: S608 - a text of ours
            (site, most),
        )
        for (_, title, pages), group in groupby(rows, key=itemgetter(0, 1, 2)):
            yield RepeatedTitle(title, pages, tuple(row[3] for row in group))

    def one_sided_translations(self, site: str | None) -> Iterator[tuple[str, str, str]]:
        """Yields translations without a return link: page, target and language. Both pages were read."""
        return self._db.execute(
            f"""SELECT urls.url, one.url, min(one.language) FROM translations AS one JOIN urls ON urls.key = one.page
            JOIN pages ON pages.key = one.target WHERE one.page != one.target
            AND {_OF_SITE}
            AND NOT EXISTS (SELECT 1 FROM translations AS two WHERE two.page = one.target AND two.target = one.page)
            GROUP BY one.page, one.target ORDER BY urls.url, one.url""",  # noqa: S608 - a text of ours
            (site,),
        )

    # ---- sitemaps

    def name_lists(self, named_by: str, urls: Iterable[str]) -> None:
        """Adds sitemaps that a robots.txt or a sitemap index names."""
        rows = ((key_of(url), url, named_by) for url in urls)
        self._db.executemany("INSERT OR IGNORE INTO lists VALUES (?, ?, ?, 0)", rows)

    def add_entries(self, sitemap: str, urls: Iterable[str]) -> None:
        """Adds URLs that a sitemap lists; of a URL in several sitemaps the first entry counts."""
        own = key_of(sitemap)
        self._db.executemany("INSERT OR IGNORE INTO listed VALUES (?, ?)", ((key_of(url), own) for url in urls))

    def read_list(self, url: str) -> None:
        """Notes that a sitemap was read."""
        self._db.execute(
            "INSERT INTO lists VALUES (?, ?, '', 1) ON CONFLICT DO UPDATE SET was_read = 1", (key_of(url), url)
        )

    def entries(self, site: str | None) -> Iterator[ListedEntry]:
        """Yields the entries that were visited, ordered by sitemap and URL."""
        rows = self._db.execute(
            f"""SELECT lists.url, urls.url FROM listed JOIN urls USING (key) JOIN lists ON lists.key = listed.list
            WHERE {_OF_SITE} ORDER BY lists.url, urls.url""",  # noqa: S608 - a text of ours
            (site,),
        )
        return (ListedEntry(*row) for row in rows)

    def is_named_list(self, url: str) -> bool:
        """Returns whether a robots.txt or a sitemap index names the URL as a sitemap."""
        return self._db.execute("SELECT 1 FROM lists WHERE key = ?", (key_of(url),)).fetchone() is not None

    def is_read_list(self, url: str) -> bool:
        """Returns whether a sitemap was read."""
        row = self._db.execute("SELECT was_read FROM lists WHERE key = ?", (key_of(url),)).fetchone()
        return row is not None and bool(row[0])

    def unread_lists(self) -> Iterator[tuple[str, str]]:
        """Yields sitemaps that were not read, and what names them."""
        return self._db.execute("SELECT url, named_by FROM lists WHERE NOT was_read ORDER BY url")

    def note_flaw(self, url: str, flaw: XmlFlaw) -> None:
        """Notes why a sitemap that was read may be rejected by others."""
        self._db.execute("INSERT OR REPLACE INTO flaws VALUES (?, ?, ?, ?)", (url, *flaw))

    def flaws(self) -> Iterator[tuple[str, XmlFlaw]]:
        """Yields the sitemaps with a flaw."""
        rows = self._db.execute('SELECT url, what, line, "column" FROM flaws ORDER BY url')
        return ((url, XmlFlaw(*flaw)) for url, *flaw in rows)

    def read_lists(self) -> Iterator[str]:
        """Yields the sitemaps that were read."""
        return (url for (url,) in self._db.execute("SELECT url FROM lists WHERE was_read ORDER BY url"))

    def unlisted(self, host: str) -> Iterator[str]:
        """Yields the indexable HTML pages of a host that no sitemap lists."""
        rows = self._db.execute(
            """SELECT urls.url FROM pages JOIN urls USING (key) LEFT JOIN listed USING (key) WHERE host = ? AND is_html
            AND listed.key IS NULL AND NOT is_copy AND noindex IS NULL AND (canonical IS NULL OR canonical = urls.url)
            ORDER BY urls.url""",
            (host,),
        )
        return (url for (url,) in rows)

    def orphans(self, site: str | None) -> Iterator[tuple[str, bool, int]]:
        """Yields HTML pages to which no page links: URL, whether a sitemap lists it, depth."""
        return self._db.execute(
            f"""SELECT urls.url, listed.key IS NOT NULL, depth FROM pages JOIN urls USING (key)
            LEFT JOIN listed USING (key) LEFT JOIN linked USING (key)
            WHERE is_html AND noindex IS NULL AND linked.key IS NULL
            AND {_OF_SITE} ORDER BY urls.url""",  # noqa: S608 - a text of ours
            (site,),
        )

    # ---- problems

    def problem_page_count(self) -> int:
        """Counts the pages of `problem_pages`."""
        return int(self._db.execute("SELECT count(DISTINCT page) FROM problem_links").fetchone()[0])

    def problem_pages(self) -> Iterator[tuple[str, str, int]]:
        """Yields the pages with links to problems: page, target, and the number of pages that link there; in the order
        of the archive."""
        return self._db.execute(
            """SELECT urls.url, targets.url, problems.pages FROM problem_links JOIN urls ON urls.key = page
            JOIN problems ON problems.key = problem_links.key JOIN urls AS targets ON targets.key = problem_links.key
            ORDER BY urls.file, urls.offset, urls.url, targets.url"""
        )

    def problems(self) -> Iterator[UrlFacts]:
        """Yields the URLs that links should not lead to, whether or not a page links there, ordered by URL."""
        rows = self._db.execute(
            "SELECT url, state, status, why, redirect FROM urls JOIN problems USING (key) ORDER BY url"
        )
        return (_url_facts(row) for row in rows)


def _url_facts(row: tuple[Any, ...]) -> UrlFacts:
    url, state, status, why, redirect = row
    return UrlFacts(url, URL_STATES[state], status, why, redirect)


def _page_facts(row: tuple[Any, ...]) -> PageFacts:
    url, _, is_html, title, lang, language, noindex, canonical, size, taken = row
    return PageFacts(url, bool(is_html), title, lang, language, noindex, canonical, size, taken)


@contextmanager
def open_staging() -> Iterator[Staging]:
    """Opens an empty staging. Raises RunError if its temporary file cannot be written."""
    with temporary_database("the facts of the audit") as connection:
        yield Staging(connection)
