"""A page that does not end."""

from collections.abc import Iterator

from goodbot.exam.exam_values import ExamSite, Exchange, page
from goodbot.exam.expectations import Finds, Takes
from goodbot.exam.sites.wire import CHUNKED_HEAD, LAST_CHUNK, afterwards, answer, chunk

PIECE = chunk(b"<p>And so it goes on and on.\n" * 2200)
WHOLE_BYTES = 256 * 10**6
"""Then it does end: an exam has to."""


def _pieces() -> Iterator[bytes]:
    for _ in range(WHOLE_BYTES // len(PIECE)):
        yield PIECE
    yield LAST_CHUNK


async def _endless(exchange: Exchange) -> None:
    await answer(exchange, CHUNKED_HEAD, _pieces())


SITE = ExamSite(
    name="endless-body",
    teaches="A page that streams on without an end is cut off, and the others are fetched.",
    source="RFC 9112 7.1 (chunks tell no length); CWE-770",
    pages={"/": page("/endless", "/after/1"), "/endless": _endless, **afterwards()},
    expects=(Takes("/endless", limit_bytes=64 * 10**6), Finds(("/", "/endless", *afterwards()))),
)
