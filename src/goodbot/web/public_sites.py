"""Fetches from sites that a visitor names: from public ones only, as politely as a crawl does, in limited time, and
only so often per minute."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from goodbot.config import Settings
from goodbot.errors import InputError
from goodbot.exclusion import Access, Verdict
from goodbot.exclusion.text.shown_text import shown
from goodbot.ports import Clock, RobotsStore, Transport
from goodbot.robot.fetch.guard import private_range
from goodbot.robot.manners.pace import Pace
from goodbot.robot.manners.permission import Permission, Permit
from goodbot.robot.manners.redirects import redirect_target
from goodbot.robot.manners.robots_redirects import MAX_ROBOTS_REDIRECTS
from goodbot.robot.manners.walled_answers import wall_of_answer
from goodbot.url import Url, is_private_host
from goodbot.values import Capture, Failure, Request, Response

FETCH_TIMEOUT_S: Final = 15.0
"""Limits one visit, redirects and pauses between requests included, because a visitor is waiting."""
REFUSAL_DELAY_S: Final = 1.0
"""A name without a public address is refused only after this many seconds, so that the response time does not reveal
whether a name server knows the name."""
FETCHES_PER_MINUTE: Final = 20
BODY_BYTES: Final = 512 * 1024
"""The limit for one answer: as much as a robots.txt may need (RFC 9309 §2.5)."""
MAX_HOPS: Final = 3
"""Redirects within a host that are followed for one document."""

Result = TypeVar("Result")


class TooManyRequestsError(InputError):
    """There are too many requests at the moment; the visitor may try again later."""


class NoAnswerError(InputError):
    """The site does not answer now, or asks robots to wait."""


class RefusedVisitError(InputError):
    """This server sends no request to the site."""


class NoPublicAddressError(RefusedVisitError):
    """A name has no address, or only private ones. The message does not reveal which."""


@dataclass(frozen=True, slots=True)
class VisitedDocument:
    """A document that was requested: the URL of the last request, the verdict for it, and the answer. `response` is
    None if the verdict forbids the URL, if no answer came, or a bot wall answered; then `trouble` says why, in one
    clause."""

    url: Url
    verdict: Verdict
    response: Response | None = None
    trouble: str = ""


class SiteVisit:
    """The requests for one visitor: robots.txt of each site first, then documents of it. A request that leads to a
    private address raises InputError."""

    def __init__(self, permission: Permission, transport: "RecordingTransport", clock: Clock, refuse: "Refuse") -> None:
        self._permission = permission
        self._transport = transport
        self._clock = clock
        self._refuse = refuse

    async def access(self, url: Url) -> Access:
        """Returns the robots.txt in force at the origin of `url`, fetched in this visit."""
        access = await self._permission.access(url)
        self._check_last(url.robots_txt)
        return access

    def redirect_chain(self, start: Url) -> tuple[list[Url], Capture | None]:
        """See `RecordingTransport.redirect_chain`."""
        return self._transport.redirect_chain(start)

    async def document(self, url: Url, *, hops: int = 0) -> VisitedDocument:
        """Requests a document if robots.txt allows it. Follows up to `hops` redirects that stay on its host, each with
        a verdict of its own; returns any other redirect as an answer."""
        permit = await self._permission.check(url, public_only=True)
        self._check_last(url.robots_txt)
        if not permit.verdict.allowed:
            return VisitedDocument(url, permit.verdict, trouble=permit.verdict.reason)
        capture = await self._send(url, permit)
        if isinstance(capture, str):
            return VisitedDocument(url, permit.verdict, trouble=capture)
        target = redirect_target(capture)
        if target is not None and hops and target.host == url.host and target != url:
            return await self.document(target, hops=hops - 1)
        if isinstance(capture.result, Failure):
            self._refuse(capture, redirected=False)
            return VisitedDocument(url, permit.verdict, trouble=f"{url.host} gave no answer: {capture.result.detail}")
        if (wall := wall_of_answer(capture)) is not None:
            return VisitedDocument(url, permit.verdict, trouble=f"a bot wall ({wall.name}) answered for {url.host}")
        return VisitedDocument(url, permit.verdict, capture.result)

    async def _send(self, url: Url, permit: Permit) -> Capture | str:
        """Returns the answer, or says why the host gets no request."""
        async with self._permission.pace.turn(url) as turn:
            if (until := await turn.wait_until_ready(permit.timing, FETCH_TIMEOUT_S)) is not None:
                return f"this server may not request {url.host} for another {until - self._clock.now():.0f} s"
            capture = await self._transport.send(Request(url, permit.verdict, public_only=True))
            turn.answered(capture, permit.timing)
            return capture

    def _check_last(self, start: Url) -> None:
        chain, last = self._transport.redirect_chain(start)
        if last is not None:
            self._refuse(last, redirected=len(chain) > 1)


class Refuse:
    """Raises the RefusedVisitError for a request that our own guard refused, or whose host has no address. `instead` is
    what the visitor may do instead, in a few words."""

    def __init__(self, instead: str) -> None:
        self._instead = f": {instead} instead" if instead else ""

    def __call__(self, capture: Capture, *, redirected: bool) -> None:
        if isinstance(capture.result, Failure) and capture.result.kind in ("private-address", "dns"):
            raise self.error(capture.request.url.host, redirected=redirected)

    def error(self, host: str, *, redirected: bool) -> RefusedVisitError:
        """Makes the error for a host without a public address. Names get the same sentence whether they have private
        addresses or none, so that visitors cannot map the internal network."""
        name = shown(host)
        subject = f"it redirects to {name}, which" if redirected else name
        ends = f"and this page fetches from public sites only{self._instead}"
        if is_written_private(host):
            return RefusedVisitError(f"{subject} is on a private address, {ends}")
        return NoPublicAddressError(f"{subject} has no public address, {ends}")


class PublicSites:
    """Visits public sites for visitors, with the contact of `settings`. `transport` makes the transport of one visit,
    which must refuse private addresses and is closed afterwards; `store` makes an empty store. `instead` says what else
    a visitor may do."""

    def __init__(
        self,
        settings: Settings,
        token: str,
        transport: Callable[[], Transport],
        store: Callable[[], RobotsStore],
        clock: Clock,
        *,
        instead: str = "",
        timeout_s: float = FETCH_TIMEOUT_S,
        refusal_delay_s: float = REFUSAL_DELAY_S,
    ) -> None:
        self._settings = settings
        self._token = token
        self._transport = transport
        self._store = store
        self._clock = clock
        self._instead = instead
        self._timeout_s = timeout_s
        self._refusal_delay_s = refusal_delay_s
        self._pace = Pace(settings, clock)
        self._visited_at: deque[float] = deque(maxlen=FETCHES_PER_MINUTE)
        self.refuse = Refuse(instead)

    @property
    def token(self) -> str:
        """The product token that robots.txt and pages are read for."""
        return self._token

    @property
    def why_not(self) -> str:
        """Says in one sentence why these settings permit no fetch; empty if they do."""
        if self._settings.contact is None:
            return (
                "this server fetches from no site, because it has no contact for site owners: set `contact` in "
                "`goodbot.toml`, or `GOODBOT_CONTACT`, to a mail address or a URL, and restart `goodbot serve`"
                + (f"; or {self._instead}" if self._instead else "")
            )
        if self._settings.proxy:
            else_ = f": {self._instead}" if self._instead else ""
            return f"this server fetches through a proxy, so it cannot check that an address is public{else_}"
        return ""

    async def visit(self, url: Url, read: Callable[[SiteVisit], Awaitable[Result]]) -> Result:
        """Returns what `read` makes of a visit to the site of `url`.

        Raises InputError, in one sentence,

        - if the host, or the target of a redirect, has no public address (`RefusedVisitError`);
        - if the settings have no contact, or a proxy (`RefusedVisitError`);
        - if there are too many visits per minute (`TooManyRequestsError`);
        - if the visit takes too long (`NoAnswerError`).
        """
        if is_written_private(url.host):
            raise self.refuse.error(url.host, redirected=False)
        self._count_visit()
        refused_at = self._clock.now() + self._refusal_delay_s
        try:
            async with asyncio.timeout(self._timeout_s):
                return await self._visited(read)
        except NoPublicAddressError:
            await self._clock.sleep(max(refused_at - self._clock.now(), 0.0))
            raise
        except TimeoutError as error:
            raise NoAnswerError(f"{shown(url.host)} has not answered within {self._timeout_s:g} seconds") from error

    def _count_visit(self) -> None:
        """Counts one more visit. Raises InputError if it is not allowed now."""
        if self.why_not:
            raise RefusedVisitError(self.why_not)
        now = self._clock.now()
        if len(self._visited_at) == FETCHES_PER_MINUTE and 0 <= now - self._visited_at[0] < 60:
            else_ = f", or {self._instead}" if self._instead else ""
            raise TooManyRequestsError(f"too many sites were fetched in the last minute: try again in a minute{else_}")
        self._visited_at.append(now)

    async def _visited(self, read: Callable[[SiteVisit], Awaitable[Result]]) -> Result:
        transport = RecordingTransport(self._transport())
        settings = self._settings
        permission = Permission(
            *(settings, self._token, transport, self._store(), self._clock),
            pace=self._pace,
            turn_timeout_s=self._timeout_s,
        )
        try:
            return await read(SiteVisit(permission, transport, self._clock, self.refuse))
        finally:
            permission.close()
            await transport.close()


class RecordingTransport:
    """Records every capture of another `Transport`: those of a visit are few."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._captures: dict[Url, Capture] = {}

    async def send(self, request: Request) -> Capture:
        capture = await self._transport.send(request)
        self._captures[request.url] = capture
        return capture

    def redirect_chain(self, start: Url) -> tuple[list[Url], Capture | None]:
        """Follows the redirects from `start`. Returns their URLs, the target of the last redirect included, and the
        last capture; None if `start` was not requested, because its host may not be requested yet."""
        chain, last = [start], self._captures.get(start)
        while last is not None and len(chain) <= MAX_ROBOTS_REDIRECTS + 1:
            target = redirect_target(last)
            if target is None:
                break
            chain.append(target)
            if target not in self._captures:
                break
            last = self._captures[target]
        return chain, last

    async def close(self) -> None:
        await self._transport.close()


def is_written_private(host: str) -> bool:
    """Returns whether `host` is `localhost` or a private IP address. Resolves no name."""
    return is_private_host(host) or private_range(host) is not None


def visitors_settings(settings: Settings) -> Settings:
    """Returns the settings for requests that visitors cause: with `BODY_BYTES` as the limit for an answer, without
    cookies and passwords."""
    return replace(settings, body_limit=BODY_BYTES, max_size=None, cookies=False, auth=())
