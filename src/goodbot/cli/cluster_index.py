"""`goodbot cluster index`: builds the index of a crawl on Spark, in shards that are searched as one."""

import shlex
from typing import TYPE_CHECKING

import click

from goodbot.cli.command_class import Command, keep_folders_from_output
from goodbot.cli.master_option import master_option
from goodbot.cli.printing import say, say_folded, write_json
from goodbot.cli.spark_work import watched
from goodbot.cli.store_option import store_option
from goodbot.errors import InputError
from goodbot.human import counted, human_bytes
from goodbot.places.place_address import shown_address

if TYPE_CHECKING:
    from goodbot.cluster.spark.index_shards import ShardNote
    from goodbot.cluster.spark.shard_places import ShardPlaces
    from goodbot.cluster.spark.table_version import TableVersion


@click.command(
    name="index",
    cls=Command,
    ends_as_by_ctrl_c=True,
    short_help="Build the index of a crawl on Spark, in shards that are searched as one",
    examples="""
    goodbot cluster index --store /mnt/crawl --to /mnt/index
    goodbot cluster index --store s3://bucket/crawl --to s3://bucket/index --shards 8 --master spark://head:7077
    """,
)
@store_option
@click.option(
    "--to",
    "place",
    required=True,
    metavar="PLACE",
    help="Where to put the shards: a folder that all machines share, made if missing, or a URL of fsspec, such as "
    "s3://bucket/index (pip install '.[remote]', and what fsspec needs for that URL).",
)
@click.option(
    "--shards",
    type=click.IntRange(1, 1024),
    metavar="N",
    help="The number of shards, at most one for each part of the crawl table.  [default: one for each part, up to 16]",
)
@master_option
def command(store: str, place: str, shards: int | None, master: str, as_json: bool) -> None:
    """Build an index of the pages of a crawl on Spark, and print the command that searches it.

    The index has all pages that belong there as of the last cycle. It is divided into shards, each with all pages of
    some hosts, which are searched as one index: hits and their order are those of one index of all pages. Each task
    builds a shard on its machine, and puts it into PLACE when it is whole. The command only reads the store. If two
    or more cycles end while it runs, it may fail: only the last two versions of the table are kept.

    If PLACE is a folder, goodbot search and goodbot serve take the shards with --in. Whatever PLACE is, goodbot serve
    --follow takes them. Run the command again after more cycles: new shards replace the old ones, each as soon as it
    is whole, and servers notice that. Until then, and if the command fails or is killed, the old ones stay in use.
    With another value of --shards, the new index is put beside the old one; remove that when nobody searches it.

    Link texts and PageRank of a shard come from the links in that shard. To use links from one shard to another too,
    run goodbot index refresh with all shards that are in folders.

    Exit status: 0: done; 2: bad input, such as no Java, a store without a crawl or pages, a crawl with --no-index, or
    a PLACE that cannot be used; 3: the store or PLACE cannot be read or written, a file of the store is damaged,
    another run writes to PLACE, or a task failed; 130: interrupted by Ctrl-C, SIGTERM or SIGHUP.
    """
    from goodbot.cluster.spark.session import check_requirements, spark_session  # noqa: PLC0415  (few commands use it)

    check_requirements()
    from goodbot.cluster.spark.index_shards import build_shards, shards_job, shards_of  # noqa: PLC0415  (loads pyspark)
    from goodbot.cluster.spark.opening import open_files  # noqa: PLC0415
    from goodbot.cluster.spark.shard_places import ShardPlaces  # noqa: PLC0415
    from goodbot.cluster.spark.table_version import load_existing, settings_of  # noqa: PLC0415

    files = open_files(store)
    version = load_existing(files).version
    places = ShardPlaces(_root_of(place, files.url), shards_of(version, shards))
    job = shards_job(files, version, settings_of(version, files.url), places)
    others = places.other_counts()
    with spark_session(master, "goodbot cluster index") as spark:
        notes = watched(spark, lambda: build_shards(spark, job, version), "indexing")
    _show(notes, places, version, others, as_json=as_json)


def _root_of(place: str, store: str) -> str:
    """Returns the address of PLACE for all machines. Raises InputError if it cannot be used, has a crawl, or is in the
    store."""
    from goodbot.crawl_folder import CrawlFolder  # noqa: PLC0415  (few commands use it)
    from goodbot.index_copies import open_target  # noqa: PLC0415  (other commands of the group start faster)
    from goodbot.places.folder_place import FolderPlace  # noqa: PLC0415

    target = open_target(place)
    root = str(target.folder) if isinstance(target, FolderPlace) else place
    if f"{root}/".startswith(f"{store}/"):
        raise InputError(f"--to: {root} is in the store: choose a place outside it")
    if isinstance(target, FolderPlace) and CrawlFolder(target.folder).is_of_goodbot:
        raise InputError(f"--to: there is a crawl or an index in {root}: choose another folder")
    if not isinstance(target, FolderPlace):
        return place
    keep_folders_from_output([target.folder])
    return str(target.folder)


# ---- what is shown --------------------------------------------------------------------------------------------------


def _show(
    notes: "list[ShardNote]", places: "ShardPlaces", version: "TableVersion", others: list[int], *, as_json: bool
) -> None:
    folders = [str(folder) for note in notes if (folder := places.folder(note.shard)) is not None]
    copies = [shown_address(places.copies_address(note.shard)) for note in notes]
    search = _command_line("goodbot search QUERY", "--in", folders) if folders else None
    serve = _command_line("goodbot serve", "--follow", copies)
    documents, size = sum(note.documents for note in notes), sum(note.bytes for note in notes)
    missing = sum(note.missing for note in notes)
    if as_json:
        write_json(
            {
                "done": True,
                "cycle": version.cycle,
                "documents": documents,
                "size_bytes": size,
                "missing": missing,
                "shards": [
                    {
                        "place": shown_address(places.address(note.shard)),
                        "version": note.version,
                        "documents": note.documents,
                        "size_bytes": note.bytes,
                    }
                    for note in notes
                ],
                "search": search,
                "serve": serve,
            }
        )
        return
    shards = counted(len(notes), "shard")
    say_folded(f"{counted(documents, 'page')} in {shards}, {human_bytes(size)}, as of cycle {version.cycle}")
    if missing:
        say_folded(f"{counted(missing, 'page')} not in the index: the store does not have the text")
    if others:
        named = " and ".join(f"one in {counted(count, 'shard')}" for count in others)
        root = shown_address(places.root)
        say_folded(f"{root} also has another index, {named}: remove what nobody searches")
    for what, line in (("to search them as one index", search), ("to serve them", serve)):
        if line is not None:
            say(f"{what}:")
            say(f"  {line}")


def _command_line(command: str, option: str, values: list[str]) -> str:
    return " ".join([command, *(f"{option} {shlex.quote(value)}" for value in values)])
