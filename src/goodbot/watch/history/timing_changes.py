"""Which robots are asked for other delays, rates and times of visit than before. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from goodbot.exclusion import RobotsTxt, Timing
from goodbot.exclusion.text.decimals import seconds_text

ALL: Final = "*"

MAX_READS: Final = 500_000
"""How many records are read for this."""

MAX_ROBOTS: Final = 2_000


@dataclass(frozen=True, slots=True)
class TimingChange:
    """What robots were asked before and are asked now, in words (`Crawl-delay 10 s`; empty: nothing). `robots` and
    `excepted` are as in `VerdictChange`."""

    robots: tuple[str, ...]
    excepted: tuple[str, ...]
    before: str
    after: str


def timing_changes(
    old: RobotsTxt, new: RobotsTxt, robots: Mapping[str, str], unnamed: str
) -> tuple[tuple[TimingChange, ...], bool]:
    """Returns the changes, and whether all robots were compared. `robots` maps product tokens to their spelling in the
    report; `*` stands for a robot that neither file names, called `unnamed` when asking."""
    records = sum(len(group.other_records) for file in (old, new) for group in file.groups)
    most = min(MAX_ROBOTS, MAX_READS // (records + 1) + 1)
    if not _has_timing(old) and not _has_timing(new):
        return (), True
    found: dict[tuple[str, str], list[str]] = {}
    for name in list(robots)[:most]:
        agent = unnamed if name == ALL else name
        before, after = timing_text(old.timing(agent)), timing_text(new.timing(agent))
        if before != after:
            found.setdefault((before, after), []).append(name)
    changes = [_change(names, robots, before, after) for (before, after), names in found.items()]
    return tuple(changes), len(robots) <= most


def _change(names: list[str], robots: Mapping[str, str], before: str, after: str) -> TimingChange:
    excepted = (shown for name, shown in robots.items() if name not in names) if ALL in names else ()
    return TimingChange(tuple(robots[name] for name in names), tuple(excepted), before, after)


def _has_timing(rules: RobotsTxt) -> bool:
    fields = ("crawl-delay", "request-rate", "visit-time")
    return any(name in fields for group in rules.groups for _, name, _ in group.other_records)


def timing_text(timing: Timing) -> str:
    """Returns what a robot is asked, in words; empty if nothing."""
    parts = [] if timing.delay_s is None else [f"Crawl-delay {seconds_text(timing.delay_s)}"]
    rates = sorted({f"{rate.documents}/{rate.seconds:.0f}s{_window(rate.window)}" for rate in timing.rates})
    parts += [f"Request-rate {rate}" for rate in rates]
    parts += [f"Visit-time{_window(window)}" for window in sorted(set(timing.windows))]
    return ", ".join(parts)


def _window(window: tuple[int, int] | None) -> str:
    if window is None:
        return ""
    first, last = (f"{minute // 60:02}{minute % 60:02}" for minute in window)
    return f" {first}-{last}"
