"""Opens what the search service offers to visitors and owners of sites, for one crawl."""

from dataclasses import dataclass
from pathlib import Path

from goodbot.config import Settings
from goodbot.crawl_bounds import CrawlBounds
from goodbot.crawl_folder import CrawlFolder
from goodbot.one_shot import public_sites
from goodbot.visitors.copies import CachedCopies
from goodbot.visitors.indexnow import IndexNowRequests
from goodbot.visitors.removals import RemovalRequests
from goodbot.visitors.stories import UrlStories
from goodbot.visitors.submissions import VisitorRequests
from goodbot.visitors.typed_urls import TypedUrls


@dataclass(frozen=True, slots=True)
class VisitorServices:
    """The services for visitors of one crawl. They share what they know of its settings and seeds."""

    typed_urls: TypedUrls
    submissions: VisitorRequests
    indexnow: IndexNowRequests
    removals: RemovalRequests
    copies: CachedCopies
    stories: UrlStories


def open_visitor_services(path: Path, settings: Settings, *, takes_urls: bool = True) -> VisitorServices:
    """Opens the services for the crawl in `path`, which may be running. `settings` say how the robot identifies itself
    to sites; `takes_urls`: visitors may submit URLs. Raises InputError if there is no crawl."""
    folder = CrawlFolder(path)
    folder.check()
    bounds = CrawlBounds(folder)
    submissions = VisitorRequests(folder, bounds)
    removals = RemovalRequests(folder, bounds, public_sites(settings), submissions)
    return VisitorServices(
        TypedUrls(folder, bounds),
        submissions,
        IndexNowRequests(submissions, bounds, public_sites(settings)),
        removals,
        CachedCopies(folder, bounds, removals.hidden),
        UrlStories(folder, bounds, removals.granted, takes_urls=takes_urls),
    )
