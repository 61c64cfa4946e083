"""The manners of the robot for programs that decide themselves what to ask: one URL at a time, in as many tasks as they
like. Over given ports; `goodbot.Robot` brings these.
"""

import asyncio
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
from goodbot.robot.manners.redirects import REDIRECTS_MOST, redirect_target
from goodbot.robot.manners.walled_answers import wall_of_answer
from goodbot.url import Url, parse_url
from goodbot.values import Capture, Failure, Headers, Method, Request, Response

PATIENCE_S: Final = 600.0
"""A host that rests longer than this is not waited for."""
ASKED_AGAIN_MOST: Final = 3
"""Times a verdict that grew old while its turn came is asked for again."""
TROUBLES_MOST: Final = 10_000

_OWN_FIELDS = """
    user-agent from host connection content-length transfer-encoding te trailer upgrade expect keep-alive
    proxy-connection proxy-authorization signature signature-input signature-agent
"""
OWN_FIELDS: Final = frozenset(_OWN_FIELDS.split())
"""Header fields that say who asks, or how the connection is used: not for programs to set."""
_TOKEN: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_OF_ONE_ORIGIN: Final = frozenset({"authorization", "cookie"})
_OF_ONE_URL: Final = frozenset(
    ["if-none-match", "if-modified-since", "if-match", "if-unmodified-since", "if-range", "range"]
)

GivenFields = Mapping[str, str] | Iterable[tuple[str, str]]
"""Header fields as programs give them."""


