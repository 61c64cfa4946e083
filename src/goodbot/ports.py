"""The verbs: what the robot needs from the world, two to five methods each. `goodbot.testing` has a fake of each."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

from goodbot.exclusion import Access
from goodbot.url import Url
from goodbot.values import (
    Archived,
    Capture,
    Discovery,
    Document,
    Lease,
    Outcome,
    RecordRef,
    Release,
    Request,
    Results,
    Status,
    UrlRecord,
)


class Clock(Protocol):
    """Time, in Unix seconds UTC."""

    def now(self) -> float: ...

    async def sleep(self, seconds: float) -> None: ...


class Transport(Protocol):
    """Asks one server one thing. Never raises on what the network does: a `Failure` is a value."""

    async def send(self, request: Request) -> Capture: ...

    async def close(self) -> None: ...


class Frontier(Protocol):
    """Which URLs are known, and which is to be asked next. Each call is one transaction, durable when it returns."""

    def add(self, discoveries: Iterable[Discovery]) -> int:
        """Makes URLs known; gives how many are new. The smallest depth and the first source stay.

        Of those known already, one left out that is now found in scope is ready, and so is a seed that had failed.
        """
        ...

    def lease(self, hosts: int, urls_per_host: int, now: float) -> list[Lease]:
        """At most `hosts` leases of hosts that are due and not leased, each of at most `urls_per_host` URLs due now.

        Shallow URLs come before deep ones, earlier found before later; hosts that have waited longest come first.
        """
        ...

    def settle(self, outcomes: Sequence[Outcome], releases: Sequence[Release]) -> None:
        """Writes outcomes, the links they carry and the ends of leases, all or nothing."""
        ...

    def next_ready_at(self) -> float | None:
        """The time from which `lease` can give something (leased hosts left out); None: nothing is ready."""
        ...

    def reconsider(self, judge: Callable[[Url, int], str | None]) -> int:
        """Puts every out-of-scope URL before `judge` (URL, depth → reason to refuse, or None); gives how many are ready
        now. For a crawl resumed with a wider scope."""
        ...


class Ledger(Protocol):
    """What the frontier knows, for people who ask. Reads only; may be used while a crawl runs."""

    def status(self) -> Status: ...

    def record(self, url: Url) -> UrlRecord | None: ...

    def records(self) -> Iterator[UrlRecord]:
        """Every known URL, without its events; in a fixed order."""
        ...


class IndexQueue(Protocol):
    """Pages visited whose documents are not yet in a committed index: what a crash between the two would lose."""

    def pending(self) -> list[tuple[Url, RecordRef | None]]: ...

    def indexed(self, urls: Iterable[Url]) -> None:
        """These are safe in the index now."""
        ...

    def requeue(self, urls: Iterable[Url]) -> None:
        """These cannot be replayed from the archive: they are ready again and pending no more."""
        ...


class RobotsStore(Protocol):
    """The robots.txt of each origin, as last fetched; survives a restart."""

    def load_robots(self, origin: str) -> Access | None: ...

    def save_robots(self, origin: str, access: Access) -> None: ...


class Archive(Protocol):
    """Keeps captures. What `put` gave is durable once `flush` has returned."""

    def put(self, capture: Capture, *, headers_only: bool = False) -> RecordRef: ...

    def flush(self) -> None: ...

    def read(self, record: RecordRef) -> Archived: ...

    def captures(self) -> Iterator[Archived]:
        """Every response kept, in the order kept."""
        ...

    def close(self) -> None: ...


class Index(Protocol):
    """Takes documents in. A document replaces the one of the same id. Nothing is found before `commit`."""

    def add(self, document: Document) -> None: ...

    def remove(self, document_id: str) -> None: ...

    def commit(self) -> None: ...

    def close(self) -> None: ...


class Search(Protocol):
    """Finds documents again."""

    def search(self, query: str, limit: int = 10, offset: int = 0) -> Results:
        """Raises InputError if the query holds no word."""
        ...

    def count(self) -> int:
        """How many documents can be found."""
        ...
