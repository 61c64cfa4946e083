"""A sitemap of 50,000 URLs, as many as one may have; robots.txt closes all but five of them."""

from functools import cache

from goodbot.exam.exam_values import ExamSite, Exchange, Reply, page, pages, robots
from goodbot.exam.expectations import Finds, Never

URLS = 50_000
OPEN = {0: "/open/1", 12_500: "/open/2", 25_000: "/open/3", 37_500: "/open/4", URLS - 1: "/open/5"}
NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


@cache
def _sitemap() -> Reply:
    """Three megabytes on the wire, made when first asked for."""
    places = (OPEN.get(n, f"/archive/{n}") for n in range(URLS))
    lines = "\n".join(f"<url><loc>@@{path}</loc></url>" for path in places)
    return Reply(f"<urlset {NAMESPACE}>\n{lines}\n</urlset>".encode(), 200, (("Content-Type", "text/xml"),))


async def _huge(exchange: Exchange) -> None:
    await exchange.reply(_sitemap())


SITE = ExamSite(
    name="sitemap-huge",
    teaches="A sitemap of 50,000 URLs is read to its end, and each URL in it still needs permission by robots.txt.",
    source="sitemaps.org protocol; RFC 9309 2.2.2",
    pages={
        **pages(robots("User-agent: *\nDisallow: /archive/\n\nSitemap: @@/sitemap.xml\n"), "/a"),
        "/sitemap.xml": _huge,
        **{path: page() for path in OPEN.values()},
    },
    expects=(
        Finds(("/", "/a")),
        Never(("/archive/*",)),
        Finds(tuple(OPEN.values()), rule="sitemap"),
    ),
)
