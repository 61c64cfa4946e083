"""Collects what a fetch task finds out: the changes of the crawl table, and the pages with their documents."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Final

from goodbot.cluster.spark.changes import CHANGE_SCHEMA, Change, HostChange, change_batch, host_change
from goodbot.cluster.spark.granted_hosts import GrantedHosts
from goodbot.cluster.spark.grants import HostGrant
from goodbot.cluster.spark.page_rows import PageWriter
from goodbot.exclusion import Access
from goodbot.exports.parquet_file import parquet_writer
from goodbot.lesson_values import IndexedPage, Lesson
from goodbot.live import HostRequest
from goodbot.robot.crawl.batch import frees_copies
from goodbot.robot.processes.worker import host_of_origin
from goodbot.search_values import IndexMark, PreparedDocument
from goodbot.store.merge.coding import CODED
from goodbot.store.merge.outcome_rules import is_list_read, pages_added
from goodbot.store.merge.recent_links import RecentLinks
from goodbot.store.merge.row_rules import settlement_of
from goodbot.url import Url
from goodbot.values import Discovery, FoundLinks, Outcome, Release

_CHANGES_AT_ONCE: Final = 20_000
_REQUESTS_AT_ONCE: Final = 1000


@dataclass(slots=True)
class _Host:
    """What is known, and what is found out, of a host during the task."""

    robots: dict[str, Access] = field(default_factory=dict)
    lessons: tuple[Lesson, ...] = ()
    indexed: tuple[IndexedPage, ...] = ()
    texts: dict[str, str | None] = field(default_factory=dict)
    """`LastVisit.text` of its indexed pages, by URL."""
    fetched: list[tuple[str, Access]] = field(default_factory=list)
    learned: list[Lesson] = field(default_factory=list)
    requests: list[HostRequest] = field(default_factory=list)
    release: Release | None = None
    pages: int = 0
    lists_read: list[float] = field(default_factory=list)
    freed: list[str] = field(default_factory=list)


@dataclass(slots=True)
class SegmentCounts:
    """What a fetch task has done. `bytes` are those of the bodies received."""

    outcomes: int = 0
    visited: int = 0
    bytes: int = 0
    requests: int = 0
    links: int = 0
    documents: int = 0


class Segment:
    """The stores of the crawl in a fetch task: takes outcomes, links, robots.txt files, lessons, requests and
    documents, and writes them to two Parquet files. Lends what the grants bring with them.

    Links that were found before in this task, and change nothing, are not written again. Memory: what is known of the
    hosts that are being visited, and a bounded number of rows.
    """

    def __init__(self, changes: Any, pages: Any, parts: int) -> None:
        """`changes` and `pages` are files to write to."""
        self._changes = parquet_writer(changes, CHANGE_SCHEMA)
        self._pages = PageWriter(pages)
        self._parts = parts
        self._hosts: dict[str, _Host] = {}
        self._rows: list[Change] = []
        self._recent = RecentLinks()
        self._place = 0
        self._leases: GrantedHosts
        self.counts = SegmentCounts()
        self.fetched_at = 0.0
        """When the page was fetched whose document comes next."""

    def take_leases(self, leases: GrantedHosts) -> None:
        """Sets where leased URLs are settled and leases end. Called once, before the crawl begins."""
        self._leases = leases

    def begin(self, grant: HostGrant) -> None:
        """Takes what a grant brings with it."""
        host = self._host(grant.host)
        host.robots.update(grant.accesses)
        host.lessons, host.indexed = grant.lessons, grant.indexed_pages
        host.texts = {page.url.text: page.text for page in grant.indexed_pages}

    def end(self, host: str) -> None:
        """Writes what happened to a host. What comes later is written by itself."""
        if (known := self._hosts.pop(host, None)) is not None:
            self._write_host(host, known)

    def close(self) -> None:
        """Writes the rest, and ends the files."""
        for host in list(self._hosts):
            self.end(host)
        self._flush_changes()
        self._changes.close()
        self._pages.close()

    # ---- outcomes

    def together(self) -> AbstractContextManager[None]:
        """See `OutcomeStore.together`. Nothing is durable before the task has ended."""
        return nullcontext()

    def settle(
        self, outcomes: Sequence[Outcome], releases: Sequence[Release], found: Sequence[FoundLinks] = ()
    ) -> Collection[int]:
        """See `OutcomeStore.settle`."""
        for outcome in outcomes:
            self._settle(outcome, self._leases)
        for links, at in (*found, *((outcome.links, outcome.at) for outcome in outcomes)):
            self._link(links, at)
        for release in releases:
            self._host(release.host).release = release
            self._leases.released(release)
        return ()

    def _settle(self, outcome: Outcome, leases: GrantedHosts) -> None:
        granted = leases.settled(outcome.url)
        if granted is None:
            return
        host = self._host(outcome.url.host_key)
        was = None if granted.was is None else CODED[granted.was]
        host.pages += pages_added(outcome, was)
        if is_list_read(outcome, expects_list=granted.leased.expects_list, was=was):
            host.lists_read.append(outcome.at)
        if frees_copies(outcome):
            host.freed.append(outcome.url.text)
        if outcome.seen is not None and outcome.seen.indexed:
            host.texts[outcome.url.text] = outcome.seen.text
        compared = None if outcome.same_as is None else self._text_of(outcome.same_as)
        url = outcome.url
        self._add(Change(url.host_key, url.text, outcome.at, 0, settlement_of(outcome, compared)))
        self.counts.outcomes += 1
        self.counts.visited += outcome.state == "visited"
        self.counts.bytes += outcome.size_bytes

    def _text_of(self, url: Url) -> str | None:
        known = self._hosts.get(url.host_key)
        return None if known is None else known.texts.get(url.text)

    def _link(self, links: Iterable[Discovery], at: float) -> None:
        for item in self._recent.unknown(links):
            self._place += 1
            self._add(Change(item.url.host_key, item.url.text, at, self._place, item))
            self.counts.links += 1

    # ---- robots.txt files, lessons, requests

    def load_robots(self, origin: str) -> Access | None:
        """See `RobotsStore.load_robots`."""
        known = self._hosts.get(host_of_origin(origin))
        return None if known is None else known.robots.get(origin)

    def load_all_robots(self, origins: Iterable[str]) -> dict[str, Access]:
        """See `RobotsStore.load_all_robots`."""
        found = ((origin, self.load_robots(origin)) for origin in dict.fromkeys(origins))
        return {origin: access for origin, access in found if access is not None}

    def save_robots(self, origin: str, access: Access) -> None:
        """See `RobotsStore.save_robots`."""
        host = self._host(host_of_origin(origin))
        host.robots[origin] = access
        host.fetched.append((origin, access))

    def load_lessons(self, hosts: Iterable[str]) -> list[Lesson]:
        """See `LessonStore.load_lessons`."""
        return [lesson for known in self._known(hosts) for lesson in (*known.lessons, *known.learned)]

    def load_indexed_pages(self, hosts: Iterable[str]) -> list[IndexedPage]:
        """See `LessonStore.load_indexed_pages`."""
        return [page for known in self._known(hosts) for page in known.indexed]

    def _known(self, hosts: Iterable[str]) -> Iterator[_Host]:
        return (self._hosts[host] for host in hosts if host in self._hosts)

    def save_lessons(self, lessons: Iterable[Lesson]) -> None:
        """See `LessonStore.save_lessons`."""
        for lesson in lessons:
            self._host(lesson.host).learned.append(lesson)

    def note(self, request: HostRequest) -> None:
        """Takes a request that was sent."""
        host = self._host(request.host)
        host.requests.append(request)
        self.counts.requests += 1
        if len(host.requests) >= _REQUESTS_AT_ONCE:
            self._write_requests(request.host, host)

    # ---- documents

    def add_prepared(self, prepared: PreparedDocument) -> None:
        """See `Index.add_prepared`. The document of a page that is fetched twice is written twice: the later one
        counts."""
        self._pages.add(prepared, self.fetched_at)
        self.counts.documents += 1

    def remove(self, document_id: str) -> None:
        """See `Index.remove`. Does nothing: the crawl table says which pages belong in an index."""

    def commit(self) -> IndexMark:
        """See `Index.commit`."""
        return IndexMark("", 0)

    def indexed(self, urls: Iterable[Url], mark: IndexMark | None = None) -> None:
        """See `IndexedPages.indexed`. Does nothing, as `remove`."""

    def requeue(self, urls: Iterable[Url]) -> None:
        """See `IndexedPages.requeue`. Not called, since `copies_of` returns none."""

    def copies_of(self, url: Url) -> list[Url]:
        """See `IndexedPages.copies_of`. None: the merge finds the copies of pages that have left
        (`HostChange.freed`)."""
        return []

    # ---- files

    def _host(self, host: str) -> _Host:
        return self._hosts.setdefault(host, _Host())

    def _add(self, change: Change) -> None:
        self._rows.append(change)
        if len(self._rows) >= _CHANGES_AT_ONCE:
            self._flush_changes()

    def _write_requests(self, host: str, known: _Host) -> None:
        requests, known.requests = tuple(known.requests), []
        self._add(host_change(host, requests[-1].at, HostChange(requests=requests)))

    def _write_host(self, host: str, known: _Host) -> None:
        change = HostChange(
            release=known.release,
            pages=known.pages,
            lists_read=tuple(known.lists_read),
            freed=tuple(known.freed),
            requests=tuple(known.requests),
        )
        if change != HostChange() or known.fetched or known.learned:
            at = known.requests[-1].at if known.requests else 0.0
            self._add(host_change(host, at, change, known.fetched, known.learned))

    def _flush_changes(self) -> None:
        if self._rows:
            self._changes.write_batch(change_batch(self._rows, self._parts))
            self._rows = []
