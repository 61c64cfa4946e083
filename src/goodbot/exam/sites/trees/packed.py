"""A gzipped sitemap has 50,000 URLs; robots.txt disallows all but five of them."""

import gzip
from functools import lru_cache

from goodbot.exam.exam_values import MAIN, ExamSite, Exchange, page, pages, robots
from goodbot.exam.expectations import DoesNotFetch, Fetches
from goodbot.exam.sites.listing import urlset

URLS = 50_000
OPEN = {0: "/open/1", 12_500: "/open/2", 25_000: "/open/3", 37_500: "/open/4", URLS - 1: "/open/5"}


@lru_cache(maxsize=2)
def _file(origin: str) -> bytes:
    """Returns the gzip file: a few hundred kilobytes, three megabytes unpacked. It is made for the first request."""
    return gzip.compress(urlset(origin + OPEN.get(n, f"/archive/{n}") for n in range(URLS)), 6, mtime=0)


async def _packed(exchange: Exchange) -> None:
    # Sent as raw bytes, because `reply` would replace placeholders in the compressed body.
    body = _file(exchange.origins[MAIN])
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/gzip\r\nContent-Length: {len(body)}\r\n\r\n"
    await exchange.send(head.encode() + (b"" if exchange.request.method == "HEAD" else body))


SITE = ExamSite(
    name="sitemap-packed",
    teaches="Unpack a gzipped sitemap of 50,000 URLs, read it to its end, and check each URL against robots.txt.",
    source="sitemaps.org protocol; RFC 9309 2.2.2",
    pages={
        **pages(robots("User-agent: *\nDisallow: /archive/\n\nSitemap: @@/sitemap.xml.gz\n"), "/a"),
        "/sitemap.xml.gz": _packed,
        **{path: page(title=path) for path in OPEN.values()},
    },
    expects=(
        Fetches(("/", "/a")),
        DoesNotFetch(("/archive/*",)),
        Fetches(tuple(OPEN.values()), rule="sitemap"),
    ),
)
