"""Crawls that index on a disk that fills up: exit status 3, one line, and nothing is lost when there is room again."""

import os
import subprocess
from pathlib import Path

import pytest

from disks import small_disk
from journey.goodbot_process import goodbot
from webserver import Exchange, WebServer, answer

PAGES = 300


async def pages(exchange: Exchange) -> None:
    """300 of each host, each of 300 words of its own."""
    if exchange.target == "/robots.txt":
        await exchange.send(answer(b"", headers=[("Content-Type", "text/plain")]))
        return
    number = int(exchange.target.strip("/") or 0)
    words = " ".join(f"{exchange.header('host')} zebra{number * 7919 + count * 104_729}" for count in range(300))
    links = "".join(f'<a href="/{link}">x</a>' for link in (2 * number + 1, 2 * number + 2) if link < PAGES)
    await exchange.send(answer(f"<title>zebra {number}</title><p>zebra {words}{links}".encode()))


def widen(disk: Path) -> None:
    """Gives a small disk room."""
    subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount")
@pytest.mark.parametrize("workers", ["1", pytest.param("2", marks=pytest.mark.long)])
async def test_a_disk_that_is_full_while_pages_are_indexed(tmp_path: Path, workers: str) -> None:
    with small_disk(tmp_path / "disk", 1) as disk:
        folder = disk / "crawl"
        async with WebServer(fallback=pages) as server, WebServer(fallback=pages) as other:
            seeds = server.url("/"), other.url("/")
            crawl = await goodbot("crawl", *seeds, "--into", folder, "--allow-private", "--workers", workers)
            assert crawl.status == 3, crawl.err
            assert len([line for line in crawl.err.splitlines() if line.startswith("goodbot: ")]) == 1
            widen(disk)
            again = await goodbot("crawl", "--into", folder, "--workers", workers)
            assert again.status == 0, again.err
        found = (await goodbot("search", "zebra", "--in", folder, "--json")).json
        assert found["total"] == 2 * PAGES
