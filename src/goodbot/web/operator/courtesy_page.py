"""Writes the courtesy report as one self-contained HTML page, for the owner of a site.

Text from other servers is escaped by the template, cut to a length, and shown without control characters.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from gettext import NullTranslations
from typing import Any, Final

from jinja2 import Template

from goodbot.exclusion.robotstxt.timing import RequestRate, Window
from goodbot.exclusion.text.decimals import seconds_text
from goodbot.exclusion.text.shown_text import shown
from goodbot.human import human_duration, human_time
from goodbot.report_values import CourtesyTotals, HostReport
from goodbot.web.pages.environment import plain_environment
from goodbot.web.pages.local_formats import in_russian
from goodbot.web.pages.view import human_number

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
        robot=robot,
        reports=iter(reports),
        listed=names if host is None and len(names) >= LISTED_FROM else (),
        host=host,
        retry_after_most=retry_after_most,
        **report_formats("en"),
    )


def report_formats(language: str) -> dict[str, Callable[[Any], str]]:
    """Returns the functions that the template of the report calls, by their names there. What robots.txt states is in
    English."""
    figures: dict[str, Callable[[float], str]] = {"asked_wait": _asked_wait, "gap": _gap, "waited": human_duration}
    return {"delay": _gap, "rate": _rate, "span": _span, **(in_russian(figures) if language == "ru" else figures)}


@cache
def _template() -> Template:
    environment = plain_environment(NullTranslations())
    environment.filters.update(number=human_number, shown=shown, when=human_time)
    return environment.get_template("courtesy.html")


def _gap(gap_s: float) -> str:
    return f"{gap_s:.3f} s"


def _asked_wait(asked_s: float) -> str:
    return seconds_text(round(asked_s, 3))


def _rate(rate: RequestRate) -> str:
    held = f", {_span(rate.window)}" if rate.window else ""
    return f"{rate.documents} in {rate.seconds:g} s{held}"


def _span(window: Window) -> str:
    first, last = window
    return f"{first // 60:02}:{first % 60:02} to {last // 60:02}:{last % 60:02} UTC"
