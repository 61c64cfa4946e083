"""Several machines crawl together, as processes with folders of their own: what they do is counted by the sites that
they crawl, and by their database."""

import asyncio
from asyncio.subprocess import Process
from pathlib import Path
from typing import Final

import psycopg
import pytest

from cluster.quotes import quotes_in
from cluster.sites import CountingSites, sites_with_pages
from counting_sites import read_log, repeated, too_soon
from journey.goodbot_process import Ended, ended, goodbot, start
from journey.test_kill import check_archive
from machines_under_faults import OPTIONS, Cluster, Step, counting
from postgres_server import PostgresServer
from unreliable_proxy import UnreliableProxy

SITES: Final = 12
PAGES: Final = 20
STEPS: Final = (
    Step(2.0, "kill"),
    Step(4.0, "stop"),
    Step(10.0, "start"),
    Step(42.0, "cut"),
    Step(48.0, "continue"),
    Step(60.0, "restart"),
    Step(82.0, "mend"),
)


async def machine(folder: Path, dsn: str, *seeds: str) -> Process:
    """Starts a machine; in a process group of its own, so that its workers get the same signals."""
    return await start("crawl", *seeds, "--into", folder, "--frontier", dsn, *(OPTIONS if seeds else ()), group=True)


def urls(dsn: str, where: str = "true") -> list[str]:
    with psycopg.connect(dsn) as connection:
        query = f"SELECT origin || path FROM urls JOIN hosts ON hosts.id = host WHERE {where}"
        return [url for (url,) in connection.execute(query)]


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


@pytest.mark.long
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
def test_no_site_is_asked_too_soon_and_no_page_is_lost_while_machines_fail(
    tmp_path: Path, postgres: PostgresServer, postgres_dsn: str
) -> None:
    """One machine is killed and started again, one is stopped, one is cut off from the database, and the server is
    restarted. The stopped one and the cut off one go on when others have taken their hosts over."""
    sites, pages = 30, 40
    with UnreliableProxy(postgres.port) as proxy, counting(sites, pages, tmp_path) as (port, log):
        result = Cluster(tmp_path, postgres, proxy, sites, pages).run(port, log, STEPS, most_s=600.0)
        requests = read_log(log)
    assert result.steps == [step.what for step in STEPS], "everything happened before the crawl ended"
    assert result.statuses == {"a": 0, "b": 0, "c": 0}
    assert list(too_soon(requests)) == []
    assert (result.lost, result.twice_in_table, result.not_archived) == (0, 0, 0)
    assert result.repeated <= result.allowed_repeats
    assert repeated(requests) == result.repeated
    assert len(urls(postgres_dsn)) == sites * pages
    for name in "abc":
        check_archive(tmp_path / name)
    joined_again = "this machine sent no heartbeat for too long: others have taken its hosts over; joining again"
    said = {name: quotes_in((tmp_path / f"{name}.log").read_text()) for name in "abc"}
    assert all(joined_again in said[name] for name in "bc"), said
    away = "the database server does not answer (…): waiting; results are kept"
    for quote in (away, "the database server answers again", "… sent no heartbeat for too long: taking over its hosts"):
        assert any(quote in quotes for quotes in said.values()), (quote, said)
