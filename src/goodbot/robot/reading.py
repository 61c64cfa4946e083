"""What a capture comes to: its state, its links, its document, its records. Writes nothing; asks nobody."""

from base64 import b32encode
from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha1
from typing import Protocol

from goodbot.archived import Encoded
from goodbot.config import Settings
from goodbot.exclusion import Directives, Verdict
from goodbot.exclusion.walls import Wall
from goodbot.hits import Document, Prepared
from goodbot.lessons import Said
from goodbot.page import read_page
from goodbot.page.rendered import Rendered, read_rendered
from goodbot.robot.ahead import Ahead, Find
from goodbot.robot.documents import Documents
from goodbot.robot.experience import Experience, Judgement
from goodbot.robot.following import Following, refuse_inside
from goodbot.robot.indexable import document_of, indexing
from goodbot.robot.lists import Lists
from goodbot.robot.mark import Mark, NoMark
from goodbot.robot.politeness import is_private_peer
from goodbot.robot.retries import BROKEN_OFF_TRIES, Retries
from goodbot.robot.revisit import Revisits, asked_with_conditions, text_digest
from goodbot.robot.scope import Scope
from goodbot.robot.traps import Visit
from goodbot.url import Url, resolve
from goodbot.values import (
    NOT_INDEXED,
    WALLED,
    Capture,
    Discovery,
    Event,
    Failure,
    Headers,
    LeasedUrl,
    Outcome,
    Page,
    Response,
    Seen,
)

REDIRECTS_MOST = 10
"""Redirects in a row before a chain is taken for endless; browsers stop at 20."""
TITLE_MOST = 300
REDIRECTS = (301, 302, 303, 307, 308)
GONE = (404, 410)
NOT_MODIFIED = 304


@dataclass(frozen=True, slots=True)
class Reading:
    """An outcome, the document to index if the page lets itself be indexed, and the records to keep.

    `replayable`: the document can be made again from the archive. `sitemaps`: those the site's robots.txt names, where
    nobody has been told yet.
    """

    outcome: Outcome
    document: Prepared | None = None
    replayable: bool = True
    encoded: Encoded | None = None
    sitemaps: tuple[Discovery, ...] = ()


class Encode(Protocol):
    """A capture, whether its body is withheld, and what a 304 was answered about → the records the archive keeps."""

    def __call__(self, capture: Capture, headers_only: bool = False, *, about: Seen | None = None) -> Encoded: ...


