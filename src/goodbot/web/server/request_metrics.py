"""Counts requests and searches of one application, for Prometheus."""

import time
from collections.abc import Iterator, Sequence
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import Metric
from prometheus_client.registry import Collector
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from goodbot.ports import Search
from goodbot.search_values import NO_FILTERS, Choices, Explanation, Filters, Results

METHODS: Final = frozenset({"GET", "HEAD", "POST", "OPTIONS"})
OTHER: Final = "other"
"""The label "other", for methods not in `METHODS` and for paths that have no route; it bounds the number of labels."""
BUCKETS_S: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)


class RequestMetrics:
    """The counters of one application, in a registry of its own. Several threads may use it."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry(auto_describe=False)
        self._requests = Counter(
            "goodbot_http_requests",
            "Requests answered, by method, route and class of the status",
            ("method", "route", "status"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "goodbot_http_request_duration_seconds",
            "Time from the head of a request to the end of its response",
            ("route",),
            buckets=BUCKETS_S,
            registry=self._registry,
        )
        self._refused = Counter(
            "goodbot_http_requests_refused", "Requests refused by the rate limits", registry=self._registry
        )
        self._searches = Counter("goodbot_searches", "Searches made for visitors", registry=self._registry)
        self._without_hit = Counter(
            "goodbot_searches_without_hit", "Searches that found no page", registry=self._registry
        )

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Counts a response. `route` is the template of its path, not the path."""
        self._requests.labels(method if method in METHODS else OTHER, route, f"{status // 100}xx").inc()
        self._seconds.labels(route).observe(seconds)

    def refused(self) -> None:
        """Counts a request that came too soon."""
        self._refused.inc()

    def searched(self, found: Results) -> None:
        """Counts a search."""
        self._searches.inc()
        if found.total == 0:
            self._without_hit.inc()

    def text(self) -> bytes:
        """Returns all figures in the text format of Prometheus. Leaves out when each counter was made: Prometheus does
        not need these, and they would be as many as the figures."""
        shown = CollectorRegistry(auto_describe=False)
        shown.register(_Figures(self._registry))
        return generate_latest(shown)


class _Figures(Collector):
    """Collects the figures of another registry."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry

    def collect(self) -> Iterator[Metric]:
        for family in self._registry.collect():
            family.samples = [sample for sample in family.samples if not sample.name.endswith("_created")]
            yield family


class MeasuredRequests:
    """ASGI middleware: counts and times every request, which takes 4 µs."""

    def __init__(self, app: ASGIApp, metrics: RequestMetrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began_at, status = time.perf_counter(), 500  # without a response, Starlette answers 500

        async def send_and_note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, send_and_note)
        finally:
            self._metrics.answered(scope["method"], _route_of(scope), status, time.perf_counter() - began_at)


def _route_of(scope: Scope) -> str:
    """Returns the template of the path. A request that middleware answered has not been given a route."""
    route = scope.get("route") or _matching(scope)
    return getattr(route, "path", None) or OTHER


def _matching(scope: Scope) -> BaseRoute | None:
    """Returns the route that accepts the request, else one of the same path, else None."""
    application = scope.get("app")
    routes = [(route.matches(scope)[0], route) for route in (application.routes if application else ())]
    wanted = (match for match in (Match.FULL, Match.PARTIAL))
    return next((route for match in wanted for found, route in routes if found is match), None)


class MeasuredSearch:
    """A `Search` that counts the searches of another one."""

    def __init__(self, search: Search, metrics: RequestMetrics) -> None:
        self._search = search
        self._metrics = metrics

    def search(
        self,
        query: str,
        limit: int = 10,
        offset: int = 0,
        languages: Sequence[str] = (),
        filters: Filters = NO_FILTERS,
    ) -> Results:
        found = self._search.search(query, limit, offset, languages, filters)
        self._metrics.searched(found)
        return found

    def explain(
        self, query: str, url: str, languages: Sequence[str] = (), filters: Filters = NO_FILTERS
    ) -> Explanation | None:
        return self._search.explain(query, url, languages, filters)

    def choices(self) -> Choices:
        return self._search.choices()

    def suggest(self, typed: str, limit: int = 8) -> tuple[str, ...]:
        return self._search.suggest(typed, limit)

    def count(self) -> int:
        return self._search.count()
