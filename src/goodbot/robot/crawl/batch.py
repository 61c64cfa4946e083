"""What was visited and is not committed yet. The order of writing is what makes a kill -9 harmless:

archive flushed → outcomes, their links and releases in one transaction → (now and then) index committed → queue
cleared. A page whose text cannot be read back from the archive is indexed durably before its outcome is committed.
What leaves the index waits in that queue as well.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from goodbot.archive_values import EncodedRecords
from goodbot.live import HostRequest
from goodbot.ports import Archive, Clock, CourtesyStore, Frontier, Index, IndexQueue
from goodbot.robot.manners import courtesy
from goodbot.robot.manners.redirects import REDIRECTS
from goodbot.url import Url
from goodbot.values import Event, FoundLinks, Outcome, RecordRef, Release
from goodbot.visit_values import VisitResult

BATCH_MOST = 100
LINKS_MOST = 8192
"""Links that wait for a commit: those of a hundred pages are fewer, those of one list may be 50,000."""
BATCH_S = 0.25
"""What a kill -9 may cost beside the pages in flight: one batch, fetched once more."""
ASKED_MOST = 1000
"""Requests noted between two commits."""
INDEX_COMMIT_S = 10.0
"""A commit of the index costs a segment; until it, pages stay in the queue and are replayed after a crash."""


class Batch:
    """Outcomes and releases between two commits. True when there is something to commit."""

    def __init__(
        self,
        frontier: Frontier,
        queue: IndexQueue,
        archive: Archive | None,
        index: Index | None,
        clock: Clock,
        observe: Callable[[Outcome], None],
        courtesies: CourtesyStore | None = None,
    ) -> None:
        self._frontier = frontier
        self._queue = queue
        self._archive = archive
        self._index = index
        self._clock = clock
        self._observe = observe
        self._courtesies = courtesies
        self._asked: list[HostRequest] = []
        self._outcomes: list[Outcome] = []
        self._releases: list[Release] = []
        self._found: list[FoundLinks] = []
        self._links = 0
        self._index_first = False
        self._to_index: list[Url] = []
        self._unlisted: set[str] = set()
        self._committed_at = self._indexed_at = clock.now()

    def __bool__(self) -> bool:
        return bool(self._outcomes or self._releases or self._found)

    def due_in_s(self) -> float:
        """Seconds until the next commit is due."""
        return max(self._committed_at + BATCH_S - self._clock.now(), 0.0)

    async def has_room(self, *, for_list: bool = False) -> None:
        """Returns when more can be taken: at once."""

    def keep(self, encoded: EncodedRecords) -> RecordRef | None:
        """Takes records into the archive, if there is one."""
        return self._archive.append(encoded) if self._archive is not None else None

    def add(self, reading: VisitResult) -> None:
        """Takes an outcome, its records into the archive and its document into the index; commits when the batch is
        full."""
        if not self:
            self._committed_at = self._clock.now()
        outcome = reading.outcome
        if outcome.url.host_key in self._unlisted:
            reading = replace(reading, document=None)
            outcome = _unlisted(outcome)
        if reading.sitemaps:
            outcome = replace(outcome, links=(*outcome.links, *reading.sitemaps))
        record = self.keep(reading.encoded) if reading.encoded is not None else None
        if record is not None and reading.encoded is not None:
            how = "headers" if reading.encoded.headers_only else "yes"
            kept = Event(outcome.at, "keep", how, f"{record.file} at {record.offset}")
            outcome = _recorded(replace(outcome, events=(*outcome.events, kept)), record)
        self._outcomes.append(outcome)
        self._links += len(outcome.links)
        if self._index is not None:
            self._change_index(self._index, outcome, reading)
        if len(self._outcomes) >= BATCH_MOST or self._links >= LINKS_MOST:
            self.commit()

    def find(self, found: FoundLinks) -> None:
        """Takes a part of what a page names; the page itself comes later."""
        if not self:
            self._committed_at = self._clock.now()
        self._found.append(found)
        self._links += len(found.links)
        if self._links >= LINKS_MOST:
            self.commit()

    def _change_index(self, index: Index, outcome: Outcome, reading: VisitResult) -> None:
        if reading.document is not None:
            index.add_prepared(reading.document)
            self._index_first = self._index_first or not reading.replayable
        elif outcome.from_index:
            index.remove(outcome.url.text)

    def unlist(self, host: str, visited: Iterable[Sequence[Url]]) -> Iterator[None]:
        """Takes the pages of a host out of the search, a part of `visited` at each step; the last step commits
        that. From the first on, what is read of the host is not indexed."""
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
        self._queue.indexed(self._to_index, self._index.commit())
        self._to_index = []

    def release(self, release: Release) -> None:
        """Takes the end of a lease; it counts from the next commit."""
        if not self:
            self._committed_at = self._clock.now()
        self._releases.append(release)

    def note(self, asked: HostRequest) -> None:
        """Takes what a host was asked; it is written before the outcomes are, as it has been asked whatever comes."""
        if self._courtesies is not None:
            self._asked.append(asked)
            if len(self._asked) >= ASKED_MOST:
                self._write_asked()

    def give_back(self) -> None:
        """Commits at once if a host waits to be given back: it is worth more now than a full batch later."""
        if self._releases:
            self.commit()

    def commit_if_due(self) -> None:
        """Commits a batch that is old enough, and the index when that is."""
        if self and self.due_in_s() <= 0:
            self.commit()
        if self._to_index and self._clock.now() - self._indexed_at >= INDEX_COMMIT_S:
            self._commit_index()

    def commit(self) -> None:
        """All or nothing; then tells the observer. What is settled is never settled again, whatever fails after it."""
        if not self:
            return
        outcomes = self._outcomes
        if self._archive is not None:
            self._archive.flush()
        mark = None
        if self._index_first and self._index is not None:
            mark = self._index.commit()
            outcomes = [replace(outcome, to_index=False) if outcome.to_index else outcome for outcome in outcomes]
        self._write_asked()
        self._frontier.settle(outcomes, self._releases, self._found)
        self._outcomes, self._releases, self._index_first = [], [], False
        self._found, self._links = [], 0
        self._committed_at = self._clock.now()
        self._to_index += (outcome.url for outcome in outcomes if outcome.to_index or outcome.from_index)
        if mark is not None:
            self._queue.indexed((), mark)
        ask_copies(self._queue, (outcome.url for outcome in outcomes if outcome.from_index or _is_no_page(outcome)))
        for outcome in outcomes:
            self._observe(outcome)

    def commit_all(self) -> None:
        """At the end of a run."""
        self.commit()
        self._write_asked()
        self._commit_index()

    def _write_asked(self) -> None:
        if self._courtesies is not None and self._asked:
            courtesy.write(self._courtesies, self._asked)
            self._asked = []

    def _commit_index(self) -> None:
        if self._index is not None and self._to_index:
            self._queue.indexed(self._to_index, self._index.commit())
            self._to_index = []
        self._indexed_at = self._clock.now()


def _unlisted(outcome: Outcome) -> Outcome:
    """Neither in the index nor on its way there."""
    seen = outcome.seen and replace(outcome.seen, indexed=False)
    return replace(outcome, to_index=False, seen=seen)


def ask_copies(queue: IndexQueue, leaving: Iterable[Url]) -> None:
    """Has the copies of pages that leave the index, or are none, visited anew: one may stand for the others now."""
    for url in leaving:
        if copies := queue.copies_of(url):
            queue.requeue(copies)


def _is_no_page(outcome: Outcome) -> bool:
    """Of what turns out to be one, nothing is a copy: it is gone, cannot be had, or leads elsewhere."""
    leads_on = outcome.state == "visited" and outcome.status in REDIRECTS
    return leads_on or outcome.state in ("gone", "failed")


def _recorded(outcome: Outcome, record: RecordRef) -> Outcome:
    """With where its answer lies; one that says nothing new of a page stays with the record it has."""
    if outcome.record is not None:
        return outcome
    seen = outcome.seen
    if seen is not None and outcome.state == "visited":
        seen = replace(seen, record=record)
    return replace(outcome, record=record, seen=seen)
