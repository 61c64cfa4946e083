"""Converts the rows of a crawl to Arrow record batches and back: the columns of the Parquet files of a crawl table."""

from collections.abc import Iterable, Sequence
from dataclasses import fields
from operator import attrgetter
from typing import Any, Final

import msgspec
import pyarrow as pa

from goodbot.errors import DamagedError
from goodbot.exclusion import Access
from goodbot.lesson_values import Lesson
from goodbot.live import Courtesy
from goodbot.report_values import RobotsVersion
from goodbot.store.merge.crawl_rows import HostRow, UrlRow, VisitRow
from goodbot.store.merge.outcome_rows import seen_of, seen_row

_PLAIN: Final = (
    *("host", "url", "state", "rank", "found_at", "source", "place", "tries", "public_only", "hops", "lists"),
    *("ready_at", "refused", "interval_s", "was", "same_as", "compared_text", "pending", "leaving"),
)
"""The fields of `UrlRow` that are columns of the same name."""

_VISIT: Final = ("at", "status", "digest", "title", "why", "file", "offset", "events")
_SEEN: Final = (
    *("at", "due_at", "interval_s", "changed_at", "etag", "modified", "digest", "file", "offset", "title", "gone"),
    *("available_until", "indexed", "text", "rendered", "wishes", "whole_at"),
)
"""The columns that `seen_of` reads."""

_TYPES: Final[dict[str, pa.DataType]] = {
    **dict.fromkeys(("state", "was"), pa.int8()),
    **dict.fromkeys(("tries", "hops", "lists", "place", "status", "gone"), pa.int32()),
    **dict.fromkeys(("rank", "offset"), pa.int64()),
    **dict.fromkeys(("public_only", "pending", "leaving", "indexed", "rendered"), pa.bool_()),
    **dict.fromkeys(("at", "found_at", "ready_at", "interval_s", "due_at", "changed_at"), pa.float64()),
    **dict.fromkeys(("available_until", "whole_at"), pa.float64()),
}
"""The types of columns that are not text."""


def _field(name: str, prefix: str = "") -> pa.Field:
    return pa.field(prefix + name, _TYPES.get(name, pa.string()))


VISIT_COLUMNS: Final = tuple(f"visit_{name}" for name in _VISIT)
SEEN_COLUMNS: Final = tuple(f"seen_{name}" for name in _SEEN)

URL_SCHEMA: Final = pa.schema(
    [*map(_field, _PLAIN), *(_field(name, "visit_") for name in _VISIT), *(_field(name, "seen_") for name in _SEEN)]
)
"""One row for each URL, ordered by host and URL."""

HOST_SCHEMA: Final = pa.schema(
    [
        ("host", pa.string()),
        ("partition", pa.int32()),
        ("ready_at", pa.float64()),
        ("backoff_s", pa.float64()),
        ("cut_at", pa.float64()),
        ("next_urls", pa.int32()),
        ("pages", pa.int64()),
        ("turn", pa.int8()),
        ("lists", pa.int32()),
        ("lists_from", pa.float64()),
        ("forgotten_at", pa.float64()),
        ("robots", pa.binary()),
        ("versions", pa.binary()),
        ("lessons", pa.binary()),
        ("courtesy", pa.binary()),
    ]
)
"""One row for each host, ordered by host. The last four columns are MessagePack."""

_HOST_PLAIN: Final = tuple(HOST_SCHEMA.names[:11])
_ACCESS_FIELDS: Final = attrgetter(*(item.name for item in fields(Access)))
_ENCODER: Final = msgspec.msgpack.Encoder()
_ROBOTS: Final = msgspec.msgpack.Decoder(list[tuple[str, list[Any]]])
_VERSIONS: Final = msgspec.msgpack.Decoder(tuple[RobotsVersion, ...])
_LESSONS: Final = msgspec.msgpack.Decoder(tuple[Lesson, ...])
_COURTESY: Final = msgspec.msgpack.Decoder(Courtesy)


