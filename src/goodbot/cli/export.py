"""`goodbot export`: writes URLs, pages and links of a crawl as JSON lines, Parquet or SQLite, or its archive as a
WARC file."""

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import click

from goodbot.archive_values import DamagedRange
from goodbot.cli.command_class import Command, output_file
from goodbot.cli.export_rows import Lost, exported_rows
from goodbot.cli.message_text import damage_line, damaged_line
from goodbot.cli.options import in_option
from goodbot.cli.printing import binary_stream, end_when_unread, keep_partial_output, write_json
from goodbot.cli.progress_line import ProgressLine
from goodbot.crawl_folder import CrawlFolder, missing_records, open_archive
from goodbot.errors import DamagedError, InputError, RunError
from goodbot.exports.tables import TABLE_NAMES, TABLES, NamedRow, TableName
from goodbot.human import counted

FORMATS: Final = ("jsonl", "parquet", "sqlite")


@click.command(
    name="export",
    cls=Command,
    examples="""
    goodbot export --in crawl --what urls
    goodbot export --in crawl --what pages -o pages.jsonl
    goodbot export --in crawl --what pages --format parquet -o pages.parquet
    goodbot export --in crawl --what urls --what pages --what links --format sqlite -o crawl.db
    goodbot export --in crawl --what warc -o all.warc.gz
    """,
)
@in_option
@click.option(
    "--what",
    "whats",
    type=click.Choice([*TABLE_NAMES, "warc"]),
    metavar="WHAT",
    required=True,
    multiple=True,
    help="What to write: urls, pages, links or warc, see above. Repeatable with --format sqlite.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="jsonl",
    show_default=True,
    metavar="FORMAT",
    help="Output format of urls, pages and links: jsonl (JSON lines), parquet or sqlite.",
)
@click.pass_context
def command(ctx: click.Context, folder: Path, whats: tuple[str, ...], form: str, as_json: bool) -> None:
    """Export URLs, pages and links of a crawl as JSON lines, Parquet or SQLite, or its archive as one WARC file.

    \b
    urls   every known URL: url, state, status, depth, fetched_at, digest,
           title, why
    pages  every visited document, such as HTML, PDF and sitemaps: url,
           fetched_at, status, type, title, text, lang
    links  every link in these documents: source, target, anchor, rel
    warc   all records, as one WARC file (gzip)

    All formats have the same columns and rows. Times are Unix seconds in JSON lines and SQLite, timestamps in UTC in
    Parquet. SQLite puts each --what into a table of its own. Parquet needs pyarrow: pip install '.[fast]'. --json is
    the same as --format jsonl, the default.

    Pages, links and records are read from the archive, so a crawl run with --no-archive has none. If the archive is
    damaged, everything that can be read is written (the file of --output is replaced), and the last line of standard
    error says what is missing. If nothing can be read, and after any other error, the file of --output stays as it was.

    Exit status: 0: done; 2: there is no crawl in DIR, or it keeps no archive; 3: the archive is damaged, or the output
    cannot be written.
    """
    end_when_unread()
    if "warc" in whats:
        is_given = ctx.get_parameter_source("form") == click.core.ParameterSource.COMMANDLINE
        _check_warc(whats, form if is_given else None, as_json=as_json)
        _write_warc(folder)
        return
    _write_tables(folder, _checked_names(whats, form), form)


def _checked_names(whats: Sequence[str], form: str) -> list[TableName]:
    names: list[TableName] = [name for name in TABLE_NAMES if name in whats]
    if len(whats) > len(names):
        raise InputError("give each --what once")
    if len(names) > 1 and form != "sqlite":
        raise InputError(f"a file of --format {form} holds one table: give one --what, or use --format sqlite")
    if form == "parquet" and find_spec("pyarrow") is None:
        raise InputError("--format parquet needs pyarrow: install goodbot with the extra fast: pip install '.[fast]'")
    return names


def _write_tables(folder: Path, names: Sequence[TableName], form: str) -> None:
    lost, read = Lost(), 0

    def counting(rows: Iterator[NamedRow]) -> Iterator[NamedRow]:
        nonlocal read
        for name, row in rows:
            read += name != "urls"
            yield name, row

    with (
        ProgressLine(lambda count: f"{count:,.0f}") as progress,
        exported_rows(folder, names, lost, None if form == "jsonl" else progress.report) as found,
    ):
        rows = counting(found)
        if form == "jsonl":
            _write_lines(rows)
        elif form == "parquet":
            _write_parquet(names[0], rows)
        else:
            _write_sqlite(names, rows)
    if lost.pages:
        warc = CrawlFolder(folder).warc
        missing = "" if warc.is_dir() else f"{warc} is missing: "
        what = f"{missing}{counted(lost.pages, 'page')} cannot be read, the first is {lost.first}"
        if read:
            keep_partial_output()
        raise DamagedError(damaged_line(what, folder))


def _write_lines(rows: Iterator[NamedRow]) -> None:
    for name, row in rows:
        write_json(TABLES[name].as_json(row))


def _write_parquet(name: TableName, rows: Iterator[NamedRow]) -> None:
    from goodbot.exports.parquet_file import write_parquet  # noqa: PLC0415  (loads pyarrow)

    stream = binary_stream("a Parquet file", f"{name}.parquet")
    write_parquet(stream, TABLES[name], (row for _, row in rows))


def _write_sqlite(names: Sequence[TableName], rows: Iterator[NamedRow]) -> None:
    from goodbot.exports.sqlite_file import open_journal, write_sqlite  # noqa: PLC0415  (most exports are JSON lines)

    stream, file = binary_stream("an SQLite database", "crawl.db"), output_file()
    journal = None if file is None else open_journal(file)
    if file is not None and journal is not None:
        raise InputError(
            f"{journal} belongs to the database {file.name}: a program has it open, or ended while it wrote; end that "
            f"program, or open the database once with sqlite3 {file}, or give another file"
        )
    write_sqlite(stream, None if file is None else file.parent, [TABLES[name] for name in names], rows)


# ---- one WARC file --------------------------------------------------------------------------------------------------


def _check_warc(whats: Sequence[str], form: str | None, *, as_json: bool) -> None:
    if as_json:
        raise InputError("--json: a WARC file cannot be printed as JSON; see --what pages")
    if form is not None:
        raise InputError("--what warc has a format of its own: leave out --format")
    if len(whats) > 1:
        raise InputError("--what warc is a file of its own: leave out the other --what")


def _write_warc(folder: Path) -> None:
    output = binary_stream("a WARC file", "all.warc.gz")
    lost: list[DamagedRange] = []
    with open_archive(folder) as archive, ProgressLine() as progress:
        missing = missing_records(folder, archive)
        size, pieces = archive.export(lost.append)
        done = 0
        try:
            for piece in pieces:
                output.write(piece)
                done += len(piece)
                progress.report(done, size)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise RunError(f"cannot write the WARC file: {error.strerror}") from error
    known = {gap.file for gap in lost}
    lost += (gap for gap in missing if gap.file not in known)
    if lost:
        if done:
            keep_partial_output()
        raise DamagedError(damage_line(lost, folder))