class Reader:
    """Turns captures into outcomes for one crawl. `encode` is None where nothing is kept, `prepare` where nothing is
    indexed, `evidence` where no owner asks what a process died of."""

    def __init__(
        self,
        settings: Settings,
        token: str,
        scope: Scope,
        encode: Encode | None,
        prepare: Callable[[Document], Prepared] | None,
        forbids: Callable[[Url], bool] = lambda url: False,
        mark: Mark | NoMark | None = None,
        *,
        evidence: Encode | None = None,
        processes: int = 1,
    ) -> None:
        self._settings = settings
        self._mark = mark or NoMark()
        self._evidence = evidence
        self._forbids = forbids
        self.experience = Experience(settings, self._allows, processes)
        self.following = Following(settings, scope, self.experience, processes)
        self.lists = Lists(self.following, token, text=settings.index)
        self.documents = Documents(settings, token)
        self._token = token
        self._scope = scope
        self._encode = encode
        self._prepare = prepare
        self._revisits = Revisits(settings, keeps=encode is not None)
        self._retries = Retries(settings)

    def refused(self, leased: LeasedUrl, now: float) -> Reading | None:
        """The outcome of a URL that is in scope no more: the crawl was resumed with a narrower one."""
        reason = self._scope.refuse(leased.url, leased.depth) or refuse_inside(leased.url, leased.public_only)
        links: tuple[Discovery, ...] = ()
        self.experience.look_again(now)
        if reason is None:
            refusal = self.experience.refuse_leased(leased)
            if refusal is None:
                return None
            reason, links = refusal.reason, self.following.instead(leased, refusal)
        event = Event(now, "scope", "out-of-scope", reason)
        outcome = Outcome(leased.url, "out-of-scope", now, reason, tries=leased.tries, events=(event,), links=links)
        return Reading(self.settle(leased, outcome))

    def _allows(self, url: Url, depth: int) -> bool:
        return self.following.refuse(url, depth) is None and not self._forbids(url)

    def conditions(self, leased: LeasedUrl) -> Headers:
        """What the request for `leased` says of the copy there is."""
        return self._revisits.conditions(leased.seen)

    def settle(self, leased: LeasedUrl, outcome: Outcome) -> Outcome:
        """What an outcome without a page means for one that was visited before."""
        return self._revisits.settle(leased, outcome)

    def read(
        self,
        leased: LeasedUrl,
        verdict: Verdict,
        capture: Capture,
        rendered: Rendered | None = None,
        ahead: Ahead | None = None,
        wall: Wall | None = None,
    ) -> Reading:
        """What became of `leased`. Its page may have been rendered by a browser or read `ahead`, or a bot wall may have
        answered in its place. The record is written, not yet flushed."""
        permission = Event(capture.fetched_at, "permission", "allowed", verdict.reason, verdict.line)
        if isinstance(capture.result, Failure):
            return Reading(self.settle(leased, self._failed(leased, capture, capture.result, permission)))
        self._mark.begin(leased.url)
        try:
            self._keep_evidence(leased, capture, capture.result)
            if wall is not None:
                return self._walled(leased, capture, capture.result, permission, wall)
            return self._answered(leased, capture, capture.result, permission, rendered, ahead)
        finally:
            self._mark.end()

    def _keep_evidence(self, leased: LeasedUrl, capture: Capture, response: Response) -> None:
        """If this try may be the last one, the answer outlives a process that dies of it; without its body if a header
        forbids archiving. Nobody can know yet whether the page itself does."""
        if self._evidence is not None and (leased.tries or self._settings.tries <= 1):
            archived = Directives.parse((), response.headers, self._token).archive
            self._mark.keep(self._evidence(capture, not archived).data)

    async def ahead(self, leased: LeasedUrl, capture: Capture, find: Find) -> Ahead | None:
        """The page of what takes long to read: a list, which is told piece by piece, or a document read in a process of
        its own. None for what `read` reads in no time, and for what is no page."""
        response = capture.result
        if not isinstance(response, Response) or not self._is_page(leased, response):
            return None
        source = self._source(leased, capture)
        return await self.lists.read(source, capture, response, find) or await self.documents.read(leased.url, response)

    def _is_page(self, leased: LeasedUrl, response: Response) -> bool:
        """Whether the answer is read: it is none of those that `_answered` refuses."""
        if not 200 <= response.status < 300 or _is_broken_off(leased, response):
            return False
        return self._scope.refuse_answer(response.media_type, len(response.body)) is None

    def _failed(self, leased: LeasedUrl, capture: Capture, failure: Failure, permission: Event) -> Outcome:
        fetch = Event(capture.fetched_at, "fetch", failure.kind, failure.detail)
        outcome = _outcome(leased.url, capture, f"{failure.kind}: {failure.detail}", (permission, fetch))
        if failure.lasting or failure.kind in ("private-address", "forgotten"):  # the latter two are our own guard's
            return outcome
        return self._retries.after(outcome, leased, capture)

    def _walled(
        self, leased: LeasedUrl, capture: Capture, response: Response, permission: Event, wall: Wall
    ) -> Reading:
        """A challenge page is kept in the archive; nothing is learned from it."""
        walled = Event(capture.fetched_at, "fetch", "wall", f"a bot wall ({wall.name}) answered in place of the page")
        events = (permission, _fetched(capture, response), walled)
        encoded = self._encode(capture, False) if self._encode else None
        why = f"{WALLED}{wall.name} (status {response.status})"
        outcome = _outcome(leased.url, capture, why, events, _digest(response, encoded))
        return Reading(self.settle(leased, self._retries.after(outcome, leased, capture)), encoded=encoded)

    def _answered(
        self,
        leased: LeasedUrl,
        capture: Capture,
        response: Response,
        permission: Event,
        rendered: Rendered | None,
        ahead: Ahead | None,
    ) -> Reading:
        events = (permission, _fetched(capture, response))
        if 200 <= response.status < 300:
            if _is_broken_off(leased, response):
                return self._broken_off(leased, capture, response, events)
            refused = self._scope.refuse_answer(response.media_type, len(response.body))
            if refused is not None:
                return self._refused(leased, capture, response, events, refused)
            ahead = ahead or Ahead(self._page(leased.url, response, rendered))
            return self._visited(leased, capture, response, ahead, events, rendered)
        if response.status == NOT_MODIFIED and leased.seen and asked_with_conditions(capture.request.headers):
            return self._not_modified(leased, leased.seen, capture, response, events)
        encoded = self._encode(capture, False) if self._encode else None
        outcome = _outcome(leased.url, capture, f"status {response.status}", events, _digest(response, encoded))
        return Reading(self._unread(leased, capture, response, outcome), encoded=encoded)

    def _broken_off(
        self, leased: LeasedUrl, capture: Capture, response: Response, events: tuple[Event, ...]
    ) -> Reading:
        encoded = self._encode(capture, False) if self._encode else None
        outcome = _outcome(leased.url, capture, "the answer breaks off", events, _digest(response, encoded))
        return Reading(self.settle(leased, self._retries.once_more(outcome, leased, BROKEN_OFF_TRIES)), encoded=encoded)

    def _refused(
        self, leased: LeasedUrl, capture: Capture, response: Response, events: tuple[Event, ...], reason: str
    ) -> Reading:
        """An answer out of bounds: of a type or a size not asked for. Its body is not kept."""
        events = (*events, Event(capture.fetched_at, "scope", "out-of-scope", reason))
        encoded = self._encode(capture, True) if self._encode else None
        outcome = _outcome(leased.url, capture, reason, events, _digest(response, encoded))
        return Reading(self.settle(leased, replace(outcome, state="out-of-scope")), encoded=encoded)

    def _not_modified(
        self, leased: LeasedUrl, before: Seen, capture: Capture, response: Response, events: tuple[Event, ...]
    ) -> Reading:
        """The page is what it was. The archive notes that; the page itself stays where it lies."""
        directives = Directives.parse((), response.headers, self._token)
        encoded = self._encode(capture, about=before) if self._encode else None
        outcome = _outcome(leased.url, capture, "status 304: not modified", events)
        outcome = self._revisits.not_modified(leased, before, outcome, response, directives)
        if outcome.seen is not None and outcome.seen.indexed:
            self.experience.remember([Said(leased.url, outcome.seen.digest, outcome.seen.text)])
        return Reading(outcome, encoded=encoded)

    def _unread(self, leased: LeasedUrl, capture: Capture, response: Response, outcome: Outcome) -> Outcome:
        """What becomes of an answer that is no page."""
        if response.status in REDIRECTS:
            outcome = self._redirected(leased, capture, response, outcome)
            if outcome.state == "visited":
                return self._revisits.visited(leased, outcome, response)
        elif response.status in GONE:
            outcome = replace(outcome, state="gone")
        else:
            outcome = self._retries.after(outcome, leased, capture)
        return self.settle(leased, outcome)

    def _visited(
        self,
        leased: LeasedUrl,
        capture: Capture,
        response: Response,
        ahead: Ahead,
        events: tuple[Event, ...],
        rendered: Rendered | None,
    ) -> Reading:
        events = (*events, *rendered.events) if rendered is not None else events
        page = ahead.page
        source = self._source(leased, capture)
        links, follow = ahead.followed or self.following.links(source, page, capture.fetched_at)
        archived = page.directives.archive
        encoded = self._encode(capture, not archived) if self._encode else None
        digest = _digest(response, encoded)
        html = rendered.html if rendered is not None else None
        text = text_digest(page)
        judged = self._judged(leased, Visit(page, response, links, capture.fetched_at, html), digest, text)
        if judged.sorry is not None:
            links, follow = (), Event(capture.fetched_at, "follow", "no", judged.sorry)
        elif judged.copy is not None and page.directives.follow:
            links += self.following.news(source, (judged.copy.of,))
        if judged.doubtful:
            links = tuple(link._replace(can_wait=True) for link in links)
        to_index, index = indexing(page, response, capture.fetched_at, is_wanted=self._settings.index)
        if (to_index or index.reason == NOT_INDEXED) and (reason := judged.reason):
            to_index, index = False, Event(capture.fetched_at, "index", "no", reason)
        outcome = Outcome(
            url=leased.url,
            state="visited",
            at=capture.fetched_at,
            why=judged.sorry or f"status {response.status}",
            status=response.status,
            size_bytes=len(response.body),
            digest=digest,
            title=page.title[:TITLE_MOST],
            links=links,
            to_index=to_index,
            events=(*events, follow, index),
            same_as=judged.copy.of if judged.copy is not None else None,
            alike=judged.alike,
        )
        outcome = self._revisits.visited(
            leased, outcome, response, page.directives, text, rendered=rendered is not None
        )
        wanted = outcome.to_index and self._prepare is not None
        document = self._prepare(document_of(page, capture.fetched_at)) if wanted and self._prepare else None
        replayable = encoded is not None and archived and rendered is None
        return Reading(outcome, document, replayable=replayable, encoded=encoded)

    def _page(self, url: Url, response: Response, rendered: Rendered | None) -> Page:
        limit, text = self._settings.decoded_limit, self._settings.index
        if rendered is not None:
            return read_rendered(url, response, rendered, self._token, limit, text=text)
        return read_page(url, response, self._token, limit, text=text, document_bytes=self._settings.document_limit)

    def _judged(self, leased: LeasedUrl, visit: Visit, digest: str, text: str | None) -> Judgement:
        """What a page is beside itself. Only those that may be indexed represent others."""
        page, seen = visit.page, leased.seen
        judged = self.experience.visited(visit, leased.depth + 1, follows=page.directives.follow)
        may_represent = page.directives.index and not page.listed and page.directives.is_available(visit.at)
        if judged.sorry is None and judged.copy is None and may_represent:
            body = digest if visit.html is None else None
            is_what_it_was = seen is not None and (body == seen.digest or (text is not None and text == seen.text))
            before = leased.same_as if is_what_it_was else None
            copy = self.experience.same(page, visit.response, body, text, before)
            judged = replace(judged, copy=copy, alike=copy is not None)
        return judged

    def _redirected(self, leased: LeasedUrl, capture: Capture, response: Response, outcome: Outcome) -> Outcome:
        target = redirect_target(capture)
        if target is None:
            return replace(outcome, why=f"status {response.status} without a usable Location")
        if leased.hops >= REDIRECTS_MOST:
            return replace(outcome, why=f"more than {REDIRECTS_MOST} redirects in a row")
        cleaned = self.experience.cleaned(target)
        target = target if cleaned == leased.url else cleaned  # who insists on a session gets one
        source = self._source(leased, capture)
        refused = self._scope.refuse(target, leased.depth) or refuse_inside(target, source.public_only)
        link = Discovery(
            target,
            leased.depth,
            leased.url,
            refused,
            public_only=source.public_only,
            hops=leased.hops + 1,
            lists=leased.lists,
            expects_list=leased.expects_list,
        )
        return replace(outcome, state="visited", why=f"status {response.status}, to {target}", links=(link,))

    def _source(self, leased: LeasedUrl, capture: Capture) -> LeasedUrl:
        """`leased` as the source of what its answer names: if a public host gave that, none of it may be inside."""
        return leased if leased.public_only else leased._replace(public_only=is_from_public(capture, self._settings))


