"""Examines crawlers: serves a web of hard sites on loopback and writes a score card for any crawler.

Use it in your own tests with `with site("meta-nofollow") as exam:` (see `goodbot.exam.fixture`).
"""

from goodbot.exam.card import SiteCard
from goodbot.exam.fixture import Exam, site

__all__ = ["Exam", "SiteCard", "site"]
