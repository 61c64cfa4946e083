"""Url → Verdict: robots.txt fetched once per origin, cached, the last good copy kept.

The only fetch that follows redirects at once (RFC 9309 §2.3.1.2), and the only one whose verdict is given in advance:
/robots.txt itself is always allowed (§2.2.2).
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

from goodbot.config import Settings
from goodbot.exclusion import LIMIT_BYTES, Access, Verdict
from goodbot.exclusion.outage import NO_CRAWL_S
from goodbot.exclusion.timing import Timing
from goodbot.page.coding import Decoded, decode_content
from goodbot.ports import Clock, RobotsStore, Transport
from goodbot.robot.politeness import Politeness, asked_gap_s, heeded
from goodbot.url import Url, is_private_address, resolve
from goodbot.values import Capture, Failure, Request, Response

HOPS = 5
"""RFC 9309 §2.3.1.2: at least five consecutive redirects are followed."""
ROBOTS_LIMIT_BYTES = 4 * 1024 * 1024
"""Decoded bytes looked at; `Access` uses the first 500 KiB and says what it cut."""
SITEMAPS_MOST = 1000
"""Of one robots.txt that are taken up. There is room for 15,000; a site with more than a few has an index of them."""
MEMORY_BYTES = 16 * 1024 * 1024
"""Of robots.txt files kept at hand, each counted with 1 kB for itself; the store has the others."""
ORIGINS_MOST = 50_000
"""Of which it is remembered that they were given up, and that they answer."""
LATELY_S = 24 * 3600.0
"""For how long an answer to another page says that a site answers (dialect `google`, 30 days into an outage)."""


@dataclass(frozen=True, slots=True)
class Permit:
    """A verdict, and when and how often robots.txt lets us come; the host's last answer if robots.txt was fetched for
    it just now; `given_up`: no further try will be made; `sitemaps` and `clean_params`: those that robots.txt
    names. The verdict's `delay_s` is what is asked between two requests at the moment, by Crawl-delay or by
    Request-rate."""

    verdict: Verdict
    timing: Timing
    fetched: Capture | None = None
    given_up: bool = False
    sitemaps: tuple[Url, ...] = ()
    clean_params: tuple[tuple[tuple[str, ...], str], ...] = ()


@dataclass(frozen=True)
class _Known:
    """A robots.txt at hand, and what it says of when to come and of its sitemaps, read once."""

    access: Access
    token: str
    url: Url

    @cached_property
    def timing(self) -> Timing:
        return heeded(self.access.rules.timing(self.token))

    @cached_property
    def sitemaps(self) -> tuple[Url, ...]:
        """The first `SITEMAPS_MOST`. They are to be absolute (RFC 9309 §2.2.4); a relative one is meant well."""
        named = (resolve(self.url, text) for text in self.access.rules.sitemaps[:SITEMAPS_MOST])
        return tuple(url for url in named if url is not None)

    @cached_property
    def clean_params(self) -> tuple[tuple[tuple[str, ...], str], ...]:
        """See `RobotsTxt.clean_params`; the file is not read again where the word does not occur."""
        return tuple(self.access.rules.clean_params) if b"lean-param" in self.access.body.lower() else ()


class Permission:
    """Asks every origin for its robots.txt before anything else. `keep` is handed each capture made here."""

    def __init__(
        self,
        settings: Settings,
        token: str,
        transport: Transport,
        store: RobotsStore,
        clock: Clock,
        keep: Callable[[Capture], object] = lambda capture: None,
    ) -> None:
        self._settings = settings
        self._token = token
        self._transport = transport
        self._store = store
        self._clock = clock
        self._keep = keep
        self._politeness = Politeness(settings)
        self._began_at = clock.now()
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._known_bytes = 0
        self._given_up: dict[str, float] = {}
        self._answered_at: dict[str, float] = {}
        self._under_way: dict[str, asyncio.Task[Capture]] = {}

    async def check(self, url: Url) -> Permit:
        """Whether `url` may be fetched now. `unreachable` and not given up: ask again at `verdict.valid_until`."""
        known, fetched = await self._in_force(url)
        given_up = self._given_up.get(url.origin, 0.0) > self._clock.now()
        verdict = known.access.verdict(url.text, self._token)
        if known.timing.rates:
            verdict = replace(verdict, delay_s=asked_gap_s(known.timing, self._clock.now()) or None)
        return Permit(verdict, known.timing, fetched, given_up, known.sitemaps, known.clean_params)

    def forbids(self, url: Url) -> bool:
        """Whether a robots.txt at hand, however old, forbids `url`. Nobody is asked."""
        known = self._load(url.origin)
        return known is not None and not known.access.verdict(url.text, self._token).allowed

    async def access(self, url: Url) -> tuple[Access, Capture | None]:
        """The robots.txt in force at the origin of `url`, and the host's last answer if it was fetched just now."""
        known, fetched = await self._in_force(url)
        return known.access, fetched

    def answered(self, url: Url) -> None:
        """A page of this origin was answered."""
        if len(self._answered_at) >= ORIGINS_MOST:
            self._answered_at.clear()  # in 30 days of outage, the next page tells again
        self._answered_at[url.origin] = self._clock.now()

    async def _in_force(self, url: Url) -> tuple[_Known, Capture | None]:
        known = self._load(url.origin)
        if known is not None and known.access.is_fresh(self._clock.now()):
            return known, None
        fetched = await self._refresh(url, known.access if known is not None else None)
        return self._known[url.origin], fetched

    def _load(self, origin: str) -> _Known | None:
        if origin not in self._known:
            access = self._store.load_robots(origin)
            if access is None:
                return None
            if access.dialect != self._settings.dialect:
                access = access.in_dialect(self._settings.dialect)
            if access.result == "unreachable" and access.fetched_at < self._began_at:
                access = replace(access, tries=0, valid_until=0.0)  # the host's own rest is kept by the frontier
            self._remember(origin, access)
        self._known.move_to_end(origin)
        return self._known[origin]

    async def _refresh(self, url: Url, last: Access | None) -> Capture | None:
        """Fetches robots.txt, or waits for the fetch of this origin that is under way; the capture goes to who began
        it.
        """
        origin = url.origin
        task = self._under_way.get(origin)
        if task is not None:
            await asyncio.shield(task)
            return None
        task = asyncio.create_task(self._fetch(url, last))
        self._under_way[origin] = task
        try:
            return await asyncio.shield(task)
        finally:
            if task.done():
                self._under_way.pop(origin, None)
            else:
                task.add_done_callback(lambda _: self._under_way.pop(origin, None))

    async def _fetch(self, url: Url, last: Access | None) -> Capture:
        fetched, final = await self._follow(url.robots_txt)
        access = self._read(url.origin, final, last)
        given_up = _is_refused(final) or (access.tries >= self._settings.robots_tries and _stays_closed(access))
        if access.result == "unreachable" and given_up:
            if len(self._given_up) >= ORIGINS_MOST:
                self._given_up.clear()  # an origin asked once too often costs less than a list without end
            self._given_up[url.origin] = self._clock.now() + self._settings.given_up_rest
            access = replace(access, valid_until=self._given_up[url.origin])
        else:
            self._given_up.pop(url.origin, None)
        self._store.save_robots(url.origin, access)
        self._remember(url.origin, access)
        return fetched

    async def _follow(self, target: Url) -> tuple[Capture, Capture]:
        """The last answer of the host asked, and the last one of all, after at most `HOPS` redirects."""
        capture = fetched = await self._send(target, public_only=False)
        for _ in range(HOPS):
            location = _redirect(capture)
            if location is None:
                break
            public = fetched.peer is not None and not self._settings.proxy and not is_private_address(fetched.peer)
            capture = await self._send(location, public_only=public)
            if location.host_key == target.host_key:
                fetched = capture
        return fetched, capture

    async def _send(self, target: Url, *, public_only: bool) -> Capture:
        verdict = Verdict(
            allowed=True,
            line=None,
            rule=None,
            reason="robots.txt itself is always allowed",
            section="RFC 9309 2.2.2",
            url=target.text,
            agent=self._token,
        )
        capture = await self._transport.send(Request(target, verdict, public_only=public_only))
        if isinstance(capture.result, Response):
            self._keep(capture)
        return capture

    def _read(self, origin: str, capture: Capture, last: Access | None) -> Access:
        now, dialect = self._clock.now(), self._settings.dialect
        pause_s = self._politeness.robots_pause_s(capture, last.tries if last is not None else 0)
        answers = now - self._answered_at.get(origin, float("-inf")) < LATELY_S
        if isinstance(capture.result, Failure):
            kind, detail = capture.result.kind, capture.result.detail
            return Access.from_failure(kind, now, dialect, last, retry_s=pause_s, site_answers=answers, detail=detail)
        decoded = decode_content(capture.result, ROBOTS_LIMIT_BYTES)
        if breaks_off(capture.result, decoded):
            return Access.from_failure("reset", now, dialect, last, retry_s=pause_s, site_answers=answers)
        status, headers = capture.result.status, capture.result.headers
        return Access.from_response(
            status, headers, decoded.body, now, dialect, last, retry_s=pause_s, site_answers=answers
        )

    def _remember(self, origin: str, access: Access) -> None:
        if origin in self._known:
            self._known_bytes -= _weight(self._known.pop(origin))
        self._known[origin] = known = _Known(access, self._token, Url(origin + "/robots.txt"))
        self._known_bytes += _weight(known)
        while self._known_bytes > MEMORY_BYTES and len(self._known) > 1:
            self._known_bytes -= _weight(self._known.popitem(last=False)[1])


