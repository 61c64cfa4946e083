"""What was visited and is not committed yet. The order of writing is what makes a kill -9 harmless:

archive flushed → outcomes, their links and releases in one transaction → (now and then) index committed → queue
cleared. A page whose text cannot be read back from the archive is indexed durably before its outcome is committed.
"""

from collections.abc import Callable
from dataclasses import replace

from goodbot.ports import Archive, Clock, Frontier, Index, IndexQueue
from goodbot.robot.reading import Reading
from goodbot.url import Url
from goodbot.values import Outcome, Release

BATCH_MOST = 100
BATCH_S = 0.25
"""What a kill -9 may cost beside the pages in flight: one batch, fetched once more."""
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
    ) -> None:
        self._frontier = frontier
        self._queue = queue
        self._archive = archive
        self._index = index
        self._clock = clock
        self._observe = observe
        self._outcomes: list[Outcome] = []
        self._releases: list[Release] = []
        self._index_first = False
        self._to_index: list[Url] = []
        self._committed_at = self._indexed_at = clock.now()

    def __bool__(self) -> bool:
        return bool(self._outcomes or self._releases)

    def due_in_s(self) -> float:
        """Seconds until the next commit is due."""
        return max(self._committed_at + BATCH_S - self._clock.now(), 0.0)

    def add(self, reading: Reading) -> None:
        """Takes an outcome, and its document into the index; commits when the batch is full."""
        if not self:
            self._committed_at = self._clock.now()
        self._outcomes.append(reading.outcome)
        if reading.document is not None and self._index is not None:
            self._index.add(reading.document)
            self._index_first = self._index_first or not reading.replayable
        if len(self._outcomes) >= BATCH_MOST:
            self.commit()

    def release(self, release: Release) -> None:
        """Takes the end of a lease; it counts from the next commit."""
        if not self:
            self._committed_at = self._clock.now()
        self._releases.append(release)

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
        """All or nothing; then tells the observer."""
        if not self:
            return
        outcomes = self._outcomes
        if self._archive is not None:
            self._archive.flush()
        if self._index_first and self._index is not None:
            self._index.commit()
            outcomes = [replace(outcome, to_index=False) if outcome.to_index else outcome for outcome in outcomes]
        self._frontier.settle(outcomes, self._releases)
        self._to_index += (outcome.url for outcome in outcomes if outcome.to_index)
        self._outcomes, self._releases, self._index_first = [], [], False
        self._committed_at = self._clock.now()
        for outcome in outcomes:
            self._observe(outcome)

    def commit_all(self) -> None:
        """At the end of a run."""
        self.commit()
        self._commit_index()

    def _commit_index(self) -> None:
        if self._index is not None and self._to_index:
            self._index.commit()
            self._queue.indexed(self._to_index)
            self._to_index = []
        self._indexed_at = self._clock.now()
