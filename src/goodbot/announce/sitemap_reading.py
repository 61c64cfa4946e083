"""Reads sitemaps, sitemap indexes and feeds, and sitemaps of one URL a line, in files and in answers. Pure."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import BinaryIO, Final

from goodbot.announce.typed_urls import stated_url
from goodbot.announce.unusable_urls import UnusableUrls
from goodbot.exclusion.text.shown_text import shown
from goodbot.human import counted
from goodbot.page.coding import decode_pieces, unpacked
from goodbot.page.entries import ListKind
from goodbot.page.list_file import may_list
from goodbot.page.sitemap import MAX_ENTRIES, MAX_LIST_BYTES, ListReader
from goodbot.page.text_blocks import text_blocks
from goodbot.url import MAX_URL_CHARS, Url
from goodbot.values import ListedUrl, Response

_PIECE_BYTES: Final = 65_536
_END_CHARS: Final = 65_536
"""How much of the end is examined: comments may follow the root element."""

_ROOT: Final = r"(?:[^\s<>/:]{1,64}:)?(?:urlset|sitemapindex|rss|rdf|feed)"
_ROOT_END: Final = re.compile(rf"</{_ROOT}\s{{0,100}}>|<{_ROOT}(?:\s[^<>]*)?/>", re.IGNORECASE)
"""The end of a root element, or one that is empty."""


@dataclass(slots=True)
class Sitemap:
    """A sitemap, a sitemap index or a feed being read: up to 50,000 entries of up to `MAX_LIST_BYTES`. The entries can
    be read once only. After the last one, `unread` says what was not read and why (empty: everything was read),
    `invalid` how many entries have no valid URL, and `refused` how many `allow_only` left out."""

    kind: ListKind
    entries: Iterator[ListedUrl]
    unread: str = ""
    invalid: int = 0
    refused: int = 0

    def allow_only(self, is_allowed: Callable[[Url], bool]) -> None:
        """Leaves out entries with other URLs from now on."""
        entries = self.entries

        def allowed() -> Iterator[ListedUrl]:
            for entry in entries:
                if is_allowed(entry.url):
                    yield entry
                else:
                    self.refused += 1

        self.entries = allowed()

    def notes(self, name: str) -> Iterator[str]:
        """Yields what was not read or left out of the sitemap called `name`, one line each."""
        name = shown(name)
        if self.unread:
            yield f"only a part of {name} was read: {self.unread}"
        if self.invalid:
            entries = "1 entry" if self.invalid == 1 else f"{self.invalid:,} entries"
            yield f"left out {entries} of {name} without a valid http or https URL"
        if self.refused:
            what = counted(self.refused, "sitemap" if self.kind == "sitemap index" else "URL")
            yield f"left out {what} named by {name}: one server must not name private addresses of another"


def sitemap_in_file(file: BinaryIO) -> Sitemap | None:
    """Reads a sitemap in a file, unpacking gzip; None if it is something else. Content never makes it raise."""
    problems = list[str]()
    room = MAX_LIST_BYTES

    def bounded() -> Iterator[bytes]:
        nonlocal room
        for piece in unpacked(iter(lambda: file.read(_PIECE_BYTES), b""), problems.append):
            yield piece[:room]
            room -= len(piece)
            if room < 0:
                problems.append(f"only the first {MAX_LIST_BYTES} bytes are read")
                return

    return _opened(None, text_blocks(bounded()), problems)


def sitemap_in_answer(url: Url, response: Response) -> Sitemap | None:
    """Reads the sitemap that a server sent; None if it is something else. Never raises."""
    if not may_list(url, response):
        return None
    problems = list[str]()
    pieces = decode_pieces(response, MAX_LIST_BYTES, problems.append)
    if response.truncated:
        problems.append("the answer is longer than the limit, or ends too early")
    return _opened(url, text_blocks(pieces, response.header("content-type")), problems)


def _opened(base: Url | None, blocks: Iterator[str], problems: list[str]) -> Sitemap | None:
    """Reads the beginning. `problems` gets lines about what is not read."""
    first = next(blocks, "")
    blocks = chain([first], blocks)
    if _url_of_line(first.lstrip("\ufeff \t\r\n").partition("\n")[0]) is not None:
        return _lines(blocks, problems)
    return _markup(base, blocks, problems)


# ---- XML ------------------------------------------------------------------------------------------------------------


def _markup(base: Url | None, blocks: Iterator[str], problems: list[str]) -> Sitemap | None:
    reader, unusable = ListReader(base, text=False), UnusableUrls()
    ending = _Ending(reader)
    entries = reader.read(ending.watched(unusable.marked(blocks)))
    first = list(islice(entries, 1))  # reads the root element
    if reader.kind is None:
        return None
    sitemap = Sitemap(reader.kind, iter(()))

    def all_entries() -> Iterator[ListedUrl]:
        marked = 0
        for entry in chain(first, entries):
            if unusable.is_marked(entry.url):
                marked += 1
            else:
                yield entry
        cut = problems[0] if problems else ending.error
        sitemap.invalid = marked + (reader.skipped - ending.half_entries if cut else reader.skipped)
        sitemap.unread = "; ".join(filter(None, (reader.error, cut)))

    sitemap.entries = all_entries()
    return sitemap


class _Ending:
    """Finds out whether a document that was read to its end has the end of its root element."""

    def __init__(self, reader: ListReader) -> None:
        self._reader = reader
        self._last = ""
        self._skipped: int | None = None

    def watched(self, blocks: Iterable[str]) -> Iterator[str]:
        """Yields the blocks."""
        for block in blocks:
            self._last = (self._last + block)[-_END_CHARS:]
            yield block
        self._skipped = self._reader.skipped

    @property
    def half_entries(self) -> int:
        """Entries without a usable URL, 0 or 1, that the end of the document cut off."""
        return 0 if self._skipped is None else self._reader.skipped - self._skipped

    @property
    def error(self) -> str:
        """What is wrong; empty if nothing is, or if the document was not read to its end."""
        is_cut = self._skipped is not None and _ROOT_END.search(self._last) is None
        return "it ends too early" if is_cut else ""


# ---- one URL a line -------------------------------------------------------------------------------------------------


def _lines(blocks: Iterator[str], problems: list[str]) -> Sitemap:
    sitemap = Sitemap("sitemap", iter(()))

    def entries() -> Iterator[ListedUrl]:
        left, room = MAX_ENTRIES, MAX_LIST_BYTES
        for url in _urls_of_lines(blocks, problems):
            if url is None:
                sitemap.invalid += 1
                continue
            left -= 1
            room -= len(url.text)
            if left < 0 or room < 0:
                sitemap.unread = f"it lists more than {MAX_ENTRIES} URLs, or {MAX_LIST_BYTES} bytes of them"
                return
            yield ListedUrl(url)
        sitemap.unread = "".join(problems[:1])

    sitemap.entries = entries()
    return sitemap


def _urls_of_lines(blocks: Iterable[str], problems: Sequence[str]) -> Iterator[Url | None]:
    """Yields the URL of each line that is not empty; None if the line is something else. If there were `problems`, the
    last line is cut, so it is not read."""
    rest = ""
    for block in blocks:
        *lines, rest = (rest + block).replace("\r", "\n").split("\n")
        yield from (_url_of_line(line) for line in lines if line.strip())
        rest = rest[: 2 * MAX_URL_CHARS]  # enough to see that it is longer than a URL may be
    if rest.strip() and not problems:
        yield _url_of_line(rest)


def _url_of_line(line: str) -> Url | None:
    return stated_url(line.strip("\ufeff \t\r"))
