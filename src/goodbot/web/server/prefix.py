"""Serves an application under a path prefix, behind a reverse proxy."""

from starlette.types import ASGIApp, Receive, Scope, Send


class UnderPrefix:
    """ASGI middleware: removes `prefix` (such as `/find`) from the path of a request. A proxy may have removed it
    already."""

    def __init__(self, app: ASGIApp, prefix: str) -> None:
        self._app = app
        self._prefix = prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        if self._prefix and (path == self._prefix or path.startswith(f"{self._prefix}/")):
            scope = {**scope, "path": path[len(self._prefix) :] or "/"}
        await self._app(scope, receive, send)
