"""Answers a request before its body has arrived."""

import asyncio
from typing import Final

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

DISCARDED_BYTES: Final = 16 * 1024 * 1024
LINGER_S: Final = 1.0


class EarlyAnswer(Response):
    """Sends an answer at once; then the connection closes.

    A client that is still sending reads the answer only if the connection stays open meanwhile (RFC 9112 §9.6). So up
    to `DISCARDED_BYTES` of the body are read and discarded, until none arrive for `LINGER_S`.
    """

    def __init__(self, answer: Response) -> None:
        super().__init__(answer.body, answer.status_code)
        self.raw_headers = answer.raw_headers
        self.headers["Connection"] = "close"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        await send({"type": "http.response.body", "body": self.body, "more_body": True})
        await _discard(receive)
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _discard(receive: Receive) -> None:
    left = DISCARDED_BYTES
    while left > 0:
        try:
            message = await asyncio.wait_for(receive(), LINGER_S)
        except TimeoutError:
            return
        if not message.get("more_body", False):
            return
        left -= len(message.get("body", b""))
