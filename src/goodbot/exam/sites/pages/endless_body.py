"""The body of a page does not end."""

from collections.abc import Iterator

from goodbot.exam.exam_values import ExamSite, Exchange, page
from goodbot.exam.expectations import Fetches, StopsReading
from goodbot.exam.sites.wire import CHUNKED_HEAD, LAST_CHUNK, answer, chunk, later_pages

PIECE = chunk(b"<p>And so it goes on and on.\n" * 2200)
WHOLE_BYTES = 256 * 10**6
"""The body ends after all, because the exam has to."""


def _pieces() -> Iterator[bytes]:
    for _ in range(WHOLE_BYTES // len(PIECE)):
        yield PIECE
    yield LAST_CHUNK


async def _endless(exchange: Exchange) -> None:
    await answer(exchange, CHUNKED_HEAD, _pieces())


SITE = ExamSite(
    name="endless-body",
    teaches="Cut off a page that streams without end, and crawl the rest of the site.",
    source="RFC 9112 7.1 (a chunked body has no stated length); CWE-770",
    pages={"/": page("/endless", "/after/1"), "/endless": _endless, **later_pages()},
    expects=(StopsReading("/endless", limit_bytes=64 * 10**6), Fetches(("/", "/endless", *later_pages()))),
)
