"""Four megabytes of noise that call themselves HTML."""

from collections.abc import Iterator
from random import Random

from goodbot.exam.exam_values import HTML, ExamSite, Exchange, page
from goodbot.exam.expectations import Finds
from goodbot.exam.sites.wire import afterwards, answer, head

PIECE_BYTES = 65536
PIECES = 64


def _noise() -> Iterator[bytes]:
    random = Random(1998)  # noqa: S311  (the same noise each time)
    return (random.randbytes(PIECE_BYTES) for _ in range(PIECES))


async def _binary(exchange: Exchange) -> None:
    await answer(exchange, head(HTML, ("Content-Length", str(PIECES * PIECE_BYTES))), _noise())


SITE = ExamSite(
    name="binary-as-html",
    teaches="What calls itself HTML may be anything: the crawler gets over it and does the rest.",
    source="WHATWG MIME Sniffing 7; servers that send downloads as text/html",
    pages={"/": page("/binary", "/after/1"), "/binary": _binary, **afterwards()},
    expects=(Finds(("/", "/binary", *afterwards())),),
)
