"""How long a visitor has to wait, in the unit in which people say it. Pure."""

import math
from dataclasses import dataclass
from typing import Final, Literal

SECONDS_MOST: Final = 120
"""Longer waits are written in minutes."""


@dataclass(frozen=True, slots=True)
class Wait:
    """A time to wait. The template `waits.html` writes it in the language of the reader, `str` in English."""

    count: int
    unit: Literal["second", "minute"]

    def __str__(self) -> str:
        return f"{self.count:,} {self.unit}" + ("" if self.count == 1 else "s")


def wait_of(seconds: float) -> Wait:
    """Returns the time to wait, rounded up."""
    if seconds <= SECONDS_MOST:
        return Wait(max(1, math.ceil(seconds)), "second")
    return Wait(math.ceil(seconds / 60), "minute")
