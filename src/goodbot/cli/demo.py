"""`goodbot demo`: three sample sites, one crawl, the search service."""

import socket
import tempfile
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

import click
from rich.table import Table

from goodbot.cli.command_class import Command
from goodbot.cli.crawl import run_crawl
from goodbot.cli.printing import flush, write_json
from goodbot.cli.rich_tables import Console, cell
from goodbot.cli.rich_tables import console as new_console
from goodbot.cli.search import print_results
from goodbot.cli.serve import open_crawl, site_of, urls_of
from goodbot.config import Settings
from goodbot.crawl_folder import open_ledger, open_search
from goodbot.demo import EXAMPLE_QUERIES, DemoSite, DemoWeb
from goodbot.index import results_json
from goodbot.interrupts import run_async, whole
from goodbot.listening import listening
from goodbot.one_shot import robots_fetcher
from goodbot.serve_settings import ServeSettings
from goodbot.values import STATES, State, UrlRecord
from goodbot.web import create_app, serve

HOST = "127.0.0.1"
UNBROKEN_COLUMNS = 200
"""Width of the tables in a file or a pipe: no URL of the sample web is broken there."""
MEANING: dict[State, str] = {
    "visited": "fetched and kept",
    "disallowed": "robots.txt forbids it, so it was never requested",
    "gone": "requested, and the server has no such page",
    "out-of-scope": "found, and not part of this crawl",
    "failed": "no usable answer",
}


@click.command(
    name="demo",
    cls=Command,
    ends_as_by_ctrl_c=True,
    output=False,
    examples="""
    goodbot demo
    goodbot demo --once
    """,
)
@click.option("--once", is_flag=True, help="End after the queries instead of serving the search page.")
@click.option(
    "--port",
    default=8020,
    show_default=True,
    type=click.IntRange(0, 65535),
    metavar="N",
    help="Port of the search page; 0: any free one.",
)
def command(once: bool, port: int, as_json: bool) -> int:
    """Serve three sample sites on this machine, crawl them, show what was decided and why, and search them.

    Then `goodbot serve` shows the crawl in your browser (not with --once). The sites are served until the demo ends;
    then the crawl is deleted. Nothing leaves this machine.

    Exit status: 0: done, or the search page was ended with Ctrl-C; 3: the port is in use; 130: interrupted before the
    search page was up. SIGTERM, and SIGHUP (the terminal was closed), do what Ctrl-C does.
    """
    console = new_console(columns=UNBROKEN_COLUMNS)
    with ExitStack() as stack:
        listener = None if once else stack.enter_context(listening(HOST, port))
        folder = Path(stack.enter_context(whole(lambda: tempfile.TemporaryDirectory(prefix="goodbot-demo-"))))
        with whole(DemoWeb) as web:
            if not as_json:
                _print_sites(console, web.sites)
            settings = Settings(seeds=tuple(site.url for site in web.sites), allow_private=True)
            status = run_async(lambda: run_crawl(folder, settings, None, "none" if as_json else "text", lasts=False))
            if status:
                return status
            result = _json(web.sites, folder) if as_json else None
            if result is None:
                _print_decisions(console, web.sites, folder)
                _print_queries(console, folder)
            if listener is not None:
                _serve(console, folder, settings, listener, result)
            elif result is not None:
                write_json({"url": None, "crawl_url": None, **result})
    return 0


def _print_sites(console: Console, sites: Iterable[DemoSite]) -> None:
    console.print("[bold]Three sites of the sample web[/bold]")
    for site in sites:
        console.print(f"  {site.title:<28} {site.url}", highlight=False)
    console.print("\n[bold]One crawl[/bold] (goodbot crawl … --allow-private)")


def _json(sites: Iterable[DemoSite], folder: Path) -> dict[str, object]:
    with open_ledger(folder) as ledger:
        states = ledger.status().states
    search = open_search(folder)
    return {
        "sites": [{"title": site.title, "url": site.url} for site in sites],
        "states": {state: states[state] for state in STATES},
        "searches": [results_json(search.search(query, 3)) for query in EXAMPLE_QUERIES],
    }


def _print_decisions(console: Console, sites: Iterable[DemoSite], folder: Path) -> None:
    """How many URLs are in which state, and each that was not simply fetched, with its reason."""
    with open_ledger(folder) as ledger:
        records = [ledger.record(record.url) or record for record in ledger.records()]
        counts = ledger.status().states
    console.print("\n[bold]URLs by state[/bold]")
    for state, meaning in MEANING.items():
        if counts[state]:
            console.print(f"  {counts[state]:>4} {state:<13} {meaning}", highlight=False)
    for site in sites:
        console.print(f"\n[bold]{site.title}[/bold]: exceptions, and the reason for each", highlight=False)
        console.print(_decisions(record for record in records if _site_of(record).startswith(site.url)))


def _decisions(records: Iterable[UrlRecord]) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 1, 0, 2))
    for record in sorted(records, key=lambda record: (record.state, record.url.text)):
        why = _notable(record)
        if why:
            shown = record.url.target if _site_of(record) == record.url.text else record.url.text
            table.add_row(record.state, cell(shown), cell(why))
    return table


def _site_of(record: UrlRecord) -> str:
    """The URL itself, or for one out of scope the page that links to it."""
    found = next((event.reason for event in record.events if event.step == "found"), "")
    return found.rpartition(" ")[2] if record.state == "out-of-scope" else record.url.text


def _notable(record: UrlRecord) -> str:
    """Why this URL is listed as an exception; empty if it was fetched, followed and indexed like any other."""
    if record.state == "disallowed":
        event = next(event for event in record.events if event.line is not None)
        return f"line {event.line} of robots.txt: {event.reason.partition(' (line ')[0]}"
    if record.state != "visited" or (record.status is not None and record.status >= 300):
        return record.why
    noes = [event.reason for event in record.events if event.step in ("follow", "index") and event.decision == "no"]
    if any(event.step == "keep" and event.decision == "headers" for event in record.events):
        noes.append("the page asks not to be archived: only its headers were kept")
    return "; ".join(noes)


def _print_queries(console: Console, folder: Path) -> None:
    search = open_search(folder)
    for query in EXAMPLE_QUERIES:
        console.print(f"\n[bold]goodbot search[/bold] {query!r}", highlight=False)
        print_results(search.search(query, 3))


def _serve(
    console: Console, folder: Path, settings: Settings, listener: socket.socket, result: dict[str, object] | None
) -> None:
    """Serves the search until Ctrl-C. `result`: what `--json` prints once the pages can be reached."""
    opened, site = open_crawl(folder, settings), site_of(ServeSettings(name="goodbot demo"), settings)
    app = create_app(opened.search, site, opened.crawl, None, robots_fetcher(settings), opened.visitors)

    def report(url: str) -> None:
        urls = urls_of(url, site, opened, None)
        if result is None:
            console.print(f"\n[bold]Search page on {urls.home}[/bold] (Ctrl-C ends the demo)")
            console.print(f"Operator's pages on {urls.crawl}", highlight=False, soft_wrap=True)
        else:
            write_json({"url": urls.home, "crawl_url": urls.crawl, **result})
            flush()

    serve(app, HOST, listener.getsockname()[1], report, listener)
