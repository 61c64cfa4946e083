"""Reads the rows of `goodbot export` from the folder of a crawl."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TypeVar

from goodbot.archive_values import ArchivedResponse
from goodbot.crawl_folder import CrawlFolder, archived_pages, open_archive, open_ledger
from goodbot.exports.tables import NamedRow, TableName, link_rows, page_row, url_row
from goodbot.page import read_page
from goodbot.values import UrlRecord

Item = TypeVar("Item")
Progress = Callable[[int, int], object]
"""Takes how many URLs or pages are read, and how many there are about."""


@dataclass(slots=True)
class Lost:
    """The visited pages whose records cannot be read: how many, and the URL of the first."""

    pages: int = 0
    first: str = ""

    def add(self, record: UrlRecord) -> None:
        """Counts one."""
        self.first = self.first or record.url.text
        self.pages += 1


@contextmanager
def exported_rows(
    folder: Path, names: Sequence[TableName], lost: Lost, report: Progress | None
) -> Iterator[Iterator[NamedRow]]:
    """Opens a crawl and returns the rows of the tables `names`, each with the name of its table. Those of `urls` come
    first; those of `pages` and `links` alternate, because the archive is read once. Raises InputError if there is no
    crawl in the folder, or if it has no archive and `names` need it."""
    with ExitStack() as stack:
        ledger = stack.enter_context(open_ledger(folder))
        counts = ledger.status().states if report is not None else {}
        parts: list[Iterator[NamedRow]] = []
        if "urls" in names:
            records = _reported(ledger.records(), sum(counts.values()), report)
            parts.append(("urls", url_row(record)) for record in records)
        if "pages" in names or "links" in names:
            pages = archived_pages(
                ledger, stack.enter_context(open_archive(folder)), CrawlFolder(folder).keeps(), lost.add
            )
            parts.append(_archive_rows(folder, _reported(pages, counts.get("visited", 0), report), names))
        yield chain.from_iterable(parts)


def _reported(items: Iterable[Item], size: int, report: Progress | None) -> Iterator[Item]:
    for number, item in enumerate(items, 1):
        yield item
        if report is not None:
            report(number, max(number, size))


def _archive_rows(folder: Path, pages: Iterable[ArchivedResponse], names: Sequence[TableName]) -> Iterator[NamedRow]:
    settings = CrawlFolder(folder).settings_before()
    limit, most = settings.decoded_limit, settings.document_limit
    for archived in pages:
        page = read_page(archived.url, archived.response, settings.agent, limit, document_bytes=most)
        if "pages" in names:
            yield "pages", page_row(archived, page)
        if "links" in names:
            yield from (("links", row) for row in link_rows(page))
