"""`goodbot export`: prints what a crawl knows as JSON lines, and what it fetched as one WARC file."""

import os
from collections.abc import Iterator
from pathlib import Path

import click

from goodbot.archive_values import ArchivedResponse, DamagedRange
from goodbot.cli.command_class import Command
from goodbot.cli.message_text import damage_line, damaged_line
from goodbot.cli.options import in_option
from goodbot.cli.printing import end_when_unread, keep_partial_output, stream_of, write_json
from goodbot.cli.progress_line import ProgressLine
from goodbot.crawl_folder import CrawlFolder, archived_pages, missing_records, open_archive, open_ledger
from goodbot.errors import DamagedError, InputError, RunError
from goodbot.human import counted
from goodbot.page import read_page
from goodbot.ports import Ledger
from goodbot.values import Page, UrlRecord


@click.command(
    name="export",
    cls=Command,
    examples="""
    goodbot export --in crawl --what urls
    goodbot export --in crawl --what pages -o pages.jsonl
    goodbot export --in crawl --what warc -o all.warc.gz
    """,
)
@in_option
@click.option(
    "--what",
    type=click.Choice(["urls", "pages", "links", "warc"]),
    metavar="WHAT",
    required=True,
    help="What to print: urls, pages, links or warc, see above.",
)
def command(folder: Path, what: str, as_json: bool) -> None:
    """Print what a crawl knows as JSON lines, or all records it keeps.

    \b
    urls   every known URL: url, state, status, depth, fetched_at, digest,
           title, why
    pages  every visited page: url, fetched_at, status, type, title, text, lang
    links  every link on them: source, target, anchor, rel
    warc   all records, as one WARC file (gzip)

    --json changes nothing: urls, pages and links are always JSON lines.

    Pages, links and records are read from the archive, so a crawl run with --no-archive has none. If the archive is
    damaged, everything that can be read is printed, also to the file of --output, and the last line of standard error
    says what is missing. After any other error the file of --output stays as it was.

    Exit status: 0: done; 2: there is no crawl in DIR, or it keeps no archive; 3: the archive is damaged.
    """
    end_when_unread()
    if what == "warc":
        _write_warc(folder, as_json)
        return
    lost: list[UrlRecord] = []
    with open_ledger(folder) as ledger:
        lines = _urls(ledger) if what == "urls" else _read(folder, ledger, what, lost)
        for line in lines:
            write_json(line)
    if lost:
        warc = CrawlFolder(folder).warc
        missing = "" if warc.is_dir() else f"{warc} is missing: "
        what = f"{missing}{counted(len(lost), 'page')} cannot be read, the first is {lost[0].url}"
        keep_partial_output()
        raise DamagedError(damaged_line(what, folder))


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


def _read(folder: Path, ledger: Ledger, what: str, lost: list[UrlRecord]) -> Iterator[dict[str, object]]:
    settings = CrawlFolder(folder).settings_before()
    with open_archive(folder) as archive:
        for archived in archived_pages(ledger, archive, CrawlFolder(folder).keeps(), lost.append):
            limit, most = settings.decoded_limit, settings.document_limit
            page = read_page(archived.url, archived.response, settings.agent, limit, document_bytes=most)
            if what == "pages":
                yield _page(archived, page)
            else:
                yield from _links(page)


def _page(archived: ArchivedResponse, page: Page) -> dict[str, object]:
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
    output = stream_of(err=False)
    assert output is not None  # noqa: S101  (`main` replaces a closed standard output)
    if output.isatty():
        raise InputError("a WARC file is not for a terminal: add -o all.warc.gz")
    lost: list[DamagedRange] = []
    with open_archive(folder) as archive, ProgressLine() as progress:
        missing = missing_records(folder, archive)
        size, pieces = archive.export(lost.append)
        done = 0
        try:
            for piece in pieces:
                _write_all(piece, output.fileno())
                done += len(piece)
                progress.report(done, size)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise RunError(f"cannot write the WARC file: {error.strerror}") from error
    known = {gap.file for gap in lost}
    lost += (gap for gap in missing if gap.file not in known)
    if lost:
        keep_partial_output()
        raise DamagedError(damage_line(lost, folder))


def _write_all(piece: bytes, descriptor: int) -> None:
    """Writes to the descriptor, without the buffer of standard output: after an error (disk full) that would be written
    again at exit."""
    rest = memoryview(piece)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
