"""`goodbot serve`: the search page, on this machine."""

from pathlib import Path

import click

from goodbot.cli.options import base_settings, in_option
from goodbot.cli.saying import say
from goodbot.crawl_admin import CrawlConsole
from goodbot.crawl_folder import CrawlFolder, index_lag, open_search_or_nothing
from goodbot.one_shot import robots_asker
from goodbot.robot.fetch.signing import WELL_KNOWN, Signer, signer_of
from goodbot.web import KeyDirectory, create_app, serve

WEB_PATIENCE_S = 4.0
"""A browser waits so long for a running crawl to answer."""


@click.command(name="serve")
@in_option
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Address to listen on; the default is this machine only."
)
@click.option(
    "--port",
    default=8020,
    show_default=True,
    type=click.IntRange(0, 65535),
    metavar="N",
    help="Port to listen on; 0: any free one.",
)
def command(folder: Path, host: str, port: int) -> None:
    """Serve a search page for what was crawled, and a status page for the crawl, running or paused, until Ctrl-C.

    \b
    GET /                   the search form
    GET /search?q=&page=    results, ten per page
    GET /api/search?q=&page=   the same as JSON
    GET /crawl              the status of the crawl
    GET /check              checks a robots.txt while you type it
    POST /api/check         {"robots": TEXT} or {"site": URL}, and "agent", "url": the same as JSON
    GET /metrics            the status of the crawl, for Prometheus
    GET /healthz            a health check for monitors
    GET /.well-known/http-message-signatures-directory   the public key of a crawl with --sign

    Everyone who can reach the pages may read them. The printed link contains the token of DIR/token; whoever opens it
    may also pause, resume and stop the crawl, and submit URLs. For a crawl with --no-index everything works except
    search. The checker fetches the robots.txt of a site only if a contact is set (in goodbot.toml here or in DIR, or in
    GOODBOT_CONTACT), and never from a private address.

    Exit status: 0: ended with Ctrl-C; 2: bad input, such as a DIR without a crawl; 3: cannot listen on that address and
    port, or the index is missing or damaged.
    """
    crawl_folder = CrawlFolder(folder)
    crawl_folder.check()
    crawl = CrawlConsole(folder, WEB_PATIENCE_S)
    settings = crawl_folder.settings(base_settings(None))
    signer = signer_of(settings)
    keys = KeyDirectory(signer.key, signer.agent.authority) if signer else None
    app = create_app(open_search_or_nothing(folder), "goodbot", crawl, keys, robots_asker(settings))
    if why := index_lag(folder).why:
        say(why, err=True)
    serve(app, host, port, lambda url: _say(url, crawl.token, signer))


def _say(url: str, token: str | None, signer: Signer | None) -> None:
    say(f"search page on {url} (Ctrl-C ends it)", err=True)
    say(f"crawl page on {url}crawl" + (f"?token={token}" if token else ""), err=True)
    if signer:
        say(f"key directory on {url}{WELL_KNOWN[1:]}; signatures name {signer.agent}", err=True)
