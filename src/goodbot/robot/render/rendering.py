"""Pages that need JavaScript: the document we have fetched is given to a browser, whatever it asks for is ours to judge
and to fetch, and what it has made of the page in the end is read.

The browser itself reaches nobody; see `chromium`.
"""

import asyncio
import re
from collections import Counter
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, Protocol

from goodbot.config import Settings
from goodbot.human import counted
from goodbot.page import decode_content
from goodbot.page.rendered import Rendered
from goodbot.ports import Clock
from goodbot.robot.render.subresources import FetchedResource, RefusedResource, Subresources
from goodbot.robot.scope.scope import Scope
from goodbot.url import parse_url
from goodbot.values import Capture, Event, Headers, Response

AT_ONCE: Final = 2
"""Pages in the browser at once: each is a process of 60 to 200 MB and may keep a core busy."""
PAGE_BYTES: Final = 10 * 1024 * 1024
"""What the requests of one page may bring, unfolded."""
REFUSED_MOST: Final = 500
"""Requests of one page refused before it is told to stop: each costs three processes a message."""
NAMED_MOST: Final = 10
"""Refused requests that are named one by one."""
HEADER_MOST: Final = 1000
"""Characters of a header field that is handed on."""

_HTML_TYPES: Final = ("text/html", "application/xhtml+xml")
_MAY_RUN: Final = re.compile(rb"script|\son[a-z]", re.IGNORECASE)
"""What a page has that runs something: an element, a URL, a handler. What has none of it stays as it is."""
_ANSWERED: Final = frozenset({"script", "stylesheet", "xhr", "fetch", "document"})
"""Kinds of requests that may be fetched; a page's text seldom hangs on others."""
_HANDED_ON: Final = frozenset({"accept", "origin"})
_WITHHELD: Final = re.compile(
    r"content-(encoding|length|disposition|security-policy-report-only)|transfer-encoding|connection|set-cookie2?|nel|report-to"
    r"|reporting-endpoints|alt-svc|strict-transport-security|clear-site-data|(www|proxy)-authenticate|refresh",
    re.IGNORECASE,
)
"""Fields that do not fit an answer unfolded, or have the browser do more than show the page."""


class ResourceRequest(NamedTuple):
    """What a page in the browser asks for. `kind` as Playwright names it, headers with their names in lower case."""

    url: str
    kind: str
    method: str = "GET"
    headers: Headers = ()


class ServedResource(NamedTuple):
    """What the browser is given: no content coding on it."""

    status: int
    headers: Headers
    body: bytes


@dataclass(frozen=True, slots=True)
class RenderedDom:
    """What came of a page in the browser. `html` is its document, None if it cannot be had; `cut`: there was more.

    `ended`: nothing happened any more, its time was over, it asked for too much, or its tab or the whole browser went.
    `wishes` are where its scripts wanted to take the whole tab, as absolute URLs.
    """

    html: str | None
    ended: Literal["quiet", "time", "flood", "lost"]
    cut: bool = False
    wishes: tuple[str, ...] = ()
    detail: str = ""


class ResourceLoader(Protocol):
    """What a page's requests are answered with; None: with nothing. True once it has asked for too much."""

    async def answer(self, wanted: ResourceRequest) -> ServedResource | None: ...

    @property
    def is_flooded(self) -> bool: ...


class Browser(Protocol):
    """Shows a page that is given to it, and asks `answers` for everything else."""

    async def show(self, url: str, document: ServedResource, answers: ResourceLoader, time_s: float) -> RenderedDom: ...

    async def close(self) -> None: ...


class Renderer:
    """Renders the pages of one crawl that may have something to run; `AT_ONCE` at a time."""

    def __init__(
        self, settings: Settings, scope: Scope, browser: Browser, subresources: Subresources, clock: Clock
    ) -> None:
        self._settings = settings
        self._scope = scope
        self._browser = browser
        self._subresources = subresources
        self._clock = clock
        self._room = asyncio.Semaphore(AT_ONCE)

    async def render(self, capture: Capture) -> Rendered | None:
        """The page, `render_time` seconds after it has come to the browser at the latest; None if there is nothing to
        render."""
        document = self._document(capture)
        if document is None:
            return None
        async with self._room:
            began_at = self._clock.now()
            errands = Errands(capture, self._settings, self._subresources, began_at + self._settings.render_time)
            url = capture.request.url.text
            shown = await self._browser.show(url, document, errands, self._settings.render_time)
            return errands.rendered(shown, began_at, self._clock.now())

    async def close(self) -> None:
        """Ends the browser."""
        await self._browser.close()

    def _document(self, capture: Capture) -> ServedResource | None:
        """What the browser is given: HTML of a crawl that wants it, and that may run something."""
        response = capture.result
        if not isinstance(response, Response) or not 200 <= response.status < 300:
            return None
        if response.media_type not in _HTML_TYPES or self._scope.refuse_answer(response.media_type, len(response.body)):
            return None
        body = decode_content(response, self._settings.decoded_limit).body
        return _served(response, body) if may_run(body) else None


