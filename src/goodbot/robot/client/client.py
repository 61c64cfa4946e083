"""Fetches single URLs for a program, with the permissions and delays of the robot. Any number of tasks may fetch at
once.

The ports are given to it; `goodbot.Robot` supplies them.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final

from goodbot.config import Settings
from goodbot.errors import InputError
from goodbot.exclusion import Access, Verdict
from goodbot.exclusion.access.bot_walls import Wall
from goodbot.ports import Clock, RobotsStore, Transport
from goodbot.robot.client.answer import Answer
from goodbot.robot.client.client_transports import FailureRecorder, PublicOnly
from goodbot.robot.client.connections import Connections
from goodbot.robot.client.given_arguments import GivenFields, checked_headers, parsed
from goodbot.robot.client.page_reading import read_answer
from goodbot.robot.client.page_rendering import PageRendering, no_browser
from goodbot.robot.client.planned_request import PlannedRequest
from goodbot.robot.client.reading import Reading
from goodbot.robot.manners.pace import Pace
from goodbot.robot.manners.permission import Permission, Permit
from goodbot.robot.manners.politeness import NOTHING_ASKED, is_private_peer
from goodbot.robot.manners.redirects import MAX_REDIRECTS, redirect_target
from goodbot.robot.manners.walled_answers import wall_of_answer
from goodbot.robot.render.rendering import Browser
from goodbot.robot.render.subresources import PacedFetcher
from goodbot.url import Url
from goodbot.values import Capture, Failure, Request, Response

MAX_HOST_WAIT_S: Final = 600.0
"""The default of `patience_s`: the robot does not wait for a host with a longer delay."""
MAX_RECHECKS: Final = 3
"""How often a verdict that became stale while its request waited is renewed."""

_LOG: Final = logging.getLogger(__name__)


class Client:
    """Fetches no URL without a verdict, and none before the delay of its host has passed.

    `connect` makes a transport for one event loop. `admit` is called with each URL that a program gives: it raises
    InputError for a URL that may not be requested, and allows the private address range of the URL if the settings
    permit that. `patience_s`: the client does not wait for a host with a longer delay; the answer then has
    `held_until`. `browse` starts a browser that renders pages, or raises InputError.
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
        browse: Callable[[], Awaitable[Browser]] = no_browser,
    ) -> None:
        self._settings = settings
        self._token = token
        self._connect = connect
        self._admit = admit
        self._stores = store(), store()
        self._clock = clock
        self._patience_s = patience_s
        self._browse = browse
        self._pace = Pace(settings, clock)
        self._connections: Connections | None = None
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
        planned = PlannedRequest("GET", parsed(url), checked_headers(headers), public_only, timeout_s)
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
        planned = PlannedRequest("HEAD", parsed(url), checked_headers(headers), public_only, timeout_s)
        return await self._follow(planned, redirects)

    async def read(
        self,
        url: str | Url,
        *,
        whole: bool = False,
        render: bool = False,
        headers: GivenFields = (),
        redirects: int = MAX_REDIRECTS,
        public_only: bool = False,
        timeout_s: float | None = None,
    ) -> Reading:
        """Fetches `url` as `get` does, and reads its main content: as text, Markdown and HTML, with title, author,
        date, links, directives, and preferences for AI.

        `whole`: everything on the page, menus and footers too. `render`: runs the page's scripts in Chromium first.
        Raises InputError as `get` does, and if `render` finds no browser.
        """
        answer = await self.get(url, headers=headers, redirects=redirects, public_only=public_only, timeout_s=timeout_s)
        if answer.held_until is not None or answer.failure is not None:
            return read_answer(answer, None, self._settings)
        connections = await self._connected()
        is_public = public_only or any(step.from_public for step in answer.history)
        access = await connections.permission_for(public_only=is_public).access(Url(answer.url))
        rendered = await connections.rendering.render(answer, public_only=is_public) if render and answer.ok else None
        return await asyncio.to_thread(read_answer, answer, access, self._settings, whole=whole, rendered=rendered)

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

    def expected_at(self, url: str | Url) -> float:
        """Estimates when a request for `url` could be sent, after those that wait for its host. Unix seconds, now or
        later. It sends no request, so a robots.txt that has not been read yet does not count."""
        target, connections = parsed(url), self._connections
        timing = NOTHING_ASKED if connections is None else connections.permission.timing_of(target)
        return self._pace.expected_at(target, timing, queue=True)

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

    async def _follow(self, planned: PlannedRequest, redirects: int) -> Answer:
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

    async def _fetch(self, connections: Connections, planned: PlannedRequest) -> tuple[Answer, Url | None]:
        """Returns the answer, and the target of its redirect."""
        url = planned.url
        permission = connections.permission_for(public_only=planned.public_only)
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

    async def _send(self, connections: Connections, planned: PlannedRequest, verdict: Verdict) -> Capture:
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

    def _forbidden(self, connections: Connections, target: Url, verdict: Verdict) -> Answer:
        failure = connections.failures.of(target) if verdict.access == "unreachable" else None
        return Answer(target.text, target.text, verdict, failure=failure)

    # ---- connections --------------------------------------------------------------------------------------------

    async def _connected(self) -> Connections:
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

    def _new_connections(self, loop: asyncio.AbstractEventLoop) -> Connections:
        transport = self._connect()
        failures = FailureRecorder(transport)
        permission = self._permission(failures, self._stores[0])
        subresources = PacedFetcher(transport, self._pace)
        parts = self._settings, self._token, permission, subresources, self._clock, self._browse
        return Connections(
            loop,
            transport,
            permission,
            self._permission(PublicOnly(failures), self._stores[1]),
            failures,
            asyncio.Semaphore(self._settings.concurrency),
            PageRendering(*parts),
        )

    def _permission(self, transport: Transport, store: RobotsStore) -> Permission:
        given = self._settings, self._token, transport, store, self._clock
        return Permission(*given, pace=self._pace, turn_timeout_s=self._patience_s)
