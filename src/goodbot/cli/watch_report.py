"""The report of `goodbot watch` on a terminal."""

from collections.abc import Iterator, Mapping
from typing import Final

from rich.padding import Padding
from rich.table import Table

from goodbot.cli.printing import Line, joined, say, styled, width, wrapped
from goodbot.cli.rich_tables import cell, console
from goodbot.cli.who_report import TIER_COLOURS
from goodbot.exclusion.text.shown_text import shown
from goodbot.human import counted, human_bytes, human_duration, human_time
from goodbot.registry import Tier
from goodbot.watch.counting.request_kinds import RequestKind
from goodbot.watch.judging import Verdict
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

KINDS_IN_WORDS: Final = {
    RequestKind.PAGE: "pages",
    RequestKind.ASSET: "images, styles and scripts",
    RequestKind.ROBOTS_TXT: "robots.txt",
    RequestKind.PROBE: "known vulnerabilities",
    RequestKind.NONE: "nothing valid",
}
USUAL_KINDS: Final = (RequestKind.PAGE, RequestKind.ASSET, RequestKind.ROBOTS_TXT)

TIERS_IN_SHORT: Final[dict[Tier, str]] = {
    "verified": "from an address of its operator",
    "declared": "not verified",
    "unknown": "its address lists are from another time",
    "impostor": "another program that uses its name",
}

LOCAL_TOLD: Final = 0.1
"""The share of requests from local addresses above which the report speaks of proxies."""

LISTED: Final[tuple[Verdict, ...]] = ("certain", "likely")
"""Verdicts of the addresses that are listed."""

_BARS: Final = "·▁▂▃▄▅▆▇█"
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
    yield from wrapped(text, "", "", bold=True)


# ---- everything -----------------------------------------------------------------------------------------------------


def _head(report: WatchReport) -> Iterator[Line]:
    counts = report.counts
    if counts.first_at is None or counts.last_at is None:
        lines = f"{counted(report.lines, 'line')} read" if report.lines else "the logs are empty"
        yield from wrapped(f"No requests: {lines}.", "", "")
        yield from _lines_read(report)
        return
    span = human_duration(counts.last_at - counts.first_at)
    about = "" if report.visitors_are_exact else "about "
    addresses = _addresses(report.visitors)
    yield from wrapped(
        f"{counted(counts.requests, 'request')}, {human_bytes(counts.bytes)}, from {about}{addresses}, "
        f"{human_time(counts.first_at)} to {human_time(counts.last_at)} ({span})",
        "",
        "",
        bold=True,
    )
    declared = sum(robot.counts.requests for robot in report.robots)
    yield from wrapped(
        f"Declared robots sent {_percent(declared / counts.requests)} of the requests. {_behaved(report)}", "", ""
    )
    yield from _from_proxies(report)
    yield from _lines_read(report)


def _from_proxies(report: WatchReport) -> Iterator[Line]:
    share = report.local_requests / report.counts.requests
    if share >= LOCAL_TOLD:
        yield from wrapped(
            f"{_percent(share)} of the requests come from local addresses, such as 10.0.0.1: from a proxy, or from "
            "your own network. Who is behind a proxy is not known. If the log has X-Forwarded-For, --real-ip takes the "
            "clients from it.",
            "",
            "",
            fg="yellow",
        )


def _behaved(report: WatchReport) -> str:
    found = {verdict: count for verdict in LISTED if (count := report.verdicts.get(verdict, 0))}
    if not found:
        return "No other address is a certain or likely robot."
    many = sum(found.values())
    verdicts = ", ".join(f"{count:,} {verdict}" for verdict, count in found.items())
    share = sum(report.requests_by_verdict[verdict] for verdict in found) / report.counts.requests
    robots = "address that behaved like a robot" if many == 1 else "addresses that behaved like robots"
    return f"{many:,} other {robots} ({verdicts}) sent {_percent(share)}."


def _lines_read(report: WatchReport) -> Iterator[Line]:
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
    if len(report.formats) == 1:
        yield from wrapped(f"Format of the lines: {next(iter(report.formats))}.", "", "")
    elif report.formats:
        formats = ", ".join(f"{name} ({count:,})" for name, count in report.formats.items())
        yield from wrapped(f"Formats of the lines: {formats}.", "", "")


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
    tiers = {robot.tier for robot in rows}
    meanings = "; ".join(f"{tier}: {meaning}" for tier, meaning in TIERS_IN_SHORT.items() if tier in tiers)
    _print_lines(wrapped(meanings, "  ", "  ", dim=True))
    if len(rows) > ROBOTS_SHOWN:
        say(f"  {len(rows) - ROBOTS_SHOWN:,} more with fewer requests; --format csv or --json lists them all")


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
            _percent(robot.share_of_requests),
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
        yield from wrapped(
            f"{counted(robot.counts.requests, 'request')} from {_busiest(robot, MEMBERS_SHOWN)}",
            f"  as {shown(robot.name)}: ",
            "    ",
        )
        for sentence in robot.evidence[1:]:
            yield from wrapped(sentence, "    - ", "      ")
    if len(impostors) > IMPOSTORS_SHOWN:
        yield (f"  {len(impostors) - IMPOSTORS_SHOWN:,} more; --robot NAME shows one",)


