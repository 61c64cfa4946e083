"""`goodbot courtesy`: reports to a site's owner what the host asked of the robot, and what the robot did."""

import time
from collections.abc import Iterator
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any

import click

from goodbot.cli.command_class import Command
from goodbot.cli.host_argument import HOST_HELP, host_key, hosts_meant
from goodbot.cli.lesson_text import held
from goodbot.cli.options import in_option
from goodbot.cli.printing import end_when_unread, folded, json_text, put, say, say_folded
from goodbot.crawl_folder import CrawlFolder
from goodbot.exclusion import Access
from goodbot.exclusion.text.shown_text import shown
from goodbot.human import counted, human_duration, human_time
from goodbot.ports import CrawlReader
from goodbot.report_values import HostReport, OriginReport, RefusedUrl
from goodbot.robot.fetch.identity import identity_of
from goodbot.robot.manners.request_recorder import longest_retry_after
from goodbot.url_story import lesson_json
from goodbot.web.operator.courtesy_page import courtesy_page


@click.command(
    name="courtesy",
    cls=Command,
    examples="""
    goodbot courtesy --in crawl
    goodbot courtesy --in crawl --host example.org --format html -o example.org.html
    """,
)
@in_option
@click.option("--host", metavar="HOST", help=HOST_HELP)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "html"]),
    default="text",
    show_default=True,
    metavar="FORMAT",
    help="Output format: text, json or html.",
)
def command(folder: Path, host: str | None, form: str, as_json: bool) -> None:
    """Report what each host asked of the robot, and what the robot did. The report is for the owner of the site.

    Requests for robots.txt count too, so the totals match the host's own log. A delay is the time from the end of an
    answer to the beginning of the next request. Without --host, hosts that got no request are left out unless they were
    forgotten.

    Exit status: 0: done, also for a host the crawl does not know; 2: HOST is not a host name, or there is no crawl in
    DIR; 3: DIR is damaged.
    """
    end_when_unread()
    wanted = None if host is None else host_key(host)
    crawl = CrawlFolder(folder)
    crawl.check()
    settings = crawl.settings_before()
    token = identity_of(settings, version("goodbot")).token
    with crawl.open_reader() as reader:
        reports = _reports(reader, token, wanted)
        if as_json or form == "json":
            _write(_json_pieces(reports))
        elif form == "html":
            totals, names = reader.courtesy_totals(wanted), reader.courtesy_hosts()
            _write(courtesy_page(totals, reports, names, token, wanted, settings.retry_after_most))
        else:
            _write_text(folder, reports, wanted, settings.retry_after_most)


def _reports(reader: CrawlReader, token: str, wanted: str | None) -> Iterator[HostReport]:
    if wanted is None:
        return reader.courtesy_reports(token)
    report = reader.courtesy_report(wanted, token)
    return iter(() if report is None else (report,))


def _write(pieces: Iterator[str]) -> None:
    for piece in pieces:
        put(piece.encode())


# ---- JSON -----------------------------------------------------------------------------------------------------------


def _json_pieces(reports: Iterator[HostReport]) -> Iterator[str]:
    """Yields the pieces of one JSON list on one line, with one host in memory at a time."""
    between = "["
    for report in reports:
        yield between + json_text(_json(report))
        between = ", "
    yield "[]\n" if between == "[" else "]\n"


def _json(report: HostReport) -> dict[str, Any]:
    done, latest = report.done, report.latest
    access = latest.access if latest is not None else None
    return {
        "host": report.host,
        "robots_txt": {
            "origin": latest.origin if latest is not None else None,
            "fetched_at": access.fetched_at if access is not None else None,
            "access": access.result if access is not None else None,
        },
        "origins": [_origin_json(origin) for origin in report.origins],
        "asked_gap_s": report.asked_gap_s,
        "least_gap_s": done.least_gap_s,
        "least_gap_at": done.least_gap_at,
        "requests": done.requests,
        "robots_txt_requests": done.robots_txt,
        "unanswered": done.unanswered,
        "status_429": done.status_429,
        "status_503": done.status_503,
        "retry_after": {"count": done.retry_afters, "longest_s": done.longest_retry_after_s, "inside": done.inside},
        "sooner_than_asked": done.sooner,
        "waited_s": done.waited_s,
        "first_request_at": done.first_at,
        "last_request_at": done.last_at,
        "user_agent": done.agent or None,
        "disallowed": report.refused,
        "disallowed_urls": [
            {"url": item.url, "at": item.at, "line": item.line, "reason": item.reason} for item in report.refused_urls
        ],
        "walls": [{"wall": item.wall, "pages": item.pages, "urls": list(item.urls)} for item in report.walls],
        "forgotten_at": report.forgotten_at,
        "lessons": [lesson_json(lesson) for lesson in report.lessons],
    }


