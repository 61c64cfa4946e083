"""Finds the pages to announce: in lists of URLs, in sitemaps, and in the pages of a crawl."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import BinaryIO, Final

from goodbot.announce.announce_values import GONE, Change
from goodbot.errors import InputError
from goodbot.exclusion.text.shown_text import shown
from goodbot.page.coding import unpacked
from goodbot.page.entries import ListKind
from goodbot.page.list_file import open_listing
from goodbot.page.sitemap import MAX_LIST_BYTES, ListReader
from goodbot.page.text_blocks import text_blocks
from goodbot.url import MAX_URL_CHARS, Url, parse_url
from goodbot.values import ListedUrl, Response, UrlRecord

_MAX_LINE: Final = 8 * MAX_URL_CHARS
"""Maximum bytes of a line, with its comment."""

_PIECE_BYTES: Final = 65_536


# ---- lists ----------------------------------------------------------------------------------------------------------


def whole_url(text: str) -> Url:
    """Returns the URL that the user typed. Raises InputError if it is not a whole http or https URL."""
    url = parse_url(text)
    if url is None:
        raise InputError(f"not a whole http or https URL: {shown(text)}")
    return url


def url_lines(file: BinaryIO, name: str) -> Iterator[Url]:
    """Yields the URLs of a list, one a line; `#` begins a comment. Raises InputError, naming the line, for anything
    else. Memory does not grow with the file."""
    number = 0
    while line := file.readline(_MAX_LINE):
        number += 1
        try:
            text = _without_comment(line.decode("utf-8-sig" if number == 1 else "utf-8"))
            if text:
                yield _url_of_line(text)
        except UnicodeDecodeError as error:
            raise InputError(f"{name}, line {number}: not UTF-8 text") from error
        except InputError as error:
            hint = "; give sitemaps with --sitemap" if line.lstrip().startswith(b"<") else ""
            raise InputError(f"{name}, line {number}: {error}{hint}") from error


def _url_of_line(text: str) -> Url:
    if " " in text:
        raise InputError("a line must be one URL without spaces (write %20 for a space)")
    return whole_url(text)


def _without_comment(line: str) -> str:
    """`#` inside a URL begins its fragment, so a comment needs a space before it."""
    words = line.split()
    end = next((place for place, word in enumerate(words) if word.startswith("#")), len(words))
    return " ".join(words[:end])


# ---- sitemaps -------------------------------------------------------------------------------------------------------


class Sitemap:
    """A sitemap, a sitemap index or a feed being read: up to 50,000 entries of up to `MAX_LIST_BYTES`. `unread`
    says, after the last entry, what was not read and why; it is empty if everything was."""

    def __init__(self, kind: ListKind, entries: Iterator[ListedUrl], unread: Callable[[], str]) -> None:
        self.kind = kind
        self.entries = entries
        self._unread = unread

    @property
    def unread(self) -> str:
        """See the class."""
        return self._unread()


def sitemap_in_file(file: BinaryIO) -> Sitemap | None:
    """Reads a sitemap in a file, unpacking gzip; None if it is something else. Content never makes it raise."""
    reader, problems = ListReader(None, text=False), list[str]()
    room = MAX_LIST_BYTES

    def bounded() -> Iterator[bytes]:
        nonlocal room
        for piece in unpacked(iter(lambda: file.read(_PIECE_BYTES), b""), problems.append):
            yield piece[:room]
            room -= len(piece)
            if room < 0:
                problems.append(f"only the first {MAX_LIST_BYTES} bytes are read")
                return

    return _opened(reader, reader.read(text_blocks(bounded())), problems)


def _opened(reader: ListReader, entries: Iterator[ListedUrl], problems: list[str]) -> Sitemap | None:
    first = list(islice(entries, 1))  # reads the root element

    def all_entries() -> Iterator[ListedUrl]:
        yield from first
        yield from entries

    if reader.kind is None:
        return None
    return Sitemap(reader.kind, all_entries(), lambda: "; ".join(filter(None, (reader.error, *problems[:1]))))


def sitemap_in_answer(url: Url, response: Response) -> Sitemap | None:
    """Reads the sitemap that a server sent; None if it is something else. Never raises."""
    file = open_listing(url, response, text=False)
    if file is None:
        return None

    def unread() -> str:
        cut = "the answer is longer than the limit, or ends too early" if response.truncated else ""
        return file.extract.unread or cut

    return Sitemap(file.kind, (entry for piece in file.pieces() for entry in piece), unread)


def listed_changes(entries: Iterable[ListedUrl]) -> Iterator[Change]:
    """Yields the pages that a sitemap lists. The mark of a page is its `lastmod`, if there is one."""
    for entry in entries:
        yield Change(entry.url, "" if entry.modified_at is None else f"lastmod {entry.modified_at:.0f}")


# ---- a crawl --------------------------------------------------------------------------------------------------------


def crawl_changes(records: Iterable[UrlRecord], *, is_indexed: bool) -> Iterator[Change]:
    """Yields the pages of a crawl that search services may have: those that may be indexed, and as `GONE` those that
    are gone, or that may not be indexed any more. The mark of a page is the digest of its text.

    `is_indexed`: the crawl keeps an index. If it does not, it has not recorded which pages may be indexed, so all pages
    visited count.
    """
    for record in records:
        if record.state in ("gone", "disallowed"):
            yield Change(record.url, GONE)
        elif record.state == "visited":
            yield Change(record.url, _mark_of(record) if _may_be_found(record, is_indexed=is_indexed) else GONE)


def _may_be_found(record: UrlRecord, *, is_indexed: bool) -> bool:
    if record.same_as is not None or record.seen is None:
        return False
    if is_indexed:
        return record.seen.indexed
    return record.status is not None and (200 <= record.status < 300 or record.status == 304)


def _mark_of(record: UrlRecord) -> str:
    text = record.seen.text if record.seen is not None else None
    return f"text {text or record.digest or ''}"
