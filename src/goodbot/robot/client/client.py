"""Fetches single URLs for a program, with the permissions and delays of the robot. Any number of tasks may fetch at
once.

The ports are given to it; `goodbot.Robot` supplies them.
"""

import asyncio
import logging
import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from goodbot.config import Settings
from goodbot.errors import InputError, RunError
from goodbot.exclusion import Access, Verdict
from goodbot.exclusion.access.bot_walls import Wall
from goodbot.ports import Clock, RobotsStore, Transport
from goodbot.robot.client.answer import Answer
from goodbot.robot.manners.pace import Pace
from goodbot.robot.manners.permission import Permission, Permit
from goodbot.robot.manners.politeness import is_private_peer
from goodbot.robot.manners.redirects import MAX_REDIRECTS, redirect_target
from goodbot.robot.manners.walled_answers import wall_of_answer
from goodbot.url import Url, parse_url
from goodbot.values import Capture, Failure, Headers, Method, Request, Response

MAX_HOST_WAIT_S: Final = 600.0
"""The default of `patience_s`: the robot does not wait for a host with a longer delay."""
MAX_RECHECKS: Final = 3
"""How often a verdict that became stale while its request waited is renewed."""
MAX_FAILURES: Final = 10_000

_OWN_FIELDS = """
    user-agent from host connection content-length transfer-encoding te trailer upgrade expect keep-alive
    proxy-connection proxy-authorization signature signature-input signature-agent
"""
OWN_FIELDS: Final = frozenset(_OWN_FIELDS.split())
"""Header fields that identify the robot or control the connection: programs may not set them."""
_TOKEN: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_ORIGIN_FIELDS: Final = frozenset({"authorization", "cookie"})
_URL_FIELDS: Final = frozenset(
    ["if-none-match", "if-modified-since", "if-match", "if-unmodified-since", "if-range", "range"]
)

_LOG: Final = logging.getLogger(__name__)

GivenFields = Mapping[str, str] | Iterable[tuple[str, str]]
"""Header fields as programs give them: a mapping, or pairs of name and value."""


