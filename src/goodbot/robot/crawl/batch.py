"""Collects outcomes and commits them. The order of writing is what makes a kill -9 harmless:

archive flushed → outcomes, their links and releases in one transaction → (now and then) index committed → queue
cleared. A page whose text cannot be read back from the archive is indexed durably before its outcome is committed.
Pages to be removed from the index wait in that queue as well.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from goodbot.archive_values import EncodedRecords
from goodbot.live import HostRequest
from goodbot.ports import Archive, Clock, CourtesyStore, DocumentStore, IndexedPages, OutcomeStore
from goodbot.robot.crawl.store_calls import DirectCalls, StoreCalls
from goodbot.robot.manners.request_recorder import add_requests
from goodbot.search_values import IndexMark
from goodbot.url import Url
from goodbot.values import REDIRECTS, Event, FoundLinks, Outcome, RecordRef, Release
from goodbot.visit_values import VisitResult

MAX_OUTCOMES = 100
MAX_LINKS = 8192
"""A batch with this many links is committed. A hundred pages have fewer, one sitemap may have 50,000."""
BATCH_S = 0.25
"""A batch is committed after this time. A kill -9 costs the pages in flight and one batch, which are fetched again."""
MAX_REQUESTS = 1000
"""Requests recorded between two commits; with more, they are written at once."""
INDEX_COMMIT_S = 10.0
"""The index is committed once in this time, since each commit makes a segment. Until then pages wait in the queue, from
which they are replayed after a crash."""


_LOG: Final = logging.getLogger(__name__)


class Batch:
    """Collects outcomes and releases between two commits. It is true when there is something to commit."""

    def __init__(
        self,
        frontier: OutcomeStore,
        queue: IndexedPages,
        archive: Archive | None,
        index: DocumentStore | None,
        clock: Clock,
        observe: Callable[[Outcome], None],
        courtesies: CourtesyStore | None = None,
        calls: StoreCalls | None = None,
    ) -> None:
        """`calls` runs the calls on frontier, queue and courtesies; without it, they are run at once."""
        self._calls = calls or DirectCalls()
        self._frontier = frontier
        self._queue = queue
        self._archive = archive
        self._index = index
        self._clock = clock
        self._observe = observe
        self._courtesies = courtesies
        self._requests: list[HostRequest] = []
        self._outcomes: list[Outcome] = []
        self._releases: list[Release] = []
        self._found: list[FoundLinks] = []
        self._links = 0
        self._index_first = False
        self._to_index: list[Url] = []
        self._unlisted: set[str] = set()
        self._committed_at = self._indexed_at = clock.now()
        self.is_committing = False
        self.on_commit: Callable[[], Callable[[], object]] = lambda: lambda: None
        """Called when a commit takes what was added; what it returns is called when that is committed."""

    def __bool__(self) -> bool:
        return bool(self._outcomes or self._releases or self._found)

    def due_in_s(self) -> float:
        """Seconds until the next commit is due."""
        return max(self._committed_at + BATCH_S - self._clock.now(), 0.0)

    async def has_room(self, *, for_list: bool = False) -> None:
        """See `Sink.has_room`. A batch always has room, since it commits when it is full."""

    def keep(self, encoded: EncodedRecords) -> RecordRef | None:
        """Writes records to the archive, if there is one."""
        return self._archive.append(encoded) if self._archive is not None else None

    def add(self, result: VisitResult) -> None:
        """Takes an outcome, and gives its records to the archive and its document to the index. Commits a full
        batch."""
        if not self:
            self._committed_at = self._clock.now()
        outcome = result.outcome
        if outcome.url.host_key in self._unlisted:
            result = replace(result, document=None)
            outcome = _unlisted(outcome)
        if result.sitemaps:
            outcome = replace(outcome, links=(*outcome.links, *result.sitemaps))
        record = self.keep(result.encoded) if result.encoded is not None else None
        if record is not None and result.encoded is not None:
            how = "headers" if result.encoded.headers_only else "yes"
            kept = Event(outcome.at, "keep", how, f"{record.file} at byte {record.offset}")
            outcome = _recorded(outcome, record, kept)
        self._outcomes.append(outcome)
        self._links += len(outcome.links)
        if self._index is not None:
            self._change_index(self._index, outcome, result)
        if self._is_full():
            self.commit()

    def find(self, found: FoundLinks) -> None:
        """Takes some of the links of a sitemap or feed, whose own outcome follows later."""
        if not self:
            self._committed_at = self._clock.now()
        self._found.append(found)
        self._links += len(found.links)
        if self._is_full():
            self.commit()

    def _is_full(self) -> bool:
        return len(self._outcomes) >= MAX_OUTCOMES or self._links >= MAX_LINKS

    def _change_index(self, index: DocumentStore, outcome: Outcome, result: VisitResult) -> None:
        if result.document is not None:
            index.add_prepared(result.document)
            self._index_first = self._index_first or not result.replayable
        elif outcome.from_index:
            index.remove(outcome.url.text)

    def unlist(self, host: str, visited: Iterable[Sequence[Url]]) -> Iterator[None]:
        """Removes the pages of a host from the index, one part of `visited` at each step; the last step commits the
        index. From the first step on, no page of the host is indexed."""
        self._unlisted.add(host)
        self._outcomes = [_unlisted(item) if item.url.host_key == host else item for item in self._outcomes]
        if self._index is None:
            return
        for outcome in self._outcomes:
            if outcome.url.host_key == host:
                self._index.remove(outcome.url.text)
        for number, part in enumerate(visited):
            if number:
                yield
            for url in part:
                self._index.remove(url.text)
        self._calls.run(partial(self._queue.indexed, self._to_index, self._index.commit()))
        self._to_index = []

    def release(self, release: Release) -> None:
        """Notes the end of a lease; the next commit writes it."""
        if not self:
            self._committed_at = self._clock.now()
        self._releases.append(release)

    def note(self, request: HostRequest) -> None:
        """Takes a request that was sent. It is written before the outcomes, since it was sent whatever happens
        later."""
        if self._courtesies is not None:
            self._requests.append(request)
            if len(self._requests) >= MAX_REQUESTS:
                self._write_requests()

    def give_back(self) -> None:
        """Commits at once if the end of a lease waits, so that the host can be leased again soon."""
        if self._releases:
            self.commit()

    def commit_if_due(self) -> None:
        """Commits the batch if it is due or full, and the index if that is due."""
        if self and (self.due_in_s() <= 0 or self._is_full()):
            self.commit()
        if self._to_index and self._clock.now() - self._indexed_at >= INDEX_COMMIT_S:
            self._commit_index()

    def commit(self) -> None:
        """Commits the batch in one transaction, then calls the observer. Whatever fails afterwards, no outcome is
        committed twice. While a commit is under way, nothing happens: what was added since belongs to the next one."""
        if not self or self.is_committing:
            return
        self.is_committing, committed = True, self.on_commit()
        outcomes, added = self._outcomes, self._outcomes
        if self._archive is not None:
            self._archive.flush()
        mark = None
        if self._index_first and self._index is not None:
            mark = self._index.commit()
            outcomes = [replace(outcome, to_index=False) if outcome.to_index else outcome for outcome in outcomes]
        write = partial(self._write, outcomes, self._releases, self._found, self._requests, mark)
        self._outcomes, self._releases, self._index_first = [], [], False
        self._found, self._links, self._requests = [], 0, []
        try:
            self._calls.run(write, partial(self._written, outcomes, added, committed))
        except BaseException:
            self.is_committing = False
            raise

    def _write(
        self,
        outcomes: Sequence[Outcome],
        releases: Sequence[Release],
        found: Sequence[FoundLinks],
        requests: Sequence[HostRequest],
        mark: IndexMark | None,
    ) -> Collection[int]:
        """Writes everything to the store; returns the positions of the outcomes that were rejected."""
        with self._frontier.together():
            if self._courtesies is not None and requests:
                add_requests(self._courtesies, requests)
            rejected = self._frontier.settle(outcomes, releases, found)
            if mark is not None:
                self._queue.indexed((), mark)
            settled = (outcome for position, outcome in enumerate(outcomes) if position not in rejected)
            requeue_copies(self._queue, (outcome.url for outcome in settled if frees_copies(outcome)))
        return rejected

    def _written(
        self,
        outcomes: Sequence[Outcome],
        added: Sequence[Outcome],
        committed: Callable[[], object],
        rejected: Collection[int],
    ) -> None:
        """Goes on after the commit. `added`: the outcomes as they were added."""
        self.is_committing = False
        self._committed_at = self._clock.now()
        if rejected:
            self._take_out([added[position] for position in rejected])
            outcomes = [outcome for position, outcome in enumerate(outcomes) if position not in rejected]
        self._to_index += (outcome.url for outcome in outcomes if outcome.to_index or outcome.from_index)
        for outcome in outcomes:
            self._observe(outcome)
        committed()

    def _take_out(self, rejected: Sequence[Outcome]) -> None:
        """Removes the documents of rejected outcomes from the index again: whoever has leased their URLs since visits
        them again."""
        _LOG.warning("%d results were rejected, because their leases had ended", len(rejected))
        for outcome in rejected:
            if self._index is not None and outcome.to_index:
                self._index.remove(outcome.url.text)

    def commit_all(self) -> None:
        """Commits everything, the index too, at the end of a run."""
        self.commit()
        self._write_requests()
        self._commit_index()

    def _write_requests(self) -> None:
        if self._courtesies is not None and self._requests:
            self._calls.run(partial(add_requests, self._courtesies, self._requests))
        self._requests = []

    def _commit_index(self) -> None:
        if self._index is not None and self._to_index:
            self._calls.run(partial(self._queue.indexed, self._to_index, self._index.commit()))
            self._to_index = []
        self._indexed_at = self._clock.now()


def _unlisted(outcome: Outcome) -> Outcome:
    """Returns the outcome of a page that is not to be indexed."""
    seen = outcome.seen and replace(outcome.seen, indexed=False)
    return replace(outcome, to_index=False, seen=seen)


def requeue_copies(queue: IndexedPages, leaving: Iterable[Url]) -> None:
    """Schedules the copies of pages that leave the index, or no longer exist, for another visit, because one copy may
    now represent the others."""
    for url in leaving:
        if copies := queue.copies_of(url):
            queue.requeue(copies)


def frees_copies(outcome: Outcome) -> bool:
    """Returns whether nothing can be a copy of the page any more: it leaves the index for good, or the URL has no page
    (it is gone, failed, or redirects)."""
    leads_on = outcome.state == "visited" and outcome.status in REDIRECTS
    leaves = outcome.from_index and not outcome.rereads
    return leaves or leads_on or outcome.state in ("gone", "failed")


def _recorded(outcome: Outcome, record: RecordRef, kept: Event) -> Outcome:
    """Returns the outcome with `kept`, the event that the record was archived, and with the record's place; if the
    outcome already refers to an earlier record of the page, that place stays."""
    events, seen = (*outcome.events, kept), outcome.seen
    if outcome.record is not None:
        return replace(outcome, events=events)
    if seen is not None and outcome.state == "visited":
        seen = replace(seen, record=record)
    return replace(outcome, events=events, record=record, seen=seen)
