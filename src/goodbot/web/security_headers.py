"""Adds security headers to every response, so that text from crawled pages can only be read, never run."""

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self' data:; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
SCRIPT_POLICY = f"{POLICY}; script-src 'self'; connect-src 'self'"
"""For pages with a script: it is loaded from this server, and may send requests to this server only."""

HEADERS = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "same-origin",  # so that the site of a search result does not learn the query
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",  # browsers store pages but revalidate them: an index grows, static files have an ETag
}


class SecurityHeaders:
    """ASGI middleware: adds each of `HEADERS` to a response that does not set it itself."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                fields = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    fields.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, send_with_headers)
