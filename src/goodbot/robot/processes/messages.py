"""Defines the messages between the coordinator of a crawl and its workers, and sends and receives them.

A message is a pickled value, preceded by its length. Pickle is safe here: both ends are this program, and no other
process can reach the socket pair between them. Pickle takes 7 to 50 µs for each dataclass with slots, and 2 µs for a
named tuple. So messages are named tuples, and their frequent values are MessagePack (`pack`).
"""

import asyncio
import pickle
import struct
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from goodbot.archive_values import EncodedRecords
from goodbot.exclusion import Access
from goodbot.lesson_values import IndexedPage, Lesson
from goodbot.live import Holding, HostRequest
from goodbot.values import FoundLinks, Lease, Release
from goodbot.visit_values import VisitResult

Leases = tuple[Lease, ...]
Releases = tuple[Release, ...]
Requests = tuple[HostRequest, ...]

_LENGTH: Final = struct.Struct("!Q")

_LINKS_PER_WEIGHT: Final = 200
_BYTES_PER_WEIGHT: Final = 256 * 1024
"""This many links, or bytes of archive records, add 1 to the weight of a result (`weight_of`). The total weight bounds
what a worker has reported and the coordinator has not committed."""


class Grant(NamedTuple):
    """Gives a worker leases, and what is known about their hosts: the robots.txt files of their origins, the lessons
    learned, and which of their pages are in the index."""

    leases: bytes | Leases = ()
    robots: tuple[tuple[str, Access], ...] = ()
    lessons: tuple[Lesson, ...] = ()
    indexed_pages: tuple[IndexedPage, ...] = ()


class Committed(NamedTuple):
    """Acknowledges that results of this weight (see `weight_of`) are committed."""

    weight: int


class Confirmed(NamedTuple):
    """Confirms that the worker may send requests until this time; see `WorkerSetup`."""

    until: float


class Stop(NamedTuple):
    """Ends a worker: it gets no more leases, finishes the pages in flight, and exits."""


class LeaveHost(NamedTuple):
    """Makes a worker stop sending requests to the host."""

    host: str


class Pause(NamedTuple):
    """Pauses a worker: it finishes the pages in flight and gives its leases back. If `on` is False, it resumes. The
    worker acknowledges both (`WorkerReport.pauses`)."""

    on: bool


Value = TypeVar("Value", VisitResult, FoundLinks, Leases, Releases, Requests)

_ENCODER: Final = msgspec.msgpack.Encoder()
_RESULT_DECODER: Final = msgspec.msgpack.Decoder(VisitResult)
_FOUND_DECODER: Final = msgspec.msgpack.Decoder(FoundLinks)
_LEASES_DECODER: Final = msgspec.msgpack.Decoder(Leases)
_RELEASES_DECODER: Final = msgspec.msgpack.Decoder(Releases)
_REQUESTS_DECODER: Final = msgspec.msgpack.Decoder(Requests)


def pack(value: Value) -> bytes | Value:
    """Returns the value as MessagePack. Packing and unpacking a page with 27 new links takes 42 µs, with pickle 400;
    a lease of one URL, alone in its message, takes 1.2 µs, with pickle 70.

    MessagePack cannot hold lone surrogates, which titles of pages may contain. A value with one is returned unchanged,
    and is then pickled with the message.
    """
    try:
        return _ENCODER.encode(value)
    except (UnicodeEncodeError, OverflowError):  # a lone surrogate, or a number of more than 64 bits
        return value


def unpack_result(packed: bytes | VisitResult) -> VisitResult:
    """Returns the result that `pack` was given."""
    return _RESULT_DECODER.decode(packed) if isinstance(packed, bytes) else packed


def unpack_found(packed: bytes | FoundLinks) -> FoundLinks:
    """Returns the links that `pack` was given."""
    return _FOUND_DECODER.decode(packed) if isinstance(packed, bytes) else packed


def unpack_leases(packed: bytes | Leases) -> Leases:
    """Returns the leases that `pack` was given."""
    return _LEASES_DECODER.decode(packed) if isinstance(packed, bytes) else packed


def unpack_releases(packed: bytes | Releases) -> Releases:
    """Returns the releases that `pack` was given."""
    return _RELEASES_DECODER.decode(packed) if isinstance(packed, bytes) else packed


def unpack_requests(packed: bytes | Requests) -> Requests:
    """Returns the requests that `pack` was given."""
    return _REQUESTS_DECODER.decode(packed) if isinstance(packed, bytes) else packed


def weight_of(links: int, encoded: EncodedRecords | None = None) -> int:
    """Returns how much a result, or a part of a sitemap or feed, counts while it waits to be committed. A page of the
    usual size counts 1."""
    return 1 + links // _LINKS_PER_WEIGHT + (len(encoded.data) // _BYTES_PER_WEIGHT if encoded is not None else 0)


class WorkerReport(NamedTuple):
    """Reports what a worker has done since its last report.

    `found`: links of sitemaps and feeds whose own result will follow. `robots_records`: archive records of robots.txt
    files. `requests`: every request sent. `pauses`: how many `Pause` messages the worker has received. `weight`: the
    weight of `results` and `found` together. `holdings`: what the worker holds in memory; empty in most reports.
    """

    results: tuple[bytes | VisitResult, ...] = ()
    releases: bytes | Releases = ()
    robots_records: tuple[EncodedRecords, ...] = ()
    robots: tuple[tuple[str, Access], ...] = ()
    in_flight: int = 0
    requests: bytes | Requests = ()
    lessons: tuple[Lesson, ...] = ()
    pauses: int = 0
    found: tuple[bytes | FoundLinks, ...] = ()
    weight: int = 0
    holdings: tuple[Holding, ...] = ()


def send(writer: asyncio.StreamWriter, message: object) -> None:
    """Writes a message without waiting until it is sent. A caller that sends a lot has to watch the writer's buffer.

    The length and the message are written together, so the other end wakes only once."""
    data = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    writer.writelines((_LENGTH.pack(len(data)), data))


async def receive(reader: asyncio.StreamReader) -> Any:
    """Returns the next message; None when the other end has closed the connection."""
    try:
        (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
        return pickle.loads(await reader.readexactly(length))  # noqa: S301  (safe: see the top of this module)
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
