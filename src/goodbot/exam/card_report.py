"""The score card as text for a terminal, and as one HTML page. What a crawler sent is shown without its control
characters, and cut."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from goodbot.exam.card import Mark, ScoreCard, SiteCard, origin_called
from goodbot.exam.conduct import THE_DRIVE
from goodbot.exam.exam_values import ExamRequest
from goodbot.exam.rules import Kind
from goodbot.exclusion.text.shown_text import shown

SHOWN_CHARS: Final = 160
KINDS: Final[tuple[Kind, ...]] = ("manners", "skill")
_HERE: Final = Path(__file__).parent
COLOURS: Final = {"passed": "green", "failed": "red", "skipped": "yellow", "passed:": "green", "not": "red"}
"""Of lines, by their first word."""
_INDENT: Final = " " * 18


def text_card(card: ScoreCard) -> Iterator[str]:
    """A line for each site, under a failed one what was expected and seen; at the end the totals. `COLOURS` has the
    first words of lines that have a colour."""
    yield f"Score card of {printable(card.crawler)}"
    yield ""
    for site in card.sites:
        yield from _site_lines(site, card.began_at)
    yield ""
    verdict = "passed" if card.passed else "not passed"
    yield f"{verdict}: {summary(card)}"
    for name, value in totals(card):
        yield f"  {name:<12}{value}"


def html_card(card: ScoreCard, reload_s: int | None = None) -> str:
    """One page that needs nothing else. `reload_s`: it is loaded again after so many seconds, unless `?still`."""
    return _template().render(card=card, totals=totals(card), reload_s=reload_s)


def result(site: SiteCard) -> str:
    """`passed`, `failed` or `skipped`."""
    return {True: "passed", False: "failed", None: "skipped"}[site.passed]


def summary(card: ScoreCard) -> str:
    """`50 of 54 sites passed, 2 skipped`. The drive as a whole is named apart if it failed."""
    results = [result(site) for site in card.sites if site.name != THE_DRIVE]
    driven = len(results) - results.count("skipped")
    parts = [f"{results.count('passed')} of {driven} sites passed"]
    if results.count("skipped"):
        parts.append(f"{results.count('skipped')} skipped")
    parts += ["the drive as a whole failed" for site in card.sites if site.name == THE_DRIVE and not site.passed]
    return ", ".join(parts)


def totals(card: ScoreCard) -> list[tuple[str, str]]:
    """What is said of the whole, by name; what was not measured is left out."""
    rows: list[tuple[str, str]] = [(kind, "{} of {} points".format(*card.total(kind))) for kind in KINDS]
    rows.append(("requests", f"{sum(site.requests for site in card.sites if site.name != THE_DRIVE):,}"))
    if card.refused_connections:
        rows.append(("refused", f"{card.refused_connections:,} connections: too many were open"))
    if card.peak_memory_bytes is not None:
        rows.append(("memory", f"{card.peak_memory_bytes / 1e6:,.1f} MB at its peak"))
    if card.cpu_s is not None:
        rows.append(("CPU", f"{card.cpu_s:,.2f} s"))
    if card.elapsed_s is not None:
        rows.append(("elapsed", f"{card.elapsed_s:,.1f} s"))
    return rows


def request_line(asked: ExamRequest, began_at: float | None = None) -> str:
    """`GET /a, 3.20 s after the start`. Of a site's other origins it is said which."""
    after = f", {asked.at - began_at:.2f} s after the start" if began_at is not None else ""
    visit = f", visit {asked.visit}" if asked.visit > 1 else ""
    where = f" ({origin_called(asked.origin)})" if asked.origin else ""
    return printable(f"{asked.method} {asked.target}") + where + after + visit


def printable(text: str) -> str:
    """On one line, control characters as escapes, at most 160 characters of it."""
    return shown(text, SHOWN_CHARS)


def _site_lines(site: SiteCard, began_at: float | None) -> Iterator[str]:
    word = result(site)
    points = "" if site.skipped else f"{site.points}/{site.most}"
    yield f"{word:<8}{points:>7}   {site.name}" + (f"  ({site.skipped})" if site.skipped else "")
    for mark in shown_marks(site):
        yield f"{_INDENT}expected  {printable(mark.says)}"
        yield f"{_INDENT}seen      {printable(mark.judgement.observed)}"
        if mark.judgement.offending:
            yield f"{_INDENT}request   {request_line(mark.judgement.offending, began_at)}"


def shown_marks(site: SiteCard) -> list[Mark]:
    """What made it fail; of a site nobody came to, one is enough."""
    failed = [mark for mark in site.marks if mark.fails]
    return failed if site.requests or site.name == THE_DRIVE else failed[:1]


@cache
def _template() -> Template:
    environment = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(printable=printable, result=result)
    environment.globals.update(request_line=request_line, summary=summary)
    return environment.get_template("card.html")
