"""A4 to A6: the kinds of findings about single pages."""

from typing import Final

from goodbot.audit.example_pages import NAMED, THERE, home, in_language, linked, sitemap, titled, translated
from goodbot.audit.kind import AuditKind, SitePage

_GOOGLE: Final = "https://developers.google.com/search/docs/crawling-indexing"

UNTITLED: Final = AuditKind(
    "A401",
    "page without a title",
    "warning",
    "this page has no title",
    "visitors, who see the URL in tabs and bookmarks; search engines, which make up a title",
    "add a <title> that says what the page is about",
    "WHATWG HTML 4.2.2; WCAG 2.2 2.4.2",
    linked(THERE),
    (titled("/", "Home"),),
)
REPEATED_TITLE: Final = AuditKind(
    "A402",
    "repeated title",
    "warning",
    "{count} pages have the title {title}",
    "visitors, who cannot tell the pages apart in search results",
    "give each page a title of its own, or a canonical URL if they are the same page",
    f"{_GOOGLE.replace('crawling-indexing', 'appearance')}/title-link",
    linked(titled("/a", "Text"), titled("/b", "Text")),
    linked(titled("/a", "A"), titled("/b", "B")),
    "Pages with noindex, or with the canonical URL of another page, are not compared.",
)
NO_LANGUAGE: Final = AuditKind(
    "A403",
    "page without a language",
    "warning",
    "this page does not state its language: <html> has no lang, or an empty one",
    "users of screen readers, which may speak it in another language; translation tools and search engines",
    'add the language to the html element: <html lang="en">',
    "WHATWG HTML 3.2.6.2; WCAG 2.2 3.1.1",
    linked(in_language("")),
    (SitePage("/", '<html lang="en"><title>Home</title><p>Text'),),
)
BAD_LANGUAGE: Final = AuditKind(
    "A404",
    "invalid language tag",
    "warning",
    "the html element has lang {lang}, which is not a valid language tag",
    "users of screen readers, which may speak the page in another language",
    "write a tag such as en, de or pt-BR",
    "RFC 5646 2.1; WHATWG HTML 3.2.6.2",
    linked(in_language(' lang="en_US"')),
    linked(in_language(' lang="en-US"')),
)
NO_RETURN_LINK: Final = AuditKind(
    "A405",
    "translation without a return link",
    "warning",
    "this page names {target} as its translation ({language}), but that page does not name this one",
    "search engines: they ignore the translation",
    'add `<link rel="alternate" hreflang="…">` to each page for the other',
    f"{_GOOGLE.replace('crawling-indexing', 'specialty')}/international/localized-versions",
    linked(translated("/en", "/de"), translated("/de")),
    linked(translated("/en", "/de"), translated("/de", "/en")),
)
SLOW: Final = AuditKind(
    "A501",
    "slow page",
    "warning",
    "the response took {taken_s} s; the limit is {limit_s} s (--slow)",
    "visitors, who wait; robots, which fetch fewer pages",
    "find out what takes the time: cache the page, or make it smaller",
    f"{_GOOGLE}/large-site-managing-crawl-budget",
    linked(SitePage("/b", "<p>Text", taken_s=2.5)),
    linked(THERE),
    "The time is from sending the request to the end of the response, at the last visit.",
)
HEAVY: Final = AuditKind(
    "A502",
    "heavy page",
    "warning",
    "the response body is {size}; the limit is {limit} (--heavy)",
    "visitors with slow connections; search engines, which may read the beginning only",
    "compress the response, and leave out what the page does not need",
    f"{_GOOGLE}/googlebot",
    linked(SitePage("/b", "<p>Text", size_bytes=1_400_000)),
    linked(THERE),
    "Only HTML pages are checked. The size is that of the response body as sent, that is, after compression, without "
    "images and scripts.",
)
ORPHAN: Final = AuditKind(
    "A601",
    "orphan page",
    "warning",
    "no crawled page links to this page, which is known {origin}",
    "visitors, who cannot find it; search engines, which rank it lower",
    "link to the page from another page, or remove it",
    f"{_GOOGLE}/links-crawlable",
    (home(), NAMED, sitemap("/", "/b"), THERE),
    linked(NAMED, sitemap("/", "/b"), THERE),
    "Home pages (path /) are never reported, and others only if the crawl is finished: a page still to be fetched may "
    "link there.",
)
KINDS: Final = (UNTITLED, REPEATED_TITLE, NO_LANGUAGE, BAD_LANGUAGE, NO_RETURN_LINK, SLOW, HEAVY, ORPHAN)
"""These kinds, in the order of their codes."""
