"""Where a page leads: which of its links, and of what it lists, the frontier has to hear of, each with its refusal."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Final

from goodbot.config import FollowRel, Settings
from goodbot.human import counted
from goodbot.lru import share_of
from goodbot.page.entries import ListKind
from goodbot.robot.crawl.seen_links import LATELY_MOST, SeenLinks
from goodbot.robot.crawl.sitemap_links import discoveries_of, sitemaps_of
from goodbot.robot.lessons.lessons import Refusal
from goodbot.robot.lessons.site_knowledge import SiteKnowledge
from goodbot.robot.scope.scope import Scope
from goodbot.url import Url, is_private_host
from goodbot.values import Discovery, Event, LeasedUrl, Link, ListedUrl, Page

_SHUNNED: Final[dict[FollowRel, frozenset[str]]] = {
    "both": frozenset(),
    "ugc": frozenset({"sponsored"}),
    "sponsored": frozenset({"ugc"}),
    "none": frozenset({"ugc", "sponsored"}),
}
HUB_HOSTS: Final = 5
"""A page whose new links lead to so many hosts is a hub: what it names is worth more than one more page of one site."""


class Following:
    """The links of one crawl, as one robot process sees them."""

    def __init__(self, settings: Settings, scope: Scope, experience: SiteKnowledge, processes: int = 1) -> None:
        self._settings = settings
        self._scope = scope
        self._experience = experience
        urls = share_of(LATELY_MOST, processes)
        self._lately = {public_only: SeenLinks(urls) for public_only in (False, True)}
        self._shunned = _SHUNNED[settings.follow_rel]

    def instead(self, leased: LeasedUrl, refusal: Refusal) -> tuple[Discovery, ...]:
        """What is to be asked for in place of a URL that is not."""
        if refusal.instead is None or refusal.instead == leased.url:
            return ()
        reason = self.refuse_from(leased, refusal.instead, leased.depth)
        return (Discovery(refusal.instead, leased.depth, leased.url, reason, public_only=leased.public_only),)

    def refuse(self, url: Url, depth: int) -> str | None:
        """Why a URL found is not asked for: out of scope, or a trap."""
        reason = self._scope.refuse(url, depth)
        if reason is None and (refusal := self._experience.refuse(url)) is not None:
            reason = refusal.reason
        return reason

    def refuse_from(self, leased: LeasedUrl, url: Url, depth: int) -> str | None:
        """The same of a URL that was found at `leased`: what only public pages name must not be inside."""
        return self.refuse(url, depth) or refuse_inside(url, leased.public_only)

    def links(self, leased: LeasedUrl, page: Page, at: float) -> tuple[tuple[Discovery, ...], Event]:
        if not page.directives.follow:
            return (), Event(at, "follow", "no", asks_not(page))
        links = [link for link in page.links if not self._is_shunned(link)] if self._shunned else page.links
        followed = [link.url for link in links if link.follow]
        found = self.news(leased, followed)
        refused = sum(discovery.refused is not None for discovery in found)
        marked = len(page.links) - len(followed)
        reason = (
            f"{counted(len(followed), 'link')}, {len(found)} of them not found lately, "
            f"{refused} of those out of scope, {marked} marked {' or '.join(('nofollow', *sorted(self._shunned)))}"
        )
        return found, Event(at, "follow", "yes", reason)

    def listed(
        self, leased: LeasedUrl, kind: ListKind, listed: Sequence[ListedUrl], at: float
    ) -> tuple[Discovery, ...]:
        """What a sitemap or a feed names. All of it: what was found lately may have a hint now."""
        if cleaned := self._experience.cleaned_of(item.url for item in listed):
            listed = tuple(item._replace(url=cleaned.get(item.url, item.url)) for item in listed)
        return discoveries_of(leased, kind, listed, at, partial(self.refuse_from, leased))

    def sitemaps(self, robots_txt: Url, sitemaps: Sequence[Url], public_only: bool = False) -> tuple[Discovery, ...]:
        """What a robots.txt names, if this crawl takes it up. `public_only`: a public host gave it."""

        def refuse(url: Url, depth: int) -> str | None:
            return self._scope.refuse(url, depth) or refuse_inside(url, public_only)

        wanted = self._settings.sitemaps and self._settings.scope != "page"
        return sitemaps_of(robots_txt, sitemaps, refuse, public_only) if wanted else ()

    def _is_shunned(self, link: Link) -> bool:
        """Whether this crawl leaves out links marked as this one is."""
        return not self._shunned.isdisjoint(" ".join(link.rel).replace(",", " ").split())

    def news(self, leased: LeasedUrl, urls: Iterable[Url]) -> tuple[Discovery, ...]:
        """The links the frontier has to hear of. Those of a hub, which leads to many hosts, come first.

        What a public host names is remembered apart: a link that may lead inside has to be heard of all the same.
        """
        depth, public_only = leased.depth + 1, leased.public_only
        lately = self._lately[public_only]
        news = lately.news(urls, depth)
        if cleaned := self._experience.cleaned_of(url for url, _ in news):
            news = [new for new in news if new[0] not in cleaned]
            news += lately.news(cleaned.values(), depth)
        priority = int(len({url.host_key for url, _ in news}) >= HUB_HOSTS)
        found, instead = [], []
        for url, times in news:
            reason = self._scope.refuse(url, depth)
            if reason is None and (refusal := self._experience.refuse(url)) is not None:
                reason = refusal.reason
                instead += [] if refusal.instead is None else [refusal.instead]
            reason = reason or refuse_inside(url, public_only)
            found.append(Discovery(url, depth, leased.url, reason, public_only, priority=priority, inlinks=times))
        for url, times in lately.news(instead, depth):
            reason = self.refuse_from(leased, url, depth)
            found.append(Discovery(url, depth, leased.url, reason, public_only, priority=priority, inlinks=times))
        return tuple(found)


def refuse_inside(url: Url, public_only: bool) -> str | None:
    """Why a URL that only public hosts name is not asked for if it is written as a private address. Of a host name the
    guard says so, once its address is known."""
    if public_only and is_private_host(url.host):
        return f"only public pages lead to the private address {url.host}, so it is not fetched"
    return None


def sources(page: Page, effect: str) -> str:
    """The directives that decided it; those that would have had it otherwise may be among them."""
    return ", ".join(f"{source.directive} in {source.origin}" for source in page.directives.why(effect))


def asks_not(page: Page) -> str:
    """Why no link of the page is followed."""
    return f"the page asks not to be followed: {sources(page, 'follow')}"


def unread(page: Page) -> str:
    """What of it could not be read, to be put behind a sentence."""
    return f"; {page.unread}" if page.unread else ""
