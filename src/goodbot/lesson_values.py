"""The values of lessons: what a crawl has learned about hosts. All are frozen."""

from hashlib import blake2b
from math import inf
from typing import Final, NamedTuple

from goodbot.url import Url

SPENT: Final = "spent"
HALF: Final = "half"
"""The last word of `Lesson.about` in lessons of the kind `budget`: the origin has used up its budget, or half of it."""


class IndexedPage(NamedTuple):
    """An indexed page with the digests of its last visit: `digest` of its bytes, `text` of its title and text."""

    url: Url
    digest: str | None
    text: str | None


class Lesson(NamedTuple):
    """One lesson about a host (`Url.host_key`), kept so that it need not be learned again after a restart.

    `kind` says what was learned and `about` its subject (a parameter that changes nothing, a prefix under which pages
    repeat, a mirror). `evidence` is one sentence for people; it is part of the reason recorded for each URL left out.
    At `until` the lesson lapses; if the crawl learns it again, it holds twice as long. `times`: how often it was
    learned.
    """

    host: str
    kind: str
    about: str
    evidence: str
    at: float
    until: float = inf
    times: int = 1
    lapsed: bool = False

    @property
    def leaves_out(self) -> bool:
        """Whether the crawl leaves out URLs because of this lesson while it is in force."""
        half = self.kind == "budget" and self.about.endswith(f" {HALF}")
        return not (self.lapsed or half or self.kind == "canonical")


class LeftOut(NamedTuple):
    """Counts for the lessons in force: the lessons, the hosts and the URLs they left out (None: too many to count)."""

    lessons: int
    hosts: int
    urls: int | None


def lesson_id(lesson: Lesson) -> str:
    """Returns the lesson's id for the command line; it stays the same when the lesson is learned again."""
    return blake2b("\n".join(lesson[:3]).encode("utf-8", "replace"), digest_size=5).hexdigest()
