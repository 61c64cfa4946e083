"""Machines whose database has trouble: its server is away when they start, its disk is full; and a machine whose clock
is wrong."""

import asyncio
import json
import os
import shutil
import signal
import time
from asyncio.subprocess import Process
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from subprocess import CalledProcessError
from tempfile import TemporaryDirectory
from typing import Final

import psycopg
import pytest

from cluster.quotes import quotes_in
from cluster.sites import sites_with_pages
from cluster.test_several_machines import SITES, all_end, check, machine
from disks import MOUNTS, small_disk
from journey.goodbot_process import ended, goodbot, start
from journey.test_kill import check_archive
from machines_under_faults import OPTIONS
from postgres_server import PostgresServer, programs
from web.library import Visitor

PAGES: Final = 20
HOUR_S: Final = 3600


async def has_said(process: Process, text: str) -> str:
    """Returns the line with this text as soon as the process has written it to standard error."""
    assert process.stderr is not None
    said = []
    while line := (await process.stderr.readline()).decode():
        if text in line:
            return line
        said.append(line)
    raise AssertionError("".join(said))


# ---- the server is away at the start --------------------------------------------------------------------------------


@pytest.mark.long
async def test_a_crawl_that_starts_waits_for_the_server(
    tmp_path: Path, postgres: PostgresServer, postgres_dsn: str
) -> None:
    async with sites_with_pages(1, 3, tmp_path) as sites:
        postgres.stop("fast")
        try:
            waiting = await machine(tmp_path / "a", postgres_dsn, sites.start_page())
            line = await has_said(waiting, "the database server does not answer")
            assert line.endswith("; trying again for 60 s\n")
            assert "; trying again for 60 s" in quotes_in(line)
            given_up = await machine(tmp_path / "b", postgres_dsn, sites.start_page())
            await has_said(given_up, "trying again")
            given_up.send_signal(signal.SIGINT)
            assert (await ended(given_up)).status == 130
        finally:
            postgres.start()
        result = await ended(waiting)
        assert result.status == 0, result.err
        assert "does not answer" not in result.err, "it is said once"
        assert sum(check_archive(tmp_path / "a").values()) == 3


async def test_a_second_interrupt_while_the_server_is_away(
    tmp_path: Path, postgres: PostgresServer, postgres_dsn: str
) -> None:
    async with sites_with_pages(1, 200, tmp_path) as sites:
        crawl = await machine(tmp_path / "a", postgres_dsn, sites.start_page())
        await sites.has_had(5)
        postgres.stop("fast")
        try:
            await has_said(crawl, "waiting; results are kept")
            crawl.send_signal(signal.SIGINT)
            await has_said(crawl, "Ctrl-C")
            crawl.send_signal(signal.SIGINT)
            result = await ended(crawl)
        finally:
            postgres.start()
    assert (result.status, "Traceback" in result.err) == (130, False), result.err


async def test_a_copy_of_a_folder_does_not_crawl_beside_it(tmp_path: Path, postgres_dsn: str) -> None:
    async with sites_with_pages(1, 200, tmp_path) as sites:
        crawl = await machine(tmp_path / "a", postgres_dsn, sites.start_page())
        await sites.has_had(5)
        shutil.copytree(tmp_path / "a", tmp_path / "copy")
        copy = await ended(await machine(tmp_path / "copy", postgres_dsn))
        assert copy.status == 2
        assert "if one of the folders is a copy, remove the file writer from it" in copy.complaint
        (tmp_path / "copy" / "writer").unlink()
        joined = await machine(tmp_path / "copy", postgres_dsn)
        await has_said(joined, "joins the crawl of 1 other machine")
        for process in (crawl, joined):
            process.send_signal(signal.SIGINT)
        assert [result.status for result in await all_end(crawl, joined)] == [130, 130]


def accepts(dsn: str) -> bool:
    try:
        psycopg.connect(dsn).close()
    except psycopg.OperationalError:
        return False
    return True


