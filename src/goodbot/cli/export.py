"""`goodbot export`: what a crawl knows, as JSON lines; what it fetched, as one WARC file."""

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import click

from goodbot.cli.options import in_option, write_json
from goodbot.cli.text import human_duration
from goodbot.config import Settings
from goodbot.errors import InputError, RunError
from goodbot.folder import CrawlFolder, archived_pages, open_archive, open_ledger
from goodbot.human import human_bytes
from goodbot.page import read_page
from goodbot.ports import Ledger
from goodbot.values import Archived, Page


@click.command(name="export")
@in_option
@click.option(
    "--what",
    type=click.Choice(["urls", "pages", "links", "warc"]),
    required=True,
    help="Which of these: see above what each holds.",
)
@click.option("--json", "as_json", is_flag=True, help="As it is: urls, pages and links are always JSON lines.")
def command(folder: Path, what: str, as_json: bool) -> None:
    """Print what a crawl knows, one JSON object a line, or all it fetched.

    \b
    urls   every URL known: url, state, status, depth, fetched_at, digest, title, why
    pages  every page visited: url, fetched_at, status, type, title, text, lang
    links  every link on them: source, target, anchor, rel
    warc   every record kept, as one WARC file (gzip): goodbot export --what warc --in DIR > all.warc.gz

    Pages, links and records are read from the archive, so a crawl run with --no-archive has none.
    """
    if what == "warc":
        _write_warc(folder, as_json)
        return
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
            limit, most = settings.decoded_limit, settings.document_limit
            page = read_page(archived.url, archived.response, settings.agent, limit, document_bytes=most)
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


# ---- one WARC file --------------------------------------------------------------------------------------------------


def _write_warc(folder: Path, as_json: bool) -> None:
    if as_json:
        raise InputError("--json: a WARC file cannot be printed as JSON; see --what pages")
    if sys.stdout.isatty():
        raise InputError("a WARC file is not for a terminal: add > all.warc.gz")
    with open_archive(folder) as archive:
        size, pieces = archive.export()
        meter = _Meter(size)
        try:
            for piece in pieces:
                _write_all(piece)
                meter.add(len(piece))
        except BrokenPipeError:
            raise
        except OSError as error:
            raise RunError(f"cannot write the WARC file: {error.strerror}") from error
        finally:
            meter.close()


def _write_all(piece: bytes) -> None:
    """Past the buffer of standard output, which would try again at exit what the disk has refused."""
    rest = memoryview(piece)
    while rest:
        rest = rest[os.write(sys.stdout.fileno(), rest) :]


class _Meter:
    """A line on the terminal that says how far the writing is, if it takes over two seconds."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._done = 0
        self._began = time.monotonic()
        self._next = self._began + 2 if sys.stderr.isatty() else float("inf")
        self._shown = False

    def add(self, count: int) -> None:
        self._done += count
        now = time.monotonic()
        if now >= self._next:
            left = human_duration((now - self._began) * (self._size - self._done) / self._done)
            line = f"{human_bytes(self._done)} of {human_bytes(self._size)}, about {left} left"
            click.echo(f"\r\x1b[K{line}", nl=False, err=True)
            self._next, self._shown = now + 0.5, True

    def close(self) -> None:
        """Wipes the line."""
        if self._shown:
            click.echo("\r\x1b[K", nl=False, err=True)
