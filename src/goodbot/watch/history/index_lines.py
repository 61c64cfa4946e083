"""One line of the index of a history: a fetch, as JSON in ASCII."""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from goodbot.watch.history.line_file import line_of, read_line

MAX_HEADER_CHARS: Final = 64 * 1024
"""How many characters of header fields a line keeps; the fields after them are left out."""

MAX_TEXT_CHARS: Final = 8192
"""The longest URL or failure of a line."""

MAX_REDIRECTS: Final = 16

MAX_TIME: Final = 253_402_300_799.0
"""The last second of the year 9999."""

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")


class IndexLine(NamedTuple):
    """The fetch that a line describes; `digest` is that of its body, None if the body is empty."""

    url: str
    at: float
    status: int | None
    failure: str | None
    headers: tuple[tuple[str, str], ...]
    digest: str | None
    redirects: tuple[str, ...]


def index_line(
    url: str,
    at: float,
    status: int | None,
    failure: str | None,
    headers: Iterable[tuple[str, str]],
    digest: str | None,
    redirects: Iterable[str],
) -> bytes:
    """Returns the line for a fetch, with its end. Header fields over `MAX_HEADER_CHARS` are left out."""
    fields = {
        "url": url[:MAX_TEXT_CHARS],
        "status": status,
        "failure": failure and failure[:MAX_TEXT_CHARS],
        "headers": list(bounded_fields(headers)),
        "digest": digest,
        "redirects": [text[:MAX_TEXT_CHARS] for text in list(redirects)[:MAX_REDIRECTS]],
    }
    return line_of(at, fields)


def bounded_fields(headers: Iterable[tuple[str, str]]) -> Iterable[tuple[str, str]]:
    """Yields the first of these (name, value) pairs, up to `MAX_HEADER_CHARS`."""
    left = MAX_HEADER_CHARS
    for name, value in headers:
        left -= len(name) + len(value)
        if left < 0:
            return
        yield name, value


def read_index_line(raw: bytes) -> IndexLine | None:
    """Returns the fetch of a line; None for anything that `index_line` does not write. Never raises; linear."""
    found = read_line(raw)
    if found is None:
        return None
    url, status, failure = found.get("url"), found.get("status"), found.get("failure")
    digest, headers, redirects = found.get("digest"), found.get("headers"), found.get("redirects")
    at = time_of(found.get("at"))
    if not isinstance(url, str) or at is None or not _is_status(status) or not _is_text(failure):
        return None
    if (status is None and failure is None) or not _is_digest(digest):
        return None
    fields = fields_of(headers)
    if fields is None or not isinstance(redirects, list) or not all(isinstance(each, str) for each in redirects):
        return None
    return IndexLine(url, at, status, failure, fields, digest, tuple(redirects))


def time_of(value: object) -> float | None:
    """Returns Unix seconds up to `MAX_TIME`; None for any other JSON value."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return float(value) if 0 <= value <= MAX_TIME else None


def _is_status(value: object) -> bool:
    return value is None or (type(value) is int and 100 <= value <= 999)


def _is_text(value: object) -> bool:
    return value is None or isinstance(value, str)


def _is_digest(value: object) -> bool:
    return value is None or (isinstance(value, str) and _DIGEST.fullmatch(value) is not None)


def fields_of(value: object) -> tuple[tuple[str, str], ...] | None:
    """Returns a list of pairs of texts; None for any other JSON value."""
    if not isinstance(value, list) or not all(map(_is_pair, value)):
        return None
    return tuple((first, second) for first, second in value)


def _is_pair(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(each, str) for each in value)
