"""The values that the reports about a crawl consist of, and their bounds: the work for a page of a report does not grow
with the crawl."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from goodbot.exclusion import Access
from goodbot.exclusion.robotstxt.timing import Timing
from goodbot.lesson_values import Lesson
from goodbot.live import Courtesy
from goodbot.values import State

# ---- what is to fetch -----------------------------------------------------------------------------------------------

MAX_HOSTS: Final = 500
"""Hosts examined for those with the most URLs to fetch: those leased, then those due first."""
MAX_COUNT: Final = 10_000
"""Ready URLs counted of one host."""


@dataclass(frozen=True, slots=True)
class HostAhead:
    """A host with URLs to fetch: how many (`MAX_COUNT`: or more), and when it may be requested again, 0 for one that
    is being requested."""

    host: str
    ready: int
    ready_at: float


class QueuePlace(NamedTuple):
    """How many ready URLs of its host come before a URL (`MAX_COUNT`: or more), and when the URL or its host may be
    requested, in Unix seconds; None if its host is being requested."""

    before: int
    ready_at: float | None


# ---- the list of hosts ----------------------------------------------------------------------------------------------

HOSTS_LOOKED_AT: Final = 200_000
"""Hosts examined for one part of the list."""
URLS_COUNTED: Final = 10_000
"""URLs counted of each host in the list."""
URLS_COUNTED_OF_ONE: Final = 300_000
"""URLs counted of a host that is shown alone."""


@dataclass(frozen=True, slots=True)
class RobotsState:
    """The last fetch of an origin's robots.txt: see the fields of `Access`."""

    origin: str
    result: str
    status: int | None
    failure: str | None
    fetched_at: float
    valid_until: float


@dataclass(frozen=True, slots=True)
class HostEntry:
    """A host with its URLs by state. `is_partial`: it has more URLs than were counted, so each number is a minimum.

    `ready_at` is when it may be requested next, None if there is nothing to fetch or a request may be under way
    (`leased`). `forgotten_at`: when it was forgotten, None if it was not. `robots` is the robots.txt fetched last.
    """

    host: str
    states: Mapping[State, int]
    is_partial: bool = False
    ready_at: float | None = None
    leased: bool = False
    forgotten_at: float | None = None
    robots: RobotsState | None = None


@dataclass(frozen=True, slots=True)
class HostList:
    """A part of the list, by name. `after` is the name after which the next part begins; None at the end. A part may be
    empty although others follow, because only so many hosts are examined for each."""

    entries: tuple[HostEntry, ...]
    after: str | None = None


# ---- the list of refused URLs ---------------------------------------------------------------------------------------

REFUSED_STATES: Final[tuple[State, ...]] = ("disallowed", "out-of-scope", "failed", "gone")
URLS_LOOKED_AT: Final = 500_000
"""URLs examined for one part of the list."""


class Place(NamedTuple):
    """A place in the list of URLs: everything after it comes later. Both numbers are signed, of 64 bits."""

    host: int
    hash: int


START: Final = Place(-(1 << 63), -(1 << 63))


@dataclass(frozen=True, slots=True)
class RefusedEntry:
    """A URL that was left out or given up, and why. `at` is when it was visited or decided about last, `status` that of
    the last answer, `line` the line of robots.txt that decided; each None if there is none."""

    url: str
    host: str
    state: State
    reason: str
    at: float | None = None
    status: int | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class RefusedList:
    """A part of the list, host by host. `after` is where the next part begins, None at the end. A part may be empty
    although others follow, because only so many URLs are examined for each."""

    entries: tuple[RefusedEntry, ...]
    after: Place | None = None


# ---- courtesy reports -----------------------------------------------------------------------------------------------

REFUSED_SHOWN: Final = 20
LESSONS_SHOWN: Final = 20
WALLED_SHOWN: Final = 20
"""URLs shown for each wall."""
ORIGINS_SHOWN: Final = 20
"""Origins of one host that are shown, each with its robots.txt."""
URLS_READ: Final = 20_000
"""URLs of one host that are read for its errors and its courtesy report."""
ERRORS_SHOWN: Final = 20


