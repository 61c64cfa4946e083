"""`goodbot cluster pagerank` and `goodbot cluster dedup`: analyse the pages of a crawl in cycles."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any, Final

import click

from goodbot.cli.command_class import Command
from goodbot.cli.file_types import NamedPath
from goodbot.cli.master_option import master_option
from goodbot.cli.number_range import NumberRange
from goodbot.cli.printing import say, say_folded, write_json
from goodbot.cli.spark_work import watched
from goodbot.cli.store_option import store_option
from goodbot.errors import InputError
from goodbot.human import counted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from goodbot.cluster.spark.results import Result
    from goodbot.cluster.spark.store_files import StoreFiles
    from goodbot.cluster.spark.table_version import TableVersion

_CLEANS: Final = {"spark.cleaner.referenceTracking.cleanCheckpoints": "true"}


def _options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options of both commands."""
    for option in (
        click.option(
            "--top", type=click.IntRange(0, 10_000), default=20, show_default=True, metavar="N", help="Rows to print."
        ),
        master_option,
        store_option,
    ):
        function = option(function)
    return function


def _opened(store: str) -> "tuple[StoreFiles, TableVersion]":
    from goodbot.cluster.spark.opening import open_files  # noqa: PLC0415  (loads pyarrow)
    from goodbot.cluster.spark.session import check_requirements  # noqa: PLC0415
    from goodbot.cluster.spark.table_version import load_existing, settings_of  # noqa: PLC0415

    check_requirements()
    files = open_files(store)
    version = load_existing(files).version
    if not settings_of(version, files.url).index:
        raise InputError(f"the crawl in {files.url} runs with --no-index, so it keeps no documents of pages")
    return files, version


def _share_out(spark: "SparkSession", version: "TableVersion") -> None:
    """Sets into how many tasks Spark divides the rows: as many as the table has parts, and two for each core at least.
    Spark's own default, 200, is far too many for a small crawl."""
    tasks = max(len(version.parts), 2 * spark.sparkContext.defaultParallelism)
    spark.conf.set("spark.sql.shuffle.partitions", str(tasks))


# ---- pagerank -------------------------------------------------------------------------------------------------------


@click.command(
    name="pagerank",
    cls=Command,
    ends_as_by_ctrl_c=True,
    short_help="Compute the PageRank of the pages of a crawl on Spark",
    examples="""
    goodbot cluster pagerank --store /mnt/crawl
    goodbot cluster pagerank --store s3://bucket/crawl --scratch /mnt/scratch --master spark://head:7077
    """,
)
@_options
@click.option(
    "--links",
    type=click.IntRange(1, 1_000_000),
    metavar="N",
    help="Maximum number of links of a page that count. [default: as in goodbot index refresh: fewer, the more pages]",
)
@click.option(
    "--scratch",
    type=NamedPath(path_type=Path),
    metavar="DIR",
    help="Folder for intermediate results, which all machines share. [default: one in the store, if that is a path]",
)
def pagerank(store: str, master: str, top: int, links: int | None, scratch: Path | None, as_json: bool) -> None:
    """Compute the PageRank of all pages that belong in the index, by the links between them, and print the pages with
    the highest ranks. A rank of 1 is the mean of all pages.

    The ranks are those that goodbot index refresh computes on one machine. All of them are written to the store, to
    Parquet files in pagerank/ with the columns url and rank.

    Exit status: 0: done; 2: bad input, such as no Java, no crawl, or a crawl with --no-index; 3: the store cannot be
    read or written, or is damaged, or a task failed; 130: interrupted by Ctrl-C, SIGTERM or SIGHUP.
    """
    files, version = _opened(store)
    from goodbot.cluster.spark.page_rank import page_ranks_of  # noqa: PLC0415  (loads pyspark)
    from goodbot.cluster.spark.pages import current_pages  # noqa: PLC0415
    from goodbot.cluster.spark.results import save_result  # noqa: PLC0415
    from goodbot.cluster.spark.session import spark_session  # noqa: PLC0415

    with _scratch(files, scratch) as folder, spark_session(master, "goodbot cluster pagerank", conf=_CLEANS) as spark:

        def work() -> "Result":
            _share_out(spark, version)
            pages = current_pages(spark, files, version, ["links"]).select("url", "links")
            return save_result(page_ranks_of(pages, folder, most_links=links), files, "pagerank", "rank", top)

        result = watched(spark, work, "PageRank")
    if as_json:
        write_json(_json(result, version, "pages", files))
        return
    say_folded(_summary(result, version, "page", f"all ranks: {files.url}/pagerank/"))
    for row in result.top:
        say(f"{row['rank']:>12,.3f}  {row['url']}")


