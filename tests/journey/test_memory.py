"""What a whole crawl takes of the machine's memory when forty hosts send the largest things they can."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import psutil
import pytest

from journey.goodbot_process import Ended, ended, goodbot, start
from page.test_pdf import many_long_links, packed_blanks, packed_text
from webserver import Route, WebServer, answer

HOSTS = 40
URLS = 50_000
MEMORY_MB = 400
_SAMPLE_S = 0.05

pytestmark = pytest.mark.long


@asynccontextmanager
async def sites(routes: dict[str, Route], fallbacks: Sequence[Route]) -> AsyncIterator[list[str]]:
    """The home pages of forty hosts."""
    async with AsyncExitStack() as stack:
        servers = [WebServer(routes, fallback=fallbacks[number % len(fallbacks)]) for number in range(HOSTS)]
        for server in servers:
            await stack.enter_async_context(server)
        yield [server.url("/") for server in servers]


async def crawled(*arguments: str | Path) -> tuple[Ended, float]:
    """How the crawl ended, and the most that all its processes had in memory at once, in MB."""
    process = await start("crawl", *arguments, preloaded=False)
    sampling = asyncio.create_task(_most_mb(process.pid))
    end = await ended(process)
    return end, await sampling


async def _most_mb(pid: int) -> float:
    most = 0
    while sizes := _sizes(pid):
        most = max(most, sum(sizes))
        await asyncio.sleep(_SAMPLE_S)
    return most / 1024 / 1024


def _sizes(pid: int) -> list[int]:
    """Resident bytes of each process of the crawl; empty when it has ended. Pages they share count in each."""
    try:
        crawl = psutil.Process(pid)
        processes = [crawl, *crawl.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []
    sizes = []
    for process in processes:
        try:
            sizes.append(process.memory_info().rss)
        except psutil.NoSuchProcess:
            pass  # a document is read
    return [size for size in sizes if size]


def full_sitemap() -> bytes:
    return b"<urlset>%b</urlset>" % b"".join(
        b"<url><loc>/articles/2024/a-name-as-long-as-those-of-many-articles-are-%d.html</loc>"
        b"<lastmod>2024-01-01</lastmod><changefreq>daily</changefreq><priority>0.8</priority></url>\n" % number
        for number in range(URLS)
    )


@pytest.mark.parametrize(("workers", "packed"), [(1, False), (2, False), (2, True)])
async def test_forty_full_sitemaps_at_once(tmp_path: Path, workers: int, packed: bool) -> None:
    headers, body = [("Content-Type", "application/xml")], full_sitemap()
    assert len(body) > 8_000_000
    if packed:
        headers, body = [*headers, ("Content-Encoding", "gzip")], gzip.compress(body, 1)
    routes: dict[str, Route] = {
        "/robots.txt": answer(b"Sitemap: /s.xml\n", headers=[("Content-Type", "text/plain")]),
        "/": answer(b"<title>Home</title>"),
        "/s.xml": answer(body, headers=headers),
    }
    pages = ["--max-pages", str(2 * HOSTS)]
    async with sites(routes, [answer(b"", status=404)]) as homes:
        end, most_mb = await crawled(
            *homes, *pages, "--into", tmp_path / "crawl", "--allow-private", "--workers", str(workers), "--json"
        )
    assert end.status == 0, end.err
    status = (await goodbot("status", "--in", tmp_path / "crawl", "--json")).json
    assert status["states"]["ready"] == HOSTS * URLS, status
    assert most_mb < MEMORY_MB


@pytest.mark.parametrize("workers", [1, 2])
async def test_forty_hostile_documents_at_once(tmp_path: Path, workers: int) -> None:
    headers = [("Content-Type", "application/pdf")]
    bombs = [answer(bomb(), headers=headers) for bomb in (packed_blanks, packed_text, many_long_links)]
    async with sites({}, bombs) as homes:
        end, most_mb = await crawled(
            *homes,
            *("--max-pages", str(HOSTS), "--into", tmp_path / "crawl"),
            *("--allow-private", "--workers", str(workers), "--json"),
        )
    assert end.status == 0, end.err
    assert json.loads(end.out.splitlines()[-1])["visited"] == HOSTS
    assert most_mb < MEMORY_MB
