"""A sitemap index names two sitemaps, one of them compressed. No page links to the pages they list."""

import gzip

from goodbot.exam.exam_values import MAIN, ExamSite, Exchange, Reply, page, pages, robots
from goodbot.exam.expectations import Fetches

XML = ("Content-Type", "application/xml")
NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
INDEX = f"""<?xml version="1.0" encoding="UTF-8"?>
<sitemapindex {NAMESPACE}>
<sitemap><loc>@@/plain.xml</loc></sitemap>
<sitemap><loc>@@/packed.xml.gz</loc></sitemap>
</sitemapindex>
"""
PLAIN = f"<urlset {NAMESPACE}><url><loc>@@/in-plain?a=1&amp;b=2</loc></url></urlset>"
PACKED = f"<urlset {NAMESPACE}><url><loc>@@/in-packed</loc></url></urlset>"


async def _packed(exchange: Exchange) -> None:
    # Sent as raw bytes, because `reply` would replace placeholders in the compressed body.
    body = gzip.compress(PACKED.replace("@@", exchange.origins[MAIN]).encode(), mtime=0)
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/gzip\r\nContent-Length: {len(body)}\r\n\r\n"
    await exchange.send(head.encode() + (b"" if exchange.request.method == "HEAD" else body))


SITE = ExamSite(
    name="sitemap-index",
    teaches="Follow robots.txt to a sitemap index, on to its sitemaps (one is gzipped), and on to their pages.",
    source="sitemaps.org protocol; RFC 9309 2.2.4",
    pages={
        **pages(robots("User-agent: *\nDisallow:\n\nSitemap: @@/sitemaps.xml\n"), "/a"),
        "/sitemaps.xml": Reply(INDEX.encode(), 200, (XML,)),
        "/plain.xml": Reply(PLAIN.encode(), 200, (XML,)),
        "/packed.xml.gz": _packed,
        "/in-plain": page(),
        "/in-packed": page(),
    },
    expects=(
        Fetches(("/", "/a")),
        Fetches(("/in-plain?a=1&b=2",), rule="sitemap"),
        Fetches(("/in-packed",), rule="sitemap"),
    ),
)
