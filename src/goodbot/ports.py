"""The verbs: what the robot needs from the world, two to five methods each. `goodbot.testing` has a fake of each."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

from goodbot.archive_values import ArchivedResponse, DamagedRange, EncodedRecords
from goodbot.exclusion import Access
from goodbot.lesson_values import IndexedPage, Lesson
from goodbot.live import ControlRequest, Courtesy, EndReason, LiveStatus
from goodbot.search_values import Document, IndexMark, PreparedDocument, Results
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
    Status,
    UrlRecord,
)
from goodbot.visit_values import VisitResult


class Clock(Protocol):
    """Time, in Unix seconds UTC."""

    def now(self) -> float: ...

    async def sleep(self, seconds: float) -> None: ...


class Transport(Protocol):
    """Asks one server one thing. Never raises on what the network does: a `Failure` is a value."""

    async def send(self, request: Request) -> Capture: ...

    async def close(self) -> None: ...


class Resolver(Protocol):
    """Names → addresses. Judges none of them, and never raises on what the network does."""

    async def resolve(self, host: str) -> tuple[str, ...] | Failure:
        """The addresses of a host name (`Url.host`, no address itself) as text without zone: at least one and at most
        a few, in the order they are to be tried; or a `Failure` of kind `dns`."""
        ...

    async def close(self) -> None: ...


class Frontier(Protocol):
    """Which URLs are known, and which is to be asked next. Each call is one transaction, durable when it returns."""

    def add(self, discoveries: Iterable[Discovery]) -> int:
        """Makes URLs known; gives how many are new. The first source stays; of depth, in-links and hint the best
        counts, as long as the URL waits.

        Of those known already, one left out that a link now finds in scope is ready, and so is a seed that had failed
        or was settled as out of scope. One link or seed in scope that is not `public_only` makes a URL so for good: if
        it had failed or was out of scope, it is ready. Otherwise a link never changes what was settled.
        """
        ...

    def lease(self, hosts: int, urls_per_host: int, now: float) -> list[Lease]:
        """At most `hosts` leases of hosts that are due and not leased, each of at most `urls_per_host` URLs due now.

        Within a host shallow URLs come first, then those with many in-links (in powers of two), then those with a
        high hint, then those found earlier. Hosts that have waited longest come first: a host of many pages keeps no
        other waiting. A host that has had the pages it is granted has nothing ready: the rest is out of scope.

        What was visited and is due again (`Seen.due_at`) is leased as well, with what is `seen` of it, if the frontier
        was opened for revisits up to that time; it is `ready` then, and counts neither as visited nor as gone.
        """
        ...

    def settle(
        self, outcomes: Sequence[Outcome], releases: Sequence[Release], found: Sequence[FoundLinks] = ()
    ) -> None:
        """Writes outcomes, then `found` and the links they carry, then the ends of leases, all or nothing."""
        ...

    def next_ready_at(self) -> float | None:
        """The time from which `lease` can give something (leased hosts left out); None: nothing is ready."""
        ...

    def reconsider(self, judge: Callable[[Url, int], str | None]) -> int:
        """Puts every out-of-scope URL before `judge` (URL, depth → reason to refuse, or None); gives how many are ready
        now. For a crawl resumed with a wider scope or more pages to a host."""
        ...


class Ledger(Protocol):
    """What the frontier knows, for people who ask. Reads only; may be used while a crawl runs."""

    def status(self) -> Status: ...

    def due_again_at(self) -> float | None:
        """When the first page visited is due again (`Seen.due_at`), whether this crawl asks again or not. None: none is
        ever."""
        ...

    def lesson_counts(self) -> tuple[int, int]:
        """How many lessons are in force, and how many have lapsed."""
        ...

    def record(self, url: Url) -> UrlRecord | None: ...

    def records(self) -> Iterator[UrlRecord]:
        """Every known URL, without its events; in a fixed order."""
        ...


class IndexQueue(Protocol):
    """Pages visited whose documents are not yet in a committed index: what a crash between the two would lose."""

    def pending(self, most: int | None = None) -> list[tuple[Url, RecordRef | None]]:
        """All of them, or any `most` of them."""
        ...

    def indexed(self, urls: Iterable[Url], mark: IndexMark | None = None) -> None:
        """These are safe in the index now, which `mark` describes."""
        ...

    def passed_over(self, urls: Iterable[Url]) -> None:
        """These are pending no more, and the index does not have them: read again, they did not let themselves be
        indexed."""
        ...

    def requeue(self, urls: Iterable[Url]) -> None:
        """These cannot be replayed from the archive: they are ready again and pending no more."""
        ...

    def leaving(self) -> list[Url]:
        """Pages settled with `from_index` that a committed index may still have; `indexed` takes them off as well."""
        ...

    def copies_of(self, url: Url) -> list[Url]:
        """Pages left out as copies of that one (`Outcome.same_as`), a hundred at most."""
        ...


class RobotsStore(Protocol):
    """The robots.txt of each origin, as last fetched; survives a restart."""

    def load_robots(self, origin: str) -> Access | None: ...

    def save_robots(self, origin: str, access: Access) -> None: ...


class LessonStore(Protocol):
    """What was learned about hosts; survives a restart."""

    def load_lessons(self, hosts: Iterable[str]) -> list[Lesson]: ...

    def save_lessons(self, lessons: Iterable[Lesson]) -> None:
        """One of the same host, kind and subject is replaced. What a lesson that has lapsed left out is ready."""
        ...

    def load_said(self, hosts: Iterable[str]) -> list[IndexedPage]:
        """Pages of these hosts that are in the index: those that are due again last, up to `SAID_MOST` of a host."""
        ...


class CourtesyStore(Protocol):
    """What each host was asked up to now; survives a restart."""

    def load_courtesies(self, hosts: Iterable[str]) -> dict[str, Courtesy]:
        """Of those that were asked before."""
        ...

    def save_courtesies(self, courtesies: Iterable[Courtesy]) -> None:
        """In place of what was known of these hosts. A power cut may take the last of them, a kill none."""
        ...


class Archive(Protocol):
    """Keeps captures. What `put` and `append` gave is durable once `flush` has returned."""

    def put(self, capture: Capture, *, headers_only: bool = False) -> RecordRef: ...

    def append(self, encoded: EncodedRecords) -> RecordRef:
        """What another process has encoded; `put` does both."""
        ...

    def flush(self) -> None: ...

    def read(self, record: RecordRef) -> ArchivedResponse: ...

    def captures(self, lost: Callable[[DamagedRange], object] | None = None) -> Iterator[ArchivedResponse]:
        """Every response kept, in the order kept. `lost` is given what is damaged and cannot be read."""
        ...

    def export(self, lost: Callable[[DamagedRange], object] | None = None) -> tuple[int, Iterator[bytes]]:
        """Everything kept as one WARC file: its size in bytes, and its pieces, of at most 1 MiB. `lost` is given what
        is damaged; the pieces leave it out."""
        ...

    def close(self) -> None: ...


class Index(Protocol):
    """Takes documents in. A document replaces the one of the same id. Nothing is found before `commit`."""

    def add(self, document: Document) -> None: ...

    def add_prepared(self, prepared: PreparedDocument) -> None:
        """What another process has prepared."""
        ...

    def remove(self, document_id: str) -> None: ...

    def commit(self) -> IndexMark: ...

    def close(self) -> None: ...


class Search(Protocol):
    """Finds documents again."""

    def search(self, query: str, limit: int = 10, offset: int = 0) -> Results:
        """Raises InputError if the query holds no word."""
        ...

    def count(self) -> int:
        """How many documents can be found."""
        ...


# ---- a crawl that runs ----------------------------------------------------------------------------------------------


class Leases(Protocol):
    """Gives leases: a frontier, or the process that owns one."""

    def lease(self, hosts: int, urls_per_host: int, now: float) -> Sequence[Lease]: ...

    def next_ready_at(self) -> float | None: ...


class Sink(Protocol):
    """Takes the results of visits: a `Batch`, or the process that has one. It is true when something waits to be
    committed."""

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
        """Waits until more can be taken. `for_list`: more of a sitemap or a feed."""
        ...


class RunnableCrawl(Protocol):
    """A crawl that can be run and controlled: a `Crawler`, or a `Coordinator`."""

    @property
    def in_flight(self) -> int: ...

    async def run(self, max_pages: int | None = None) -> EndReason: ...

    def stop(self) -> None: ...

    def pause(self) -> None: ...

    def resume(self) -> None: ...

    def wake(self) -> None: ...

    def leave(self, host: str) -> None: ...

    def unlearn(self, lessons: Sequence[Lesson]) -> None: ...


Say = Callable[[str], None]
"""Takes one line for people."""


class ControlInbox(Protocol):
    """The control files of a crawl, as the running crawl uses them."""

    def take(self, say: Say) -> Iterator[ControlRequest]: ...

    def show(self, live: LiveStatus) -> None: ...


class ControlFiles(Protocol):
    """The control files of a crawl, as other programs use them."""

    def is_running(self) -> bool: ...

    def live(self) -> LiveStatus | None: ...

    def post(self, wish: ControlRequest) -> str: ...

    def is_waiting(self, name: str) -> bool: ...

    def withdraw(self, name: str) -> bool: ...
