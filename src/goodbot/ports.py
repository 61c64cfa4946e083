"""The interfaces between the robot and what is outside it: clock, network, stores. `goodbot.testing` has a fake of
each."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from goodbot.archive_values import ArchivedResponse, DamagedRange, EncodedRecords
from goodbot.exclusion import Access
from goodbot.lesson_values import IndexedPage, LeftOut, Lesson
from goodbot.live import ControlRequest, Courtesy, EndReason, Holding, LiveStatus, Shared
from goodbot.report_values import (
    HOSTS_LOOKED_AT,
    REFUSED_STATES,
    START,
    URLS_LOOKED_AT,
    CourtesyTotals,
    HostAhead,
    HostDetails,
    HostList,
    HostReport,
    Place,
    QueuePlace,
    RefusedList,
)
from goodbot.search_values import (
    NO_FILTERS,
    Choices,
    Document,
    Explanation,
    Filters,
    IndexMark,
    PreparedDocument,
    Results,
)
from goodbot.url import Url
from goodbot.values import (
    Capture,
    Discovery,
    Failure,
    FoundLinks,
    Lease,
    Outcome,
    RecordRef,
    Release,
    Request,
    State,
    Status,
    UrlRecord,
)
from goodbot.visit_values import VisitResult


class Clock(Protocol):
    """Gives the time in Unix seconds, UTC, and waits."""

    def now(self) -> float: ...

    async def sleep(self, seconds: float) -> None: ...


class Transport(Protocol):
    """Sends one request. Never raises for a network error: it returns a `Failure`."""

    async def send(self, request: Request) -> Capture: ...

    async def close(self) -> None: ...


class Resolver(Protocol):
    """Resolves host names to addresses, private ones too. Never raises for a network error."""

    async def resolve(self, host: str) -> tuple[str, ...] | Failure:
        """Returns the addresses of a host name as text without a zone, in the order to try them: one to a few of them,
        or a `Failure` of kind `dns`. `host` is a `Url.host` that is not itself an address."""
        ...

    async def close(self) -> None: ...


class OutcomeStore(Protocol):
    """Keeps what visits have resulted in: a frontier does, and so does the segment of a fetch task."""

    def together(self) -> AbstractContextManager[None]:
        """Makes one transaction of the calls within the block, durable when the block ends; an error undoes them all.
        Blocks must not be nested."""
        ...

    def settle(
        self, outcomes: Sequence[Outcome], releases: Sequence[Release], found: Sequence[FoundLinks] = ()
    ) -> Collection[int]:
        """Writes the outcomes, then `found` and the links of the outcomes, then the releases: all or nothing.

        Returns the positions of the outcomes that were rejected, because their lease has ended (`Lease.token`). Only
        their links are written, which are true whoever found them. Releases of leases that have ended change
        nothing."""
        ...


class Frontier(OutcomeStore, Protocol):
    """Keeps all known URLs and chooses the next ones to fetch. Each call is one transaction, durable when the call
    returns, unless the call is made within `together`."""

    def add(self, discoveries: Iterable[Discovery]) -> int:
        """Adds URLs; returns how many are new.

        For a known URL the first source stays. While it waits, the best depth, in-link count and hint of all its
        discoveries count. A known URL becomes ready again in four cases: it was out of scope and a link finds it in
        scope; it is a seed that failed or was settled as out of scope; it was `public_only` and had failed or was
        out of scope, and a link or seed in scope that is not `public_only` names it (from then on it is without that
        limit); or it is gone or disallowed without a next visit, and its change is reported (`Discovery.is_report`).
        After a report, the next visit of a page visited before requests the whole page, without validators. Otherwise a
        discovery never changes a settled URL."""
        ...

    def lease(self, hosts: int, urls_per_host: int, now: float, *, sized: bool = False) -> list[Lease]:
        """Returns at most `hosts` leases, of hosts that are due and not leased. Each has at most `urls_per_host` URLs
        that are due now. `sized`: it also has at most as many URLs as its host can use. That is the latest
        `Release.next_urls` of the host, or `FIRST_URLS` if there is none yet.

        Within a host, URLs of least depth come first, then those with many in-links (in powers of two), then those with
        a high hint, then those found earlier. Hosts that have waited longest come first, so a large host does not
        delay the others. When a host has reached its page limit, its other URLs are out of scope, so none is ready.

        A visited URL that is due again (`LastVisit.due_at`) is leased as well, with its `seen`, if the frontier was
        opened for revisits up to that time. Such a URL is `ready` and counts neither as visited nor as gone.
        """
        ...

    def next_ready_at(self) -> float | None:
        """Returns the earliest time at which `lease` can return something, leased hosts ignored; None: nothing is
        ready."""
        ...

    def is_finished(self) -> bool:
        """Returns whether no URL is ready and none is leased, by this process or another."""
        ...

    def reconsider(self, judge: Callable[[Url, int], str | None]) -> int:
        """Calls `judge` for every out-of-scope URL, and makes those it accepts ready; returns how many. `judge` takes
        URL and depth and returns the reason to refuse the URL, or None. It is used when a crawl is resumed with a wider
        scope or a higher page limit per host."""
        ...


class Ledger(Protocol):
    """Reads the frontier for reports. It changes nothing and may be used while a crawl runs."""

    def status(self) -> Status: ...

    def due_again_at(self) -> float | None:
        """Returns the earliest `LastVisit.due_at` of all pages, whether or not this crawl revisits pages; None: no page
        is ever due again."""
        ...

    def lesson_counts(self) -> tuple[int, int]:
        """Returns how many lessons are in force, and how many have lapsed."""
        ...

    def record(self, url: Url) -> UrlRecord | None: ...

    def records(self) -> Iterator[UrlRecord]:
        """Yields every known URL, without its events, in a fixed order."""
        ...


class CrawlReader(Ledger, Protocol):
    """Reads all that a crawl has stored, for reports and pages; changes nothing, never waits for the crawl, and may be
    used while it runs. For one thread. Calls raise DamagedError for content that goodbot has not written, RunError if
    the store cannot be read.

    A host is named by its `Url.host_key`. Where a count of what is read is given, the work does not grow with the
    crawl."""

    def close(self) -> None: ...

    # ---- what is to fetch

    def next_ready_at(self) -> float | None: ...

    def is_finished(self) -> bool: ...

    def to_fetch(self) -> int:
        """Counts URLs ready or leased, without those of forgotten hosts, which `status` counts until they are
        removed."""
        ...

    def hosts_ahead(self, most: int) -> list[HostAhead]:
        """Returns up to `most` hosts with the most ready URLs, among the `MAX_HOSTS` examined."""
        ...

    def queue_place(self, url: Url) -> QueuePlace | None:
        """Returns the place of a URL among the ready ones of its host; None if it does not wait."""
        ...

    # ---- hosts

    def knows_host(self, host: str) -> bool:
        """Returns whether anything is known of a host, even if only that it got requests or is forgotten."""
        ...

    def similar_hosts(self, host: str, most: int = 5) -> tuple[str, ...]:
        """Returns known hosts, not forgotten, with the same name or address and another port, by name."""
        ...

    def forgotten_hosts(self) -> frozenset[str]:
        """Returns the hosts that neither links nor seeds bring back."""
        ...

    def hosts_to_remove(self) -> list[str]:
        """Returns the barred hosts of which the folder of this crawl may still have something."""
        ...

    def visited_on(self, host: str) -> Iterator[list[Url]]:
        """Yields the requested URLs of a host in parts, whatever their outcomes."""
        ...

    def list_hosts(
        self,
        most: int,
        name: str = "",
        after: str = "",
        *,
        everything: bool = False,
        looked_at: int = HOSTS_LOOKED_AT,
    ) -> HostList:
        """Returns up to `most` hosts whose name contains `name` and comes after `after`, among the next `looked_at`
        hosts. `everything` includes hosts with nothing in scope."""
        ...

    def host_details(self, host: str, token: str) -> HostDetails | None:
        """Returns what is known about a host; None if it is unknown. `token` is the product token of the robot."""
        ...

    def list_refused(
        self,
        most: int,
        states: Sequence[State] = REFUSED_STATES,
        host: str | None = None,
        after: Place = START,
        looked_at: int = URLS_LOOKED_AT,
    ) -> RefusedList:
        """Returns up to `most` URLs in one of `states` (of REFUSED_STATES) after a place, of one host or of all, among
        the next `looked_at` URLs."""
        ...

    # ---- courtesy

    def load_robots(self, origin: str) -> Access | None: ...

    def load_courtesies(self, hosts: Iterable[str]) -> dict[str, Courtesy]: ...

    def courtesy_totals(self, host: str | None = None) -> CourtesyTotals:
        """Adds up the requests to all hosts, or to `host` alone; `hosts` counts those that got any."""
        ...

    def courtesy_hosts(self) -> list[str]:
        """Returns the hosts that received requests or are forgotten, by name."""
        ...

    def courtesy_report(self, host: str, token: str, urls_read: int | None = None) -> HostReport | None:
        """Returns the report on one host; None if nothing is known of it. Reads up to `urls_read` of its URLs (None:
        all). `token` is the product token of the robot."""
        ...

    def courtesy_reports(self, token: str) -> Iterator[HostReport]:
        """Yields the report on each of `courtesy_hosts`, with one host in memory at a time."""
        ...

    def some_courtesy_reports(
        self, token: str, most: int, after: str, urls_read: int
    ) -> tuple[tuple[HostReport, ...], str | None]:
        """Returns up to `most` of the same reports, of hosts after the name `after`, and the name after which the next
        ones begin (None: there are none). Reads up to `urls_read` URLs of each host."""
        ...

    # ---- lessons

    def lessons(self, host: str | None = None) -> list[Lesson]:
        """Returns what was learned about a host, or about all, including lapsed lessons: host by host, the oldest
        first."""
        ...

    def load_lessons(self, hosts: Iterable[str]) -> list[Lesson]: ...

    def left_out(self, applies: Callable[[Lesson], bool]) -> LeftOut:
        """Counts what those lessons in force have left out that `applies` accepts. Reads at most 500,000 URLs."""
        ...

    # ---- archive and index

    def last_records(self) -> dict[str, int]:
        """Returns the files of the archive, and the last offset in each at which there should be a record, among at
        most 100,000 visits."""
        ...

    def index_mark(self) -> IndexMark | None:
        """Returns the index of the folder, and how far it was written at least; None: it never had one."""
        ...

    def lacks_documents(self, documents: int) -> bool:
        """Returns whether an index of so many documents cannot hold all that was indexed. The cost grows with the
        crawl."""
        ...

    def pending_count(self) -> int:
        """Returns how many pages are not in a committed index yet."""
        ...

    def leaving_count(self) -> int:
        """Returns how many pages must leave the index, if it has them."""
        ...

    def leaving(self) -> list[Url]: ...

    def copies_of(self, url: Url) -> list[Url]: ...


class IndexedPages(Protocol):
    """Takes notice of what an index has committed, and finds copies of pages."""

    def indexed(self, urls: Iterable[Url], mark: IndexMark | None = None) -> None:
        """Removes pages that a commit has written to the index; `mark` describes the index after that commit."""
        ...

    def requeue(self, urls: Iterable[Url]) -> None:
        """Takes pages off the queue and makes them ready to be fetched again, for example because they are missing from
        the archive."""
        ...

    def copies_of(self, url: Url) -> list[Url]:
        """Returns up to a hundred pages that were not indexed because they are copies of `url` (`Outcome.same_as`)."""
        ...


class IndexQueue(IndexedPages, Protocol):
    """Lists visited pages whose documents are not yet in a committed index, so that a crash loses none of them."""

    def pending(self, most: int | None = None) -> list[tuple[Url, RecordRef | None]]:
        """Returns all pending pages, or any `most` of them."""
        ...

    def passed_over(self, urls: Iterable[Url]) -> None:
        """Takes pages off the queue that will not be indexed: when they were read again, they did not permit it."""
        ...

    def leaving(self) -> list[Url]:
        """Returns pages settled with `from_index` that a committed index may still have; `indexed` removes them from
        this list too."""
        ...


class RobotsStore(Protocol):
    """Keeps the last fetched robots.txt of each origin across restarts."""

    def load_robots(self, origin: str) -> Access | None: ...

    def load_all_robots(self, origins: Iterable[str]) -> dict[str, Access]:
        """Returns the files of those of these origins that are known, in one call."""
        ...

    def save_robots(self, origin: str, access: Access) -> None: ...


class LessonStore(Protocol):
    """Keeps lessons about hosts across restarts."""

    def load_lessons(self, hosts: Iterable[str]) -> list[Lesson]: ...

    def save_lessons(self, lessons: Iterable[Lesson]) -> None:
        """Saves lessons; each replaces the one with the same host, kind and subject. URLs that a lapsed lesson had left
        out become ready."""
        ...

    def load_indexed_pages(self, hosts: Iterable[str]) -> list[IndexedPage]:
        """Returns indexed pages of these hosts, up to `MAX_INDEXED_PAGES` of each host: those with the latest due
        time."""
        ...


class CourtesyStore(Protocol):
    """Keeps the record of requests to each host across restarts."""

    def load_courtesies(self, hosts: Iterable[str]) -> dict[str, Courtesy]:
        """Returns the record of each of these hosts that has received a request."""
        ...

    def save_courtesies(self, courtesies: Iterable[Courtesy]) -> None:
        """Replaces the records of these hosts. A power cut may lose the latest change; kill -9 loses none."""
        ...


class CrawlStore(CrawlReader, Frontier, IndexQueue, RobotsStore, LessonStore, CourtesyStore, Protocol):
    """Keeps all of a crawl, for the process that crawls and for commands that change the crawl."""

    def expect_index(self, mark: IndexMark) -> int:
        """Starts a new index of the folder, which `mark` describes: every page that was indexed, or was fetched while
        the crawl kept no index, becomes pending for it. Returns how many."""
        ...

    def index_skipped(self) -> int:
        """Makes pages pending that were fetched while the crawl kept no index; returns how many are pending now."""
        ...

    def lose_records(self, urls: Iterable[Url]) -> None:
        """Removes the references to the lost records of these URLs; visited pages become ready to be fetched again,
        without validators. Skips unknown URLs."""
        ...

    def drop_lessons(self, lessons: Iterable[Lesson]) -> int:
        """Deletes lessons as if they had never been learned, and makes the URLs ready that they had left out; returns
        how many."""
        ...

    def bar_host(self, host: str) -> bool:
        """Bars a host: from now on none of its URLs is leased or added. Returns False if the host is unknown, so there
        is nothing to remove."""
        ...

    def unbar_host(self, host: str) -> bool:
        """Allows URLs of the host to be added again; False if it was not barred."""
        ...

    def remove_host(self, host: str) -> int:
        """Removes everything about a barred host, except its courtesy record; returns how many URLs were removed. Pages
        on other hosts that were copies of its pages become ready again."""
        ...

    def purge(self) -> None:
        """Frees the space of what was removed."""
        ...


class Rehearsal(Protocol):
    """A frontier for a dry run: it behaves as if everything were done, and keeps nothing."""

    def add(self, discoveries: Iterable[Discovery]) -> int: ...

    def reconsider(self, judge: Callable[[Url, int], str | None]) -> int: ...

    def record(self, url: Url) -> UrlRecord | None: ...

    def status(self) -> Status: ...

    def load_robots(self, origin: str) -> Access | None: ...

    def lease_all(self, urls_per_host: int) -> list[tuple[HostAhead, Lease]]:
        """Returns the first hosts, at most `MAX_HOSTS`, in the order of the crawl, whenever they are due, each with the
        URLs that would be fetched there first."""
        ...


class Archive(Protocol):
    """Keeps captures. What `put` and `append` wrote is durable once `flush` has returned."""

    def put(self, capture: Capture, *, headers_only: bool = False) -> RecordRef: ...

    def append(self, encoded: EncodedRecords) -> RecordRef:
        """Writes records that another process has encoded; `put` encodes and writes."""
        ...

    def flush(self) -> None: ...

    def read(self, record: RecordRef) -> ArchivedResponse: ...

    def captures(self, lost: Callable[[DamagedRange], object] | None = None) -> Iterator[ArchivedResponse]:
        """Yields every archived response in the order written. Calls `lost` for each damaged range."""
        ...

    def export(self, lost: Callable[[DamagedRange], object] | None = None) -> tuple[int, Iterator[bytes]]:
        """Returns the archive as one WARC file: its size in bytes, and its content in pieces of at most 1 MiB. Calls
        `lost` for each damaged range; the pieces leave those out."""
        ...

    def close(self) -> None: ...


class DocumentStore(Protocol):
    """Keeps documents for searching. A document replaces the one with the same id."""

    def add_prepared(self, prepared: PreparedDocument) -> None:
        """Adds a document that another process has prepared."""
        ...

    def remove(self, document_id: str) -> None: ...

    def commit(self) -> IndexMark: ...


class Index(DocumentStore, Protocol):
    """Adds documents to a search index. They can be found after `commit`."""

    def add(self, document: Document) -> None: ...

    def close(self) -> None: ...


class Search(Protocol):
    """Searches the index."""

    def search(
        self,
        query: str,
        limit: int = 10,
        offset: int = 0,
        languages: Sequence[str] = (),
        filters: Filters = NO_FILTERS,
    ) -> Results:
        """Returns one page of hits. `languages` are the reader's, as two-letter codes, the preferred one first.
        Raises InputError if the query is empty, or if a filter has a value that cannot be used."""
        ...

    def explain(
        self, query: str, url: str, languages: Sequence[str] = (), filters: Filters = NO_FILTERS
    ) -> Explanation | None:
        """Returns why the page with this URL is where it is among the hits of a search; None: it is not in the index.
        Raises the errors of `search`."""
        ...

    def choices(self) -> Choices:
        """Returns the values that filters may have."""
        ...

    def suggest(self, typed: str, limit: int = 8) -> tuple[str, ...]:
        """Returns what a query that begins so may be completed to."""
        ...

    def count(self) -> int:
        """Returns the number of documents in the index."""
        ...


# ---- a running crawl ------------------------------------------------------------------------------------------------


class Leases(Protocol):
    """Gives leases. A frontier does, and so does a worker's connection to the coordinator."""

    def lease(self, hosts: int, urls_per_host: int, now: float, *, sized: bool = False) -> Sequence[Lease]: ...

    def next_ready_at(self) -> float | None: ...

    def is_finished(self) -> bool: ...


