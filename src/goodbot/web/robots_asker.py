"""The robots.txt of a site that a visitor of our pages names: asked for by the robot's own manners, of public sites
only, a few in a minute."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from goodbot.check import HttpAnswer
from goodbot.config import Settings
from goodbot.errors import InputError
from goodbot.exclusion import Access
from goodbot.exclusion.text.shown_text import shown
from goodbot.page import decode_content
from goodbot.ports import Clock, RobotsStore, Transport
from goodbot.robot.fetch.guard import private_range
from goodbot.robot.manners.permission import ROBOTS_LIMIT_BYTES, Permission
from goodbot.robot.manners.redirects import redirect_target
from goodbot.robot.manners.robots_redirects import HOPS
from goodbot.url import Url, is_private_host, parse_url
from goodbot.values import Capture, Request, Response

PATIENCE_S: Final = 15.0
"""For a site's answer, redirects included: a visitor waits for it."""
REFUSAL_S: Final = 1.0
"""A name without a public address is refused only after this many seconds, so that the response time does not reveal
whether a name server knows the name."""
AGAIN_S: Final = 10.0
"""A site asked for so lately is not asked again: the answer of then serves."""
FETCHES_A_MINUTE: Final = 20
SITES_KEPT: Final = 16
"""Answers remembered, of at most `ROBOTS_LIMIT_BYTES` each."""
SITE_CHARS: Final = 2000


@dataclass(frozen=True)
class SiteRobots:
    """A robots.txt as its site answered it at `at` (Unix seconds): its URL, its bytes, how it came, what it means."""

    url: Url
    body: bytes
    answer: HttpAnswer
    access: Access
    at: float


class TooManyError(InputError):
    """Too much is asked at once; later it may be."""


class _NoPublicAddressError(InputError):
    """A name that has no address, or only private ones; visitors are not told which."""


class RobotsAsker:
    """Asks sites for their robots.txt, with the contact of `settings`. `transport` gives what fetches: one that permits
    public addresses only, and is closed afterwards; `store` gives an empty one."""

    def __init__(
        self,
        settings: Settings,
        token: str,
        transport: Callable[[], Transport],
        store: Callable[[], RobotsStore],
        clock: Clock,
        patience_s: float = PATIENCE_S,
        refusal_s: float = REFUSAL_S,
    ) -> None:
        self._settings = settings
        self._token = token
        self._transport = transport
        self._store = store
        self._clock = clock
        self._patience_s = patience_s
        self._refusal_s = refusal_s
        self._known: OrderedDict[str, SiteRobots] = OrderedDict()
        self._asked_at: deque[float] = deque(maxlen=FETCHES_A_MINUTE)

    async def ask(self, text: str) -> SiteRobots:
        """The robots.txt of the site of a URL; `example.org` is https. That a server did not answer is an answer too.

        Raises InputError, in one sentence,

        - if `text` is not a URL;
        - for a private address, or a name that has no public one, also behind a redirect;
        - if the settings have no contact;
        - for too many requests in a minute;
        - if it takes longer than a visitor waits.
        """
        url = _site_url(text)
        known = self._known.get(url.origin)
        if known is not None and 0 <= self._clock.now() - known.at < AGAIN_S:
            return known
        self._check()
        refused_at = self._clock.now() + self._refusal_s
        try:
            async with asyncio.timeout(self._patience_s):
                site = await self._fetch(url)
        except _NoPublicAddressError:
            await self._clock.sleep(max(refused_at - self._clock.now(), 0.0))
            raise
        except TimeoutError as error:
            raise InputError(f"{shown(url.host)} has not answered within {self._patience_s:g} seconds") from error
        self._known[url.origin] = site
        self._known.move_to_end(url.origin)
        while len(self._known) > SITES_KEPT:
            self._known.popitem(last=False)
        return site

    def remembered(self, origin: str) -> SiteRobots | None:
        """What this origin answered, if it was among the last that were asked."""
        return self._known.get(origin)

    def _check(self) -> None:
        """Whether one more may be fetched now; then it counts."""
        if self._settings.contact is None:
            raise InputError(
                "this server asks no site, as it does not say whose it is: set contact in goodbot.toml, or "
                "GOODBOT_CONTACT, to a mail address or a URL, and start goodbot serve again; or paste the file"
            )
        if self._settings.proxy:
            raise InputError("this server asks by a proxy, behind which addresses cannot be judged: paste the file")
        now = self._clock.now()
        if len(self._asked_at) == FETCHES_A_MINUTE and 0 <= now - self._asked_at[0] < 60:
            raise TooManyError("too many sites were asked for in the last minute: try again soon, or paste the file")
        self._asked_at.append(now)

    async def _fetch(self, url: Url) -> SiteRobots:
        witness = _Witness(self._transport())
        try:
            permission = Permission(self._settings, self._token, witness, self._store(), self._clock)
            access = await permission.access(url)
        finally:
            await witness.close()
        way, last = witness.way(url.robots_txt)
        redirects = tuple(each.text for each in way) if len(way) > 1 else ()
        if isinstance(last.result, Response):
            body = decode_content(last.result, ROBOTS_LIMIT_BYTES).body
            answer = HttpAnswer(last.result.status, last.result.headers, redirects)
            return SiteRobots(url.robots_txt, body, answer, access, last.fetched_at)
        if last.result.kind in ("private-address", "dns"):
            raise _refusal(last.request.url.host, redirected=bool(redirects))
        return SiteRobots(
            url.robots_txt, b"", HttpAnswer(None, (), redirects, last.result.detail), access, last.fetched_at
        )


class _Witness:
    """A `Transport` that keeps what came of each request: six for a robots.txt, and a few for those of the hosts it
    redirects to."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self.captures: list[Capture] = []

    async def send(self, request: Request) -> Capture:
        capture = await self._transport.send(request)
        self.captures.append(capture)
        return capture

    def way(self, start: Url) -> tuple[list[Url], Capture]:
        """Where the redirects from `start` lead, to the last one named, and the last answer on this way."""
        answers = {capture.request.url: capture for capture in self.captures}
        way, last = [start], answers[start]
        while len(way) <= HOPS + 1 and (onward := redirect_target(last)) is not None:
            way.append(onward)
            if onward not in answers:
                break
            last = answers[onward]
        return way, last

    async def close(self) -> None:
        await self._transport.close()


def _site_url(text: str) -> Url:
    """The site that is meant. Raises InputError for none, and for one that is written as a private address."""
    text = text.strip()
    if not text or len(text) > SITE_CHARS:
        raise InputError(f"give the address of a site, such as https://example.org/, {SITE_CHARS:,} characters at most")
    url = parse_url(text if "://" in text else f"https://{text}")
    if url is None:
        raise InputError(f"{shown(text)} is not an http or https URL")
    if _is_written_private(url.host):
        raise _refusal(url.host, redirected=False)
    return url


def _is_written_private(host: str) -> bool:
    return is_private_host(host) or private_range(host) is not None


def _refusal(host: str, *, redirected: bool) -> InputError:
    """One sentence for names with private addresses and for names without any, so that visitors cannot map the internal
    network. Of an address that is written out everybody can see what it is."""
    name = shown(host)
    subject = f"it redirects to {name}, which" if redirected else name
    ends = "and this page asks public sites only: paste the file instead"
    if _is_written_private(host):
        return InputError(f"{subject} is on a private address, {ends}")
    return _NoPublicAddressError(f"{subject} has no public address, {ends}")
