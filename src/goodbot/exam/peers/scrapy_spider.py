"""A Scrapy spider for the exam, as plain as in its documentation. It follows every link on the seeds' hosts."""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule


class ExamSpider(CrawlSpider):
    """Starts from the URLs in `seed_file`, one a line."""

    name = "exam"
    rules = (Rule(LinkExtractor()),)

    def __init__(self, seed_file: str, **options: Any) -> None:
        super().__init__(**options)
        self.start_urls = Path(seed_file).read_text(encoding="ascii").split()
        self.allowed_domains = sorted({urlsplit(url).hostname or "" for url in self.start_urls})
