"""A robots.txt parser for Scrapy that follows RFC 9309, and Scrapy's robots.txt middleware with a fix, so that every
request is checked."""

from inspect import iscoroutinefunction
from typing import Any, Self

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares import robotstxt
from scrapy.robotstxt import RobotParser
from scrapy.utils.httpobj import urlparse_cached

from goodbot.exclusion.robotstxt.timing import Timing
from goodbot.integrations.adapted import agent_of, read_text, url_of
from goodbot.integrations.scrapy.host_delays import delays


class GoodbotParser(RobotParser):
    """One site's robots.txt, for Scrapy's robots.txt middleware.

    `rules` is the underlying `RobotsTxt`: `parser.rules.verdict(url, agent)` gives the reason. The first 500 KiB of a
    body count (RFC 9309 §2.5); without a body everything is allowed. Never raises on content.
    """

    def __init__(self, robotstxt_body: bytes | None, spider: Spider | None) -> None:
        self.spider = spider
        self.rules = read_text(robotstxt_body or b"").rules
        self._timings: dict[str, Timing] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler | None, robotstxt_body: bytes | None) -> Self:
        """Makes a parser. Scrapy calls this for every robots.txt, whatever its HTTP status."""
        return cls(robotstxt_body, crawler.spider if crawler else None)

    def allowed(self, url: str | bytes, user_agent: str | bytes) -> bool:
        """Whether this robot may fetch this URL of the site."""
        return self.rules.allows(url_of(url), agent_of(user_agent))

    def crawl_delay(self, user_agent: str | bytes) -> float | None:
        """Returns the seconds between two requests: the longest Crawl-delay, None if there is none."""
        return self.rules.crawl_delay(agent_of(user_agent))

    def timing(self, user_agent: str | bytes) -> Timing:
        """Returns when this robot may visit the site, and how often."""
        agent = agent_of(user_agent)
        if agent not in self._timings:
            self._timings = {agent: self.rules.timing(agent)}
        return self._timings[agent]


class RobotsTxtMiddleware(robotstxt.RobotsTxtMiddleware):
    """Scrapy's middleware, except that it checks every request. While Scrapy (2.19) fetches a site's robots.txt,
    several requests may wait for it; Scrapy checks only the first of them, and sends the others unchecked. Unless
    ROBOTSTXT_PARSER is set, the parser is `GoodbotParser`."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        if not crawler.settings.getpriority("ROBOTSTXT_PARSER"):  # Scrapy's default
            self._parserimpl: Any = GoodbotParser

    if iscoroutinefunction(robotstxt.RobotsTxtMiddleware.robot_parser):  # Scrapy 2.13 checks every request itself

        async def robot_parser(self, request: Request) -> RobotParser | None:
            """Returns the parser for the site of a request; None if there is none."""
            parser = await super().robot_parser(request)
            if parser is None:
                finished = self._parsers.get(urlparse_cached(request).netloc)
                parser = finished if isinstance(finished, RobotParser) else None
            return parser

    def process_request_2(self, rp: RobotParser | None, request: Request, *spider: Any) -> None:
        """Checks a request; Scrapy calls this with the parser of its site. Notes the delays that the site asks for."""
        of_hosts = delays.get(self.crawler)
        if of_hosts is not None and isinstance(rp, GoodbotParser):
            agent = self._robotstxt_useragent or request.headers.get(b"User-Agent") or self._default_useragent
            of_hosts.note_rules(request, rp.timing(agent))
        super().process_request_2(rp, request, *spider)
