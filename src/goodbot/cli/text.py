"""How counts and durations are written for people in a terminal."""

from goodbot.human import human_time


def counted(count: int, what: str) -> str:
    """`1 page`, `1,200 pages`."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def human_duration(seconds: float) -> str:
    """`45 s`, `3 min 20 s`, `2 h 5 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def when_due_again(at: float, now: float) -> str:
    """From when `goodbot crawl --keep-fresh` has something to do."""
    when = f"since {human_time(at)}" if at <= now else f"in {human_duration(at - now)}, at {human_time(at)}"
    return f"pages are due to be asked for again {when} (goodbot crawl --keep-fresh)"
