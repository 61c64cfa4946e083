"""Turns a capture into the outcome of its URL: state, links, document, records. Writes nothing and sends nothing."""

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from goodbot.archive_values import EncodedRecords
from goodbot.config import Settings
from goodbot.exclusion import Directives
from goodbot.exclusion.access.bot_walls import Wall
from goodbot.lesson_values import IndexedPage
from goodbot.page import Body, read_body
from goodbot.page.rendered import Rendered, read_rendered
from goodbot.robot.crawl.answer_facts import body_digest, failed_outcome, fetched_event, is_broken_off, redirect_reason
from goodbot.robot.crawl.following import Following, refuse_private
from goodbot.robot.crawl.indexable import document_of, indexing
from goodbot.robot.crawl.not_requested import out_of_scope
from goodbot.robot.crawl.page_mark import NoPageMark, PageMark
from goodbot.robot.crawl.read_ahead import ReadPage, SendFound
from goodbot.robot.crawl.revisit import Revisits, is_conditional, text_digest
from goodbot.robot.crawl.sitemap_reading import SitemapReader
from goodbot.robot.crawl.slow_documents import SlowDocuments
from goodbot.robot.crawl.wishes import Wishes
from goodbot.robot.lessons.site_knowledge import PageJudgement, SiteKnowledge
from goodbot.robot.lessons.traps import VisitedPage
from goodbot.robot.manners.permission import Permit
from goodbot.robot.manners.politeness import Delay
from goodbot.robot.manners.redirects import MAX_REDIRECTS, is_from_public, redirect_target
from goodbot.robot.manners.retries import BROKEN_OFF_TRIES, Retries
from goodbot.robot.scope.scope import Scope
from goodbot.search_values import Document, PreparedDocument
from goodbot.url import Url
from goodbot.values import (
    NOT_INDEXED,
    OWN_REFUSALS,
    REDIRECTS,
    WALLED,
    Capture,
    Discovery,
    Event,
    Failure,
    Headers,
    LastVisit,
    LeasedUrl,
    Outcome,
    Page,
    Response,
)
from goodbot.visit_values import VisitResult

MAX_TITLE_CHARS = 300
GONE = (404, 410)
NOT_MODIFIED = 304


class Encode(Protocol):
    """Returns the archive records of a capture. `headers_only`: without its body. `about`: the visit that a 304 refers
    to."""

    def __call__(
        self, capture: Capture, headers_only: bool = False, *, about: LastVisit | None = None
    ) -> EncodedRecords: ...


