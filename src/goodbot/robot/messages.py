"""What the owner of a crawl and its workers say to each other: pickled values with their length in front.

Both ends are this program; nothing else can reach the socket pair between them.
"""

import asyncio
import pickle
import struct
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Final

from goodbot.config import Settings
from goodbot.exclusion import Access
from goodbot.hits import Document, Prepared
from goodbot.live import Asked
from goodbot.robot.guard import AddressGuard
from goodbot.robot.identity import Identity
from goodbot.robot.reading import Encode, Reading
from goodbot.robot.scope import Scope
from goodbot.url import Url
from goodbot.values import (
    Discovery,
    Encoded,
    Event,
    Lease,
    Lesson,
    Outcome,
    Release,
    Said,
)

_LENGTH: Final = struct.Struct("!I")


@dataclass(frozen=True, slots=True)
class Setup:
    """The first message to a worker. The functions are named by their modules: a worker imports only what it needs."""

    settings: Settings
    identity: Identity
    guard: AddressGuard
    scope: Scope
    encode: Encode | None
    prepare: Callable[[Document], Prepared] | None
    uncommitted_most: int = 0
    """Readings of one worker that may wait for their commit: a kill costs these and the pages in flight."""


@dataclass(frozen=True, slots=True)
class Grant:
    """Leases for a worker, and what is known of their hosts: the robots.txt files of their origins, lessons, and what
    pages in the index said."""

    leases: tuple[Lease, ...]
    robots: tuple[tuple[str, Access], ...]
    lessons: tuple[Lesson, ...] = ()
    said: tuple[Said, ...] = ()


@dataclass(frozen=True, slots=True)
class Committed:
    """So many readings of the worker are safe."""

    readings: int


@dataclass(frozen=True, slots=True)
class Stop:
    """No more leases will come. Pages in flight finish, then the worker ends."""


@dataclass(frozen=True, slots=True)
class Leave:
    """Nothing more is asked of the host."""

    host: str


@dataclass(frozen=True, slots=True)
class Pause:
    """Pages in flight finish, and leases are given back; `on` False: go on. The worker says that it has heard it."""

    on: bool


Packed = tuple[Any, ...]
"""A reading as values that pickle fast: 95 µs both ways for a page with 27 new links, as objects 280."""


def pack(reading: Reading) -> Packed:
    """The same reading, for `unpack`. The links of an outcome differ in URL, refusal and count only; those of a sitemap
    in hints too."""
    outcome = reading.outcome
    links = tuple((link.url.text, link.refused, link.inlinks) for link in outcome.links)
    common = hints = None
    if outcome.links:
        first = outcome.links[0]
        plain = first.priority, None, None
        if any((link.priority, link.modified_at, link.interval_s) != plain for link in outcome.links):
            hints = tuple((link.priority, link.modified_at, link.interval_s) for link in outcome.links)
        source = None if first.source is None else first.source.text
        common = (first.depth, source, first.public_only, first.hops, first.priority)
    fields = tuple(getattr(outcome, name) for name in _PLAIN)
    events = tuple(map(tuple, outcome.events))
    said = links, hints, reading.sitemaps
    return outcome.url.text, fields, events, common, said, reading.document, reading.replayable, reading.encoded


def unpack(packed: Packed) -> Reading:
    """What was packed."""
    url, fields, events, common, (rows, hints, sitemaps), document, replayable, encoded = packed
    links: tuple[Discovery, ...] = ()
    if common is not None:
        depth, source, public_only, hops, priority = common
        page = None if source is None else Url(source)
        links = tuple(
            Discovery(Url(text), depth, page, refused, public_only, hops, priority, inlinks)
            for text, refused, inlinks in rows
        )
    if hints is not None:
        links = tuple(
            link._replace(priority=priority, modified_at=modified_at, interval_s=interval_s)
            for link, (priority, modified_at, interval_s) in zip(links, hints, strict=True)
        )
    outcome = Outcome(
        Url(url), **dict(zip(_PLAIN, fields, strict=True)), events=tuple(Event(*event) for event in events), links=links
    )
    return Reading(outcome, document, replayable, encoded, sitemaps)


_PLAIN: Final = tuple(item.name for item in fields(Outcome) if item.name not in ("url", "events", "links"))


@dataclass(frozen=True, slots=True)
class Report:
    """What a worker has done since its last report. `kept` are records of robots.txt files; `asked`: every request;
    `pauses`: how many `Pause` messages it has heard since."""

    readings: tuple[Packed, ...]
    releases: tuple[Release, ...]
    kept: tuple[Encoded, ...]
    robots: tuple[tuple[str, Access], ...]
    in_flight: int
    asked: tuple[Asked, ...] = ()
    lessons: tuple[Lesson, ...] = ()
    pauses: int = 0


def send(writer: asyncio.StreamWriter, message: object) -> None:
    """Puts a message on its way; whoever sends much looks at the transport's buffer meanwhile."""
    data = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    writer.write(_LENGTH.pack(len(data)))
    writer.write(data)


async def receive(reader: asyncio.StreamReader) -> Any:
    """The next message; None when the other end is gone."""
    try:
        (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
        return pickle.loads(await reader.readexactly(length))  # noqa: S301  (see above)
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
