"""Renders pages that need JavaScript: gives a fetched document to a browser, judges and fetches what the page requests,
and takes the resulting DOM.

The browser itself cannot reach the network; see `chromium`.
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

MAX_TABS: Final = 2
"""Pages in the browser at a time: each is a process of 60 to 200 MB and may keep a core busy."""
PAGE_BYTES: Final = 10 * 1024 * 1024
"""Limit of the answers to the requests of one page together, without content coding."""
MAX_REFUSED: Final = 500
"""A page is stopped after this many refused requests, since each needs messages between three processes."""
MAX_NAMED: Final = 10
"""Refused requests that are listed one by one."""
MAX_HEADER_CHARS: Final = 1000
"""A longer header field of the browser is not forwarded."""

_HTML_TYPES: Final = ("text/html", "application/xhtml+xml")
_MAY_RUN: Final = re.compile(rb"script|\son[a-z]", re.IGNORECASE)
"""Found in every page that runs scripts: as an element, a URL or an event handler. Other pages are not rendered."""
_FETCHED_KINDS: Final = frozenset({"script", "stylesheet", "xhr", "fetch", "document"})
"""Kinds of requests that are fetched. The text of a page seldom depends on other kinds."""
_FORWARDED_FIELDS: Final = frozenset({"accept", "origin"})
_REMOVED_FIELDS: Final = re.compile(
    r"content-(encoding|length|disposition|security-policy-report-only)|transfer-encoding|connection|set-cookie2?|nel|report-to"
    r"|reporting-endpoints|alt-svc|strict-transport-security|clear-site-data|(www|proxy)-authenticate|refresh",
    re.IGNORECASE,
)
"""Header fields removed from answers: they do not fit a decoded body, or make the browser do more than show the
page."""


class ResourceRequest(NamedTuple):
    """A request of a page in the browser. `kind` as Playwright names it; header names in lower case."""

    url: str
    kind: str
    method: str = "GET"
    headers: Headers = ()


class ServedResource(NamedTuple):
    """An answer for the browser, without content coding."""

    status: int
    headers: Headers
    body: bytes


@dataclass(frozen=True, slots=True)
class RenderedDom:
    """The result of showing a page. `html` is its document, None if it could not be read; `cut`: it was longer.

    `ended`: `quiet` if nothing happened any longer, `time` if its time was over, `flood` if it requested too much,
    `lost` if its tab or the browser ended. `navigations`: the absolute URLs that its scripts tried to open in place of
    the page.
    """

    html: str | None
    ended: Literal["quiet", "time", "flood", "lost"]
    cut: bool = False
    navigations: tuple[str, ...] = ()
    detail: str = ""


class ResourceLoader(Protocol):
    """Answers the requests of a page; None: the request fails. `is_flooded`: the page has sent too many."""

    async def answer(self, request: ResourceRequest) -> ServedResource | None: ...

    @property
    def is_flooded(self) -> bool: ...


class Browser(Protocol):
    """Shows a document, and gets everything else from `answers`."""

    async def show(self, url: str, document: ServedResource, answers: ResourceLoader, time_s: float) -> RenderedDom: ...

    async def close(self) -> None: ...


class Renderer:
    """Renders the pages of one crawl that may run scripts, `MAX_TABS` at a time."""

    def __init__(
        self, settings: Settings, scope: Scope, browser: Browser, subresources: Subresources, clock: Clock
    ) -> None:
        self._settings = settings
        self._scope = scope
        self._browser = browser
        self._subresources = subresources
        self._clock = clock
        self._room = asyncio.Semaphore(MAX_TABS)

    async def render(self, capture: Capture) -> Rendered | None:
        """Renders a page within `render_time` seconds. Returns None if the answer should not be rendered."""
        document = self._document(capture)
        if document is None:
            return None
        async with self._room:
            began_at = self._clock.now()
            requests = PageRequests(capture, self._settings, self._subresources, began_at + self._settings.render_time)
            url = capture.request.url.text
            dom = await self._browser.show(url, document, requests, self._settings.render_time)
            return requests.rendered(dom, began_at, self._clock.now())

    async def close(self) -> None:
        """Ends the browser."""
        await self._browser.close()

    def _document(self, capture: Capture) -> ServedResource | None:
        """Returns the document for the browser; None unless it is HTML in scope that may run scripts."""
        response = capture.result
        if not isinstance(response, Response) or not 200 <= response.status < 300:
            return None
        if response.media_type not in _HTML_TYPES or self._scope.refuse_answer(response.media_type, len(response.body)):
            return None
        body = decode_content(response, self._settings.decoded_limit).body
        return _served(response, body) if may_run(body) else None


def may_run(document: bytes) -> bool:
    """Whether the document may contain a script; True in doubt."""
    return _MAY_RUN.search(document) is not None


class PageRequests:
    """Answers the requests of one page within its limits (`ResourceLoader`), and records what was refused, for
    `why`."""

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
        """Whether the page has to be stopped."""
        return self._reasons.total() >= MAX_REFUSED

    async def answer(self, request: ResourceRequest) -> ServedResource | None:
        """Answers a request of the page; None: the request fails."""
        result = await self._fetch(request)
        if isinstance(result, ServedResource):
            self._answered += 1
            return result
        if result.by_robots_txt:
            if len(self._forbidden) < MAX_NAMED:
                self._forbidden.setdefault(request.url, result)
            self._reasons["disallowed by robots.txt"] += 1
        elif len(self._reasons) < MAX_NAMED or result.reason in self._reasons:
            self._reasons[result.reason] += 1
        else:
            self._reasons["other reasons"] += 1
        return None

    async def _fetch(self, request: ResourceRequest) -> ServedResource | RefusedResource:
        if request.kind not in _FETCHED_KINDS:
            return RefusedResource(f"kind {request.kind}")
        if request.method != "GET":
            return RefusedResource("not a GET")
        url = parse_url(request.url)
        if url is None:
            return RefusedResource("no http or https URL")
        if self._requests >= self._most:
            return RefusedResource(f"more than {self._most} requests")
        self._requests += 1
        public_only = self._public_only or (self._has_public_frame and not self._is_by_page(request))
        result = await self._subresources.get(url, _forwarded_fields(request), self._until, public_only=public_only)
        if request.kind == "document" and isinstance(result, FetchedResource) and result.from_public:
            self._has_public_frame = True
        return result if isinstance(result, RefusedResource) else self._decoded(result, url.host_key)

    def _is_by_page(self, request: ResourceRequest) -> bool:
        """Whether the page itself sent the request, not a frame in it. The header fields used are set by the browser,
        and scripts cannot change them."""
        senders = [value for name, value in request.headers if name in ("origin", "referer")]
        return bool(senders) and all(f"{value}/".startswith(f"{self._origin}/") for value in senders)

    def _decoded(self, result: FetchedResource, host: str) -> ServedResource | RefusedResource:
        if host == self._host:
            self._ready_at = max(self._ready_at, result.ready_at)
        decoded = decode_content(result.response, PAGE_BYTES - self._bytes)
        self._bytes += len(decoded.body)
        if self._bytes >= PAGE_BYTES:
            return RefusedResource(f"more than {PAGE_BYTES // 1024**2} MiB")
        return _served(result.response, decoded.body)

    def rendered(self, dom: RenderedDom, began_at: float, now: float) -> Rendered:
        """Returns the rendered page, with the events that describe it."""
        events = tuple(
            Event(now, "permission", "disallowed", f"the page requests {url}: {refused.reason}", refused.line)
            for url, refused in self._forbidden.items()
        )
        decision = "as it came" if dom.html is None else "rendered"
        event = Event(now, "read", decision, self._description(dom, now - began_at))
        unfinished = _UNFINISHED[dom.ended].format(seconds=now - began_at)
        return Rendered(dom.html, dom.navigations, (*events, event), self._ready_at, unfinished)

    def _description(self, dom: RenderedDom, seconds: float) -> str:
        total = self._answered + self._reasons.total()
        parts = [f"in {seconds * 1000:.0f} ms, {_ENDS[dom.ended]}{dom.detail and f' ({dom.detail})'}"]
        parts.append(f"{counted(total, 'request')}, {self._answered} answered")
        if self._reasons:
            named = ", ".join(f"{count} {reason}" for reason, count in self._reasons.most_common())
            parts.append(f"{self._reasons.total()} refused: {named}")
        if dom.cut:
            parts.append("the document is longer than the part that is read")
        return "; ".join(parts)


_ENDS: Final = {
    "quiet": "until nothing more happened",
    "time": "when its time was over",
    "flood": "when it had requested too much",
    "lost": "when its tab was lost",
}
_UNFINISHED: Final = {
    "quiet": "",
    "time": "its scripts were still at work after {seconds:.0f} s",
    "flood": "its scripts requested too much",
    "lost": "the browser lost the page",
}
"""Why rendering ended early."""


def _forwarded_fields(request: ResourceRequest) -> Headers:
    """Returns the header fields that are sent on to the server. The other fields describe the browser, not the
    robot."""
    return tuple(
        (name, value)
        for name, value in request.headers
        if name in _FORWARDED_FIELDS
        and value != "*/*"
        and len(value) <= MAX_HEADER_CHARS
        and value.isascii()
        and value.isprintable()
    )


def _served(response: Response, body: bytes) -> ServedResource:
    headers = tuple((name, value) for name, value in response.headers if not _REMOVED_FIELDS.fullmatch(name))
    return ServedResource(response.status, headers, body)
