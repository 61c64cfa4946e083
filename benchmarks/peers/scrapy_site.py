"""Runs Scrapy on one site as its users do: it obeys robots.txt, finds links with LinkExtractor, has no delay and keeps
nothing.

Prints one JSON line: how many pages of HTML it got, and how many requests robots.txt forbade.
"""

import json
import re
import sys
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import HtmlResponse, Response
from scrapy.linkextractors import LinkExtractor

SETTINGS = {
    "ROBOTSTXT_OBEY": True,
    "CONCURRENT_REQUESTS": 64,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
    "DOWNLOAD_DELAY": 0,
    "TWISTED_REACTOR": "twisted.internet.asyncioreactor.AsyncioSelectorReactor",
    "COOKIES_ENABLED": False,
    "RETRY_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "METAREFRESH_ENABLED": False,
    "LOG_LEVEL": "ERROR",
    "USER_AGENT": "bench-scrapy/1",
}


class Site(scrapy.Spider):
    """Crawls every URL on the seed's host that robots.txt allows."""

    name = "site"

    def __init__(self, seed: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_urls = [seed]
        self.links = LinkExtractor(allow="^" + re.escape("{0.scheme}://{0.netloc}/".format(urlsplit(seed))))
        self.pages = 0

    def parse(self, response: Response) -> Iterator[scrapy.Request]:
        if not isinstance(response, HtmlResponse):
            return
        self.pages += 1
        for link in self.links.extract_links(response):
            yield scrapy.Request(link.url)


def main(seed: str) -> None:
    """Crawls the host of `seed` until no URL is left."""
    process = CrawlerProcess(SETTINGS)
    crawler = process.create_crawler(Site)
    process.crawl(crawler, seed=seed)
    process.start()
    stats = crawler.stats.get_stats()
    spider = crawler.spider
    print(json.dumps({"pages": spider.pages, "disallowed": stats.get("robotstxt/forbidden", 0)}))


if __name__ == "__main__":
    main(sys.argv[1])
