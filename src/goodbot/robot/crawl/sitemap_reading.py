"""Reads sitemaps and feeds in pieces. A full one has 50,000 URLs, which are never in memory together.

Each piece but the last goes to the frontier before the next is read. The last one goes with the outcome, so a list
counts as read when all its URLs are known. After a kill in between, the list is fetched again.
"""

import asyncio
from collections.abc import Iterable
from itertools import islice
from typing import Final

from goodbot.human import counted
from goodbot.page.document import page_of_list
from goodbot.page.extract import Extract
from goodbot.page.list_file import ListFile, may_list, open_listing
from goodbot.robot.crawl.following import Following, nofollow_reason, unread_note
from goodbot.robot.crawl.read_ahead import ReadPage, SendFound
from goodbot.robot.crawl.sitemap_links import list_refusal
from goodbot.values import Capture, Discovery, Event, FoundLinks, LeasedUrl, ListedUrl, Page, Response

SHORT_BODY_BYTES: Final = 1024 * 1024
"""A longer body is not opened before its turn, since a list of URLs, one per line, is read whole when it is opened."""


class SitemapReader:
    """Reads the sitemaps and feeds of one crawl. Long ones are read one at a time, so that only one is in memory; one
    with a single piece does not wait for them."""

    def __init__(self, following: Following, token: str, *, text: bool) -> None:
        self._following = following
        self._token = token
        self._text = text
        self._turn = asyncio.Lock()

    async def read(self, leased: LeasedUrl, capture: Capture, response: Response, find: SendFound) -> ReadPage | None:
        """Reads a list: returns its page, its last piece and its number of URLs; None if the response is no list. Other
        tasks run between two pieces."""
        if not may_list(leased.url, response):
            return None
        if len(response.body) <= SHORT_BODY_BYTES:
            file = self._open(leased, response)
            if file is None:
                return None
            pieces = list(islice(file.pieces(), 2))
            if len(pieces) < 2:
                return await self._read(leased, capture, response, find, file, pieces)
            del file, pieces  # free their memory while waiting
        async with self._turn:
            file = self._open(leased, response)
            if file is None:
                return None
            return await self._read(leased, capture, response, find, file, file.pieces())

    def _open(self, leased: LeasedUrl, response: Response) -> ListFile | None:
        return open_listing(leased.url, response, text=self._text)

    async def _read(
        self,
        leased: LeasedUrl,
        capture: Capture,
        response: Response,
        find: SendFound,
        file: ListFile,
        pieces: Iterable[tuple[ListedUrl, ...]],
    ) -> ReadPage:
        links = _ListLinks(self._following, leased, file, capture.fetched_at)
        head = page_of_list(leased.url, response, self._token, Extract(), ())
        if not head.directives.follow:
            links.refused = nofollow_reason(head)
        last = await self._send_all_but_last(pieces, links, find)
        page = page_of_list(leased.url, response, self._token, file.extract, last)
        return ReadPage(page, links.followed(page, last))

    @staticmethod
    async def _send_all_but_last(
        pieces: Iterable[tuple[ListedUrl, ...]], links: "_ListLinks", find: SendFound
    ) -> tuple[ListedUrl, ...]:
        """Sends all pieces but the last to `find`, and returns the last."""
        last: tuple[ListedUrl, ...] = ()
        for piece in pieces:
            if last and (found := links.found(last)):
                await find(FoundLinks(found, links.at))
            last = piece
            await asyncio.sleep(0)
        return last


class _ListLinks:
    """The links of one list. `refused`: why none of them is followed; None if they are."""

    def __init__(self, following: Following, leased: LeasedUrl, file: ListFile, at: float) -> None:
        self._following = following
        self._leased = leased
        self._kind = file.kind
        self.at = at
        self.refused = list_refusal(leased, file.kind)
        self._seen: set[int] = set()
        self._out_of_scope = 0

    def found(self, piece: tuple[ListedUrl, ...]) -> tuple[Discovery, ...]:
        """Returns the links of a piece that no earlier piece had. URLs are remembered as 64-bit hashes with a secret
        key of the process, so a site cannot choose two that collide."""
        if self.refused is not None:
            return ()
        new = []
        for discovery in self._following.listed(self._leased, self._kind, piece, self.at):
            key = hash(discovery.url.text)
            if key not in self._seen:
                self._seen.add(key)
                self._out_of_scope += discovery.refused is not None
                new.append(discovery)
        return tuple(new)

    def followed(self, page: Page, last: tuple[ListedUrl, ...]) -> tuple[tuple[Discovery, ...], Event]:
        """Returns the links of the last piece, and the event that describes the whole list."""
        found = self.found(last)
        if self.refused is not None:
            return (), Event(self.at, "follow", "no", self.refused)
        reason = (
            f"a list of {counted(len(self._seen), 'URL')}, {self._out_of_scope} of them out of scope{unread_note(page)}"
        )
        return found, Event(self.at, "follow", "yes", reason)
