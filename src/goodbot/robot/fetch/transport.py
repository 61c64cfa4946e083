"""Fetches with libcurl, sends requests as given and returns bodies unchanged. No other module opens connections."""

import logging
import resource
from functools import lru_cache
from typing import Final

import pycurl  # type: ignore[import-untyped]  # ships no types

from goodbot.config import Settings
from goodbot.ports import Clock, Resolver
from goodbot.robot.fetch.authorities import check_authorities
from goodbot.robot.fetch.body_budget import BodyBudget
from goodbot.robot.fetch.cookies import Cookies
from goodbot.robot.fetch.credentials import Credentials
from goodbot.robot.fetch.field_lines import FieldLines, make_fields, merge_fields
from goodbot.robot.fetch.guard import AddressGuard, no_contact
from goodbot.robot.fetch.pinned_addresses import check_proxy, pins_of
from goodbot.robot.fetch.signing import Signer
from goodbot.robot.fetch.standing import Standing
from goodbot.robot.fetch.transfer import Transfer
from goodbot.url import Url, is_private_address, reached_address
from goodbot.values import Capture, Failure, Headers, Request, Response

_LOG: Final = logging.getLogger(__name__)

ACCEPT_ENCODING = "gzip, deflate, br, zstd"
"""The content codings that `page` can decode."""

_HTTP1_FOR_S = 120.0
"""How long an origin whose HTTP/2 failed gets HTTP/1.1. libcurl reuses no connection that was idle for 118 s."""
_MAX_HTTP1_ORIGINS = 1_000
"""Origins for which that is remembered."""

MAX_KEPT = 1_024
"""Connections that a crawl keeps: one over TLS takes some 40 kB."""


