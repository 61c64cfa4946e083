"""The services for visitors, in memory: a crawl of `here.example` with a page in each state."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from goodbot.search_values import Hidden
from goodbot.url import Url, is_private_host, parse_url
from goodbot.values import Event
from goodbot.visitor_urls import visitor_url
from goodbot.visitor_values import (
    CachedCopy,
    IndexNowOutcome,
    NoCopy,
    Removal,
    RemovalAnswer,
    RemovalResult,
    Story,
    Submission,
    TokenFile,
)
from goodbot.web import Rate, Site, create_app, running
from goodbot.web.public_sites import TooManyRequestsError
from goodbot.web.visitors.indexnow import IndexNowRequest
from web.library import SPECIMENS, Library, Visitor

HOST = "here.example"
TOKEN = "0123456789abcdef"
LATER = 4_000_000_000.0
SITE = Site("Sample library", contact="me@example.org", post_rate=Rate(0, 1))
"""A site that limits no requests."""
HTML = "<title>A page</title><h1>Robots at home</h1><p>See <a href='/next'>the next page</a>."


def url(path: str) -> Url:
    found = parse_url(f"https://{HOST}{path}")
    assert found is not None
    return found


def story(path: str, **changes: object) -> Story:
    unknown = Story(url(path), url(path), "unknown", False, "the crawl has followed no link to it", "submit the page")
    return replace(unknown, **changes)  # type: ignore[arg-type]


VISITED = story(
    "/",
    state="visited",
    in_index=True,
    summary="it is in the search index",
    advice="to find it, search for words of its title",
    visited_at=1_795_000_000.0,
    next_visit_at=LATER,
    title="A <b>page</b> of robots",
    has_copy=True,
    events=(
        Event(1_794_999_000.0, "found", "known", "linked from https://other.example/secret?key=1, depth 2"),
        Event(1_795_000_000.0, "permission", "allowed", "No rule matches, so the URL is allowed.", 3),
        Event(1_795_000_000.0, "fetch", "200", "1024 bytes in 12 ms"),
        Event(1_795_000_000.0, "keep", "yes", "goodbot-20261121-0.warc.gz at byte 512"),
        Event(1_795_000_000.0, "follow", "yes", "12 links, 4 new"),
        Event(1_795_000_000.0, "index", "yes", "the page allows indexing"),
        Event(1_795_000_000.0, "settle", "rest", "30.0 s until the next request to the host: <i>its</i> robots.txt"),
    ),
)
STORIES = (
    VISITED,
    story("/new", state="ready", summary="it was not fetched yet: 3 URLs of its host come first", next_visit_at=1.0),
    story(
        "/now",
        state="leased",
        summary="the crawl is fetching it now, or will next on its host",
        advice="look again in a minute",
    ),
    story(
        "/hidden",
        state="visited",
        summary='the page asks not to be indexed: <meta name="robots" content="noindex">',
        advice="remove that directive; the next visit adds the page",
        visited_at=1_795_000_000.0,
    ),
    story("/copy", state="visited", summary="it is a copy of another page", same_as=url("/"), visited_at=1.0),
    story("/text.pdf", state="visited", in_index=True, summary="it is in the search index", visited_at=1.0),
    story(
        "/private",
        state="disallowed",
        summary="robots.txt forbids it: Disallow: /private (line 2 of robots.txt)",
        advice="remove that rule; the crawl reads robots.txt again within a day",
        events=(Event(1_795_000_000.0, "permission", "disallowed", "The rule is Disallow: /private", 2),),
    ),
    story(
        "/down",
        state="failed",
        summary="the crawl could not fetch it: connect: connection refused (here.example:443 over proxy 10.1.2.3:3128)",
        events=(Event(1.0, "fetch", "connect", "connection refused (here.example:443 over proxy 10.1.2.3:3128)"),),
    ),
    story("/gone", state="gone", summary="its server reports that the page does not exist: status 404"),
    story("/far", state="out-of-scope", summary="it does not belong to this crawl: 9 links away from a seed"),
)


def copy(path: str, **changes: object) -> CachedCopy:
    page = CachedCopy(url(path), 1_795_000_000.0, "text/html", "A <i>page</i>", url(path), html=HTML)
    return replace(page, **changes)  # type: ignore[arg-type]


COPIES = {
    each.url.text: each
    for each in (
        copy("/"),
        copy("/text.pdf", media_type="application/pdf", title="", html=None, text="Line one\n<b>line</b> two"),
    )
}


@dataclass
class Desk:
    """A `VisitorDesk` in memory. Every call raises `trouble` while it is set. `proof`: the result of every request for
    a removal. `outcome`: the answer to every IndexNow request."""

    pages: dict[str, Story] = field(default_factory=lambda: {each.url.text: each for each in STORIES})
    archived: dict[str, CachedCopy] = field(default_factory=lambda: dict(COPIES))
    trouble: Exception | None = None
    proof: RemovalResult = "not proved"
    outcome: IndexNowOutcome = IndexNowOutcome(200, "1 of 1 URLs belong to this crawl")
    removed: Hidden = Hidden()
    grants: list[Removal] = field(default_factory=list)
    taken: list[IndexNowRequest] = field(default_factory=list)
    submitted: list[str] = field(default_factory=list)

    @property
    def typed_urls(self) -> "Desk":
        return self

    @property
    def submissions(self) -> "Desk":
        return self

    @property
    def indexnow(self) -> "Desk":
        return self

    @property
    def removals(self) -> "Desk":
        return self

    @property
    def copies(self) -> "Desk":
        return self

    @property
    def stories(self) -> "Desk":
        return self

    def read(self, text: str) -> Url:
        return visitor_url(text)

    def submit(self, text: str) -> Submission:
        self._check()
        self.submitted.append(text)
        asked = visitor_url(text)
        if is_private_host(asked.host):
            return Submission(asked, "private", f"{asked.host} may be on a private network")
        if asked.host == "barred.example":
            return Submission(asked, "forgotten", "the operator of this crawl has excluded this host")
        if asked.host != HOST:
            return Submission(asked, "out of scope", f"{asked.host} is not the host of a seed")
        if asked.path.startswith("/private"):
            return Submission(asked, "disallowed", "The rule is Disallow: /private (line 2)")
        known = self.pages.get(asked.text)
        if known is not None and known.state != "unknown":
            return Submission(asked, "known", "", known.state, known.state, known.visited_at, known.next_visit_at)
        self.pages[asked.text] = story(asked.target, state="ready", summary="it was not fetched yet")
        return Submission(asked, "submitted", "", None, "ready")

    def knows(self, host: str) -> bool:
        self._check()
        return host == HOST

    async def take(self, request: IndexNowRequest) -> IndexNowOutcome:
        self._check()
        self.taken.append(request)
        await asyncio.sleep(0)
        return self.outcome

    def token_file(self, text: str, *, site: bool = False) -> TokenFile:
        self._check()
        asked = visitor_url(text)
        file = parse_url(f"{asked.origin}/goodbot-removal.txt")
        assert file is not None
        return TokenFile(asked.authority if site else asked.text, file, f"goodbot-removal: {TOKEN}")

    def why_not(self, asked: Url) -> str:
        self._check()
        return f"{asked.host} may be on a private network" if is_private_host(asked.host) else ""

    async def request(self, text: str, *, site: bool = False) -> RemovalAnswer:
        self._check()
        asked = visitor_url(text)
        if asked.host == "busy.example":
            raise TooManyRequestsError("too many sites were fetched in the last minute: try again in a minute")
        subject = asked.authority if site else asked.text
        await asyncio.sleep(0)
        if self.proof != "removed":
            return RemovalAnswer(subject, self.proof, f"robots.txt <b>allows</b> {subject}")
        self.removed = (
            replace(self.removed, sites=self.removed.sites | {subject})
            if site
            else replace(self.removed, urls=self.removed.urls | {subject})
        )
        proved = Removal(subject, 1.0, "token file", "the site has the file")
        removal = replace(proved, site=subject) if site else replace(proved, url=asked)
        return RemovalAnswer(subject, "removed", "the site has the file", removal)

    def hidden(self) -> Hidden:
        self._check()
        return self.removed

    def granted(self) -> list[Removal]:
        self._check()
        return self.grants

    def lift(self, id_: str) -> bool:
        self._check()
        before = len(self.grants)
        self.grants = [removal for removal in self.grants if removal.id != id_]
        return len(self.grants) < before

    def copy_of(self, asked: Url) -> CachedCopy | NoCopy:
        self._check()
        return self.archived.get(asked.text) or NoCopy("the page asks not to be archived")

    def story_of(self, asked: Url) -> Story:
        self._check()
        return self.pages.get(asked.text) or replace(story("/"), url=asked, requested_as=asked)

    def _check(self) -> None:
        if self.trouble:
            raise self.trouble


@contextmanager
def visited(desk: Desk | None = None, site: Site = SITE) -> Iterator[Visitor]:
    """Serves the pages for visitors of this desk."""
    with running(create_app(Library(SPECIMENS), site, visitors=desk or Desk())) as base:
        yield Visitor(base)
