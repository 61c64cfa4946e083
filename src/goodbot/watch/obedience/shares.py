"""A share of requests, with the interval that says how sure it is."""

from math import sqrt
from typing import Final, NamedTuple

_Z: Final = 1.959964
"""The 97.5th percentile of the normal distribution, for intervals of 95 %."""


BROKEN_SHARE: Final = 0.05
"""A limit counts as broken if more than this share of what was judged broke it, even at the lower end of the interval:
logs have whole seconds, and the network delays requests."""


class Share(NamedTuple):
    """A share from 0 to 1, and its 95 % interval."""

    value: float
    low: float
    high: float


def share_of(hits: int, total: int) -> Share | None:
    """Returns the share of `hits` in `total` with Wilson's interval, which is also right for few requests; None without
    any.

    Source: Wilson, Probable Inference, the Law of Succession, and Statistical Inference, 1927.
    """
    if not total:
        return None
    share, square = hits / total, _Z * _Z
    middle = share + square / (2 * total)
    spread = _Z * sqrt(share * (1 - share) / total + square / (4 * total * total))
    whole = 1 + square / total
    low, high = (middle - spread) / whole, (middle + spread) / whole
    return Share(share, 0.0 if not hits else max(low, 0.0), 1.0 if hits == total else min(high, 1.0))
