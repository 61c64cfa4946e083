"""The routes of all pages for the operator of a crawl."""

from starlette.routing import Route

from goodbot.web.operator.courtesy_reports import COURTESY, CourtesyReports
from goodbot.web.operator.crawl_page import CrawlDesk, CrawlPage
from goodbot.web.operator.granted_removals_page import REMOVALS, GrantedRemovals, GrantedRemovalsPage
from goodbot.web.operator.hosts_page import HOSTS, HostsPage
from goodbot.web.operator.live_watch_page import WATCH, LiveWatchPage, LogFollower
from goodbot.web.operator.operator_access import HOME, OperatorAccess
from goodbot.web.operator.refused_page import REFUSED, RefusedPage
from goodbot.web.pages.templates_env import Templates
from goodbot.web.pages.translations import translatable


def operator_routes(
    crawl: CrawlDesk, pages: Templates, removals: GrantedRemovals | None = None, logs: LogFollower | None = None
) -> tuple[Route, ...]:
    """Returns the routes. Without `removals` or `logs` there is no page about them."""
    sections = [
        (HOME, translatable("Dashboard")),
        (HOSTS, translatable("Hosts")),
        (REFUSED, translatable("URLs not fetched")),
        (COURTESY, translatable("Courtesy")),
    ]
    if removals is not None:
        sections.append((REMOVALS, translatable("Removals")))
    if logs is not None:
        sections.append((WATCH, translatable("Robots in logs")))
    access = OperatorAccess(crawl, pages, sections)
    return (
        *access.routes(),
        *HostsPage(crawl.reports, access).routes(),
        *RefusedPage(crawl.reports, crawl.look, access).routes(),
        *CourtesyReports(crawl.reports, access).routes(),
        *(GrantedRemovalsPage(removals, access).routes() if removals is not None else ()),
        *(LiveWatchPage(logs, access).routes() if logs is not None else ()),
        *CrawlPage(crawl, access).routes(),
    )
