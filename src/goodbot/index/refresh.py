"""Makes the link texts of an index from the links stored with its pages.

Memory is bounded: link texts wait in temporary files, one for each part of the pages, and the number of links that
count for PageRank is limited.
"""

import tempfile
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
import tantivy

from goodbot.index.completions import PhraseCounter
from goodbot.index.index_reader import IndexReader
from goodbot.index.integrity import load_mark
from goodbot.index.joined_reader import JoinedReader
from goodbot.index.keys import hash_of, tongue_name
from goodbot.index.link_texts import LinkedPage, LinkTexts, LinkTextsWriter, refreshed_mark
from goodbot.index.page_rank import page_ranks
from goodbot.index.stored_page import decode_links, decode_page

PAGES_AT_ONCE: Final = 10_000
PAGES_PER_PART: Final = 50_000
"""The pages whose link texts are in memory together, about 100 MB for pages of documentation."""
MAX_RANKED_LINKS: Final = 20_000_000
"""The limit of links for PageRank, which take 8 bytes each. If the pages have more, the first ones of each page
count."""
_FLUSHED_AT: Final = 10_000

_Text = tuple[int, str, str]
"""The place of a page, a fragment (empty: none) and a text."""
_TEXTS = msgspec.msgpack.Decoder(list[_Text])


SMALL: Final = 10_000
CHANGED_SHARE: Final = 0.01
"""An index with more pages than `SMALL` is refreshed at the end of a crawl if more than this share of them has changed;
a smaller one if any page has."""


