"""Finds the pages to announce: in lists of URLs, in the entries of sitemaps, and in the pages of a crawl."""

from collections.abc import Iterable, Iterator
from typing import BinaryIO, Final

from goodbot.announce.announce_values import GONE, Change
from goodbot.announce.marks import lastmod_mark
from goodbot.announce.typed_urls import whole_url
from goodbot.errors import InputError
from goodbot.url import MAX_URL_CHARS, Url
from goodbot.values import ListedUrl, UrlRecord

_MAX_LINE: Final = 8 * MAX_URL_CHARS
"""Maximum bytes of a line, with its comment."""


# ---- lists ----------------------------------------------------------------------------------------------------------


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


# ---- sitemaps and crawls ---------------------------------------------------------------------------------------------


def listed_changes(entries: Iterable[ListedUrl]) -> Iterator[Change]:
    """Yields the pages that a sitemap lists. The mark of a page is its `lastmod`, if there is one."""
    for entry in entries:
        yield Change(entry.url, lastmod_mark(entry.modified_at, entry.odd_date))


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
