"""The nouns of a crawl that runs: what it is told, how it sees itself, what it asked of each host. All are frozen."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from goodbot.url import Url

RunState = Literal["running", "paused", "stopping"]
"""Paused and stopping: pages in flight finish, nothing new begins."""

EndReason = Literal["finished", "max-pages", "interrupted"]
"""Why a run of a crawl ended."""

ControlKind = Literal["pause", "resume", "stop", "submit", "forget", "unlearn"]


@dataclass(frozen=True, slots=True)
class ControlRequest:
    """What a running crawl is told to do. `urls`: those to submit, or one of each host to forget; `lessons`: the ids of
    those to drop."""

    kind: ControlKind
    urls: tuple[Url, ...] = ()
    lessons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FetchError:
    """One answer that was none, or not the page asked for: `kind` as in `LiveStatus.errors`."""

    at: float
    url: str
    kind: str
    why: str


@dataclass(frozen=True, slots=True)
class LiveStatus:
    """A running crawl as it sees itself; counts are those of this run.

    `rate` is pages per second over the last ten seconds, `mean_rate` since the start; `hosts` answered in the last
    minute; `to_fetch` are ready or leased. `errors` counts fetches by failure kind or status, the most frequent first.
    `left_s`: until what is known, or what was asked for, is fetched at this rate; None if there is no telling. Of a
    crawl that keeps fresh, `waiting` pages are asked for again some time, the next at `next_at`; None: of any other.
    """

    pid: int
    started_at: float
    at: float
    pace: RunState
    pages: int
    bytes: int
    rate: float
    mean_rate: float
    to_fetch: int
    in_flight: int
    hosts: int
    workers: int
    left_s: float | None = None
    errors: tuple[tuple[str, int], ...] = ()
    troubles: tuple[FetchError, ...] = ()
    waiting: int = 0
    next_at: float | None = None


# ---- courtesy -------------------------------------------------------------------------------------------------------


class HostRequest(NamedTuple):
    """One request as its host saw it: `at` is when it began, `until` when its answer ended (Unix seconds).

    `status` is None where no answer came. `gap_s` is what robots.txt asked for between two requests (None: nothing),
    `not_before` the time named by the Retry-After of the answer, `agent` the `User-Agent` sent.
    """

    host: str
    at: float
    until: float
    status: int | None = None
    robots_txt: bool = False
    gap_s: float | None = None
    not_before: float | None = None
    agent: str = ""


class Courtesy(NamedTuple):
    """What one host was asked up to now, and how; times in Unix seconds.

    `least_gap_s` is the least time from the end of an answer to the beginning of the next request, 0 for two at a time,
    None before the second one. `sooner` counts requests sooner than robots.txt asked, `inside` those within a
    Retry-After; `waited_s` is how long the host was left alone because it asked for that. `busy_from` and `busy_until`
    are the last time it was being asked, `held_from` and `held_until` the last Retry-After. A tuple, as it is made anew
    with every request.
    """

    host: str
    requests: int = 0
    robots_txt: int = 0
    status_429: int = 0
    status_503: int = 0
    unanswered: int = 0
    retry_afters: int = 0
    longest_retry_after_s: float = 0.0
    sooner: int = 0
    inside: int = 0
    waited_s: float = 0.0
    least_gap_s: float | None = None
    least_gap_at: float | None = None
    asked_gap_s: float | None = None
    first_at: float | None = None
    last_at: float | None = None
    busy_from: float = 0.0
    busy_until: float = 0.0
    held_from: float = 0.0
    held_until: float = 0.0
    last_status: int | None = None
    agent: str = ""