class Sink(Protocol):
    """Takes the results of visits. A `Batch` does, and so does a worker's connection to the coordinator. A sink is
    true while something waits to be committed."""

    def __bool__(self) -> bool: ...

    def add(self, result: VisitResult) -> None: ...

    def find(self, found: FoundLinks) -> None: ...

    def release(self, release: Release) -> None: ...

    def give_back(self) -> None: ...

    def due_in_s(self) -> float: ...

    def commit_if_due(self) -> None: ...

    def commit(self) -> None: ...

    def commit_all(self) -> None: ...

    async def has_room(self, *, for_list: bool = False) -> None:
        """Waits until the sink can take more. `for_list`: more entries of a sitemap or a feed."""
        ...


class RunnableCrawl(Protocol):
    """Runs a crawl and can be controlled meanwhile. `Crawler` (one process) and `Coordinator` (several) do."""

    @property
    def in_flight(self) -> int: ...

    def holdings(self) -> Mapping[int, tuple[Holding, ...]]:
        """Returns what each process of the crawl holds in memory, by process id; workers as they last reported."""
        ...

    async def run(self, max_pages: int | None = None) -> EndReason: ...

    def stop(self) -> None: ...

    def pause(self) -> None: ...

    def resume(self) -> None: ...

    def wake(self) -> None: ...

    def leave(self, host: str) -> None: ...

    def unlearn(self, lessons: Sequence[Lesson]) -> None: ...

    def take_notices(self) -> Sequence[str]:
        """Returns what has happened since the last time that the user should know, a line each."""
        ...