def may_run(document: bytes) -> bool:
    """Whether there is anything in it that a browser would run; in doubt there is."""
    return _MAY_RUN.search(document) is not None


class Errands:
    """The requests of one page: `ResourceLoader` within the bounds of a page. Keeps what was refused, for `why`."""

    def __init__(self, page: Capture, settings: Settings, subresources: Subresources, until: float) -> None:
        self._host = page.request.url.host_key
        self._origin = page.request.url.origin
        self._has_public_frame = False
        self._public_only = page.request.public_only or subresources.is_public(page)
        self._most = settings.render_requests
        self._subresources = subresources
        self._until = until
        self._bytes = 0
        self._requests = 0
        self._answered = 0
        self._reasons: Counter[str] = Counter()
        self._forbidden: dict[str, RefusedResource] = {}
        self._ready_at = 0.0

    @property
    def is_flooded(self) -> bool:
        """Whether the page is to be told to stop."""
        return self._reasons.total() >= REFUSED_MOST

    async def answer(self, wanted: ResourceRequest) -> ServedResource | None:
        """What the page gets; None: its request fails."""
        got = await self._fetch(wanted)
        if isinstance(got, ServedResource):
            self._answered += 1
            return got
        if got.by_robots_txt:
            if len(self._forbidden) < NAMED_MOST:
                self._forbidden.setdefault(wanted.url, got)
            self._reasons["forbidden by robots.txt"] += 1
        elif len(self._reasons) < NAMED_MOST or got.reason in self._reasons:
            self._reasons[got.reason] += 1
        else:
            self._reasons["other reasons"] += 1
        return None

    async def _fetch(self, wanted: ResourceRequest) -> ServedResource | RefusedResource:
        if wanted.kind not in _ANSWERED:
            return RefusedResource(f"kind {wanted.kind}")
        if wanted.method != "GET":
            return RefusedResource("not a GET")
        url = parse_url(wanted.url)
        if url is None:
            return RefusedResource("no http or https URL")
        if self._requests >= self._most:
            return RefusedResource(f"more than {self._most} requests")
        self._requests += 1
        public_only = self._public_only or (self._has_public_frame and not self._is_by_page(wanted))
        got = await self._subresources.get(url, _handed_on(wanted), self._until, public_only=public_only)
        if wanted.kind == "document" and isinstance(got, FetchedResource) and got.from_public:
            self._has_public_frame = True
        return got if isinstance(got, RefusedResource) else self._taken(got, url.host_key)

    def _is_by_page(self, wanted: ResourceRequest) -> bool:
        """Whether the page itself asks, not a frame in it: by what a browser says, which no script can change."""
        said = [value for name, value in wanted.headers if name in ("origin", "referer")]
        return bool(said) and all(f"{value}/".startswith(f"{self._origin}/") for value in said)

    def _taken(self, got: FetchedResource, host: str) -> ServedResource | RefusedResource:
        if host == self._host:
            self._ready_at = max(self._ready_at, got.ready_at)
        decoded = decode_content(got.response, PAGE_BYTES - self._bytes)
        self._bytes += len(decoded.body)
        if self._bytes >= PAGE_BYTES:
            return RefusedResource(f"more than {PAGE_BYTES // 1024**2} MiB")
        return _served(got.response, decoded.body)

    def rendered(self, shown: RenderedDom, began_at: float, now: float) -> Rendered:
        """What came of the page, with its story."""
        forbidden = tuple(
            Event(now, "permission", "disallowed", f"the page asks for {url}: {refused.reason}", refused.line)
            for url, refused in self._forbidden.items()
        )
        decision = "as it came" if shown.html is None else "rendered"
        event = Event(now, "read", decision, self._story(shown, now - began_at))
        return Rendered(shown.html, shown.wishes, (*forbidden, event), self._ready_at)

    def _story(self, shown: RenderedDom, seconds: float) -> str:
        asked = self._answered + self._reasons.total()
        parts = [f"in {seconds * 1000:.0f} ms, {_ENDS[shown.ended]}{shown.detail and f' ({shown.detail})'}"]
        parts.append(f"{counted(asked, 'request')}, {self._answered} answered")
        if self._reasons:
            named = ", ".join(f"{count} {reason}" for reason, count in self._reasons.most_common())
            parts.append(f"{self._reasons.total()} refused: {named}")
        if shown.cut:
            parts.append("the document is longer than what is read of it")
        return "; ".join(parts)


_ENDS: Final = {
    "quiet": "until nothing happened any more",
    "time": "when its time was over",
    "flood": "when it had asked for too much",
    "lost": "when its tab was lost",
}


def _handed_on(wanted: ResourceRequest) -> Headers:
    """What a server may need to know; the rest of a browser's fields are the browser's, and the robot is no browser."""
    return tuple(
        (name, value)
        for name, value in wanted.headers
        if name in _HANDED_ON
        and value != "*/*"
        and len(value) <= HEADER_MOST
        and value.isascii()
        and value.isprintable()
    )


def _served(response: Response, body: bytes) -> ServedResource:
    headers = tuple((name, value) for name, value in response.headers if not _WITHHELD.fullmatch(name))
    return ServedResource(response.status, headers, body)
