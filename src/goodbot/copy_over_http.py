"""Reads copies of an index from a Web server that serves their folder."""

import asyncio
import re
from contextlib import AsyncExitStack
from typing import Final

from goodbot.errors import RunError
from goodbot.one_shot import service_request, service_transport
from goodbot.page.coding import decode_content
from goodbot.ports import Transport
from goodbot.url import Url, parse_url
from goodbot.values import Failure, Response

TIMEOUT_S: Final = 120.0
"""The time limit of one request, which is for 4 MiB at most."""

_RANGE: Final = re.compile(r"bytes (\d{1,18})-\d{1,18}/(?:\d{1,18}|\*)", re.ASCII)


class HttpSource:
    """Implements `CopySource` at the URL of a folder. A file is fetched in parts by range requests (RFC 9110 §14); a
    server without these can serve files of up to 10 MB. Redirects are not followed. One thread may use it."""

    def __init__(self, url: Url) -> None:
        self._base = url.text.partition("#")[0].rstrip("/") + "/"
        self._url = url
        self._runner = asyncio.Runner()
        self._opened = AsyncExitStack()
        self._transport: Transport | None = None

    @property
    def name(self) -> str:
        """The URL of the folder."""
        return self._base

    def read(self, path: str, start: int, length: int) -> bytes | None:
        """Fetches a part of a file."""
        if not length:
            return b""
        url = parse_url(self._base + path)
        if url is None:
            raise RunError(f"not a URL: {self._base}{path}")
        answer = self._runner.run(self._fetch(url, start, length))
        if answer.status in (404, 410):
            return None
        if answer.status not in (200, 206):
            onward = f" and leads to {answer.location}: give that URL" if 300 <= answer.status < 400 else ""
            raise RunError(f"{url} answers with status {answer.status}{onward}")
        return _part(url, answer, start, length)

    def close(self) -> None:
        """Closes the connections."""
        self._runner.run(self._opened.aclose())
        self._runner.close()

    async def _fetch(self, url: Url, start: int, length: int) -> Response:
        if self._transport is None:
            self._transport = await self._opened.enter_async_context(service_transport([self._url], TIMEOUT_S))
        fields = (
            ("Range", f"bytes={start}-{start + length - 1}"),
            ("Accept-Encoding", "identity"),
            ("Cache-Control", "no-cache"),  # a proxy in between may have an older pointer
        )
        capture = await self._transport.send(service_request(url, headers=fields))
        if isinstance(capture.result, Failure):
            raise RunError(f"cannot fetch {url}: {capture.result.detail}")
        return capture.result


def _part(url: Url, answer: Response, start: int, length: int) -> bytes:
    """Returns the requested part of an answer. Raises RunError if it has another one."""
    if answer.status == 206:
        found = _RANGE.fullmatch((answer.header("content-range") or "").strip())
        if found is None or int(found[1]) != start or answer.header("content-encoding"):
            raise RunError(f"{url} answers with another part than the one requested")
        if answer.truncated is not None:
            raise RunError(f"the answer of {url} ends too early")
        return answer.body[:length]
    decoded = decode_content(answer, start + length)
    if decoded.error is not None or (not decoded.complete and len(decoded.body) < start + length):
        raise RunError(
            f"{url} is too large to be fetched whole, and the server does not answer range requests"
            if answer.truncated == "length"
            else f"the answer of {url} is incomplete: {decoded.error or 'it ends too early'}"
        )
    return decoded.body[start : start + length]