class Client:
    """Fetches no URL without a verdict, and none before the delay of its host has passed.

    `connect` makes a transport for one event loop. `admit` is called with each URL that a program gives: it raises
    InputError for a URL that may not be requested, and allows the private address range of the URL if the settings
    permit that. `patience_s`: the client does not wait for a host with a longer delay; the answer then has
    `held_until`.
    """

    def __init__(
        self,
        settings: Settings,
        token: str,
        *,
        connect: Callable[[], Transport],
        admit: Callable[[Url], Awaitable[None]],
        store: Callable[[], RobotsStore],
        clock: Clock,
        patience_s: float = MAX_HOST_WAIT_S,
    ) -> None:
        self._settings = settings
        self._token = token
        self._connect = connect
        self._admit = admit
        self._stores = store(), store()
        self._clock = clock
        self._patience_s = patience_s
        self._pace = Pace(settings, clock)
        self._connections: _Connections | None = None
        self._closed = False

    async def get(
        self,
        url: str | Url,
        *,
        headers: GivenFields = (),
        redirects: int = MAX_REDIRECTS,
        public_only: bool = False,
        timeout_s: float | None = None,
    ) -> Answer:
        """Fetches `url` and follows at most `redirects` redirects (0: returns the redirect itself).

        Waits until the host may be requested. Each redirect target gets a verdict and a turn of its own. Redirects from
        a public host to a private address are refused; with `public_only`, private addresses are refused for `url` too.
        `timeout_s` limits the time of each answer, without the wait before it. Raises InputError if `url` is not an
        HTTP URL, and for `headers` that identify the robot.
        """
        planned = _PlannedRequest("GET", parsed(url), checked_headers(headers), public_only, timeout_s)
        return await self._follow(planned, redirects)

    async def head(
        self,
        url: str | Url,
        *,
        headers: GivenFields = (),
        redirects: int = MAX_REDIRECTS,
        public_only: bool = False,
        timeout_s: float | None = None,
    ) -> Answer:
        """As `get`, without the body (RFC 9110 §9.3.2)."""
        planned = _PlannedRequest("HEAD", parsed(url), checked_headers(headers), public_only, timeout_s)
        return await self._follow(planned, redirects)

    async def may_fetch(self, url: str | Url) -> Verdict:
        """Returns the verdict of robots.txt on `url`. May fetch robots.txt, does not fetch `url`."""
        target = parsed(url)
        await self._admit(target)
        return (await (await self._connected()).permission.check(target)).verdict

    async def rules(self, url: str | Url) -> Access:
        """Returns the robots.txt in force at the origin of `url`: `.rules` has its sitemaps and more."""
        target = parsed(url)
        await self._admit(target)
        return await (await self._connected()).permission.access(target)

    async def close(self) -> None:
        """Closes every connection and cancels requests in flight. May be called again. Later requests raise
        InputError."""
        self._closed = True
        await self.disconnect()

    async def disconnect(self) -> None:
        """Closes every connection, as `close` does. The client can still be used."""
        connections, self._connections = self._connections, None
        if connections is not None:
            await connections.close()

    # ---- one request --------------------------------------------------------------------------------------------

    async def _follow(self, planned: "_PlannedRequest", redirects: int) -> Answer:
        await self._admit(planned.url)
        connections = await self._connected()
        asked, history = planned.url.text, list[Answer]()
        while True:
            answer, target = await self._fetch(connections, planned)
            if target is None or not redirects:
                return replace(answer, asked=asked, history=tuple(history)) if history else answer
            history.append(answer)
            if len(history) > redirects:
                failure = Failure("too-many-redirects", f"more than {redirects} redirects in a row")
                return replace(answer, asked=asked, response=None, failure=failure, history=tuple(history))
            planned = planned.redirected(target, answer.from_public)

    async def _fetch(self, connections: "_Connections", planned: "_PlannedRequest") -> tuple[Answer, Url | None]:
        """Returns the answer, and the target of its redirect."""
        url = planned.url
        permission = connections.public_permission if planned.public_only else connections.permission
        for rechecks_left in reversed(range(MAX_RECHECKS + 1)):
            permit = await permission.check(url)
            if permit.held_until is not None:
                return Answer(url.text, url.text, permit.verdict, held_until=permit.held_until), None
            if not permit.verdict.allowed:
                return self._forbidden(connections, url, permit.verdict), None
            async with self._pace.turn(url) as turn:
                ready_at = turn.ready_at(permit.timing)
                if ready_at - self._clock.now() > self._patience_s:
                    return Answer(url.text, url.text, permit.verdict, held_until=ready_at), None
                if rechecks_left and self._is_stale(permit):
                    continue
                await turn.wait_until_ready(permit.timing)
                connections.check()
                async with connections.room:
                    capture = await self._send(connections, planned, permit.verdict)
                wall = wall_of_answer(capture)
                turn.answered(capture, permit.timing, walled=wall is not None)
            if isinstance(capture.result, Response) and wall is None:
                permission.answered(url)
            break
        return self._answer(capture, wall), redirect_target(capture) if wall is None else None

    async def _send(self, connections: "_Connections", planned: "_PlannedRequest", verdict: Verdict) -> Capture:
        request = Request(planned.url, verdict, planned.headers, planned.public_only, planned.method)
        began_at = self._clock.now()
        try:
            async with asyncio.timeout(planned.timeout_s):
                return await connections.transport.send(request)
        except TimeoutError:
            failure = Failure("timeout", f"no complete answer within {planned.timeout_s:g} s")
            return Capture(request, failure, began_at, self._clock.now() - began_at)

    def _is_stale(self, permit: Permit) -> bool:
        until = permit.verdict.valid_until
        return until is not None and until <= self._clock.now()

    def _answer(self, capture: Capture, wall: Wall | None) -> Answer:
        url, result = capture.request.url.text, capture.result
        if _LOG.isEnabledFor(logging.DEBUG):
            outcome = result.status if isinstance(result, Response) else result.kind
            _LOG.debug("%s: %s", url, outcome, extra={"url": url, "outcome": outcome})
        peer = None if self._settings.proxy else capture.peer
        return Answer(
            url,
            url,
            capture.request.verdict,
            response=result if isinstance(result, Response) else None,
            failure=result if isinstance(result, Failure) else None,
            fetched_at=capture.fetched_at,
            elapsed_s=capture.elapsed_s,
            wall=None if wall is None else wall.name,
            from_public=peer is not None and not is_private_peer(peer),
        )

    def _forbidden(self, connections: "_Connections", target: Url, verdict: Verdict) -> Answer:
        failure = connections.failures.of(target) if verdict.access == "unreachable" else None
        return Answer(target.text, target.text, verdict, failure=failure)

    # ---- connections --------------------------------------------------------------------------------------------

    async def _connected(self) -> "_Connections":
        """Returns the connections of the running event loop. Raises InputError if the client is closed, or used in
        another event loop that is running too."""
        if self._closed:
            raise InputError("this robot is closed")
        loop, connections = asyncio.get_running_loop(), self._connections
        if connections is not None and connections.loop is loop:
            return connections
        if connections is not None and connections.loop.is_running():
            raise InputError("this robot is used in another event loop; in several threads, use Robot.blocking")
        self._connections = made = self._new_connections(loop)
        if connections is not None:
            await connections.close()
        return made

    def _new_connections(self, loop: asyncio.AbstractEventLoop) -> "_Connections":
        transport = self._connect()
        failures = _FailureRecorder(transport)
        return _Connections(
            loop,
            transport,
            self._permission(failures, self._stores[0]),
            self._permission(_PublicOnly(failures), self._stores[1]),
            failures,
            asyncio.Semaphore(self._settings.concurrency),
        )

    def _permission(self, transport: Transport, store: RobotsStore) -> Permission:
        given = self._settings, self._token, transport, store, self._clock
        return Permission(*given, pace=self._pace, turn_timeout_s=self._patience_s)


