"""Builds sites whose small responses decompress to a quarter of a gigabyte, one for each content coding."""

import asyncio
import sys
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from typing import Final

import brotli  # type: ignore[import-untyped]

from goodbot.exam.exam_values import HTML, ExamRequest, ExamSite, Exchange, Reply, page
from goodbot.exam.expectations import Fetches
from goodbot.exam.sites.wire import later_pages

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

DECOMPRESSED_BYTES: Final = 256 * 2**20

_TOP: Final = b"<!doctype html><html lang=en><head><title>Large</title></head><body><p>Large"
_PLAIN: Final = page(title="Large", text="This page is small: the client does not accept the coding.")


def bomb_site(coding: str, source: str) -> ExamSite:
    """Serves a page in `coding` (gzip, br, zstd) to clients that accept it, and more pages behind it."""

    async def bomb(exchange: Exchange) -> None:
        if accepts(exchange.request, coding):
            body = await asyncio.to_thread(compressed, coding)
            await exchange.reply(Reply(body, headers=(HTML, ("Content-Encoding", coding), ("Vary", "Accept-Encoding"))))
        else:
            await exchange.reply(_PLAIN)

    after = later_pages()
    return ExamSite(
        name=f"bomb-{coding}",
        teaches=f"Survive a small {coding} response that decompresses to 256 MB, and crawl the rest of the site.",
        source=source,
        pages={"/": page("/bomb", "/after/1"), "/bomb": bomb, **after},
        expects=(Fetches(("/", "/bomb", *after)),),
    )


def accepts(request: ExamRequest, coding: str) -> bool:
    """Whether Accept-Encoding names the coding with a weight above 0 (RFC 9110 12.5.3)."""
    for part in (request.header("Accept-Encoding") or "").lower().split(","):
        name, _, weight = part.replace(" ", "").partition(";")
        if name == coding and weight.rstrip("0") not in ("q=", "q=0."):
            return True
    return False


@cache
def compressed(coding: str) -> bytes:
    """Returns the compressed body, a few hundred kilobytes at most. It is made for the first request and kept."""
    feed, finish = _CODERS[coding]()
    return b"".join([*(feed(piece) for piece in _pieces()), finish()])


def _pieces() -> Iterator[bytes]:
    yield _TOP
    spaces = b" " * 2**20
    for _ in range(DECOMPRESSED_BYTES // len(spaces)):
        yield spaces


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
