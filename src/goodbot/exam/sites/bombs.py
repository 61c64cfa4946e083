"""Small answers that unfold to a quarter of a gigabyte. One site for each content coding."""

import asyncio
import sys
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from typing import Final

import brotli  # type: ignore[import-untyped]

from goodbot.exam.exam_values import HTML, ExamRequest, ExamSite, Exchange, Reply, page
from goodbot.exam.expectations import Finds
from goodbot.exam.sites.wire import afterwards

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

UNFOLDED_BYTES: Final = 256 * 2**20

_TOP: Final = b"<!doctype html><html lang=en><head><title>Large</title></head><body><p>Large"
_PLAIN: Final = page(title="Large", text="Without that coding there is nothing to see here.")


def bomb_site(coding: str, source: str) -> ExamSite:
    """A page in `coding` (gzip, br, zstd), sent so only to those who accept it, and the pages after it."""

    async def bomb(exchange: Exchange) -> None:
        if accepts(exchange.asked, coding):
            body = await asyncio.to_thread(folded, coding)
            await exchange.reply(Reply(body, headers=(HTML, ("Content-Encoding", coding), ("Vary", "Accept-Encoding"))))
        else:
            await exchange.reply(_PLAIN)

    after = afterwards()
    return ExamSite(
        name=f"bomb-{coding}",
        teaches=f"A small answer coded with {coding} may unfold to 256 MB: the crawler lives on and does the rest.",
        source=source,
        pages={"/": page("/bomb", "/after/1"), "/bomb": bomb, **after},
        expects=(Finds(("/", "/bomb", *after)),),
    )


def accepts(asked: ExamRequest, coding: str) -> bool:
    """Whether Accept-Encoding names the coding, and not with a weight of nothing (RFC 9110 12.5.3)."""
    for part in (asked.header("Accept-Encoding") or "").lower().split(","):
        name, _, weight = part.replace(" ", "").partition(";")
        if name == coding and weight.rstrip("0") not in ("q=", "q=0."):
            return True
    return False


@cache
def folded(coding: str) -> bytes:
    """The body as sent: made when it is first asked for, and kept; some hundred kilobytes at most."""
    feed, finish = _CODERS[coding]()
    return b"".join([*(feed(piece) for piece in _pieces()), finish()])


def _pieces() -> Iterator[bytes]:
    yield _TOP
    blank = b" " * 2**20
    for _ in range(UNFOLDED_BYTES // len(blank)):
        yield blank


_Coder = tuple[Callable[[bytes], bytes], Callable[[], bytes]]


def _gzip() -> _Coder:
    coder = zlib.compressobj(9, zlib.DEFLATED, 31)
    return coder.compress, coder.flush


def _br() -> _Coder:
    coder = brotli.Compressor(quality=5)
    return coder.process, coder.finish


def _zstd() -> _Coder:
    coder = zstd.ZstdCompressor()
    return coder.compress, coder.flush


_CODERS: Final[dict[str, Callable[[], _Coder]]] = {"gzip": _gzip, "br": _br, "zstd": _zstd}
