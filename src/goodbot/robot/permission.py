"""Url → Verdict: robots.txt fetched once per origin, cached, the last good copy kept.

The only fetch that follows redirects at once (RFC 9309 §2.3.1.2), and the only one whose verdict is given in advance:
/robots.txt itself is always allowed (§2.2.2).
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace

from goodbot.config import Settings
from goodbot.exclusion import Access, Verdict
from goodbot.page import decode_content
from goodbot.ports import Clock, RobotsStore, Transport
from goodbot.url import Url, is_private_address, resolve
from goodbot.values import Capture, Failure, Request, Response

HOPS = 5
"""RFC 9309 §2.3.1.2: at least five consecutive redirects are followed."""
ROBOTS_LIMIT_BYTES = 4 * 1024 * 1024
"""Decoded bytes looked at; `Access` uses the first 500 KiB and says what it cut."""
MEMORY_BYTES = 16 * 1024 * 1024
"""Of robots.txt files kept at hand, each counted with 1 kB for itself; the store has the others."""
REST_S = 3600.0
"""How long an origin is taken for dead after the last of its tries."""
GIVEN_UP_MOST = 50_000
_QUICK = ("dns", "connect", "tls")
"""Failures that take no time and seldom pass: asked again four times as soon."""


@dataclass(frozen=True, slots=True)
class Permit:
    """A verdict; the capture if robots.txt was fetched for it just now; `given_up`: no further try will be made."""

    verdict: Verdict
    fetched: Capture | None = None
    given_up: bool = False


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
        self._known: OrderedDict[str, Access] = OrderedDict()
        self._known_bytes = 0
        self._given_up: dict[str, float] = {}
        self._under_way: dict[str, asyncio.Task[Capture]] = {}

    async def check(self, url: Url) -> Permit:
        """Whether `url` may be fetched now. `unreachable` and not given up: ask again at `verdict.valid_until`."""
        access, fetched = await self.access(url)
        given_up = self._given_up.get(url.origin, 0.0) > self._clock.now()
        return Permit(access.verdict(url.text, self._token), fetched, given_up)

    async def access(self, url: Url) -> tuple[Access, Capture | None]:
        """The robots.txt in force at the origin of `url`, and the capture if it was fetched just now."""
        access = self._load(url.origin)
        if access is not None and access.valid_until > self._clock.now():
            return access, None
        fetched = await self._refresh(url, access)
        return self._known[url.origin], fetched

    def _load(self, origin: str) -> Access | None:
        access = self._known.get(origin)
        if access is None:
            access = self._store.load_robots(origin)
            if access is None:
                return None
            if access.result == "unreachable":  # a new run tries afresh; the host's own rest is kept by the frontier
                access = replace(access, tries=0, valid_until=0.0)
            self._remember(origin, access)
        self._known.move_to_end(origin)
        return access

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
        first, final = await self._follow(url.robots_txt)
        access = self._read(final, last)
        origin = url.origin
        given_up = _is_refused(final) or (access.good_at is None and access.tries >= self._settings.robots_tries)
        if access.result == "unreachable" and given_up:
            if len(self._given_up) >= GIVEN_UP_MOST:
                self._given_up.clear()  # an origin asked once too often costs less than a list without end
            self._given_up[origin] = self._clock.now() + REST_S
            access = replace(access, valid_until=self._given_up[origin])
        else:
            self._given_up.pop(origin, None)
        self._store.save_robots(origin, access)
        self._remember(origin, access)
        return first

    async def _follow(self, target: Url) -> tuple[Capture, Capture]:
        """The first answer, of the origin asked, and the last one, after at most `HOPS` redirects."""
        capture = first = await self._send(target, public_only=False)
        for _ in range(HOPS):
            location = _redirect(capture)
            if location is None:
                break
            public = first.peer is not None and not self._settings.proxy and not is_private_address(first.peer)
            capture = await self._send(location, public_only=public)
        return first, capture

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

    def _read(self, capture: Capture, last: Access | None) -> Access:
        now = self._clock.now()
        tries = last.tries if last is not None else 0
        retry_s = self._settings.robots_retry_first * 3.0 ** min(tries, 10)
        if isinstance(capture.result, Failure):
            quick = 0.25 if capture.result.kind in _QUICK else 1.0
            return Access.from_failure(capture.result.kind, now, last_good=last, retry_s=retry_s * quick)
        decoded = decode_content(capture.result, ROBOTS_LIMIT_BYTES)
        return Access.from_response(
            capture.result.status, capture.result.headers, decoded.body, now, last_good=last, retry_s=retry_s
        )

    def _remember(self, origin: str, access: Access) -> None:
        if origin in self._known:
            self._known_bytes -= _weight(self._known.pop(origin))
        self._known[origin] = access
        self._known_bytes += _weight(access)
        while self._known_bytes > MEMORY_BYTES and len(self._known) > 1:
            self._known_bytes -= _weight(self._known.popitem(last=False)[1])


def _weight(access: Access) -> int:
    return len(access.body) + 1024


def _redirect(capture: Capture) -> Url | None:
    if isinstance(capture.result, Response) and capture.result.status in (301, 302, 303, 307, 308):
        return resolve(capture.request.url, capture.result.header("location") or "")
    return None


def _is_refused(capture: Capture) -> bool:
    """Our own guard said no: that does not pass by waiting."""
    return isinstance(capture.result, Failure) and capture.result.kind == "private-address"
