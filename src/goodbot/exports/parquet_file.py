"""Writes Parquet files. Importing this module loads pyarrow."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from goodbot.exports.tables import SCHEMA_VERSION, Kind, Row, Table

COMPRESSION: Final = "zstd"
ROWS_PER_GROUP: Final = 65_536
CHARS_PER_GROUP: Final = 16 * 1024**2
"""A row group has at most `ROWS_PER_GROUP` rows, and ends with the row that brings its texts to this many characters:
this bounds the memory that readers and writers need."""

_TYPES: Final = {"text": pa.string(), "integer": pa.int64(), "time": pa.timestamp("us", tz="UTC")}
"""The type of each kind of column."""


def parquet_writer(where: Any, schema: pa.Schema) -> Any:
    """Returns the writer of a file, whose pages have checksums. `where`: a path on this machine, or an open file."""
    return pq.ParquetWriter(where, schema, compression=COMPRESSION, write_page_checksum=True)


def parquet_schema(table: Table) -> pa.Schema:
    """Returns the schema of a table, which is the same whatever its rows are. Its metadata name the table."""
    fields = [pa.field(each.name, _TYPES[each.kind], each.optional, {"about": each.about}) for each in table.columns]
    return pa.schema(fields, {"goodbot.table": table.name, "goodbot.schema_version": str(SCHEMA_VERSION)})


def write_parquet(file: Any, table: Table, rows: Iterable[Row]) -> None:
    """Writes all rows of a table to an open binary file, which need not be seekable, and leaves it open. Raises
    OSError."""
    schema = parquet_schema(table)
    makers = [_MAKERS[column.kind] for column in table.columns]
    with pa.PythonFile(_KeptOpen(file), mode="w") as sink, parquet_writer(sink, schema) as writer:
        group: list[Row] = []
        chars = 0
        for row in rows:
            group.append(row)
            chars += sum(len(value) for value in row if isinstance(value, str))
            if chars >= CHARS_PER_GROUP or len(group) == ROWS_PER_GROUP:
                writer.write_batch(_batch(group, schema, makers))
                group, chars = [], 0
        if group:
            writer.write_batch(_batch(group, schema, makers))


def _batch(group: Sequence[Row], schema: pa.Schema, makers: Sequence[Callable[[Any], Any]]) -> pa.RecordBatch:
    columns = zip(*group, strict=True)
    arrays = [make(values) for make, values in zip(makers, columns, strict=True)]
    return pa.record_batch(arrays, schema=schema)


def _times(values: Iterable[float | None]) -> Any:
    return pa.array([None if value is None else round(value * 1e6) for value in values], _TYPES["time"])


_MAKERS: Final[dict[Kind, Callable[[Any], Any]]] = {
    "text": lambda values: pa.array(values, _TYPES["text"]),
    "integer": lambda values: pa.array(values, _TYPES["integer"]),
    "time": _times,
}


class _KeptOpen:
    """A file that stays open when pyarrow closes it."""

    closed = False

    def __init__(self, file: Any) -> None:
        self._file = file

    def write(self, content: Any) -> int:
        """Writes all of the content."""
        return int(self._file.write(content))

    def flush(self) -> None:
        """Writes out what the file still holds."""
        self._file.flush()

    def close(self) -> None:
        """Leaves the file open."""
