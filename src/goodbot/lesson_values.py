"""The nouns of what is learned about hosts, and of what their pages said. All are frozen."""

from math import inf
from typing import Final, NamedTuple

from goodbot.url import Url

SPENT: Final = "spent"
HALF: Final = "half"
"""What a lesson of the kind `budget` is about: an origin that earns no more, or that has lost half of its start."""


class IndexedPage(NamedTuple):
    """A page in the index as it was last read: the digests of its bytes and of its title and text."""

    url: Url
    digest: str | None
    text: str | None


class Lesson(NamedTuple):
    """What was learned about a host (`Url.host_key`), and is not to be learned again after a restart.

    `kind` and `about` are the learner's (a parameter that changes nothing, a prefix of few texts, a mirror);
    `evidence` is one sentence for people, and part of the reason given for each URL left out. At `until` the lesson
    lapses: pages decide anew, and what they teach again holds twice as long. `times`: how often it was learned.
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
        """Whether URLs are left out because of it, as long as it is in force."""
        half = self.kind == "budget" and self.about.endswith(f" {HALF}")
        return not (self.lapsed or half or self.kind == "canonical")


class LeftOut(NamedTuple):
    """What lessons in force have left out: how many lessons, URLs of how many hosts, and how many URLs; None: too many
    to count."""

    lessons: int
    hosts: int
    urls: int | None
