"""Fetches sitemaps that the user names, and those that they name."""

from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Final

from goodbot.announce.announce_values import GAP_S, MakeGet, Unread
from goodbot.announce.sitemap_reading import Sitemap, sitemap_in_answer
from goodbot.errors import InputError, RunError
from goodbot.exclusion.text.shown_text import shown
from goodbot.human import counted
from goodbot.page import decode_content
from goodbot.page.html import looks_like_html
from goodbot.ports import Clock, Transport
from goodbot.url import Url, is_private_address, is_private_host, resolve
from goodbot.values import REDIRECTS, Capture, Failure, Response

MAX_REDIRECTS: Final = 5
BEGINNING_BYTES: Final = 10_000
"""How much of a document is read to say what it is, if it is not a sitemap."""


MOST_FAILED: Final = 10
"""So many sitemaps of an index that cannot be read one after another end the reading of the index: each may take a
minute, and an index names up to 50,000."""

Finished = Callable[[str, Sitemap], None]
"""Called with the name of each sitemap, and of an index, after its last entry."""


class SitemapFetcher:
    """Fetches sitemaps one after another. Entries that a server must not name are left out (`may_name`). `unread` is
    called for each sitemap of an index that cannot be read, `progress` with how many sitemaps of an index are done, and
    how many it names."""

    def __init__(
        self,
        transport: Transport,
        clock: Clock,
        make_get: MakeGet,
        finished: Finished,
        unread: Callable[[Unread], None],
        progress: Callable[[int, int], None],
    ) -> None:
        self._transport = transport
        self._clock = clock
        self._make_get = make_get
        self._finished = finished
        self._unread = unread
        self._progress = progress
        self._is_first = True

    async def sitemaps(self, url: Url) -> AsyncIterator[Sitemap]:
        """Yields the sitemap at `url`, or those that a sitemap index there names. Raises InputError if there is no
        sitemap at `url`, RunError if it cannot be fetched."""
        sitemap = await self._fetch(url)
        if sitemap.kind != "sitemap index":
            yield sitemap
            self._finished(url.text, sitemap)
        else:
            async for found in self.named_by(url.text, sitemap):
                yield found

    async def named_by(self, name: str, index: Sitemap) -> AsyncIterator[Sitemap]:
        """Yields the sitemaps that an index called `name` names, but those that cannot be read."""
        urls = [entry.url for entry in index.entries]
        self._finished(name, index)
        failed = 0
        for number, url in enumerate(urls, start=1):
            sitemap = await self._fetch_named(url)
            if sitemap is not None:
                yield sitemap
                self._finished(url.text, sitemap)
            failed = failed + 1 if sitemap is None else 0
            self._progress(number, len(urls))
            if failed == MOST_FAILED and number < len(urls):
                left = counted(len(urls) - number, "more sitemap")
                why = f"{left} named by {shown(name)}, since the last {failed} could not be read"
                self._unread(Unread(name, why))
                return

    async def _fetch_named(self, url: Url) -> Sitemap | None:
        """Fetches a sitemap that an index names; None if it cannot be read."""
        try:
            sitemap = await self._fetch(url)
        except (InputError, RunError) as error:
            self._unread(Unread(url.text, str(error)))
            return None
        if sitemap.kind != "sitemap index":
            return sitemap
        self._unread(Unread(url.text, f"{url} is another sitemap index: the protocol allows one level"))
        return None

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
            is_redirect = answer.status in REDIRECTS and answer.location
            target = resolve(request.url, answer.location or "") if is_redirect else None
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
