"""Reads slow documents in a thread, so that no other host waits for them."""

import asyncio
import logging
import time
from typing import Final

from goodbot.config import Settings
from goodbot.page import read_page
from goodbot.page.document import is_read_in_process
from goodbot.page.pdf import PROCESS_KILLED
from goodbot.robot.crawl.read_ahead import ReadPage
from goodbot.url import Url
from goodbot.values import Response

SLOW_S: Final = 5.0
"""A document that takes longer than this to read is logged as a warning."""

_LOG: Final = logging.getLogger(__name__)


class SlowDocuments:
    """Reads those documents of one crawl that need a process of their own."""

    def __init__(self, settings: Settings, token: str) -> None:
        self._settings = settings
        self._token = token
        self._room = asyncio.Semaphore(settings.documents_at_once)

    async def read(self, url: Url, response: Response) -> ReadPage | None:
        """Returns the page; None for a document that is not read in a process of its own."""
        if not is_read_in_process(url, response):
            return None
        limit, text, most = self._settings.decoded_limit, self._settings.index, self._settings.document_limit
        async with self._room:
            began = time.monotonic()
            page = await asyncio.to_thread(read_page, url, response, self._token, limit, text=text, document_bytes=most)
            took_s = time.monotonic() - began
        if took_s > SLOW_S:
            _LOG.warning("%s took %.1f s to read", url, took_s, extra={"url": url.text, "took_s": took_s})
        if page.unread.endswith(PROCESS_KILLED):
            _LOG.warning("the process that read %s was killed: %s", url, page.unread, extra={"url": url.text})
        return ReadPage(page)
