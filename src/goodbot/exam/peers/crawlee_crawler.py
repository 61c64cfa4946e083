"""Runs Crawlee for Python for the exam, as in its documentation. It follows every link on the hosts of the seeds.

python crawlee_crawler.py SEED_FILE PROXY CA_FILE
"""

import asyncio
import sys
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

from crawlee import ConcurrencySettings
from crawlee.crawlers import ParselCrawler, ParselCrawlingContext
from crawlee.http_clients import HttpxHttpClient
from crawlee.request_loaders import ThrottlingRequestManager
from crawlee.storage_clients import MemoryStorageClient
from crawlee.storages import RequestQueue

CRAWLERS = 8
USER_AGENT = "ExamBot/1.0 (+mailto:exam@example.org)"


async def crawl(number: int, seeds: list[str], hosts: set[str], proxy: str, ca_file: str) -> None:
    """Crawls a share of the seeds, one request at a time: Crawlee limits requests by crawler, not by host."""
    storage = MemoryStorageClient()
    # It keeps Crawl-delay and the times that status 429 asks for.
    queue = ThrottlingRequestManager(
        await RequestQueue.open(alias=f"share-{number}", storage_client=storage),
        domains=[urlsplit(seed).hostname or "" for seed in seeds],
        request_manager_opener=RequestQueue.open,
    )
    crawler = ParselCrawler(
        http_client=HttpxHttpClient(
            header_generator=None, headers={"User-Agent": USER_AGENT}, proxy=proxy, verify=ca_file
        ),
        respect_robots_txt_file=True,
        concurrency_settings=ConcurrencySettings(max_concurrency=1, desired_concurrency=1, max_tasks_per_minute=600),
        navigation_timeout=timedelta(seconds=30),
        request_manager=queue,
        storage_client=storage,
    )

    @crawler.router.default_handler
    async def follow(context: ParselCrawlingContext) -> None:
        await context.enqueue_links(
            strategy="all",
            transform_request_function=lambda request: (
                "unchanged" if urlsplit(request["url"]).hostname in hosts else "skip"
            ),
        )

    await crawler.run(seeds)


async def crawl_all(seeds: list[str], proxy: str, ca_file: str) -> None:
    hosts = {urlsplit(seed).hostname or "" for seed in seeds}
    shares = [seeds[n::CRAWLERS] for n in range(CRAWLERS)]
    await asyncio.gather(*(crawl(n, share, hosts, proxy, ca_file) for n, share in enumerate(shares) if share))


if __name__ == "__main__":
    asyncio.run(crawl_all(Path(sys.argv[1]).read_text(encoding="ascii").split(), *sys.argv[2:]))
