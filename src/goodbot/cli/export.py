"""`goodbot export`: what a crawl knows, as JSON lines."""

from collections.abc import Iterator
from pathlib import Path

import click

from goodbot.cli.options import in_option, write_json
from goodbot.config import Settings
from goodbot.page import read_page
from goodbot.ports import Ledger
from goodbot.values import Archived, Page
from goodbot.wiring import CrawlFolder, archived_pages, open_archive, open_ledger


@click.command(name="export")
@in_option
@click.option(
    "--what",
    type=click.Choice(["urls", "pages", "links"]),
    required=True,
    help="Which lines: see below what each holds.",
)
@click.option("--json", "as_json", is_flag=True, help="As it is: export always prints JSON lines.")
def command(folder: Path, what: str, as_json: bool) -> None:
    """Print what a crawl knows, one JSON object a line.

    \b
    urls   every URL known: url, state, status, depth, fetched_at, digest, title, why
    pages  every page visited: url, fetched_at, status, type, title, text, lang
    links  every link on them: source, target, anchor, rel

    Pages and links are read from the archive, so a crawl run with --no-archive has none.
    """
    with open_ledger(folder) as ledger:
        lines = _urls(ledger) if what == "urls" else _read(folder, ledger, what)
        for line in lines:
            write_json(line)


def _urls(ledger: Ledger) -> Iterator[dict[str, object]]:
    for record in ledger.records():
        yield {
            "url": record.url.text,
            "state": record.state,
            "status": record.status,
            "depth": record.depth,
            "fetched_at": record.fetched_at,
            "digest": record.digest,
            "title": record.title,
            "why": record.why,
        }


def _read(folder: Path, ledger: Ledger, what: str) -> Iterator[dict[str, object]]:
    settings = CrawlFolder(folder).settings(Settings())
    with open_archive(folder) as archive:
        for archived in archived_pages(ledger, archive):
            page = read_page(archived.url, archived.response, settings.agent, settings.decoded_limit)
            if what == "pages":
                yield _page(archived, page)
            else:
                yield from _links(page)


def _page(archived: Archived, page: Page) -> dict[str, object]:
    return {
        "url": archived.url.text,
        "fetched_at": archived.fetched_at,
        "status": archived.response.status,
        "type": archived.response.media_type,
        "title": page.title,
        "text": page.text,
        "lang": page.language,
    }


def _links(page: Page) -> Iterator[dict[str, object]]:
    for link in page.links:
        yield {"source": page.url.text, "target": link.url.text, "anchor": link.anchor, "rel": " ".join(link.rel)}
