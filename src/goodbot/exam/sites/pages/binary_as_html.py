"""Four megabytes of random bytes are labelled HTML."""

from collections.abc import Iterator
from random import Random

from goodbot.exam.exam_values import HTML, ExamSite, Exchange, page
from goodbot.exam.expectations import Fetches
from goodbot.exam.sites.wire import answer, head, later_pages

PIECE_BYTES = 65536
PIECES = 64


def _noise() -> Iterator[bytes]:
    random = Random(1998)  # noqa: S311  (the same noise each time)
    return (random.randbytes(PIECE_BYTES) for _ in range(PIECES))


async def _binary(exchange: Exchange) -> None:
    await answer(exchange, head(HTML, ("Content-Length", str(PIECES * PIECE_BYTES))), _noise())


SITE = ExamSite(
    name="binary-as-html",
    teaches="Survive random bytes that are labelled HTML, and crawl the rest of the site.",
    source="WHATWG MIME Sniffing 7; servers that send downloads as text/html",
    pages={"/": page("/binary", "/after/1"), "/binary": _binary, **later_pages()},
    expects=(Fetches(("/", "/binary", *later_pages())),),
)
