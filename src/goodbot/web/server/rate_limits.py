"""Limits how many requests one client may send."""

import ipaddress
import math
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from goodbot.web.server.forwarded_clients import UNTRUSTED_PROXY
from goodbot.web.site import Rate

MAX_CLIENTS: Final = 20_000
"""The limit for clients that are remembered, 200 bytes each. The one that was seen least recently is forgotten."""
IPV6_NETWORK_BITS: Final = 64
"""A customer of an Internet provider usually has this much of an address, so its network counts as one client."""

Refuse = Callable[[Request, int], Response]
"""Makes the response to a request that came too soon, and may be sent again after so many seconds."""


class RateLimit:
    """Counts the requests of each client by the generic cell rate algorithm, with one number per client."""

    def __init__(self, rate: Rate, now: Callable[[], float] = time.monotonic) -> None:
        self._interval_s = 60.0 / rate.per_minute if rate.per_minute else 0.0
        self._tolerance_s = self._interval_s * (rate.burst - 1)
        self._now = now
        self._due: OrderedDict[str, float] = OrderedDict()

    def waiting_s(self, client: str) -> float:
        """Returns after how many seconds the client may send a request, without counting one."""
        early_s = self._due.get(client, 0.0) - self._now() - self._tolerance_s
        return early_s if early_s > 1e-9 else 0.0

    def wait_s(self, client: str) -> float:
        """Counts a request and returns 0, or returns after how many seconds the client may send it again."""
        if not self._interval_s:
            return 0.0
        now = self._now()
        due = max(self._due.get(client, now), now)
        if due - now > self._tolerance_s + 1e-9:
            return due - now - self._tolerance_s
        self._due[client] = due + self._interval_s
        self._due.move_to_end(client)
        while len(self._due) > MAX_CLIENTS:
            self._due.popitem(last=False)
        return 0.0


def client_of(host: str) -> str:
    """Returns the client that an address belongs to: itself, or its network if it is an IPv6 address."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host[:100]
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped)
        if not address.is_loopback:
            return str(ipaddress.ip_network((address, IPV6_NETWORK_BITS), strict=False))
    return str(address)


def _is_this_machine(client: str) -> bool:
    try:
        return ipaddress.ip_address(client).is_loopback
    except ValueError:
        return False


class RateLimits:
    """ASGI middleware: refuses requests that come too soon.

    Requests that change something, as pairs of method and path in `changes`, have a limit of their own. Paths in `free`
    have none. The pages have no limit for clients on this machine, which have easier ways to harm it, except for a
    proxy that is not trusted: its visitors are limited together.
    """

    def __init__(
        self,
        app: ASGIApp,
        pages: RateLimit,
        posts: RateLimit,
        refuse: Refuse,
        changes: frozenset[tuple[str, str]],
        free: frozenset[str] = frozenset(),
        on_refusal: Callable[[], None] = lambda: None,
    ) -> None:
        self._app = app
        self._pages = pages
        self._posts = posts
        self._refuse = refuse
        self._changes = changes
        self._free = free
        self._on_refusal = on_refusal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        wait_s = self._wait_s(scope) if scope["type"] == "http" else 0.0
        if not wait_s:
            await self._app(scope, receive, send)
            return
        self._on_refusal()
        seconds = max(1, math.ceil(wait_s))
        response = self._refuse(Request(scope, receive), seconds)
        response.headers["Retry-After"] = str(seconds)
        await response(scope, receive, send)

    def _wait_s(self, scope: Scope) -> float:
        path, client = scope["path"], client_of((scope.get("client") or ("",))[0])
        if (scope["method"], path) in self._changes:
            return self._posts.wait_s(client)
        if path in self._free or path.startswith("/static/"):
            return 0.0
        if _is_this_machine(client) and not scope.get(UNTRUSTED_PROXY):
            return 0.0
        return self._pages.wait_s(client)
