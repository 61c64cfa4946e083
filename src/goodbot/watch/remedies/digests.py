"""Names what a remedy defines, so that several remedies work in one configuration."""

from collections.abc import Callable
from hashlib import sha256
from typing import Final

DIGITS: Final = 6


def prefix_of(build: Callable[[str], str]) -> str:
    """Returns a prefix for names, such as `goodbot_3fa9c1`. It has a digest of the text that `build` makes with an
    empty prefix, so remedies with different content have different names."""
    return f"goodbot_{sha256(build('').encode()).hexdigest()[:DIGITS]}"