class Client:
    """Asks for URLs: none without a verdict, none before its host has rested.

    `connect` makes the transport, which is used in one event loop; in another a new one is made. `admit` is asked about
    each URL a program names: it raises InputError for one that may not be asked, and says what it opens.
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
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._settings = settings
        self._token = token
        self._connect = connect
        self._admit = admit
        self._stores = store(), store()
        self._clock = clock
        self._patience_s = patience_s
        self._pace = Pace(settings, clock)
        self._line: _Line | None = None
        self._closed = False

    async def get(
        self,
        url: str | Url,
        *,
        headers: GivenFields = (),
        redirects: int = REDIRECTS_MOST,
        public_only: bool = False,
        timeout_s: float | None = None,
    ) -> Answer:
        """What is at `url`, or where its redirects lead, at most `redirects` of them (0: the redirect itself).

        Waits until the host may be asked. Each target gets a verdict and a turn of its own; from a public host none
        leads to a private address, nor does `url` itself if `public_only`. `timeout_s` is for one answer, once it is
        asked for. Raises InputError for what is no URL, and for `headers` that say who asks.
        """
        wanted = _Wanted("GET", parsed(url), checked_headers(headers), public_only, timeout_s)
        return await self._follow(wanted, redirects)

    async def head(
        self,
        url: str | Url,
        *,
        headers: GivenFields = (),
        redirects: int = REDIRECTS_MOST,
        public_only: bool = False,
        timeout_s: float | None = None,
    ) -> Answer:
        """As `get`, without the body (RFC 9110 §9.3.2)."""
        wanted = _Wanted("HEAD", parsed(url), checked_headers(headers), public_only, timeout_s)
        return await self._follow(wanted, redirects)

    async def may_fetch(self, url: str | Url) -> Verdict:
        """Whether robots.txt lets us fetch `url`, which is not fetched; robots.txt may be."""
        target = parsed(url)
        await self._admit(target)
        return (await (await self._connected()).permission.check(target)).verdict

    async def rules(self, url: str | Url) -> Access:
        """The robots.txt in force where `url` is: `.rules` has its sitemaps and more."""
        target = parsed(url)
        await self._admit(target)
        return await (await self._connected()).permission.access(target)

    async def close(self) -> None:
        """Closes every connection; requests in flight are cancelled. May be called again; who asks after it gets
        InputError."""
        self._closed = True
        await self.disconnect()

    async def disconnect(self) -> None:
        """Closes every connection, as `close` does; the client can be used again."""
        line, self._line = self._line, None
        if line is not None:
            await line.close()

    # ---- one request --------------------------------------------------------------------------------------------

    async def _follow(self, wanted: "_Wanted", redirects: int) -> Answer:
        await self._admit(wanted.url)
        line = await self._connected()
        asked, history = wanted.url.text, list[Answer]()
        while True:
            answer, leads_to = await self._ask(line, wanted)
            if leads_to is None or not redirects:
                return replace(answer, asked=asked, history=tuple(history)) if history else answer
            history.append(answer)
            if len(history) > redirects:
                failure = Failure("too-many-redirects", f"more than {redirects} redirects in a row")
                return replace(answer, asked=asked, response=None, failure=failure, history=tuple(history))
            wanted = wanted.redirected(leads_to, answer.from_public)

    async def _ask(self, line: "_Line", wanted: "_Wanted") -> tuple[Answer, Url | None]:
        """The answer, and where it sends us."""
        url = wanted.url
        permission = line.public_permission if wanted.public_only else line.permission
        for again in reversed(range(ASKED_AGAIN_MOST + 1)):
            permit = await permission.check(url)
            if permit.held_until is not None:
                return Answer(url.text, url.text, permit.verdict, held_until=permit.held_until), None
            if not permit.verdict.allowed:
                return self._forbidden(line, url, permit.verdict), None
            async with self._pace.turn(url) as turn:
                ready_at = turn.ready_at(permit.timing)
                if ready_at - self._clock.now() > self._patience_s:
                    return Answer(url.text, url.text, permit.verdict, held_until=ready_at), None
                if again and self._is_stale(permit):
                    continue
                await turn.rested(permit.timing)
                line.check()
                async with line.room:
                    capture = await self._send(line, wanted, permit.verdict)
                wall = wall_of_answer(capture)
                turn.answered(capture, permit.timing, walled=wall is not None)
            if isinstance(capture.result, Response) and wall is None:
                permission.answered(url)
            break
        return self._answer(capture, wall), redirect_target(capture) if wall is None else None

    async def _send(self, line: "_Line", wanted: "_Wanted", verdict: Verdict) -> Capture:
        request = Request(wanted.url, verdict, wanted.headers, wanted.public_only, wanted.method)
        began_at = self._clock.now()
        try:
            async with asyncio.timeout(wanted.timeout_s):
                return await line.transport.send(request)
        except TimeoutError:
            failure = Failure("timeout", f"no whole answer within {wanted.timeout_s:g} s")
            return Capture(request, failure, began_at, self._clock.now() - began_at)

    def _is_stale(self, permit: Permit) -> bool:
        until = permit.verdict.valid_until
        return until is not None and until <= self._clock.now()

    def _answer(self, capture: Capture, wall: Wall | None) -> Answer:
        url, result = capture.request.url.text, capture.result
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

    def _forbidden(self, line: "_Line", target: Url, verdict: Verdict) -> Answer:
        failure = line.troubles.of(target) if verdict.access == "unreachable" else None
        return Answer(target.text, target.text, verdict, failure=failure)

    # ---- connections --------------------------------------------------------------------------------------------

    async def _connected(self) -> "_Line":
        """The connections of the event loop that runs. Raises InputError if they are another's that runs as well, or
        the client was closed."""
        if self._closed:
            raise InputError("this robot is closed")
        loop, line = asyncio.get_running_loop(), self._line
        if line is not None and line.loop is loop:
            return line
        if line is not None and line.loop.is_running():
            raise InputError("this robot is used in another event loop; in several threads, use Robot.blocking")
        self._line = made = self._new_line(loop)
        if line is not None:
            await line.close()
        return made

    def _new_line(self, loop: asyncio.AbstractEventLoop) -> "_Line":
        transport = self._connect()
        troubles = _Troubles(transport)
        return _Line(
            loop,
            transport,
            self._permission(troubles, self._stores[0]),
            self._permission(_PublicOnly(troubles), self._stores[1]),
            troubles,
            asyncio.Semaphore(self._settings.concurrency),
        )

    def _permission(self, transport: Transport, store: RobotsStore) -> Permission:
        given = self._settings, self._token, transport, store, self._clock
        return Permission(*given, pace=self._pace, patience_s=self._patience_s)


@dataclass(slots=True)
class _Line:
    """What belongs to one event loop. What `public_permission` learns of hosts it may not reach, `permission` does not
    know."""

    loop: asyncio.AbstractEventLoop
    transport: Transport
    permission: Permission
    public_permission: Permission
    troubles: "_Troubles"
    room: asyncio.Semaphore
    closed: bool = False

    def check(self) -> None:
        """Raises RunError for who has waited too long."""
        if self.closed:
            raise RunError("the robot was closed meanwhile")

    async def close(self) -> None:
        """Ends what is in flight."""
        self.closed = True
        self.permission.close()
        self.public_permission.close()
        await self.troubles.close()


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What is asked for next."""

    method: Method
    url: Url
    headers: Headers
    public_only: bool
    timeout_s: float | None

    def redirected(self, target: Url, from_public: bool) -> "_Wanted":
        """The same of where a redirect leads: no validators of another document go along, and no secrets to another
        origin."""
        dropped = _OF_ONE_URL if target.origin == self.url.origin else _OF_ONE_URL | _OF_ONE_ORIGIN
        headers = tuple(field for field in self.headers if field[0].lower() not in dropped)
        return _Wanted(self.method, target, headers, self.public_only or from_public, self.timeout_s)


