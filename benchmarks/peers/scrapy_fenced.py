"""Runs Scrapy over several hosts as its users do: it obeys robots.txt, finds links with LinkExtractor, has no delay and
keeps nothing.

    scrapy_fenced.py SEED PATTERN PAGES

Follows links that match PATTERN, ends after PAGES pages of HTML, and prints one JSON line.
"""

import json
import sys
from collections.abc import Iterator
from typing import Any

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import HtmlResponse, Response
from scrapy.linkextractors import LinkExtractor

SETTINGS = {
    "ROBOTSTXT_OBEY": True,
    "CONCURRENT_REQUESTS": 64,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 64,
    "DOWNLOAD_DELAY": 0,
    "DOWNLOAD_TIMEOUT": 30,
    "TWISTED_REACTOR": "twisted.internet.asyncioreactor.AsyncioSelectorReactor",
    "COOKIES_ENABLED": False,
    "RETRY_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
    "METAREFRESH_ENABLED": False,
    "LOG_LEVEL": "ERROR",
    "USER_AGENT": "bench-scrapy/1",
}


class Fenced(scrapy.Spider):
    """Crawls every URL that matches the pattern and that robots.txt allows."""

    name = "fenced"

    def __init__(self, seed: str, pattern: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_urls = [seed]
        self.links = LinkExtractor(allow=pattern)
        self.pages = 0

    def parse(self, response: Response) -> Iterator[scrapy.Request]:
        if not isinstance(response, HtmlResponse):
            return
        self.pages += 1
        for link in self.links.extract_links(response):
            yield scrapy.Request(link.url)


def main(seed: str, pattern: str, pages: str) -> None:
    """Crawls until it has so many pages."""
    process = CrawlerProcess({**SETTINGS, "CLOSESPIDER_PAGECOUNT": int(pages)})
    crawler = process.create_crawler(Fenced)
    process.crawl(crawler, seed=seed, pattern=pattern)
    process.start()
    print(json.dumps({"pages": crawler.spider.pages}))


if __name__ == "__main__":
    main(*sys.argv[1:])
