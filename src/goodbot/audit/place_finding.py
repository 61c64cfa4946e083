"""Finds the places of findings: reads their pages, sitemaps and robots.txt files once more."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter

from goodbot.archive_values import ArchivedResponse
from goodbot.audit.audited_crawl import AuditedCrawl
from goodbot.audit.list_places import EntryPlace, record_places, sitemap_places
from goodbot.audit.page_places import PagePlaces, find_places, places_of
from goodbot.audit.staging import Staging
from goodbot.config import Settings
from goodbot.page import Body
from goodbot.page.coding import decode_content
from goodbot.page.encoding import decode_text
from goodbot.page.sitemap import MAX_LIST_BYTES
from goodbot.url import Url
from goodbot.values import RecordRef


class PlaceFinder:
    """Finds places in the documents of one crawl. `read` reads a record of the archive; it returns None for one that
    cannot be read."""

    def __init__(
        self,
        staging: Staging,
        ledger: AuditedCrawl,
        settings: Settings,
        read: Callable[[RecordRef], ArchivedResponse | None],
    ) -> None:
        self._staging = staging
        self._ledger = ledger
        self._settings = settings
        self._read = read

    def find_all(self) -> None:
        """Gives the findings that have no place yet their places, as far as these can be found."""
        for page, rows in groupby(self._staging.findings.unplaced(), key=itemgetter(3)):
            self._place(page, [(number, part, target) for number, part, target, _ in rows])
        for url, entries in groupby(self._staging.findings.unplaced_entries(), key=itemgetter(1)):
            wanted: dict[str, list[int]] = {}
            for number, _, target in entries:
                wanted.setdefault(target, []).append(number)
            for found in self._entry_places(Url(url), wanted):
                for number in wanted[found.url]:
                    self._staging.findings.place(number, *found.place)

    def _place(self, page: str, findings: Sequence[tuple[int, str, str]]) -> None:
        """Gives findings (number, part, target) about one page their places in it."""
        places = self.in_page(page, {part for _, part, _ in findings})
        if places is not None:
            for number, part, target in findings:
                link = next(places_of(places, part, target), None)
                if link is not None:
                    self._staging.findings.place(number, *link.place)

    def _entry_places(self, url: Url, wanted: Iterable[str]) -> Iterator[EntryPlace]:
        if url.path == "/robots.txt":
            access = self._ledger.load_robots(url.origin)
            return record_places(access.body if access is not None else b"", url, set(wanted))
        archived = self._archived(url.text)
        if archived is None:
            return iter(())
        body = decode_content(archived.response, MAX_LIST_BYTES).body
        text = decode_text(body, archived.response.header("content-type"), html=False)[0]
        return sitemap_places(text, url, set(wanted))

    def in_page(self, page: str, wanted: Collection[str] = ("link",)) -> PagePlaces | None:
        """Returns the places in a page; None if it is not HTML, or cannot be read."""
        facts, archived = self._staging.page(page), self._archived(page)
        if facts is None or not facts.is_html or archived is None:
            return None
        return find_places(Body(archived.response, self._settings.decoded_limit).text, archived.url, wanted)

    def _archived(self, url: str) -> ArchivedResponse | None:
        place = self._staging.stored(url)
        return None if place is None else self._read(RecordRef(*place))
