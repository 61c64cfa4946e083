"""A web without a network for measuring frontiers: the links of each page are computed from the pages of its host.

A page has 84 links: 24 that every page of its host has, 46 to pages near it, 4 to any page, 10 new ones. URLs have 69
characters, of which 42 are stored.
"""

import random
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from goodbot.url import Url
from goodbot.values import Discovery, Event, Lease, LeasedUrl, Outcome, RecordRef

HOSTS = 1500
BATCH = 96
_EVENTS = tuple(
    Event(1e9, "fetch", "allowed", "a reason of about the usual length, forty or fifty characters") for _ in range(5)
)


class GrowingWeb:
    """`counts`: how many pages each host has already."""

    def __init__(self, counts: Sequence[int] = (0,) * HOSTS, seed: int = 1) -> None:
        self._chance = random.Random(seed)
        self._known = list(counts)
        self._visited = [0] * HOSTS
        self.pages = 0

    @property
    def counts(self) -> tuple[int, ...]:
        """How many pages each host has."""
        return tuple(self._known)

    @property
    def known(self) -> int:
        """How many pages all hosts have."""
        return sum(self._known)

    def discover(self) -> list[Discovery]:
        """Makes 640 new pages on each of 16 hosts."""
        return [item for host in self._chance.sample(range(HOSTS), 16) for item in self._new(host, 640, 3)]

    def visit(self, item: LeasedUrl, token: int) -> Outcome:
        """Visits a page that is leased with this token."""
        host = int(item.url.text[len("https://www.host") :].partition(".")[0])
        number = self._visited[host]
        self._visited[host] += 1
        self.pages += 1
        known = max(self._known[host], 1)
        old = [
            *range(24),
            *(max(number - 23 + near, 0) for near in range(46)),
            *(self._chance.randrange(known) for _ in range(3)),
        ]
        links = [Discovery(_url(host, other), item.depth + 1, item.url) for other in old]
        links.append(Discovery(_url(self._chance.randrange(HOSTS), 5), item.depth + 1, item.url))
        links += self._new(host, 10, item.depth + 1, item.url)
        return Outcome(
            *(item.url, "visited", 1e9, "status 200", 200, 30_000, "sha256:" + "a" * 64, "A title of a page"),
            *(RecordRef("crawl-20260101000000-00001.warc.gz", 123_456_789), False, 0.0, 0, _EVENTS, tuple(links)),
            token=token,
        )

    def _new(self, host: int, number: int, depth: int, source: Url | None = None) -> list[Discovery]:
        first = self._known[host]
        self._known[host] += number
        source = source or _url(host, 0)
        return [Discovery(_url(host, page), depth, source) for page in range(first, first + number)]


def batches(leases: Sequence[Lease]) -> Iterator[list[tuple[LeasedUrl, int]]]:
    """Yields about a hundred URLs at a time, with the tokens of their leases, in the order of a crawl: the first URL of
    each lease, then the second …"""
    pairs = ([(item, lease.token) for item in lease.urls] for lease in leases)
    turns = [pair for turn in zip_longest(*pairs) for pair in turn if pair is not None]
    for first in range(0, len(turns), BATCH):
        yield turns[first : first + BATCH]


def _url(host: int, page: int) -> Url:
    """Returns the URL of a page; each folder has forty pages."""
    return Url(
        f"https://www.host{host}.example/section-{page // 400 * 7919 % 977}/part-{page // 40 * 31 % 101}/"
        f"article-{page * 2654435761 % 4294967296:08x}.html"
    )