def _undeclared(report: WatchReport) -> Iterator[Line]:
    listed = [one for one in report.undeclared if one.verdict in LISTED]
    possible = report.verdicts.get("possible", 0)
    yield from _heading("Other addresses that behaved like robots")
    for one in listed[:UNDECLARED_SHOWN]:
        yield from _undeclared_one(one)
    if not listed:
        yield ("  none certainly or likely",)
    if len(listed) > UNDECLARED_SHOWN:
        yield (f"  {len(listed) - UNDECLARED_SHOWN:,} more; --json lists them all",)
    if possible:
        plural = "address is" if possible == 1 else "addresses are"
        yield from wrapped(f"{possible:,} more {plural} possible robots; --json has the evidence", "  ", "  ")


def _undeclared_one(one: UndeclaredReport) -> Iterator[Line]:
    verdict = styled(one.verdict, fg=_VERDICT_COLOURS[one.verdict] or None)
    members = f" ({_addresses(one.addresses)})" if one.members else ""
    head = joined(f"  {shown(one.address)}{members}: ", verdict, ", ")
    missing = f" and up to {one.missing:,} more that are pooled" if one.missing else ""
    figures = f"{one.points} points, {counted(one.requests, 'request')}{missing}"
    yield from wrapped(f"{figures}, {_as(one.agent)}", head, "    ")
    for sentence in one.evidence:
        yield from wrapped(sentence, "    - ", "      ")


def _rest(report: WatchReport) -> Iterator[Line]:
    if report.robots_txt:
        yield from _heading("Answers to requests for robots.txt")
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
    yield from wrapped(_bars(hours), "  ", "  ")
    yield from _heading("Statuses")
    yield from wrapped(_statuses(statuses), "  ", "  ")


def _paths(paths: tuple[PathReport, ...]) -> Iterator[Line]:
    if not paths:
        return
    yield from _heading("Paths requested most")
    for path in paths[:PATHS_SHOWN]:
        yield from wrapped(shown(path.path, PATH_CHARS), f"  {_count_of(path):>12}  ", " " * 16)


def _count_of(path: PathReport) -> str:
    return f"{path.requests:,}" if path.requests == path.at_most else f"{path.requests:,} to {path.at_most:,}"


def _statuses(statuses: Mapping[int, int]) -> str:
    most = sorted(statuses.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(f"{status or 'none'}: {count:,}" for status, count in most)


def _kinds(kinds: list[int]) -> str:
    """Names the kinds of requests; those that are unusual only if there are any."""
    named = ((name, kinds[kind], kind in USUAL_KINDS) for kind, name in KINDS_IN_WORDS.items())
    return "; ".join(f"{name}: {count:,}" for name, count, is_usual in named if count or is_usual)


def _bars(hours: list[int]) -> str:
    """Draws 24 counts in one word. A point is an hour without any request."""
    most = max(hours)
    bars = "".join(_BARS[-(-count * 8 // most)] for count in hours)
    return f"{bars} most in hour {hours.index(most)}: {most:,} of {sum(hours):,}"


def _busiest(robot: RobotReport, most: int) -> str:
    listed = robot.busiest[:most]
    text = ", ".join(f"{shown(address)} ({count:,})" for address, count in listed)
    others = robot.counts.requests - sum(count for _, count in listed)
    return f"{text} and others ({others:,})" if others > 0 and robot.addresses > len(listed) else text


def _addresses(count: int) -> str:
    return f"{count:,} {'address' if count == 1 else 'addresses'}"


def _as(agent: str) -> str:
    return f"as {shown(agent)}" if agent else "without a User-Agent"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if share >= 0.0005 or not share else "less than 0.1 %"


# ---- one robot ------------------------------------------------------------------------------------------------------


def _print_one(report: WatchReport) -> None:
    if not report.robots:
        _print_lines(_not_seen(report))
        return
    for number, robot in enumerate(report.robots):
        if number:
            say()
        _print_lines(_details(robot))


def _not_seen(report: WatchReport) -> Iterator[Line]:
    yield from wrapped(f"{report.only}: none of {counted(report.counts.requests, 'request')} names it", "", "")
    yield from _lines_read(report)


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
    yield from _row("for", _kinds(counts.kinds))
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
        parallel = f"; at least {rates.parallel:,} at the same time" if rates.parallel > 1 else ""
        yield from _row(
            "answers",
            f"{durations.total_s / durations.timed:.3f} s on average, {durations.slow:,} took a second or more"
            f"{share}{parallel}",
        )
    yield from _row("statuses", _statuses(counts.statuses))
    yield from _row("robots.txt", _statuses(robot.robots_txt) or "never requested")
    yield from _row("hours", _bars(counts.hours))
    about = "" if robot.addresses_are_exact else "about "
    yield from _row("addresses", f"{about}{robot.addresses:,}: {_busiest(robot, UNDECLARED_SHOWN)}")
    for number, (agent, count) in enumerate(robot.agents[:MEMBERS_SHOWN]):
        yield from _row("" if number else "User-Agent", f"{shown(agent, PATH_CHARS)} ({count:,})")
    for number, path in enumerate(robot.paths[:PATHS_SHOWN]):
        yield from _row("" if number else "paths", f"{_count_of(path)}  {shown(path.path, PATH_CHARS)}")


def _row(name: str, text: str) -> Iterator[Line]:
    yield from wrapped(text, f"  {name:<12}", " " * 14)
