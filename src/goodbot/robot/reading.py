"""What a capture comes to: its state, its links, its document. Keeps the capture in the archive; asks nobody."""

import hashlib
from dataclasses import dataclass, replace

from goodbot.config import Settings
from goodbot.exclusion import Verdict
from goodbot.page import read_page
from goodbot.ports import Archive
from goodbot.robot.politeness import is_overloaded
from goodbot.robot.scope import Scope
from goodbot.url import Url, is_private_address, resolve
from goodbot.values import (
    Capture,
    Discovery,
    Document,
    Event,
    Failure,
    LeasedUrl,
    Link,
    Outcome,
    Page,
    Response,
)

REDIRECTS_MOST = 10
"""Redirects in a row before a chain is taken for endless; browsers stop at 20."""
BUSY_TRIES = 8
"""Fetches of a URL answered 429 or 503: doubling from a second, four minutes of patience."""
TITLE_MOST = 300
REDIRECTS = (301, 302, 303, 307, 308)
GONE = (404, 410)


@dataclass(frozen=True, slots=True)
class Reading:
    """An outcome, and the document to index if the page lets itself be indexed.

    `replayable`: the document can be made again from the archive.
    """

    outcome: Outcome
    document: Document | None = None
    replayable: bool = True


class Reader:
    """Turns captures into outcomes for one crawl. `archive` is None where nothing is kept."""

    def __init__(self, settings: Settings, token: str, scope: Scope, archive: Archive | None) -> None:
        self._settings = settings
        self._token = token
        self._scope = scope
        self._archive = archive

    def read(self, leased: LeasedUrl, verdict: Verdict, capture: Capture) -> Reading:
        """What became of `leased`. The record is written, not yet flushed."""
        permission = Event(capture.fetched_at, "permission", "allowed", verdict.reason, verdict.line)
        if isinstance(capture.result, Failure):
            return Reading(self._failed(leased, capture, capture.result, permission))
        return self._answered(leased, capture, capture.result, permission)

    def _failed(self, leased: LeasedUrl, capture: Capture, failure: Failure, permission: Event) -> Outcome:
        fetch = Event(capture.fetched_at, "fetch", failure.kind, failure.detail)
        outcome = _outcome(leased.url, capture, f"{failure.kind}: {failure.detail}", (permission, fetch))
        if failure.kind == "private-address":  # our own guard: asking again changes nothing
            return outcome
        return self._once_more(outcome, leased, self._settings.tries)

    def _answered(self, leased: LeasedUrl, capture: Capture, response: Response, permission: Event) -> Reading:
        cut = f", cut ({response.truncated})" if response.truncated else ""
        took = f"{len(response.body)} bytes in {capture.elapsed_s * 1000:.0f} ms{cut}"
        events = (permission, Event(capture.fetched_at, "fetch", str(response.status), took))
        if 200 <= response.status < 300:
            return self._visited(leased, capture, response, events)
        outcome = replace(
            self._kept(_outcome(leased.url, capture, f"status {response.status}", events), capture),
            digest=_digest(response.body),
        )
        if response.status in REDIRECTS:
            return Reading(self._redirected(leased, capture, response, outcome))
        if response.status in GONE:
            return Reading(replace(outcome, state="gone"))
        if is_overloaded(capture):
            return Reading(self._once_more(outcome, leased, BUSY_TRIES))
        if response.status >= 500:
            return Reading(self._once_more(outcome, leased, self._settings.tries))
        return Reading(outcome)

    def _visited(self, leased: LeasedUrl, capture: Capture, response: Response, events: tuple[Event, ...]) -> Reading:
        page = read_page(leased.url, response, self._token, self._settings.decoded_limit)
        links, follow = self._links(leased, page, capture)
        to_index, index = self._indexing(page, response, capture.fetched_at)
        outcome = self._kept(
            _outcome(leased.url, capture, f"status {response.status}", (*events, follow, index)),
            capture,
            headers_only=not page.directives.archive,
        )
        outcome = replace(
            outcome,
            state="visited",
            digest=_digest(response.body),
            title=page.title[:TITLE_MOST],
            links=links,
            to_index=to_index,
        )
        document = document_of(page, capture.fetched_at) if to_index else None
        return Reading(outcome, document, replayable=self._archive is not None and page.directives.archive)

    def _links(self, leased: LeasedUrl, page: Page, capture: Capture) -> tuple[tuple[Discovery, ...], Event]:
        if not page.directives.follow:
            return (), Event(capture.fetched_at, "follow", "no", f"the page asks not to be followed: {_sources(page)}")
        followed = [link for link in page.links if "nofollow" not in link.rel]
        found = tuple(self._discovery(leased, link) for link in followed)
        refused = sum(discovery.refused is not None for discovery in found)
        marked = len(page.links) - len(followed)
        reason = f"{len(found)} links, {refused} out of scope, {marked} marked nofollow"
        return found, Event(capture.fetched_at, "follow", "yes", reason)

    def _discovery(self, leased: LeasedUrl, link: Link) -> Discovery:
        depth = leased.depth + 1
        return Discovery(link.url, depth, leased.url, self._scope.refuse(link.url, depth))

    def _indexing(self, page: Page, response: Response, at: float) -> tuple[bool, Event]:
        if not self._settings.index:
            return False, Event(at, "index", "no", "this crawl does not index")
        if not page.directives.index:
            return False, Event(at, "index", "no", f"the page asks not to be indexed: {_sources(page)}")
        if not (page.text or page.title):
            return False, Event(
                at, "index", "no", f"no text found in {response.media_type or 'a document without type'}"
            )
        return True, Event(at, "index", "yes", "the page lets itself be indexed")

    def _redirected(self, leased: LeasedUrl, capture: Capture, response: Response, outcome: Outcome) -> Outcome:
        location = response.header("location")
        target = resolve(leased.url, location) if location else None
        if target is None:
            return replace(outcome, why=f"status {response.status} without a usable Location")
        if leased.hops >= REDIRECTS_MOST:
            return replace(outcome, why=f"more than {REDIRECTS_MOST} redirects in a row")
        public_only = leased.public_only or self._from_public(capture)
        link = Discovery(
            target,
            leased.depth,
            leased.url,
            self._scope.refuse(target, leased.depth),
            public_only=public_only,
            hops=leased.hops + 1,
        )
        return replace(outcome, state="visited", why=f"status {response.status}, to {target}", links=(link,))

    def _from_public(self, capture: Capture) -> bool:
        """Whether a public host answered: its redirects may not lead inside."""
        return capture.peer is not None and not self._settings.proxy and not is_private_address(capture.peer)

    def _once_more(self, outcome: Outcome, leased: LeasedUrl, tries_most: int) -> Outcome:
        tries = leased.tries + 1
        if tries >= tries_most:
            return replace(outcome, why=f"{outcome.why} ({tries} tries)", tries=tries)
        ready_at = outcome.at + self._settings.retry_first * 2.0**leased.tries
        return replace(outcome, state="ready", tries=tries, ready_at=ready_at)

    def _kept(self, outcome: Outcome, capture: Capture, *, headers_only: bool = False) -> Outcome:
        if self._archive is None:
            return outcome
        record = self._archive.put(capture, headers_only=headers_only)
        keep = Event(
            capture.fetched_at, "keep", "headers" if headers_only else "yes", f"{record.file} at {record.offset}"
        )
        return replace(outcome, record=record, events=(*outcome.events, keep))


def document_of(page: Page, fetched_at: float) -> Document:
    """What is indexed of a page."""
    return Document(
        id=page.url.text,
        url=page.url.text,
        title=page.title,
        text=page.text,
        headings="\n".join(page.headings),
        description=page.description,
        keywords=page.keywords,
        language=page.language,
        fetched_at=fetched_at,
    )


def _outcome(url: Url, capture: Capture, why: str, events: tuple[Event, ...]) -> Outcome:
    """Failed, until something better is known."""
    response = capture.result if isinstance(capture.result, Response) else None
    return Outcome(
        url=url,
        state="failed",
        at=capture.fetched_at,
        why=why,
        status=response.status if response else None,
        size_bytes=len(response.body) if response else 0,
        events=events,
    )


def _digest(body: bytes) -> str:
    return "sha256:" + hashlib.sha256(body).hexdigest()


def _sources(page: Page) -> str:
    return ", ".join(f"{source.directive} in {source.origin}" for source in page.directives.sources)
