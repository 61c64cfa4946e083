"""The report of `goodbot watch` on a terminal."""

from collections.abc import Iterator, Mapping
from typing import Final

from rich.table import Table

from goodbot.cli.printing import Line, joined, say, styled, width, wrapped
from goodbot.cli.rich_tables import cell, console
from goodbot.cli.who_report import TIER_COLOURS
from goodbot.exclusion.text.shown_text import shown
from goodbot.human import counted, human_bytes, human_duration, human_time
from goodbot.watch.counting.request_kinds import RequestKind
from goodbot.watch.report import PathReport, RobotReport, UndeclaredReport, WatchReport

ROBOTS_SHOWN: Final = 25
IMPOSTORS_SHOWN: Final = 5
UNDECLARED_SHOWN: Final = 10
PATHS_SHOWN: Final = 10
MEMBERS_SHOWN: Final = 3
PATH_CHARS: Final = 200

WIDE: Final = 100
"""Columns from which the table has all its columns."""

NARROW: Final = 72
"""Columns below which there is a list instead of a table."""

_BARS: Final = " ▁▂▃▄▅▆▇█"
_VERDICT_COLOURS: Final = {"certain": "red", "likely": "yellow", "possible": "cyan", "no evidence": ""}


def print_report(report: WatchReport) -> None:
    """Prints a report."""
    if report.only is not None:
        _print_one(report)
        return
    _print_lines(_head(report))
    _print_robots(report.robots)
    _print_lines(_impostors(report))
    _print_lines(_undeclared(report))
    _print_lines(_rest(report))


def _print_lines(lines: Iterator[Line]) -> None:
    for line in lines:
        say(*line)


def _heading(text: str) -> Iterator[Line]:
    yield ("",)
    yield (styled(text, bold=True),)


# ---- everything -----------------------------------------------------------------------------------------------------


def _head(report: WatchReport) -> Iterator[Line]:
    counts = report.counts
    if counts.first_at is None or counts.last_at is None:
        lines = f"{counted(report.lines, 'line')} read" if report.lines else "the logs are empty"
        yield from wrapped(f"No requests: {lines}.", "", "")
        yield from _skipped(report)
        return
    span = human_duration(counts.last_at - counts.first_at)
    about = "" if report.visitors_are_exact else "about "
    addresses = f"{report.visitors:,} {'address' if report.visitors == 1 else 'addresses'}"
    yield from wrapped(
        f"{counted(counts.requests, 'request')}, {human_bytes(counts.bytes)}, from {about}{addresses}, "
        f"{human_time(counts.first_at)} to {human_time(counts.last_at)} ({span})",
        "",
        "",
        bold=True,
    )
    declared = sum(robot.counts.requests for robot in report.robots)
    found = sum(count for verdict, count in report.verdicts.items() if verdict in ("certain", "likely"))
    yield from wrapped(
        f"Declared robots sent {_percent(declared / counts.requests)} of the requests. {_behaved(found)}", "", ""
    )
    yield from _skipped(report)


def _behaved(found: int) -> str:
    if not found:
        return "No other address behaved like a robot for certain or likely."
    return f"{found:,} other {'address' if found == 1 else 'addresses'} behaved like robots, certainly or likely."


def _skipped(report: WatchReport) -> Iterator[Line]:
    skipped = sum(report.skipped.values())
    if skipped:
        reasons = ", ".join(f"{reason}: {count:,}" for reason, count in sorted(report.skipped.items()))
        yield from wrapped(f"{counted(skipped, 'line')} skipped ({reasons}).", "", "")
        if 2 * report.skipped.get("unknown format", 0) > report.lines:
            yield from wrapped(
                "Is this an access log? If it is, describe its lines with --log-format (goodbot watch --help).", "", ""
            )
    if report.outside:
        yield from wrapped(f"{counted(report.outside, 'request')} left out by --since or --until.", "", "")
    if report.formats and set(report.formats) != {"combined"}:
        formats = ", ".join(f"{name}: {count:,} lines" for name, count in report.formats.items())
        yield from wrapped(f"Formats: {formats}.", "", "")


def _print_robots(robots: tuple[RobotReport, ...]) -> None:
    _print_lines(_heading("Declared robots"))
    if not robots:
        say("  none")
        return
    rows = sorted(robots, key=lambda robot: -robot.counts.requests)
    if width() < NARROW:
        _print_lines(_as_list(rows[:ROBOTS_SHOWN]))
    else:
        _print_table(rows[:ROBOTS_SHOWN], wide=width() >= WIDE)
    if len(rows) > ROBOTS_SHOWN:
        say(f"  {len(rows) - ROBOTS_SHOWN:,} more with fewer requests; --format csv or --json lists them all")


