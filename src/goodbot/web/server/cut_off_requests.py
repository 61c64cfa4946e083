"""Answers requests that are cut off because the server stops."""

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from goodbot.web.server.last_answers import stopping_answer


class CutOffRequests:
    """ASGI middleware: answers 503 when a request is cancelled. uvicorn cancels those that are still open when its time
    for a graceful stop is over. A response that has begun stays incomplete."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        has_begun = False

        async def send_and_note(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await self._app(scope, receive, send_and_note)
        except asyncio.CancelledError:
            if not has_begun:
                await stopping_answer()(scope, receive, send)
