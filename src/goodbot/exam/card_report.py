"""Writes the score card as text for a terminal, and as one HTML page. Text from a crawler is cut to a length, and its
control characters are escaped."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from goodbot.exam.card import Mark, ScoreCard, SiteCard, origin_name
from goodbot.exam.conduct import THE_DRIVE
from goodbot.exam.exam_values import ExamRequest
from goodbot.exam.rules import Kind
from goodbot.exclusion.text.shown_text import shown

SHOWN_CHARS: Final = 160
KINDS: Final[tuple[Kind, ...]] = ("manners", "skill")
_HERE: Final = Path(__file__).parent
COLOURS: Final = {"passed": "green", "failed": "red", "skipped": "yellow", "passed:": "green", "not": "red"}
"""The colour of a line of `text_card`, by its first word."""
_INDENT: Final = " " * 18


def text_card(card: ScoreCard) -> Iterator[str]:
    """Yields a line for each site, below a failed one what was expected and what was seen, and at the end the
    totals."""
    yield f"Score card of {printable(card.crawler)}"
    yield ""
    for site in card.sites:
        yield from _site_lines(site, card.began_at)
    yield ""
    verdict = "passed" if card.passed else "not passed"
    yield f"{verdict}: {summary(card)}"
    for name, value in totals(card):
        yield f"  {name:<12}{value}"


def html_card(card: ScoreCard, refresh_s: int | None = None) -> str:
    """Returns the score card as a self-contained page. With `refresh_s` it is the page of a running exam, whose script
    /card.js refreshes it every so many seconds."""
    return _template().render(card=card, totals=totals(card), refresh_s=refresh_s)


def summary(card: ScoreCard) -> str:
    """Sums up the sites: `50 of 54 sites passed, 2 skipped`. Says so if the overall rules (`the-drive`) failed."""
    results = _states(card)
    driven = len(results) - results.count("skipped")
    parts = [f"{results.count('passed')} of {driven} sites passed"]
    if results.count("skipped"):
        parts.append(f"{results.count('skipped')} skipped")
    if any(site.name == THE_DRIVE and not site.passed for site in card.sites):
        parts.append("the overall rules (the-drive) failed")
    return ", ".join(parts)


def progress(card: ScoreCard) -> str:
    """Sums up the sites of a running exam: `12 of 52 sites visited, 10 passed, 2 failed`."""
    states = _states(card)
    judged = states.count("passed") + states.count("failed")
    parts = [f"{judged} of {judged + states.count('pending')} sites visited"]
    parts += [f"{states.count(state)} {state}" for state in ("passed", "failed", "skipped") if state in states]
    return ", ".join(parts)


def _states(card: ScoreCard) -> list[str]:
    return [site.state for site in card.sites if site.name != THE_DRIVE]


def totals(card: ScoreCard) -> list[tuple[str, str]]:
    """Returns the totals as (name, value). Leaves out what was not measured."""
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
    """Describes a request: `GET /a, 3.20 s after the start`. Names the origin unless it is the site's main one."""
    after = f", {asked.at - began_at:.2f} s after the start" if began_at is not None else ""
    visit = f", visit {asked.visit}" if asked.visit > 1 else ""
    where = f" ({origin_name(asked.origin)})" if asked.origin else ""
    return printable(f"{asked.method} {asked.target}") + where + after + visit


def printable(text: str) -> str:
    """Returns `text` on one line, with control characters escaped, cut to `SHOWN_CHARS` characters."""
    return shown(text, SHOWN_CHARS)


def _site_lines(site: SiteCard, began_at: float | None) -> Iterator[str]:
    points = "" if site.skipped else f"{site.points}/{site.max_points}"
    yield f"{site.state:<8}{points:>7}   {site.name}" + (f"  ({site.skipped})" if site.skipped else "")
    for mark in shown_marks(site):
        yield f"{_INDENT}expected  {printable(mark.expected)}"
        yield f"{_INDENT}seen      {printable(mark.judgement.observed)}"
        if mark.judgement.offending:
            yield f"{_INDENT}request   {request_line(mark.judgement.offending, began_at)}"


def shown_marks(site: SiteCard) -> list[Mark]:
    """Returns the marks that made a site fail, but only the first if the site got no request."""
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
    environment.filters.update(printable=printable)
    environment.globals.update(progress=progress, request_line=request_line, summary=summary)
    return environment.get_template("card.html")
