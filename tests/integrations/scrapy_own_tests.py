"""A plugin of pytest that puts goodbot's scheduler in the place of Scrapy's, for Scrapy's own tests.

A test without JOBDIR gets a new folder, since goodbot's scheduler always needs one, and the settings of the queues in
memory count as those of the queues on disk.
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
            settings.set("SCHEDULER_DISK_QUEUE", settings["SCHEDULER_MEMORY_QUEUE"])
            settings.set("SCHEDULER_START_DISK_QUEUE", settings["SCHEDULER_START_MEMORY_QUEUE"])
        return super().from_crawler(crawler)


scrapy.core.scheduler.Scheduler = InItsPlace  # type: ignore[misc, assignment]
