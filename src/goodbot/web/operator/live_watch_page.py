"""Serves the report on access logs inside the operator's pages, while the logs are followed."""

from dataclasses import dataclass
from threading import Lock
from typing import Final, Protocol

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from goodbot.watch.report import WatchReport
from goodbot.web.operator.operator_access import OperatorAccess
from goodbot.web.operator.watch_page import watch_part

WATCH: Final = "/crawl/watch"


@dataclass(frozen=True, slots=True)
class WatchView:
    """What is known about the logs now."""

    report: WatchReport | None = None
    """The latest report; None until the logs are read for the first time."""
    made_at: float = 0.0
    """When it was made, Unix seconds."""
    trouble: str = ""
    """Why logs cannot be read; empty: they can."""
    missing: tuple[str, ...] = ()
    """A sentence about each log that does not exist yet, and each folder without logs."""
    done_bytes: int = 0
    size_bytes: int = 0
    """While logs are read for the first time: how much of them is read, and how much there is."""


class LogFollower(Protocol):
    """Follows logs. `look` returns at once, in any thread."""

    def look(self) -> WatchView: ...


class LiveWatchPage:
    """The endpoint of the report."""

    def __init__(self, follower: LogFollower, access: OperatorAccess) -> None:
        self._follower = follower
        self._access = access
        self._lock = Lock()
        self._written: tuple[WatchReport, Markup] | None = None

    def routes(self) -> tuple[Route, ...]:
        """Returns the route."""
        return (Route(WATCH, self._access.guarded(self.show)),)

    def show(self, request: Request) -> Response:
        """GET /crawl/watch: the latest report, and why there is no newer one."""
        view = self._follower.look()
        report = view.report
        is_waiting = bool(view.missing) and (report is None or not report.logs)  # there is nothing to report on
        part = self._part(report, view.made_at) if report is not None and not is_waiting else ""
        return self._access.page(request, "crawl_watch.html", WATCH, view=view, part=part, is_waiting=is_waiting)

    def _part(self, report: WatchReport, made_at: float) -> Markup:
        """Writes a report once, however often it is asked for."""
        with self._lock:
            if self._written is None or self._written[0] is not report:
                self._written = report, watch_part(report, made_at)
            return self._written[1]
