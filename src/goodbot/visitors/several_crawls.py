"""Shows cached copies and histories of pages from the folders of several crawls, which are searched as one."""

from collections.abc import Sequence
from typing import Protocol

from goodbot.url import Url
from goodbot.visitor_values import CachedCopy, NoCopy, Story
from goodbot.visitors.copies import LOST, NOT_VISITED, UNKNOWN


class _Copies(Protocol):
    def copy_of(self, url: Url) -> CachedCopy | NoCopy: ...


class _Stories(Protocol):
    def story_of(self, url: Url) -> Story: ...


class CopiesOfAll:
    """Reads copies of pages from the archives of several crawls. Several threads may use it."""

    def __init__(self, crawls: Sequence[_Copies]) -> None:
        self._crawls = tuple(crawls)

    def copy_of(self, url: Url) -> CachedCopy | NoCopy:
        """Returns the last copy of a page, if every crawl that has visited the page permits showing it. Raises RunError
        if the files of a crawl cannot be used."""
        copies, refusals = list[CachedCopy](), list[NoCopy]()
        for crawl in self._crawls:
            found = crawl.copy_of(url)
            if isinstance(found, CachedCopy):
                copies.append(found)
            elif found.reason != UNKNOWN:
                refusals.append(found)
        forbidding = [each for each in refusals if each.reason not in (LOST, NOT_VISITED)]
        if copies and not forbidding:
            return max(copies, key=lambda copy: copy.fetched_at)
        return next(iter([*forbidding, *refusals]), NoCopy(UNKNOWN))


class StoriesOfAll:
    """Finds out what became of URLs in several crawls. Several threads may use it."""

    def __init__(self, crawls: Sequence[_Stories]) -> None:
        self._crawls = tuple(crawls)

    def story_of(self, url: Url) -> Story:
        """Returns the story of a URL in the crawl that visited it last, or else in the first one that knows it, or else
        in the first crawl. Raises RunError if the files of a crawl cannot be used."""
        stories = [crawl.story_of(url) for crawl in self._crawls]
        return max(stories, key=lambda story: (story.state != "unknown", story.visited_at or 0.0))
