"""`goodbot archive`: checks the archive of a crawl, repairs it, imports those of others and exports it."""

from collections.abc import Iterator
from pathlib import Path

import click

from goodbot.archive_care import ArchiveCheck, check_archive, repair_archive
from goodbot.cli.archive_export import command as export
from goodbot.cli.archive_import import command as import_
from goodbot.cli.command_groups import CommandGroup
from goodbot.cli.options import in_option
from goodbot.cli.printing import say, write_json
from goodbot.cli.progress_line import ProgressLine
from goodbot.human import counted, human_bytes, in_shell

MAX_SHOWN = 20
"""Lines of one kind printed as text at most; --json prints all."""


@click.group(
    name="archive",
    cls=CommandGroup,
    examples="""
    goodbot archive check --in crawl
    goodbot archive import old.warc.gz --into library
    goodbot archive export --wacz -o crawl.wacz --in crawl
    """,
)
def command() -> None:
    """Check and repair the archive of a crawl, import archives of other programs, export as WACZ."""


command.add_command(import_)
command.add_command(export)


@command.command(
    name="check", short_help="List damaged bytes and lost records", examples="goodbot archive check --in crawl"
)
@in_option
def check(folder: Path, as_json: bool) -> int:
    """Read every record of the archive in DIR, and list damaged bytes and URLs whose records are lost.

    Verifies the checksum and the digest of every record, compares each WARC file with its CDXJ file, and checks that
    every record the crawl knows is there. Changes nothing, and works while the crawl runs. Takes 13 seconds of CPU time
    per gigabyte on an idle machine, about 30 on a busy one.

    Exit status: 0: sound; 1: damaged, or DIR/warc is missing; 2: there is no crawl in DIR, or it has never kept an
    archive (--no-archive); 3: a file cannot be read.
    """
    with ProgressLine() as progress:
        found = check_archive(folder, progress.report)
    if as_json:
        write_json({"sound": found.is_sound, **_json(found)})
    else:
        for line in _lines(found):
            say(line)
        if not found.is_sound:
            say(f"repair it with: goodbot archive repair --in {in_shell(folder)}")
    return 0 if found.is_sound else 1


@command.command(
    name="repair",
    short_help="Let the next crawl fetch lost pages again",
    output=False,
    examples="goodbot archive repair --in crawl",
)
@in_option
def repair(folder: Path, as_json: bool) -> None:
    """Repair the archive in DIR, so that the next crawl fetches lost pages again.

    Moves damaged bytes to DIR/warc/damaged, writes empty records in their place, and rebuilds the CDXJ file of each
    damaged file. Every record that can be read stays where it is. Pages whose records are lost go back into the queue.
    A damaged stretch of less than 330 bytes stays as it is, because not even an empty record fits there, and `goodbot
    archive check` still lists it. Only inserted or removed bytes leave such stretches: records are longer.

    Exit status: 0: repaired, or nothing to repair; 2: there is no crawl in DIR, or it has never kept an archive
    (--no-archive); 3: a crawl is running, or the disk is full.
    """
    with ProgressLine() as progress:
        found = repair_archive(folder, progress.report)
    again = sum(lost.again for lost in found.lost)
    if as_json:
        write_json({"done": True, "ready": again, **_json(found)})
        return
    total, *rest = _lines(found)
    say(total)
    if not found.is_sound:
        say(f"repaired the archive in {folder}. What was wrong with it:")
    for line in rest:
        say(line)
    if again:
        say(f"{counted(again, 'URL')} to fetch again: goodbot crawl --into {in_shell(folder)}")
        if found.has_imports:
            again_by = f"goodbot archive import FILE… --into {in_shell(folder)}"
            say(f"for pages of imported archives, import the files again: {again_by}")


def _json(found: ArchiveCheck) -> dict[str, object]:
    return {
        "files": found.files,
        "bytes": found.bytes,
        "records": found.records,
        "captures": found.captures,
        "damaged": [
            {"file": gap.file, "from": gap.start, "to": gap.end, "bytes": gap.end - gap.start, "what": gap.what}
            for gap in found.gaps
        ],
        "lost_captures": found.lost_captures,
        "lost": [
            {"url": lost.url.text, "state": lost.state, "file": lost.record.file, "offset": lost.record.offset}
            for lost in found.lost
        ],
        "indexes": found.indexes,
    }


def _lines(found: ArchiveCheck) -> Iterator[str]:
    size = f"{counted(found.files, 'file')}, {human_bytes(found.bytes)}"
    yield f"{size}, {counted(found.records, 'record')}, {counted(found.captures, 'capture')}"
    if found.missing is not None:
        yield f"{found.missing} is missing"
    if found.is_sound:
        yield "sound"
    yield from _part("damaged", [str(gap) for gap in found.gaps])
    yield from _part("CDXJ files that do not match their WARC files", found.indexes)
    yield from _part("pages whose records are lost", [f"{lost.url} ({lost.state})" for lost in found.lost])
    if found.lost_captures:
        yield f"{counted(found.lost_captures, 'capture')} listed in the CDXJ files of damaged WARC files cannot be read"


def _part(title: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield f"{title}: {len(lines):,}"
        yield from (f"  {line}" for line in lines[:MAX_SHOWN])
    if len(lines) > MAX_SHOWN:
        yield f"  … and {len(lines) - MAX_SHOWN:,} more (--json lists all)"
