"""The routes of all pages for visitors of a crawl: submissions, IndexNow, removals, cached copies, and why a page is
not found."""

from starlette.routing import Route

from goodbot.web.pages.error_pages import ErrorPages
from goodbot.web.pages.templates_env import Templates
from goodbot.web.visitors.cached_page import CachedPage
from goodbot.web.visitors.indexnow_endpoint import IndexNowEndpoint
from goodbot.web.visitors.removal_page import RemovalPage
from goodbot.web.visitors.submission_page import SubmissionPage
from goodbot.web.visitors.visitor_desk import VisitorDesk
from goodbot.web.visitors.why_page import WhyPage


def visitor_routes(desk: VisitorDesk | None, pages: Templates, errors: ErrorPages) -> tuple[Route, ...]:
    """Returns the routes; without a crawl there are none."""
    if desk is None:
        return ()
    return (
        *SubmissionPage(desk.typed_urls, desk.submissions, desk.stories, pages, errors).routes(),
        *IndexNowEndpoint(desk.indexnow, is_open=pages.site.submissions).routes(),
        *RemovalPage(desk.typed_urls, desk.removals, desk.stories, pages).routes(),
        *CachedPage(desk.typed_urls, desk.copies, pages).routes(),
        *WhyPage(desk.typed_urls, desk.stories, desk.removals, pages).routes(),
    )
