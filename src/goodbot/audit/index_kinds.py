"""A2 and A3: the kinds of findings about sitemaps, noindex and canonical URLs."""

from typing import Final

from goodbot.audit.example_pages import (
    BROKEN,
    CANONICAL_B,
    DISALLOWING,
    GONE,
    MOVED,
    NAMED,
    NOINDEX,
    THERE,
    home,
    linked,
    sitemap,
)
from goodbot.audit.kind import AuditKind, SitePage

_GOOGLE: Final = "https://developers.google.com/search/docs/crawling-indexing"
_SITEMAPS: Final = f"{_GOOGLE}/sitemaps/build-sitemap"
_CANONICAL: Final = f"RFC 6596 3; {_GOOGLE}/consolidate-duplicate-urls"

LISTED_DISALLOWED: Final = AuditKind(
    "A201",
    "page in the sitemap that robots.txt disallows",
    "error",
    "the sitemap lists {target}, but `{rule}` (line {rule_line} of robots.txt) disallows it for {agent}",
    "search engines: the sitemap asks them to index a page that they must not fetch",
    "allow the page in robots.txt, or remove it from the sitemap",
    _SITEMAPS,
    linked(DISALLOWING, sitemap("/", "/b"), THERE),
    linked(DISALLOWING, sitemap("/", "/c"), SitePage("/c", "<p>Text")),
)
LISTED_NOINDEX: Final = AuditKind(
    "A202",
    "page in the sitemap with noindex",
    "warning",
    "the sitemap lists {target}, but the page asks not to be indexed ({directive})",
    "search engines: sitemap and page contradict each other",
    "remove noindex from the page, or the page from the sitemap",
    _SITEMAPS,
    linked(NAMED, sitemap("/", "/b"), NOINDEX),
    linked(NAMED, sitemap("/"), NOINDEX),
)
LISTED_GONE: Final = AuditKind(
    "A203",
    "page in the sitemap that does not exist",
    "error",
    "the sitemap lists {target}, which does not exist ({why})",
    "search engines, which trust the sitemap less",
    "remove the page from the sitemap",
    _SITEMAPS,
    (home(), NAMED, sitemap("/", "/b"), GONE),
    linked(NAMED, sitemap("/", "/b"), THERE),
)
LISTED_REDIRECT: Final = AuditKind(
    "A204",
    "page in the sitemap that redirects",
    "warning",
    "the sitemap lists {target}, which redirects: {hops}",
    "search engines: a sitemap should list the URLs to be indexed",
    "list {end} in its place",
    _SITEMAPS,
    (home("/c"), NAMED, sitemap("/", "/b", "/c"), MOVED, SitePage("/c", "<p>Text")),
    linked(NAMED, sitemap("/", "/b"), THERE),
)
LISTED_FAILING: Final = AuditKind(
    "A205",
    "page in the sitemap that cannot be fetched",
    "warning",
    "the sitemap lists {target}, which could not be fetched: {why}",
    "search engines, if the page fails for them too",
    "find out why the page fails, or remove it from the sitemap",
    _SITEMAPS,
    (home(), NAMED, sitemap("/", "/b"), BROKEN),
    linked(NAMED, sitemap("/", "/b"), THERE),
)
UNLISTED: Final = AuditKind(
    "A206",
    "page missing from the sitemap",
    "info",
    "this page is indexable, but no sitemap of its site lists it",
    "search engines: they find the page later, or not at all",
    "add the page to the sitemap (`goodbot sitemap` writes one)",
    _SITEMAPS,
    linked(NAMED, sitemap("/"), THERE),
    linked(NAMED, sitemap("/", "/b"), THERE),
    "Reported only for sites that have a sitemap, and only if every sitemap that the crawl knows was read.",
)
LISTED_COPY: Final = AuditKind(
    "A207",
    "page in the sitemap with another canonical URL",
    "warning",
    "the sitemap lists {target}, but the page names {canonical} as its canonical URL",
    "search engines: sitemap and page contradict each other",
    "list {canonical} in its place, or correct the canonical URL",
    _CANONICAL,
    linked(NAMED, sitemap("/", "/a", "/b"), CANONICAL_B, THERE),
    linked(NAMED, sitemap("/", "/b"), CANONICAL_B, THERE),
)
UNREAD_SITEMAP: Final = AuditKind(
    "A208",
    "sitemap that cannot be read, or is not well-formed",
    "error",
    "the sitemap {target} {problem}",
    "search engines: they may ignore the sitemap, or read only a part of it",
    "make the sitemap available as well-formed XML, or correct its URL",
    "https://www.sitemaps.org/protocol.html",
    (home(), NAMED, SitePage("/sitemap.xml", status=404)),
    (home(), NAMED, sitemap("/")),
    "Also reported, at the place of the error, for a sitemap whose XML is not well-formed or breaks off. The audit "
    "uses what it can read of it.",
)
UNREAD_NOINDEX: Final = AuditKind(
    "A301",
    "noindex that robots.txt hides",
    "warning",
    "`{rule}` (line {rule_line} of robots.txt) disallows this page for {agent}, which therefore never sees its "
    "directives ({directive})",
    "search engines: they may still list the URL without having seen the page",
    "allow the page in robots.txt until search engines have dropped it, or remove its noindex",
    f"{_GOOGLE}/block-indexing",
    linked(DISALLOWING, NOINDEX),
    linked(NAMED, sitemap("/"), NOINDEX),
    "Found only on pages that robots.txt disallows for a search engine, but not for goodbot, which has to read them.",
)
CANONICAL_LOST: Final = AuditKind(
    "A302",
    "canonical URL that cannot be opened",
    "error",
    "the canonical URL of this page is {target}, which cannot be opened ({why})",
    "search engines: they may drop this page, and cannot list the canonical one",
    "name a canonical URL that exists",
    _CANONICAL,
    (home("/a"), CANONICAL_B, GONE),
    linked(CANONICAL_B, THERE),
)
CANONICAL_REDIRECT: Final = AuditKind(
    "A303",
    "canonical URL that redirects",
    "warning",
    "the canonical URL of this page is {target}, which redirects: {hops}",
    "search engines: they may ignore the canonical URL",
    "name {end} as the canonical URL",
    _CANONICAL,
    (home("/a", "/c"), CANONICAL_B, MOVED, SitePage("/c", "<p>Text")),
    linked(CANONICAL_B, THERE),
)
CANONICAL_DISALLOWED: Final = AuditKind(
    "A304",
    "canonical URL that robots.txt disallows",
    "warning",
    "the canonical URL of this page is {target}, but `{rule}` (line {rule_line} of robots.txt) disallows it for "
    "{agent}",
    "search engines: they cannot read the page that they should list in place of this one",
    "allow that page, or name a canonical URL that is allowed",
    _CANONICAL,
    linked(DISALLOWING, CANONICAL_B, THERE),
    linked(CANONICAL_B, THERE),
)
CANONICAL_NOINDEX: Final = AuditKind(
    "A305",
    "canonical URL with noindex",
    "warning",
    "the canonical URL of this page is {target}, which asks not to be indexed ({directive})",
    "search engines: they may list neither page",
    "remove noindex from that page, or name another canonical URL",
    _CANONICAL,
    linked(CANONICAL_B, NOINDEX),
    linked(CANONICAL_B, THERE),
)
CANONICAL_CHAIN: Final = AuditKind(
    "A306",
    "canonical chain",
    "warning",
    "the canonical URL of this page is {target}, which names another canonical URL: {hops}",
    "search engines: they may follow one step only, or ignore the canonical URLs",
    "name {end} as the canonical URL",
    _CANONICAL,
    linked(CANONICAL_B, SitePage("/b", '<link rel="canonical" href="/c"><p>B'), SitePage("/c", "<p>Text")),
    linked(CANONICAL_B, SitePage("/b", '<link rel="canonical" href="/b"><p>Text')),
)
CANONICAL_LOOP: Final = AuditKind(
    "A307",
    "canonical loop",
    "error",
    "the canonical URLs of these pages form a loop: {hops}",
    "search engines: they cannot know which page to list",
    "choose one of these pages, and name it as the canonical URL of all of them, including itself",
    _CANONICAL,
    linked(CANONICAL_B, SitePage("/b", '<link rel="canonical" href="/a"><p>Text of b')),
    linked(CANONICAL_B, SitePage("/b", '<link rel="canonical" href="/b"><p>Text')),
)
KINDS: Final = (
    LISTED_DISALLOWED,
    LISTED_NOINDEX,
    LISTED_GONE,
    LISTED_REDIRECT,
    LISTED_FAILING,
    UNLISTED,
    LISTED_COPY,
    UNREAD_SITEMAP,
    UNREAD_NOINDEX,
    CANONICAL_LOST,
    CANONICAL_REDIRECT,
    CANONICAL_DISALLOWED,
    CANONICAL_NOINDEX,
    CANONICAL_CHAIN,
    CANONICAL_LOOP,
)
"""These kinds, in the order of their codes."""
