"""Parquet and SQLite files have the rows that were written: read back by pyarrow, DuckDB and sqlite3."""

import io
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.exclusion.text.shown_text import unicode_only
from goodbot.exports.parquet_file import ROWS_PER_GROUP, parquet_schema, write_parquet
from goodbot.exports.sqlite_file import APPLICATION_ID, write_sqlite
from goodbot.exports.tables import SCHEMA_VERSION, TABLES, Column, NamedRow, Row, Table

TEXTS = st.text(st.characters(codec=None, categories=None)).map(unicode_only)
OF_KIND = {
    "text": TEXTS,
    "integer": st.integers(-(2**63), 2**63 - 1),
    "time": st.integers(-(10**12), 10**14).map(lambda microseconds: microseconds / 1e6),
}


def values(column: Column) -> st.SearchStrategy[Any]:
    of_kind = OF_KIND[column.kind]
    return st.none() | of_kind if column.optional else of_kind


def rows_of(table: Table) -> st.SearchStrategy[list[Row]]:
    row = st.tuples(*(values(column) for column in table.columns))
    return st.lists(row, max_size=5, unique_by=lambda row: row[0] if table.key else object())


TABLES_AND_ROWS = st.sampled_from(list(TABLES.values())).flatmap(
    lambda table: st.tuples(st.just(table), rows_of(table))
)


def as_parquet(table: Table, rows: Sequence[Row]) -> bytes:
    file = io.BytesIO()
    write_parquet(file, table, rows)
    return file.getvalue()


def as_sqlite(tables: Sequence[Table], rows: Sequence[NamedRow], folder: Path) -> Path:
    path = folder / "all.db"
    with path.open("wb") as file:
        write_sqlite(file, folder, tables, rows)
    return path


def read_parquet(content: bytes) -> list[Row]:
    """The rows, with times in Unix seconds again."""
    table = pq.read_table(io.BytesIO(content), page_checksum_verification=True)
    columns = [
        [None if each is None else each / 1e6 for each in column.cast(pa.int64()).to_pylist()]
        if pa.types.is_timestamp(column.type)
        else column.to_pylist()
        for column in table.columns
    ]
    return list(zip(*columns, strict=True))


def read_sqlite(path: Path, table: Table) -> list[Row]:
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return connection.execute(f"SELECT {', '.join(table.names)} FROM {table.name} ORDER BY rowid").fetchall()


@given(TABLES_AND_ROWS)
def test_parquet_has_the_rows_that_were_written(drawn: tuple[Table, list[Row]]) -> None:
    table, rows = drawn
    content = as_parquet(table, rows)
    assert pq.read_schema(io.BytesIO(content)).equals(parquet_schema(table), check_metadata=True)
    assert read_parquet(content) == rows


@given(TABLES_AND_ROWS)
def test_sqlite_has_the_rows_that_were_written(drawn: tuple[Table, list[Row]]) -> None:
    table, rows = drawn
    with tempfile.TemporaryDirectory() as name:
        path = as_sqlite([table], [(table.name, row) for row in rows], Path(name))
        assert read_sqlite(path, table) == rows


ODD = ("https://example.org/\0", "visited", 200, 1, 1795924938.751661, None, "a\0b\U0001f980\ufffd", "x" * 3_000_000)


def test_duckdb_reads_the_parquet(tmp_path: Path) -> None:
    path = tmp_path / "urls.parquet"
    path.write_bytes(as_parquet(TABLES["urls"], [ODD, ("b", "ready", None, 0, None, "d", None, "")]))
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        described = connection.execute("DESCRIBE SELECT * FROM read_parquet(?)", [str(path)]).fetchall()
        found = connection.execute("SELECT * FROM read_parquet(?)", [str(path)]).fetchall()
        since = connection.execute(
            "SELECT url FROM read_parquet(?) WHERE fetched_at >= TIMESTAMPTZ '2026-11-29 00:00:00+00'", [str(path)]
        ).fetchall()
    assert {name: kind for name, kind, *_ in described} == {
        "url": "VARCHAR",
        "state": "VARCHAR",
        "status": "BIGINT",
        "depth": "BIGINT",
        "fetched_at": "TIMESTAMP WITH TIME ZONE",
        "digest": "VARCHAR",
        "title": "VARCHAR",
        "why": "VARCHAR",
    }
    assert found[0] == (*ODD[:4], datetime.fromtimestamp(ODD[4], UTC), *ODD[5:])
    assert found[1] == ("b", "ready", None, 0, None, "d", None, "")
    assert since == [(ODD[0],)]


