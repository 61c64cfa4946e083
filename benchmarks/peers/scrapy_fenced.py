"""Crawls several hosts with Scrapy as its users do: it obeys robots.txt, finds links with LinkExtractor, has no delay
and keeps nothing.

    scrapy_fenced.py '{"seeds": ["http://…/"], "allow": ["http://…"], "pages": 0}'

Follows links that match one of the patterns in `allow` (regular expressions for the beginning of a URL), ends after
`pages` responses (0: no limit), and prints one JSON line. The optional key `settings` has more settings of Scrapy. Uses
uvloop if it is installed.
"""

import importlib.util
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
    "ASYNCIO_EVENT_LOOP": "uvloop.Loop" if importlib.util.find_spec("uvloop") else None,
    "COOKIES_ENABLED": False,
    "RETRY_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
    "METAREFRESH_ENABLED": False,
    "LOG_ENABLED": False,
    "USER_AGENT": "bench-scrapy/1",
}


class Fenced(scrapy.Spider):
    """Crawls every URL that matches a pattern and that robots.txt allows."""

    name = "fenced"

    def __init__(self, seeds: list[str], allow: list[str], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_urls = seeds
        self.links = LinkExtractor(allow=[f"^{pattern}" for pattern in allow])
        self.pages = 0

    def parse(self, response: Response) -> Iterator[scrapy.Request]:
        if not isinstance(response, HtmlResponse):
            return
        self.pages += 1
        for link in self.links.extract_links(response):
            yield scrapy.Request(link.url)


def main(crawl: str) -> None:
    """Crawls until no URL is left, or until it has the number of pages in `crawl`, which is the JSON text above."""
    what = json.loads(crawl)
    process = CrawlerProcess({**SETTINGS, "CLOSESPIDER_PAGECOUNT": what["pages"], **what.get("settings", {})})
    crawler = process.create_crawler(Fenced)
    process.crawl(crawler, seeds=what["seeds"], allow=what["allow"])
    process.start()
    disallowed = crawler.stats.get_stats().get("robotstxt/forbidden", 0)
    print(json.dumps({"pages": crawler.spider.pages, "disallowed": disallowed}))


if __name__ == "__main__":
    main(*sys.argv[1:])
