"""Formats sitemaps and sitemap indexes (https://www.sitemaps.org/protocol.html), and divides URLs among files. Pure."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Final, NamedTuple
from xml.sax.saxutils import escape, quoteattr

from goodbot.page.sitemap import MAX_ENTRIES, MAX_LIST_BYTES

MAX_LOC_CHARS: Final = 2_047
"""The protocol requires URLs of less than 2,048 characters."""

_NAMESPACE: Final = "http://www.sitemaps.org/schemas/sitemap/0.9"
_HEAD: Final = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    f'<urlset xmlns="{_NAMESPACE}" xmlns:xhtml="http://www.w3.org/1999/xhtml">\n'
)
_END: Final = "</urlset>\n"


class SitemapEntry(NamedTuple):
    """A page for a sitemap: its URL, when it last changed (Unix seconds; None: unknown), and its translations as pairs
    of language and URL."""

    url: str
    changed_at: float | None = None
    translations: tuple[tuple[str, str], ...] = ()


def format_entry(entry: SitemapEntry) -> str:
    """Returns the `url` element of a page."""
    parts = [f"<url><loc>{escape(entry.url)}</loc>"]
    if entry.changed_at is not None and (date := format_date(entry.changed_at)):
        parts.append(f"<lastmod>{date}</lastmod>")
    parts += (
        f"\n<xhtml:link rel={quoteattr('alternate')} hreflang={quoteattr(language)} href={quoteattr(url)}/>"
        for language, url in entry.translations
    )
    return f"{''.join(parts)}</url>\n"


def format_date(at: float) -> str:
    """Returns a time as W3C date with seconds, in UTC; empty for a time beyond the calendar."""
    try:
        return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, OSError, ValueError):
        return ""


def divide(
    entries: Iterable[SitemapEntry], most_entries: int = MAX_ENTRIES, most_bytes: int = MAX_LIST_BYTES
) -> list[int]:
    """Returns how many of the entries each file gets, in order, so that each keeps the limits of the protocol."""
    counts: list[int] = []
    frame = len(_HEAD) + len(_END)
    room = 0
    for entry in entries:
        size = len(format_entry(entry).encode())
        if not counts or counts[-1] >= most_entries or size > room:
            counts.append(0)
            room = most_bytes - frame
        counts[-1] += 1
        room -= size
    return counts


def format_sitemap(entries: Iterable[SitemapEntry]) -> Iterator[bytes]:
    """Yields a sitemap in pieces."""
    yield _HEAD.encode()
    for entry in entries:
        yield format_entry(entry).encode()
    yield _END.encode()


def format_index(sitemaps: Iterable[tuple[str, float | None]]) -> Iterator[bytes]:
    """Yields a sitemap index in pieces. `sitemaps`: the URL of each, and when one of its pages last changed."""
    yield f'<?xml version="1.0" encoding="UTF-8"?>\n<sitemapindex xmlns="{_NAMESPACE}">\n'.encode()
    for url, changed_at in sitemaps:
        date = format_date(changed_at) if changed_at is not None else ""
        lastmod = f"<lastmod>{date}</lastmod>" if date else ""
        yield f"<sitemap><loc>{escape(url)}</loc>{lastmod}</sitemap>\n".encode()
    yield b"</sitemapindex>\n"
