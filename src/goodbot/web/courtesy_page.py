"""Writes the courtesy report as one self-contained HTML page, for the owner of a site.

Text from other servers is escaped by the template, cut to a length, and shown without control characters.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from goodbot.exclusion.robotstxt.timing import RequestRate, Window
from goodbot.exclusion.text.shown_text import shown
from goodbot.human import counted, human_duration, human_time
from goodbot.robot.manners.request_recorder import longest_retry_after
from goodbot.store.sqlite.courtesy_report import CourtesyTotals, HostReport
from goodbot.web.view import human_number

LISTED_FROM: Final = 6
"""A report about this many hosts or more begins with a list of them."""


def courtesy_page(
    totals: CourtesyTotals,
    reports: Iterable[HostReport],
    names: Sequence[str],
    robot: str,
    host: str | None,
    retry_after_most: float,
) -> Iterator[str]:
    """Yields the page in pieces, with one report in memory at a time.

    `names` are the hosts of the reports, `robot` is the product token of the robot, `host` the only host of the report
    (None: all hosts), `retry_after_most` the longest Retry-After that the crawl waits for, in seconds.
    """
    return _template().generate(
        totals=totals,
        conclusion=conclusion(totals, robot, host),
        reports=iter(reports),
        listed=names if host is None and len(names) >= LISTED_FROM else (),
        host=host,
        retry_after_most=retry_after_most,
    )


def conclusion(totals: CourtesyTotals, robot: str, host: str | None) -> str:
    """Says in one sentence what the robot visited, and whether it kept every delay that hosts requested."""
    if totals.requests == 0:
        return f"{robot} has sent no request to {host or 'any host'}."
    visited = f"{robot} visited {host or counted(totals.hosts, 'host')}"
    if totals.robots_txt_only and host:
        visited = f"{robot} fetched only robots.txt from {host}"
    elif totals.robots_txt_only:
        hosts = f"{counted(totals.hosts, 'host')} ({totals.robots_txt_only:,} of them: robots.txt only)"
        visited = f"{robot} sent requests to {hosts}"
    broken = [
        f"{counted(count, 'request')} {how}"
        for count, how in (
            (totals.sooner, "sooner than robots.txt asks"),
            (totals.inside, "before a Retry-After had passed"),
        )
        if count
    ]
    if broken:
        return f"{visited}, but sent {' and '.join(broken)}."
    return f"{visited}, kept every delay that robots.txt asks for, and waited for every Retry-After."


@cache
def _template() -> Template:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        gap=_gap,
        longest=longest_retry_after,
        number=human_number,
        rate=_rate,
        seconds=human_duration,
        shown=shown,
        span=_span,
        when=human_time,
    )
    return environment.get_template("courtesy.html")


def _gap(gap_s: float) -> str:
    return f"{gap_s:.3f} s"


def _rate(rate: RequestRate) -> str:
    held = f", {_span(rate.window)}" if rate.window else ""
    return f"{rate.documents} in {rate.seconds:g} s{held}"


def _span(window: Window) -> str:
    first, last = window
    return f"{first // 60:02}:{first % 60:02} to {last // 60:02}:{last % 60:02} UTC"
