"""`goodbot serve`: the search page, on this machine."""

from pathlib import Path

import click

from goodbot.cli.options import in_option
from goodbot.web import create_app, serve
from goodbot.wiring import open_search


@click.command(name="serve")
@in_option
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Address to listen on; the default is this machine only."
)
@click.option(
    "--port", default=8020, show_default=True, type=click.IntRange(0, 65535), help="Port to listen on; 0: any free one."
)
def command(folder: Path, host: str, port: int) -> None:
    """Serve a search page over what was crawled, until Ctrl-C.

    \b
    GET /                   the search form
    GET /search?q=&page=    results, ten a page
    GET /api/search?q=&page=   the same as JSON
    GET /healthz            for monitors
    """
    app = create_app(open_search(folder), "goodbot")
    serve(app, host, port, lambda url: click.echo(f"search page on {url} (Ctrl-C ends it)", err=True))
