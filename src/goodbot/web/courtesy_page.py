"""The courtesy report as one HTML page that needs nothing else: for the owner of a site.

What comes from strangers is text: escaped by the template, cut, and without what does not print.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from goodbot.exclusion.robotstxt.timing import RequestRate, Window
from goodbot.exclusion.text.shown_text import shown
from goodbot.human import human_time
from goodbot.robot.manners.courtesy import longest_retry_after
from goodbot.store.sqlite.courtesy_report import HostReport
from goodbot.web.view import human_number, human_seconds


def courtesy_page(reports: Iterable[HostReport], wanted: str | None, retry_after_most: float) -> Iterator[str]:
    """The page in pieces, a host in memory at a time. `wanted`: the one host asked for.
    `retry_after_most`: the longest Retry-After, in seconds, that the crawl waits for."""
    return _template().generate(reports=iter(reports), wanted=wanted, retry_after_most=retry_after_most)


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
        seconds=human_seconds,
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
