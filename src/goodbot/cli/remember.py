"""`goodbot remember`: keeps dated copies of robots.txt files, and reports which verdicts changed."""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import click

from goodbot.cli.command_class import Command, keep_from_output
from goodbot.cli.file_types import NamedPath
from goodbot.cli.options import site_meant
from goodbot.cli.printing import flush, say, say_folded, say_lines, write_json
from goodbot.cli.remember_report import monitoring_line, site_json, text_lines
from goodbot.cli.remember_visit import OwnFile, RememberedSite, remember_site
from goodbot.cli.repeat_option import parse_every
from goodbot.cli.robots_file import read_robots_file
from goodbot.errors import InputError
from goodbot.files import make_folder
from goodbot.url import Url, is_private_host, parse_url
from goodbot.watch.history.page_states import files_of
from goodbot.watch.history.site_names import site_name

LEAST_EVERY_S: Final = 60
"""For sites on private addresses, which belong to the user, it is one second."""

DAMAGE_SHOWN: Final = 5


@click.command(
    name="remember",
    cls=Command,
    ends_as_by_ctrl_c=True,
    inputs=("file",),
    examples="""
    goodbot remember https://example.org/ --into history
    goodbot remember https://example.org/ --into history --file robots.txt
    goodbot remember https://example.org/ --into history --every 6h
    goodbot remember https://example.org/ --into history --page https://example.org/news
    """,
)
@click.argument("urls", nargs=-1, required=True, metavar="URL...")
@click.option(
    "--into",
    "folder",
    required=True,
    type=NamedPath(path_type=Path),
    metavar="DIR",
    help="Folder of the copies, made if missing: one folder in it for each site.",
)
@click.option(
    "--file",
    metavar="FILE",
    help="Compare what the site serves with FILE, such as the robots.txt in your repository: a host or CDN may have "
    "added rules. For one site only.",
)
@click.option(
    "--page",
    "pages",
    multiple=True,
    metavar="URL",
    help="Also remember status and directives of a page of these sites: META robots, X-Robots-Tag. Repeatable.",
)
@click.option("--every", metavar="TIME", help="Run every TIME, such as 6h, 30min or 1d (1min or more), until Ctrl-C.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "line"]),
    default="text",
    show_default=True,
    metavar="FORMAT",
    help="Output format: text, json, or line: one line for each site, for Nagios and Icinga.",
)
def command(
    urls: tuple[str, ...],
    folder: Path,
    file: str | None,
    pages: tuple[str, ...],
    every: str | None,
    form: str,
    as_json: bool,
) -> int:
    """Keep dated copies of robots.txt files, and report which verdicts changed, and for which robots.

    URL is a site, or its robots.txt. Each run adds one copy, with status and headers, or the failure to fetch it.
    goodbot reports which paths changed (closed: now disallowed; opened: now allowed). New comments or a new order of
    rules are not reported. An outage changes nothing: the next answer is compared with the last one before the outage.
    Without --every there is one run, for cron.

    With --page, goodbot does not fetch a page that robots.txt disallows.

    With --format line, the first word of each line matches the exit status: OK 0, WARNING 1, UNKNOWN 3.

    Exit status: 0: nothing changed, or these are the first copies; 1: verdicts, delays or the directives of a page
    changed, or verdicts differ from --file; 2: bad input, such as an invalid URL; 3: something could not be
    fetched (this is remembered too), or the folder cannot be written; 130: interrupted, by Ctrl-C, SIGTERM or SIGHUP
    (the terminal was closed).
    """
    sites = _sites(urls)
    own = _own_file(file, sites)
    pages_of = _pages_of(pages, sites)
    every_s = None if every is None else _seconds(every, sites)
    keep_from_output(str(path) for site in sites for path in files_of(folder / site_name(site)))
    make_folder(folder)
    form = "json" if as_json else form
    is_first_run = True
    while True:
        started = time.monotonic()
        found: list[RememberedSite] = []
        for site in _remembered(sites, folder, own, pages_of):
            found.append(site)
            if form != "json" and (is_first_run or form == "line" or _is_news(site)):
                _print(site, form)
        if form == "json":
            write_json([site_json(site) for site in found])
        if every_s is None:
            return _status(found)
        flush()
        is_first_run = False
        time.sleep(max(0.0, started + every_s - time.monotonic()))


def _remembered(
    sites: Sequence[Url], folder: Path, own: OwnFile | None, pages_of: dict[str, list[Url]]
) -> Iterator[RememberedSite]:
    for url in sites:
        site = remember_site(url, folder, own, pages_of[url.origin])
        for sentence in site.damage[:DAMAGE_SHOWN]:
            say_folded(f"goodbot: {folder / site_name(url)}: {sentence}", err=True)
        if len(site.damage) > DAMAGE_SHOWN:
            say_folded(f"goodbot: and {len(site.damage) - DAMAGE_SHOWN} more such lines: see --json", err=True)
        yield site


def _print(site: RememberedSite, form: str) -> None:
    if form == "line":
        say(monitoring_line(site))
    else:
        say_lines(text_lines(site))
    flush()


def _is_news(site: RememberedSite) -> bool:
    """Whether a later run of `--every` reports the site: it changed, or an outage began or ended."""
    return site.is_news or site.was_unreachable != (site.access.result == "unreachable")


def _status(found: Sequence[RememberedSite]) -> int:
    if any(site.is_unreachable for site in found):
        return 3
    return 1 if any(site.is_changed for site in found) else 0


# ---- what was typed -------------------------------------------------------------------------------------------------


def _sites(texts: Sequence[str]) -> list[Url]:
    """Returns one URL for each site. Raises InputError."""
    sites: dict[str, Url] = {}
    for text in texts:
        url = _url(text)
        site_name(url)
        sites.setdefault(url.origin, url)
    return list(sites.values())


def _url(text: str) -> Url:
    url = parse_url(text)
    if url is None:
        meant = site_meant(text) if text else None
        hint = f"; give the whole URL: {meant}" if meant else ""
        raise InputError(f"not an http or https URL: {text}{hint}")
    return url


def _own_file(name: str | None, sites: Sequence[Url]) -> OwnFile | None:
    if name is None:
        return None
    if len(sites) > 1:
        raise InputError(f"--file belongs to one site, and there are {len(sites)}; run goodbot once for each")
    return OwnFile("standard input" if name == "-" else name, read_robots_file(name))


def _pages_of(texts: Sequence[str], sites: Sequence[Url]) -> dict[str, list[Url]]:
    """Returns the pages by the origin of their site. Raises InputError for a page of another site."""
    pages: dict[str, list[Url]] = {site.origin: [] for site in sites}
    for text in texts:
        url = _url(text)
        if url.origin not in pages:
            raise InputError(f"--page {url} belongs to none of the sites; add {url.origin}/ to them")
        if url not in pages[url.origin]:
            pages[url.origin].append(url)
    return pages


def _seconds(text: str, sites: Sequence[Url]) -> int:
    return parse_every(text, 1 if all(is_private_host(site.host) for site in sites) else LEAST_EVERY_S)
