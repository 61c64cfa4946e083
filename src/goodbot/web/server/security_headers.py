"""Adds security headers to every response, so that text from crawled pages can only be read, never run."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY: Final = (
    "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self' data:; "
    "frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""Scripts come from this server only, and may send requests to this server only. No script or style is inline."""

UNUSED_FEATURES: Final = (
    "accelerometer", "camera", "display-capture", "geolocation", "gyroscope", "magnetometer", "microphone", "midi",
    "payment", "usb",
)  # fmt: skip
"""What browsers offer to pages and no page here uses."""

HEADERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "Content-Security-Policy": POLICY,
        "Referrer-Policy": "same-origin",  # so that the site of a search result does not learn the query
        "X-Content-Type-Options": "nosniff",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Permissions-Policy": ", ".join(f"{feature}=()" for feature in UNUSED_FEATURES),
        "Cache-Control": "no-cache",  # browsers store pages but revalidate them: an index grows
    }
)
"""X-Frame-Options is left out: every browser that runs these pages reads `frame-ancestors`."""
ONLY_HTTPS: Final[Mapping[str, str]] = MappingProxyType({"Strict-Transport-Security": "max-age=31536000"})
"""For sites on https. It says nothing about subdomains, which may be of others."""


def security_headers(*, is_secure: bool) -> Mapping[str, str]:
    """Returns the headers of every response of a site; `is_secure`: visitors use https."""
    return {**HEADERS, **ONLY_HTTPS} if is_secure else HEADERS


class SecurityHeaders:
    """ASGI middleware: adds each of `headers` to a response that does not set it itself."""

    def __init__(self, app: ASGIApp, headers: Mapping[str, str]) -> None:
        self._app = app
        self._headers = headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                fields = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    fields.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, send_with_headers)