class _Troubles:
    """A Transport that remembers of each origin why it did not answer."""

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
            if len(self._failures) > TROUBLES_MOST:
                self._failures.popitem(last=False)
        return capture

    async def close(self) -> None:
        """Fetches of robots.txt go on when nobody waits for them any more: not so from now on."""
        for task in self._tasks:
            task.cancel()
        await self._transport.close()

    def of(self, url: Url) -> Failure | None:
        """Why the origin of `url` did not answer last; None if it did."""
        return self._failures.get(url.origin)


class _PublicOnly:
    """A Transport that reaches no private address, whatever is open."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def send(self, request: Request) -> Capture:
        """See `Transport.send`."""
        return await self._transport.send(replace(request, public_only=True))

    async def close(self) -> None:
        """See `Transport.close`."""
        await self._transport.close()


# ---- what programs give -----------------------------------------------------------------------------------------


def parsed(url: str | Url) -> Url:
    """Raises InputError for what is no http or https URL."""
    if isinstance(url, Url):
        return url
    found = parse_url(url.strip()) if isinstance(url, str) else None
    if found is None:
        raise InputError(f"cannot ask for {url!r}: not an http or https URL")
    return found


def checked_headers(headers: GivenFields) -> Headers:
    """Raises InputError for fields that say who asks, and for what cannot be sent: names are tokens (RFC 9110
    §5.6.2)."""
    fields = tuple(headers.items() if isinstance(headers, Mapping) else headers)
    for name, value in fields:
        if not (isinstance(name, str) and isinstance(value, str)):
            raise InputError(f"the header {name!r} cannot be sent: name and value are text, not {value!r}")
        if name.lower() in OWN_FIELDS:
            raise InputError(f"the header {name} is the robot's own: it says who asks, or how")
        if not _TOKEN.fullmatch(name):
            raise InputError(f"the header {name!r} cannot be sent: a name is letters, digits and !#$%&'*+-.^_`|~")
        if not (value.isprintable() or "\t" in value) or any(char in value for char in "\r\n\0"):
            raise InputError(f"the header {name!r} cannot be sent: {value!r}")
        try:
            value.encode("latin-1")
        except UnicodeEncodeError:
            raise InputError(f"the header {name!r} cannot be sent: {value!r} is not Latin-1") from None
    return fields
