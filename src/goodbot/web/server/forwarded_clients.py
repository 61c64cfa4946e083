"""Finds out which client a reverse proxy sends requests for. Only proxies that the operator named are believed; anybody
else could name the address of another client."""

import logging
from collections.abc import Sequence
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from goodbot.exclusion.text.shown_text import shown
from goodbot.web.server.request_log import LOGGER

UNTRUSTED_PROXY: Final = "goodbot.untrusted_proxy"
"""The key of the scope that marks a request with X-Forwarded-For from a peer that is not trusted."""
_LOG: Final = logging.getLogger(LOGGER)


class ForwardedClients:
    """ASGI middleware: takes the client and the scheme of a request from X-Forwarded-For and X-Forwarded-Proto if it
    comes from one of `proxies` (addresses or networks). Logs a warning, once, if another peer sends these."""

    def __init__(self, app: ASGIApp, proxies: Sequence[str]) -> None:
        self._app = app
        self._believing = ProxyHeadersMiddleware(app, trusted_hosts=list(proxies))  # type: ignore[arg-type]  # two types of ASGI
        self._has_warned = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        peer = (scope.get("client") or ("",))[0]
        if peer in self._believing.trusted_hosts:
            await self._believing(scope, receive, send)  # type: ignore[arg-type]
            return
        if any(name == b"x-forwarded-for" for name, _ in scope["headers"]):
            scope = {**scope, UNTRUSTED_PROXY: True}
            self._warn(peer)
        await self._app(scope, receive, send)

    def _warn(self, peer: str) -> None:
        if self._has_warned:
            return
        self._has_warned = True
        _LOG.warning(
            "%s sends X-Forwarded-For, but is not a trusted proxy, so all its requests count as one client. If it is "
            "your proxy, add --trusted-proxy %s",
            shown(peer),
            shown(peer),
        )
