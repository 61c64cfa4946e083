"""Builds an index of all current pages of a crawl on Spark, divided into shards: each task builds one on its machine,
and puts it in place when it is whole."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from importlib.metadata import version as installed
from typing import Final, NamedTuple

import msgspec
import pyarrow as pa
from pyspark.sql import SparkSession

from goodbot.cluster.spark.pages import (
    Batches,
    CurrentPages,
    PagesJob,
    page_segments,
    partition_number,
    sorted_pages,
)
from goodbot.cluster.spark.scratch_folder import scratch_folder
from goodbot.cluster.spark.shard_places import KEPT, ShardPlaces
from goodbot.cluster.spark.store_files import StoreFiles
from goodbot.cluster.spark.table_version import TableVersion, load_current
from goodbot.cluster.spark.worker_process import in_task
from goodbot.config import Settings
from goodbot.errors import DamagedError, InputError, RunError
from goodbot.index import TantivyIndex, refresh_links
from goodbot.index.copies import Contents, Origin, hold_index, take_snapshot
from goodbot.index.copies.published import load_pointer
from goodbot.places.place_address import shown_address
from goodbot.robot.fetch.identity import identity_of
from goodbot.search_values import NOTHING_HIDDEN, PreparedDocument

MOST_SHARDS: Final = 16
"""The most shards, unless the user chooses: a search opens all of them, and a server follows each."""

_DOCUMENT: Final = msgspec.msgpack.Decoder(PreparedDocument)
_READERS_LAG: Final = 2
"""So many versions later, the files of a version of the crawl table are removed (`Driver.clean`)."""


class ShardNote(msgspec.Struct, frozen=True):
    """A shard that is in place: its number from 0 on, the name of its version, and how many pages and bytes it has.
    `missing` counts pages that belong there, but are in no segment."""

    shard: int
    version: str
    documents: int
    bytes: int
    missing: int


class ShardsJob(NamedTuple):
    """What all tasks are given. `pages.groups` is the number of shards."""

    pages: PagesJob
    places: ShardPlaces
    origin: Origin


def shards_of(version: TableVersion, wanted: int | None) -> int:
    """Returns the number of shards: `wanted`, or one for each part of the crawl table, up to `MOST_SHARDS`. Raises
    InputError for more shards than parts: all pages of a part are in one shard."""
    parts = len(version.parts)
    if wanted is not None and wanted > parts:
        raise InputError(f"--shards: the crawl table has {parts:,} parts, so there can be at most {parts:,} shards")
    return min(parts, MOST_SHARDS) if wanted is None else wanted


def shards_job(files: StoreFiles, version: TableVersion, settings: Settings, places: ShardPlaces) -> ShardsJob:
    """Returns the job that builds the shards of a version of the crawl table. `settings`: those of the crawl. Raises
    InputError if there is nothing to index, DamagedError if the notes of a cycle are damaged."""
    if not settings.index:
        raise InputError(
            f"the crawl in {files.url} keeps no text of pages (--no-index), so there is nothing to index; to change"
            f" that for pages visited from now on: goodbot cluster cycle --store {files.url} --index"
        )
    segments = page_segments(files, version)
    if not segments:
        raise InputError(f"the crawl in {files.url} has no pages yet: run goodbot cluster cycle first")
    identity = identity_of(settings, installed("goodbot"))
    origin = Origin(identity.token, identity.user_agent, settings.contact or "")
    return ShardsJob(PagesJob(files, version.parts, segments, ("document",), places.shards), places, origin)


def build_shards(spark: SparkSession, job: ShardsJob, version: TableVersion) -> list[ShardNote]:
    """Builds all shards of `version`, and returns their notes in order. A shard that was there is replaced as soon as
    the new one is whole; if anything goes wrong, it stays.

    Raises BusyError if another run writes there (a folder only), RunError if a shard is not where this machine looks
    for it, or if cycles have replaced the crawl table meanwhile; errors of tasks are those of Spark."""
    with job.places.whole().exclusive():
        try:
            rows = sorted_pages(spark, job.pages).mapInArrow(in_task(partial(_build, job)), "note binary").collect()
        except Exception as error:
            if _is_replaced(job.pages.files, version):
                raise RunError(
                    f"several cycles of the crawl in {job.pages.files.url} ended while its pages were read, so files"
                    " that were needed are gone: run the command again while no cycles run"
                ) from error
            raise
    notes = sorted((msgspec.json.decode(row.note, type=ShardNote) for row in rows), key=lambda note: note.shard)
    _check_in_place(job.places, notes)
    return notes


def _is_replaced(files: StoreFiles, version: TableVersion) -> bool:
    """Whether the files of this version may have been removed."""
    with suppress(RunError):
        now = load_current(files)
        return now is not None and now.version.number >= version.number + _READERS_LAG
    return False


def _check_in_place(places: ShardPlaces, notes: Sequence[ShardNote]) -> None:
    for note in notes:
        pointer = load_pointer(places.copies(note.shard))
        if pointer is None or pointer.version != note.version:
            raise RunError(
                f"{shown_address(places.address(note.shard))} does not have the shard that a task has written there:"
                " the place must be a folder that all machines share, or a URL"
            )


# ---- in a task ------------------------------------------------------------------------------------------------------


def _build(job: ShardsJob, batches: Batches) -> Batches:
    note = build_shard(job, partition_number(), batches)
    yield pa.record_batch([pa.array([msgspec.json.encode(note)], pa.binary())], names=["note"])


def build_shard(job: ShardsJob, shard: int, batches: Batches) -> ShardNote:
    """Builds a shard of the rows of its pages (see `sorted_pages`), and puts it in place.

    Raises DamagedError for a document that cannot be read, RunError if the disk or the place cannot be written."""
    pages = CurrentPages(job.pages, shard)
    with scratch_folder() as local:
        folder = local / "index"
        index = TantivyIndex(folder)
        try:
            for document in _documents(job.pages, pages.of(batches)):
                index.add_prepared(document)
            index.commit()
        finally:
            index.close()
        refresh_links(folder)
        place = job.places.copies(shard)
        with hold_index(folder) as held:
            contents = Contents(NOTHING_HIDDEN, b"", job.origin)
            manifest = take_snapshot(held, contents, place, KEPT, lambda progress: None).manifest
    job.places.put_in_place(shard, manifest)
    return ShardNote(shard, manifest.version, manifest.documents, manifest.size, pages.missing)


def _documents(job: PagesJob, batches: Batches) -> Iterator[PreparedDocument]:
    for batch in batches:
        columns = (batch.column(name).to_pylist() for name in ("url", "segment", "document"))
        for url, segment, data in zip(*columns, strict=True):
            try:
                document = _DOCUMENT.decode(data)
            except msgspec.MsgspecError as error:
                path = f"{job.files.url}/{job.segments[segment]}"
                raise DamagedError(f"{path} is damaged: the document of {url} cannot be read: {error}") from error
            yield document
