"""Reads the URLs in sitemaps, sitemap indexes and feeds: streaming, pure, lenient, without expanding or fetching
anything.

It reads the protocol of sitemaps.org, RSS (0.9x, 1.0 in RDF, 2.0) and Atom (0.3, RFC 4287), by the root element and
whatever the namespaces, and lists with one URL a line. It takes what it can read from a broken file.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import lru_cache
from html import unescape
from typing import Final

from goodbot.exclusion.page.page_dates import parse_page_date
from goodbot.exclusion.text.decimals import decimal_number
from goodbot.page.entries import FORMS, Entries, EntryFields, ListKind, local_name, resolved
from goodbot.page.html import read_html
from goodbot.page.markup import Markup, attributes_of
from goodbot.url import MAX_URL_CHARS, Url, parse_url
from goodbot.values import ListedUrl

MAX_ENTRIES: Final = 50_000
"""The limit of sitemaps.org for the entries of one file."""

MAX_LIST_BYTES: Final = 50 * 1024 * 1024
"""The limit of sitemaps.org for the decoded bytes of one file. It is also the limit for its resolved URLs."""

FEED_TEXT_CHARS: Final = 1_000_000
"""The limit for titles and summaries together; the rest is not read."""

_TITLE_CHARS: Final = 300

_INTERVALS = {
    "always": 3600.0,
    "hourly": 3600.0,
    "daily": 86_400.0,
    "weekly": 604_800.0,
    "monthly": 2_592_000.0,
    "yearly": 31_536_000.0,
    "never": 315_360_000.0,
}
"""Intervals in seconds. `never` means ten years, unless the robot's own bounds are shorter."""

_SHORT_DATE = re.compile(r"[0-9]{4}(-[0-9]{2})?", re.ASCII)


class ListReader:
    """Reads one file. `base` is its URL; if it is None, relative URLs are skipped.

    `kind` is None if the file is not a list. `title`, `text` and `language` are those of a feed; without `text` they
    are not read. `skipped` counts entries without a usable URL; `error` says what else was not read, if anything. A
    file of 50,000 URLs with all their hints takes 0.47 s of CPU; Expat alone would take 0.16 s.
    """

    def __init__(self, base: Url | None, *, text: bool = True, max_entries: int | None = MAX_ENTRIES) -> None:
        self.kind: ListKind | None = None
        self.title = ""
        self.language: str | None = None
        self.skipped = 0
        self.error = ""
        self._base = base
        self._keeps_text = text
        self._left = float("inf") if max_entries is None else max_entries
        self._room = float("inf") if max_entries is None else MAX_LIST_BYTES
        self._parts: list[str] = []
        self._text_room = FEED_TEXT_CHARS

    @property
    def text(self) -> str:
        """The title and summary of the feed and of each entry, one paragraph each."""
        return "\n\n".join(self._parts)

    def read(self, blocks: Iterable[str]) -> Iterator[ListedUrl]:
        """Yields the entries as they are read. Never raises; linear; memory does not grow with the file."""
        markup = Markup()
        for listed in self._listed(markup, blocks):
            self._left -= 1
            self._room -= len(listed.url.text)
            if self._left < 0 or self._room < 0:
                self.error = f"it lists more than {MAX_ENTRIES} URLs, or {MAX_LIST_BYTES} bytes of them"
                return
            yield listed
        self.error = self.error or markup.error

    def _listed(self, markup: Markup, blocks: Iterable[str]) -> Iterator[ListedUrl]:
        tags = markup.tags(blocks)
        root = next((tag for tag in tags if not tag.closing), None)
        form = FORMS.get(local_name(root.name)) if root is not None else None
        if root is None or form is None:
            return
        self.kind = form.kind
        self.language = attributes_of(root).get("xml:lang")
        entries = Entries(form, root, self._base)
        markup.whole = entries.whole
        for entry in entries.read(tags):
            listed = self._of_head(entry) if entry.is_head else self._of_entry(entry)
            if listed is not None:
                yield listed
            elif not entry.is_head:
                self.skipped += 1

    def _of_head(self, head: EntryFields) -> ListedUrl | None:
        """Reads the feed itself, and returns the page it belongs to."""
        self.title = self._read_text(head.values)
        self.language = head.values.get("language") or self.language
        url = resolved(head.base, head.values.get("url"))
        return ListedUrl(url, self.title) if url is not None else None

    def _of_entry(self, entry: EntryFields) -> ListedUrl | None:
        values = entry.values
        title = self._read_text(values) if self.kind == "feed" else ""
        url = resolved(entry.base, values.get("url") or values.get("guid"))
        if url is None:
            return None
        date = values.get("modified") or values.get("published") or ""
        modified_at = parse_list_date(date)
        return ListedUrl(
            url,
            title,
            modified_at,
            _INTERVALS.get(values.get("interval", "").lower()),
            _priority(values.get("priority")),
            date[:MAX_DATE_CHARS] if modified_at is None else "",
        )

    def _read_text(self, values: dict[str, str]) -> str:
        """Returns the title, and keeps title and summary as text."""
        title = _plain(values.get("title", ""))[:_TITLE_CHARS]
        if self._keeps_text and self._text_room > 0:
            for part in (title, _plain(values.get("summary") or values.get("content", ""))):
                if part and self._text_room > 0:
                    self._parts.append(part[: self._text_room])
                    self._text_room -= len(part)
        return title


def read_lines(blocks: Iterable[str]) -> Iterator[Url | None]:
    """Yields the URLs of a list with one URL a line. It yields None for a line that is not a URL, and stops there."""
    rest = ""
    for block in blocks:
        *lines, rest = (rest + block).replace("\r", "\n").split("\n")
        for line in lines:
            if line.strip():
                url = parse_url(line.strip())
                yield url
                if url is None:
                    return
        if len(rest) > 2 * MAX_URL_CHARS:
            yield None
            return
    if rest.strip():
        yield parse_url(rest.strip())


MAX_DATE_CHARS: Final = 200
"""The limit for a date; real ones are shorter."""


def parse_list_date(text: str) -> float | None:
    """Parses a W3C date (a year or a month means its first day) or an RFC 822 date to Unix seconds. Returns None if it
    is neither, or longer than `MAX_DATE_CHARS`. Never raises."""
    return _parse_list_date(text) if len(text) <= MAX_DATE_CHARS else None


@lru_cache(maxsize=4096)
def _parse_list_date(text: str) -> float | None:
    text = text.strip()
    if short := _SHORT_DATE.fullmatch(text):
        text += "-01" if short[1] else "-01-01"
    if 8 <= len(text) <= 35:
        try:
            at = datetime.fromisoformat(text)
            return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            pass  # it has another form
    return parse_page_date(text)


def _priority(text: str | None) -> float | None:
    number = decimal_number(text or "")
    return None if number is None else min(number, 1.0)


def _plain(text: str) -> str:
    """Returns the text of a title or a summary, which may be HTML."""
    if "<" in text:
        return read_html(text).text
    return " ".join((unescape(text) if "&" in text else text).split())
