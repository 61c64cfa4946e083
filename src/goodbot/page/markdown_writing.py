"""Writes Markdown (CommonMark) for documents that are not HTML: lines of text, and lists of URLs."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime

from goodbot.values import ListedUrl

_SPECIAL = re.compile(r"[\\`*_\[\]<]")
_BLOCK = re.compile(r"(?:[#>+=~-]|[0-9]{1,9}[.)](?=\s|\Z))")
"""Matches the beginning of a line that CommonMark would read as a heading, quotation, list, rule or fence."""


_TICKS = re.compile(r"`+")


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


def fenced(text: str, language: str) -> str:
    """Returns a text as a code block, which shows it as it is; empty for an empty text."""
    fence = "`" * max(3, 1 + max(map(len, _TICKS.findall(text)), default=0))
    return f"{fence}{language}\n{text}\n{fence}" if text else ""


def markdown_of_entries(entries: Sequence[ListedUrl], title: str = "") -> str:
    """Returns the URLs of a sitemap or a feed as a list of links, with the dates that it states. If a feed names its
    own page first, the link to that is the heading."""
    if title and entries and entries[0].title == title:
        head, *entries = entries
        return "\n".join([f"# {_link(head)}", "", *_entries(entries)])
    return "\n".join(_entries(entries))


def _entries(entries: Iterable[ListedUrl]) -> Iterator[str]:
    for entry in entries:
        date = "" if entry.modified_at is None else iso_date(entry.modified_at)
        yield f"- {_link(entry)}, {date}" if date else f"- {_link(entry)}"


def _link(entry: ListedUrl) -> str:
    target = entry.url.text.replace("(", "%28").replace(")", "%29")
    return f"[{escaped(entry.title)}]({target})" if entry.title else f"<{entry.url.text}>"


def iso_date(at: float) -> str:
    """Returns the day of a time in Unix seconds, in UTC; an empty text if there is no such day."""
    try:
        return datetime.fromtimestamp(at, UTC).date().isoformat()
    except (ValueError, OverflowError, OSError):
        return ""
