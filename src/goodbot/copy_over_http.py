"""Reads copies of an index from a Web server that serves their folder."""

import asyncio
import re
from contextlib import AsyncExitStack
from typing import Final, NamedTuple
from urllib.parse import urljoin, urlsplit

from goodbot.errors import RunError
from goodbot.one_shot import service_request, service_transport
from goodbot.page.coding import Decoded, decode_content
from goodbot.places.place import TooSlowError
from goodbot.ports import Transport
from goodbot.url import Url, parse_url
from goodbot.values import Failure, Response

TIMEOUT_S: Final = 120.0
"""The usual time limit of one request."""

MAX_WHOLE_BYTES: Final = 10 * 1024 * 1024
"""The limit for a file of a server that does not answer range requests."""

SMALL_BYTES: Final = 512 * 1024
"""Of an answer to a request for a part that ends before this, not more is read: `latest.json` may be endless."""

_RANGE: Final = re.compile(r"bytes (\d{1,18})-(\d{1,18})/(?:\d{1,18}|\*)", re.ASCII)
_BEYOND: Final = re.compile(r"bytes \*/(\d{1,18})", re.ASCII)


class _Whole(NamedTuple):
    """The last file that was fetched whole, because the server does not answer range requests."""

    path: str
    body: bytes


class HttpSource:
    """Implements `ReadablePlace` at the URL of a folder. A file is fetched in parts by range requests (RFC 9110 §14); a
    server without these can serve files of up to 10 MiB, which are kept until the next one is read. Redirects are not
    followed. One thread may use it."""

    def __init__(self, url: Url, timeout_s: float = TIMEOUT_S) -> None:
        self._timeout_s = timeout_s
        self._base = url.text.partition("#")[0].rstrip("/") + "/"
        self._url = url
        self._runner = asyncio.Runner()
        self._opened = AsyncExitStack()
        self._transports: dict[int, Transport] = {}
        self._whole: _Whole | None = None

    @property
    def name(self) -> str:
        """The URL of the folder."""
        return self._base

    def read(self, path: str, start: int, length: int) -> bytes | None:
        """Fetches a part of a file."""
        if not length:
            return b""
        if start and self._whole is not None and self._whole.path == path:
            return self._whole.body[start : start + length]
        self._whole = None
        url = parse_url(self._base + path)
        if url is None:
            raise RunError(f"not a URL: {self._base}{path}")
        answer = self._runner.run(self._fetch(url, start, length))
        if answer.status in (404, 410):
            return None
        if answer.status == 416 and _ends_before(answer, start):
            return b""
        if answer.status not in (200, 206):
            raise RunError(f"{url} answers with status {answer.status}{self._onward(url, answer, path)}")
        if answer.status == 206:
            return _part(url, answer, range(start, start + length))
        found = _decoded(url, answer, start + length)
        if found.complete and len(found.body) > start + length:
            self._whole = _Whole(path, found.body)
        return found.body[start : start + length]

    def close(self) -> None:
        """Closes the connections."""
        self._runner.run(self._opened.aclose())
        self._runner.close()

    async def _fetch(self, url: Url, start: int, length: int) -> Response:
        fields = (
            ("Range", f"bytes={start}-{start + length - 1}"),
            ("Accept-Encoding", "identity"),
            ("Cache-Control", "no-cache"),  # a proxy in between may have an older pointer
        )
        transport = await self._transport_for(SMALL_BYTES if start + length <= SMALL_BYTES else MAX_WHOLE_BYTES)
        capture = await transport.send(service_request(url, headers=fields))
        if isinstance(capture.result, Failure):
            kind = TooSlowError if capture.result.kind == "timeout" else RunError
            raise kind(f"cannot fetch {url}: {capture.result.detail}")
        return capture.result

    async def _transport_for(self, most_bytes: int) -> Transport:
        """Returns the transport that reads so many bytes of an answer."""
        if most_bytes not in self._transports:
            opening = service_transport([self._url], self._timeout_s, most_bytes - 1)
            self._transports[most_bytes] = await self._opened.enter_async_context(opening)
        return self._transports[most_bytes]

    def _onward(self, url: Url, answer: Response, path: str) -> str:
        """Returns where a redirect leads, and what to do: with the folder there, if the redirect is of the whole
        folder."""
        if not 300 <= answer.status < 400 or answer.location is None:
            return ""
        target = parse_url(urljoin(url.text, answer.location))
        if target is None:
            return f" and leads to {answer.location}, which is not a URL"
        parts = urlsplit(target.text)
        folder = parts._replace(path=parts.path.removesuffix(path), query="", fragment="").geturl()
        if not parts.path.endswith(f"/{path}"):
            return f" and leads to {answer.location}: give the URL of the folder itself"
        if folder == self._base:
            return " and leads to itself: redirects are not followed, so the server must serve this folder without one"
        return f" and leads to another place: give {folder}"


def _ends_before(answer: Response, start: int) -> bool:
    """Whether an answer with status 416 says that the file has no byte at `start`."""
    found = _BEYOND.fullmatch((answer.header("content-range") or "").strip())
    return found is not None and int(found[1]) <= start


def _part(url: Url, answer: Response, wanted: range) -> bytes:
    """Returns the part of an answer with status 206. Raises RunError if it is another one than requested. It may end
    earlier (RFC 9110 §15.3.7)."""
    named = (answer.header("content-range") or "").strip()
    found = _RANGE.fullmatch(named)
    fault = ""
    if found is None:
        fault = f"its Content-Range is {named!r}" if named else "it has no Content-Range"
    elif int(found[1]) != wanted.start:
        fault = f"it has bytes {found[1]}-{found[2]}"
    elif coding := answer.header("content-encoding"):
        fault = f"it is compressed ({coding})"
    elif answer.truncated == "length":
        fault = f"it has more than {len(answer.body):,} bytes"
    elif answer.truncated is None and len(answer.body) != int(found[2]) - wanted.start + 1:
        fault = f"it has {len(answer.body):,} bytes, and says that they are bytes {found[1]}-{found[2]}"
    if fault:
        raise RunError(
            f"{url} answers with another part than the one requested, bytes {wanted.start}-{wanted.stop - 1}: {fault}"
        )
    if answer.truncated is not None:
        raise RunError(f"the answer of {url} ends too early")
    return answer.body[: len(wanted)]


def _decoded(url: Url, answer: Response, wanted: int) -> Decoded:
    """Returns the body of an answer with status 200. Raises RunError if it is cut before `wanted` bytes."""
    decoded = decode_content(answer, MAX_WHOLE_BYTES)
    if decoded.error is not None or (not decoded.complete and len(decoded.body) < wanted):
        raise RunError(
            f"{url} is too large to be fetched whole, and the server does not answer range requests"
            if answer.truncated == "length"
            else f"the answer of {url} is incomplete: {decoded.error or 'it ends too early'}"
        )
    return decoded
