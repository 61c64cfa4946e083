"""Logs every request, and the traceback of every exception that the application did not expect.

The query of a URL is never logged: it holds what visitors search for, and the token of a crawl.
"""

import logging
import time
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from goodbot.exclusion.text.shown_text import shown

LOGGER: Final = "goodbot.web"
PATH_CHARS: Final = 200

_LOG: Final = logging.getLogger(LOGGER)


class RequestLog:
    """ASGI middleware around a whole application: a debug line for each request, an error with traceback for each
    exception. The exception ends here, because the application sent a response with status 500 before it raised."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began_at, status = time.perf_counter(), 0

        async def send_and_note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        request = f"{scope['method']} {shown(scope['path'], PATH_CHARS)}"
        try:
            await self._app(scope, receive, send_and_note)
        except Exception:  # noqa: BLE001  (any: it is logged with its traceback, and answered already)
            _LOG.exception("%s failed with status %d", request, status)
        finally:
            _LOG.debug("%s: status %d after %.1f ms", request, status, 1000 * (time.perf_counter() - began_at))