def is_from_public(capture: Capture, settings: Settings) -> bool:
    """Whether a public host answered: what it names may not lead inside. A proxy's address says nothing."""
    return capture.peer is not None and not settings.proxy and not is_private_peer(capture.peer)


def _is_broken_off(leased: LeasedUrl, response: Response) -> bool:
    return response.truncated == "disconnect" and not leased.tries


def redirect_target(capture: Capture) -> Url | None:
    """Where the answer sends its reader; None if it is no redirect or names no URL that can be fetched."""
    if not isinstance(capture.result, Response) or capture.result.status not in REDIRECTS:
        return None
    location = capture.result.location
    return resolve(capture.request.url, location) if location else None


def _fetched(capture: Capture, response: Response) -> Event:
    cut = f", cut ({response.truncated})" if response.truncated else ""
    took = f"{len(response.body)} bytes in {capture.elapsed_s * 1000:.0f} ms{cut}"
    return Event(capture.fetched_at, "fetch", str(response.status), took)


def _outcome(url: Url, capture: Capture, why: str, events: tuple[Event, ...], digest: str | None = None) -> Outcome:
    """Failed, until something better is known."""
    response = capture.result if isinstance(capture.result, Response) else None
    return Outcome(
        url=url,
        state="failed",
        at=capture.fetched_at,
        why=why,
        status=response.status if response else None,
        size_bytes=len(response.body) if response else 0,
        digest=digest,
        events=events,
    )


def _digest(response: Response, encoded: Encoded | None) -> str:
    """Of the body as received: SHA-1 in base 32, as the archive's records and its index have it."""
    if encoded is not None and encoded.digest is not None:
        return encoded.digest
    return "sha1:" + b32encode(sha1(response.body, usedforsecurity=False).digest()).decode()
