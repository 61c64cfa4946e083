"""Fetches sitemaps that the user names, and those that they name."""

from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Final

from goodbot.announce.announce_values import GAP_S, MakeGet
from goodbot.announce.sitemap_reading import Sitemap, sitemap_in_answer
from goodbot.errors import InputError, RunError
from goodbot.exclusion.text.shown_text import shown
from goodbot.page import decode_content
from goodbot.page.html import looks_like_html
from goodbot.ports import Clock, Transport
from goodbot.url import Url, is_private_address, is_private_host, resolve
from goodbot.values import Capture, Failure, Response

MAX_REDIRECTS: Final = 5
BEGINNING_BYTES: Final = 10_000
"""How much of a document is read to say what it is, if it is not a sitemap."""


Finished = Callable[[str, Sitemap], None]
"""Called with the name of each sitemap, and of an index, after its last entry."""


class SitemapFetcher:
    """Fetches sitemaps one after another. Entries that a server must not name are left out (`may_name`). `progress` is
    called with how many sitemaps of an index are read, and how many it names."""

    def __init__(
        self,
        transport: Transport,
        clock: Clock,
        make_get: MakeGet,
        finished: Finished,
        progress: Callable[[int, int], None],
    ) -> None:
        self._transport = transport
        self._clock = clock
        self._make_get = make_get
        self._finished = finished
        self._progress = progress
        self._is_first = True

    async def sitemaps(self, url: Url) -> AsyncIterator[Sitemap]:
        """Yields the sitemap at `url`, or those that a sitemap index there names. Raises InputError if there is no
        sitemap, RunError if one cannot be fetched."""
        sitemap = await self._fetch(url)
        if sitemap.kind != "sitemap index":
            yield sitemap
            self._finished(url.text, sitemap)
        else:
            async for found in self.named_by(url.text, sitemap):
                yield found

    async def named_by(self, name: str, index: Sitemap) -> AsyncIterator[Sitemap]:
        """Yields the sitemaps that an index called `name` names."""
        urls = [entry.url for entry in index.entries]
        self._finished(name, index)
        for number, url in enumerate(urls, start=1):
            sitemap = await self._fetch(url)
            if sitemap.kind == "sitemap index":
                raise InputError(f"{shown(name)} names another sitemap index, {url}: the protocol allows one level")
            yield sitemap
            self._finished(url.text, sitemap)
            self._progress(number, len(urls))

    async def _fetch(self, url: Url) -> Sitemap:
        answer = await self._answer(url)
        sitemap = sitemap_in_answer(url, answer)
        if sitemap is None:
            raise InputError(f"{url} is not a sitemap{_kind(answer)}")
        sitemap.allow_only(lambda named: may_name(url, named))
        return sitemap

    async def _answer(self, url: Url) -> Response:
        request = self._make_get(url)
        for _ in range(MAX_REDIRECTS + 1):
            if not self._is_first and not is_private_host(request.url.host):
                await self._clock.sleep(GAP_S)
            self._is_first = False
            capture = await self._transport.send(request)
            answer = capture.result
            if isinstance(answer, Failure):
                raise RunError(f"cannot fetch the sitemap {request.url}: {answer.detail}")
            target = resolve(request.url, answer.location) if 300 <= answer.status < 400 and answer.location else None
            if target is None:
                if answer.status != 200:
                    raise RunError(f"the sitemap {request.url} answers with status {answer.status}")
                return answer
            request = replace(self._make_get(target), public_only=request.public_only or _is_public(capture))
        raise RunError(f"the sitemap {url} redirects too often")


def _kind(answer: Response) -> str:
    if looks_like_html(decode_content(answer, BEGINNING_BYTES).body):
        return ": it is an HTML page"
    return f" ({shown(answer.media_type, 60) or 'a document without type'})"


def _is_public(capture: Capture) -> bool:
    return capture.peer is not None and not is_private_address(capture.peer)


def may_name(source: Url, url: Url) -> bool:
    """Whether the sitemap at `source` may name a URL: it must not name private addresses of other servers."""
    return not is_private_host(url.host) or url.host_key == source.host_key
