"""Refuses requests for other hosts on servers that only this machine reaches."""

from collections.abc import Sequence

from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from goodbot.web.server.security_headers import HEADERS, SecurityHeaders


def for_hosts(app: ASGIApp, names: Sequence[str]) -> ASGIApp:
    """Refuses requests whose Host is not one of `names`; a dot may follow the name, for the root of all domains. The
    refusal has security headers; other responses stay as they are. A request without Host is answered: only programs
    that speak HTTP/1.0 send one, never a browser."""
    allowed = [*names, *(f"{name}." for name in names)]

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        async def answer(scope: Scope, receive: Receive, _: Send) -> None:
            await app(scope, receive, send)

        if scope["type"] == "http" and not any(name == b"host" for name, _ in scope["headers"]):
            await app(scope, receive, send)
            return
        checked = TrustedHostMiddleware(answer, allowed_hosts=allowed, www_redirect=False)
        await SecurityHeaders(checked, HEADERS)(scope, receive, send)

    return guarded
