"""`goodbot audit`: reports what is wrong with a site, from a crawl of it."""

import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import click

from goodbot.audit.kinds import known_audit_codes
from goodbot.audit.options import HEAVY_BYTES, PLACES, SLOW_S, AuditOptions
from goodbot.audit.report import MAX_SARIF_RESULTS, as_sarif, finding_json
from goodbot.check import Severity
from goodbot.check.findings import SEVERITIES
from goodbot.cli.audit_report import report_lines, summary_line
from goodbot.cli.command_class import Command
from goodbot.cli.host_argument import known_host
from goodbot.cli.message_text import damaged_line
from goodbot.cli.number_range import NumberRange
from goodbot.cli.options import Bytes, in_option
from goodbot.cli.printing import json_text, keep_partial_output, put, say, say_folded, say_lines, write_json
from goodbot.cli.progress_line import ProgressLine
from goodbot.errors import DamagedError, InputError
from goodbot.human import counted
from goodbot.site_audit import SiteAudit, audit_site


@click.command(
    name="audit",
    cls=Command,
    examples="""
    goodbot audit --in crawl
    goodbot audit --in crawl --fail-on warning --ignore A206
    goodbot audit --in crawl --host example.org --format html -o audit.html
    goodbot audit --in crawl --format sarif --root public -o audit.sarif
    """,
)
@in_option
@click.option(
    "--host",
    metavar="HOST",
    help="Report only findings on this host: HOST, HOST:PORT, or a URL with scheme and port.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "html", "sarif"]),
    default="text",
    show_default=True,
    metavar="FORMAT",
    help="Output format: text for people, json for programs, html for one page that needs no other file, or sarif for "
    "code hosts.",
)
@click.option(
    "--fail-on",
    type=click.Choice(SEVERITIES),
    default="error",
    show_default=True,
    metavar="SEVERITY",
    help="Lowest severity that gives exit status 1: error, warning or info.",
)
@click.option(
    "--ignore",
    multiple=True,
    metavar="CODE",
    help="Do not report this code, or codes with this prefix: A2 stands for A201 to A208. Repeatable.",
)
@click.option(
    "--slow",
    "slow_s",
    type=NumberRange(0, min_open=True),
    default=SLOW_S,
    show_default=True,
    metavar="SECONDS",
    help="A page is slow if its response took longer.",
)
@click.option(
    "--heavy",
    "heavy_bytes",
    type=Bytes(),
    default=HEAVY_BYTES,
    show_default=True,
    metavar="BYTES",
    help="An HTML page is heavy if its response body, as sent, is larger; 500k and 1.5M work too.",
)
@click.option(
    "--places",
    type=click.IntRange(1, 1_000_000),
    default=PLACES,
    show_default=True,
    metavar="N",
    help="Maximum number of pages listed for each link target with a problem (A101 to A106) and each repeated title.",
)
@click.option(
    "--root",
    metavar="FOLDER",
    help="With --format sarif: the folder in your repository that is served as the site; findings are then shown at "
    "its files.",
)
def command(
    folder: Path,
    host: str | None,
    form: str,
    as_json: bool,
    fail_on: Severity,
    ignore: tuple[str, ...],
    slow_s: float,
    heavy_bytes: int,
    places: int,
    root: str | None,
) -> int:
    """Report what is wrong with your site, from the crawl in DIR. Nothing is fetched.

    Finds broken links, each with its place in the page; links to redirects, redirect chains and loops; sitemaps,
    robots.txt, noindex and canonical URLs that contradict each other; missing and repeated titles, missing languages;
    slow and heavy pages; pages that no page links to. `goodbot explain CODE` explains a code.

    The crawl may be running or unfinished. Without an archive (--no-archive), links have no line and column, and only
    links, unreadable sitemaps, repeated titles, and slow and heavy pages are reported. A damaged archive is read as far
    as possible.

    Exit status: 0: no finding at or above --fail-on; 1: there are such findings; 2: bad input; 3: the archive is
    damaged (what can be read is reported all the same), or there is no room in TMPDIR.
    """
    form = "json" if as_json else form
    _check_root(root, form)
    codes = known_audit_codes(ignore, "--ignore")
    wanted, origin = (None, "") if host is None else known_host(folder, host)
    options = AuditOptions(wanted, slow_s, heavy_bytes, places, origin)
    with ProgressLine(_pages) as progress, audit_site(folder, options, progress.report) as audit:
        progress.wipe()
        _report(audit, folder, codes, form, root)
        severe = SEVERITIES[: SEVERITIES.index(fail_on) + 1]
        failed = any(SEVERITIES[severity] in severe for _, severity, _, _ in audit.staging.findings.counts(codes))
        if audit.lost is not None:
            keep_partial_output()
            what = f"{counted(audit.lost_count, 'page')} cannot be read, the first is {audit.lost.url}"
            raise DamagedError(damaged_line(what, folder))
    return int(failed)


def _check_root(root: str | None, form: str) -> None:
    if root is None:
        return
    if form != "sarif":
        raise InputError("--root needs --format sarif")
    if not root or Path(root).is_absolute() or ".." in Path(root).parts:
        raise InputError(f"--root must be a relative path within the repository, such as public, not {root!r}")


def _pages(count: float) -> str:
    return f"{count:,.0f} pages"


def _report(audit: SiteAudit, folder: Path, ignore: tuple[str, ...], form: str, root: str | None) -> None:
    if form == "json":
        for piece in _json_pieces(audit, ignore):
            put(piece.encode())
    elif form == "sarif":
        counts = audit.staging.findings.counts(ignore)
        by_severity = (each for name in SEVERITIES for each in audit.staging.findings.select(ignore, severity=name))
        write_json(as_sarif(by_severity, sorted({code for code, *_ in counts}), version("goodbot"), root))
        total = sum(count for _, _, count, _ in counts)
        if total > MAX_SARIF_RESULTS:
            left = f"{total - MAX_SARIF_RESULTS:,} of {counted(total, 'finding')}"
            say_folded(f"goodbot: {left} are left out: code hosts take {MAX_SARIF_RESULTS:,}", err=True)
    elif form == "html":
        from goodbot.web.operator.audit_page import audit_page  # noqa: PLC0415  (loads jinja2)

        put(audit_page(audit.staging.findings, audit.notes, audit.pages, ignore, time.time()).encode())
    else:
        say_lines(report_lines(audit, folder, ignore))
        say(summary_line(audit, ignore))
    if form in ("json", "sarif"):
        for note in audit.notes:
            say_folded(f"goodbot: {note}", err=True)


def _json_pieces(audit: SiteAudit, ignore: tuple[str, ...]) -> Iterator[str]:
    """Yields the pieces of one JSON list on one line, with one finding in memory at a time."""
    between = "["
    for finding in audit.staging.findings.select(ignore):
        yield between + json_text(finding_json(finding))
        between = ", "
    yield "[]\n" if between == "[" else "]\n"
