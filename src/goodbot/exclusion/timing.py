"""Crawl-delay: how long a robots.txt asks a robot to wait between two requests."""

import re
from collections.abc import Iterable

# Ten digits are 317 years: nothing longer is meant, and no number is too large for a float.
_SECONDS = re.compile(r"[0-9]{1,10}(?:\.[0-9]{0,10})?|\.[0-9]{1,10}")


def parse_delay(value: str) -> float | None:
    """Seconds of a Crawl-delay: a plain decimal number, not negative, at most ten digits before and after the
    point.

    Anything else (`1e3`, `10s`, `-1`, `inf`) is None. Crawl-delay is in no standard; RFC 9309 §2.2.4 lets it
    be read.
    """
    return float(value) if _SECONDS.fullmatch(value) else None


def longest_delay(values: Iterable[str]) -> float | None:
    """The longest of several, since each was asked for; None if none can be read."""
    return max((delay for value in values if (delay := parse_delay(value)) is not None), default=None)