def _origin_json(origin: OriginReport) -> dict[str, Any]:
    access, timing = origin.access, origin.timing
    return {
        "origin": origin.origin,
        "access": access.result if access is not None else None,
        "fetched_at": access.fetched_at if access is not None else None,
        "valid_until": access.valid_until if access is not None else None,
        "crawl_delay_s": timing.delay_s,
        "request_rates": [
            {"documents": rate.documents, "seconds": rate.seconds, "window": rate.window} for rate in timing.rates
        ],
        "visit_times": list(timing.windows),
        "versions": [
            {name: value for name, value in one._asdict().items() if name != "origin"} for one in origin.versions
        ],
    }


# ---- text -----------------------------------------------------------------------------------------------------------


def _write_text(folder: Path, reports: Iterator[HostReport], wanted: str | None, retry_after_most: float) -> None:
    first = next(reports, None)
    if first is None:
        say_folded(
            "no request was sent to any host yet"
            if wanted is None
            else f"this crawl knows no host {wanted}{hosts_meant(folder, wanted)}"
        )
        return
    for number, report in enumerate(chain([first], reports)):
        if number:
            say()
        for text in _lines(report, retry_after_most):
            for line in folded(text, rest=" " * 16):
                say(*line)


def _lines(report: HostReport, retry_after_most: float) -> Iterator[str]:
    done = report.done
    yield report.host
    if report.forgotten_at is not None:
        yield f"  forgotten     at {human_time(report.forgotten_at)}: no more requests are sent"
    if done.first_at is None or done.last_at is None:
        yield "  requests      none"
        return
    answered = f", {done.unanswered} without an answer" if done.unanswered else ""
    yield f"  requests      {done.requests:,}, {done.robots_txt:,} of them for robots.txt{answered}"
    yield f"                from {human_time(done.first_at)} to {human_time(done.last_at)}"
    if done.agent:
        yield f"  sent as       {shown(done.agent)}"
    none = "none" if report.forgotten_at is None else "unknown: its robots.txt was removed"
    yield f"  delay asked   {_gap(report.asked_gap_s, none)}"
    sooner = f"; {counted(done.sooner, 'request')} sooner than asked" if done.asked_gap_s or done.sooner else ""
    yield f"  least delay   {_gap(done.least_gap_s, 'one request only')}{sooner}"
    yield f"  429 and 503   {done.status_429:,} and {done.status_503:,}"
    if done.retry_afters:
        longest = longest_retry_after(done.longest_retry_after_s, retry_after_most)
        yield f"  Retry-After   {done.retry_afters:,}, {longest}; {counted(done.inside, 'request')} inside"
    yield f"  extra wait    {human_duration(done.waited_s)} because the site asked for it"
    for origin in report.origins:
        yield from _origin_lines(origin)
    for number, lesson in enumerate(report.lessons):
        yield f"  {'' if number else 'learned':<12}  {shown(lesson.evidence)}; {held(lesson, time.time())}"
    if report.refused:
        yield f"  disallowed    {counted(report.refused, 'URL')}, not fetched"
        yield from (f"                {_refused_line(item)}" for item in report.refused_urls)
    for walled in report.walls:
        yield f"  bot wall      {shown(walled.wall)} answered in place of {counted(walled.pages, 'page')}"
        yield from (f"                {shown(url)}" for url in walled.urls)


def _gap(gap_s: float | None, otherwise: str) -> str:
    return otherwise if gap_s is None else f"{gap_s:.3f} s"


def _origin_lines(origin: OriginReport) -> Iterator[str]:
    yield f"  robots.txt    of {origin.origin}: {_state(origin.access)}"
    for one in origin.versions:
        what = one.failure or f"status {one.status}"
        size = (
            f", {counted(one.bytes, 'byte')}, SHA-256 {one.digest[:16]}…"
            if one.digest and one.bytes is not None
            else ""
        )
        times = "once" if one.fetches == 1 else f"{one.fetches:,} times"
        yield f"                {human_time(one.first_at)}  {what}{size} ({times})"


def _state(access: Access | None) -> str:
    if access is None:
        return "forgotten"
    return "read" if access.result == "successful" else access.reason.rstrip(".")


def _refused_line(item: RefusedUrl) -> str:
    line = f" (line {item.line})" if item.line is not None else ""
    return f"{shown(item.url)}{line}"
