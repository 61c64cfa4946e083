"""A sitemap of 50,000 URLs as a gzip file; robots.txt closes all but five of them."""

import gzip
from functools import lru_cache

from goodbot.exam.exam_values import MAIN, ExamSite, Exchange, page, pages, robots
from goodbot.exam.expectations import Finds, Never
from goodbot.exam.sites.listing import urlset

URLS = 50_000
OPEN = {0: "/open/1", 12_500: "/open/2", 25_000: "/open/3", 37_500: "/open/4", URLS - 1: "/open/5"}


@lru_cache(maxsize=2)
def _file(origin: str) -> bytes:
    """As sent: made when first asked for, some hundred kilobytes, three megabytes unpacked."""
    return gzip.compress(urlset(origin + OPEN.get(n, f"/archive/{n}") for n in range(URLS)), 6, mtime=0)


async def _packed(exchange: Exchange) -> None:
    # Sent as it is: in a compressed body nothing must be replaced.
    body = _file(exchange.origins[MAIN])
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/gzip\r\nContent-Length: {len(body)}\r\n\r\n"
    await exchange.send(head.encode() + (b"" if exchange.asked.method == "HEAD" else body))


SITE = ExamSite(
    name="sitemap-packed",
    teaches="A crawler unpacks a gzip sitemap of 50,000 URLs, reads it to its end, and checks each URL by robots.txt.",
    source="sitemaps.org protocol; RFC 9309 2.2.2",
    pages={
        **pages(robots("User-agent: *\nDisallow: /archive/\n\nSitemap: @@/sitemap.xml.gz\n"), "/a"),
        "/sitemap.xml.gz": _packed,
        **{path: page(title=path) for path in OPEN.values()},
    },
    expects=(
        Finds(("/", "/a")),
        Never(("/archive/*",)),
        Finds(tuple(OPEN.values()), rule="sitemap"),
    ),
)
