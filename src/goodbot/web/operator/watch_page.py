"""Writes the report of `goodbot watch` as one self-contained HTML page, and as a part of the operator's pages.

Text of the log and of records is shown without control characters, cut to a length, and escaped by the templates. Lists
are bounded, so that the page stays small; it says what it leaves out.
"""

import zlib
from collections.abc import Iterator
from functools import cache
from gettext import NullTranslations
from pathlib import Path
from typing import Any, Final, NamedTuple

from jinja2 import Environment
from markupsafe import Markup

from goodbot.exclusion.text.decimals import seconds_text
from goodbot.exclusion.text.shown_text import shown
from goodbot.human import human_bytes, human_time
from goodbot.watch.obedience.shares import Share
from goodbot.watch.report import ObedienceReport, RobotReport, WatchReport, figure_words, obedience_words, report_words
from goodbot.watch.report.obedience_report import VersionReport
from goodbot.web.operator import watch_words
from goodbot.web.operator.watch_charts import BAR_HEIGHT, BAR_WIDTH, gap_charts, hour_rows, label_of, time_chart
from goodbot.web.operator.watch_words import unbroken
from goodbot.web.pages.environment import plain_environment
from goodbot.web.pages.html_text import html_text
from goodbot.web.pages.view import human_number

ROBOTS_LISTED: Final = 200
FIRST_ROWS: Final = 25
"""Rows of a table of robots that are shown at once; the others are in a part that opens."""

EVIDENCE_LISTED: Final = 40
"""Robots whose evidence is listed: those with most disallowed requests."""

VERSIONS_LISTED: Final = 200
"""Rows of the comparison of versions, of all robots together."""

GAPS_DRAWN: Final = 12
IMPOSTORS_LISTED: Final = 50
OTHERS_LISTED: Final = 100
LOGS_LISTED: Final = 20
LINE_CHARS: Final = 500
"""Characters that are shown of a log line."""

_STYLE: Final = Path(__file__).parents[1] / "static" / "style.css"


class Judged(NamedTuple):
    """A robot, and how it obeyed."""

    robot: RobotReport
    obedience: ObedienceReport


class Version(NamedTuple):
    """How a robot obeyed one version of robots.txt. `rows`: of this robot, in its first row; else 0."""

    robot: RobotReport
    rows: int
    version: VersionReport


def watch_page(report: WatchReport, written_at: float) -> str:
    """Returns the page. `written_at` is the time that it states, in Unix seconds."""
    style = Markup(_STYLE.read_text("utf-8"))  # noqa: S704  (our own file)
    template = _environment().get_template("watch.html")
    return html_text(template.render(**_values(report), written_at=written_at, style=style))


def watch_part(report: WatchReport, written_at: float) -> Markup:
    """Returns the same without the frame of a page and without its heading, for a page of the operator."""
    template = _environment().get_template("watch_report.html")
    return Markup(html_text(template.render(**_values(report), written_at=written_at)))  # noqa: S704  (of the template)