def _print_table(robots: list[RobotReport], *, wide: bool) -> None:
    table = Table(box=None, padding=(0, 1, 0, 1), header_style="dim")
    for name in ("robot", "tier", "purpose"):
        table.add_column(name, overflow="fold")
    numbers = ["requests", "share", *(["pages", "bytes"] if wide else []), "peak/s", "robots.txt", "errors"]
    for name in numbers:
        table.add_column(name, justify="right")
    for robot in robots:
        counts = robot.counts
        more = [f"{counts.kinds[RequestKind.PAGE]:,}", human_bytes(counts.bytes)] if wide else []
        table.add_row(
            cell(robot.name),
            cell(robot.tier, TIER_COLOURS[robot.tier]),
            robot.robot.purpose if robot.robot else "",
            f"{counts.requests:,}",
            _percent(robot.share_of_requests),
            *more,
            f"{robot.rates.peak_second:,}",
            f"{robot.robots_txt_fetches:,}",
            f"{_errors(counts.statuses):,}",
        )
    console(columns=width()).print(table)


def _as_list(robots: list[RobotReport]) -> Iterator[Line]:
    for robot in robots:
        tier = styled(robot.tier, fg=TIER_COLOURS[robot.tier])
        text = (
            f"{counted(robot.counts.requests, 'request')}, at most {robot.rates.peak_second:,} a second, "
            f"{counted(robot.robots_txt_fetches, 'fetch').replace('fetchs', 'fetches')} of robots.txt, "
            f"{counted(_errors(robot.counts.statuses), 'error')}"
        )
        yield from wrapped(text, joined(f"  {robot.name}: ", tier, ", "), "    ")


def _impostors(report: WatchReport) -> Iterator[Line]:
    impostors = [robot for robot in report.robots if robot.tier == "impostor"]
    if not impostors:
        return
    yield from _heading("Impostors: they use a robot's name, but are not that robot")
    for robot in impostors[:IMPOSTORS_SHOWN]:
        busiest = ", ".join(f"{address} ({count:,})" for address, count in robot.busiest[:MEMBERS_SHOWN])
        more = robot.addresses - MEMBERS_SHOWN
        others = f" and {counted(more, 'other')}" if more > 0 else ""
        yield from wrapped(
            f"{counted(robot.counts.requests, 'request')} from {busiest}{others}", f"  as {robot.name}: ", "    "
        )
        for sentence in robot.evidence[1:]:
            yield from wrapped(sentence, "    - ", "      ")
    if len(impostors) > IMPOSTORS_SHOWN:
        yield (f"  {len(impostors) - IMPOSTORS_SHOWN:,} more; --robot NAME shows one",)


def _undeclared(report: WatchReport) -> Iterator[Line]:
    listed = [one for one in report.undeclared if one.verdict != "possible"]
    possible = report.verdicts.get("possible", 0)
    yield from _heading("Robots that did not say so")
    for one in listed[:UNDECLARED_SHOWN]:
        yield from _undeclared_one(one)
    if not listed:
        yield ("  none for certain or likely",)
    if len(listed) > UNDECLARED_SHOWN:
        yield (f"  {len(listed) - UNDECLARED_SHOWN:,} more; --json lists them all",)
    if possible:
        plural = "address is" if possible == 1 else "addresses are"
        yield from wrapped(f"{possible:,} more {plural} possible robots; --json has the evidence", "  ", "  ")


def _undeclared_one(one: UndeclaredReport) -> Iterator[Line]:
    verdict = styled(one.verdict, fg=_VERDICT_COLOURS[one.verdict] or None)
    members = f" ({counted(len(one.members), 'address').replace('addresss', 'addresses')})" if one.members else ""
    head = joined(f"  {shown(one.address)}{members}: ", verdict, f", {one.points} points, ")
    missing = f" and up to {one.missing:,} more that are pooled" if one.missing else ""
    yield from wrapped(
        f"{counted(one.requests, 'request')}{missing}, as {shown(one.agent or 'no User-Agent')}", head, "    "
    )
    for sentence in one.evidence:
        yield from wrapped(sentence, "    - ", "      ")


def _rest(report: WatchReport) -> Iterator[Line]:
    if report.robots_txt:
        yield from _heading("Answers to robots for robots.txt")
        yield from wrapped(_statuses(report.robots_txt), "  ", "  ")
    yield from _activity(report.counts.hours, report.counts.statuses)
    yield from _paths(report.paths)
    pooled = report.pooled
    if pooled.rows:
        yield from _heading("Bounded memory")
        yield from wrapped(
            f"{pooled.kept:,} addresses are counted one by one, {pooled.exact:,} of them certainly completely. "
            f"{counted(pooled.requests, 'request')} of other addresses are counted together and are not judged.",
            "  ",
            "  ",
        )