@contextmanager
def _scratch(files: "StoreFiles", folder: Path | None) -> Iterator[str]:
    """Makes a folder for intermediate results, and removes it at the end."""
    if folder is None and files.url.startswith("s3://"):
        raise InputError("give a folder that all machines share for intermediate results: --scratch DIR")
    root = Path(files.url) if folder is None else folder
    if not root.is_dir():
        raise InputError(f"no such folder: {root}")
    made = tempfile.mkdtemp(prefix="scratch-", dir=root)
    try:
        yield Path(made).absolute().as_uri()
    finally:
        rmtree(made, ignore_errors=True)


# ---- dedup ----------------------------------------------------------------------------------------------------------


@click.command(
    name="dedup",
    cls=Command,
    ends_as_by_ctrl_c=True,
    short_help="Find pages of a crawl with equal or almost equal texts on Spark",
    examples="""
    goodbot cluster dedup --store /mnt/crawl
    goodbot cluster dedup --store /mnt/crawl --likeness 0.9 --top 100 --json
    """,
)
@_options
@click.option(
    "--likeness",
    type=NumberRange(0.5, 1.0),
    metavar="SHARE",
    help="Minimum likeness of a pair: the share of words that both texts have. Below 0.9 many pairs are missed. "
    "[default: 0.95]",
)
def dedup(store: str, master: str, top: int, likeness: float | None, as_json: bool) -> None:
    """Find pairs of pages with equal or almost equal texts among all pages that belong in the index, and print those
    that are most alike.

    The texts that search results would show are compared, by MinHash and banding: 99 % of the pairs with a likeness of
    0.95 are found, 89 % at 0.9, 52 % at 0.8. If n pages have equal texts, n - 1 pairs are listed: the page whose URL
    sorts first with each of the others. The likeness of other pairs is estimated. All pairs are written to the store,
    to Parquet files in duplicates/ with the columns url_1, url_2 and likeness; without pairs, there are no files.
    Nothing is removed from the crawl.

    Exit status: 0: done; 2: bad input, such as no Java, no crawl, or a crawl with --no-index; 3: the store cannot be
    read or written, or is damaged, or a task failed; 130: interrupted by Ctrl-C, SIGTERM or SIGHUP.
    """
    files, version = _opened(store)
    from goodbot.cluster.spark.near_duplicates import near_duplicate_pairs  # noqa: PLC0415  (loads pyspark)
    from goodbot.cluster.spark.pages import current_pages  # noqa: PLC0415
    from goodbot.cluster.spark.results import save_result  # noqa: PLC0415
    from goodbot.cluster.spark.session import spark_session  # noqa: PLC0415

    with spark_session(master, "goodbot cluster dedup") as spark:

        def work() -> "Result":
            _share_out(spark, version)
            pages = current_pages(spark, files, version, ["document"]).select("url", "document")
            pairs: DataFrame = (
                near_duplicate_pairs(pages) if likeness is None else near_duplicate_pairs(pages, likeness=likeness)
            )
            return save_result(pairs, files, "duplicates", "likeness", top)

        result = watched(spark, work, "comparing")
    if as_json:
        write_json(_json(result, version, "pairs", files))
        return
    say_folded(_summary(result, version, "pair", f"all pairs: {files.url}/duplicates/"))
    for row in result.top:
        say(f"{row['likeness']:>6.3f}  {row['url_1']}  {row['url_2']}")


def _summary(result: "Result", version: "TableVersion", row: str, where: str) -> str:
    counts = f"{counted(result.rows, row)}, as of cycle {version.cycle}"
    return f"{counts}; {where}" if result.rows else counts


def _json(result: "Result", version: "TableVersion", rows: str, files: "StoreFiles") -> dict[str, Any]:
    paths = [f"{files.url}/{path}" for path in result.paths]
    return {"cycle": version.cycle, rows: result.rows, "top": list(result.top), "files": paths}
