"""Builds the tools of `goodbot mcp` from settings and folders."""

from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Final

from goodbot.agents.allowed_tool import AllowedTool
from goodbot.agents.call_limits import WAIT_MOST_S, CallLimits
from goodbot.agents.fetch_tool import FetchTool
from goodbot.agents.pages import PagesWithContact
from goodbot.agents.search_tool import SearchTool
from goodbot.agents.stored_ai_input import StoredAiInput
from goodbot.agents.tool import Tool
from goodbot.agents.why_tool import WhyRules, WhyStory
from goodbot.api import Robot
from goodbot.clock import SystemClock
from goodbot.config import Settings
from goodbot.crawl_bounds import CrawlBounds
from goodbot.crawl_folder import CrawlFolder, open_search_or_nothing, why_no_index
from goodbot.robot.client.private_hosts import PrivateHosts
from goodbot.robot.fetch.identity import identity_of
from goodbot.store.control.removals import RemovalFile
from goodbot.url import Url, is_private_host
from goodbot.url_story import story_json
from goodbot.visitors.several_crawls import StoriesOfAll
from goodbot.visitors.stories import UrlStories
from goodbot.web.search.search_threads import SearchThreads

REQUESTS_AT_ONCE: Final = 8
"""Requests in flight: each may hold a body of 10 MiB."""


class AgentTools:
    """The tools, and the robot that all sessions share, so that the delay of a host holds for all of them.

    `settings` say who the robot is; only `private_hosts` are requested at private addresses. `folders` are searched;
    `unsearched` has one sentence for each folder without an index. If no folder has one, there is no tool `search`.
    Raises InputError or RunError if a setting or a folder cannot be used.
    """

    def __init__(self, settings: Settings, folders: Sequence[Path], private_hosts: Sequence[str]) -> None:
        clock, hosts = SystemClock(), PrivateHosts(private_hosts)
        self._token = identity_of(settings, version("goodbot")).token
        self._folders = [CrawlFolder(path) for path in folders]
        self.unsearched: list[str] = []
        self.robot = Robot(
            settings.agent,
            settings=replace(settings, concurrency=min(settings.concurrency, REQUESTS_AT_ONCE)),
            private_hosts=private_hosts,
            patience_s=WAIT_MOST_S,
            clock=clock,
        )

        def lacks_contact(url: Url) -> bool:
            return settings.contact is None and url not in hosts and not is_private_host(url.host)

        pages = PagesWithContact(self.robot, lacks_contact)
        limits = [CallLimits(clock, pages.expected_at) for _ in range(2)]  # verdicts do not wait behind pages
        self.tools: list[Tool] = [
            FetchTool(pages, self._token, limits[0], clock),
            AllowedTool(pages, self._token, limits[1]),
        ]
        threads = SearchThreads()
        self.tools += self._search_tools(threads)
        crawls = [folder for folder in self._folders if folder.is_crawl]
        self.tools.append(
            WhyStory(_Stories(crawls).story_of, threads) if crawls else WhyRules(pages, self._token, limits[1])
        )

    def _search_tools(self, threads: SearchThreads) -> list[Tool]:
        why_not = {folder: why_no_index(folder.path) for folder in self._folders}
        self.unsearched += [why for why in why_not.values() if why is not None]
        searched = [folder for folder, why in why_not.items() if why is None]
        if not searched:
            return []
        search = open_search_or_nothing([folder.path for folder in searched])
        return [SearchTool(search, StoredAiInput(searched, self._token).withheld, threads)]


class _Stories:
    """What became of URLs in the crawls of these folders."""

    def __init__(self, folders: Sequence[CrawlFolder]) -> None:
        self._stories = StoriesOfAll(
            [
                UrlStories(folder, CrawlBounds(folder), RemovalFile(folder.path).removals, takes_urls=False)
                for folder in folders
            ]
        )

    def story_of(self, url: Url) -> dict[str, object]:
        """Returns the story of a URL as JSON."""
        return story_json(self._stories.story_of(url))