# ---- parts ----------------------------------------------------------------------------------------------------------


def _activity(hours: list[int], statuses: Mapping[int, int]) -> Iterator[Line]:
    if not any(hours):
        return
    yield from _heading("Hours of the day, as logged, 0 to 23")
    most = max(hours)
    bars = "".join(_BARS[-(-count * 8 // most)] for count in hours)
    busiest = hours.index(most)
    yield from wrapped(f"{bars}  most at {busiest}: {most:,} of {sum(hours):,}", "  ", "  ")
    yield from _heading("Statuses")
    yield from wrapped(_statuses(statuses), "  ", "  ")


def _paths(paths: tuple[PathReport, ...]) -> Iterator[Line]:
    if not paths:
        return
    yield from _heading("Paths requested most")
    for path in paths[:PATHS_SHOWN]:
        count = f"{path.requests:,}" if path.requests == path.at_most else f"{path.requests:,} to {path.at_most:,}"
        yield from wrapped(shown(path.path, PATH_CHARS), f"  {count:>12}  ", " " * 16)


def _statuses(statuses: Mapping[int, int]) -> str:
    most = sorted(statuses.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(f"{status or 'none'}: {count:,}" for status, count in most)


def _errors(statuses: Mapping[int, int]) -> int:
    return sum(count for status, count in statuses.items() if 400 <= status < 600)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


# ---- one robot ------------------------------------------------------------------------------------------------------


def _print_one(report: WatchReport) -> None:
    if not report.robots:
        say(f"{report.only} did not come: no request in the logs names it")
        return
    for number, robot in enumerate(report.robots):
        if number:
            say()
        _print_lines(_details(robot))


def _details(robot: RobotReport) -> Iterator[Line]:
    counts, rates, durations = robot.counts, robot.rates, robot.durations
    tier = styled(robot.tier, fg=TIER_COLOURS[robot.tier], bold=True)
    record = robot.robot
    who = f"{record.purpose}, {record.operator or 'operator not recorded'}" if record else "not on record"
    yield from wrapped(who, joined(f"{robot.name}: ", tier, ", "), "  ")
    for sentence in robot.evidence:
        yield from wrapped(sentence, "  - ", "    ")
    yield from _row("requests", f"{counts.requests:,} ({_percent(robot.share_of_requests)} of all)")
    yield from _row("bytes", f"{human_bytes(counts.bytes)} ({_percent(robot.share_of_bytes)} of all)")
    page, asset = counts.kinds[RequestKind.PAGE], counts.kinds[RequestKind.ASSET]
    yield from _row(
        "for", f"{counted(page, 'page')}, {counted(asset, 'asset')}, robots.txt {robot.robots_txt_fetches:,}"
    )
    if counts.first_at is not None and counts.last_at is not None:
        yield from _row("period", f"{human_time(counts.first_at)} to {human_time(counts.last_at)}")
    bursts = f", {counted(rates.bursts, 'minute')} with 60 or more" if rates.bursts else ""
    yield from _row(
        "speed",
        f"at most {rates.peak_second:,} a second and {rates.peak_minute:,} a minute{bursts}; "
        f"{robot.mean_rps:.2f} a second in the minutes it came",
    )
    if durations.timed:
        share = f", {_percent(robot.share_of_time)} of all answer time" if robot.share_of_time is not None else ""
        yield from _row(
            "answers",
            f"{durations.total_s / durations.timed:.3f} s on average, {durations.slow:,} took a second or more{share}; "
            f"at least {rates.parallel} at the same time",
        )
    yield from _row("statuses", _statuses(counts.statuses))
    yield from _row("robots.txt", _statuses(robot.robots_txt) or "never requested")
    most = max(counts.hours)
    yield from _row("hours", "".join(_BARS[-(-count * 8 // most)] for count in counts.hours) if most else "")
    about = "" if robot.addresses_are_exact else "about "
    addresses = ", ".join(f"{address} ({count:,})" for address, count in robot.busiest[:UNDECLARED_SHOWN])
    yield from _row("addresses", f"{about}{robot.addresses:,}: {addresses}")
    for number, (agent, count) in enumerate(robot.agents[:MEMBERS_SHOWN]):
        yield from _row("" if number else "User-Agent", f"{shown(agent, PATH_CHARS)} ({count:,})")
    for number, path in enumerate(robot.paths[:PATHS_SHOWN]):
        yield from _row("" if number else "paths", f"{path.requests:,}  {shown(path.path, PATH_CHARS)}")


def _row(name: str, text: str) -> Iterator[Line]:
    yield from wrapped(text, f"  {name:<12}", " " * 14)
