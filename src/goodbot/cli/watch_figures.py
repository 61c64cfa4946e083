"""Figures of `goodbot watch` in words, for the report on all robots and the report on one."""

from collections.abc import Iterator, Mapping
from typing import Final

from goodbot.cli.printing import Line, wrapped
from goodbot.exclusion.text.shown_text import shown
from goodbot.human import counted
from goodbot.watch.counting.request_kinds import RequestKind
from goodbot.watch.log_entries import SkipReason
from goodbot.watch.report import PathReport, RobotReport, WatchReport

UNDECLARED_SHOWN: Final = 10
PATHS_SHOWN: Final = 10
MEMBERS_SHOWN: Final = 3
PATH_CHARS: Final = 200

BAD_FORMAT: Final[tuple[SkipReason, ...]] = ("unknown format", "bad time", "bad status")
"""Lines that are skipped for these reasons may have a format that goodbot does not know."""

KINDS_IN_WORDS: Final = {
    RequestKind.PAGE: "pages",
    RequestKind.ASSET: "images, style sheets, scripts and the like",
    RequestKind.ROBOTS_TXT: "robots.txt",
    RequestKind.PROBE: "probes",
    RequestKind.NONE: "invalid",
}
USUAL_KINDS: Final = (RequestKind.PAGE, RequestKind.ASSET, RequestKind.ROBOTS_TXT)


_BARS: Final = "·▁▂▃▄▅▆▇█"


def path_count(path: PathReport) -> str:
    """Returns the requests of a path: a number, or the bounds between which it lies."""
    return f"{path.requests:,}" if path.requests == path.at_most else f"{path.requests:,} to {path.at_most:,}"


def statuses_in_words(statuses: Mapping[int, int]) -> str:
    """Lists statuses with their counts, the most frequent first."""
    most = sorted(statuses.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(f"{status or 'none'}: {count:,}" for status, count in most)


def kinds_in_words(kinds: list[int]) -> str:
    """Names the kinds of requests; those that are unusual only if there are any."""
    named = ((name, kinds[kind], kind in USUAL_KINDS) for kind, name in KINDS_IN_WORDS.items())
    return "; ".join(f"{name}: {count:,}" for name, count, is_usual in named if count or is_usual)


def hours_in_words(hours: list[int]) -> str:
    """Draws 24 counts in one word. A point is an hour without a request."""
    most = max(hours)
    bars = "".join(_BARS[-(-count * 8 // most)] for count in hours)
    return f"{bars} busiest hour: {hours.index(most)} ({counted(most, 'request')})"


def busiest_in_words(robot: RobotReport, most: int) -> str:
    """Lists the busiest addresses of a robot with their requests."""
    listed = robot.busiest[:most]
    text = ", ".join(f"{shown(address)} ({count:,})" for address, count in listed)
    others = robot.counts.requests - sum(count for _, count in listed)
    return f"{text} and others ({others:,})" if others > 0 and robot.addresses > len(listed) else text


def addresses_in_words(count: int) -> str:
    """Returns a number of addresses."""
    return f"{count:,} {'address' if count == 1 else 'addresses'}"


def agent_in_words(agent: str) -> str:
    """Names the User-Agent."""
    return f"as {shown(agent)}" if agent else "without a User-Agent"


def percent(share: float) -> str:
    """Returns a share in percent."""
    return f"{100 * share:.1f} %" if share >= 0.0005 or not share else "less than 0.1 %"


def narrow_percent(share: float) -> str:
    """Does the same for a narrow column."""
    return percent(share).replace("less than ", "<")


def lines_read(report: WatchReport) -> Iterator[Line]:
    """Says what was skipped or left out, and which formats the lines have."""
    skipped = sum(report.skipped.values())
    if skipped:
        reasons = ", ".join(f"{reason}: {count:,}" for reason, count in sorted(report.skipped.items()))
        yield from wrapped(f"{counted(skipped, 'line')} skipped ({reasons}).", "", "")
        if 2 * sum(report.skipped.get(reason, 0) for reason in BAD_FORMAT) > report.lines:
            yield from wrapped(
                "Is this an access log? If it is, describe its lines with --log-format (goodbot watch --help).", "", ""
            )
    if report.outside and report.counts.requests:
        yield from wrapped(f"{counted(report.outside, 'request')} left out by --since or --until.", "", "")
    if len(report.formats) == 1:
        yield from wrapped(f"Format of the lines: {next(iter(report.formats))}.", "", "")
    elif report.formats:
        formats = ", ".join(f"{name} ({count:,})" for name, count in report.formats.items())
        yield from wrapped(f"Formats of the lines: {formats}.", "", "")


def no_requests(report: WatchReport) -> str:
    """Says why there is nothing to report."""
    if report.outside:
        return f"No requests in this period: --since or --until leaves out {counted(report.outside, 'request')}."
    return f"No requests in {counted(report.lines, 'line')}." if report.lines else "No requests: the logs are empty."
