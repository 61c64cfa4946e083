"""The two Spark jobs of a cycle: choose and fetch, merge. Each is a sequence of tasks that read and write the store by
themselves; Spark moves grants and changes between them, and runs lost tasks again."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Final, NamedTuple

import msgspec
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession

from goodbot.cluster.spark.changes import CHANGE_COLUMNS, CHANGE_SCHEMA, SORTED_BY, read_changes
from goodbot.cluster.spark.choosing import ChoiceRules, choose
from goodbot.cluster.spark.fetch_task import FetchJob, fetch
from goodbot.cluster.spark.grants import GRANT_COLUMNS, GRANT_SCHEMA, HostGrant, decode_grant, encode_grant
from goodbot.cluster.spark.merge_task import MergeJob, merge
from goodbot.cluster.spark.parquet_files import damage_named, open_parquet
from goodbot.cluster.spark.part_files import PartNote
from goodbot.cluster.spark.plan import SegmentNote
from goodbot.cluster.spark.store_files import StoreFiles
from goodbot.cluster.spark.worker_process import in_task
from goodbot.errors import DamagedError

_NOTES: Final = "note binary"
_GRANTS_AT_ONCE: Final = 64

Batches = Iterator[pa.RecordBatch]


class CycleJob(NamedTuple):
    """What the tasks of the first job are given."""

    fetch: FetchJob
    parts: tuple[PartNote | None, ...]
    rules: ChoiceRules
    part_urls: tuple[int, ...] | None


def fetch_job(spark: SparkSession, job: CycleJob) -> list[SegmentNote]:
    """Chooses URLs and fetches them. Returns the notes of the tasks that had something to do."""
    tasks = job.fetch.plan.tasks
    grants = _numbers(spark, len(job.parts)).mapInArrow(in_task(partial(_choose, job)), GRANT_COLUMNS)
    by_task = grants.repartitionById(tasks, "task").sortWithinPartitions("waiting_since", "host")
    notes = by_task.mapInArrow(in_task(partial(_fetch, job.fetch)), _NOTES).collect()
    return [msgspec.json.decode(row.note, type=SegmentNote) for row in notes]


def merge_job(spark: SparkSession, job: MergeJob, changes: Sequence[str]) -> tuple[PartNote | None, ...]:
    """Merges the files of changes into the crawl table. Returns its parts afterwards."""
    parts = len(job.parts)
    rows = _numbers(spark, max(len(changes), 1)).mapInArrow(
        in_task(partial(_read, job.files, tuple(changes))), CHANGE_COLUMNS
    )
    by_part = rows.repartitionById(parts, "part").sortWithinPartitions(*SORTED_BY)
    notes = by_part.mapInArrow(in_task(partial(_merge, job)), _NOTES).collect()
    written = {note.part: note for note in (msgspec.json.decode(row.note, type=PartNote) for row in notes)}
    return tuple(written.get(part, before) for part, before in enumerate(job.parts))


def _numbers(spark: SparkSession, count: int) -> DataFrame:
    """Returns the numbers from 0 on, each in a partition of its own."""
    return spark.range(0, count, 1, numPartitions=count)


def _choose(job: CycleJob, batches: Batches) -> Batches:
    for batch in batches:
        for part in batch.column("id").to_pylist():
            yield from _grants_of(job, part)


def _grants_of(job: CycleJob, part: int) -> Batches:
    note = job.parts[part]
    most = None if job.part_urls is None else job.part_urls[part]
    if note is None or most == 0:
        return
    files, tasks = job.fetch.files, job.fetch.plan.tasks
    rules = job.rules._replace(part_urls=most)
    rows: list[tuple[int, float, str, bytes]] = []
    urls, hosts = (f"{files.url}/{path}" for path in (note.urls, note.hosts))
    with damage_named(urls, hosts):
        for grant in choose(open_parquet(files, note.urls), open_parquet(files, note.hosts), rules):
            rows.append((grant.partition % tasks, grant.ready_at, grant.host, encode_grant(grant)))
            if len(rows) >= _GRANTS_AT_ONCE:
                yield _batch(rows, GRANT_SCHEMA)
                rows = []
    if rows:
        yield _batch(rows, GRANT_SCHEMA)


def _batch(rows: Iterable[tuple[object, ...]], schema: pa.Schema) -> pa.RecordBatch:
    columns = zip(*rows, strict=True)
    return pa.record_batch(
        [pa.array(column, item.type) for column, item in zip(columns, schema, strict=True)], schema=schema
    )


def _fetch(job: FetchJob, batches: Batches) -> Batches:
    first = next((batch for batch in batches if batch.num_rows), None)
    if first is None:
        return
    note = fetch(job, first.column("task")[0].as_py(), _grants_in(chain((first,), batches)))
    for _ in batches:  # those for which there was no time
        pass
    yield _note(note)


def _grants_in(batches: Batches) -> Iterator[HostGrant]:
    for batch in batches:
        yield from map(decode_grant, batch.column("data").to_pylist())


def _read(files: StoreFiles, paths: Sequence[str], batches: Batches) -> Batches:
    for batch in batches:
        for number in batch.column("id").to_pylist():
            for path in paths[number : number + 1]:
                yield from _changes_in(files, path)


def _changes_in(files: StoreFiles, path: str) -> Batches:
    with damage_named(f"{files.url}/{path}"):
        file = open_parquet(files, path)
        if file.schema_arrow.remove_metadata() != CHANGE_SCHEMA:
            raise DamagedError(f"{files.url}/{path} is damaged: it has other columns than a segment")
        yield from file.iter_batches()


def _merge(job: MergeJob, batches: Batches) -> Batches:
    context = TaskContext.get()
    part = context.partitionId() if context is not None else 0
    first = next((batch for batch in batches if batch.num_rows), None)
    if first is None and job.scope is None:
        return
    if first is None and job.parts[part] is None:
        return
    rest = batches if first is None else chain((first,), batches)
    yield _note(merge(job, part, (change for batch in rest for change in read_changes(batch))))


def _note(note: SegmentNote | PartNote) -> pa.RecordBatch:
    return pa.record_batch([pa.array([msgspec.json.encode(note)], pa.binary())], names=["note"])
