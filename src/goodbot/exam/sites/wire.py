"""Builds responses that no `Reply` can express: those that break the rules of HTTP, or never end."""

import asyncio
from collections.abc import Iterable
from typing import Final

from goodbot.exam.exam_values import HTML, Exchange, Handler, Reply, page

OK: Final = "HTTP/1.1 200 OK"
CHUNKED: Final = ("Transfer-Encoding", "chunked")
LAST_CHUNK: Final = b"0\r\n\r\n"


def head(*fields: tuple[str, str], line: str = OK) -> bytes:
    """Returns a status line, these header fields and no others, and the empty line that ends them."""
    lines = [line, *(f"{name}: {value}" for name, value in fields)]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n"


def chunk(data: bytes) -> bytes:
    """Returns one chunk of a chunked body (RFC 9112 7.1)."""
    return b"%x\r\n%b\r\n" % (len(data), data)


async def answer(exchange: Exchange, top: bytes, pieces: Iterable[bytes]) -> None:
    """Sends the head and, except for HEAD, the rest piece by piece. Other tasks run between the pieces."""
    await exchange.send(top)
    if exchange.request.method == "HEAD":
        return
    for piece in pieces:
        await exchange.send(piece)
        await asyncio.sleep(0)


def ends_early(top: bytes, body: bytes) -> Handler:
    """Returns a handler that sends these bytes and closes the connection."""

    async def handler(exchange: Exchange) -> None:
        await answer(exchange, top, [body])
        exchange.close()

    return handler


def broken_at_first(broken: Handler, times: int = 2) -> Handler:
    """Returns a handler that calls `broken` for the first `times` requests of a visit, then sends a good page: a
    crawler that retries gets it."""
    good = page(title="Whole again")

    async def handler(exchange: Exchange) -> None:
        path = exchange.request.path
        await (broken(exchange) if exchange.before(path) < times else exchange.reply(good))

    return handler


def later_pages(count: int = 3) -> dict[str, Reply]:
    """Returns pages `/after/1`, `/after/2` …, each linked from the previous one. A crawler that finds the last one has
    survived the site."""
    last = {f"/after/{count}": page(title=f"After {count}")}
    return {f"/after/{n}": page(f"/after/{n + 1}", title=f"After {n}") for n in range(1, count)} | last


HTML_HEAD: Final = head(HTML)
CHUNKED_HEAD: Final = head(HTML, CHUNKED)
