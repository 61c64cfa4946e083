"""Converts values from programs of other libraries into those of `exclusion`, and its answers back."""

import re
import string
from collections.abc import Iterable
from urllib.parse import quote_from_bytes

from goodbot.exclusion import Access
from goodbot.exclusion.robotstxt.timing import RequestRate

_SURROGATE = re.compile("[\ud800-\udfff]")
_NO_OCTETS = re.compile("([\ud800-\udc7f\udd00-\udfff]+)")
"""Surrogates that `surrogateescape` never produces."""


def read_text(body: str | bytes, now: float = 0.0) -> Access:
    """Reads a robots.txt that a program fetched itself; the size limit of `Access` applies."""
    return Access.from_response(200, (), octets_of(body), now)


def octets_of(text: object) -> bytes:
    """Returns bytes as they are, and text as UTF-8. Surrogates from `surrogateescape` become the octets they stand for;
    any other lone surrogate becomes the three octets that UTF-8 would give it.

    Never raises on str or bytes; raises TypeError for anything else.
    """
    if isinstance(text, bytes):
        return text
    if not isinstance(text, str):
        raise TypeError(f"a robots.txt is str or bytes, not {type(text).__name__}")
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a surrogate that does not stand for an octet
        parts = _NO_OCTETS.split(text)
        errors = ("surrogateescape", "surrogatepass")
        return b"".join(part.encode("utf-8", errors[number % 2]) for number, part in enumerate(parts))


def agent_of(value: object) -> str:
    """Returns a user agent as text. None becomes the empty name, to which only the groups of `*` apply."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)


def url_of(value: object) -> str:
    """Returns a URL as text. Octets beyond ASCII in bytes are percent-encoded, the form in which they are compared
    anyway; so are the octets that lone surrogates stand for (see `octets_of`)."""
    if not isinstance(value, bytes):
        text = str(value)
        if _SURROGATE.search(text) is None:
            return text
        value = octets_of(text)
    return quote_from_bytes(value, safe=string.printable)


def slowest(rates: Iterable[RequestRate]) -> RequestRate | None:
    """Returns the slowest of several rates, for interfaces that have only one: a robot that keeps it is never too fast.

    Our reading; windows are ignored.
    """
    return max(rates, key=lambda rate: rate.gap_s, default=None)


def whole(seconds: float) -> float:
    """Returns `10` instead of `10.0`, since programs print and compare the value."""
    return int(seconds) if seconds.is_integer() else seconds
