"""Whether robots obeyed robots.txt, on a terminal: for `goodbot watch --robots`."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from goodbot.cli.printing import Line, joined, styled, wrapped
from goodbot.cli.watch_figures import UNDECLARED_SHOWN
from goodbot.cli.who_report import TIER_COLOURS
from goodbot.exclusion.text.shown_text import shown
from goodbot.human import counted, human_time
from goodbot.watch.report import BrokenRuleReport, DisallowedReport, ObedienceReport, RobotReport, WatchReport
from goodbot.watch.report.figure_words import share_in_words
from goodbot.watch.report.obedience_words import (
    disallowed_in_words,
    elsewhere_sentence,
    followed_in_words,
    grace_in_words,
    limit_in_words,
    not_known_in_words,
    rules_in_words,
    since_in_words,
    visits_in_words,
)
from goodbot.watch.report.report_words import agent_in_words

ROBOTS_SHOWN: Final = 10
RULES_SHOWN: Final = 3
NAMES_SHOWN: Final = 12
_OBEYED: Final = ("yes", "paths only", "no")
LINE_CHARS: Final = 300


def print_obedience(report: WatchReport) -> Iterator[Line]:
    """Prints which robots obeyed, and the evidence about those that did not. Impostors are left out."""
    if report.rules is None:
        return
    yield ("",)
    yield from wrapped("Did known robots obey robots.txt?", "", "", bold=True)
    yield from wrapped(rules_in_words(report.rules), "  ", "  ", dim=True)
    if hosts := elsewhere_sentence(report):
        yield from wrapped(hosts, "  ", "  ", fg="yellow")
    robots = [robot for robot in report.robots if robot.tier != "impostor"]
    judged = [(robot, robot.obedience) for robot in robots if robot.obedience is not None]
    judged.sort(key=lambda pair: (-pair[1].disallowed, -pair[1].judged))
    guilty = [(robot, one) for robot, one in judged if one.obeyed in ("no", "paths only")]
    for robot, one in guilty[:ROBOTS_SHOWN]:
        yield from _guilty(robot, one)
    if len(guilty) > ROBOTS_SHOWN:
        more = counted(len(guilty) - ROBOTS_SHOWN, "more robot")
        yield from wrapped(f"{more} with disallowed requests or broken limits; --json lists them all", "  ", "  ")
    yield from _lists(judged)
    yield from _disobedient(report)


def _lists(judged: Sequence[tuple[RobotReport, ObedienceReport]]) -> Iterator[Line]:
    """Lists the other robots, with the number of requests that were judged."""
    several = Counter(robot.name for robot, _ in judged)

    def names(heading: str, robots: list[tuple[RobotReport, int]]) -> Iterator[Line]:
        if robots:
            robots.sort(key=lambda pair: (-pair[1], pair[0].name))
            named = [
                f"{robot.name}{f' [{robot.tier}]' if several[robot.name] > 1 else ''} ({count:,})"
                for robot, count in robots[:NAMES_SHOWN]
            ]
            more = f" and {len(robots) - NAMES_SHOWN:,} more" if len(robots) > NAMES_SHOWN else ""
            yield from wrapped(f"{', '.join(named)}{more}", f"  {heading}: ", "    ")

    yield from names(
        "No disallowed request (in brackets: requests judged)",
        [(robot, one.judged) for robot, one in judged if one.obeyed == "yes"],
    )
    yield from names(
        "No request for robots.txt in these logs (robots of one operator may share a copy)",
        [(robot, one.judged) for robot, one in judged if one.robots_txt_at is None and one.obeyed in _OBEYED],
    )
    yield from names(
        "User-triggered fetchers, which robots.txt is not meant for",
        [(robot, one.judged) for robot, one in judged if one.obeyed == "user-triggered"],
    )
    yield from names(
        "Not judged: came before the first copy of robots.txt",
        [(robot, one.not_known) for robot, one in judged if one.obeyed == "not known" and one.not_known],
    )


def _disobedient(report: WatchReport) -> Iterator[Line]:
    if not report.disobedient:
        return
    heading = "Disallowed requests of possible robots, and of programs without a record, which people may use:"
    yield from wrapped(heading, "  ", "  ")
    for one in report.disobedient[:UNDECLARED_SHOWN]:
        if one.disallowed is not None:
            text = f"{one.disallowed.requests:,} of {counted(one.requests, 'request')}, {agent_in_words(one.agent)}"
            yield from wrapped(f"{text} (verdict: {one.verdict})", f"    {shown(one.address)}: ", "      ")
            yield from first_disallowed(one.disallowed, "      ")
    if len(report.disobedient) > UNDECLARED_SHOWN:
        yield from wrapped("--json lists more", "    ", "    ")


def first_disallowed(disallowed: DisallowedReport, indent: str) -> Iterator[Line]:
    """Prints the first disallowed request of an address, after its rule."""
    for example in disallowed.examples[:1]:
        where = f" (line {example.line})" if example.line else ""
        end = ":" if example.log_line else ""
        yield from wrapped(f"for example by {shown(example.rule)}{where}{end}", indent, indent)
        if example.log_line:
            yield from wrapped(shown(example.log_line, LINE_CHARS), indent, indent, dim=True)


def obedience_rows(one: ObedienceReport) -> Iterator[tuple[str, Sequence[str]]]:
    """Yields what the report on one robot says, as names with their lines."""
    yield "disallowed", [_verdict(one)]
    yield "rules", [*(line for rule in one.rules for line in _rule_lines(rule)), *_left_out(one)]
    yield "limits", [limit_in_words(limit) for limit in one.limits]
    yield "Visit-time", _visits(one)
    yield "nofollow", _followed(one)
    yield "versions", _versions(one) if len(one.versions) > 1 else []


def _verdict(one: ObedienceReport) -> str:
    if one.obeyed == "not known":
        parts = ["not judged"]
    else:
        triggered = ", but it is a user-triggered fetcher" if one.obeyed == "user-triggered" else ""
        requests = f"{one.disallowed:,} of {counted(one.judged, 'request')}"
        parts = [f"{requests}, {share_in_words(one.share)}{triggered}", grace_in_words(one)]
    return "; ".join(part for part in (*parts, not_known_in_words(one)) if part)


def _left_out(one: ObedienceReport) -> list[str]:
    return [f"other rules: {counted(one.left_out, 'request')}"] if one.left_out else []


def _guilty(robot: RobotReport, one: ObedienceReport) -> Iterator[Line]:
    head = joined(f"  {robot.name} (", styled(robot.tier, fg=TIER_COLOURS[robot.tier]), "): ")
    yield from wrapped(disallowed_in_words(one), head, "    ")
    for rule in one.rules[:RULES_SHOWN]:
        yield from _with_line(_rule_lines(rule))
    if len(one.rules) > RULES_SHOWN:
        more = counted(len(one.rules) - RULES_SHOWN, "more rule")
        yield from wrapped(f"{more}; --robot {robot.name} shows them", "    - ", "      ")
    for limit in one.limits:
        if limit.is_broken:
            yield from wrapped(limit_in_words(limit), "    - ", "      ")
    yield from _with_line(_followed(one))
    if one.visits is not None and one.visits.is_broken:
        yield from _with_line(_visits(one))


def _with_line(lines: Sequence[str]) -> Iterator[Line]:
    """Prints a sentence, and the first of its log lines."""
    for first in lines[:1]:
        yield from wrapped(first, "    - ", "      ")
    for line in lines[1:2]:
        yield from wrapped(line, "      ", "      ", dim=True)


def _rule_lines(rule: BrokenRuleReport) -> list[str]:
    where = f" (line {rule.line})" if rule.line else ""
    version = f", version of {human_time(rule.since)}" if rule.since is not None else ""
    text = f"{shown(rule.rule)}{where}{version}: {counted(rule.requests, 'request')}"
    return [text, *_log_lines(rule.log_lines)]


def _log_lines(lines: Sequence[str]) -> list[str]:
    return [shown(line, LINE_CHARS) for line in lines]


def _visits(one: ObedienceReport) -> list[str]:
    visits = one.visits
    if visits is None:
        return []
    return [visits_in_words(visits), *_log_lines(visits.log_lines)]


def _followed(one: ObedienceReport) -> list[str]:
    return [followed_in_words(one), *_log_lines(one.followed_lines)] if one.followed else []


def _versions(one: ObedienceReport) -> list[str]:
    lines = []
    for version in one.versions:
        limits = "".join(f"; {limit_in_words(limit)}" for limit in version.limits)
        disallowed = f"{version.disallowed:,} of {counted(version.judged, 'request')} disallowed"
        lines.append(f"{since_in_words(version.since)}: {disallowed}, {share_in_words(version.share)}{limits}")
    return lines
