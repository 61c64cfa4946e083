"""Serves the pages about the hosts of a crawl: the list, and one host with all that is known about it."""

import shlex
import time
from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from goodbot.exclusion.robotstxt.lines import decode, split_lines
from goodbot.exclusion.text.shown_text import visible
from goodbot.report_values import (
    HOSTS_LOOKED_AT,
    URLS_COUNTED,
    URLS_COUNTED_OF_ONE,
    URLS_READ,
    HostDetails,
    OriginReport,
)
from goodbot.url import authority_of
from goodbot.web.operator.courtesy_page import report_formats
from goodbot.web.operator.crawl_reports import CrawlReports
from goodbot.web.operator.operator_access import OperatorAccess
from goodbot.web.pages.translations import reader_of
from goodbot.web.pages.view import clipped

HOSTS: Final = "/crawl/hosts"
NAME_CHARS: Final = 300
LINES_SHOWN: Final = 1000
LINE_CHARS: Final = 300
OPEN_LINES: Final = 100
"""A longer robots.txt is folded, unless a link leads to one of its lines."""


@dataclass(frozen=True, slots=True)
class RobotsFile:
    """The robots.txt of an origin as the crawl stores it: the first of its `count` lines, escaped. `good_at`: when the
    copy was fetched, if the last fetch failed; else None. `anchor` begins the ids of its lines in the page."""

    report: OriginReport
    anchor: str
    lines: tuple[str, ...]
    count: int
    good_at: float | None


class HostsPage:
    """The endpoints of both pages."""

    def __init__(self, reports: CrawlReports, access: OperatorAccess) -> None:
        self._reports = reports
        self._access = access

    def routes(self) -> tuple[Route, ...]:
        """Returns the routes of both endpoints."""
        return Route(HOSTS, self._access.guarded(self.list)), Route("/crawl/host", self._access.guarded(self.show))

    def list(self, request: Request) -> Response:
        """GET /crawl/hosts: a part of the list of hosts."""
        wanted, after = host_typed(request, "q"), host_typed(request, "after")
        everything = bool(request.query_params.get("all"))
        return self._access.page(
            request,
            "crawl_hosts.html",
            HOSTS,
            found=self._reports.hosts(wanted, after, everything=everything),
            wanted=wanted,
            after=after,
            everything=everything,
            state={"q": wanted, "all": "1" if everything else ""},
            name_chars=NAME_CHARS,
            counted=URLS_COUNTED,
            looked_at=HOSTS_LOOKED_AT,
            now=time.time(),
        )

    def show(self, request: Request) -> Response:
        """GET /crawl/host: one host; 404 if the crawl does not know it. `file` unfolds the robots.txt of an origin."""
        host = host_typed(request, "name")
        details = self._reports.host(host)
        return self._access.page(
            request,
            "crawl_host.html",
            HOSTS,
            200 if details else 404,
            host=host,
            quoted_host=shlex.quote(host),
            first_url=first_url(details) if details else "",
            details=details,
            files=robots_files(details) if details else (),
            opened=request.query_params.get("file", ""),
            open_lines=OPEN_LINES,
            counted=URLS_COUNTED_OF_ONE,
            read=URLS_READ,
            retry_after_most=self._reports.retry_after_most,
            now=time.time(),
            **report_formats(reader_of(request).language),
        )


def host_typed(request: Request, parameter: str) -> str:
    """Returns the name of a host that the operator typed, in the form in which the crawl keeps names."""
    return request.query_params.get(parameter, "").strip().lower()[:NAME_CHARS]


def first_url(details: HostDetails) -> str:
    """Returns the URL of the home page of a host."""
    robots = details.entry.robots
    return f"{robots.origin}/" if robots is not None else f"http://{authority_of(details.entry.host)}/"


def robots_files(details: HostDetails) -> tuple[RobotsFile, ...]:
    """Returns the robots.txt of each origin of the host, the one that was requested last first."""
    return tuple(_file(origin) for origin in details.report.origins) if details.report is not None else ()


def robots_anchor(origin: str) -> str:
    """Returns how the ids of the lines of an origin's robots.txt begin: `robots-https`, `robots-http-8080`."""
    scheme, _, authority = origin.partition("://")
    port = authority.rpartition(":")[2]
    return f"robots-{scheme}-{port}" if port.isdecimal() else f"robots-{scheme}"


def _file(origin: OriginReport) -> RobotsFile:
    access = origin.access
    anchor = robots_anchor(origin.origin)
    if access is None or not access.body:
        return RobotsFile(origin, anchor, (), 0, None)
    lines = split_lines(decode(access.body))
    if not lines[-1]:
        lines.pop()
    shown = tuple(clipped(visible(line), LINE_CHARS) for line in lines[:LINES_SHOWN])
    return RobotsFile(origin, anchor, shown, len(lines), None if access.result == "successful" else access.good_at)
