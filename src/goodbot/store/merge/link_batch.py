"""Merges the links of one batch, in the order found, into what is known of their URLs. Pure: a frontier looks the URLs
up before and writes the results after."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from goodbot.store.merge.coding import AGAIN, CODED, CODES, LATER, OUT_OF_SCOPE, READY, UrlKey
from goodbot.store.merge.link_rules import KnownUrl, change_by_link, rank_of_link
from goodbot.store.merge.storable_text import storable
from goodbot.url import Url
from goodbot.values import Discovery

_FAILED: Final = CODES["failed"]
_CLOSED: Final = (CODES["gone"], CODES["disallowed"])
"""Those with a next visit have other codes."""

STATE, RANK, PUBLIC_ONLY, REFUSED, INTERVAL = 3, 4, 5, 7, 9
"""Positions in a row of `LinkBatch.new`, which is: host, hash, seq, state, rank, public_only, hops, refused, path,
interval_s, lists."""


@dataclass(slots=True)
class StoredUrl:
    """A URL known before, in its state after this batch. `left_out`: the scope refused it before it was ever fetched.
    `revived`: this batch made it ready."""

    seq: int
    state: int
    rank: int
    left_out: bool
    interval_s: float | None
    public_only: int
    revived: bool = False


class ModifiedAt(NamedTuple):
    """A sitemap read at `at`, or a report, says that a visited page changed at `modified_at`."""

    key: UrlKey
    seq: int
    modified_at: float
    at: float


class LinkBatch:
    """The links of one batch.

    It counts states in `counts`, and adds to `touched` the hosts that have more to fetch now. After `take`: `new` has
    the rows to insert, `changed` the known URLs to update, `intervals` how often known pages change, `reported` and
    `due` when visited pages changed: those to be requested whole, and those that may be due sooner. `sources` are the
    rows of the table `found`. New URLs are numbered from `next_seq` on.
    """

    def __init__(
        self, known: Mapping[UrlKey, StoredUrl], next_seq: int, counts: Counter[str], touched: set[int]
    ) -> None:
        self._known = known
        self.counts = counts
        self.touched = touched
        self._last_source: tuple[Url | None, float] | None = None
        self.next_seq = next_seq
        self.new: dict[UrlKey, list[Any]] = {}
        self.changed: dict[UrlKey, StoredUrl] = {}
        self.intervals: dict[UrlKey, float] = {}
        self.reported: list[ModifiedAt] = []
        self.due: list[ModifiedAt] = []
        self.sources: list[tuple[int, float, str | None]] = []

    def take(self, item: Discovery, at: float, key: UrlKey, path: str) -> None:
        """Merges one link, found at `at`. `path` is the text of the URL as it is stored."""
        if (entry := self._known.get(key)) is not None:
            if item.refused is None:
                if self._change(entry, item, key[0]):
                    self.changed[key] = entry
                self._take_hints(entry, item, at, key)
        elif (row := self.new.get(key)) is None:
            self.new[key] = self._new_row(item, at, key, path)
        elif item.refused is None:
            _change_row(row, item)

    def count_new(self) -> None:
        """Counts the new URLs. Called once, after all links of the batch."""
        ready = [row[0] for row in self.new.values() if row[STATE] == READY]
        self.touched.update(ready)
        self.counts["ready"] += len(ready)
        self.counts["out-of-scope"] += len(self.new) - len(ready)
        self.counts["urls"] += len(self.new)

    def _new_row(self, item: Discovery, at: float, key: UrlKey, path: str) -> list[Any]:
        seq = self.next_seq
        self.next_seq += 1
        if (item.source, at) != self._last_source:
            self._last_source = (item.source, at)
            self.sources.append((seq, at, None if item.source is None else item.source.text))
        rank = rank_of_link(item)
        if item.refused is None:
            return [*key, seq, READY, rank, item.public_only, item.hops, None, path, item.interval_s, item.lists]
        refused = storable(item.refused)
        return [*key, seq, OUT_OF_SCOPE, rank, item.public_only, item.hops, refused, path, item.interval_s, item.lists]

    def _change(self, entry: StoredUrl, item: Discovery, host: int) -> bool:
        """Changes the entry by a link; returns whether anything changed. See `change_by_link`."""
        waits, given_up = entry.state in (READY, LATER), entry.state in (OUT_OF_SCOPE, _FAILED)
        closed = entry.state in _CLOSED
        known = KnownUrl(entry.rank, bool(entry.public_only), waits, entry.left_out, given_up, closed)
        change = change_by_link(known, item)
        if change is None:
            return False
        if change.ready:
            self.counts[CODED[entry.state]] -= 1
            self.counts["ready"] += 1
            self.touched.add(host)
            entry.state, entry.left_out, entry.revived = READY, False, True
        entry.rank, entry.public_only = change.rank, change.public_only
        return True

    def _take_hints(self, entry: StoredUrl, item: Discovery, at: float, key: UrlKey) -> None:
        """Notes what a sitemap read at `at`, or a report, says about a known URL."""
        if item.interval_s is not None and item.interval_s != entry.interval_s:
            entry.interval_s = self.intervals[key] = item.interval_s
        if item.modified_at is None:
            return
        modified = ModifiedAt(key, entry.seq, item.modified_at, at)
        if item.is_report:
            self.reported.append(modified)
        if entry.state >= AGAIN:
            self.due.append(modified)


def _change_row(row: list[Any], item: Discovery) -> None:
    """Changes a row that is not written yet by a further link in scope."""
    is_ready = row[STATE] == READY
    known = KnownUrl(row[RANK], row[PUBLIC_ONLY], is_ready, left_out=not is_ready, given_up=False)
    if change := change_by_link(known, item):
        row[STATE], row[REFUSED], row[RANK], row[PUBLIC_ONLY] = READY, None, change.rank, change.public_only
    row[INTERVAL] = row[INTERVAL] if item.interval_s is None else item.interval_s
