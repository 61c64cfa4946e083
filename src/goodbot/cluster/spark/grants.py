"""What a fetch task is granted: hosts, each with some of its URLs and with what is known of it."""

from typing import Final, NamedTuple

import msgspec
import pyarrow as pa

from goodbot.cluster.spark.table_columns import decode_robots
from goodbot.errors import DamagedError
from goodbot.exclusion import Access
from goodbot.lesson_values import IndexedPage, Lesson
from goodbot.values import LeasedUrl

GRANT_SCHEMA: Final = pa.schema(
    [("task", pa.int32()), ("waiting_since", pa.float64()), ("host", pa.string()), ("data", pa.binary())]
)
GRANT_COLUMNS: Final = "task int, waiting_since double, host string, data binary"
"""The same for Spark."""


class HostGrant(NamedTuple):
    """A host that one fetch task may request, with the URLs to visit, in order.

    `ready_at`, `backoff_s`, `cut_at`, `partition`: see `HostRow`. `were`: for each URL, its state code before this
    visit if it is a revisit, else None. `robots` is as `encode_robots` makes it; `lessons` and `indexed_pages` are
    those that the crawler needs of the host."""

    host: str
    partition: int
    ready_at: float
    backoff_s: float
    cut_at: float | None
    urls: tuple[LeasedUrl, ...]
    were: tuple[int | None, ...]
    robots: bytes = b""
    lessons: tuple[Lesson, ...] = ()
    indexed_pages: tuple[IndexedPage, ...] = ()

    @property
    def accesses(self) -> tuple[tuple[str, Access], ...]:
        """The last robots.txt of each origin of the host."""
        return decode_robots(self.robots) if self.robots else ()


_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(HostGrant)


def encode_grant(grant: HostGrant) -> bytes:
    return _ENCODER.encode(grant)


def decode_grant(data: bytes) -> HostGrant:
    """Returns what `encode_grant` was given. Raises DamagedError for other bytes."""
    try:
        return _DECODER.decode(data)
    except msgspec.MsgspecError as error:
        raise DamagedError(f"a grant is damaged: {error}") from error
