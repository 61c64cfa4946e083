"""Serves the courtesy report inside the operator's pages, for all hosts or one."""

import shlex
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from goodbot.web.operator.courtesy_page import report_formats
from goodbot.web.operator.crawl_reports import CrawlReports
from goodbot.web.operator.hosts_page import NAME_CHARS, host_typed
from goodbot.web.operator.operator_access import OperatorAccess
from goodbot.web.pages.translations import reader_of

COURTESY: Final = "/crawl/courtesy"


class CourtesyReports:
    """The endpoint of the report."""

    def __init__(self, reports: CrawlReports, access: OperatorAccess) -> None:
        self._reports = reports
        self._access = access

    def routes(self) -> tuple[Route, ...]:
        """Returns the route."""
        return (Route(COURTESY, self._access.guarded(self.show)),)

    def show(self, request: Request) -> Response:
        """GET /crawl/courtesy: the totals, and the reports on some hosts or on one."""
        host, after = host_typed(request, "host") or None, host_typed(request, "after")
        if host is None:
            reports, next_ = self._reports.courtesies(after)
        else:
            report, next_ = self._reports.courtesy(host), None
            reports = () if report is None else (report,)
        return self._access.page(
            request,
            "crawl_courtesy.html",
            COURTESY,
            404 if host is not None and not reports else 200,
            totals=self._reports.courtesy_totals(host),
            reports=reports,
            robot=self._reports.token,
            host=host,
            quoted_host=shlex.quote(host) if host else "HOST",
            after=after,
            next=next_,
            name_chars=NAME_CHARS,
            retry_after_most=self._reports.retry_after_most,
            **report_formats(reader_of(request).language),
        )