class RobotsVersion(NamedTuple):
    """One version of a robots.txt, found `fetches` times in a row. `digest` is the SHA-256 (hex) of the part that was
    read, `bytes` the length of the file; both None if it was not read."""

    origin: str
    first_at: float
    last_at: float
    fetches: int
    result: str
    status: int | None
    failure: str | None
    digest: str | None
    bytes: int | None


@dataclass(frozen=True, slots=True)
class RefusedUrl:
    """A URL that was not fetched because robots.txt disallows it: when that was found, and by which line."""

    url: str
    at: float | None
    line: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class WalledUrls:
    """Pages for which a bot wall answered last: the wall's name, how many pages, and some of their URLs."""

    wall: str
    pages: int
    urls: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OriginReport:
    """The robots.txt of one origin of a host: the copy in force (None: it was deleted), the timing it asks of the
    robot, and its last versions, newest first."""

    origin: str
    access: Access | None
    timing: Timing
    asked_gap_s: float | None
    versions: tuple[RobotsVersion, ...]


@dataclass(frozen=True, slots=True)
class HostReport:
    """The report about one host. `asked_gap_s` is the longest gap that any of its origins asks for now; `refused` is
    the number of URLs that robots.txt disallows, of which `refused_urls` are some; `lessons` are the latest in force;
    `walls` are the bot walls that answered instead of pages, by name. `is_partial`: not all URLs of the host were read,
    so `refused` and the counts of `walls` are minimums."""

    host: str
    done: Courtesy
    origins: tuple[OriginReport, ...]
    refused: int
    refused_urls: tuple[RefusedUrl, ...]
    forgotten_at: float | None
    lessons: tuple[Lesson, ...] = ()
    walls: tuple[WalledUrls, ...] = ()
    is_partial: bool = False

    @property
    def latest(self) -> OriginReport | None:
        """The origin whose robots.txt was fetched last."""
        known = [origin for origin in self.origins if origin.access is not None]
        return max(known, key=lambda origin: origin.access.fetched_at if origin.access else 0.0, default=None)

    @property
    def asked_gap_s(self) -> float | None:
        gaps = [origin.asked_gap_s for origin in self.origins if origin.asked_gap_s is not None]
        return max(gaps, default=None)


@dataclass(frozen=True, slots=True)
class CourtesyTotals:
    """Sums over all hosts, or of one: each field but `hosts` as in `Courtesy`. `robots_txt_only` of the `hosts`
    received no request except for robots.txt."""

    hosts: int
    requests: int
    robots_txt: int
    sooner: int
    inside: int
    status_429: int
    status_503: int
    waited_s: float
    robots_txt_only: int = 0


@dataclass(frozen=True, slots=True)
class HostDetails:
    """What a crawl knows about one host. `report` is the one that `goodbot courtesy` makes, None if the host got no
    request and nothing else is known; `errors` are the latest ones, found among `URLS_READ` of its URLs."""

    entry: HostEntry
    report: HostReport | None
    errors: tuple[RefusedEntry, ...]


# ---- machines --------------------------------------------------------------------------------------------------------

MachineState = Literal["alive", "late", "left", "gone"]
"""alive: its last heartbeat is valid. late: it has expired, and no other machine has noticed yet. left: it ended its
part, or was started again. gone: it fell silent, and others took its hosts over."""
MACHINE_STATES: Final[tuple[MachineState, ...]] = ("alive", "late", "left", "gone")


@dataclass(frozen=True, slots=True)
class MachineView:
    """One machine of those that share a crawl: one run of `goodbot crawl` on it. Times are Unix seconds by the clock
    of the database.

    `since` is when its state began, `heartbeat_s` the age of its last heartbeat. `pages` counts the visits of pages
    that it has committed, `bytes` what it received. `pages_per_s`: over the last ten seconds, if it reports.
    """

    machine: int
    name: str
    writer: str
    pid: int
    state: MachineState
    since: float
    joined_at: float
    ended_at: float | None
    heartbeat_s: float
    partitions: int
    leased_hosts: int
    leased_urls: int
    pages: int
    bytes: int
    pages_per_s: float | None
