"""Prints the report of `goodbot impact` on a terminal."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rich.padding import Padding
from rich.table import Table

from goodbot.cli.printing import Line, joined, say, say_lines, styled, width, wrapped
from goodbot.cli.rich_tables import cell, console
from goodbot.cli.who_report import TIER_COLOURS
from goodbot.exclusion.text.shown_text import shown
from goodbot.human import counted, human_bytes
from goodbot.watch.impact import Impact, PathImpact, RobotImpact, RobotLabel
from goodbot.watch.impact.impact import OTHERS
from goodbot.watch.impact.page_impact import EVERY_OTHER
from goodbot.watch.report.figure_words import percent

NARROW: Final = 72
"""Characters of a line below which there is a list instead of a table."""

ROBOTS_SHOWN: Final = 25
PATHS_SHOWN: Final = 15
NAMES_SHOWN: Final = 5

USER_TRIGGERED_MARK: Final = "(u)"
OTHERS_TEXT: Final = "other User-Agents"
_OTHERS: Final = RobotLabel(OTHERS)


@dataclass(frozen=True, slots=True)
class Compared:
    """The names of the two files; `old` is None if the report shows what one file disallows."""

    old: str | None
    new: str


def print_impact(impact: Impact, files: Compared) -> None:
    """Prints a summary, then what changes by robot and by path."""
    say_lines(_head(impact, files))
    if impact.judged == "pages" or impact.changed:
        _print_robots(impact, files)
    say_lines(_notes(impact))
    say_lines(_paths(impact, files))


def _noun(impact: Impact, count: int) -> str:
    return counted(count, "request" if impact.judged == "requests" else "page")


def _head(impact: Impact, files: Compared) -> Iterator[Line]:
    if not impact.requests:
        yield from wrapped(f"No {impact.judged} to judge.", "", "", bold=True)
        return
    if impact.judged == "requests":
        yield from wrapped(_of_known_robots(impact, files), "", "", bold=True)
    yield from wrapped(_summary(impact, files), "", "", bold=impact.judged == "pages")


def _of_known_robots(impact: Impact, files: Compared) -> str:
    """Returns the first sentence: robots.txt does not apply to most other requests, which are those of browsers."""
    known = [robot for robot in impact.robots if robot.label.tier is not None]
    if not known:
        return "No known robot is in the log."
    changed, requests = sum(robot.changed for robot in known), sum(robot.requests for robot in known)
    all_of_them = f"{counted(requests, 'request')} in the names of known robots"
    count = f"{changed:,} ({percent(changed / requests)})" if changed else "none"
    if files.old is None:
        return f"Of the {all_of_them}, {shown(files.new)} disallows {count}."
    return f"Of the {all_of_them}, {count} would get another verdict."


def _summary(impact: Impact, files: Compared) -> str:
    all_of_it = f"{'all ' if impact.judged == 'requests' else ''}{_noun(impact, impact.requests)}"
    to_robots = " for at least one robot" if impact.judged == "pages" else ""
    if not impact.changed:
        if files.old is None:
            return f"{shown(files.new)} disallows none of {all_of_it}."
        return f"None of {all_of_it} would get another verdict."
    about = "" if impact.paths_are_exact else "about "
    paths = f"{about}{counted(impact.paths_changed, 'path')}"
    size = f", {human_bytes(impact.bytes)}" if impact.bytes is not None else ""
    share = f"{impact.changed:,} of {all_of_it} ({percent(impact.changed / impact.requests)})"
    if files.old is None:
        return f"{shown(files.new)} disallows {share}{to_robots}: {paths}{size}.{_of_others(impact)}"
    both = "; a page may be both, for different robots" if impact.opened + impact.closed > impact.changed else ""
    kinds = f"{impact.closed:,} closed, {impact.opened:,} opened"
    return f"{share} would get another verdict{to_robots}: {kinds} ({paths}{size}{both}).{_of_others(impact)}"


def _of_others(impact: Impact) -> str:
    changed = sum(robot.changed for robot in impact.robots if robot.label == _OTHERS)
    return f" {changed:,} of these came from {OTHERS_TEXT}." if changed and impact.judged == "requests" else ""


def _print_robots(impact: Impact, files: Compared) -> None:
    robots = [robot for robot in impact.robots if impact.judged == "pages" or robot.changed]
    say()
    say(styled("By robot", bold=True))
    if width() < NARROW:
        say_lines(_as_list(impact, files, robots[:ROBOTS_SHOWN]))
    else:
        _print_table(impact, files, robots[:ROBOTS_SHOWN])
    if len(robots) > ROBOTS_SHOWN:
        say(f"  {counted(len(robots) - ROBOTS_SHOWN, 'more row')}; --json lists them all")


def _print_table(impact: Impact, files: Compared, robots: list[RobotImpact]) -> None:
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("robot", overflow="fold")
    for name, _ in _columns(impact, files, robots[0]):
        table.add_column(name, justify="right", no_wrap=True)
    for robot in robots:
        table.add_row(
            cell(_named_row(impact, robot), _colour(robot)), *(text for _, text in _columns(impact, files, robot))
        )
    console(columns=width()).print(Padding(table, (0, 0, 0, 2), expand=False))


def _as_list(impact: Impact, files: Compared, robots: list[RobotImpact]) -> Iterator[Line]:
    for robot in robots:
        figures = ", ".join(f"{name}: {text}" for name, text in _columns(impact, files, robot))
        yield from wrapped(
            figures, joined("  ", styled(_named_row(impact, robot), fg=_colour(robot) or None), ": "), "    "
        )


def _colour(robot: RobotImpact) -> str:
    return TIER_COLOURS[robot.label.tier] if robot.label.tier is not None else ""


def _columns(impact: Impact, files: Compared, robot: RobotImpact) -> Iterator[tuple[str, str]]:
    """Yields the heading and the value of each column."""
    yield impact.judged, f"{robot.requests:,}"
    yield "closed" if files.old is not None else "disallowed", f"{robot.closed:,}"
    if files.old is not None:
        yield "opened", f"{robot.opened:,}"
        yield "allowed before", f"{robot.allowed_before:,}"
        yield "allowed after" if width() < NARROW else "after", f"{robot.allowed_after:,}"
    else:
        yield "allowed", f"{robot.allowed_after:,}"
    if robot.bytes is not None:
        yield "bytes", human_bytes(robot.bytes)


def named(impact: Impact, label: RobotLabel) -> str:
    """Returns the name of a robot, with its tier where it is known."""
    if impact.judged == "requests" and label == _OTHERS:
        return OTHERS_TEXT
    return label.name if label.tier is None else f"{label.name} ({label.tier})"


def _named_row(impact: Impact, robot: RobotImpact) -> str:
    """Returns the name of a robot in its row, with a mark if robots.txt is not meant for it."""
    return f"{named(impact, robot.label)}{f' {USER_TRIGGERED_MARK}' if robot.user_triggered else ''}"


def _notes(impact: Impact) -> Iterator[Line]:
    if _of_others(impact):
        yield from wrapped(
            f"{OTHERS_TEXT}: mostly browsers, each request judged by the group that its User-Agent matches. Browsers "
            "do not read robots.txt, so requests of people would not change.",
            "  ",
            "  ",
        )
    if any(robot.label.tier == "impostor" and robot.changed for robot in impact.robots):
        yield from wrapped(
            "impostor: uses a robot's name, but is not that robot, and may ignore its rules.", "  ", "  "
        )
    if any(robot.user_triggered and (robot.changed or impact.judged == "pages") for robot in impact.robots):
        yield from wrapped(
            f"{USER_TRIGGERED_MARK}: user-triggered, fetches what a person asks for. robots.txt is not meant for such "
            "robots, and many do not obey it; goodbot who NAME says what is known.",
            "  ",
            "  ",
        )
    if impact.judged == "pages":
        yield from wrapped(f"{EVERY_OTHER}: every robot that neither file names.", "  ", "  ")
    if impact.not_judged:
        yield from wrapped(
            f"{counted(impact.not_judged, 'request')} left out: not for a URL of the site (OPTIONS *, CONNECT, invalid "
            "requests).",
            "  ",
            "  ",
        )


def _paths(impact: Impact, files: Compared) -> Iterator[Line]:
    if not impact.paths:
        return
    yield ("",)
    pages = "Paths that change" if files.old is not None else "Disallowed paths"
    yield from wrapped("Paths with most requests" if impact.judged == "requests" else pages, "", "", bold=True)
    for path in impact.paths[:PATHS_SHOWN]:
        count = f"{path.requests:,}" if path.requests == path.at_most else f"{path.requests:,} to {path.at_most:,}"
        change = styled("closed", fg="red") if path.closes else styled("opened", fg="green")
        word = joined(change, "  ") if files.old is not None else ""
        yield from wrapped(shown(path.path), joined(f"  {count:>8}  ", word), " " * 12)
        yield from wrapped(_reason(impact, path, files), " " * 12, " " * 14)
    more = len(impact.paths) - PATHS_SHOWN + impact.paths_left_out
    if more > 0:
        listed = f"the first {len(impact.paths):,}" if impact.paths_left_out else "them all"
        rows = f"{counted(more, 'more row')} (a path has one row for each rule)"
        yield from wrapped(f"{rows}; --json lists {listed}", "  ", "  ")


def _reason(impact: Impact, path: PathImpact, files: Compared) -> str:
    names = [named(impact, label) for label, _ in path.robots[:NAMES_SHOWN]]
    more = len(path.robots) - NAMES_SHOWN
    robots = f"{', '.join(names)} and {more:,} more" if more > 0 else ", ".join(names)
    if path.rule is None:
        return f"for {robots}"
    file = files.new if path.closes else files.old
    where = f"line {path.line}" if files.old is None else f"{shown(file or '')}, line {path.line}"
    return f"{shown(path.rule)} ({where}), for {robots}"
