"""A1: the kinds of findings about links and redirects."""

from typing import Final

from goodbot.audit.example_pages import BROKEN, GONE, MOVED, THERE, linked
from goodbot.audit.kind import AuditKind, SitePage

_GOOGLE: Final = "https://developers.google.com/search/docs/crawling-indexing"
_REDIRECTS: Final = f"RFC 9110 15.4; {_GOOGLE}/301-redirects"

BROKEN_LINK: Final = AuditKind(
    "A101",
    "broken link",
    "error",
    "this link leads to {target}, which does not exist ({why})",
    "visitors, who get an error page; search engines, which stop there",
    "link to another page, remove the link, or redirect {target} to the page that took its place",
    "RFC 9110 15.5.5, 15.5.11",
    linked(GONE),
    linked(THERE),
)
FAILING_LINK: Final = AuditKind(
    "A102",
    "link to a page that cannot be fetched",
    "warning",
    "this link leads to {target}, which could not be fetched: {why}",
    "visitors and search engines, if the page fails for them too",
    "find out why the page fails, or remove the link",
    "RFC 9110 15.5, 15.6",
    linked(BROKEN),
    linked(THERE),
    "The page may have failed only at the time of the crawl, or only for robots.",
)
REDIRECTED_LINK: Final = AuditKind(
    "A103",
    "link to a redirect",
    "warning",
    "this link leads to {target}, which redirects to {end} ({why})",
    "visitors, who wait for one more response; search engines, which send one more request",
    "link to {end}",
    _REDIRECTS,
    linked(MOVED, SitePage("/c", "<p>Text")),
    linked(THERE),
    "Reported as info if the redirect is temporary (302, 303, 307), because the link may be correct as it is.",
)
CHAINED_LINK: Final = AuditKind(
    "A104",
    "link to a redirect chain",
    "warning",
    "this link leads to {end} only after {count} redirects: {hops}",
    "visitors, who wait for each redirect; robots, which give up after a few redirects",
    "link to {end}, and let every URL of the chain redirect to it directly",
    _REDIRECTS,
    linked(MOVED, SitePage("/c", status=301, location="/d"), SitePage("/d", "<p>Text")),
    linked(MOVED, SitePage("/c", "<p>Text")),
)
LOOPING_LINK: Final = AuditKind(
    "A105",
    "link into a redirect loop",
    "error",
    "this link leads into a redirect loop and never to a page: {hops}",
    "visitors, whose browser shows an error",
    "let {target} redirect to a page, or link to another page",
    _REDIRECTS,
    linked(SitePage("/b", status=302, location="/c"), SitePage("/c", status=302, location="/b")),
    linked(SitePage("/b", status=302, location="/c"), SitePage("/c", "<p>Text")),
)
LOST_LINK: Final = AuditKind(
    "A106",
    "link to a redirect that ends in an error",
    "error",
    "this link leads to a redirect that ends at {end}, which cannot be opened ({why}): {hops}",
    "visitors, who get an error page",
    "link to a page, or let {target} redirect to one",
    _REDIRECTS,
    linked(MOVED, SitePage("/c", status=404)),
    linked(MOVED, SitePage("/c", "<p>Text")),
)
KINDS: Final = (BROKEN_LINK, FAILING_LINK, REDIRECTED_LINK, CHAINED_LINK, LOOPING_LINK, LOST_LINK)
"""These kinds, in the order of their codes."""
