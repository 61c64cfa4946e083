"""Reads sitemaps and feeds piece by piece: a full one names 50,000 URLs, which are never in memory together.

Each piece but the last goes to the frontier before the next is read; the last one goes with the outcome, so that a list
counts as read when all its URLs are known. After a kill in between the list is fetched once more.
"""

import asyncio
from collections.abc import Iterable
from itertools import islice
from typing import Final

from goodbot.human import counted
from goodbot.page.document import page_of_list
from goodbot.page.found import Extract
from goodbot.page.list_file import ListFile, may_list, open_listing
from goodbot.robot.crawl.following import Following, asks_not, unread
from goodbot.robot.crawl.read_ahead import ReadPage, SendFound
from goodbot.robot.crawl.sitemap_links import not_followed
from goodbot.values import Capture, Discovery, Event, FoundLinks, LeasedUrl, ListedUrl, Page, Response

SHORT_BYTES: Final = 1024 * 1024
"""A longer body is not looked into before its turn: a list of URLs, one a line, is read whole by then."""


class SitemapReader:
    """Reads the lists of one crawl. Long ones are read one at a time, so that only one is in memory; one that ends
    with its first piece waits for none of them."""

    def __init__(self, following: Following, token: str, *, text: bool) -> None:
        self._following = following
        self._token = token
        self._text = text
        self._turn = asyncio.Lock()

    async def read(self, leased: LeasedUrl, capture: Capture, response: Response, find: SendFound) -> ReadPage | None:
        """The page of a list, its last piece, and how much it names; None if the response is no list. Between two
        pieces other tasks go on."""
        if not may_list(leased.url, response):
            return None
        if len(response.body) <= SHORT_BYTES:
            file = self._open(leased, response)
            if file is None:
                return None
            pieces = list(islice(file.pieces(), 2))
            if len(pieces) < 2:
                return await self._read(leased, capture, response, find, file, pieces)
            del file, pieces  # what was read of it does not wait in memory
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
        told = _SentLinks(self._following, leased, file, capture.fetched_at)
        said = page_of_list(leased.url, response, self._token, Extract(), ())
        if not said.directives.follow:
            told.refused = asks_not(said)
        last = await self._through(pieces, told, find)
        page = page_of_list(leased.url, response, self._token, file.extract, last)
        return ReadPage(page, told.followed(page, last))

    @staticmethod
    async def _through(
        pieces: Iterable[tuple[ListedUrl, ...]], told: "_SentLinks", find: SendFound
    ) -> tuple[ListedUrl, ...]:
        """Tells `find` all pieces but the last, and gives the last."""
        last: tuple[ListedUrl, ...] = ()
        for piece in pieces:
            if last and (found := told.found(last)):
                await find(FoundLinks(found, told.at))
            last = piece
            await asyncio.sleep(0)
        return last


class _SentLinks:
    """What was told of one list. `refused`: why nothing is."""

    def __init__(self, following: Following, leased: LeasedUrl, file: ListFile, at: float) -> None:
        self._following = following
        self._leased = leased
        self._kind = file.kind
        self.at = at
        self.refused = not_followed(leased, file.kind)
        self._seen: set[int] = set()
        self._out_of_scope = 0

    def found(self, piece: tuple[ListedUrl, ...]) -> tuple[Discovery, ...]:
        """What the piece names, each URL once in the whole list. URLs are remembered as 64-bit hashes, keyed with a
        secret of the process, so that a site cannot choose them."""
        if self.refused is not None:
            return ()
        new = []
        for discovery in self._following.listed(self._leased, self._kind, piece, self.at):
            mark = hash(discovery.url.text)
            if mark not in self._seen:
                self._seen.add(mark)
                self._out_of_scope += discovery.refused is not None
                new.append(discovery)
        return tuple(new)

    def followed(self, page: Page, last: tuple[ListedUrl, ...]) -> tuple[tuple[Discovery, ...], Event]:
        """The last piece, and what to say of all."""
        found = self.found(last)
        if self.refused is not None:
            return (), Event(self.at, "follow", "no", self.refused)
        reason = f"a list of {counted(len(self._seen), 'URL')}, {self._out_of_scope} of them out of scope{unread(page)}"
        return found, Event(self.at, "follow", "yes", reason)
