"""Fetches sitemaps that the user names, and those that they name."""

from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Final

from goodbot.announce.announce_values import MakeGet
from goodbot.announce.sources import Sitemap, sitemap_in_answer
from goodbot.errors import InputError, RunError
from goodbot.exclusion.text.shown_text import shown
from goodbot.ports import Clock, Transport
from goodbot.url import Url, is_private_address, is_private_host, resolve
from goodbot.values import Capture, Failure, Response

MAX_REDIRECTS: Final = 5
GAP_S: Final = 1.0
"""Seconds between two requests to a public host: standard crawler etiquette."""


class SitemapFetcher:
    """Fetches sitemaps one after another. `note` gets a line about each that was not read completely. `progress` is
    called with how many sitemaps of an index are read, and how many it names."""

    def __init__(
        self,
        transport: Transport,
        clock: Clock,
        make_get: MakeGet,
        note: Callable[[str], None],
        progress: Callable[[int, int], None],
    ) -> None:
        self._transport = transport
        self._clock = clock
        self._make_get = make_get
        self._note = note
        self._progress = progress
        self._is_first = True

    async def sitemaps(self, url: Url) -> AsyncIterator[tuple[Url, Sitemap]]:
        """Yields the sitemap at `url`, or those that a sitemap index there names. Raises InputError if there is no
        sitemap, RunError if one cannot be fetched."""
        sitemap = await self._fetch(url)
        if sitemap.kind != "sitemap index":
            yield url, sitemap
            self.note_unread(url.text, sitemap)
        else:
            async for found in self.named_by(url.text, sitemap, url):
                yield found

    async def named_by(self, name: str, index: Sitemap, source: Url | None) -> AsyncIterator[tuple[Url, Sitemap]]:
        """Yields the sitemaps that an index called `name` names. `source` is its URL; None: it is a file of the
        user's."""
        urls = [entry.url for entry in index.entries if may_name(source, entry.url)]
        for number, url in enumerate(urls, start=1):
            sitemap = await self._fetch(url)
            if sitemap.kind == "sitemap index":
                raise InputError(f"{shown(name)} names another sitemap index, {url}: the protocol allows one level")
            yield url, sitemap
            self.note_unread(url.text, sitemap)
            self._progress(number, len(urls))
        self.note_unread(name, index)

    def note_unread(self, name: str, sitemap: Sitemap) -> None:
        """Notes what was not read of a sitemap, if anything."""
        if sitemap.unread:
            self._note(f"only a part of {shown(name)} was read: {sitemap.unread}")

    async def _fetch(self, url: Url) -> Sitemap:
        answer = await self._answer(url)
        sitemap = sitemap_in_answer(url, answer)
        if sitemap is None:
            kind = shown(answer.media_type, 60) or "a document without type"
            raise InputError(f"{url} is not a sitemap ({kind})")
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


def _is_public(capture: Capture) -> bool:
    return capture.peer is not None and not is_private_address(capture.peer)


def may_name(source: Url | None, url: Url) -> bool:
    """Whether a sitemap may name a URL: one that came from a server must not name private addresses of other
    servers."""
    return source is None or not is_private_host(url.host) or url.host_key == source.host_key