@dataclass(slots=True)
class _Connections:
    """The objects that belong to one event loop. `public_permission` requests public addresses only, and keeps what it
    learns apart from `permission`."""

    loop: asyncio.AbstractEventLoop
    transport: Transport
    permission: Permission
    public_permission: Permission
    failures: "_FailureRecorder"
    room: asyncio.Semaphore
    closed: bool = False

    def check(self) -> None:
        """Raises RunError if the client was closed while the request waited."""
        if self.closed:
            raise RunError("the robot was closed while the request waited")

    async def close(self) -> None:
        """Cancels the requests in flight and closes the transport."""
        self.closed = True
        self.permission.close()
        self.public_permission.close()
        await self.failures.close()


@dataclass(frozen=True, slots=True)
class _PlannedRequest:
    """The next request of a call: its URL, and what goes with it."""

    method: Method
    url: Url
    headers: Headers
    public_only: bool
    timeout_s: float | None

    def redirected(self, target: Url, from_public: bool) -> "_PlannedRequest":
        """Returns the request for the target of a redirect, without conditions about another document, and without
        credentials for another origin."""
        dropped = _URL_FIELDS if target.origin == self.url.origin else _URL_FIELDS | _ORIGIN_FIELDS
        headers = tuple(field for field in self.headers if field[0].lower() not in dropped)
        return _PlannedRequest(self.method, target, headers, self.public_only or from_public, self.timeout_s)


class _FailureRecorder:
    """A `Transport` that remembers why an origin did not answer."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._failures: OrderedDict[str, Failure] = OrderedDict()
        self._tasks: set[asyncio.Task[object]] = set()

    async def send(self, request: Request) -> Capture:
        """See `Transport.send`."""
        task = asyncio.current_task()
        if task is not None:
            self._tasks.add(task)
        try:
            capture = await self._transport.send(request)
        finally:
            if task is not None:
                self._tasks.discard(task)
        self._failures.pop(request.url.origin, None)
        if isinstance(capture.result, Failure):
            self._failures[request.url.origin] = capture.result
            if len(self._failures) > MAX_FAILURES:
                self._failures.popitem(last=False)
        return capture

    async def close(self) -> None:
        """Closes the transport, and ends fetches of robots.txt, which go on after the call that needed them is
        cancelled."""
        for task in self._tasks:
            task.cancel()
        await self._transport.close()

    def of(self, url: Url) -> Failure | None:
        """Why the origin of `url` did not answer the last request; None if it did."""
        return self._failures.get(url.origin)


class _PublicOnly:
    """A `Transport` that requests no private address, even if the settings allow it."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def send(self, request: Request) -> Capture:
        """See `Transport.send`."""
        return await self._transport.send(replace(request, public_only=True))

    async def close(self) -> None:
        """See `Transport.close`."""
        await self._transport.close()


# ---- arguments of programs -----------------------------------------------------------------------------------------


def parsed(url: str | Url) -> Url:
    """Returns the URL that a program gave. Raises InputError if it is not an http or https URL."""
    if isinstance(url, Url):
        return url
    found = parse_url(url.strip()) if isinstance(url, str) else None
    if found is None:
        raise InputError(f"cannot fetch {url!r}: not an http or https URL")
    return found


def checked_headers(headers: GivenFields) -> Headers:
    """Returns the header fields that a program gave. Raises InputError for fields that identify the robot, and for
    fields that cannot be sent: names have to be tokens (RFC 9110 §5.6.2)."""
    fields = tuple(headers.items() if isinstance(headers, Mapping) else headers)
    for name, value in fields:
        if not (isinstance(name, str) and isinstance(value, str)):
            raise InputError(f"the header {name!r} cannot be sent: name and value have to be text, not {value!r}")
        if name.lower() in OWN_FIELDS:
            raise InputError(f"the header {name} belongs to the robot: programs may not set it")
        if not _TOKEN.fullmatch(name):
            raise InputError(f"the header {name!r} cannot be sent: a name has only letters, digits and !#$%&'*+-.^_`|~")
        if not (value.isprintable() or "\t" in value) or any(char in value for char in "\r\n\0"):
            raise InputError(f"the header {name!r} cannot be sent: {value!r}")
        try:
            value.encode("latin-1")
        except UnicodeEncodeError:
            raise InputError(f"the header {name!r} cannot be sent: {value!r} is not Latin-1") from None
    return fields
