"""Sitemaps, sitemap indexes and feeds → the URLs they list. Streaming, pure, lenient; nothing is expanded or fetched.

Read are the protocol of sitemaps.org, RSS (0.9x, 1.0 in RDF, 2.0) and Atom (0.3, RFC 4287), told apart by the root
element, in any spelling of the namespaces; and lists with one URL a line. A broken file gives what can be read of it.
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

ENTRIES_MOST: Final = 50_000
"""Of one file, as sitemaps.org has it."""

BYTES_MOST: Final = 50 * 1024 * 1024
"""Decoded, of one file, as sitemaps.org has it; and of its URLs once they are resolved."""

FEED_TEXT_CHARS: Final = 1_000_000
"""Of titles and summaries together; what follows is not read."""

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
"""Seconds; what never changes is looked at after ten years, unless the robot's own bounds say sooner."""

_SHORT_DATE = re.compile(r"[0-9]{4}(-[0-9]{2})?", re.ASCII)


class ListReader:
    """Reads one file. `base`: where it is from, None: not known, and relative URLs are passed over.

    `kind` is None if it is no such file; `title`, `text` and `language` are those of a feed, without `text` not read.
    `passed_over` counts entries without a usable URL; `error` says what else was not read, if anything. A file of
    50,000 URLs with all their hints takes 0.47 s of CPU, of which 0.16 are what Expat alone would take.
    """

    def __init__(self, base: Url | None, *, text: bool = True, entries_most: int | None = ENTRIES_MOST) -> None:
        self.kind: ListKind | None = None
        self.title = ""
        self.language: str | None = None
        self.passed_over = 0
        self.error = ""
        self._base = base
        self._wants_text = text
        self._left = float("inf") if entries_most is None else entries_most
        self._room = float("inf") if entries_most is None else BYTES_MOST
        self._parts: list[str] = []
        self._text_room = FEED_TEXT_CHARS

    @property
    def text(self) -> str:
        """Title and summary of the feed and of each entry, a paragraph each."""
        return "\n\n".join(self._parts)

    def read(self, blocks: Iterable[str]) -> Iterator[ListedUrl]:
        """What it lists, as it comes. Never raises; linear, and memory does not grow with the file."""
        markup = Markup()
        for listed in self._listed(markup, blocks):
            self._left -= 1
            self._room -= len(listed.url.text)
            if self._left < 0 or self._room < 0:
                self.error = f"it lists more than {ENTRIES_MOST} URLs, or {BYTES_MOST} bytes of them"
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
        for said in entries.read(tags):
            listed = self._of_head(said) if said.is_head else self._of_entry(said)
            if listed is not None:
                yield listed
            elif not said.is_head:
                self.passed_over += 1

    def _of_head(self, said: EntryFields) -> ListedUrl | None:
        """The feed itself: what it says, and the page it belongs to."""
        self.title = self._read_text(said.values)
        self.language = said.values.get("language") or self.language
        url = resolved(said.base, said.values.get("url"))
        return ListedUrl(url, self.title) if url is not None else None

    def _of_entry(self, said: EntryFields) -> ListedUrl | None:
        values = said.values
        title = self._read_text(values) if self.kind == "feed" else ""
        url = resolved(said.base, values.get("url") or values.get("guid"))
        if url is None:
            return None
        return ListedUrl(
            url,
            title,
            parse_list_date(values.get("modified") or values.get("published") or ""),
            _INTERVALS.get(values.get("interval", "").lower()),
            _priority(values.get("priority")),
        )

    def _read_text(self, values: dict[str, str]) -> str:
        """The title; it and the summary are kept as text."""
        title = _plain(values.get("title", ""))[:_TITLE_CHARS]
        if self._wants_text and self._text_room > 0:
            for part in (title, _plain(values.get("summary") or values.get("content", ""))):
                if part and self._text_room > 0:
                    self._parts.append(part[: self._text_room])
                    self._text_room -= len(part)
        return title


def read_lines(blocks: Iterable[str]) -> Iterator[Url | None]:
    """A list with one URL a line: each, and None for a line that is none, after which nothing is read."""
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


DATE_MOST: Final = 200
"""Octets of a date; nobody writes longer ones."""


def parse_list_date(text: str) -> float | None:
    """Unix seconds of a W3C date (a year or a month is its first day) or one of RFC 822; None if it is none, or has
    more than `DATE_MOST` octets. Never raises."""
    return _parse_list_date(text) if len(text) <= DATE_MOST else None


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
            pass  # it is written otherwise
    return parse_page_date(text)


def _priority(text: str | None) -> float | None:
    number = decimal_number(text or "")
    return None if number is None else min(number, 1.0)


def _plain(text: str) -> str:
    """The text of a title or a summary, which may be HTML."""
    if "<" in text:
        return read_html(text).text
    return " ".join((unescape(text) if "&" in text else text).split())