@pytest.mark.parametrize("table", TABLES.values(), ids=list(TABLES))
def test_an_empty_table_has_the_same_schema(table: Table, tmp_path: Path) -> None:
    content = as_parquet(table, [])
    assert pq.read_schema(io.BytesIO(content)).equals(parquet_schema(table), check_metadata=True)
    assert pq.read_schema(io.BytesIO(content)).metadata[b"goodbot.table"] == table.name.encode()
    assert read_parquet(content) == read_sqlite(as_sqlite([table], [], tmp_path), table) == []


def test_row_groups_are_bounded_by_rows_and_by_text() -> None:
    short: list[Row] = [("s", "t", "a", "")] * (ROWS_PER_GROUP + 1)
    long: list[Row] = [("s", "t", "a" * 5_000_000, "")] * 9
    groups = [pq.ParquetFile(io.BytesIO(as_parquet(TABLES["links"], rows))).metadata for rows in (short, long)]
    assert [groups[0].row_group(n).num_rows for n in range(groups[0].num_row_groups)] == [ROWS_PER_GROUP, 1]
    assert [groups[1].row_group(n).num_rows for n in range(groups[1].num_row_groups)] == [4, 4, 1]
    assert {groups[1].row_group(0).column(n).compression for n in range(4)} == {"ZSTD"}


def test_sqlite_is_strict_typed_and_indexed(tmp_path: Path) -> None:
    path = as_sqlite(list(TABLES.values()), [("urls", ODD)], tmp_path)
    with closing(sqlite3.connect(path)) as connection:
        strict = {
            name: bool(row[-1]) for _, name, kind, *row in connection.execute("PRAGMA table_list") if kind == "table"
        }
        assert {name: strict[name] for name in TABLES} == dict.fromkeys(TABLES, True)
        with pytest.raises(sqlite3.IntegrityError, match="cannot store TEXT value in INTEGER column"):
            connection.execute("UPDATE urls SET depth = 'deep'")
        with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"):
            connection.execute("INSERT INTO urls SELECT * FROM urls")
        plans = [
            connection.execute(f"EXPLAIN QUERY PLAN SELECT * FROM {table} WHERE {column} = 'x'").fetchone()[-1]
            for table, column in [
                ("urls", "url"),
                ("urls", "state"),
                ("pages", "url"),
                ("links", "source"),
                ("links", "target"),
            ]
        ]
        assert all(plan.startswith("SEARCH") for plan in plans), plans
        marks = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
        assert marks == [APPLICATION_ID, SCHEMA_VERSION]
    assert list(tmp_path.iterdir()) == [path]


def test_a_failure_to_write_is_an_os_error_and_leaves_no_file(tmp_path: Path) -> None:
    def broken() -> Iterator[NamedRow]:
        yield "links", ("s", "t", "", "")
        raise OSError(5, "I/O error")

    with (tmp_path / "all.db").open("wb") as file, pytest.raises(OSError, match="I/O error"):
        write_sqlite(file, tmp_path, [TABLES["links"]], broken())
    with open("/dev/full", "wb", buffering=0) as full, pytest.raises(OSError, match="No space left"):
        write_parquet(full, TABLES["links"], [("s", "t", "a", "")])
    assert [path.name for path in tmp_path.iterdir()] == ["all.db"]
