"""Pages of the example sites of the kinds of findings."""

from typing import Final

from goodbot.audit.kind import SitePage


def home(*links: str) -> SitePage:
    """Returns a home page with links."""
    return SitePage("/", "\n".join(f'<a href="{link}">Link</a>' for link in links))


def sitemap(*paths: str) -> SitePage:
    """Returns a sitemap; the host of the example takes the place of `{site}`."""
    rows = "".join(f"<url><loc>{{site}}{path}</loc></url>\n" for path in paths)
    return SitePage("/sitemap.xml", f"<urlset>\n{rows}</urlset>", media_type="application/xml")


NAMED: Final = SitePage("/robots.txt", "Sitemap: {site}/sitemap.xml", media_type="text/plain")
DISALLOWING: Final = SitePage(
    "/robots.txt", "User-agent: Googlebot\nDisallow: /b\nSitemap: {site}/sitemap.xml", media_type="text/plain"
)
GONE: Final = SitePage("/b", status=404)
THERE: Final = SitePage("/b", "<p>Text")
MOVED: Final = SitePage("/b", status=301, location="/c")
BROKEN: Final = SitePage("/b", status=500)
NOINDEX: Final = SitePage("/b", '<meta name="robots" content="noindex"><p>Text')
CANONICAL_B: Final = SitePage("/a", '<link rel="canonical" href="/b"><p>Text')


def linked(*pages: SitePage) -> tuple[SitePage, ...]:
    """Returns a site whose home page links to each of these pages."""
    listed = {"/robots.txt", "/sitemap.xml"}
    return (home(*(page.path for page in pages if page.path not in listed)), *pages)


def titled(path: str, title: str) -> SitePage:
    """Returns a page with a title."""
    return SitePage(path, f"<title>{title}</title><p>Text of {path}")


def in_language(lang: str) -> SitePage:
    """Returns a page whose html element has this attribute."""
    return SitePage("/b", f"<html{lang}><title>B</title><p>Text")


def translated(path: str, *others: str) -> SitePage:
    """Returns a page that names others as its translations."""
    links = "".join(f'<link rel="alternate" hreflang="{other[1:]}" href="{other}">' for other in others)
    return SitePage(path, f"{links}<p>Text of {path}")