async def test_a_password_in_the_address_is_used_to_the_end(tmp_path: Path, postgres: PostgresServer) -> None:
    """It is not saved, but the crawl itself has it."""
    with psycopg.connect(postgres.dsn(), autocommit=True) as connection:
        (hba,) = connection.execute("SHOW hba_file").fetchone() or ("",)
        rules = Path(hba).read_text()
        Path(hba).write_text("host all with_password 127.0.0.1/32 scram-sha-256\n" + rules)
        connection.execute("CREATE ROLE with_password LOGIN PASSWORD 'secret'")
        connection.execute("SELECT pg_reload_conf()")
        connection.execute("CREATE DATABASE of_password OWNER with_password")
    try:
        dsn = postgres.dsn("of_password").replace("goodbot@", "with_password:secret@")
        while accepts(dsn.replace(":secret", "")):
            pass  # until the server has read the rules
        async with sites_with_pages(1, 3, tmp_path) as sites:
            result = await ended(await machine(tmp_path / "a", dsn, sites.start_page()))
    finally:
        with psycopg.connect(postgres.dsn(), autocommit=True) as connection:
            connection.execute("DROP DATABASE of_password WITH (FORCE)")
            connection.execute("DROP ROLE with_password")
            Path(hba).write_text(rules)
            connection.execute("SELECT pg_reload_conf()")
    assert (result.status, "secret" in result.err + result.out) == (0, False), result.err
    assert "secret" not in (tmp_path / "a" / "goodbot.toml").read_text()


async def test_pages_are_searched_while_the_server_is_away(
    tmp_path: Path, postgres: PostgresServer, postgres_dsn: str
) -> None:
    folder = tmp_path / "a"
    async with sites_with_pages(1, 3, tmp_path) as sites:
        assert (await ended(await machine(folder, postgres_dsn, sites.start_page()))).status == 0
    postgres.stop("fast")
    try:
        serving = await start("serve", "--in", folder, "--port", "0", "--json")
        assert serving.stdout is not None
        visitor = Visitor(json.loads(await serving.stdout.readline())["url"])
        found = await asyncio.to_thread(visitor.ask, "/api/search?q=page")
        assert (found.status, json.loads(found.text)["total"]) == (200, 3)
        metrics = await asyncio.to_thread(visitor.ask, "/metrics")
        assert {"goodbot_database_up 0.0", "goodbot_index_documents 3.0"} <= {*metrics.text.splitlines()}
        serving.send_signal(signal.SIGINT)
        result = await ended(serving)
        assert result.status == 0
        assert "WARNING goodbot.crawl_admin: the database server does not answer" in result.err
    finally:
        postgres.start()


# ---- a full disk ----------------------------------------------------------------------------------------------------


@pytest.fixture
def small_database(postgres: PostgresServer) -> Iterator[tuple[str, Path]]:
    """A database on a small disk of its own; its address, and the disk."""
    with (
        TemporaryDirectory(prefix="goodbot-disk-") as folder,
        small_disk(Path(folder) / "disk", 48) as disk,
        psycopg.connect(postgres.dsn(), autocommit=True) as connection,
    ):
        Path(folder).chmod(0o755)
        (disk / "tables").mkdir(mode=0o700)
        shutil.chown(disk / "tables", "postgres", "postgres")
        connection.execute(f"CREATE TABLESPACE small LOCATION '{disk / 'tables'}'")
        connection.execute("CREATE DATABASE small TABLESPACE small")
        yield postgres.dsn("small"), disk
        connection.execute("DROP DATABASE small WITH (FORCE)")
        connection.execute("DROP TABLESPACE small")


def fill(disk: Path) -> Path:
    """Fills a disk; returns the file to remove."""
    ballast = disk / "ballast"
    with suppress(OSError), ballast.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    assert shutil.disk_usage(disk).free == 0
    return ballast


@MOUNTS
@pytest.mark.long
async def test_a_full_disk_of_the_server_loses_nothing(tmp_path: Path, small_database: tuple[str, Path]) -> None:
    dsn, disk = small_database
    pages = 30
    async with sites_with_pages(SITES, pages, tmp_path) as sites:
        seeds = [sites.start_page(site) for site in range(SITES)]
        first = await machine(tmp_path / "a", dsn, *seeds)
        await sites.has_had(2 * SITES)
        ballast = fill(disk)
        line = await has_said(first, "has no room")
        assert line.startswith("the database server has no room (user=goodbot host=127.0.0.1 ")
        quote = "the database server has no room (…: No space left on device): waiting; results are kept"
        assert quotes_in(line) == [quote]
        shown = await goodbot("status", "--in", tmp_path / "a")
        assert "has no room" in shown.out, shown.out
        ballast.unlink()
        (result,) = await all_end(first)
        assert result.status == 0, result.err
        assert "finished" in result.out
    check(dsn, sites, SITES * pages, [tmp_path / "a"])


