"""Writes and reads the changes of a cycle: what its fetch tasks have found out about URLs and hosts.

A change is a row of CHANGE_SCHEMA. Changes are merged into the crawl table in the order of `SORTED_BY`: those of a host
before those of its URLs, visits of a URL before links to it, links in the order found.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

import msgspec
import pyarrow as pa

from goodbot.cluster.spark.table_columns import decode_robots, encode_robots
from goodbot.errors import DamagedError
from goodbot.exclusion import Access
from goodbot.lesson_values import Lesson
from goodbot.live import HostRequest
from goodbot.partitions import part_of
from goodbot.store.merge.row_rules import Settlement
from goodbot.store.merge.storable_text import storable
from goodbot.url import Url
from goodbot.values import Discovery, Release

CHANGE_SCHEMA: Final = pa.schema(
    [
        ("part", pa.int32()),
        ("host", pa.string()),
        ("url", pa.string()),
        ("kind", pa.int8()),
        ("at", pa.float64()),
        ("source", pa.string()),
        ("place", pa.int32()),
        ("data", pa.binary()),
    ]
)
CHANGE_COLUMNS: Final = "part int, host string, url string, kind byte, at double, source string, place int, data binary"
"""The same for Spark."""

SORTED_BY: Final = ("host", "url", "kind", "at", "place", "source")

HOST: Final = 0
VISIT: Final = 1
LINK: Final = 2
"""The kinds. A change of a host has an empty `url`, and so comes before those of its URLs."""


class HostChange(NamedTuple):
    """What happened to one host in one task.

    `release`: the end of its last lease; None if the task had no lease of it. `pages`: by how many its visited pages
    increased. `lists_read`: when sitemaps and feeds were read for the first time. `freed`: URLs that are no longer the
    representative of their copies. `robots`: the robots.txt files fetched, as `encode_robots` makes them. `lessons`:
    those learned."""

    release: Release | None = None
    pages: int = 0
    lists_read: tuple[float, ...] = ()
    freed: tuple[str, ...] = ()
    requests: tuple[HostRequest, ...] = ()
    robots: bytes = b""
    lessons: tuple[Lesson, ...] = ()

    @property
    def accesses(self) -> tuple[tuple[str, Access], ...]:
        """The robots.txt files fetched, by origin."""
        return decode_robots(self.robots) if self.robots else ()


class Change(NamedTuple):
    """One change. `value` is a `HostChange`, a `Settlement` or a `Discovery`. `at`, `place`: when it was found, and its
    place among the links found then."""

    host: str
    url: str
    at: float
    place: int
    value: HostChange | Settlement | Discovery


_LinkValues = tuple[int, str | None, bool, int, int, int, float | None, float | None, int, bool, bool]

_ENCODER: Final = msgspec.msgpack.Encoder()
_HOST: Final = msgspec.msgpack.Decoder(HostChange)
_VISIT: Final = msgspec.msgpack.Decoder(Settlement)
_LINK: Final = msgspec.msgpack.Decoder(_LinkValues)


def host_change(
    host: str,
    at: float,
    change: HostChange,
    robots: Iterable[tuple[str, Access]] = (),
    lessons: Iterable[Lesson] = (),
) -> Change:
    """Returns the change of a host, with these robots.txt files and lessons."""
    safe = tuple(item._replace(about=storable(item.about), evidence=storable(item.evidence)) for item in lessons)
    files = list(robots)
    return Change(host, "", at, 0, change._replace(robots=encode_robots(files) if files else b"", lessons=safe))


def change_batch(changes: Iterable[Change], parts: int) -> pa.RecordBatch:
    """Returns a batch of CHANGE_SCHEMA for a crawl table of so many parts."""
    rows = [_row(change, parts) for change in changes]
    columns = zip(*rows, strict=True) if rows else ((),) * len(CHANGE_SCHEMA)
    typed = [pa.array(column, field.type) for column, field in zip(columns, CHANGE_SCHEMA, strict=True)]
    return pa.record_batch(typed, schema=CHANGE_SCHEMA)


def _row(change: Change, parts: int) -> tuple[Any, ...]:
    part, value = part_of(change.host, parts), change.value
    if isinstance(value, Discovery):
        source = None if value.source is None else value.source.text
        return (part, change.host, change.url, LINK, change.at, source, change.place, _encoded_link(value))
    kind = HOST if isinstance(value, HostChange) else VISIT
    return (part, change.host, change.url, kind, change.at, None, change.place, _ENCODER.encode(value))


def _encoded_link(link: Discovery) -> bytes:
    values: _LinkValues = (
        *(link.depth, None if link.refused is None else storable(link.refused), link.public_only, link.hops),
        *(link.priority, link.inlinks, link.modified_at, link.interval_s, link.lists),
        *(link.expects_list, link.can_wait),
    )
    return _ENCODER.encode(values)


def read_changes(batch: pa.RecordBatch) -> Iterator[Change]:
    """Yields the changes of a batch of CHANGE_SCHEMA. Raises DamagedError for rows that goodbot has not written."""
    names = ("host", "url", "kind", "at", "source", "place", "data")
    columns = zip(*(batch.column(name).to_pylist() for name in names), strict=True)
    try:
        for host, url, kind, at, source, place, data in columns:
            value = _link_of(url, source, data) if kind == LINK else (_HOST if kind == HOST else _VISIT).decode(data)
            yield Change(host, url, at, place, value)
    except (msgspec.MsgspecError, TypeError) as error:
        raise DamagedError(f"a change is damaged: {error}") from error


def _link_of(url: str, source: str | None, data: bytes) -> Discovery:
    depth, refused, public_only, hops, priority, inlinks, modified_at, interval_s, lists, expects_list, can_wait = (
        _LINK.decode(data)
    )
    return Discovery(
        *(Url(url), depth, None if source is None else Url(source), refused, public_only, hops, priority, inlinks),
        *(modified_at, interval_s, lists, expects_list, can_wait),
    )