def ranked_links_of(pages: int) -> int:
    """Returns how many links of each page count for PageRank, among that many pages: the first ones that lead to other
    known pages, at least 5."""
    return max(5, MAX_RANKED_LINKS // max(1, pages))


class Refreshed(NamedTuple):
    """The progress of a refresh: pages read, of how many, and whether it is finished."""

    read: int
    total: int
    finished: bool = False


def needs_refresh(folder: Path) -> bool:
    """Whether enough pages of the index in `folder` have changed since its last refresh (see `SMALL`), or its link
    texts cannot be read. Raises the errors of `IndexReader`."""
    mark, before = load_mark(folder), refreshed_mark(folder)
    if before is None or before.identity != mark.identity or not LinkTexts(folder).can_be_read():
        return True
    pages = IndexReader(folder).current()[1].num_docs
    changed = (mark.written - before.written) / 2  # a page that is added or replaced takes two operations
    return changed > (0 if pages <= SMALL else CHANGED_SHARE * pages)


def refresh_links(folder: Path, watch: Callable[[Refreshed], object] = lambda state: None) -> Refreshed:
    """Makes the link texts of the index in `folder` anew. `watch` gets the progress, and may raise `StoppedError`.

    Raises the errors of `IndexReader`, and RunError if a file cannot be written.
    """
    return refresh_together([folder], watch)


def refresh_together(folders: Sequence[Path], watch: Callable[[Refreshed], object] = lambda state: None) -> Refreshed:
    """Does the same for indexes that are searched as one: the link texts of each are those of the links from the pages
    of all, and the PageRank of a page is that among the pages of all. Raises InputError too if two folders have the
    same index."""
    marks = [load_mark(folder) for folder in folders]
    reader = JoinedReader(folders) if len(folders) > 1 else IndexReader(folders[0])
    owners = reader.owners if isinstance(reader, JoinedReader) else _only_one
    unfinished: list[LinkTextsWriter] = []
    try:
        unfinished.extend(LinkTextsWriter(folder) for folder in folders)
        with reader.translated(), _Gathering(reader.current()[1], owners) as gathering:
            gathering.write(unfinished, watch)
            total = gathering.total
            for number, mark in enumerate(marks):
                unfinished[0].finish(mark, *gathering.ranked(number))
                del unfinished[0]
    except BaseException:
        for writer in unfinished:
            writer.abandon()
        raise
    done = Refreshed(total, total, finished=True)
    watch(done)
    return done


def _only_one(addresses: Sequence[tantivy.DocAddress]) -> list[int]:
    return [0] * len(addresses)


_Owners = Callable[[Sequence[tantivy.DocAddress]], list[int]]


class _Gathering:
    """The pages of an index by number, and the texts of links to them. `owners` says which of joined indexes has each
    page."""

    def __init__(self, searcher: tantivy.Searcher, owners: _Owners) -> None:
        self._searcher = searcher
        self.total = int(searcher.num_docs)
        self._numbers, self._tongues, self._owners = array("Q"), array("H"), array("H")
        for addresses in self._addresses():
            self._numbers.extend(int(value or 0) for value in searcher.fast_field_values("number", addresses))
            self._tongues.extend(int(value or 0) for value in searcher.fast_field_values("tongue", addresses))
            self._owners.extend(owners(addresses))
        self._order = array("I", sorted(range(self.total), key=self._numbers.__getitem__))
        self._sorted = array("Q", map(self._numbers.__getitem__, self._order))
        self._ranks = array("d")
        self._parts = [_Part() for _ in range(0, max(1, self.total), PAGES_PER_PART)]
        self._most = ranked_links_of(self.total)

    def __enter__(self) -> "_Gathering":
        return self

    def __exit__(self, *error: object) -> None:
        for part in self._parts:
            part.close()

    def write(self, writers: Sequence[LinkTextsWriter], watch: Callable[[Refreshed], object]) -> None:
        """Reads all links, then writes what they say about each page to the writer of its index."""
        self._ranks = page_ranks(self.total, self._links([writer.phrases for writer in writers], watch))
        for number, part in enumerate(self._parts):
            first = number * PAGES_PER_PART
            anchors, fragments = part.read()
            for place in range(first, min(first + PAGES_PER_PART, self.total)):
                language = tongue_name(self._tongues[place])
                empty = Counter[str]()
                texts = anchors.pop(place, empty), fragments.pop(place, empty)
                writers[self._owners[place]].add(LinkedPage(self._numbers[place], language, *texts))
            watch(Refreshed(self.total, self.total))

    def ranked(self, owner: int) -> "tuple[array[int], array[float]]":
        """Returns the numbers of the pages of an index, which ascend, and their ranks."""
        own = [place for place in self._order if self._owners[place] == owner]
        return array("Q", map(self._numbers.__getitem__, own)), array("f", map(self._ranks.__getitem__, own))

    def _links(self, phrases: Sequence[PhraseCounter], watch: Callable[[Refreshed], object]) -> Iterator[list[int]]:
        """Yields the places of the pages that each page links to; keeps the texts of its links, and its phrases."""
        source = 0
        for addresses in self._addresses():
            for address in addresses:
                document = self._searcher.doc(address)
                page = decode_page(bytes(document.get_first("shown") or b""))
                phrases[self._owners[source]].add_page(page.title, (text for _, text in page.sections))
                targets: dict[int, None] = {}
                for url, anchor, named in decode_links(bytes(document.get_first("links") or b"")):
                    target = self._place_of(hash_of(url))
                    if target is not None and target != source:
                        targets[target] = None
                        self._keep(target, anchor, named)
                yield list(targets)[: self._most]
                source += 1
            watch(Refreshed(source, self.total))

    def _keep(self, target: int, anchor: str, named: tuple[tuple[str, str], ...]) -> None:
        part = self._parts[target // PAGES_PER_PART]
        if named:
            for fragment, text in named:
                part.add((target, fragment, text))
        elif anchor:
            part.add((target, "", anchor))

    def _place_of(self, number: int) -> int | None:
        at = bisect_left(self._sorted, number)
        return self._order[at] if at < self.total and self._sorted[at] == number else None

    def _addresses(self) -> Iterator[list[tantivy.DocAddress]]:
        """Yields the addresses of all pages, in the order of the index."""
        everything = tantivy.Query.all_query()
        for offset in range(0, self.total, PAGES_AT_ONCE):
            hits = self._searcher.search(everything, PAGES_AT_ONCE, count=False, offset=offset).hits
            yield [address for _, address in hits]


class _Part:
    """Link texts for some of the pages, in a temporary file."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `close`
        self._waiting: list[_Text] = []

    def add(self, text: _Text) -> None:
        self._waiting.append(text)
        if len(self._waiting) >= _FLUSHED_AT:
            self._flush()

    def read(self) -> tuple[dict[int, Counter[str]], dict[int, Counter[str]]]:
        """Returns the texts of each page: of links to it, and of links into it together with their fragments."""
        self._flush()
        self._file.seek(0)
        anchors: dict[int, Counter[str]] = {}
        fragments: dict[int, Counter[str]] = {}
        while length := self._file.read(8):
            for place, fragment, text in _TEXTS.decode(self._file.read(int.from_bytes(length, "little"))):
                if fragment:
                    counts = fragments.setdefault(place, Counter())
                    counts[fragment] += 1
                    if text:
                        counts[text] += 1
                else:
                    anchors.setdefault(place, Counter())[text] += 1
        return anchors, fragments

    def _flush(self) -> None:
        data = msgspec.msgpack.encode(self._waiting)
        self._file.write(len(data).to_bytes(8, "little") + data)
        self._waiting = []

    def close(self) -> None:
        self._file.close()
