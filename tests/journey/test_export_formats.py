"""`goodbot export --format parquet|sqlite`: the rows of the JSON lines, in files that other programs read."""

import asyncio
import json
import os
import pty
import re
import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest

from disks import MOUNTS, small_disk
from goodbot.exports.tables import TABLE_NAMES, TABLES
from journey.goodbot_process import goodbot, start
from journey.test_archive_damage import overwrite
from journey.test_interrupted import program
from programs import ROOT
from webserver import Route, WebServer, answer

SQL = ("DuckDB", "SQLite")
HTML = [("Content-Type", "text/html; charset=utf-8")]
PAGES = 8


def site() -> dict[str, Route]:
    links = "".join(f'<a href="/{number}" rel="Ugc next">to {number}</a>' for number in range(PAGES))
    odd = b"<title>a\0b &#0; &#xD800; \xf0\x9f\xa6\x80</title><p>" + b"\xff\0 \xed\xa0\x80 " + b"long " * 200_000
    pages: dict[str, Route] = {
        f"/{n}": answer(b"<html lang=en><title>%d</title><p>%s" % (n, os.urandom(3000).hex().encode()), headers=HTML)
        for n in range(PAGES)
    }
    more = b'<a href="/odd?a=%00%FF">odd</a> <a href="/none">a link</a>'
    return {"/": answer(links.encode() + more, headers=HTML), "/odd": answer(odd), **pages}


@pytest.fixture
async def server() -> AsyncIterator[WebServer]:
    async with WebServer(site()) as started:
        yield started


@pytest.fixture
async def folder(tmp_path: Path, server: WebServer) -> Path:
    made = tmp_path / "crawl"
    seeds = server.url("/"), server.url("/odd"), server.url("/missing")
    result = await goodbot("crawl", *seeds, "--into", made, "--allow-private", "--no-index")
    assert result.status == 0, result.err
    return made


def duckdb_rows(path: Path, table: str) -> list[dict[str, Any]]:
    """The rows of a Parquet file as DuckDB reads them, with times in Unix seconds."""
    with duckdb.connect() as connection:
        columns = ", ".join(
            f"epoch_us({column.name}) / 1e6 AS {column.name}" if column.kind == "time" else column.name
            for column in TABLES[table].columns  # type: ignore[index]
        )
        found = connection.execute(f"SELECT {columns} FROM read_parquet(?)", [str(path)])
        names = [each[0] for each in found.description or ()]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def to_microseconds(row: dict[str, Any]) -> dict[str, Any]:
    """The row with its time as exact as in Parquet."""
    return {name: round(value * 1e6) / 1e6 if name == "fetched_at" and value else value for name, value in row.items()}


def sqlite_rows(path: Path, table: str) -> list[dict[str, Any]]:
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        names = ", ".join(TABLES[table].names)  # type: ignore[index]
        return [dict(row) for row in connection.execute(f"SELECT {names} FROM {table} ORDER BY rowid")]


async def test_every_format_has_the_rows_of_the_json_lines(folder: Path, tmp_path: Path) -> None:
    database = tmp_path / "all.db"
    database.write_text("old")
    whats = [word for name in reversed(TABLE_NAMES) for word in ("--what", name)]
    written = await goodbot("export", "--in", folder, *whats, "--format", "sqlite", "-o", database)
    assert (written.status, written.out, written.err) == (0, "", "")
    for name in TABLE_NAMES:
        lines = (await goodbot("export", "--in", folder, "--what", name)).lines
        assert len(lines) >= PAGES
        path = tmp_path / f"{name}.parquet"
        written = await goodbot("export", "--in", folder, "--what", name, "--format", "parquet", "-o", path)
        assert (written.status, written.out, written.err) == (0, "", "")
        assert duckdb_rows(path, name) == [to_microseconds(line) for line in lines]
        assert sqlite_rows(database, name) == lines
    assert any(len(row["text"]) > 900_000 for row in duckdb_rows(tmp_path / "pages.parquet", "pages"))


async def test_the_queries_of_the_how_to(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "docs" / "how-to" / "export.md").read_text(encoding="utf-8")
    (for_duckdb,), (for_sqlite,) = (re.findall(rf"```sql\n-- {name}\n(.*?)```", text, re.DOTALL) for name in SQL)
    monkeypatch.chdir(tmp_path)
    parquet = ("--what", "urls", "--format", "parquet", "-o", tmp_path / "urls.parquet")
    assert (await goodbot("export", "--in", folder, *parquet)).status == 0
    database = ("--what", "urls", "--what", "links", "--format", "sqlite", "-o", tmp_path / "crawl.db")
    assert (await goodbot("export", "--in", folder, *database)).status == 0
    with duckdb.connect() as connection:
        ((host, pages),) = connection.execute(for_duckdb).fetchall()
    assert (host.partition(":")[0], pages) == ("127.0.0.1", 3)
    with closing(sqlite3.connect("crawl.db")) as connection_:
        links = connection_.execute(for_sqlite).fetchall()
    origin = links[0][0]
    assert sorted(links) == [
        (origin, f"{origin}none", "a link", 404),
        (origin, f"{origin}odd?a=%00%FF", "odd", 404),
    ]


