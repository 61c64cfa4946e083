"""Computes PageRank on Spark: the ranks that `goodbot.index.page_rank` computes on one machine.

Pages are numbers (`hash_of`), and all tables are divided and sorted by them: the links never move after they have been
gathered, and a round moves one sum for each linked page and task. The driver gets one number per round.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final

import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  (its usual name)

from goodbot.cluster.spark.worker_process import in_task
from goodbot.errors import DamagedError, RunError
from goodbot.index.keys import document_key, hash_of
from goodbot.index.page_rank import DAMPING, ROUNDS
from goodbot.index.refresh import ranked_links_of
from goodbot.index.stored_page import decode_links as stored_links

_NUMBERED: Final = "url string, id bigint, targets array<bigint>"
_ARROW: Final = pa.schema([("url", pa.string()), ("id", pa.int64()), ("targets", pa.list_(pa.int64()))])


def page_ranks_of(
    pages: DataFrame, checkpoints: str, *, most_links: int | None = None, partitions: int | None = None
) -> DataFrame:
    """Returns the rank of each page relative to the mean, which is 1.0, in columns `url` and `rank`. `pages` has each
    page once, with columns `url` and `links` (as `encode_links` makes them); it is read once.

    Only links to other known pages count, each once, and of each page the first `most_links`; None: as many as on one
    machine (`ranked_links_of`), which are 5 from 4 million pages on. `partitions` is the number of tasks of each
    shuffle; None: as the session is set. One task joins all links to one page, so a page with a billion links to it
    takes one task a few minutes; afterwards each task adds up its own links to it.

    `checkpoints` is a folder that all machines reach: a mounted path, or a URL that Spark itself can write to. The
    links are written there (8 bytes each), and the ranks after each round (24 bytes a page). So a lost executor costs
    the round that it worked on, and what Spark plans does not grow with the rounds; checkpoints on the disks of
    executors would be lost with them and end the job. Whoever calls removes the folder after using the result.
    While it runs, files of earlier rounds are removed only if `spark.cleaner.referenceTracking.cleanCheckpoints` is
    set.

    The result reads a table that stays persisted until the session ends. Two pages with the same number count as one
    page that has the links of both: among a billion pages, the odds that there are two such pages are 5 %.

    Raises RunError if Spark cannot write to `checkpoints`. A task raises DamagedError if it cannot read the links of a
    page.
    """
    spark = pages.sparkSession
    try:
        spark.sparkContext.setCheckpointDir(checkpoints)
    except Py4JJavaError as error:
        raise RunError(f"Spark cannot write to {checkpoints}: {error.java_exception.getMessage()}") from error
    parts = partitions or int(str(spark.conf.get("spark.sql.shuffle.partitions")))
    with _planned_for(spark, parts):
        numbered = decode_links(pages).persist(StorageLevel.DISK_ONLY)
        most = most_links or ranked_links_of(numbered.count())
        graph = _graph(numbered, most, parts).checkpoint().persist()
        ranks = _ranks(graph)
        graph.unpersist()
        return numbered.select("url", "id").join(ranks, "id").select("url", "rank")


def decode_links(pages: DataFrame) -> DataFrame:
    """Returns `url` of each page, its number as `id`, and as `targets` the numbers of the other pages it links to: each
    once, in the order of the page."""
    return pages.select("url", "links").mapInArrow(in_task(_numbered), _NUMBERED)


def _numbered(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        urls = batch.column("url").to_pylist()
        ids = [hash_of(document_key(url)) for url in urls]
        links = batch.column("links").to_pylist()
        targets = [_targets(*page) for page in zip(urls, ids, links, strict=True)]
        yield pa.RecordBatch.from_pydict({"url": urls, "id": ids, "targets": targets}, schema=_ARROW)


def _targets(url: str, own: int, links: bytes | None) -> list[int]:
    try:
        targets = dict.fromkeys(hash_of(target) for target, _, _ in stored_links(links or b""))
    except ValueError as error:
        raise DamagedError(f"the links of {url} in the segments of pages cannot be read: {error}") from error
    targets.pop(own, None)
    return list(targets)


@contextmanager
def _planned_for(spark: SparkSession, partitions: int) -> Iterator[None]:
    """Plans joins in the same way for few pages and for many, divided into so many partitions: Spark must not send a
    table to all tasks, nor join partitions of one table, so that another one would have to be moved in each round."""
    wanted = {
        "spark.sql.shuffle.partitions": str(partitions),
        "spark.sql.autoBroadcastJoinThreshold": "-1",
        "spark.sql.adaptive.enabled": "false",
    }
    before = {name: str(spark.conf.get(name)) for name in wanted}
    try:
        for name, value in wanted.items():
            spark.conf.set(name, value)
        yield
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)


def _graph(numbered: DataFrame, most: int, partitions: int) -> DataFrame:
    """Returns `id` and `targets` of all pages: known pages only, the first `most` of each page; and as `share` what a
    page gives of its rank to each of them. Divided and sorted by `id`, so that ranks can be joined without moving
    them."""
    known = numbered.select("id").distinct()
    links = numbered.select(F.col("id").alias("source"), F.posexplode("targets").alias("place", "target"))
    to_known = links.join(known.withColumnRenamed("id", "target"), "target", "left_semi")
    ordered = F.sort_array(F.collect_list(F.struct("place", "target")))
    lists = to_known.groupBy("source").agg(F.slice(ordered, 1, most)["target"].alias("targets"))
    joined = known.join(lists.withColumnRenamed("source", "id"), "id", "left")
    targets = F.coalesce("targets", F.array().cast("array<bigint>"))
    share = F.when(F.size("targets") > 0, 1.0 / F.size("targets")).otherwise(0.0)
    divided = joined.select("id", targets.alias("targets")).repartition(partitions, "id")
    return divided.select("*", share.alias("share")).sortWithinPartitions("id")


def _ranks(graph: DataFrame) -> DataFrame:
    """Returns the `rank` of each `id`."""
    ranks = graph.select("id", "share", F.lit(1.0).alias("rank"))
    for _ in range(ROUNDS):
        ranks = _next(graph, ranks, _lost(ranks)).checkpoint()
    return ranks.select("id", "rank")


def _next(graph: DataFrame, ranks: DataFrame, lost: float) -> DataFrame:
    """Returns the ranks after one more round."""
    each = graph.select("id", "targets").join(ranks, "id")
    given = each.select(F.explode("targets").alias("id"), (F.col("rank") * F.col("share")).alias("given"))
    sums = given.groupBy("id").agg(F.sum("given").alias("given"))
    base = 1.0 - DAMPING + DAMPING * lost
    rank = F.lit(base) + F.lit(DAMPING) * F.coalesce("given", F.lit(0.0))
    return ranks.select("id", "share").join(sums, "id", "left").select("id", "share", rank.alias("rank"))


def _lost(ranks: DataFrame) -> float:
    """Returns what each page gets of the ranks of the pages without links."""
    row = ranks.agg(F.avg(F.when(F.col("share") == 0.0, F.col("rank")).otherwise(0.0))).first()
    return float(row[0] or 0.0) if row is not None else 0.0
