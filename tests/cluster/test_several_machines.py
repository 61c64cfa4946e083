"""Several machines crawl together, as processes with folders of their own: what they do is counted by the sites that
they crawl, and by their database."""

import asyncio
import os
import signal
from asyncio.subprocess import Process
from pathlib import Path
from typing import Final

import psycopg
import pytest

from cluster.quotes import quotes_in
from cluster.sites import CountingSites, sites_with_pages
from counting_sites import repeated, too_soon
from journey.goodbot_process import Ended, ended, goodbot, start
from journey.test_kill import check_archive
from postgres_server import PostgresServer

SITES: Final = 12
PAGES: Final = 20
OPTIONS: Final = ("--allow-private", "--scope", "all", "--delay", "0.1", "--workers", "1")


async def machine(folder: Path, dsn: str, *seeds: str) -> Process:
    """Starts a machine; in a process group of its own, so that its workers get the same signals."""
    return await start("crawl", *seeds, "--into", folder, "--frontier", dsn, *(OPTIONS if seeds else ()), group=True)


def urls(dsn: str, where: str = "true") -> list[str]:
    with psycopg.connect(dsn) as connection:
        query = f"SELECT origin || path FROM urls JOIN hosts ON hosts.id = host WHERE {where}"
        return [url for (url,) in connection.execute(query)]


def leased(dsn: str, name: str) -> int:
    """How many URLs the living machine in the folder with this writer has leased."""
    with psycopg.connect(dsn) as connection:
        query = """SELECT count(*) FROM leased JOIN hosts ON hosts.id = leased.host
          JOIN partitions ON number = partition JOIN machines ON machines.id = machine WHERE writer = %s"""
        (count,) = connection.execute(query, (name,)).fetchone() or (0,)
        return int(count)


def writer(folder: Path) -> str:
    return (folder / "writer").read_text().strip()


async def all_end(*processes: Process) -> list[Ended]:
    return list(await asyncio.gather(*(ended(process) for process in processes)))


def check(dsn: str, sites: CountingSites, pages: int, folders: list[Path]) -> None:
    """Every page is visited, once in the table, and in an archive; no site was asked sooner than it wanted."""
    assert list(too_soon(sites.requests)) == []
    known = urls(dsn)
    assert len(known) == len(set(known)) == pages
    assert len(urls(dsn, "state = 8 OR state = 3")) == pages
    archived = set().union(*(check_archive(folder) for folder in folders))
    assert archived == set(known)


async def test_machines_that_join_share_the_crawl(tmp_path: Path, postgres_dsn: str) -> None:
    folders = [tmp_path / name for name in "abc"]
    async with sites_with_pages(SITES, PAGES, tmp_path) as sites:
        seeds = [sites.start_page(site) for site in range(SITES)]
        first = await machine(folders[0], postgres_dsn, *seeds)
        await sites.has_had(SITES)
        others = [await machine(folder, postgres_dsn) for folder in folders[1:]]
        results = await all_end(first, *others)
        assert [result.status for result in results] == [0, 0, 0], results
        assert "finished" in results[1].out
        assert "2 other" in results[2].err or "1 other" in results[2].err
        requests = sites.requests
    assert repeated(requests) == 0
    assert sum(request.path == "/robots.txt" for request in requests) == SITES
    check(postgres_dsn, sites, SITES * PAGES, folders)
    shares = [sum(check_archive(folder).values()) for folder in folders]
    assert min(shares) > 0, shares
    found = await goodbot("search", "page", *(word for folder in folders for word in ("--in", folder)), "--json")
    assert found.json["total"] == SITES * PAGES
    status = await goodbot("status", "--in", folders[2], "--json")
    assert status.json["states"]["visited"] == SITES * PAGES


@pytest.mark.long
async def test_one_machine_is_killed_one_is_stopped_and_the_server_is_restarted(
    tmp_path: Path, postgres: PostgresServer, postgres_dsn: str
) -> None:
    """The stopped machine goes on when others have taken its hosts over."""
    pages = 120
    folders = [tmp_path / name for name in "abc"]
    async with sites_with_pages(SITES, pages, tmp_path) as sites:
        seeds = [sites.start_page(site) for site in range(SITES)]
        machines = [await machine(folders[0], postgres_dsn, *seeds)]
        await sites.has_had(SITES)
        machines += [await machine(folder, postgres_dsn) for folder in folders[1:]]
        await sites.has_had(300)
        allowed = leased(postgres_dsn, writer(folders[0])) + leased(postgres_dsn, writer(folders[1]))
        os.killpg(machines[0].pid, signal.SIGKILL)
        os.killpg(machines[1].pid, signal.SIGSTOP)
        await asyncio.sleep(5.0)
        postgres.stop()
        await asyncio.sleep(3.0)
        postgres.start()
        await asyncio.sleep(35.0)
        os.killpg(machines[1].pid, signal.SIGCONT)
        results = await all_end(*machines)
        assert [result.status for result in results] == [-signal.SIGKILL, 0, 0], results
        for quote, result in (
            ("waiting: the database server does not answer (…), for 0 s; what is done is kept", results[2]),
            ("the database server answers again", results[2]),
            ("… gave no sign for too long: its hosts are taken over", results[2]),
            (
                "this machine gave no sign for too long: others have taken its hosts over; it joins again",
                results[1],
            ),
        ):
            assert quote in quotes_in(result.err), quote
        requests = sites.requests
    assert repeated(requests) <= allowed
    # what the killed machine had not flushed is fetched again by others
    check(postgres_dsn, sites, SITES * pages, folders)
