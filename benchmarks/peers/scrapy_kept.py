"""A spider of Scrapy that follows all links of one site, for bench_scrapy.py.

    python scrapy_kept.py SCHEDULER FOLDER URL READ

SCHEDULER is goodbot or jobdir; FOLDER keeps the requests. The file READ gets a line for each page whose callback has
run, written at once.
"""

import os
import sys
from collections.abc import Iterator
from typing import Any

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import HtmlResponse

SETTINGS: dict[str, Any] = {
    "ROBOTSTXT_OBEY": False,
    "USER_AGENT": "BenchBot/1.0",
    "DOWNLOAD_DELAY": 0,
    "CONCURRENT_REQUESTS": 16,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
    "RETRY_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "HTTPPROXY_ENABLED": False,
    "LOG_LEVEL": "ERROR",
}
KEPT = {
    "goodbot": lambda folder: {"SCHEDULER": "goodbot.integrations.scrapy.Scheduler", "GOODBOT_FOLDER": folder},
    "jobdir": lambda folder: {"JOBDIR": folder},
}


class Follower(scrapy.Spider):
    """Follows every link of the site."""

    name = "follower"

    def parse(self, response: HtmlResponse) -> Iterator[scrapy.Request]:
        yield from response.follow_all(css="a")
        os.write(self.read, response.url.encode() + b"\n")


def main(scheduler: str, folder: str, url: str, read: str) -> None:
    """Crawls until nothing is left."""
    descriptor = os.open(read, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    process = CrawlerProcess({**SETTINGS, **KEPT[scheduler](folder)})
    process.crawl(Follower, start_urls=[url], read=descriptor)
    process.start()


if __name__ == "__main__":
    main(*sys.argv[1:])
