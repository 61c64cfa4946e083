"""Defines the messages between the coordinator of a crawl and its workers, and sends and receives them.

A message is a pickled value with its length in front. Pickle is safe here: both ends are this program, and no other
process can reach the socket pair between them.
"""

import asyncio
import pickle
import struct
from dataclasses import dataclass, fields
from typing import Any, Final

from goodbot.archive_values import EncodedRecords
from goodbot.exclusion import Access
from goodbot.lesson_values import IndexedPage, Lesson
from goodbot.live import HostRequest
from goodbot.url import Url
from goodbot.values import Discovery, Event, FoundLinks, Lease, Outcome, Release
from goodbot.visit_values import VisitResult

_LENGTH: Final = struct.Struct("!Q")

_LINKS_PER_WEIGHT: Final = 200
_BYTES_PER_WEIGHT: Final = 256 * 1024
"""So many links, or bytes of archive records, add 1 to the weight of a result (`weight_of`). The total weight bounds
what a worker has reported and the coordinator has not committed."""


@dataclass(frozen=True, slots=True)
class Grant:
    """Gives a worker leases, and what is known of their hosts: the robots.txt files of their origins, the lessons
    learned, and the pages of theirs that are in the index."""

    leases: tuple[Lease, ...]
    robots: tuple[tuple[str, Access], ...]
    lessons: tuple[Lesson, ...] = ()
    indexed_pages: tuple[IndexedPage, ...] = ()


@dataclass(frozen=True, slots=True)
class Committed:
    """Acknowledges that results of this weight (see `weight_of`) are committed."""

    weight: int


@dataclass(frozen=True, slots=True)
class Stop:
    """Ends a worker: it gets no more leases, finishes the pages in flight, and exits."""


@dataclass(frozen=True, slots=True)
class LeaveHost:
    """Tells a worker to send no more requests to the host."""

    host: str


@dataclass(frozen=True, slots=True)
class Pause:
    """Pauses a worker: it finishes the pages in flight and gives its leases back. With `on` False it resumes. The
    worker acknowledges either (`WorkerReport.pauses`)."""

    on: bool


Packed = tuple[Any, ...]
"""A `VisitResult` as plain values, which pickle faster: 95 µs both ways for a page with 27 new links; as objects
280."""


def pack(result: VisitResult) -> Packed:
    """Returns the result as plain values, for `unpack`.

    The links of one outcome may differ in URL, refusal and count only, those of a sitemap in hints as well.
    """
    outcome = result.outcome
    fields = tuple(getattr(outcome, name) for name in _PLAIN_FIELDS)
    events = tuple(map(tuple, outcome.events))
    links = _pack_links(outcome.links), result.sitemaps
    return outcome.url.text, fields, events, links, result.document, result.replayable, result.encoded


def unpack(packed: Packed) -> VisitResult:
    """Returns the result that `pack` was given."""
    url, fields, events, (packed_links, sitemaps), document, replayable, encoded = packed
    outcome = Outcome(
        Url(url),
        **dict(zip(_PLAIN_FIELDS, fields, strict=True)),
        events=tuple(Event(*event) for event in events),
        links=_unpack_links(packed_links),
    )
    return VisitResult(outcome, document, replayable, encoded, sitemaps)


def pack_found(found: FoundLinks) -> Packed:
    """Returns the links as plain values, for `unpack_found`."""
    return _pack_links(found.links), found.at


def unpack_found(packed: Packed) -> FoundLinks:
    """Returns the links that `pack_found` was given."""
    links, at = packed
    return FoundLinks(_unpack_links(links), at)


def weight_of(links: int, encoded: EncodedRecords | None = None) -> int:
    """Returns the weight of a result, or of a part of a sitemap or feed, among those that wait for their commit. A page
    of the usual size weighs 1."""
    return 1 + links // _LINKS_PER_WEIGHT + (len(encoded.data) // _BYTES_PER_WEIGHT if encoded is not None else 0)


def _pack_links(links: tuple[Discovery, ...]) -> Packed:
    rows = tuple((link.url.text, link.refused, link.inlinks) for link in links)
    if not links:
        return rows, None, None
    first, hints = links[0], None
    without_hints = first.priority, None, None
    if any((link.priority, link.modified_at, link.interval_s) != without_hints for link in links):
        hints = tuple((link.priority, link.modified_at, link.interval_s) for link in links)
    source = None if first.source is None else first.source.text
    return (
        rows,
        (
            first.depth,
            source,
            first.public_only,
            first.hops,
            first.priority,
            first.lists,
            first.expects_list,
            first.can_wait,
        ),
        hints,
    )


def _unpack_links(packed: Packed) -> tuple[Discovery, ...]:
    rows, common, hints = packed
    links: tuple[Discovery, ...] = ()
    if common is not None:
        depth, source, public_only, hops, priority, lists, expects_list, can_wait = common
        page = None if source is None else Url(source)
        links = tuple(
            Discovery(
                *(Url(text), depth, page, refused, public_only, hops, priority, inlinks),
                lists=lists,
                expects_list=expects_list,
                can_wait=can_wait,
            )
            for text, refused, inlinks in rows
        )
    if hints is not None:
        links = tuple(
            link._replace(priority=priority, modified_at=modified_at, interval_s=interval_s)
            for link, (priority, modified_at, interval_s) in zip(links, hints, strict=True)
        )
    return links


_PLAIN_FIELDS: Final = tuple(item.name for item in fields(Outcome) if item.name not in ("url", "events", "links"))


@dataclass(frozen=True, slots=True)
class WorkerReport:
    """Reports what a worker has done since its last report.

    `found`: links of sitemaps and feeds whose own result will follow. `robots_records`: archive records of robots.txt
    files. `requests`: every request sent. `pauses`: how many `Pause` messages the worker has received. `weight`: that
    of `results` and `found` together.
    """

    results: tuple[Packed, ...]
    releases: tuple[Release, ...]
    robots_records: tuple[EncodedRecords, ...]
    robots: tuple[tuple[str, Access], ...]
    in_flight: int
    requests: tuple[HostRequest, ...] = ()
    lessons: tuple[Lesson, ...] = ()
    pauses: int = 0
    found: tuple[Packed, ...] = ()
    weight: int = 0


def send(writer: asyncio.StreamWriter, message: object) -> None:
    """Writes a message without waiting until it is sent: a caller that sends much has to watch the writer's buffer."""
    data = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    writer.write(_LENGTH.pack(len(data)))
    writer.write(data)


async def receive(reader: asyncio.StreamReader) -> Any:
    """Returns the next message; None when the other end has closed the connection."""
    try:
        (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
        return pickle.loads(await reader.readexactly(length))  # noqa: S301  (safe: see the top of this module)
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
