"""`goodbot announce`: announces changed pages to search services."""

from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import click

from goodbot.announce.announce_values import ServiceReport, Unread
from goodbot.announce.key import only_key, read_key
from goodbot.announce.typed_urls import whole_url
from goodbot.announce.worklist import Worklist
from goodbot.cli.announce_inputs import (
    Reading,
    Sources,
    files_of_state,
    services_named,
    sharing_note,
    state_path,
    unread_line,
)
from goodbot.cli.announce_report import URLS_SHOWN, name_of, plan_json, plan_lines, report_json, report_lines
from goodbot.cli.announce_run import Announcement
from goodbot.cli.command_class import Command, keep_from_output
from goodbot.cli.file_types import NamedPath
from goodbot.cli.printing import complain, keep_partial_output, say_folded, write_json
from goodbot.errors import InputError, RunError
from goodbot.human import counted
from goodbot.interrupts import run_async
from goodbot.url import Url


@click.command(
    name="announce",
    cls=Command,
    ends_as_by_ctrl_c=True,
    inputs=("lists", "sitemaps", "state", "key"),
    examples="""
    goodbot announce https://example.org/news --to bing
    goodbot announce --sitemap https://example.org/sitemap.xml --changed --state announced.sqlite --to indexnow
    goodbot announce --in crawl --changed --to indexnow --to https://search.example.com/
    goodbot announce --urls urls.txt --to indexnow --dry-run
    """,
)
@click.argument("urls", nargs=-1, metavar="[URL]...")
@click.option(
    "--to",
    "services",
    multiple=True,
    required=True,
    metavar="SERVICE",
    help="A service, by name or URL. Repeatable.",
)
@click.option("--urls", "lists", multiple=True, metavar="FILE", help="URLs from a file, one a line. Repeatable.")
@click.option(
    "--sitemap",
    "sitemaps",
    multiple=True,
    metavar="FILE|URL",
    help="All pages of a sitemap (XML, a feed or a text with one URL a line), or of the sitemaps that a sitemap index "
    "names. Repeatable.",
)
@click.option(
    "--in", "folder", metavar="DIR", type=NamedPath(path_type=Path), help="All pages of a crawl that may be indexed."
)
@click.option(
    "--changed",
    is_flag=True,
    help="Only pages that are new to a service, or have changed since it accepted them, by the lastmod of the sitemap "
    "or the text of the crawled page; with --in also pages that are gone since.",
)
@click.option(
    "--state",
    metavar="FILE",
    type=NamedPath(path_type=Path),
    help="With --changed: the file that keeps what was accepted (default with --in: DIR/announced.sqlite).",
)
@click.option(
    "--key",
    metavar="KEY|FILE",
    help="The key, or a file that has it (default: the key file in the working folder, made by goodbot key indexnow).",
)
@click.option(
    "--key-location",
    metavar="URL",
    help="URL of the key file, if it is not in the root folder of its host. The key then applies to URLs of this host "
    "in that folder.",
)
@click.option("--no-check", is_flag=True, help="Do not check first that the key files are served.")
@click.option("--dry-run", is_flag=True, help="Send nothing: print what would be sent.")
def command(
    urls: tuple[str, ...],
    services: tuple[str, ...],
    lists: tuple[str, ...],
    sitemaps: tuple[str, ...],
    folder: Path | None,
    changed: bool,
    state: Path | None,
    key: str | None,
    key_location: str | None,
    no_check: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Announce new, changed and removed pages of your site to search services, by IndexNow.

    SERVICE is a URL, such as that of a `goodbot serve` (/indexnow is added if the URL ends in /), or one of these:
    indexnow, amazon, bing, naver, seznam, yandex, yep. These services pass announcements on to each other, so one of
    them is enough; indexnow is the address of the protocol itself.

    Services accept URLs of a host only if that host serves the key, in the file https://HOST/KEY.txt. `goodbot key
    indexnow` makes the file. goodbot first fetches the key file of every host; if one is missing or has other
    content, nothing is sent.

    URLs are sent in requests of up to 10,000 URLs of one host. If a service is busy (429), has a problem (5xx) or does
    not answer, goodbot waits and tries again, five times in all. With --changed, what a service does not
    accept is sent to it again by the next run.

    --in takes the pages that may be indexed, but not duplicates (pages with the same text as another page). If a crawl
    runs with --no-index, it does not know which pages may be indexed; --in then takes all pages but duplicates.

    If a sitemap can be read only in part, or one of those that a sitemap index names cannot be read, goodbot says so,
    announces what it has read, and ends with status 3. With --changed, a later run announces the rest.

    With --json: an object with done and services. Each entry of services has service, url, urls, accepted and batches;
    each batch has host, urls (their number), accepted, status, tries, answer (the service's own text) and meaning. With
    --dry-run, the object also has dry_run, and each batch url_list: its URLs. If sitemaps could not be read, or not
    completely, the object also has unread: a list of objects with sitemap and why. After an interruption it also has
    interrupted, and the batches that were finished.

    Exit status: 0: every service accepted all URLs, or there was nothing to send; 2: bad input, such as an unknown
    SERVICE, or a document that is no sitemap; 3: a service did not accept something or did not answer, a key file is
    not served, a sitemap could not be fetched or read completely, or the state file is damaged, in use or cannot
    be written; 130: interrupted, by Ctrl-C, SIGTERM or SIGHUP (what was accepted until then is printed, and kept in the
    state file).
    """
    chosen = services_named(services)
    sources = Sources(urls, lists, sitemaps, folder)
    sources.check(only_changed=changed)
    path = state_path(state, folder, only_changed=changed)
    given = None if key_location is None else _location(key_location)
    used_key = only_key(Path(), "--key") if key is None else read_key(key)
    keep_from_output([*([f"{used_key}.txt"] if key is None else []), *(files_of_state(path) if path else [])])
    if note := sharing_note(chosen):
        say_folded(note, err=True)
    with Worklist(path, read_only=dry_run) as work:
        announcement = Announcement(work, chosen, used_key, given, sends=not dry_run, checks=not no_check)
        reading = Reading(work)
        try:
            reading.read_local(sources)  # not within the event loop, which would take Ctrl-C only after it
            reports = run_async(lambda: announcement.carry_out(sources, reading))
        except KeyboardInterrupt:
            _print_interrupted(announcement.reports_so_far(), reading.unread, as_json=as_json)
            raise
        if dry_run:
            _print_plan(reports, reading.unread, work, as_json=as_json)
        else:
            _print(reports, reading.unread, as_json=as_json)
    _raise_incomplete(reports, reading.unread, is_sent=not dry_run)


def _location(text: str) -> Url:
    url = whole_url(text)
    if "?" in url.target or url.path.endswith("/"):
        raise InputError(f"--key-location must be the URL of a file, without a query: {url}")
    return url


def _print(reports: Sequence[ServiceReport], unread: Sequence[Unread], *, as_json: bool) -> None:
    """Prints what became of all pages."""
    if as_json:
        write_json(report_json(reports, unread))
        return
    for report in reports:
        for indent, text in report_lines(report):
            say_folded(text, indent, indent + "  ")


def _print_plan(reports: Sequence[ServiceReport], unread: Sequence[Unread], work: Worklist, *, as_json: bool) -> None:
    if as_json:
        write_json(plan_json(reports, unread, work.changes))
        return
    for report in reports:
        for indent, text in plan_lines(report, list(islice(work.changes(report.service), URLS_SHOWN))):
            say_folded(text, indent, indent + "  ")


def _print_interrupted(reports: Sequence[ServiceReport], unread: Sequence[Unread], *, as_json: bool) -> None:
    """Prints what was accepted before an interruption, `--quiet` or not."""
    for report in reports:
        accepted = f"{report.accepted:,} of {counted(report.urls, 'URL')} accepted before the interruption"
        complain(f"{name_of(report.service)}: {accepted}")
    if as_json:
        keep_partial_output()
        write_json(report_json(reports, unread, is_interrupted=True))


def _raise_incomplete(reports: Sequence[ServiceReport], unread: Sequence[Unread], *, is_sent: bool) -> None:
    """Raises RunError if a service did not accept all pages, or not all pages were read."""
    failed = [report for report in reports if is_sent and report.accepted < report.urls]
    lacking = [f"{len(failed)} of {counted(len(reports), 'service')} did not accept all URLs"] if failed else []
    if unread:
        lacking.append(unread_line(unread))
    if lacking:
        keep_partial_output()
        raise RunError("; ".join(lacking))
