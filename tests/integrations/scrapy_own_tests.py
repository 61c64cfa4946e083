"""A plugin of pytest that puts goodbot's scheduler in the place of Scrapy's, for Scrapy's own tests.

A test without JOBDIR gets a new folder, since goodbot's scheduler always needs one.
"""

from tempfile import mkdtemp
from typing import Any, Self

import scrapy.core.scheduler
from scrapy.crawler import Crawler

from goodbot.integrations.scrapy import Scheduler


class InItsPlace(Scheduler):
    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        if not crawler.settings.get("JOBDIR"):
            settings: Any = crawler.settings
            settings.frozen = False
            settings.set("GOODBOT_FOLDER", mkdtemp())
        return super().from_crawler(crawler)


scrapy.core.scheduler.Scheduler = InItsPlace  # type: ignore[misc, assignment]
