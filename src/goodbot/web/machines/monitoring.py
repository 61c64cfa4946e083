"""The endpoints for programs that watch this server."""

import time
from collections.abc import Callable
from contextlib import suppress

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from goodbot.errors import NoIndexError
from goodbot.ports import Search
from goodbot.search_values import CopyState
from goodbot.web.machines.metrics import CONTENT_TYPE, metrics_text
from goodbot.web.operator.crawl_page import CrawlDesk
from goodbot.web.server.request_metrics import RequestMetrics


class Monitoring:
    """Reports whether the search works, and the figures of the index, the crawl and the requests. `copy` returns the
    state of the copy that is served."""

    def __init__(
        self,
        search: Search | None,
        crawl: CrawlDesk | None,
        requests: RequestMetrics,
        copy: Callable[[], CopyState] | None = None,
    ) -> None:
        self._search = search
        self._crawl = crawl
        self._requests = requests
        self._copy = copy

    def routes(self) -> tuple[Route, ...]:
        """Returns the routes of both endpoints."""
        return Route("/healthz", self.health), Route("/metrics", self.metrics)

    def health(self, request: Request) -> Response:
        """GET /healthz: searches for a word, because an index that can be opened may still be unreadable."""
        if self._search is not None:
            with suppress(NoIndexError):
                self._search.search("health", 1)
        copy = {"copy": copy_json(self._copy(), time.time())} if self._copy is not None else {}
        return JSONResponse({"ok": True, "documents": self._count(), **copy})

    def metrics(self, request: Request) -> Response:
        """GET /metrics: all figures, in the text format of Prometheus."""
        crawl = self._crawl.figures() if self._crawl is not None else None
        connections = getattr(request.state, "open_connections", None)
        text = metrics_text(self._count(), crawl, connections() if connections is not None else None)
        return Response(text + self._requests.text(), headers={"Content-Type": CONTENT_TYPE})

    def _count(self) -> int:
        return self._search.count() if self._search is not None else 0


def copy_json(state: CopyState, now: float) -> dict[str, object]:
    """Returns how old the copy of an index is, in seconds, and whether it can be brought up to date, which the first
    look has to show. What is wrong is in the log only, since it names files of this machine."""
    age_s = round(max(0.0, now - state.taken_at), 3) if state.taken_at is not None else None
    return {
        "version": state.version,
        "taken_at": state.taken_at,
        "age_s": age_s,
        "checked_at": state.checked_at,
        "followed": state.problem is None and state.checked_at is not None,
    }
