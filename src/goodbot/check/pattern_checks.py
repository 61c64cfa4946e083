"""What several checks need to know about path patterns."""

import re
from typing import Final
from urllib.parse import quote, urlsplit

from goodbot.exclusion.text.octets import compared_pattern

WHOLE_SITE: Final = frozenset({"/", "/*", "*"})
"""The patterns that match every path."""

_NOT_IN_PATH = re.compile(r"[\"<>\\^`{|}]")
_NOT_IN_QUERY = re.compile(r"[\"<>]")
"""ASCII characters that robots percent-encode in paths and in queries. In queries they send many others that RFC 3986 2
does not allow."""


def example_of(pattern: str) -> str:
    """Returns a path that the pattern is probably meant for: with an `x` for each `*`, without a `$` at the end."""
    path = pattern.replace("*", "x").rstrip("$")
    return path if path.startswith("/") else f"/{path}"


def pattern_bytes(pattern: str) -> int:
    """Returns the length of a pattern in bytes, which decides between rules (RFC 9309 2.2.2). `é` counts as six bytes,
    `%C3%A9`."""
    return len(compared_pattern(pattern).encoded)


def unsafe_character(path: str) -> re.Match[str] | None:
    """Finds the first character of a path and query that robots send percent-encoded."""
    question = path.find("?")
    found = _NOT_IN_PATH.search(path, 0, len(path) if question < 0 else question)
    return found or (_NOT_IN_QUERY.search(path, question) if question >= 0 else None)


def as_sent(path: str) -> str:
    """Returns the path and query with such characters percent-encoded."""
    start, question, query = path.partition("?")
    return _NOT_IN_PATH.sub(_encoded, start) + question + _NOT_IN_QUERY.sub(_encoded, query)


def _encoded(character: re.Match[str]) -> str:
    return quote(character[0])


def host_of(url: str) -> str:
    """Returns the host of an http or https URL; empty if it has none or is another kind of URL."""
    try:
        parts = urlsplit(url)
        return (parts.hostname or "") if parts.scheme.lower() in ("http", "https") else ""
    except ValueError:
        return ""
