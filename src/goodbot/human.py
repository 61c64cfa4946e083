"""Writes sizes, times and counts for people, in a terminal and on a page, and paths for their shell."""

import shlex
from datetime import UTC, datetime
from pathlib import Path


def human_bytes(count: float) -> str:
    """Formats a size as `1.4 MB`, in decimal units."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 1000:
            return counted(round(count), "byte") if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:,.1f} TB"


def human_duration(seconds: float) -> str:
    """Formats a duration: `45 s`, `3 min 20 s`, `2 h 5 min`, `3 days 11 h`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    if whole < 48 * 3600:
        return f"{whole // 3600} h {whole % 3600 // 60} min"
    return f"{whole // 86_400:,} days {whole % 86_400 // 3600} h"


def human_time(at: float) -> str:
    """Formats a time as `2026-11-21 14:05:09 UTC`. A time after the year 9999 becomes `a time beyond the calendar`."""
    try:
        return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (OverflowError, OSError, ValueError):
        return "a time beyond the calendar"


def counted(count: int, noun: str) -> str:
    """Formats a count with its noun: `1 page`, `1,200 pages`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def in_shell(path: Path | str) -> str:
    """Quotes a path for a command that a message suggests, if a shell needs it."""
    return shlex.quote(str(path))