def _values(report: WatchReport) -> dict[str, Any]:
    robots = sorted(report.robots, key=lambda robot: -robot.counts.requests)
    impostors = [robot for robot in robots if robot.tier == "impostor"]
    judged = _judged(robots)
    charts = gap_charts(robots)
    versions = list(_versions(judged))
    others = report.undeclared[:OTHERS_LISTED]
    listed = {one.address for one in others}
    disobedient = [one for one in report.disobedient if one.address not in listed]
    return {
        "report": report,
        "names": len({robot.name for robot in robots if robot.tier != "impostor"}),
        "disobedient_names": len({robot.name for robot, obedience in judged if obedience.obeyed == "no"}),
        "parts": list(_parts(report, bool(robots), bool(judged), bool(charts), bool(impostors))),
        "robots": robots[:ROBOTS_LISTED],
        "robots_left_out": max(len(robots) - ROBOTS_LISTED, 0),
        "tiers": {robot.tier for robot in robots},
        "impostors": impostors[:IMPOSTORS_LISTED],
        "impostors_left_out": max(len(impostors) - IMPOSTORS_LISTED, 0),
        "judged": judged[:ROBOTS_LISTED],
        "evident": [one for one in judged if _is_evident(one.obedience)],
        "times": time_chart(robots),
        "hours": hour_rows(robots),
        "gaps": charts[:GAPS_DRAWN],
        "gaps_left_out": max(len(charts) - GAPS_DRAWN, 0),
        "versions": versions[:VERSIONS_LISTED],
        "versions_left_out": max(len(versions) - VERSIONS_LISTED, 0),
        "disobedient": disobedient[:OTHERS_LISTED],
        "disobedient_left_out": max(len(disobedient) - OTHERS_LISTED, 0),
        "others": others,
        "others_left_out": len(report.undeclared[OTHERS_LISTED:]) + sum(report.left_out.values()),
    }


def _parts(report: WatchReport, robots: bool, judged: bool, gaps: bool, impostors: bool) -> Iterator[tuple[str, str]]:
    """Yields the parts of the report, as their ids with their names."""
    whole = report.only is None
    parts = [
        ("robots", "Known robots", True),
        ("time", "Requests over time", robots),
        ("hours", "Hours of the day", robots),
        ("gaps", "Gaps", judged and gaps),
        ("obedience", "Obedience", judged),
        ("impostors", "Impostors", impostors),
        ("others", "Other addresses", whole),
        ("paths", "Paths and statuses", True),
        ("lines", "Logs and lines", True),
    ]
    return ((part, name) for part, name, is_there in parts if is_there)


def _judged(robots: list[RobotReport]) -> list[Judged]:
    """Returns the robots whose obedience counts, those with most disallowed requests first, and last those that
    users trigger. Impostors are reported apart."""
    found = [
        Judged(robot, robot.obedience) for robot in robots if robot.obedience is not None and robot.tier != "impostor"
    ]
    return sorted(
        found, key=lambda one: (one.obedience.user_triggered, -one.obedience.disallowed, -one.robot.counts.requests)
    )


def _versions(judged: list[Judged]) -> Iterator[Version]:
    """Yields the versions of each robot that saw several, the busiest robots first."""
    for robot, obedience in sorted(judged, key=lambda one: -one.obedience.judged):
        rows = len(obedience.versions)
        if rows > 1:
            for number, version in enumerate(obedience.versions):
                yield Version(robot, 0 if number else rows, version)


def _is_evident(one: ObedienceReport) -> bool:
    """Whether there is evidence that a robot did not obey."""
    return one.disallowed > 0 or one.obeyed == "paths only"


def _anchor(robot: RobotReport) -> str:
    """Returns an id for a robot, which stays the same when the report is refreshed."""
    return f"{zlib.crc32(f'{robot.name} {robot.tier}'.encode('utf-8', 'replace')):08x}"


def _percent(share: float) -> str:
    return unbroken(figure_words.narrow_percent(share))


def _share(share: Share | None) -> str:
    return unbroken(figure_words.share_in_words(share, short=True))


@cache
def _environment() -> Environment:
    environment = plain_environment(NullTranslations())
    environment.filters.update(
        anchor=_anchor,
        label=label_of,
        number=human_number,
        percent=_percent,
        seconds=seconds_text,
        share=_share,
        shown=shown,
        size=human_bytes,
        unbroken=unbroken,
        when=human_time,
    )
    environment.globals.update(
        words=watch_words,
        figure_words=figure_words,
        obedience_words=obedience_words,
        report_words=report_words,
        bar_height=BAR_HEIGHT,
        bar_width=BAR_WIDTH,
        line_chars=LINE_CHARS,
        logs_listed=LOGS_LISTED,
        first_rows=FIRST_ROWS,
        evidence_listed=EVIDENCE_LISTED,
    )
    return environment
