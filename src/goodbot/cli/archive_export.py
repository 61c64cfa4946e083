"""`goodbot archive export`: writes the archive of a crawl as a WACZ file."""

from pathlib import Path

import click

from goodbot.cli.command_class import Command
from goodbot.cli.file_types import NamedPath
from goodbot.cli.message_text import damage_line
from goodbot.cli.options import in_option
from goodbot.cli.printing import say, write_json
from goodbot.cli.progress_line import ProgressLine
from goodbot.crawl_folder import CrawlFolder
from goodbot.errors import DamagedError, InputError
from goodbot.files import cannot_write, writing_whole
from goodbot.human import counted, human_bytes


@click.command(
    name="export",
    cls=Command,
    short_help="Write the archive as a WACZ file for replay",
    output=False,
    examples="goodbot archive export --wacz -o crawl.wacz --in crawl",
)
@in_option
@click.option("--wacz", is_flag=True, expose_value=False, help="Write WACZ 1.1.1: the default, and the only format.")
@click.option(
    "--output",
    "-o",
    "target",
    required=True,
    type=NamedPath(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="The file to write. It is replaced as a whole, at the end.",
)
def command(folder: Path, target: Path, as_json: bool) -> int:
    """Write all records of the crawl in DIR as one WACZ file, which replay programs such as pywb and ReplayWeb.page
    open.

    FILE has the WARC files as they are, an index of them, and the list of the pages. Works while the crawl runs. To
    get one WARC file instead, use goodbot export --what warc.

    If the archive is damaged, everything that can be read is written, and the exit status is 3.

    Exit status: 0: done; 2: there is no crawl in DIR, it keeps no archive, or the folder of FILE does not exist; 3: the
    archive is damaged, or the disk fails.
    """
    from goodbot.archive_export import write_wacz  # noqa: PLC0415  (not for `archive check`)

    if str(target) == "-":
        raise InputError("a WACZ file cannot go to standard output: name a file")
    if target.resolve().is_relative_to(folder.resolve()) and CrawlFolder(folder).is_of_goodbot:
        raise InputError(f"-o would write into {folder}, whose files only goodbot may write: {target}")
    try:
        with ProgressLine() as progress, writing_whole(target) as output:
            done = write_wacz(folder, output, progress.report)
    except OSError as error:
        raise cannot_write(target, error) from error
    size = target.stat().st_size
    if as_json:
        write_json(
            {
                "done": True,
                "file": str(target),
                "bytes": size,
                "files": done.files,
                "records": done.records,
                "captures": done.captures,
                "pages": done.pages,
                "damaged": [
                    {"file": gap.file, "from": gap.start, "to": gap.end, "bytes": gap.end - gap.start, "what": gap.what}
                    for gap in done.lost
                ],
            }
        )
    else:
        what = f"{counted(done.captures, 'capture')}, {counted(done.pages, 'page')}"
        say(f"{target}: {human_bytes(size)}, {counted(done.files, 'WARC file')}, {what}")
    if done.lost:
        raise DamagedError(damage_line(done.lost, folder))
    return 0
