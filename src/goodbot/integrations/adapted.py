"""What the programs of other libraries hand over → what `exclusion` takes; its answers → what they expect."""

import re
import string
from collections.abc import Iterable
from urllib.parse import quote_from_bytes

from goodbot.exclusion import Access
from goodbot.exclusion.robotstxt.timing import RequestRate

_SURROGATE = re.compile("[\ud800-\udfff]")
_NO_OCTETS = re.compile("([\ud800-\udc7f\udd00-\udfff]+)")
"""Surrogates that `surrogateescape` never makes."""


def read_text(body: str | bytes, now: float = 0.0) -> Access:
    """What a robots.txt says that a program has fetched itself; the limit of `Access` holds for it too."""
    return Access.from_response(200, (), octets_of(body), now)


def octets_of(text: object) -> bytes:
    """Bytes as they are, text as UTF-8. Octets that were decoded by `surrogateescape` come back as they were; any other
    lone surrogate becomes the three octets UTF-8 would have for it.

    Never raises on str or bytes; raises TypeError for anything else.
    """
    if isinstance(text, bytes):
        return text
    if not isinstance(text, str):
        raise TypeError(f"a robots.txt is str or bytes, not {type(text).__name__}")
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a surrogate that stands for no octet
        parts = _NO_OCTETS.split(text)
        errors = ("surrogateescape", "surrogatepass")
        return b"".join(part.encode("utf-8", errors[number % 2]) for number, part in enumerate(parts))


def agent_of(value: object) -> str:
    """A user agent as text, whatever it was given as. None is nobody by name: only the groups of `*` speak to it."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)


def url_of(value: object) -> str:
    """A URL as text. Octets of bytes that are not ASCII are percent-encoded, as they are compared anyway; so are those
    that lone surrogates stand for (see `octets_of`)."""
    if not isinstance(value, bytes):
        text = str(value)
        if _SURROGATE.search(text) is None:
            return text
        value = octets_of(text)
    return quote_from_bytes(value, safe=string.printable)


def slowest(rates: Iterable[RequestRate]) -> RequestRate | None:
    """Where one rate is asked for and a file has several: who holds to the slowest is never too fast.

    Our reading; the windows are not looked at.
    """
    return max(rates, key=lambda rate: rate.gap_s, default=None)


def whole(seconds: float) -> float:
    """`10` instead of `10.0`, since programs print and compare it."""
    return int(seconds) if seconds.is_integer() else seconds
