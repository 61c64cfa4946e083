"""A crawl for the pages to show: figures in memory, and control files that record what is posted."""

import atexit
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

from goodbot.live import ControlRequest, FetchError, LiveStatus
from goodbot.ports import Frontier, Ledger
from goodbot.report_values import HostAhead, MachineView
from goodbot.robot.crawl.remote_control import CrawlFigures, CrawlView, Refuse, RemoteControl
from goodbot.store.sqlite.frontier import SqliteFrontier
from goodbot.testing import MemoryFrontier
from goodbot.url import Url
from goodbot.values import Status
from goodbot.web.operator.crawl_reports import CrawlReports
from web.library import Visitor

TOKEN = "a-token-that-nobody-guesses"
STATES = Status(
    {
        "ready": 120_400,
        "leased": 64,
        "visited": 8_120,
        "disallowed": 31,
        "out-of-scope": 9_000,
        "failed": 7,
        "gone": 12,
    },
    pages=8_120,
    bytes=234_000_000,
    hosts=37,
    next_ready_at=1_795_000_000.0,
)
RUNNING = LiveStatus(
    pid=4711,
    started_at=1_795_000_000.0,
    at=1_795_000_060.0,
    pace="running",
    pages=4_100,
    bytes=118_000_000,
    rate=71.5,
    mean_rate=68.3,
    to_fetch=120_464,
    in_flight=60,
    hosts=28,
    workers=2,
    left_s=1_686.0,
    errors=(("404", 12), ("timeout", 3), ("<b>", 1)),
    troubles=(
        FetchError(1_795_000_050.0, "http://slow.example/" + "x" * 300, "timeout", "timeout: 60 s without an end"),
        FetchError(1_795_000_049.0, "http://big.example/gone", "404", "status 404"),
        FetchError(1_795_000_048.0, "http://big.example/gone-before", "404", "status 404"),
    ),
)
HOSTS = [HostAhead("big.example", 10_000, 0.0), HostAhead("<i>odd</i>.example:8080", 31, 1_795_000_100.0)]


@cache
def _reports_of_nothing() -> CrawlReports:
    """Returns the reports about an empty frontier, which is removed when the tests end."""
    folder = TemporaryDirectory(prefix="goodbot-empty-")
    atexit.register(folder.cleanup)
    path = Path(folder.name) / "frontier.sqlite"
    SqliteFrontier.open(path, create=True).close()
    return CrawlReports(partial(SqliteFrontier.open, path, read_only=True), "goodbot", 60.0)


@dataclass
class Crawls:
    """A `CrawlConsole`, and the control files behind it. `live_now` None: no crawl is running."""

    token: str | None = TOKEN
    live_now: LiveStatus | None = RUNNING
    trouble: Exception | None = None
    requests: list[ControlRequest] = field(default_factory=list)
    frontier: MemoryFrontier = field(default_factory=MemoryFrontier)
    status: Status = STATES
    shared_by: tuple[MachineView, ...] = ()
    path: Path = Path("my crawl")
    reports: CrawlReports = field(default_factory=_reports_of_nothing)

    @property
    def control(self) -> RemoteControl:
        @contextmanager
        def ledger() -> Iterator[Ledger]:
            yield self.frontier

        @contextmanager
        def frontier() -> Iterator[Frontier]:
            yield self.frontier

        return RemoteControl(
            self, ledger=ledger, frontier=frontier, scope=lambda urls: _refuse_elsewhere(), timeout_s=0.05
        )

    def look(self) -> CrawlView:
        if self.trouble:
            raise self.trouble
        return CrawlView(self.status, self.live_now is not None, self.live_now)

    def hosts(self) -> list[HostAhead]:
        return HOSTS

    def machines(self) -> tuple[MachineView, ...]:
        return self.shared_by

    def figures(self) -> CrawlFigures:
        view = self.look()
        return CrawlFigures(view.status, view.running, view.live)

    def is_running(self) -> bool:
        return self.live_now is not None

    def live(self) -> LiveStatus | None:
        return self.live_now

    def post(self, request: ControlRequest) -> str:
        self.requests.append(request)
        return "request"

    def is_waiting(self, name: str) -> bool:
        return False

    def withdraw(self, name: str) -> bool:
        return False


def cookie_of(visitor: Visitor, token: str = TOKEN) -> str:
    """Logs in as the operator; returns the Cookie header."""
    return visitor.ask(f"/crawl?token={token}").headers["Set-Cookie"].partition(";")[0]


def _refuse_elsewhere() -> Refuse:
    def refuse(url: Url, depth: int) -> str | None:
        return None if url.host == "here.example" else f"{url.host} is not the host of a seed"

    return refuse
