"""Runs Crawl4AI for the exam without a browser, as in its documentation: eight sites at a time.

    python crawl4ai_crawler.py SEED_FILE FOLDER

It follows links itself: BFSDeepCrawlStrategy drops the links of pages with fewer than 50 characters, which Crawl4AI
takes for bot walls. Many pages of the exam are as short.
"""

import asyncio
import sys
from pathlib import Path
from urllib.parse import urldefrag

from crawl4ai import AsyncWebCrawler, BrowserConfig, CacheMode, CrawlerRunConfig, HTTPCrawlerConfig
from crawl4ai.async_crawler_strategy import AsyncHTTPCrawlerStrategy

AT_ONCE = 8
LEVELS = 5
PAGES = 100
USER_AGENT = "ExamBot/1.0 (+mailto:exam@example.org)"

SETTINGS = CrawlerRunConfig(
    check_robots_txt=True,
    cache_mode=CacheMode.BYPASS,
    semaphore_count=1,
    mean_delay=0.2,
    max_range=0.1,
    page_timeout=30_000,
    verbose=False,
)


async def crawl_site(crawler: AsyncWebCrawler, seed: str) -> None:
    """Crawls one site, level by level."""
    seen, level, left = {seed}, [seed], PAGES
    for _ in range(LEVELS + 1):
        level = level[:left]
        left -= len(level)
        results = await crawler.arun_many(level, config=SETTINGS) if level else []
        links = [urldefrag(link["href"]).url for result in results for link in result.links.get("internal", ())]
        level = list(dict.fromkeys(link for link in links if link.startswith(seed) and link not in seen))
        seen.update(level)


async def crawl(seeds: list[str], folder: str) -> None:
    """Crawls the sites of `seeds`, one after another, and removes each seed from the list."""
    http = HTTPCrawlerConfig(headers={"User-Agent": USER_AGENT}, downloads_path=folder)
    # robots.txt is read for the User-Agent of the BrowserConfig.
    browser = BrowserConfig(user_agent=USER_AGENT, verbose=False)
    async with AsyncWebCrawler(crawler_strategy=AsyncHTTPCrawlerStrategy(http), config=browser) as crawler:
        while seeds:
            await crawl_site(crawler, seeds.pop(0))


async def crawl_all(seeds: list[str], folder: str) -> None:
    """Crawls all sites, AT_ONCE at a time."""
    await asyncio.gather(*(crawl(seeds, folder) for _ in range(AT_ONCE)))


if __name__ == "__main__":
    asyncio.run(crawl_all(Path(sys.argv[1]).read_text(encoding="ascii").split(), sys.argv[2]))
