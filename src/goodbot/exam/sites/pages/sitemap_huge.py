"""A sitemap has 50,000 URLs, the most allowed; robots.txt disallows all but five of them."""

from functools import cache

from goodbot.exam.exam_values import ExamSite, Exchange, Reply, page, pages, robots
from goodbot.exam.expectations import DoesNotFetch, Fetches

URLS = 50_000
OPEN = {0: "/open/1", 12_500: "/open/2", 25_000: "/open/3", 37_500: "/open/4", URLS - 1: "/open/5"}
NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


@cache
def _sitemap() -> Reply:
    """Returns three megabytes, made for the first request."""
    places = (OPEN.get(n, f"/archive/{n}") for n in range(URLS))
    lines = "\n".join(f"<url><loc>@@{path}</loc></url>" for path in places)
    return Reply(f"<urlset {NAMESPACE}>\n{lines}\n</urlset>".encode(), 200, (("Content-Type", "text/xml"),))


async def _huge(exchange: Exchange) -> None:
    await exchange.reply(_sitemap())


SITE = ExamSite(
    name="sitemap-huge",
    teaches="Read a sitemap of 50,000 URLs to its end, and check each URL against robots.txt.",
    source="sitemaps.org protocol; RFC 9309 2.2.2",
    pages={
        **pages(robots("User-agent: *\nDisallow: /archive/\n\nSitemap: @@/sitemap.xml\n"), "/a"),
        "/sitemap.xml": _huge,
        **{path: page() for path in OPEN.values()},
    },
    expects=(
        Fetches(("/", "/a")),
        DoesNotFetch(("/archive/*",)),
        Fetches(tuple(OPEN.values()), rule="sitemap"),
    ),
)
