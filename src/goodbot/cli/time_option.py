"""Options whose value is a point in time: `--since 2026-11-01`, `--since 7d`."""

import re
from datetime import UTC, datetime
from typing import Final

from goodbot.errors import InputError

_AGO: Final = re.compile(r"(\d{1,6})\s*(s|min|m|h|d|w)", re.ASCII)
_SECONDS: Final = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400, "w": 604_800}

FORMS: Final = "a date (2026-11-01), a time (2026-11-01T14:30, UTC unless it ends in an offset) or an age (24h, 7d)"


def is_relative(text: str) -> bool:
    """Whether a time is given relative to now."""
    return _AGO.fullmatch(text.strip().lower()) is not None


def parse_time(option: str, text: str, now: float) -> int:
    """Returns Unix seconds. Raises InputError, naming the option, for anything but `FORMS`."""
    ago = _AGO.fullmatch(text.strip().lower())
    if ago:
        return int(now) - int(ago[1]) * _SECONDS[ago[2]]
    try:
        at = datetime.fromisoformat(text.strip())
        return int((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp())
    except (ValueError, OverflowError) as error:
        raise InputError(f"{option} must be {FORMS}, not {text!r}") from error
