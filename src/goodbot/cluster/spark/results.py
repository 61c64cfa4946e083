"""Writes the result of an analysis to a store, as Parquet files that the tasks write."""

import secrets
from collections.abc import Iterator
from functools import partial
from typing import Any, Final, NamedTuple

import msgspec
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame

from goodbot.cluster.spark.store_files import StoreFiles
from goodbot.cluster.spark.worker_process import in_task
from goodbot.exports.parquet_file import parquet_writer

_NOTES: Final = "note binary"


class ResultNote(msgspec.Struct, frozen=True):
    """A file of a result. `top` are its rows with the greatest values, as JSON."""

    path: str
    rows: int
    top: list[dict[str, Any]]


class Result(NamedTuple):
    """A result. `paths`: of its files in the store; `top`: its rows with the greatest values, the greatest first."""

    paths: tuple[str, ...]
    rows: int
    top: tuple[dict[str, Any], ...]


def save_result(frame: DataFrame, files: StoreFiles, folder: str, value: str, most: int) -> Result:
    """Writes the rows to files in `folder`, in place of those of an earlier result. Returns the `most` rows with the
    greatest `value` too; rows with equal values are ordered by their other columns."""
    rows = frame.mapInArrow(in_task(partial(_save, files, folder, value, most)), _NOTES).collect()
    notes = [msgspec.json.decode(row.note, type=ResultNote) for row in rows]
    written = {note.path for note in notes}
    files.remove(entry.path for entry in files.list(folder) if entry.path not in written)
    return Result(tuple(sorted(written)), sum(note.rows for note in notes), _top(notes, value, most))


def _top(notes: list[ResultNote], value: str, most: int) -> tuple[dict[str, Any], ...]:
    rows = [row for note in notes for row in note.top]
    return tuple(sorted(rows, key=partial(_place_of, value))[:most])


def _place_of(value: str, row: dict[str, Any]) -> tuple[Any, ...]:
    return (-row[value], *(text for name, text in sorted(row.items()) if name != value))


def _save(
    files: StoreFiles, folder: str, value: str, most: int, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    first = next((batch for batch in batches if batch.num_rows), None)
    if first is None:
        return
    context = TaskContext.get()
    number = 0 if context is None else context.partitionId()
    path = f"{folder}/{number:05}-{secrets.token_hex(4)}.parquet"
    top: list[dict[str, Any]] = []
    rows = 0
    with files.open_output(path) as out, parquet_writer(out, first.schema) as writer:
        batch: pa.RecordBatch | None = first
        while batch is not None:
            writer.write_batch(batch)
            rows += batch.num_rows
            order = batch.sort_by([(value, "descending")]).slice(0, most).to_pylist() if most else []
            top = sorted([*top, *order], key=partial(_place_of, value))[:most]
            batch = next(batches, None)
    note = ResultNote(path, rows, top)
    yield pa.record_batch([pa.array([msgspec.json.encode(note)], pa.binary())], names=["note"])
