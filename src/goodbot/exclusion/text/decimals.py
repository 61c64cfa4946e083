"""Parses plain decimal numbers of any length.

A very long number is no reason to ignore what a server asks for: a number larger than `MAX_NUMBER` counts as that.
Linear, unlike int(), which takes quadratic time and refuses more than 4,300 digits.
"""

import re
from typing import Final

MAX_NUMBER: Final = 10**10
"""In seconds: 317 years."""

_KEPT_DIGITS: Final = 10
_WHOLE = re.compile(r"[0-9]+")
_DECIMAL = re.compile(r"([0-9]+)(?:\.([0-9]*))?|\.([0-9]+)")


def whole_number(text: str) -> int | None:
    """Parses ASCII digits; a larger number counts as `MAX_NUMBER`. Returns None for anything else."""
    return _bounded(text) if _WHOLE.fullmatch(text) else None


def decimal_number(text: str) -> float | None:
    """Parses a number with an optional decimal point (`5`, `0.5`, `5.`, `.5`), after which ten digits count. Returns
    None for anything else (`1e3`, `-1`, `inf`)."""
    found = _DECIMAL.fullmatch(text)
    if found is None:
        return None
    whole, fraction, bare = found.groups()
    number = _bounded(whole or "0")
    parts = (fraction or bare or "0")[:_KEPT_DIGITS]
    return float(MAX_NUMBER) if number == MAX_NUMBER else float(f"{number}.{parts}")


def seconds_text(seconds: float) -> str:
    """Formats seconds: `5 s`, `0.5 s`, `2592000 s`, or `10000000000 s or more` for `MAX_NUMBER`."""
    if seconds >= MAX_NUMBER:
        return f"{MAX_NUMBER} s or more"
    return f"{seconds:.0f} s" if seconds >= 1000 else f"{seconds:g} s"


def _bounded(digits: str) -> int:
    digits = digits.lstrip("0") or "0"
    return int(digits) if len(digits) <= _KEPT_DIGITS else MAX_NUMBER
