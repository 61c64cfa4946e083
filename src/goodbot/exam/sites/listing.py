"""Builds sitemaps and sitemap indexes, as XML."""

from collections.abc import Iterable
from html import escape
from typing import Final

from goodbot.exam.exam_values import Reply

NAMESPACE: Final = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
_XML: Final = ("Content-Type", "application/xml")


def sitemap(*locations: str) -> Reply:
    """Returns a sitemap of these URLs."""
    return Reply(urlset(locations), headers=(_XML,))


def index(*locations: str) -> Reply:
    """Returns an index of these sitemaps."""
    named = "\n".join(f"<sitemap><loc>{escape(each)}</loc></sitemap>" for each in locations)
    return Reply(f"<sitemapindex {NAMESPACE}>\n{named}\n</sitemapindex>".encode(), headers=(_XML,))


def urlset(locations: Iterable[str]) -> bytes:
    """Returns the bytes of a sitemap."""
    named = "\n".join(f"<url><loc>{escape(each)}</loc></url>" for each in locations)
    return f"<urlset {NAMESPACE}>\n{named}\n</urlset>".encode()
