"""The endpoints for programs that watch this server."""

from contextlib import suppress

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from goodbot.errors import NoIndexError
from goodbot.ports import Search
from goodbot.web.machines.metrics import CONTENT_TYPE, metrics_text
from goodbot.web.operator.crawl_page import CrawlDesk
from goodbot.web.server.request_metrics import RequestMetrics


class Monitoring:
    """Reports whether the search works, and the figures of the index, the crawl and the requests."""

    def __init__(self, search: Search | None, crawl: CrawlDesk | None, requests: RequestMetrics) -> None:
        self._search = search
        self._crawl = crawl
        self._requests = requests

    def routes(self) -> tuple[Route, ...]:
        """Returns the routes of both endpoints."""
        return Route("/healthz", self.health), Route("/metrics", self.metrics)

    def health(self, request: Request) -> Response:
        """GET /healthz: searches for a word, because an index that can be opened may still be unreadable."""
        if self._search is not None:
            with suppress(NoIndexError):
                self._search.search("health", 1)
        return JSONResponse({"ok": True, "documents": self._count()})

    def metrics(self, request: Request) -> Response:
        """GET /metrics: all figures, in the text format of Prometheus."""
        view = self._crawl.look() if self._crawl is not None else None
        connections = getattr(request.state, "open_connections", None)
        text = metrics_text(self._count(), view, connections() if connections is not None else None)
        return Response(text + self._requests.text(), headers={"Content-Type": CONTENT_TYPE})

    def _count(self) -> int:
        return self._search.count() if self._search is not None else 0
