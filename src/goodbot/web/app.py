"""The Web application: the routes of all pages."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Mount, Route

from goodbot.errors import GoodbotError, InputError, NoIndexError
from goodbot.federate import Federation
from goodbot.ports import Search
from goodbot.registry import AddressBook, bundled_registry
from goodbot.search_values import CopyState
from goodbot.web.checker.checker_page import CheckerPage, RobotsSource
from goodbot.web.machines.key_directory import KeyDirectory
from goodbot.web.machines.monitoring import Monitoring
from goodbot.web.machines.openapi import OpenApi
from goodbot.web.machines.opensearch import OpenSearch
from goodbot.web.machines.own_robots_txt import PUBLIC_PAGES, NoIndex, OwnRobotsTxt
from goodbot.web.machines.searxng import SearxngEngine
from goodbot.web.operator.crawl_page import CrawlDesk
from goodbot.web.operator.live_watch_page import LogFollower
from goodbot.web.operator.operator_pages import operator_routes
from goodbot.web.pages.error_pages import ErrorPages, disconnected
from goodbot.web.pages.templates_env import Templates
from goodbot.web.pages.translations import translatable
from goodbot.web.robots.directory_page import DirectoryPage
from goodbot.web.robots.draft_page import DraftPage
from goodbot.web.search.docsearch import PATH as DOCSEARCH
from goodbot.web.search.docsearch import DocSearch
from goodbot.web.search.explain_page import ExplainPage
from goodbot.web.search.help_page import HelpPage
from goodbot.web.search.merged_pages import MergedPages
from goodbot.web.search.search_feed import SearchFeed
from goodbot.web.search.search_pages import SearchPages, WhyEmpty
from goodbot.web.search.search_threads import SearchThreads
from goodbot.web.server.cross_origin import CrossOriginReading, shared_paths
from goodbot.web.server.forwarded_clients import ForwardedClients
from goodbot.web.server.prefix import UnderPrefix
from goodbot.web.server.rate_limits import RateLimit, RateLimits
from goodbot.web.server.request_metrics import MeasuredRequests, MeasuredSearch, RequestMetrics
from goodbot.web.server.security_headers import SecurityHeaders, security_headers
from goodbot.web.server.static_files import HashedFiles
from goodbot.web.site import Site
from goodbot.web.visitors.about_page import AboutPage
from goodbot.web.visitors.visitor_desk import VisitorDesk
from goodbot.web.visitors.visitor_pages import visitor_routes

_HERE = Path(__file__).parent

_CHANGES: Final = frozenset(
    {
        ("POST", "/api/submit"),
        ("POST", "/submit"),
        ("POST", "/removal"),
        ("POST", "/indexnow"),
        ("GET", "/indexnow"),
        ("HEAD", "/indexnow"),
    }
)
"""Requests that change something, which `Site.post_rate` limits."""
_NEEDING_INDEX: Final = ("/search", "/api/search", "/api/suggest", "/explain", "/api/explain")
_ONLY_AT_THE_ORIGINAL: Final = ("/submit", "/removal", "/cached", "/why")
"""Pages that a copy of an index does not have: visitors may come to them by links that they know."""
_UNLIMITED: Final = frozenset(
    {"/healthz", "/metrics", "/robots.txt", "/favicon.ico", "/opensearch.xml", "/searxng.yml"}
)


def create_app(
    search: Search | None,
    site: Site,
    crawl: CrawlDesk | None = None,
    keys: KeyDirectory | None = None,
    robots_source: RobotsSource | None = None,
    visitors: VisitorDesk | None = None,
    address_book: AddressBook | None = None,
    logs: LogFollower | None = None,
    federation: Federation | None = None,
    copy: Callable[[], CopyState] | None = None,
) -> Starlette:
    """Makes the application for `site`.

    `search` must be safe to call from several threads; None: search pages explain that no crawl is served. `crawl` adds
    the crawl page and figures in /metrics, `keys` the key directory of a robot that signs. Without `robots_source` the
    checker cannot fetch the robots.txt of a site, without `visitors` there are no submissions, removals, cached copies
    and stories of URLs. `address_book` has the address lists that the directory of robots shows, by default those that
    come with goodbot. `logs` adds the operator's page about robots in access logs. `federation`: visitors may include
    other search services. `copy` returns the state of a copy of an index, if that is served.
    """
    pages = Templates(
        site,
        has_search=search is not None,
        has_crawl=crawl is not None,
        has_visitors=visitors is not None,
        services=federation.places if federation is not None and search is not None else tuple,
    )
    errors = ErrorPages(pages)
    metrics = RequestMetrics()
    measured = MeasuredSearch(search, metrics) if search is not None else None
    routes: list[BaseRoute] = [
        *_search_routes(measured, crawl, pages, errors, federation),
        *_operator_routes(crawl, visitors, logs, pages, errors),
        *((keys.route(),) if keys else ()),
        *CheckerPage(pages, robots_source).routes(),
        *_directory_routes(pages, address_book),
        *AboutPage(pages).routes(),
        *visitor_routes(visitors, pages, errors),
        *((*OpenSearch(pages).routes(), *SearxngEngine(site).routes()) if measured else ()),
        *Monitoring(search, crawl, metrics, copy).routes(),
        Route("/favicon.ico", _icon),
        Mount("/static", HashedFiles()),
    ]
    routes += OwnRobotsTxt(site, routes).routes()
    routes += OpenApi(site, routes).routes()
    if site.copy_of is not None and visitors is None:
        routes += [Route(path, errors.no_crawl) for path in _ONLY_AT_THE_ORIGINAL]
    app = Starlette(
        routes=routes,
        middleware=_middleware(site, errors, metrics, shared_paths(routes)),
        exception_handlers={
            NoIndexError: errors.no_index,
            InputError: errors.bad_query,
            GoodbotError: errors.unavailable,
            HTTPException: errors.http_error,
            ClientDisconnect: disconnected,
            Exception: errors.server_error,
        },
    )
    app.router.redirect_slashes = False  # Starlette would redirect to a URL without the prefix
    return app


def _operator_routes(
    crawl: CrawlDesk | None,
    visitors: VisitorDesk | None,
    logs: LogFollower | None,
    pages: Templates,
    errors: ErrorPages,
) -> tuple[Route, ...]:
    if crawl is None:
        return (Route("/crawl", errors.no_crawl),)
    return operator_routes(crawl, pages, visitors.removals if visitors is not None else None, logs)


def _directory_routes(pages: Templates, book: AddressBook | None) -> tuple[Route, ...]:
    """Returns the routes about robots. Visitors see the records that come with goodbot, not those of the operator's
    own."""
    registry = bundled_registry()
    return *DraftPage(pages, registry).routes(), *DirectoryPage(pages, registry, book or AddressBook()).routes()


def _middleware(
    site: Site, errors: ErrorPages, metrics: RequestMetrics, shared: Mapping[str, Collection[str]]
) -> list[Middleware]:
    """Returns what surrounds the routes, the outermost first."""
    return [
        Middleware(UnderPrefix, prefix=site.prefix, is_removed=site.proxy_strips_prefix),
        Middleware(ForwardedClients, proxies=site.proxies),
        Middleware(MeasuredRequests, metrics=metrics),
        Middleware(SecurityHeaders, headers=security_headers(is_secure=site.is_secure)),
        Middleware(NoIndex, pages=PUBLIC_PAGES),
        Middleware(CrossOriginReading, paths=shared),
        Middleware(
            RateLimits,
            pages=RateLimit(site.page_rate),
            posts=RateLimit(site.post_rate),
            refuse=errors.too_many,
            changes=_CHANGES,
            free=_UNLIMITED,
            on_refusal=metrics.refused,
        ),
    ]


def _search_routes(
    search: Search | None,
    crawl: CrawlDesk | None,
    pages: Templates,
    errors: ErrorPages,
    federation: Federation | None,
) -> tuple[BaseRoute, ...]:
    if search is not None:
        threads = SearchThreads()
        own = SearchPages(search, threads, pages, _why_empty(crawl), has_others=federation is not None)
        merged = MergedPages(federation, search, own, threads, pages) if federation is not None else None
        return (
            *(merged.over(own.routes()) if merged is not None else own.routes()),
            *ExplainPage(search, threads, pages).routes(),
            *SearchFeed(search, threads, pages.site).routes(),
            *DocSearch(search, threads).routes(),
            *HelpPage(pages).routes(),
        )

    def home(request: Request) -> Response:
        return pages.page(request, "home.html", documents=0, hint="", why_empty="")

    return (
        Route("/", home),
        *(Route(path, errors.no_crawl) for path in _NEEDING_INDEX),
        Route(DOCSEARCH, errors.no_crawl, methods=["POST"]),
    )


def _why_empty(crawl: CrawlDesk | None) -> WhyEmpty:
    """Returns the function that says why no page is indexed. Only a running crawl will add pages."""

    def why_empty(documents: int) -> str:
        if documents:
            return ""
        view = crawl.look() if crawl is not None else None
        if view is None:
            return translatable("No page is indexed yet.")
        if view.running:
            return translatable("No page is indexed yet. Pages appear here as the crawl fetches them.")
        if view.status.finished:
            return translatable("No page is indexed, and the crawl is finished.")
        return translatable("No page is indexed, and the crawl is not running.")

    return why_empty


def _icon(request: Request) -> Response:
    return FileResponse(_HERE / "static" / "icon.svg")
