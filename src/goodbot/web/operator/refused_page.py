"""Serves the list of URLs that the crawl left out or gave up, each with the reason."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from goodbot.report_values import REFUSED_STATES, START, URLS_LOOKED_AT, Place, RefusedEntry
from goodbot.robot.crawl.remote_control import CrawlView
from goodbot.url import Url
from goodbot.web.operator.crawl_reports import CrawlReports
from goodbot.web.operator.crawl_view import MEANINGS
from goodbot.web.operator.hosts_page import NAME_CHARS, host_typed, robots_anchor
from goodbot.web.operator.operator_access import OperatorAccess

REFUSED: Final = "/crawl/refused"
_PLACE: Final = re.compile(r"(-?[0-9]{1,19})\.(-?[0-9]{1,19})")
_MOST: Final = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class _RefusedView:
    """An entry, and the robots.txt of which a line decided, as the page of its host names it; empty if none did."""

    entry: RefusedEntry
    file: str


class RefusedPage:
    """The endpoint of the list. `look` returns the state of the crawl."""

    def __init__(self, reports: CrawlReports, look: Callable[[], CrawlView], access: OperatorAccess) -> None:
        self._reports = reports
        self._look = look
        self._access = access

    def routes(self) -> tuple[Route, ...]:
        """Returns the route."""
        return (Route(REFUSED, self._access.guarded(self.show)),)

    def show(self, request: Request) -> Response:
        """GET /crawl/refused: a part of the list, of all states or one (`reason`), of all hosts or one."""
        reason, host = request.query_params.get("reason", ""), host_typed(request, "host")
        states = tuple(state for state in REFUSED_STATES if state == reason) or REFUSED_STATES
        reason = states[0] if len(states) == 1 else ""
        after = read_place(request.query_params.get("after", ""))
        found = self._reports.refused(states, host or None, after or START)
        return self._access.page(
            request,
            "crawl_refused.html",
            REFUSED,
            found=[_view(entry) for entry in found.entries],
            next="" if found.after is None else written(found.after),
            after="" if after is None else written(after),
            reason=reason,
            host=host,
            state={"reason": reason, "host": host},
            states=REFUSED_STATES,
            totals=self._look().status.states,
            meanings=MEANINGS,
            name_chars=NAME_CHARS,
            looked_at=URLS_LOOKED_AT,
        )


def read_place(text: str) -> Place | None:
    """Reads a place in the list, as `written` writes it; None for any other text."""
    match = _PLACE.fullmatch(text)
    if match is None or max(abs(int(number)) for number in match.groups()) > _MOST:
        return None
    return Place(int(match[1]), int(match[2]))


def written(place: Place) -> str:
    """Writes a place in the list as a parameter of a URL."""
    return f"{place.host}.{place.hash}"


def _view(entry: RefusedEntry) -> _RefusedView:
    if entry.line is None:
        return _RefusedView(entry, "")
    return _RefusedView(entry, robots_anchor(Url(entry.url).origin))
