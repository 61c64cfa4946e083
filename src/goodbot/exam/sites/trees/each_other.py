"""Two sitemap indexes name each other, with a meaningless counter in the URL."""

import re

from goodbot.exam.exam_values import NOT_FOUND, ExamSite, Exchange, Handler, page, pages, robots
from goodbot.exam.expectations import AtMost, Fetches
from goodbot.exam.sites.endless import ENDS_AFTER
from goodbot.exam.sites.listing import index, sitemap

MOST = 1000
"""The number of requests allowed for both indexes: more sitemaps than a site of this size could need."""
_COUNTED = re.compile(r"/(?:odd|even)\.xml(?:\?n=([0-9]{1,9}))?")


def _names(other: str) -> Handler:
    async def handler(exchange: Exchange) -> None:
        found = _COUNTED.fullmatch(exchange.request.target)
        if found is None:
            await exchange.reply(NOT_FOUND)
            return
        onward = (f"@@/{other}.xml?n={int(found[1] or 0) + 1}",) if exchange.before() < ENDS_AFTER else ()
        await exchange.reply(index(*onward, f"@@/{other}.xml", "@@/pages.xml"))

    return handler


SITE = ExamSite(
    name="sitemap-two-indexes",
    teaches="Stop reading two sitemap indexes that name each other under ever new URLs.",
    source="sitemaps.org protocol; Google reads 500 indexes of a site at most",
    pages={
        **pages(robots("User-agent: *\nDisallow:\n\nSitemap: @@/odd.xml\n"), "/a"),
        "/odd.xml": _names("even"),
        "/even.xml": _names("odd"),
        "/pages.xml": sitemap("@@/listed"),
        "/listed": page(title="Listed"),
    },
    expects=(Fetches(("/", "/a")), AtMost(MOST, "/*.xml*"), Fetches(("/listed",), rule="sitemap")),
)
