"""A whole Scrapy crawl in a process of its own: `python scrapy_spider.py PARSER MIDDLEWARE URL...` ("": Scrapy's).

Prints as JSON which pages were read and Scrapy's own counts of robots.txt. Nothing but the site of URL is asked.
"""

import json
import sys
from collections.abc import Iterator

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import HtmlResponse, Response

SETTINGS = {
    "ROBOTSTXT_OBEY": True,
    "USER_AGENT": "TestBot/1.0 (+mailto:test@example.org)",
    "DOWNLOAD_DELAY": 0,
    "DOWNLOAD_TIMEOUT": 5,
    "CLOSESPIDER_TIMEOUT": 15,
    "RETRY_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "HTTPPROXY_ENABLED": False,
    "LOG_LEVEL": "WARNING",
}


class Follower(scrapy.Spider):
    """Follows every link of the site."""

    name = "follower"

    def parse(self, response: Response) -> Iterator[scrapy.Request]:
        assert isinstance(response, HtmlResponse)
        read.append(response.url)
        yield from response.follow_all(css="a")


read: list[str] = []


def crawl(parser: str, middleware: str, *urls: str) -> None:
    settings: dict[str, object] = {**SETTINGS, "ROBOTSTXT_PARSER": parser} if parser else {**SETTINGS}
    if middleware:
        theirs = "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware"
        settings["DOWNLOADER_MIDDLEWARES"] = {theirs: None, middleware: 100}
    process = CrawlerProcess(settings)
    crawler = process.create_crawler(Follower)
    process.crawl(crawler, start_urls=urls, allowed_domains=["127.0.0.1"])
    process.start()
    assert crawler.stats is not None
    stats = crawler.stats.get_stats()
    counts = {name: value for name, value in stats.items() if name.startswith(("robotstxt/", "log_count/"))}
    json.dump({"read": sorted(read), "counts": counts, "reason": stats["finish_reason"]}, sys.stdout)


if __name__ == "__main__":
    crawl(*sys.argv[1:])
