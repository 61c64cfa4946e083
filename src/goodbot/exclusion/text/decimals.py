"""Plain decimal numbers, however many digits they are written with.

Digits without number are no reason to pass over what a server asks for: a number beyond `NUMBER_MOST` counts as that.
Linear: int() refuses more than 4,300 digits, and takes quadratic time for fewer.
"""

import re
from typing import Final

NUMBER_MOST: Final = 10**10
"""As seconds 317 years."""

_KEPT_DIGITS: Final = 10
_WHOLE = re.compile(r"[0-9]+")
_DECIMAL = re.compile(r"([0-9]+)(?:\.([0-9]*))?|\.([0-9]+)")


def whole_number(text: str) -> int | None:
    """The number that ASCII digits write, at most `NUMBER_MOST`; None for anything else."""
    return _bounded(text) if _WHOLE.fullmatch(text) else None


def decimal_number(text: str) -> float | None:
    """The same with a point (`5`, `0.5`, `5.`, `.5`); of the digits behind it ten count. None for anything else
    (`1e3`, `-1`, `inf`)."""
    found = _DECIMAL.fullmatch(text)
    if found is None:
        return None
    whole, fraction, bare = found.groups()
    number = _bounded(whole or "0")
    parts = (fraction or bare or "0")[:_KEPT_DIGITS]
    return float(NUMBER_MOST) if number == NUMBER_MOST else float(f"{number}.{parts}")


def seconds_text(seconds: float) -> str:
    """`5 s`, `0.5 s`, `2592000 s`; `10000000000 s or more` for a number that was bounded."""
    if seconds >= NUMBER_MOST:
        return f"{NUMBER_MOST} s or more"
    return f"{seconds:.0f} s" if seconds >= 1000 else f"{seconds:g} s"


def _bounded(digits: str) -> int:
    digits = digits.lstrip("0") or "0"
    return int(digits) if len(digits) <= _KEPT_DIGITS else NUMBER_MOST
