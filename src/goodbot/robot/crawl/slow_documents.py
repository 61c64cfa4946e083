"""Documents that take long to read: read beside the loop, so that no other host waits for them."""

import asyncio

from goodbot.config import Settings
from goodbot.page import read_page
from goodbot.page.document import is_read_apart
from goodbot.robot.crawl.read_ahead import ReadPage
from goodbot.url import Url
from goodbot.values import Response


class SlowDocuments:
    """Reads the documents of one crawl that are read in a process of their own."""

    def __init__(self, settings: Settings, token: str) -> None:
        self._settings = settings
        self._token = token
        self._room = asyncio.Semaphore(settings.documents_at_once)

    async def read(self, url: Url, response: Response) -> ReadPage | None:
        """The page; None if it takes no time worth waiting for."""
        if not is_read_apart(url, response):
            return None
        limit, text, most = self._settings.decoded_limit, self._settings.index, self._settings.document_limit
        async with self._room:
            page = await asyncio.to_thread(read_page, url, response, self._token, limit, text=text, document_bytes=most)
        return ReadPage(page)
