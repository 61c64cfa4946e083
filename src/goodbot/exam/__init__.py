"""The driving test: a web of hard sites on loopback, and a score card for any crawler that drives through it.

For tests of your own: `with site("meta-nofollow") as exam:` (see `goodbot.exam.fixture`).
"""

from goodbot.exam.card import SiteCard
from goodbot.exam.fixture import Exam, site

__all__ = ["Exam", "SiteCard", "site"]