async def test_both_can_be_piped(folder: Path, tmp_path: Path) -> None:
    for form in ("parquet", "sqlite"):
        path = tmp_path / form
        assert (await goodbot("export", "--in", folder, "--what", "links", "--format", form, "-o", path)).status == 0
        process = await start("export", "--in", folder, "--what", "links", "--format", form)
        out, err = await process.communicate()
        assert (process.returncode, err, out == path.read_bytes()) == (0, b"", True)


async def test_a_reader_that_goes_away_is_no_error(folder: Path) -> None:
    for form in ("parquet", "sqlite"):
        export = f"{sys.executable} -m goodbot export --in {folder} --what pages --format {form}"
        process = await asyncio.create_subprocess_exec(
            *("bash", "-c", f"set -o pipefail; {export} | head -c 2"),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await process.communicate()
        assert (process.returncode, len(out), err) == (0, 2, b"")


async def test_an_empty_crawl_has_empty_tables(tmp_path: Path) -> None:
    async with WebServer({"/robots.txt": answer(b"User-agent: *\nDisallow: /")}) as server:
        crawl = tmp_path / "crawl"
        await goodbot("crawl", server.url("/"), "--into", crawl, "--allow-private")
    database = tmp_path / "all.db"
    options = ("--what", "pages", "--what", "links", "--format", "sqlite", "-o", database)
    assert (await goodbot("export", "--in", crawl, *options)).status == 0
    for name in ("pages", "links"):
        path = tmp_path / f"{name}.parquet"
        assert (await goodbot("export", "--in", crawl, "--what", name, "--format", "parquet", "-o", path)).status == 0
        assert duckdb_rows(path, name) == sqlite_rows(database, name) == []


async def test_what_can_be_read_of_a_damaged_archive_is_written(folder: Path, tmp_path: Path) -> None:
    overwrite(folder)
    lines = await goodbot("export", "--in", folder, "--what", "pages")
    assert (lines.status, 0 < len(lines.lines) < PAGES + 2) == (3, True)
    for form, rows in {"parquet": duckdb_rows, "sqlite": sqlite_rows}.items():
        path = tmp_path / form
        path.write_text("old")
        written = await goodbot("export", "--in", folder, "--what", "pages", "--format", form, "-o", path)
        assert (written.status, written.complaint) == (3, lines.complaint)
        assert [to_microseconds(row) for row in rows(path, "pages")] == [to_microseconds(row) for row in lines.lines]


async def test_if_no_document_can_be_read_the_old_file_stays(folder: Path, tmp_path: Path) -> None:
    for file in (folder / "warc").glob("*.warc.gz"):
        file.unlink()
    path = tmp_path / "old"
    path.write_text("old")
    all_tables = ("--what", "urls", "--what", "pages", "--what", "links", "--format", "sqlite")
    for options in (("--what", "pages"), ("--what", "pages", "--format", "parquet"), all_tables, ("--what", "warc")):
        failed = await goodbot("export", "--in", folder, *options, "-o", path)
        assert (failed.status, path.read_text()) == (3, "old"), options


@pytest.mark.parametrize("mode", ["WAL", "DELETE"])
async def test_a_database_that_is_open_elsewhere_is_refused(folder: Path, tmp_path: Path, mode: str) -> None:
    """SQLite would write the old content of the journal into the new file."""
    database, link = tmp_path / "crawl.db", tmp_path / "link.db"
    link.symlink_to(database)
    export = ("export", "--in", folder, "--what", "urls", "--format", "sqlite", "-o")
    with closing(sqlite3.connect(database, isolation_level=None)) as other:
        other.execute(f"PRAGMA journal_mode = {mode}")
        other.execute("CREATE TABLE mine (x)")
        other.execute("BEGIN IMMEDIATE")
        other.executemany("INSERT INTO mine VALUES (?)", [("y" * 3000,)] * 200)
        for path in (database, link):
            refused = await goodbot(*export, path)
            assert refused.status == 2, refused.err
            assert "belongs to the database crawl.db: a program has it open" in refused.complaint
        other.execute("COMMIT")
        assert other.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert (await goodbot(*export, database)).status == 0
    assert sqlite_rows(database, "urls")


@pytest.mark.parametrize("form", ["parquet", "sqlite"])
async def test_ctrl_c_keeps_the_old_file(folder: Path, tmp_path: Path, form: str) -> None:
    path = tmp_path / "out" / "old"
    path.parent.mkdir()
    path.write_text("old")
    arguments = ("export", "--in", folder, "--what", "pages", "--format", form, "-o", path)
    process = await program(f"goodbot.exports.{form}_file", *arguments, folder=tmp_path)
    _, err = await process.communicate()
    assert (process.returncode, err) == (130, b"goodbot: interrupted\n")
    assert (path.read_text(), list(path.parent.iterdir())) == ("old", [path])


@pytest.mark.parametrize("form", ["parquet", "sqlite"])
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has /dev/full")
async def test_an_output_that_takes_nothing_is_one_line(folder: Path, form: str) -> None:
    options = ("--what", "urls", "--format", form, "-o", "/dev/full")
    failed = await goodbot("export", "--in", folder, *options)
    assert (failed.status, failed.err) == (3, "goodbot: cannot write the output: No space left on device\n")


@MOUNTS
@pytest.mark.parametrize("form", ["parquet", "sqlite"])
async def test_a_full_disk_keeps_the_old_file(folder: Path, tmp_path: Path, form: str) -> None:
    with small_disk(tmp_path / "disk", 1) as disk:
        path = disk / "old"
        path.write_text("old")
        (disk / "filler").write_bytes(bytes(1024 * 1024 - 16 * 1024))
        written = await goodbot("export", "--in", folder, "--what", "pages", "--format", form, "-o", path)
        assert (written.status, len(written.err.splitlines())) == (3, 1), written.err
        assert "full" in written.err or "No space left" in written.err
        assert (path.read_text(), sorted(each.name for each in disk.iterdir())) == ("old", ["filler", "old"])


REFUSED = [
    ("--what urls --what pages", "one table"),
    ("--what urls --what pages --format parquet", "one table"),
    ("--what urls --what urls --format sqlite", "give each --what once"),
    ("--what warc --format jsonl", "leave out --format"),
    ("--what warc --format sqlite", "leave out --format"),
    ("--what warc --what urls", "leave out the other --what"),
    ("--what urls --json --format parquet", "--json means --format jsonl"),
    ("--what urls --format csv", "csv"),
    ("--what words", "words"),
]


@pytest.mark.parametrize(("typed", "said"), REFUSED)
async def test_what_contradicts_itself_is_bad_input(folder: Path, tmp_path: Path, typed: str, said: str) -> None:
    path = tmp_path / "old"
    path.write_text("old")
    refused = await goodbot("export", "--in", folder, *typed.split(), "-o", path)
    assert (refused.status, refused.out, path.read_text()) == (2, "", "old")
    assert said in refused.complaint


async def test_json_means_json_lines(folder: Path) -> None:
    plain = await goodbot("export", "--in", folder, "--what", "urls")
    for options in (("--json",), ("--format", "jsonl"), ("--format", "jsonl", "--json")):
        assert (await goodbot("export", "--in", folder, "--what", "urls", *options)).out == plain.out
    assert list(json.loads(plain.out.splitlines()[0])) == list(TABLES["urls"].names)


@pytest.mark.parametrize("form", ["parquet", "sqlite"])
async def test_not_to_a_terminal(folder: Path, form: str) -> None:
    ours, theirs = pty.openpty()
    process = await asyncio.create_subprocess_exec(
        *("bash", "-c", f'exec "$0" "$@" > {os.ttyname(theirs)}'),
        *(sys.executable, "-m", "goodbot", "export", "--what", "urls", "--format", form, "--in", str(folder)),
        stderr=asyncio.subprocess.PIPE,
    )
    _, err = await process.communicate()
    os.close(ours)
    os.close(theirs)
    assert process.returncode == 2
    assert b"is not for a terminal: add -o" in err


async def test_without_pyarrow_one_line_says_what_to_install(folder: Path, tmp_path: Path) -> None:
    hide = "import sys; sys.modules['pyarrow'] = None; from goodbot.__main__ import run; sys.exit(run())"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", hide, "export", "--in", str(folder), "--what", "urls"),
        *("--format", "parquet", "-o", str(tmp_path / "urls.parquet")),
        stderr=asyncio.subprocess.PIPE,
    )
    _, err = await process.communicate()
    assert (process.returncode, len(err.splitlines())) == (2, 1)
    assert b"--format parquet needs pyarrow: install goodbot with the extra fast" in err
    assert not (tmp_path / "urls.parquet").exists()


async def test_a_crawl_without_archive_has_urls_only(tmp_path: Path, server: WebServer) -> None:
    crawl = tmp_path / "crawl"
    options = ("--into", crawl, "--allow-private", "--no-archive", "--no-index", "--max-pages", "1")
    assert (await goodbot("crawl", server.url("/"), *options)).status == 0
    process = await start("export", "--in", crawl, "--what", "pages", "--format", "parquet")
    out, err = await process.communicate()
    assert (process.returncode, out) == (2, b"")
    assert b"no archive" in err