@MOUNTS
@pytest.mark.long
async def test_a_write_ahead_log_without_room_loses_nothing(tmp_path: Path) -> None:
    """PostgreSQL ends itself then, and cannot start until there is room."""
    bin_ = programs()
    if bin_ is None:
        pytest.skip("PostgreSQL is not installed (Debian's package postgresql)")
    pages = 30
    with (
        TemporaryDirectory(prefix="goodbot-disk-") as folder,
        small_disk(Path(folder) / "disk", 200) as disk,
    ):
        Path(folder).chmod(0o755)
        if os.geteuid() == 0:
            shutil.chown(disk, "postgres", "postgres")
        server = PostgresServer(disk, bin_)
        server.create()
        server.start()
        try:
            async with sites_with_pages(SITES, pages, tmp_path) as sites:
                seeds = [sites.start_page(site) for site in range(SITES)]
                crawling = await machine(tmp_path / "a", server.dsn(), *seeds)
                await sites.has_had(4 * SITES)
                ballast = fill(disk)
                await asyncio.to_thread(use_up_the_log, server.dsn())
                await has_said(crawling, "waiting: the database server ")
                ballast.unlink()
                with suppress(CalledProcessError):  # it has ended by itself
                    server.stop()
                server.start()
                result = await ended(crawling)
                assert result.status == 0, result.err
                assert "the database server answers again" in result.err
            check(server.dsn(), sites, SITES * pages, [tmp_path / "a"])
        finally:
            server.stop()


def use_up_the_log(dsn: str) -> None:
    """Writes to the write-ahead log until the server ends, or refuses connections."""
    with suppress(psycopg.OperationalError):
        while True:
            with psycopg.connect(dsn, autocommit=True) as connection:
                connection.execute("SELECT pg_logical_emit_message(true, 'test', repeat('x', 1000000))")


# ---- a wrong clock --------------------------------------------------------------------------------------------------

_WRONG_CLOCK: Final = f"""import time
now, now_ns = time.time, time.time_ns
time.time = lambda: now() + {HOUR_S}
time.time_ns = lambda: now_ns() + {HOUR_S} * 10**9
open(__file__ + ".used", "w").close()
"""

_TIMES: Final = """
  SELECT joined_at FROM machines UNION ALL SELECT ended_at FROM machines UNION ALL SELECT at FROM heartbeats
  UNION ALL SELECT at FROM visits UNION ALL SELECT at FROM seen UNION ALL SELECT changed_at FROM seen
  UNION ALL SELECT at FROM found UNION ALL SELECT fetched_at FROM robots UNION ALL SELECT first_at FROM robots_versions
  UNION ALL SELECT first_at FROM courtesies UNION ALL SELECT last_at FROM courtesies
  UNION ALL SELECT ready_at FROM hosts WHERE ready_at > 0"""


@pytest.mark.long
async def test_a_machine_whose_clock_is_an_hour_off(tmp_path: Path, postgres_dsn: str) -> None:
    """Its times in the tables are those of the database, and it waits as the other one does."""
    (tmp_path / "sitecustomize.py").write_text(_WRONG_CLOCK)
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    folders = [tmp_path / name for name in "ab"]
    begun_at = time.time()
    async with sites_with_pages(SITES, PAGES, tmp_path) as sites:
        seeds = [sites.start_page(site) for site in range(SITES)]
        command: tuple[str | Path, ...] = "--into", folders[0], "--frontier", postgres_dsn, *OPTIONS
        wrong = await start("crawl", *seeds, *command, group=True, preloaded=False, settings={"PYTHONPATH": path})
        await sites.has_had(SITES)
        right = await machine(folders[1], postgres_dsn)
        results = await all_end(wrong, right)
        assert [result.status for result in results] == [0, 0], results
    check(postgres_dsn, sites, SITES * PAGES, folders)
    assert min(sum(check_archive(folder).values()) for folder in folders) > 0
    with psycopg.connect(postgres_dsn) as connection:
        times = [at for (at,) in connection.execute(_TIMES) if at is not None]
    assert (tmp_path / "sitecustomize.py.used").exists()
    assert len(times) > SITES * PAGES
    assert begun_at - 60 < min(times)
    assert max(times) < begun_at + HOUR_S / 2
