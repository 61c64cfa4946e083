"""Gives a verdict for each URL: fetches robots.txt once per origin, caches it, and keeps the last good copy.

This is the only fetch that follows redirects at once (RFC 9309 §2.3.1.2), and the only one whose verdict is given in
advance: /robots.txt itself is always allowed (§2.2.2).
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from goodbot.config import Settings
from goodbot.exclusion import CLOCK_BACK_S, LIMIT_BYTES, Access, PreferenceSource, Verdict
from goodbot.exclusion.robotstxt.timing import Timing
from goodbot.exclusion.validity.freshness import LONGEST_FRESH_S
from goodbot.exclusion.validity.outage import NO_CRAWL_S
from goodbot.live import Holding
from goodbot.lru import LruCache
from goodbot.page.coding import Decoded, decode_content
from goodbot.ports import Clock, RobotsStore, Transport
from goodbot.robot.manners.pace import Pace
from goodbot.robot.manners.politeness import NOTHING_ASKED, Delay, Politeness, asked_gap_s, bounded_timing
from goodbot.robot.manners.robots_redirects import TURN_TIMEOUT_S, NotFollowed, RobotsKey, RobotsRedirects
from goodbot.robot.manners.search_preferences import SearchPreferences
from goodbot.url import Url, is_private_host, resolve
from goodbot.values import OWN_REFUSALS, Capture, Failure, Response

_LOG: Final = logging.getLogger(__name__)

MAX_LEVELS = 2
"""How long a chain of robots.txt fetches may be in which each waits for the next, because a redirect leads there. At
most 30 requests in all."""
ROBOTS_LIMIT_BYTES = 4 * 1024 * 1024
"""Decoded bytes that are read; `Access` uses the first 500 KiB and says what it cut."""
MAX_SITEMAPS = 1000
"""Sitemaps taken from one robots.txt. The file has room for 15,000, but a site with more than a few lists them in a
sitemap index."""
MEMORY_BYTES = 8 * 1024 * 1024
"""Memory for parsed robots.txt files, which take up to 50 times the bytes of the file. The store has the others."""
_URL_BYTES: Final = 300
"""Counted for one URL: twice what tracemalloc measured for a URL of 45 characters."""
MAX_UNUSED = 100_000
"""Origins remembered because their robots.txt was fetched but not yet used for a page; 0.2 kB each."""
MAX_ORIGINS = 50_000
"""How many origins are remembered as given up, and how many as answering."""
RECENT_ANSWER_S = 24 * 3600.0
"""For this long an answer to another page counts as a sign that a site answers (dialect `google`, 30 days into an
outage)."""


@dataclass(frozen=True, slots=True)
class Permit:
    """A verdict, and the times and rates of requests that robots.txt permits.

    `delay`: that of the host, if robots.txt was fetched from it just now. `given_up`: no further try will be made.
    `sitemaps`, `clean_params`: those that robots.txt names. `from_public`: a public host served it, or it is unknown
    which host did. `failure`: that of `Access`. `no_search`: the statement that keeps the page out of search, if there
    is one and the page may be fetched. The verdict's `delay_s` is the gap that Crawl-delay or Request-rate asks for at
    the moment."""

    verdict: Verdict
    timing: Timing
    delay: Delay | None = None
    given_up: bool = False
    sitemaps: tuple[Url, ...] = ()
    clean_params: tuple[tuple[tuple[str, ...], str], ...] = ()
    from_public: bool = False
    failure: str | None = None
    no_search: PreferenceSource | None = None

    @property
    def held_until(self) -> float | None:
        """If robots.txt was put off because a host's delay is too long to wait for: when it can be fetched. Else
        None."""
        held = self.failure == "held-off" and not self.verdict.allowed and self.verdict.rule is None
        return self.verdict.valid_until if held else None


@dataclass
class _Known:
    """A robots.txt in memory with its timing and its sitemaps, each read once. `from_public`: None for a stored one, of
    which this is unknown. `weighed_bytes`: its weight when it was last put into the cache."""

    access: Access
    token: str
    url: Url
    from_public: bool | None = None
    weighed_bytes: int = 0

    @property
    def weight_bytes(self) -> int:
        """About what it takes in memory at the moment: more once it has given a verdict."""
        unused = 0 if self.access.in_force == "rules" else len(self.access.body)
        sitemaps = _URL_BYTES * len(vars(self).get("sitemaps", ()))  # those that were read
        return 2048 + unused + sitemaps + self.access.rules.weight_bytes

    def weigh(self) -> int:
        """Returns its weight, and remembers it."""
        self.weighed_bytes = self.weight_bytes
        return self.weighed_bytes

    @cached_property
    def preferences(self) -> SearchPreferences:
        return SearchPreferences(self.access, self.token)

    @cached_property
    def timing(self) -> Timing:
        return bounded_timing(self.access.rules.timing(self.token))

    @cached_property
    def sitemaps(self) -> tuple[Url, ...]:
        """The first `MAX_SITEMAPS`. They should be absolute (RFC 9309 §2.2.4); relative ones are resolved."""
        named = (resolve(self.url, text) for text in self.access.rules.sitemaps[:MAX_SITEMAPS])
        return tuple(url for url in named if url is not None)

    @cached_property
    def clean_params(self) -> tuple[tuple[tuple[str, ...], str], ...]:
        """See `RobotsTxt.clean_params`. A file that does not contain the word is not parsed again."""
        return tuple(self.access.rules.clean_params) if b"lean-param" in self.access.body.lower() else ()


class Permission:
    """Fetches the robots.txt of every origin before anything else. `keep` receives each capture made here.

    Each request waits for its turn at `pace`, which the page requests share. If the wait would be longer than
    `turn_timeout_s`, the request is put off, and robots.txt counts as unreachable until then.
    """

    def __init__(
        self,
        settings: Settings,
        token: str,
        transport: Transport,
        store: RobotsStore,
        clock: Clock,
        keep: Callable[[Capture], object] = lambda capture: None,
        *,
        pace: Pace | None = None,
        turn_timeout_s: float = TURN_TIMEOUT_S,
        memory_bytes: int = MEMORY_BYTES,
    ) -> None:
        self._settings = settings
        self._token = token
        self._store = store
        self._clock = clock
        self.pace = pace or Pace(settings, clock)
        self._redirects = RobotsRedirects(
            settings,
            token,
            transport,
            clock,
            self.pace,
            judge=self._judge,
            timing=self.timing_of,
            keep=keep,
            turn_timeout_s=turn_timeout_s,
        )
        self._politeness = Politeness(settings)
        self._began_at = clock.now()
        self._known: LruCache[str, _Known] = LruCache(limit_bytes=memory_bytes, weigh=_Known.weigh)
        self._unused: LruCache[str, float] = LruCache(MAX_UNUSED)
        self._given_up: dict[str, float] = {}
        self._answered_at: dict[str, float] = {}
        self._under_way: dict[RobotsKey, asyncio.Task[tuple[_Known, Delay | None]]] = {}
        self._waiting: dict[RobotsKey, RobotsKey] = {}

    @property
    def held_bytes(self) -> int:
        """About what the robots.txt files in memory take."""
        return self._known.bytes

    def holdings(self) -> tuple[Holding, ...]:
        """Returns how many robots.txt files are in memory, and about how many bytes they take."""
        return (Holding("robots_txt", len(self._known), self._known.bytes),)

    async def check(self, url: Url, *, public_only: bool = False) -> Permit:
        """Decides whether `url` may be fetched now. If robots.txt is `unreachable` and the permit is not `given_up`,
        check again at `verdict.valid_until`.

        `public_only`: robots.txt is not fetched from a private address either. A failure for that reason is not
        remembered, because it does not concern other requests for the same URL."""
        known, delay = await self._in_force(url, public_only)
        given_up = self._given_up.get(url.origin, 0.0) > self._clock.now() or _is_barred(known.access)
        verdict = self._verdict(known, url)
        no_search = known.preferences.refusal(url) if verdict.allowed else None
        if known.timing.rates:
            verdict = replace(verdict, delay_s=asked_gap_s(known.timing, self._clock.now()) or None)
        return Permit(
            verdict,
            known.timing,
            delay,
            given_up,
            known.sitemaps,
            known.clean_params,
            _is_from_public(known),
            known.access.failure,
            no_search,
        )

    def forbids(self, url: Url) -> bool:
        """Returns whether a known robots.txt, however old, disallows `url`. Sends no request."""
        known = self._load(url.origin)
        return known is not None and not self._verdict(known, url).allowed

    def _verdict(self, known: _Known, url: Url) -> Verdict:
        """Returns the verdict. A robots.txt may take more memory after it; then the cache counts it anew."""
        verdict = known.access.verdict(url.text, self._token)
        if known.weight_bytes != known.weighed_bytes and self._known.get(url.origin) is known:
            self._known.put(url.origin, known)
        return verdict

    async def access(self, url: Url) -> Access:
        """Returns the robots.txt in force at the origin of `url`."""
        known, _ = await self._in_force(url)
        return known.access

    def close(self) -> None:
        """Cancels the fetches in flight."""
        self._redirects.close()

    def answered(self, url: Url) -> None:
        """Notes that a page of this origin was answered."""
        if len(self._answered_at) >= MAX_ORIGINS:
            self._answered_at.clear()  # this matters only after 30 days of outage, and the next page notes it again
        self._answered_at[url.origin] = self._clock.now()

    async def _in_force(self, url: Url, public_only: bool = False, level: int = 0) -> tuple[_Known, Delay | None]:
        origin = url.origin
        known = self._load(origin)
        if known is not None and self._may_be_used(origin, known.access):
            return known, None
        return await self._refresh(url, known.access if known is not None else None, public_only, level)

    def _may_be_used(self, origin: str, access: Access) -> bool:
        """Returns whether a robots.txt may be used: it is fresh, or it was fetched for a page that could not be
        requested until now.

        Fetching robots.txt costs the host's delay, and on a broad crawl the host's turn, which comes again only after
        minutes. So if a server lets robots.txt be kept for only a minute, it would have expired before every page, and
        none would ever be requested. So the first page after a fetch uses what was fetched, for 24 hours at most (RFC
        9309 §2.4)."""
        now = self._clock.now()
        fetched_at = self._unused.pop(origin)
        if access.is_fresh(now):
            return True
        is_unused = fetched_at == access.fetched_at and access.result != "unreachable"
        return is_unused and access.fetched_at - CLOCK_BACK_S <= now < access.fetched_at + LONGEST_FRESH_S

    def _load(self, origin: str) -> _Known | None:
        known = self._known.get(origin)
        if known is None:
            access = self._store.load_robots(origin)
            if access is None:
                return None
            if access.dialect != self._settings.dialect:
                access = access.in_dialect(self._settings.dialect)
            if access.result == "unreachable" and access.fetched_at < self._began_at:
                access = replace(access, tries=0, valid_until=0.0)  # the frontier keeps the host's own delay
            return self._remember(origin, access, None)
        return known

    async def _refresh(
        self, url: Url, last: Access | None, public_only: bool, level: int = 0
    ) -> tuple[_Known, Delay | None]:
        """Fetches robots.txt, or waits for the fetch of this origin that is in flight. Only the caller that began the
        fetch gets its delay.
        """
        key = url.robots_txt, public_only
        task = self._under_way.get(key)
        if task is not None:
            return (await asyncio.shield(task))[0], None
        task = self._under_way[key] = asyncio.create_task(self._fetch(url, last, public_only, level))
        task.add_done_callback(lambda _: self._under_way.pop(key, None))
        return await asyncio.shield(task)

    async def _fetch(self, url: Url, last: Access | None, public_only: bool, level: int) -> tuple[_Known, Delay | None]:
        followed = await self._redirects.follow(url.robots_txt, public_only, level)
        access = self._read(url.origin, followed.last, last)
        if public_only and _is_barred(access):  # requests that are not `public_only` may still go there
            return _Known(access, self._token, url.robots_txt, from_public=True), followed.delay
        held = isinstance(followed.last, NotFollowed) and followed.last.until is not None
        if held:
            access = replace(access, tries=last.tries if last is not None else 0)
        self._unused.put(url.origin, access.fetched_at)
        is_last = access.tries >= self._settings.robots_tries or _is_lasting(followed.last)
        given_up = _is_barred(access) or (is_last and _stays_closed(access))
        if access.result == "unreachable" and given_up:
            if len(self._given_up) >= MAX_ORIGINS:
                self._given_up.clear()  # one request too many to an origin is cheaper than an unbounded list
            self._given_up[url.origin] = self._clock.now() + self._settings.given_up_rest
            access = replace(access, valid_until=self._given_up[url.origin])
            if not _is_lasting(followed.last):  # a broad crawl meets thousands of names that do not exist
                _LOG.warning(
                    "robots.txt of %s is unreachable (%s) after %d tries: no requests there for %.0f s",
                    *(url.origin, access.failure or access.status, access.tries, self._settings.given_up_rest),
                )
        else:
            self._given_up.pop(url.origin, None)
        # a stored copy does not say that a public host served it
        if not held and not (followed.from_public and is_private_host(url.host)):
            self._store.save_robots(url.origin, access)
        return self._remember(url.origin, access, followed.from_public), followed.delay

    # Deviation (RFC 9309 §2.3.1.2): not every redirect is followed, because the target host's robots.txt decides.
    async def _judge(self, chain: RobotsKey, url: Url, public_only: bool, level: int) -> NotFollowed | None:
        """Returns why a redirect to `url` is not followed in `chain`, the fetch of one robots.txt with its redirects;
        None if it is followed. A /robots.txt is always open, and so is everything at the origin that redirects. Any
        other URL needs a verdict of its own robots.txt. If two robots.txt wait for each other, one goes on without a
        verdict."""
        awaited = url.robots_txt, public_only
        if url in (url.robots_txt, chain[0]) or url.origin == chain[0].origin or self._waits_for(awaited, chain):
            return None
        if level >= MAX_LEVELS:
            return NotFollowed(
                "redirect-closed", f"it redirects to {url}, after too many other redirects to check that robots.txt"
            )
        self._waiting[chain] = awaited
        try:
            known, _ = await self._in_force(url, public_only, level + 1)
        finally:
            del self._waiting[chain]
        verdict = known.access.verdict(url.text, self._token)
        if verdict.allowed:
            return None
        until = known.access.valid_until if known.access.failure == "held-off" else None
        kind = "redirect-closed" if until is None else "held-off"
        return NotFollowed(kind, f"it redirects to {url}, and there: {verdict.reason.rstrip('.')}", until)

    def _waits_for(self, chain: RobotsKey, other: RobotsKey) -> bool:
        while chain != other and chain in self._waiting:
            chain = self._waiting[chain]
        return chain == other

    def timing_of(self, url: Url) -> Timing:
        """Returns what is known of when and how often `url` may be requested. Visit-time does not apply to /robots.txt,
        because it is the file that states it, nor does a gap too long for a crawl, because nothing else is
        requested then."""
        known = self._load(url.origin)
        timing = known.timing if known is not None else NOTHING_ASKED
        if url != url.robots_txt or timing == NOTHING_ASKED:
            return timing
        is_too_slow = self._politeness.too_slow(timing, self._clock.now())
        return NOTHING_ASKED if is_too_slow else replace(timing, windows=())

    def _read(self, origin: str, capture: Capture | NotFollowed, last: Access | None) -> Access:
        now, dialect, tries = self._clock.now(), self._settings.dialect, last.tries if last is not None else 0
        answers = now - self._answered_at.get(origin, float("-inf")) < RECENT_ANSWER_S
        if isinstance(capture, NotFollowed):
            pause_s = self._politeness.pause_s(private=is_private_host(Url(origin + "/").host), tries=tries)
            pause_s = pause_s if capture.until is None else capture.until - now
            common = capture.kind, now, dialect, last
            return Access.from_failure(*common, retry_s=pause_s, site_answers=answers, detail=capture.detail)
        pause_s = self._politeness.robots_pause_s(capture, tries)
        if isinstance(capture.result, Failure):
            kind, detail = capture.result.kind, capture.result.detail
            return Access.from_failure(kind, now, dialect, last, retry_s=pause_s, site_answers=answers, detail=detail)
        decoded = decode_content(capture.result, ROBOTS_LIMIT_BYTES)
        if is_incomplete(capture.result, decoded):
            return Access.from_failure("reset", now, dialect, last, retry_s=pause_s, site_answers=answers)
        return Access.from_response(
            capture.result.status,
            capture.result.headers,
            decoded.body,
            now,
            dialect,
            last,
            retry_s=pause_s,
            site_answers=answers,
            conditional=False,
        )

    def _remember(self, origin: str, access: Access, from_public: bool | None) -> _Known:
        known = _Known(access, self._token, Url(origin + "/robots.txt"), from_public)
        self._known.put(origin, known)
        return known


def is_incomplete(response: Response, decoded: Decoded) -> bool:
    """Returns whether a part of a robots.txt is missing, or damaged within its content coding: the missing part may
    hold rules. Bytes beyond the limit (RFC 9309 §2.5) are not missed. A body that is labelled gzip but is not, is
    read as received."""
    is_damaged = decoded.error is not None and decoded.body != response.body
    is_lost = response.truncated == "disconnect" or is_damaged
    return is_lost and len(decoded.body) <= LIMIT_BYTES and 200 <= response.status < 300


def _stays_closed(access: Access) -> bool:
    """Returns whether the site stays closed for the whole outage, however long: in dialect `google` it opens after 12
    hours."""
    since = access.fetched_at if access.failing_since is None else access.failing_since
    later = max(access.fetched_at, since + NO_CRAWL_S)
    return access.is_closed and replace(access, fetched_at=later).is_closed


def _is_lasting(last: Capture | NotFollowed) -> bool:
    return isinstance(last, Capture) and isinstance(last.result, Failure) and last.result.lasting


def _is_barred(access: Access) -> bool:
    """Returns whether this robot itself refused the request: waiting does not change that."""
    return access.result == "unreachable" and access.failure in OWN_REFUSALS


def _is_from_public(known: _Known) -> bool:
    """Returns whether a public host served the robots.txt. A stored one does not record that, but one from a private
    host is stored only if no redirect led to a public host."""
    return not is_private_host(known.url.host) if known.from_public is None else known.from_public
