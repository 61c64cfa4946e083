"""The values of a running crawl: control requests, live figures, and the requests sent to each host. All are frozen."""

from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from goodbot.url import Url

RunState = Literal["running", "paused", "stopping"]
"""While a crawl is paused or stopping, pages in flight finish and no new request is sent."""

EndReason = Literal["finished", "max-pages", "interrupted"]
"""The reason why a run of a crawl ended."""

ControlKind = Literal["pause", "resume", "stop", "submit", "forget", "unlearn"]


@dataclass(frozen=True, slots=True)
class ControlRequest:
    """A request to a running crawl. `urls`: the URLs to submit, or one URL of each host to forget; `lessons`: the ids
    of the lessons to drop. `public_only` and `modified_at` of submitted URLs: see `Discovery`."""

    kind: ControlKind
    urls: tuple[Url, ...] = ()
    lessons: tuple[str, ...] = ()
    public_only: bool = False
    modified_at: float | None = None


@dataclass(frozen=True, slots=True)
class FetchError:
    """A request that failed or was answered with an error status; `kind` as in `LiveStatus.errors`."""

    at: float
    url: str
    kind: str
    why: str


HOLDINGS: Final = {
    "leased_urls": "coordinator: URLs that workers have leased and not reported yet",
    "uncommitted_pages": "coordinator: pages reported and not committed yet; a page with many links counts as several",
    "unsent_messages": "coordinator: workers with messages not sent yet, and the bytes of these messages",
    "robots_txt": "parsed robots.txt files, and about how many bytes they take",
    "recent_links": "URLs found recently, which are not sent to the frontier again",
    "compared_pages": "earlier pages with which each new page is compared to detect copies",
    "url_families": "sets of similar URLs that are watched for traps",
}
"""The names of `Holding`, with their meanings."""


class Holding(NamedTuple):
    """What one cache or queue of a process holds: the number of entries, and their bytes if the process counts them
    anyway. `name` is one of `HOLDINGS`."""

    name: str
    entries: int
    bytes: int | None = None


ProcessRole = Literal["crawler", "coordinator", "worker"]
"""What a process of a crawl does. A crawl without workers has only one process, the `crawler`."""


class ProcessMemory(NamedTuple):
    """The memory of one process. `pss_bytes` counts a memory page that n processes share as 1/n of a page, `rss_bytes`
    counts it whole; both are None if the system does not report them, as outside Linux."""

    role: ProcessRole
    pid: int
    pss_bytes: int | None
    rss_bytes: int | None
    holdings: tuple[Holding, ...] = ()


class CrawlMemory(NamedTuple):
    """The memory of the processes of a crawl. `peak_bytes` is the largest `bytes` measured in this run. Processes that
    read PDFs or render pages are not included."""

    processes: tuple[ProcessMemory, ...]
    peak_bytes: int | None = None

    @property
    def bytes(self) -> int | None:
        """The sum of `pss_bytes`; None if it is unknown for one of the processes."""
        sizes = [process.pss_bytes for process in self.processes]
        return sum(size for size in sizes if size is not None) if sizes and None not in sizes else None


@dataclass(frozen=True, slots=True)
class LiveStatus:
    """The live figures of a running crawl; counts are those of this run.

    `rate` is pages per second over the last ten seconds, `mean_rate` since the start. `hosts` counts hosts that
    answered in the last minute, `to_fetch` URLs that are ready or leased. `errors` counts failed requests by failure
    kind or status, the most frequent first; `troubles` are the latest failed requests, and the latest one of each kind.
    `left_s` estimates the time until all known URLs, or as many as `--max-pages` permits, are fetched at this rate;
    None: no estimate. With `--keep-fresh`, `waiting` pages will be visited again, the next at `next_at`; otherwise
    `next_at` is None. `memory` is measured every few seconds. `store_away`: that and why the database of the frontier
    does not answer, for people; empty if it does."""

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
    memory: CrawlMemory | None = None
    store_away: str = ""


# ---- several machines -----------------------------------------------------------------------------------------------


class Shared(NamedTuple):
    """What a machine learns when it takes part in sharing out the hosts: the hosts that some machine has barred, and
    the names of machines that it has just counted as gone."""

    barred: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()


# ---- courtesy -------------------------------------------------------------------------------------------------------


class HostRequest(NamedTuple):
    """One request to a host: it began at `at`, and its answer ended at `until` (Unix seconds).

    `status` is None if no answer came. `gap_s` is the delay that robots.txt requests (None: none), `not_before` the
    time set by the answer's Retry-After, `agent` the `User-Agent` sent. `own_gap_s` and `response_factor` are the delay
    that the robot keeps at this host without being asked: seconds, and a factor of the response time.
    """

    host: str
    at: float
    until: float
    status: int | None = None
    robots_txt: bool = False
    gap_s: float | None = None
    not_before: float | None = None
    agent: str = ""
    own_gap_s: float = 0.0
    response_factor: float = 0.0


class Courtesy(NamedTuple):
    """The requests sent to one host so far; times in Unix seconds.

    `least_gap_s` is the shortest time from the end of an answer to the beginning of the next request: 0 for two at
    once, None before the second request. `sooner` counts requests sent sooner than robots.txt permits, `inside` those
    sent within a Retry-After. `waited_s` is how long the robot waited only because the host requested it: without the
    robot's own delay and without its back-off. The latest series of requests lasted from `busy_from` to `busy_until`,
    the latest Retry-After from `held_from` to `held_until`. It is a tuple because every request makes a new one.
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
