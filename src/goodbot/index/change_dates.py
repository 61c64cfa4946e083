"""Decides which of the dates that servers state are believed. Pure."""

from datetime import UTC, datetime
from typing import Final

FIRST_CHANGE: Final = datetime(1990, 1, 1, tzinfo=UTC).timestamp()
"""The first Web server started in December 1990. An earlier date is a default: 1970-01-01 for a missing time, that of
ZIP archives (1980-01-01), or that of npm packages (1985-10-26)."""
MAX_CLOCK_ERROR_S: Final = 86_400.0
"""How far the clock of a server may be ahead."""


def believed_change(stated: float | None, fetched_at: float) -> float | None:
    """Returns when a page changed, as its server states, or None if that cannot be. `fetched_at` is 0 if unknown. All
    times are in Unix seconds."""
    if stated is None or not stated >= FIRST_CHANGE:  # not a number, perhaps
        return None
    return stated if fetched_at <= 0 or stated <= fetched_at + MAX_CLOCK_ERROR_S else None


def date_of(stated: float | None, fetched_at: float) -> float:
    """Returns the date that the filters compare: that of the last change, or that of the fetch if no change is
    believed."""
    change = believed_change(stated, fetched_at)
    return fetched_at if change is None else change
