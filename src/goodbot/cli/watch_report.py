"""The report of `goodbot watch` on a terminal."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from rich.padding import Padding
from rich.table import Table

from goodbot.cli.printing import Line, joined, say, say_lines, styled, width, wrapped
from goodbot.cli.rich_tables import cell, console
from goodbot.cli.watch_figures import (
    MEMBERS_SHOWN,
    PATH_CHARS,
    PATHS_SHOWN,
    UNDECLARED_SHOWN,
    hours_in_words,
    lines_read,
    statuses_in_words,
)
from goodbot.cli.watch_obedience import first_disallowed, print_obedience
from goodbot.cli.watch_robot_report import print_robot
from goodbot.cli.watch_signatures import print_signatures
from goodbot.cli.who_report import TIER_COLOURS
from goodbot.exclusion.text.shown_text import shown
from goodbot.human import counted, human_bytes
from goodbot.watch.counting.request_kinds import RequestKind
from goodbot.watch.report import PathReport, RobotReport, UndeclaredReport, WatchReport
from goodbot.watch.report.figure_words import narrow_percent, path_count, sent_in_words, tiers_in_words
from goodbot.watch.report.obedience_words import address_in_words, disallowed_in_words
from goodbot.watch.report.report_words import (
    LISTED,
    agent_in_words,
    counted_sentence,
    members_in_words,
    points_in_words,
    pooled_sentence,
    possible_in_words,
    proxies_in_words,
    proxies_sentence,
    shares_sentence,
)

ROBOTS_SHOWN: Final = 25
IMPOSTORS_SHOWN: Final = 5
WIDE: Final = 100
"""Characters of a line from which the table has all its columns."""

NARROW: Final = 72
"""Characters of a line below which there is a list instead of a table."""

SEVERAL_NAMES: Final = 3
"""Names of robots that one address used, from which on the report mentions proxies with public addresses."""

_VERDICT_COLOURS: Final = {"certain": "red", "likely": "yellow", "possible": "cyan", "no evidence": ""}


def print_report(report: WatchReport) -> None:
    """Prints a report."""
    if report.only is not None:
        print_robot(report)
        return
    say_lines(_head(report))
    if not report.counts.requests:
        return
    _print_robots(report.robots)
    say_lines(print_obedience(report))
    say_lines(_impostors(report))
    say_lines(_undeclared(report))
    say_lines(_rest(report))


def _heading(text: str) -> Iterator[Line]:
    yield ("",)
    yield from wrapped(text, "", "", bold=True)


# ---- everything -----------------------------------------------------------------------------------------------------


def _head(report: WatchReport) -> Iterator[Line]:
    if not report.counts.requests:
        yield from wrapped(counted_sentence(report), "", "")
        yield from lines_read(report)
        return
    yield from wrapped(counted_sentence(report), "", "", bold=True)
    yield from wrapped(shares_sentence(report), "", "")
    proxies = proxies_sentence(report)
    if proxies:
        yield from wrapped(proxies, "", "", fg="yellow")
    yield from print_signatures(report)
    yield from lines_read(report)


def _print_robots(robots: tuple[RobotReport, ...]) -> None:
    say_lines(_heading("Known robots"))
    if not robots:
        say("  none")
        return
    rows = sorted(robots, key=lambda robot: -robot.counts.requests)
    if width() < NARROW:
        say_lines(_as_list(rows[:ROBOTS_SHOWN]))
    else:
        _print_table(rows[:ROBOTS_SHOWN], wide=width() >= WIDE)
    say_lines(wrapped(tiers_in_words({robot.tier for robot in rows}), "  ", "  ", dim=True))
    if len(rows) > ROBOTS_SHOWN:
        say(f"  {counted(len(rows) - ROBOTS_SHOWN, 'more row')}; --format csv or --json lists them all")


def _print_table(robots: list[RobotReport], *, wide: bool) -> None:
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("robot", overflow="fold")
    for name in ("tier", "purpose"):
        table.add_column(name, no_wrap=True)
    numbers = ["requests", "share", *(["pages", "bytes"] if wide else []), "peak/s", "robots.txt", "errors"]
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=True)
    for robot in robots:
        counts = robot.counts
        more = [f"{counts.kinds[RequestKind.PAGE]:,}", human_bytes(counts.bytes)] if wide else []
        table.add_row(
            cell(robot.name),
            cell(robot.tier, TIER_COLOURS[robot.tier]),
            robot.robot.purpose if robot.robot else "",
            f"{counts.requests:,}",
            narrow_percent(robot.share_of_requests),
            *more,
            f"{robot.rates.peak_second:,}",
            f"{robot.robots_txt_fetches:,}",
            f"{robot.errors:,}",
        )
    console(columns=width()).print(Padding(table, (0, 0, 0, 2), expand=False))


def _as_list(robots: list[RobotReport]) -> Iterator[Line]:
    for robot in robots:
        tier = styled(robot.tier, fg=TIER_COLOURS[robot.tier])
        text = (
            f"{counted(robot.counts.requests, 'request')}, at most {robot.rates.peak_second:,} a second, "
            f"{counted(robot.robots_txt_fetches, 'request')} for robots.txt, {counted(robot.errors, 'error')}"
        )
        yield from wrapped(text, joined(f"  {robot.name}: ", tier, ", "), "    ")


def _impostors(report: WatchReport) -> Iterator[Line]:
    impostors = [robot for robot in report.robots if robot.tier == "impostor"]
    if not impostors:
        return
    yield from _heading("Impostors: they use a robot's name, but are not that robot")
    for robot in impostors[:IMPOSTORS_SHOWN]:
        yield from wrapped(sent_in_words(robot, MEMBERS_SHOWN), f"  as {shown(robot.name)}: ", "    ")
        for sentence in robot.evidence[1:]:
            yield from wrapped(sentence, "    - ", "      ")
        if robot.obedience is not None and robot.obedience.disallowed:
            yield from wrapped(f"robots.txt: {disallowed_in_words(robot.obedience)}", "    - ", "      ")
    addresses = (address for robot in impostors for address, _ in robot.busiest)
    shared = Counter(address for address in addresses if "/" not in address)  # a network is several addresses
    if max(shared.values(), default=0) >= SEVERAL_NAMES:
        yield from wrapped(
            f"{shown(shared.most_common(1)[0][0])} used the names of {max(shared.values())} robots. If it belongs to a "
            "proxy or CDN of yours, take the clients from X-Forwarded-For: --real-ip --trusted-proxy ADDRESS.",
            "  ",
            "  ",
            fg="yellow",
        )
    if len(impostors) > IMPOSTORS_SHOWN:
        yield (f"  {len(impostors) - IMPOSTORS_SHOWN:,} more; --robot NAME shows one",)


def _undeclared(report: WatchReport) -> Iterator[Line]:
    listed = [one for one in report.undeclared if one.verdict in LISTED]
    possible = report.verdicts.get("possible", 0)
    yield from _heading("Other addresses that behaved like robots")
    for one in listed[:UNDECLARED_SHOWN]:
        yield from _undeclared_one(one)
    if not listed:
        yield ("  none is certain or likely",)
    if report.proxies:
        yield (f"  not judged: {proxies_in_words(report)}",)
    more = len(listed) - UNDECLARED_SHOWN + sum(report.left_out.get(verdict, 0) for verdict in LISTED)
    if more > 0:
        where = f"the first {len(report.undeclared):,}" if report.left_out else "them all"
        yield (f"  {more:,} more; --json lists {where}",)
    if possible:
        yield from wrapped(f"{possible_in_words(possible)}; --json or --format csv lists them", "  ", "  ")


def _undeclared_one(one: UndeclaredReport) -> Iterator[Line]:
    verdict = styled(one.verdict, fg=_VERDICT_COLOURS[one.verdict] or None)
    head = joined(f"  {shown(one.address)}{members_in_words(one)}: ", verdict, ", ")
    yield from wrapped(f"{points_in_words(one)}, {agent_in_words(one.agent)}", head, "    ")
    for sentence in one.evidence:
        yield from wrapped(sentence, "    - ", "      ")
    if one.disallowed is not None and one.disallowed.at_most:
        yield from wrapped(f"{address_in_words(one)},", "    - ", "      ")
        yield from first_disallowed(one.disallowed, "      ")


def _rest(report: WatchReport) -> Iterator[Line]:
    if report.robots_txt:
        yield from _heading("Responses to requests for robots.txt")
        yield from wrapped(statuses_in_words(report.robots_txt), "  ", "  ")
    yield from _activity(report.counts.hours, report.counts.statuses)
    yield from _paths(report.paths)
    if report.pooled.rows:
        yield from _heading("Not all addresses counted one by one")
        yield from wrapped(pooled_sentence(report), "  ", "  ")


def _activity(hours: list[int], statuses: Mapping[int, int]) -> Iterator[Line]:
    if not any(hours):
        return
    yield from _heading("Requests by hour (0 to 23, in the time zone of the log)")
    yield from wrapped(hours_in_words(hours), "  ", "  ")
    yield from _heading("Statuses")
    yield from wrapped(statuses_in_words(statuses), "  ", "  ")


def _paths(paths: tuple[PathReport, ...]) -> Iterator[Line]:
    if not paths:
        return
    yield from _heading("Paths requested most")
    for path in paths[:PATHS_SHOWN]:
        yield from wrapped(shown(path.path, PATH_CHARS), f"  {path_count(path):>12}  ", " " * 16)
