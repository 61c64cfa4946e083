"""Splits a robots.txt into lines as its author sees them: with comments, spaces and columns, which the parser drops."""

from dataclasses import dataclass
from typing import Final

from goodbot.exclusion.robotstxt.lines import decode, split_lines

MAX_LINES: Final = 200_000
"""How many lines are checked; the 500 KiB that a robot must read rarely have more."""


FIELDS: Final = {
    name.lower(): name
    for name in (
        *("User-agent", "Disallow", "Allow", "Sitemap", "Crawl-delay", "Request-rate", "Visit-time", "Host"),
        *("Clean-param", "Comment", "Robot-version", "Noindex", "Content-Signal", "Content-Usage", "License"),
    )
}
"""The fields that some robot reads or used to read, in their usual spelling, by their names in lower case."""

MISSPELT: Final = frozenset({"dissallow", "dissalow", "disalow", "diasllow", "disallaw", "site-map", "useragent"})
"""Misspellings that Google's parser accepts."""


@dataclass(frozen=True, slots=True)
class SourceLine:
    """One line; `text` is the line without its line ending. Columns count from 0, in characters.

    `field` is in lower case, and `value` has no comment and no outer spaces; both are empty if there is no colon.
    `field_at`, `colon_at`, `value_at` and `value_end` are their columns, and `comment_at` is the column of the `#` that
    begins a comment; -1 means that there is none.
    """

    number: int
    text: str
    field: str = ""
    value: str = ""
    field_at: int = -1
    colon_at: int = -1
    value_at: int = -1
    value_end: int = -1
    comment_at: int = -1

    @property
    def is_blank(self) -> bool:
        """Whether the line has only spaces and tabs (a line with a comment is not blank)."""
        return not self.text.strip(" \t")

    @property
    def is_record(self) -> bool:
        """Whether RFC 9309 reads a record in this line."""
        return bool(self.field)


def read_lines(body: bytes) -> tuple[SourceLine, ...]:
    """Splits `body` into lines, numbered as `exclusion` numbers them. Linear; never raises."""
    return tuple(_line(number, text) for number, text in enumerate(split_lines(decode(body))[:MAX_LINES], 1))


def _line(number: int, text: str) -> SourceLine:
    content, sharp, _ = text.partition("#")
    comment_at = len(content) if sharp else -1
    written, colon, rest = content.partition(":")
    name = written.strip(" \t")
    if not colon or not name:
        return SourceLine(number, text, comment_at=comment_at, colon_at=len(written) if colon else -1)
    value = rest.strip(" \t")
    value_at = len(written) + 1 + len(rest) - len(rest.lstrip(" \t"))
    return SourceLine(
        number,
        text,
        name.lower(),
        value,
        len(written) - len(written.lstrip(" \t")),
        len(written),
        value_at,
        value_at + len(value),
        comment_at,
    )
