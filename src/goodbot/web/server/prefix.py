"""Serves an application under a path prefix, behind a reverse proxy."""

import logging
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from goodbot.web.server.request_log import LOGGER

_AT_THE_ROOT: Final = ("/robots.txt", "/favicon.ico", "/.well-known/")
"""A proxy may pass requests for these paths on from the root of the host."""
_LOG: Final = logging.getLogger(LOGGER)


class UnderPrefix:
    """ASGI middleware: removes `prefix` (such as `/find`) from the path of a request; a path without it stays as it is.

    `is_removed`: the proxy removes the prefix, so no path is changed here. If both removed it, `/find/find/metrics`
    would reach `/metrics`, and evade a rule of the proxy for `/find/metrics`. Logs a warning, once, if a proxy seems to
    remove the prefix although `is_removed` is False.
    """

    def __init__(self, app: ASGIApp, prefix: str, *, is_removed: bool = False) -> None:
        self._app = app
        self._prefix = "" if is_removed else prefix
        self._has_warned = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        if self._prefix and (path == self._prefix or path.startswith(f"{self._prefix}/")):
            scope = {**scope, "path": path[len(self._prefix) :] or "/"}
        elif self._prefix and not self._has_warned and _is_forwarded(scope):
            self._warn()
        await self._app(scope, receive, send)

    def _warn(self) -> None:
        self._has_warned = True
        _LOG.warning(
            "a proxy removes %s from the path of requests: set proxy_strips_prefix; until then, URLs that begin with "
            "%s%s/ evade the access rules of the proxy",
            *(self._prefix, self._prefix, self._prefix),
        )


def _is_forwarded(scope: Scope) -> bool:
    is_from_proxy = any(name == b"x-forwarded-for" for name, _ in scope.get("headers", ()))
    return is_from_proxy and not scope["path"].startswith(_AT_THE_ROOT)
