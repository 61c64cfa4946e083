"""The report of `goodbot watch --robot NAME` on a terminal."""

from collections.abc import Iterator

from goodbot.cli.printing import Line, joined, say, say_lines, styled, wrapped
from goodbot.cli.watch_figures import (
    MEMBERS_SHOWN,
    PATH_CHARS,
    PATHS_SHOWN,
    UNDECLARED_SHOWN,
    hours_in_words,
    kinds_in_words,
    lines_read,
    statuses_in_words,
)
from goodbot.cli.watch_obedience import obedience_rows
from goodbot.cli.who_report import TIER_COLOURS
from goodbot.exclusion.text.shown_text import shown
from goodbot.human import counted, human_bytes, human_time
from goodbot.watch.report import RobotReport, WatchReport
from goodbot.watch.report.figure_words import busiest_in_words, path_count, percent
from goodbot.watch.report.obedience_words import rules_in_words
from goodbot.watch.report.report_words import not_seen_sentence, signatures_in_words


def print_robot(report: WatchReport) -> None:
    """Prints the report on one robot, tier by tier."""
    if not report.robots:
        say_lines(wrapped(not_seen_sentence(report), "", ""))
        say_lines(lines_read(report))
        return
    for number, robot in enumerate(report.robots):
        if number:
            say()
        say_lines(_details(robot))
    if report.rules is not None:
        say_lines(wrapped(rules_in_words(report.rules), "Judged by ", "  ", dim=True))


def _details(robot: RobotReport) -> Iterator[Line]:
    counts, rates, durations = robot.counts, robot.rates, robot.durations
    tier = styled(robot.tier, fg=TIER_COLOURS[robot.tier], bold=True)
    record = robot.robot
    who = f"{record.purpose}, {record.operator or 'operator not recorded'}" if record else "not on record"
    yield from wrapped(who, joined(f"{robot.name}: ", tier, ", "), "  ")
    for sentence in robot.evidence:
        yield from wrapped(sentence, "  - ", "    ")
    yield from _row("requests", f"{counts.requests:,} ({percent(robot.share_of_requests)} of all)")
    yield from _row("bytes", f"{human_bytes(counts.bytes)} ({percent(robot.share_of_bytes)} of all)")
    yield from _row("kinds", kinds_in_words(counts.kinds))
    if counts.first_at is not None and counts.last_at is not None:
        yield from _row("period", f"{human_time(counts.first_at)} to {human_time(counts.last_at)}")
    bursts = f", {counted(rates.bursts, 'minute')} with 60 or more" if rates.bursts else ""
    yield from _row(
        "speed",
        f"at most {rates.peak_second:,} a second and {rates.peak_minute:,} a minute{bursts}; "
        f"{robot.mean_rps:.2f} a second on average in its active minutes",
    )
    if durations.timed:
        share = f", {percent(robot.share_of_time)} of all response time" if robot.share_of_time is not None else ""
        parallel = f"; at least {rates.parallel:,} at the same time" if rates.parallel > 1 else ""
        yield from _row(
            "responses",
            f"{durations.total_s / durations.timed:.3f} s on average, {durations.slow:,} took a second or more"
            f"{share}{parallel}",
        )
    yield from _row("statuses", statuses_in_words(counts.statuses))
    yield from _row("robots.txt", statuses_in_words(robot.robots_txt) or "never requested")
    for name, lines in obedience_rows(robot.obedience) if robot.obedience else ():
        for number, line in enumerate(lines):
            yield from _row("" if number else name, line)
    if robot.signatures.signed:
        yield from _row("signed", signatures_in_words(robot.signatures))
    yield from _row("hours", hours_in_words(counts.hours))
    about = "" if robot.addresses_are_exact else "about "
    yield from _row("addresses", f"{about}{robot.addresses:,}: {busiest_in_words(robot, UNDECLARED_SHOWN)}")
    for number, (agent, count) in enumerate(robot.agents[:MEMBERS_SHOWN]):
        yield from _row("" if number else "User-Agent", f"{shown(agent, PATH_CHARS)} ({count:,})")
    for number, path in enumerate(robot.paths[:PATHS_SHOWN]):
        yield from _row("" if number else "paths", f"{path_count(path)}  {shown(path.path, PATH_CHARS)}")


def _row(name: str, text: str) -> Iterator[Line]:
    yield from wrapped(text, f"  {name:<12}", " " * 14)
