"""Finds the pages that several joined indexes have, such as those of a site that moved from one machine to another."""

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

import tantivy

from goodbot.index.deletions import KeptDocuments
from goodbot.index.index_reader import Opened, stored_page, with_number

_AT_ONCE: Final = 1_000
"""The number of pages that are looked up together."""
_LOOKED_UP: Final = 20
"""If an index has this many times as many pages as a segment, they are looked up one by one."""


class Segment(NamedTuple):
    """A part of an index: its name, how many documents it has, and the file that says which of them were removed."""

    name: str
    documents: int
    removed: Path | None


@dataclass(slots=True)
class _Pages:
    """The pages of a segment. `numbers` ascend; `visits` has the document and the time of the last visit for each page
    that another index also has; `seen` are those pages, also removed ones."""

    numbers: "array[int]"
    visits: dict[int, tuple[int, float]] = field(default_factory=dict)
    seen: set[int] = field(default_factory=set)

    def has(self, number: int) -> bool:
        """Whether the segment has a page, perhaps removed."""
        at = bisect_left(self.numbers, number)
        return at < len(self.numbers) and self.numbers[at] == number

    def common(self, other: "_Pages") -> set[int]:
        """Returns the pages that both have."""
        small, large = sorted((self, other), key=lambda pages: len(pages.numbers))
        if len(large.numbers) > _LOOKED_UP * len(small.numbers):
            return {number for number in small.numbers if large.has(number)}
        return set(small.numbers).intersection(large.numbers)


class MovedPages:
    """Knows which documents of joined indexes are older versions of a page. Segments never change, so each is read
    once: a million documents take 0.3 s, and 0.5 s to compare with as many. One thread may use it."""

    def __init__(self) -> None:
        self._pages: dict[str, _Pages] = {}
        self._moved: set[int] = set()

    def older(self, parts: Sequence[Sequence[Segment]], opened: Opened) -> dict[str, list[int]]:
        """Returns the documents of each segment that another index has in a version fetched later, or in one fetched at
        the same time if it comes first. `parts` are the segments of each index, as the joined index `opened`
        has them."""
        named = [segment for part in parts for segment in part]
        pages = {
            segment.name: self._pages.get(segment.name) or _read(opened[1], place, segment)
            for place, segment in enumerate(named)
        }
        new = pages.keys() - self._pages.keys()
        self._moved.update(*_common([[(one.name in new, pages[one.name]) for one in part] for part in parts]))
        self._pages = pages
        if not self._moved:
            return {}
        self._look_up(named, opened, len(parts))
        return self._losers(parts)

    def _look_up(self, named: Sequence[Segment], opened: Opened, parts: int) -> None:
        """Reads the visits of moved pages in segments where they are not known yet. Each of the `parts` has a page
        once at most."""
        index, searcher = opened
        wanted: set[int] = set()
        for segment in named:
            pages = self._pages[segment.name]
            unseen = [number for number in self._moved - pages.seen if pages.has(number)]
            pages.seen.update(unseen)
            wanted.update(unseen)
        ordered = [*wanted]
        for start in range(0, len(ordered), _AT_ONCE):
            numbers = ordered[start : start + _AT_ONCE]
            query = with_number(index.schema, "number", numbers)
            hits = searcher.search(query, min(len(numbers) * parts, max(1, searcher.num_docs)), count=False).hits
            addresses = [address for _, address in hits]
            found = searcher.fast_field_values("number", addresses)
            for number, address in zip(found, addresses, strict=True):
                visits = self._pages[named[address.segment_ord].name].visits
                visits[int(number or 0)] = address.doc, stored_page(searcher, address).fetched_at

    def _losers(self, parts: Sequence[Sequence[Segment]]) -> dict[str, list[int]]:
        newest: dict[int, tuple[float, int]] = {}
        present = [
            (number, (visited_at, -place), segment.name, document)
            for place, part in enumerate(parts)
            for segment in part
            for number, document, visited_at in self._kept(segment)
        ]
        for number, version, _, _ in present:
            newest[number] = max(version, newest.get(number, version))
        older: dict[str, list[int]] = {}
        for number, version, name, document in present:
            if version != newest[number]:
                older.setdefault(name, []).append(document)
        return older

    def _kept(self, segment: Segment) -> Iterator[tuple[int, int, float]]:
        """Yields the moved pages of a segment that were not removed from it."""
        visits = self._pages[segment.name].visits
        if visits:
            kept = KeptDocuments(segment.documents, segment.removed)
            yield from (
                (number, document, visited_at)
                for number, (document, visited_at) in visits.items()
                if kept.has(document)
            )


def _read(searcher: tantivy.Searcher, place: int, segment: Segment) -> _Pages:
    addresses = [tantivy.DocAddress(place, document) for document in range(segment.documents)]
    numbers = searcher.fast_field_values("number", addresses)
    return _Pages(array("Q", sorted(int(number) for number in numbers if number is not None)))


def _common(parts: Sequence[Sequence[tuple[bool, _Pages]]]) -> Iterable[set[int]]:
    """Yields the pages that two indexes have, for each pair of segments of which one is new."""
    for place, part in enumerate(parts):
        for others in parts[:place]:
            for is_new, pages in part:
                yield from (pages.common(other) for other_is_new, other in others if is_new or other_is_new)