def url_batch(rows: Sequence[UrlRow]) -> pa.RecordBatch:
    """Returns a batch of URL_SCHEMA."""
    columns: list[Sequence[Any]] = [[getattr(row, name) for row in rows] for name in _PLAIN]
    columns += _columns([row.visit for row in rows], len(_VISIT))
    columns += _columns([None if row.seen is None else seen_row(row.seen) for row in rows], len(_SEEN))
    typed = [
        pa.array(map(_flag, column) if field.type == pa.bool_() else column, field.type)
        for column, field in zip(columns, URL_SCHEMA, strict=True)
    ]
    return pa.record_batch(typed, schema=URL_SCHEMA)


def _flag(value: int | None) -> bool | None:
    return None if value is None else bool(value)


def _columns(rows: Sequence[Sequence[Any] | None], width: int) -> list[Sequence[Any]]:
    nothing = (None,) * width
    return [*zip(*(nothing if row is None else row for row in rows), strict=True)] or [()] * width


def url_rows(batch: pa.RecordBatch) -> list[UrlRow]:
    """Returns the rows of a batch of URL_SCHEMA. Raises DamagedError for rows that goodbot has not written."""
    columns = [batch.column(name).to_pylist() for name in _PLAIN]
    visits = zip(*(batch.column(name).to_pylist() for name in VISIT_COLUMNS), strict=True)
    seens = zip(*(batch.column(name).to_pylist() for name in SEEN_COLUMNS), strict=True)
    rows = []
    try:
        for plain, visit, seen in zip(zip(*columns, strict=True), visits, seens, strict=True):
            named = dict(zip(_PLAIN, plain, strict=True))
            named["visit"] = None if visit[0] is None else VisitRow(*visit)
            named["seen"] = None if seen[0] is None else seen_of(seen)
            rows.append(UrlRow(**named))
    except (TypeError, ValueError) as error:
        raise DamagedError(f"a row of the crawl table is damaged: {error}") from error
    return rows


def host_batch(rows: Sequence[HostRow]) -> pa.RecordBatch:
    """Returns a batch of HOST_SCHEMA."""
    columns: list[Sequence[Any]] = [[getattr(row, name) for row in rows] for name in _HOST_PLAIN]
    columns.append([encode_robots(row.robots) if row.robots else None for row in rows])
    columns += [[_encoded(getattr(row, name)) for row in rows] for name in ("versions", "lessons", "courtesy")]
    typed = [pa.array(column, field.type) for column, field in zip(columns, HOST_SCHEMA, strict=True)]
    return pa.record_batch(typed, schema=HOST_SCHEMA)


def host_rows(batch: pa.RecordBatch) -> list[HostRow]:
    """Returns the rows of a batch of HOST_SCHEMA. Raises DamagedError for rows that goodbot has not written."""
    columns = zip(*(batch.column(name).to_pylist() for name in HOST_SCHEMA.names), strict=True)
    try:
        return [_host_row(*values) for values in columns]
    except (msgspec.MsgspecError, TypeError) as error:
        raise DamagedError(f"a row of the crawl table is damaged: {error}") from error


def _host_row(*values: Any) -> HostRow:
    *plain, robots, versions, lessons, courtesy = values
    return HostRow(
        **dict(zip(_HOST_PLAIN, plain, strict=True)),
        robots=decode_robots(robots) if robots else (),
        versions=_VERSIONS.decode(versions) if versions else (),
        lessons=_LESSONS.decode(lessons) if lessons else (),
        courtesy=_COURTESY.decode(courtesy) if courtesy else None,
    )


def _encoded(value: Any) -> bytes | None:
    return _ENCODER.encode(value) if value else None


def encode_robots(robots: Iterable[tuple[str, Access]]) -> bytes:
    """Returns robots.txt files by origin as MessagePack."""
    return _ENCODER.encode([(origin, _ACCESS_FIELDS(access)) for origin, access in robots])


def decode_robots(data: bytes) -> tuple[tuple[str, Access], ...]:
    """Returns what `encode_robots` was given. Raises msgspec.MsgspecError or TypeError for other bytes."""
    return tuple((origin, Access(*values)) for origin, values in _ROBOTS.decode(data))