def _weight(known: _Known) -> int:
    return len(known.access.body) + 1024


def breaks_off(response: Response, decoded: Decoded) -> bool:
    """Whether some of a robots.txt is missing, or damaged within its content coding: who knows what that closes. What
    lies beyond the limit (RFC 9309 2.5) is not missed, and what is called gzip and is none is as it was received."""
    is_damaged = decoded.error is not None and decoded.body != response.body
    is_lost = response.truncated == "disconnect" or is_damaged
    return is_lost and len(decoded.body) <= LIMIT_BYTES and 200 <= response.status < 300


def _stays_closed(access: Access) -> bool:
    """Whether the site is closed however long the outage goes on: in dialect `google` it opens after 12 hours."""
    since = access.fetched_at if access.failing_since is None else access.failing_since
    later = max(access.fetched_at, since + NO_CRAWL_S)
    return access.is_closed and replace(access, fetched_at=later).is_closed


def _redirect(capture: Capture) -> Url | None:
    if isinstance(capture.result, Response) and capture.result.status in (301, 302, 303, 307, 308):
        location = capture.result.location
        return resolve(capture.request.url, location) if location else None
    return None


def _is_refused(capture: Capture) -> bool:
    """Our own guard said no: that does not pass by waiting."""
    return isinstance(capture.result, Failure) and capture.result.kind == "private-address"
