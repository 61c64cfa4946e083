"""Documents that take long to read: read beside the loop, so that no other host waits for them."""

import asyncio
from typing import Final

from goodbot.config import Settings
from goodbot.page import read_page
from goodbot.page.document import is_read_apart
from goodbot.values import Capture, Page, Response

AT_ONCE: Final = 2
"""Documents of one crawl read at once: each is a process that may keep a core busy for six seconds."""


class Documents:
    """Reads the documents of one crawl that are read in a process of their own; `AT_ONCE` at a time."""

    def __init__(self, settings: Settings, token: str) -> None:
        self._settings = settings
        self._token = token
        self._room = asyncio.Semaphore(AT_ONCE)

    async def read(self, capture: Capture) -> Page | None:
        """The page; None if it takes no time worth waiting for, or is none."""
        url, response = capture.request.url, capture.result
        if not isinstance(response, Response) or not 200 <= response.status < 300 or not is_read_apart(url, response):
            return None
        limit, text, most = self._settings.decoded_limit, self._settings.index, self._settings.document_limit
        async with self._room:
            return await asyncio.to_thread(read_page, url, response, self._token, limit, text=text, document_bytes=most)
