"""A Scrapy crawl that keeps its requests in a folder, in a process of its own: `python scrapy_crawl.py JSON`.

JSON has `start` (URLs), `settings` and `spider` (its name). Every page that was read, and every request that failed, is
a line on standard output, written at once: `read URL`, `failed URL REASON`. The last line is `stats` and JSON.
"""

import json
import sys
from collections.abc import AsyncIterator, Iterator
from functools import partial
from typing import Any

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response
from twisted.python.failure import Failure

SETTINGS: dict[str, Any] = {
    "ROBOTSTXT_OBEY": False,
    "USER_AGENT": "TestBot/1.0 (+mailto:test@example.org)",
    "DOWNLOAD_DELAY": 0,
    "DOWNLOAD_TIMEOUT": 60,
    "CLOSESPIDER_TIMEOUT": 240,
    "RETRY_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "HTTPPROXY_ENABLED": False,
    "LOG_LEVEL": "INFO",
}


def say(*words: object) -> None:
    """One write, so that a kill cannot cut a line."""
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


class Follower(scrapy.Spider):
    """Follows every link: `/unstorable/` with a callback that cannot be stored, `/again/` without the duplicate filter,
    `/item/` with values in `cb_kwargs` and `meta`."""

    name = "follower"

    async def start(self) -> AsyncIterator[scrapy.Request]:
        for url in self.start_urls:
            yield scrapy.Request(url, dont_filter=True, errback=self.failed)

    def parse(self, response: Response, **values: Any) -> Iterator[scrapy.Request]:
        say("read", response.url, *sorted(values.items()))
        if "/crash/" in response.url:
            raise RuntimeError("this page is too hard")
        for url in response.xpath("//a/@href").getall():
            yield self.follow(response.urljoin(url))

    def follow(self, url: str) -> scrapy.Request:
        if "/unstorable/" in url:
            return scrapy.Request(url, partial(self.parse), errback=self.failed)
        if "/item/" in url:
            values = {"values": (1, {"two"})}
            return scrapy.Request(url, self.parse, errback=self.failed, cb_kwargs=values, meta={"kept": values})
        return scrapy.Request(url, self.parse, errback=self.failed, dont_filter="/again/" in url)

    def failed(self, failure: Failure) -> None:
        request: scrapy.Request = failure.request  # type: ignore[attr-defined]
        say("failed", request.url, repr(failure.value))


def crawl(told: dict[str, Any]) -> None:
    process = CrawlerProcess({**SETTINGS, **told["settings"]})
    spider = type("Named", (Follower,), {"name": told.get("spider", "follower")})
    crawler = process.create_crawler(spider)
    process.crawl(crawler, start_urls=told["start"])
    process.start()
    assert crawler.stats is not None
    say("stats", json.dumps(crawler.stats.get_stats(), default=str))


if __name__ == "__main__":
    crawl(json.loads(sys.argv[1]))
