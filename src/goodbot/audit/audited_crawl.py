"""What the audit reads of a crawl, besides its archive."""

from collections.abc import Iterator
from typing import Protocol

from goodbot.exclusion import Access
from goodbot.url import Url
from goodbot.values import UrlRecord


class AuditedCrawl(Protocol):
    """The part of `CrawlReader` that the audit needs. The example sites of the kinds of findings have it too."""

    def record(self, url: Url) -> UrlRecord | None: ...

    def records(self) -> Iterator[UrlRecord]:
        """Yields every known URL, without its events, in a fixed order."""
        ...

    def load_robots(self, origin: str) -> Access | None: ...
