"""Tests that damage in a Parquet file of a store is noticed when it is read."""

from pathlib import Path

import pyarrow as pa
import pytest

from goodbot.cluster.spark.local_files import LocalFiles
from goodbot.cluster.spark.parquet_files import damage_named, open_parquet
from goodbot.errors import DamagedError
from goodbot.exports.parquet_file import parquet_writer

SCHEMA = pa.schema([("url", pa.string()), ("at", pa.float64())])
ROWS = pa.table({"url": [f"http://host/{number * 7919 % 1000}" for number in range(1000)], "at": [0.5] * 1000}, SCHEMA)


def read(files: LocalFiles, path: str) -> pa.Table:
    with damage_named(f"{files.url}/{path}"):
        return pa.Table.from_batches(open_parquet(files, path).iter_batches(), SCHEMA)


def test_damaged_rows_are_named(tmp_path: Path) -> None:
    """Wherever they are damaged. The end of a file, which says where they are, has no checksum."""
    files = LocalFiles(tmp_path)
    with files.open_output("rows") as out, parquet_writer(out, SCHEMA) as writer:
        writer.write_table(ROWS)
    assert read(files, "rows") == ROWS
    content = files.read("rows")
    assert content is not None
    size_of_end = int.from_bytes(content[-8:-4], "little")
    for place in range(100, len(content) - size_of_end - 100, 10):
        files.write("damaged", content[:place] + b"\xff" * 16 + content[place + 16 :])
        with pytest.raises(DamagedError, match=f"^{tmp_path}/damaged is damaged: ") as raised:
            read(files, "damaged")
        assert "\n" not in str(raised.value)


def test_a_column_is_missing(tmp_path: Path) -> None:
    files = LocalFiles(tmp_path)
    with files.open_output("rows") as out, parquet_writer(out, SCHEMA) as writer:
        writer.write_table(ROWS)
    with pytest.raises(DamagedError, match="first or rows is damaged: "), damage_named("first", "rows"):
        next(open_parquet(files, "rows").iter_batches()).column("other")
