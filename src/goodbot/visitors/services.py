"""Opens what the search service offers to visitors and owners of sites, for one crawl."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from goodbot.config import Settings
from goodbot.crawl_bounds import CrawlBounds
from goodbot.crawl_folder import CrawlFolder, together
from goodbot.one_shot import public_sites
from goodbot.search_values import Hidden
from goodbot.store.control.removals import RemovalFile
from goodbot.visitor_values import Removal
from goodbot.visitors.copies import CachedCopies
from goodbot.visitors.indexnow import IndexNowRequests
from goodbot.visitors.removals import RemovalRequests
from goodbot.visitors.several_crawls import CopiesOfAll, StoriesOfAll
from goodbot.visitors.stories import UrlStories
from goodbot.visitors.submissions import VisitorRequests
from goodbot.visitors.typed_urls import TypedUrls


@dataclass(frozen=True, slots=True)
class VisitorServices:
    """The services for visitors of one crawl. They share what they know of its settings and seeds. `copies` and
    `stories` may be those of several crawls; `hidden` returns the pages that must not be shown."""

    typed_urls: TypedUrls
    submissions: VisitorRequests
    indexnow: IndexNowRequests
    removals: RemovalRequests
    copies: CachedCopies | CopiesOfAll
    stories: UrlStories | StoriesOfAll
    hidden: Callable[[], Hidden]


def open_visitor_services(
    path: Path, settings: Settings, others: Sequence[Path] = (), *, takes_urls: bool = True
) -> VisitorServices:
    """Opens the services for the crawl in `path`, which may be running. `settings` say how the robot identifies itself
    to sites; `takes_urls`: visitors may submit URLs. The crawls in `others`, which are searched too, have copies and
    stories of their pages. Raises InputError if there is no crawl."""
    folder = CrawlFolder(path)
    folder.check()
    bounds = CrawlBounds(folder)
    submissions = VisitorRequests(folder, bounds)
    removals = RemovalRequests(folder, bounds, public_sites(settings), submissions)
    files = [RemovalFile(other) for other in others]
    hidden = together([removals.hidden, *(file.hidden for file in files)])

    def granted() -> list[Removal]:
        return [*removals.granted(), *(removal for file in files for removal in file.removals())]

    copies = [CachedCopies(folder, bounds, hidden)]
    stories = [UrlStories(folder, bounds, granted, takes_urls=takes_urls)]
    for other in map(CrawlFolder, others):
        if other.is_crawl:
            known = CrawlBounds(other)
            copies.append(CachedCopies(other, known, hidden))
            stories.append(UrlStories(other, known, granted, takes_urls=False))
    return VisitorServices(
        TypedUrls(folder, bounds),
        submissions,
        IndexNowRequests(submissions, bounds, public_sites(settings)),
        removals,
        CopiesOfAll(copies) if others else copies[0],
        StoriesOfAll(stories) if others else stories[0],
        hidden,
    )
