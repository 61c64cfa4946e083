"""A robots.txt parser for Scrapy that answers by RFC 9309: `ROBOTSTXT_PARSER`; and Scrapy's own middleware that asks it
for every request. Importing this needs Scrapy."""

from typing import Self

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares import robotstxt
from scrapy.robotstxt import RobotParser
from scrapy.utils.httpobj import urlparse_cached

from goodbot.integrations.adapted import agent_of, read_text, url_of


class GoodbotParser(RobotParser):
    """One site's robots.txt, as Scrapy's middleware makes and asks it.

    `rules` is the `RobotsTxt` behind it: `parser.rules.verdict(url, agent)` says why. Of a body of more than 500 KiB
    the first count (RFC 9309 §2.5); no body at all allows everything. Nothing raises, whatever the bytes.
    """

    def __init__(self, robotstxt_body: bytes | None, spider: Spider | None) -> None:
        self.spider = spider
        self.rules = read_text(robotstxt_body or b"").rules

    @classmethod
    def from_crawler(cls, crawler: Crawler | None, robotstxt_body: bytes | None) -> Self:
        """What Scrapy calls for every robots.txt, whatever the status it came with."""
        return cls(robotstxt_body, crawler.spider if crawler else None)

    def allowed(self, url: str | bytes, user_agent: str | bytes) -> bool:
        """Whether this robot may fetch this URL of the site."""
        return self.rules.allows(url_of(url), agent_of(user_agent))

    def crawl_delay(self, user_agent: str | bytes) -> float | None:
        """Seconds between two requests: the longest Crawl-delay, None if nothing is asked."""
        return self.rules.crawl_delay(agent_of(user_agent))


class RobotsTxtMiddleware(robotstxt.RobotsTxtMiddleware):
    """Scrapy's, but for requests that come while the robots.txt of their site is being fetched: Scrapy (2.19) asks the
    parser about the first that waits only, and lets the others pass unseen."""

    async def robot_parser(self, request: Request) -> RobotParser | None:
        """The parser for the site of a request; None if there is none."""
        parser = await super().robot_parser(request)
        if parser is None:
            known = self._parsers.get(urlparse_cached(request).netloc)
            parser = known if isinstance(known, RobotParser) else None
        return parser
