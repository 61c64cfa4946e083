"""`goodbot serve`: serves the search page, the status of a crawl and the checker on this machine."""

from functools import partial
from pathlib import Path

import click

from goodbot.cli.command_class import Command
from goodbot.cli.file_types import NamedPath
from goodbot.cli.options import base_settings
from goodbot.cli.printing import flush, say, write_json
from goodbot.config import Settings
from goodbot.crawl_admin import CrawlConsole
from goodbot.crawl_folder import CrawlFolder, index_lag, open_search_or_nothing
from goodbot.one_shot import robots_fetcher
from goodbot.robot.fetch.signing import WELL_KNOWN, Signer, signer_of
from goodbot.web import KeyDirectory, create_app, serve

CONTROL_TIMEOUT_S = 4.0
"""How long a page that controls the crawl waits for its response."""


@click.command(
    name="serve",
    cls=Command,
    output=False,
    default_log_level="warning",
    examples="goodbot serve --in crawl --port 8020\ngoodbot serve            # the robots.txt checker alone",
)
@click.option(
    "--in",
    "folder",
    metavar="DIR",
    type=NamedPath(path_type=Path),
    help="Folder of a crawl or of imported documents. Without it only the robots.txt checker is served.",
)
@click.option(
    "--listen",
    default="127.0.0.1",
    show_default=True,
    metavar="ADDRESS",
    help="Address to listen on. The default can be reached from this machine only.",
)
@click.option("--host", "old_listen", hidden=True)
@click.option(
    "--port",
    default=8020,
    show_default=True,
    type=click.IntRange(0, 65535),
    metavar="N",
    help="Port to listen on; 0 chooses a free one.",
)
def command(folder: Path | None, listen: str, old_listen: str | None, port: int, as_json: bool) -> None:
    """Serve a search page and a status page for a crawl, and a robots.txt checker, until Ctrl-C.

    The crawl may be running, paused or finished; DIR may also be a folder made by `goodbot index import`. Without --in
    the checker is served alone.

    \b
    GET /                   the search form
    GET /search?q=&page=    results, ten per page
    GET /api/search?q=&page=   the same as JSON
    GET /api/suggest?q=     completions of a query, as OpenSearch suggestions
    GET /crawl              the status of the crawl
    GET /check              checks a robots.txt while you type
    POST /api/check         the same as JSON: {"robots": "…"} or {"site": "URL"},
                            and "agent", "url"
    GET /metrics            the status of the crawl, for Prometheus
    GET /healthz            a health check for monitors
    GET /.well-known/http-message-signatures-directory
                            the public key of a crawl with --sign

    Anyone who can reach the pages may read them. The printed link contains the token of DIR/token; anyone who opens it
    may also pause, resume and stop the crawl, and submit URLs. For a crawl with --no-index everything works except
    search. The checker fetches the robots.txt of a site only if a contact is set (in goodbot.toml here or in DIR, or in
    GOODBOT_CONTACT), and never from a private address.

    Exit status: 0: ended with Ctrl-C; 2: bad input, such as a DIR without a crawl or an index; 3: cannot listen on that
    address and port, or the index is missing or damaged.
    """
    settings = _settings(folder)
    signer = signer_of(settings)
    keys = KeyDirectory(signer.key, signer.agent.authority) if signer else None
    search = crawl = None
    if folder is not None:
        if not CrawlFolder(folder).is_import:
            crawl = CrawlConsole(folder, CONTROL_TIMEOUT_S)
        search = open_search_or_nothing(folder)
        if why := index_lag(folder).why:
            say(why, err=True)
    app = create_app(search, "goodbot", crawl, keys, robots_fetcher(settings))
    report = _print_json if as_json else partial(_print_urls, has_search=search is not None)
    serve(app, old_listen or listen, port, lambda url: report(url, crawl, signer))


def _settings(folder: Path | None) -> Settings:
    """Reads the settings in force. Raises InputError if there is no crawl in `folder`."""
    base = base_settings()
    if folder is None:
        return base
    crawl_folder = CrawlFolder(folder)
    if crawl_folder.is_import:
        return base
    crawl_folder.check()
    return crawl_folder.settings(base)


def _crawl_url(url: str, crawl: CrawlConsole) -> str:
    return f"{url}crawl" + (f"?token={crawl.token}" if crawl.token else "")


def _print_urls(url: str, crawl: CrawlConsole | None, signer: Signer | None, *, has_search: bool) -> None:
    if not has_search:
        say(f"robots.txt checker on {url}check (Ctrl-C ends it); no crawl is served: give one with --in DIR", err=True)
    else:
        say(f"search page on {url} (Ctrl-C ends it)", err=True)
    if crawl is not None:
        say(f"crawl page on {_crawl_url(url, crawl)}", err=True)
    if signer:
        say(f"key directory on {url}{WELL_KNOWN[1:]}; signatures name {signer.agent}", err=True)


def _print_json(url: str, crawl: CrawlConsole | None, signer: Signer | None) -> None:
    keys = f"{url}{WELL_KNOWN[1:]}" if signer else None
    write_json(
        {
            "url": url,
            "crawl_url": _crawl_url(url, crawl) if crawl else None,
            "check_url": f"{url}check",
            "key_directory": keys,
        }
    )
    flush()
