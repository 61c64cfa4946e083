"""Decides which links of a page, a sitemap or a feed go to the frontier, and which of them are refused and why."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Final

from goodbot.config import FollowRel, Settings
from goodbot.human import counted
from goodbot.live import Holding
from goodbot.lru import share_of
from goodbot.page.entries import ListKind
from goodbot.robot.crawl.seen_links import MAX_RECENT_URLS, SeenLinks
from goodbot.robot.crawl.sitemap_links import discoveries_of, sitemaps_of
from goodbot.robot.lessons.lessons_in_force import Refusal
from goodbot.robot.lessons.site_knowledge import SiteKnowledge
from goodbot.robot.scope.scope import Scope
from goodbot.url import Url, is_private_host
from goodbot.values import Discovery, Event, LeasedUrl, Link, ListedUrl, Page

_LEFT_OUT_RELS: Final[dict[FollowRel, frozenset[str]]] = {
    "both": frozenset(),
    "ugc": frozenset({"sponsored"}),
    "sponsored": frozenset({"ugc"}),
    "none": frozenset({"ugc", "sponsored"}),
}
HUB_HOSTS: Final = 5
"""A page with new links to this many hosts is a hub: its links are worth more than another page of one site."""


class Following:
    """Decides about the links of one crawl, in one process."""

    def __init__(self, settings: Settings, scope: Scope, knowledge: SiteKnowledge, processes: int = 1) -> None:
        self._settings = settings
        self._scope = scope
        self._knowledge = knowledge
        urls = share_of(MAX_RECENT_URLS, processes)
        self._recent = {public_only: SeenLinks(urls) for public_only in (False, True)}
        self._left_out_rels = _LEFT_OUT_RELS[settings.follow_rel]

    def holdings(self) -> tuple[Holding, ...]:
        """Returns how many URLs found recently are in memory."""
        return (Holding("recent_links", sum(map(len, self._recent.values()))),)

    def instead(self, leased: LeasedUrl, refusal: Refusal) -> tuple[Discovery, ...]:
        """Returns the URL to request in place of a refused one, if there is one."""
        if refusal.instead is None or refusal.instead == leased.url:
            return ()
        reason = self.refuse_from(leased, refusal.instead, leased.depth)
        return (Discovery(refusal.instead, leased.depth, leased.url, reason, public_only=leased.public_only),)

    def refuse(self, url: Url, depth: int) -> str | None:
        """Why a URL is not requested: out of scope, or part of a trap. None if it may be."""
        reason = self._scope.refuse(url, depth)
        if reason is None and (refusal := self._knowledge.refuse(url)) is not None:
            reason = refusal.reason
        return reason

    def refuse_from(self, leased: LeasedUrl, url: Url, depth: int) -> str | None:
        """Does the same as `refuse` for a URL found at `leased`. A URL that only public pages link to must not be a
        private address."""
        return self.refuse(url, depth) or refuse_private(url, leased.public_only)

    def links(self, leased: LeasedUrl, page: Page, at: float) -> tuple[tuple[Discovery, ...], Event]:
        if not page.directives.follow:
            return (), Event(at, "follow", "no", nofollow_reason(page))
        links = [link for link in page.links if not self._is_left_out(link)] if self._left_out_rels else page.links
        followed = [link.url for link in links if not link.rel or link.follow]
        found = self.new_links(leased, followed)
        new = [
            discovery for discovery in found if discovery.inlinks == 1
        ]  # the others raise the priority of known URLs
        refused = sum(discovery.refused is not None for discovery in new)
        marked = len(page.links) - len(followed)
        reason = (
            f"{counted(len(followed), 'link')}, {len(new)} new, {refused} of these out of scope, "
            f"{marked} marked {' or '.join(('nofollow', *sorted(self._left_out_rels)))}"
        )
        return found, Event(at, "follow", "yes", reason)

    def listed(
        self, leased: LeasedUrl, kind: ListKind, listed: Sequence[ListedUrl], at: float
    ) -> tuple[Discovery, ...]:
        """Returns all URLs of a sitemap or feed, also those found recently, since they may have a new hint."""
        if cleaned := self._knowledge.cleaned_of(item.url for item in listed):
            listed = tuple(item._replace(url=cleaned.get(item.url, item.url)) for item in listed)
        return discoveries_of(leased, kind, listed, at, partial(self.refuse_from, leased))

    def sitemaps(self, robots_txt: Url, sitemaps: Sequence[Url], public_only: bool = False) -> tuple[Discovery, ...]:
        """Returns the sitemaps that a robots.txt names, if this crawl uses sitemaps. `public_only`: a public host sent
        it."""

        def refuse(url: Url, depth: int) -> str | None:
            return self._scope.refuse(url, depth) or refuse_private(url, public_only)

        uses_sitemaps = self._settings.sitemaps and self._settings.scope != "page"
        return sitemaps_of(robots_txt, sitemaps, refuse, public_only) if uses_sitemaps else ()

    def _is_left_out(self, link: Link) -> bool:
        """Whether the settings leave out links with a `rel` as this one has."""
        return not self._left_out_rels.isdisjoint(" ".join(link.rel).replace(",", " ").split())

    def new_links(self, leased: LeasedUrl, urls: Iterable[Url]) -> tuple[Discovery, ...]:
        """Returns those of the links that go to the frontier. The links of a hub get a higher priority.

        Links from public hosts are remembered separately: if a private host links to the same URL, that link has to go
        to the frontier all the same, because it may lead to a private address."""
        depth, public_only = leased.depth + 1, leased.public_only
        recent = self._recent[public_only]
        new = recent.new(urls, depth)
        if cleaned := self._knowledge.cleaned_of(url for url, _ in new):
            new = [item for item in new if item[0] not in cleaned]
            new += recent.new(cleaned.values(), depth)
        priority = int(len({url.host_key for url, _ in new}) >= HUB_HOSTS)
        found, instead = [], []
        for url, times in new:
            reason = self._scope.refuse(url, depth)
            if reason is None and (refusal := self._knowledge.refuse(url)) is not None:
                reason = refusal.reason
                instead += [] if refusal.instead is None else [refusal.instead]
            reason = reason or refuse_private(url, public_only)
            found.append(Discovery(url, depth, leased.url, reason, public_only, priority=priority, inlinks=times))
        for url, times in recent.new(instead, depth):
            reason = self.refuse_from(leased, url, depth)
            found.append(Discovery(url, depth, leased.url, reason, public_only, priority=priority, inlinks=times))
        return tuple(found)


def refuse_private(url: Url, public_only: bool) -> str | None:
    """Why a URL with a private address is not requested if only public hosts link to it. For host names the address
    guard decides, once their address is known."""
    if public_only and is_private_host(url.host):
        return f"only public pages lead to the private address {url.host}, so it is not fetched"
    return None


def directive_sources(page: Page, effect: str) -> str:
    """Names the directives about `effect` and their origins, also those that were overruled."""
    return ", ".join(f"{source.directive} in {source.origin}" for source in page.directives.why(effect))


def nofollow_reason(page: Page) -> str:
    """Says why no link of the page is followed."""
    return f"the page asks not to be followed: {directive_sources(page, 'follow')}"


def unread_note(page: Page) -> str:
    """Says which part of the page could not be read, as the end of a sentence; empty if all was read."""
    return f"; {page.unread}" if page.unread else ""