class Membership(Protocol):
    """The membership of this machine in a crawl that several machines share. It may send requests until `until`
    (`passed_s`), which its heartbeats extend, by the clock `passed_s() + clock_offset_s`. `is_lost`: it sent no
    heartbeat for too long, so others have taken over its hosts."""

    @property
    def until(self) -> float: ...

    @property
    def clock_offset_s(self) -> float: ...

    @property
    def is_lost(self) -> bool: ...

    def share(self) -> Shared | None:
        """Takes part in sharing out the hosts. Returns None if others have taken over those of this machine."""
        ...

    def rejoin(self) -> None:
        """Takes part as a new machine, after its hosts were lost."""
        ...


Say = Callable[[str], None]
"""Prints one line for people."""


class ControlInbox(Protocol):
    """The running crawl's side of the control files: takes requests, shows the state."""

    def take(self, say: Say) -> Iterator[tuple[ControlRequest, Callable[[], object]]]:
        """Yields the requests that have come, in order, each once, with what to call when it is carried out: until then
        it is kept for the next crawl. `say` gets a line for each that cannot be read."""
        ...

    def show(self, live: LiveStatus) -> None: ...


class ControlFiles(Protocol):
    """Other programs' side of the control files: post requests to a running crawl, read its state."""

    def is_running(self) -> bool: ...

    def live(self) -> LiveStatus | None: ...

    def post(self, request: ControlRequest) -> str: ...

    def is_waiting(self, name: str) -> bool: ...

    def withdraw(self, name: str) -> bool: ...
