"""A whole Scrapy crawl in a process of its own: `python scrapy_spider.py PARSER MIDDLEWARE URL...` ("": Scrapy's).

Prints a line once every URL has come to the middleware, and in the end as JSON which pages were read and Scrapy's own
counts of robots.txt. Nothing but the site of URL is asked.
"""

import json
import sys
from collections.abc import Iterator

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.http import HtmlResponse, Response
from scrapy.robotstxt import RobotParser
from scrapy.utils.misc import load_object

SETTINGS = {
    "ROBOTSTXT_OBEY": True,
    "USER_AGENT": "TestBot/1.0 (+mailto:test@example.org)",
    "DOWNLOAD_DELAY": 0,
    "DOWNLOAD_TIMEOUT": 60,
    "CLOSESPIDER_TIMEOUT": 120,
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


def telling(middleware: type[RobotsTxtMiddleware], count: int) -> type[RobotsTxtMiddleware]:
    """The same, but that it prints a line when `count` requests have come to it."""

    class Telling(middleware):  # type: ignore[misc, valid-type]
        left = count

        async def robot_parser(self, request: scrapy.Request) -> RobotParser | None:
            self.left -= 1
            if not self.left:
                sys.stdout.write("all have come\n")
                sys.stdout.flush()
            parser: RobotParser | None = await super().robot_parser(request)
            return parser

    return Telling


def crawl(parser: str, middleware: str, *urls: str) -> None:
    settings: dict[str, object] = {**SETTINGS, "ROBOTSTXT_PARSER": parser} if parser else {**SETTINGS}
    used = telling(load_object(middleware) if middleware else RobotsTxtMiddleware, len(urls))
    settings["DOWNLOADER_MIDDLEWARES"] = {RobotsTxtMiddleware: None, used: 100}
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
