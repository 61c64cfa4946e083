"""Finds the places of URLs in a sitemap, and of Sitemap records in a robots.txt. Lines and columns count from 1, in
characters."""

import re
from collections.abc import Collection, Iterator
from typing import Final, NamedTuple

from goodbot.audit.page_places import Place
from goodbot.check.source_lines import read_lines
from goodbot.page.markup import unescaped
from goodbot.url import MAX_URL_CHARS, Url, resolve

_LOC: Final = re.compile(r"<(?:[\w.-]{1,40}:)?loc\b[^<>]{0,200}>(<!\[CDATA\[)?+([^<>]{1,20000})", re.IGNORECASE)
"""The part before the text is bounded, so that each `<` is examined a bounded number of characters."""

_LINE: Final = re.compile(r"[^\r\n]+")


class EntryPlace(NamedTuple):
    """A URL in a sitemap or a robots.txt, and where it is written."""

    url: str
    place: Place


def sitemap_places(text: str, base: Url, wanted: Collection[str]) -> Iterator[EntryPlace]:
    """Yields the first place of each wanted URL in a sitemap at `base`, XML or one URL per line. Linear; never
    raises."""
    left = set(wanted)
    line, at = 1, 0
    for found in (_LOC if "<" in text[:1000] else _LINE).finditer(text):
        if not left:
            return
        raw = found[2] if found.re is _LOC else found[0]
        start = found.end() - len(raw.lstrip())
        is_literal = found.re is _LOC and found[1] is not None
        written = (raw.removesuffix("]]") if is_literal else unescaped(raw)).strip()
        url = resolve(base, written) if len(written) <= MAX_URL_CHARS else None
        if url is None or url.text not in left:
            continue
        left.discard(url.text)
        line += text.count("\n", at, start)
        at = start
        yield EntryPlace(url.text, Place(line, start - text.rfind("\n", 0, start)))


def record_places(body: bytes, base: Url, wanted: Collection[str]) -> Iterator[EntryPlace]:
    """Yields the first place of each wanted URL in the Sitemap records of a robots.txt."""
    left = set(wanted)
    for line in read_lines(body):
        if not left:
            return
        url = resolve(base, line.value) if line.field == "sitemap" else None
        if url is not None and url.text in left:
            left.discard(url.text)
            yield EntryPlace(url.text, Place(line.number, line.value_at + 1))