class CurlTransport:
    """Sends requests through one libcurl multi handle, which reuses connections and uses HTTP/2 over TLS.

    `user_agent` is sent whole as given, `from_` as `From` (RFC 9110 §10.1.2); `signer` signs every request. Cookies and
    credentials are sent only if the settings say so. Redirects are not followed, and no proxy but `settings.proxy` is
    used: the environment is ignored. `resolver` resolves names, `guard` permits some of the addresses, and libcurl
    connects to no others, even if the name changes meanwhile. The resolver is closed with the transport. With
    `bodies`, long answers are paused while many are in memory. While `standing` does not hold, no request is sent: this
    is checked once more when the connection has been made.

    With a proxy, libcurl connects only to the proxy, which is permitted because the user named it. `guard` then judges
    only hosts that are written as addresses, and `localhost`. The proxy resolves other names and must guard them;
    `peer` is the proxy. If `guard` refuses public addresses, names are resolved here too, and must be private.

    Raises InputError for settings that cannot be used, ValueError for a robot name that cannot be sent.
    62 µs of CPU for a small page over loopback, 64 in flight; libcurl under asyncio alone takes 45, and a request head
    taken from libcurl's trace instead of built here would cost 8 more.
    """

    def __init__(
        self,
        settings: Settings,
        guard: AddressGuard,
        user_agent: str,
        from_: str | None,
        clock: Clock,
        signer: Signer | None = None,
        *,
        resolver: Resolver,
        bodies: BodyBudget | None = None,
        kept_most: int = MAX_KEPT,
        standing: Standing | None = None,
    ) -> None:
        check_authorities(settings.ca_file)
        check_proxy(settings.proxy)
        self._bodies = bodies or BodyBudget(None)
        self._signer = signer
        self._standing = standing or Standing()
        self._settings = settings
        self._guard = guard
        self._clock = clock
        self._resolver = resolver
        self._pins = pins_of(settings.resolve)
        self._credentials = Credentials(settings.auth)
        self._cookies = Cookies() if settings.cookies else None
        self._user_agent = user_agent
        own = [("User-Agent", user_agent), ("Accept", "*/*"), ("Accept-Encoding", ACCEPT_ENCODING)]
        self._own: Headers = (*own, ("From", from_)) if from_ else tuple(own)
        self._fields = make_fields(self._own)
        self._multi = pycurl.AsyncCurlMulti()
        self._multi.setopt(pycurl.M_MAXCONNECTS, kept_connections(settings.concurrency, _files_most(), kept_most))
        self._idle: list[Transfer] = []
        self._http2_broken: dict[str, float] = {}

    async def send(self, request: Request) -> Capture:
        """Sends a request and returns its capture. A body is cut at `settings.answer_limit` bytes
        (`truncated="length"`); one that ends too early is kept (`"disconnect"`). The settings limit the time; a timeout
        within a body is a failure too.

        Raises ValueError for a header field that cannot be sent, CancelledError if the transport is closed meanwhile.
        """
        capture = None
        while capture is None:
            await self._standing.wait()
            capture = await self._send(request)
        return capture

    async def _send(self, request: Request) -> Capture | None:
        """Sends a request once; returns None if it was held back."""
        began_at = self._clock.now()
        addresses = await self._addresses(request)
        fetched_at = self._clock.now()
        if isinstance(addresses, Failure):
            return _logged(Capture(request, addresses, began_at, fetched_at - began_at))
        fields = self._fields_for(request, fetched_at)
        transfer = (
            self._idle.pop()
            if self._idle
            else Transfer(self._settings, self._guard, self._user_agent, self._bodies, self._standing)
        )
        try:
            plain = self._avoids_http2(request.url, fetched_at)
            transfer.prepare(request, fields, addresses, plain=plain)
            error = await self._perform(transfer.curl)
            result = transfer.result(error)
            transfer.ends()
        except BaseException:  # cancelled: the connection is within an answer
            transfer.ends()
            transfer.curl.close()
            raise
        elapsed_s = self._clock.now() - fetched_at
        if transfer.broke_http2:
            self._avoid_http2(request.url, fetched_at + elapsed_s)
        elif plain and isinstance(result, Failure):
            self._http2_broken.pop(request.url.origin, None)
        peer, head = transfer.peer, transfer.head_sent()
        if len(self._idle) < self._settings.concurrency:
            self._idle.append(transfer)
        else:
            transfer.curl.close()
        if transfer.held_back:
            return None
        if self._cookies is not None and isinstance(result, Response):
            self._cookies.learn(request.url, result.headers, self._clock.now())
        return _logged(Capture(request, result, fetched_at, elapsed_s, peer, head))

    async def close(self) -> None:
        """Closes every connection; requests in flight are cancelled. May be called again."""
        await self._resolver.close()
        await self._multi.aclose()
        while self._idle:
            self._idle.pop().curl.close()

    def _avoids_http2(self, url: Url, now: float) -> bool:
        if not self._http2_broken:
            return False
        return now < self._http2_broken.get(url.origin, 0.0)

    def _avoid_http2(self, url: Url, now: float) -> None:
        """libcurl keeps an HTTP/2 connection after a failed stream, and the next stream on it may fail as well (the
        table of header fields is shared)."""
        while len(self._http2_broken) >= _MAX_HTTP1_ORIGINS:
            del self._http2_broken[next(iter(self._http2_broken))]
        self._http2_broken[url.origin] = now + _HTTP1_FOR_S

    def _fields_for(self, request: Request, now: float) -> FieldLines:
        """Builds the fields of a request; those that the request has replace our defaults."""
        url, given = request.url, request.headers
        if self._cookies is not None and (cookies := self._cookies.value(url, now)):
            given = (("Cookie", cookies), *given)
        if authorization := self._credentials.value(url):
            given = (("Authorization", authorization), *given)
        if request.method == "POST":
            given = (*given, ("Content-Length", str(len(request.body))))
        if self._signer is not None:
            given = (*given, *self._signer.fields(url, request.method))
        return make_fields(merge_fields(self._own, given)) if given else self._fields

    async def _addresses(self, request: Request) -> tuple[str, ...] | Failure:
        """Returns the addresses that may be connected to, at least one; empty if the proxy resolves the name."""
        host = request.url.host
        if self._settings.proxy:
            named = "127.0.0.1" if _is_localhost(host) else host
            if not _is_address(named):
                return () if self._guard.public else await self._only_private(request.url)
            is_permitted = self._guard.permits(named, request.public_only)
            return () if is_permitted else self._guard.failure(named, named, request.public_only)
        found = (host,) if _is_address(host) else await self._lookup(request.url)
        if isinstance(found, Failure):
            return found
        if permitted := self._guard.permitted(found, request.public_only):
            return permitted
        return self._guard.failure(host, found[0], request.public_only)

    async def _only_private(self, url: Url) -> tuple[str, ...] | Failure:
        """Leaves a name to the proxy if it resolves here to private addresses only. Otherwise it may be public, and the
        result is the failure `no-contact`."""
        found = await self._lookup(url)
        if isinstance(found, Failure):
            return Failure("no-contact", no_contact(url.host, is_known=False))
        if not all(map(is_private_address, found)):
            return Failure("no-contact", no_contact(url.host))
        return ()

    async def _lookup(self, url: Url) -> tuple[str, ...] | Failure:
        if self._pins:
            pin = self._pins.get((url.host, url.port)) or self._pins.get(("*", url.port))
            if pin:
                return (pin,)
        return await self._resolver.resolve(url.host)

    async def _perform(self, curl: pycurl.Curl) -> tuple[int, str] | None:
        """Runs a transfer; returns libcurl's error code and message, or None."""
        try:
            await self._multi.add_handle(curl)
        except pycurl.error as error:
            code, message = error.args
            return code, message
        return None


def kept_connections(concurrency: int, files_most: int, kept_most: int = MAX_KEPT) -> int:
    """Returns how many connections are kept open, of which up to `concurrency` are in use. More are kept, so that a
    host finds its own again after many others had their turn: at most a quarter of the files the process may open, and
    never fewer than libcurl needs to keep those in use."""
    return max(2 * concurrency, min(files_most // 4, kept_most))


def _logged(capture: Capture) -> Capture:
    """Logs one line per fetch for debugging."""
    if _LOG.isEnabledFor(logging.DEBUG):
        request, result = capture.request, capture.result
        outcome = f"{result.status}, {len(result.body):,} bytes" if isinstance(result, Response) else result.detail
        status = result.status if isinstance(result, Response) else None
        fields = {"url": request.url.text, "status": status, "elapsed_s": round(capture.elapsed_s, 3)}
        _LOG.debug("%s %s: %s (%.3f s)", request.method, request.url, outcome, capture.elapsed_s, extra=fields)
    return capture


def _files_most() -> int:
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 4 * MAX_KEPT if limit == resource.RLIM_INFINITY else limit


def _is_localhost(host: str) -> bool:
    """Returns whether it is `localhost` (RFC 6761 §6.3); `localhost.` is the same name."""
    return f".{host}".removesuffix(".").endswith(".localhost")


@lru_cache(maxsize=1024)
def _is_address(host: str) -> bool:
    return reached_address(host) is not None
