"""Keeps which pages wait to be indexed, and which must leave the index, for the frontier in memory."""

from collections.abc import Callable

from goodbot.store.merge.outcome_rules import queue_change
from goodbot.url import Url
from goodbot.values import Outcome, RecordRef


class MemoryQueue:
    """The index queue. `seq_of` returns the number of a URL in the order found."""

    def __init__(self, seq_of: Callable[[Url], int]) -> None:
        self._seq_of = seq_of
        self._to_index: dict[Url, RecordRef | None] = {}
        self._leaving: set[Url] = set()

    def pending(self, most: int | None) -> list[tuple[Url, RecordRef | None]]:
        """Returns the pages to index in the order found."""
        return sorted(self._to_index.items(), key=lambda item: self._seq_of(item[0]))[:most]

    def leaving(self) -> list[Url]:
        """Returns the pages that must leave the index in the order found."""
        return sorted(self._leaving, key=self._seq_of)

    def settle(self, outcome: Outcome) -> None:
        """See `queue_change`."""
        match queue_change(outcome):
            case "pending":
                self._to_index[outcome.url] = outcome.record
                self._leaving.discard(outcome.url)
            case "leaving":
                self._leaving.add(outcome.url)
                self._to_index.pop(outcome.url, None)
            case "done":
                self._to_index.pop(outcome.url, None)

    def passed_over(self, url: Url) -> None:
        """Removes a page from those to index."""
        self._to_index.pop(url, None)

    def indexed(self, url: Url) -> None:
        """Removes a page from the queue."""
        self._to_index.pop(url, None)
        self._leaving.discard(url)