class OutcomeReader:
    """Turns captures into outcomes for one crawl.

    `encode` is None for a crawl without an archive, `prepare` for one without an index, `evidence` for one without a
    coordinator, since only a coordinator stores the answers that kill workers."""

    def __init__(
        self,
        settings: Settings,
        token: str,
        scope: Scope,
        knowledge: SiteKnowledge,
        following: Following,
        *,
        encode: Encode | None = None,
        prepare: Callable[[Document], PreparedDocument] | None = None,
        mark: PageMark | NoPageMark | None = None,
        evidence: Encode | None = None,
    ) -> None:
        self._settings = settings
        self._mark = mark or NoPageMark()
        self._evidence = evidence
        self._knowledge = knowledge
        self._following = following
        self._sitemaps = SitemapReader(following, token, text=settings.index)
        self._documents = SlowDocuments(settings, token)
        self._token = token
        self._scope = scope
        self._encode = encode
        self._prepare = prepare
        self._revisits = Revisits(settings, keeps=encode is not None)
        self._retries = Retries(settings)

    def refused(self, leased: LeasedUrl, now: float) -> VisitResult | None:
        """Returns the result for a URL that is out of scope now, because the crawl was resumed with a narrower scope,
        or that belongs to a trap. None if the URL may be requested."""
        self._knowledge.look_again(now)
        why = self._scope.refuse(leased.url, leased.depth) or refuse_private(leased.url, leased.public_only)
        if why is not None:
            return self.not_requested(leased, out_of_scope(leased, now, why))
        refusal = self._knowledge.refuse_leased(leased)
        if refusal is None:
            return None
        links = self._following.instead(leased, refusal)
        return self.not_requested(leased, out_of_scope(leased, now, refusal.reason, links))

    def not_requested(self, leased: LeasedUrl, outcome: Outcome) -> VisitResult:
        """Returns the result for a URL that was not requested (`not_requested.py`); it keeps the data of the last
        visit."""
        return VisitResult(self._settle(leased, outcome))

    def conditions(self, leased: LeasedUrl, permit: Permit, now: float) -> Headers:
        """Returns the conditional header fields of the request for `leased`."""
        return self._revisits.conditions(leased.seen, now, in_search=permit.no_search is None)

    def _settle(self, leased: LeasedUrl, outcome: Outcome) -> Outcome:
        return self._revisits.settle(leased, outcome)

    def with_delay(self, leased: LeasedUrl, result: VisitResult, delay: Delay, slower: str) -> VisitResult:
        """Returns the result with the reasons for the delay of its host, and for crawling it `slower`. A URL that would
        be tried again fails if the host asks for too long a delay."""
        outcome = result.outcome
        reasons = [Event(outcome.at, "settle", "rest", why) for why in (delay.reason, slower) if why]
        outcome = replace(outcome, events=(*outcome.events, *reasons)) if reasons else outcome
        if delay.too_long and outcome.state == "ready":
            events = (*outcome.events, Event(outcome.at, "fetch", "given up", delay.too_long))
            failed = replace(outcome, state="failed", why=delay.too_long, ready_at=0.0, events=events)
            outcome = self._settle(leased, failed)
        return replace(result, outcome=outcome)

    def read(
        self,
        leased: LeasedUrl,
        permit: Permit,
        capture: Capture,
        rendered: Rendered | None = None,
        ahead: ReadPage | None = None,
        wall: Wall | None = None,
    ) -> VisitResult:
        """Returns the result for an answered request. The page may have been `rendered` by a browser or read `ahead`,
        or a bot wall may have answered in its place."""
        verdict = permit.verdict
        permission = Event(capture.fetched_at, "permission", "allowed", verdict.reason, verdict.line)
        if isinstance(capture.result, Failure):
            return VisitResult(self._settle(leased, self._failed(leased, capture, capture.result, permission)))
        self._mark.begin(leased.url)
        try:
            self._keep_evidence(leased, capture, capture.result)
            if wall is not None:
                return self._walled(leased, capture, capture.result, permission, wall)
            wishes = Wishes.of(leased.url, capture.result, self._token, permit.no_search)
            return self._answered(leased, capture, capture.result, permission, wishes, rendered, ahead)
        finally:
            self._mark.end()

    def _keep_evidence(self, leased: LeasedUrl, capture: Capture, response: Response) -> None:
        """Stores the answer so that it survives the death of this process, if this try may be the last. The answer's
        body is left out if a header forbids archiving; whether the page forbids it, too, is not known until it is
        read."""
        if self._evidence is not None and (leased.tries or self._settings.tries <= 1):
            archived = Directives.parse((), response.headers, self._token).archive
            self._mark.keep(self._evidence(capture, not archived).data)

    async def ahead(self, leased: LeasedUrl, capture: Capture, find: SendFound) -> ReadPage | None:
        """Reads what takes long: a sitemap or feed, whose links go to `find` in pieces, or a document that needs a
        process of its own. None for what `read` reads quickly, and for an answer that is no page."""
        response = capture.result
        if not isinstance(response, Response) or not self._is_page(leased, response):
            return None
        source = self._source(leased, capture)
        return await self._sitemaps.read(source, capture, response, find) or await self._documents.read(
            leased.url, response
        )

    def _is_page(self, leased: LeasedUrl, response: Response) -> bool:
        """Whether the answer is read as a page: `_answered` does not refuse it."""
        if not 200 <= response.status < 300 or is_broken_off(leased, response):
            return False
        return self._scope.refuse_answer(response.media_type, len(response.body)) is None

    def _failed(self, leased: LeasedUrl, capture: Capture, failure: Failure, permission: Event) -> Outcome:
        fetch = Event(capture.fetched_at, "fetch", failure.kind, failure.detail)
        outcome = failed_outcome(leased.url, capture, f"{failure.kind}: {failure.detail}", (permission, fetch))
        if failure.kind == "no-contact":
            scope = Event(capture.fetched_at, "scope", "out-of-scope", failure.detail)
            return replace(outcome, state="out-of-scope", why=failure.detail, events=(permission, scope))
        if failure.lasting or failure.kind in OWN_REFUSALS:
            return outcome
        return self._retries.after(outcome, leased, capture)

    def _walled(
        self, leased: LeasedUrl, capture: Capture, response: Response, permission: Event, wall: Wall
    ) -> VisitResult:
        """Settles a URL whose answer is a challenge page: the archive gets it, and nothing is learned from it."""
        walled = Event(capture.fetched_at, "fetch", "wall", f"a bot wall ({wall.name}) answered in place of the page")
        events = (permission, fetched_event(capture, response), walled)
        encoded = self._encode(capture, False) if self._encode else None
        why = f"{WALLED}{wall.name} (status {response.status})"
        outcome = failed_outcome(leased.url, capture, why, events, body_digest(response, encoded))
        return VisitResult(self._settle(leased, self._retries.after(outcome, leased, capture)), encoded=encoded)

    def _answered(
        self,
        leased: LeasedUrl,
        capture: Capture,
        response: Response,
        permission: Event,
        wishes: Wishes,
        rendered: Rendered | None,
        ahead: ReadPage | None,
    ) -> VisitResult:
        events = (permission, fetched_event(capture, response))
        if 200 <= response.status < 300:
            if is_broken_off(leased, response):
                return self._broken_off(leased, capture, response, events)
            refused = self._scope.refuse_answer(response.media_type, len(response.body))
            if refused is not None:
                return self._refused(leased, capture, response, events, refused)
            body = Body(response, self._settings.decoded_limit)
            ahead = ahead or ReadPage(self._page(leased.url, body, rendered))
            return self._visited(leased, capture, body, ahead, events, wishes, rendered)
        if response.status == NOT_MODIFIED and leased.seen and is_conditional(capture.request.headers):
            return self._not_modified(leased, leased.seen, capture, response, events, wishes)
        encoded = self._encode(capture, False) if self._encode else None
        outcome = failed_outcome(
            leased.url, capture, f"status {response.status}", events, body_digest(response, encoded)
        )
        return VisitResult(self._settle_no_page(leased, capture, response, outcome), encoded=encoded)

    def _broken_off(
        self, leased: LeasedUrl, capture: Capture, response: Response, events: tuple[Event, ...]
    ) -> VisitResult:
        encoded = self._encode(capture, False) if self._encode else None
        outcome = failed_outcome(leased.url, capture, "the answer breaks off", events, body_digest(response, encoded))
        return VisitResult(
            self._settle(leased, self._retries.once_more(outcome, leased, BROKEN_OFF_TRIES)), encoded=encoded
        )

    def _refused(
        self, leased: LeasedUrl, capture: Capture, response: Response, events: tuple[Event, ...], reason: str
    ) -> VisitResult:
        """Settles a URL whose answer has a type or size out of scope. The archive gets its headers only."""
        events = (*events, Event(capture.fetched_at, "scope", "out-of-scope", reason))
        encoded = self._encode(capture, True) if self._encode else None
        outcome = failed_outcome(leased.url, capture, reason, events, body_digest(response, encoded))
        return VisitResult(self._settle(leased, replace(outcome, state="out-of-scope")), encoded=encoded)

    def _not_modified(
        self,
        leased: LeasedUrl,
        before: LastVisit,
        capture: Capture,
        response: Response,
        events: tuple[Event, ...],
        wishes: Wishes,
    ) -> VisitResult:
        """Settles a page that has not changed (304). The archive gets a record that refers to its last copy."""
        directives = Directives.parse((), response.headers, self._token)
        encoded = self._encode(capture, about=before) if self._encode else None
        outcome = failed_outcome(leased.url, capture, "status 304: not modified", events)
        outcome = self._revisits.not_modified(leased, before, outcome, response, directives, wishes)
        if outcome.seen is not None and outcome.seen.indexed:
            self._knowledge.remember([IndexedPage(leased.url, outcome.seen.digest, outcome.seen.text)])
        return VisitResult(outcome, encoded=encoded)

    def _settle_no_page(self, leased: LeasedUrl, capture: Capture, response: Response, outcome: Outcome) -> Outcome:
        """Returns the outcome of an answer that is no page: a redirect, an error."""
        if response.status in REDIRECTS:
            outcome = self._redirected(leased, capture, response, outcome)
            if outcome.state == "visited":
                return self._revisits.visited(leased, outcome, response)
        elif response.status in GONE:
            outcome = replace(outcome, state="gone")
        else:
            outcome = self._retries.after(outcome, leased, capture)
        return self._settle(leased, outcome)

    def _visited(
        self,
        leased: LeasedUrl,
        capture: Capture,
        body: Body,
        ahead: ReadPage,
        events: tuple[Event, ...],
        wishes: Wishes,
        rendered: Rendered | None,
    ) -> VisitResult:
        events = (*events, *rendered.events) if rendered is not None else events
        page, response = ahead.page, body.response
        source = self._source(leased, capture)
        links, follow = ahead.followed or self._following.links(source, page, capture.fetched_at)
        archived = page.directives.archive
        encoded = self._encode(capture, not archived) if self._encode else None
        digest = body_digest(response, encoded)
        html = rendered.html if rendered is not None else None
        text = text_digest(page)
        visit = VisitedPage(page, response, links, capture.fetched_at, html, body)
        judged = self._judged(leased, visit, digest, text, in_search=wishes.no_search is None)
        if judged.soft_404 is not None:
            links, follow = (), Event(capture.fetched_at, "follow", "no", judged.soft_404)
        elif judged.copy is not None and page.directives.follow:
            links += self._following.new_links(source, (judged.copy.of,))
        if judged.doubtful:
            links = tuple(link._replace(can_wait=True) for link in links)
        to_index, index = indexing(
            page, response, capture.fetched_at, is_wanted=self._settings.index, no_search=wishes.no_search
        )
        if (to_index or index.reason == NOT_INDEXED) and (reason := judged.reason):
            to_index, index = False, Event(capture.fetched_at, "index", "no", reason)
        outcome = Outcome(
            url=leased.url,
            state="visited",
            at=capture.fetched_at,
            why=judged.soft_404 or f"status {response.status}",
            status=response.status,
            size_bytes=len(response.body),
            digest=digest,
            title=page.title[:MAX_TITLE_CHARS],
            links=links,
            to_index=to_index,
            events=(*events, follow, index),
            same_as=judged.copy.of if judged.copy is not None else None,
            alike=judged.alike,
        )
        outcome = self._revisits.visited(
            leased, outcome, response, page.directives, text, rendered=rendered is not None, wishes=wishes
        )
        document = None
        if outcome.to_index and self._prepare is not None:
            document = self._prepare(document_of(page, response, capture.fetched_at))
        replayable = encoded is not None and archived and rendered is None
        return VisitResult(outcome, document, replayable=replayable, encoded=encoded)

    def _page(self, url: Url, body: Body, rendered: Rendered | None) -> Page:
        text = self._settings.index
        if rendered is not None:
            return read_rendered(url, body, rendered, self._token, text=text)
        return read_body(url, body, self._token, text=text, document_bytes=self._settings.document_limit)

    def _judged(
        self, leased: LeasedUrl, visit: VisitedPage, digest: str, text: str | None, *, in_search: bool
    ) -> PageJudgement:
        """Says how the page relates to others: copy, canonical, soft 404. Only pages that may be indexed represent
        others."""
        page, seen = visit.page, leased.seen
        judged = self._knowledge.visited(visit, leased.depth + 1, follows=page.directives.follow)
        may_represent = (
            in_search and page.directives.index and not page.listed and page.directives.is_available(visit.at)
        )
        if judged.soft_404 is None and judged.copy is None and may_represent:
            body = digest if visit.html is None else None
            is_unchanged = seen is not None and (body == seen.digest or (text is not None and text == seen.text))
            before = leased.same_as if is_unchanged else None
            copy = self._knowledge.same(page, visit.response, body, text, before)
            judged = replace(judged, copy=copy, alike=True) if copy is not None else judged
        return judged

    def _redirected(self, leased: LeasedUrl, capture: Capture, response: Response, outcome: Outcome) -> Outcome:
        target = redirect_target(capture)
        if target is None:
            return replace(outcome, why=f"status {response.status} without a usable Location")
        if leased.hops >= MAX_REDIRECTS:
            return replace(outcome, why=f"more than {MAX_REDIRECTS} redirects in a row")
        cleaned = self._knowledge.cleaned(target)
        target = target if cleaned == leased.url else cleaned  # the site requires a session id: keep it
        source = self._source(leased, capture)
        refused = self._scope.refuse(target, leased.depth) or refuse_private(target, source.public_only)
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
        return replace(outcome, state="visited", why=redirect_reason(response.status, target), links=(link,))

    def _source(self, leased: LeasedUrl, capture: Capture) -> LeasedUrl:
        """Returns `leased` as the source of the URLs in its answer. If a public host answered, none of them may lead to
        a private address."""
        return leased if leased.public_only else leased._replace(public_only=is_from_public(capture, self._settings))
