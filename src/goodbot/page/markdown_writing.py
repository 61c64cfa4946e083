"""Writes Markdown (CommonMark) for documents that are not HTML: lines of text, and lists of URLs."""

import re
from collections.abc import Collection, Iterable, Iterator
from datetime import UTC, datetime

from goodbot.values import ListedUrl

_SPECIAL = re.compile(r"[\\`*_\[\]<]")
_BLOCK = re.compile(r"(?:[#>+=~-]|[0-9]{1,9}[.)](?=\s|\Z))")
"""Matches the beginning of a line that CommonMark would read as a heading, quotation, list, rule or fence."""


def escaped(text: str) -> str:
    """Returns one line of text as Markdown that shows exactly this text."""
    line = _SPECIAL.sub(r"\\\g<0>", " ".join(text.split()))
    if block := _BLOCK.match(line):
        at = block.end() - 1
        return f"{line[:at]}\\{line[at:]}"
    return line


def markdown_of_lines(text: str, headings: Collection[str] = ()) -> str:
    """Returns text as Markdown with the same lines. Lines that equal one of `headings` become headings."""
    known = set(headings)
    parts: list[str] = []
    for line in text.splitlines():
        if " ".join(line.split()) in known:
            parts.append(f"\n## {escaped(line)}\n")
        else:
            parts.append(escaped(line))
    return "\n".join(parts).strip()


def markdown_of_entries(entries: Iterable[ListedUrl]) -> str:
    """Returns the URLs of a sitemap or a feed as a list of links, with the dates that it states."""
    return "\n".join(_entries(entries))


def _entries(entries: Iterable[ListedUrl]) -> Iterator[str]:
    for entry in entries:
        target = entry.url.text.replace("(", "%28").replace(")", "%29")
        link = f"[{escaped(entry.title)}]({target})" if entry.title else f"<{entry.url.text}>"
        date = "" if entry.modified_at is None else iso_date(entry.modified_at)
        yield f"- {link}, {date}" if date else f"- {link}"


def iso_date(at: float) -> str:
    """Returns the day of a time in Unix seconds, in UTC; an empty text if there is no such day."""
    try:
        return datetime.fromtimestamp(at, UTC).date().isoformat()
    except (ValueError, OverflowError, OSError):
        return ""
