"""Defines the rows of a whole crawl that no frontier holds open: one row for each URL, one for each host. A crawl is
moved between frontiers in this form, and cycles on a cluster keep it so. All are frozen."""

from typing import NamedTuple

from goodbot.exclusion import Access
from goodbot.lesson_values import Lesson
from goodbot.live import Courtesy
from goodbot.report_values import RobotsVersion
from goodbot.values import LastVisit


class VisitRow(NamedTuple):
    """The latest visit of a URL, whatever came of it: the columns of `visit_row` after the first. `events` is JSON."""

    at: float
    status: int | None
    digest: str | None
    title: str | None
    why: str
    file: str | None
    offset: int | None
    events: str


class UrlRow(NamedTuple):
    """What is known of one URL. No URL is leased in this form.

    `host` is its `Url.host_key`. `state` is a code of `coding`, `rank` a number of `rank`. `ready_at`: not before this
    time is it ready (LATER), or due again (AGAIN and above); None in other states. `refused`: why it is out of scope
    without ever being requested. `found_at`, `source`: when and on which page it was found first (None: a seed).
    `place`: its place among the URLs found then, which orders URLs of equal rank and time. `was`: the state code before
    a revisit that is not settled yet; None if there is none. `public_only`, `hops`, `lists`, `interval_s`: see
    `Discovery`. `seen`: what the next visit needs of the last one. `same_as`: the URL of the page that this one copies;
    `compared_text`: that page's `LastVisit.text` when the two were compared, None if the copy said so itself.
    `pending`: it waits to be indexed; `leaving`: it must leave the index."""

    host: str
    url: str
    state: int
    rank: int
    found_at: float
    source: str | None = None
    place: int = 0
    tries: int = 0
    public_only: bool = False
    hops: int = 0
    lists: int = 0
    ready_at: float | None = None
    refused: str | None = None
    interval_s: float | None = None
    was: int | None = None
    visit: VisitRow | None = None
    seen: LastVisit | None = None
    same_as: str | None = None
    compared_text: str | None = None
    pending: bool = False
    leaving: bool = False


class HostRow(NamedTuple):
    """What is known of one host, its `Url.host_key`, which is not leased.

    `ready_at`, `backoff_s`, `cut_at`, `next_urls`, `partition`: see `Release`. `pages` counts its URLs that were
    visited, also those being revisited. `turn`: 1 if the next lease begins with a list, else 0. `lists` counts the
    lists settled since `lists_from` that were not visited before. `robots` has the last robots.txt of each of its
    origins, with the origin; `versions` the last versions of these, by origin and time; `lessons` what was learned
    about it, the oldest first. `courtesy` is None if it got no request. `forgotten_at`: when it was barred (`goodbot
    forget`); None: it is not."""

    host: str
    partition: int
    ready_at: float = 0.0
    backoff_s: float = 0.0
    cut_at: float | None = None
    next_urls: int | None = None
    pages: int = 0
    turn: int = 0
    lists: int = 0
    lists_from: float = 0.0
    robots: tuple[tuple[str, Access], ...] = ()
    versions: tuple[RobotsVersion, ...] = ()
    lessons: tuple[Lesson, ...] = ()
    courtesy: Courtesy | None = None
    forgotten_at: float | None = None
