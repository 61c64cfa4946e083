"""Where a page leads: which of its links, and of what it lists, the frontier has to hear of, each with its refusal."""

from collections.abc import Iterable, Sequence
from typing import Final

from goodbot.config import FollowRel, Settings
from goodbot.robot.experience import Experience
from goodbot.robot.lately import Lately
from goodbot.robot.learned import Refusal
from goodbot.robot.listings import LISTS_MOST, discoveries_of, is_one_too_many, sitemaps_of
from goodbot.robot.scope import Scope
from goodbot.url import Url
from goodbot.values import Discovery, Event, LeasedUrl, Link, Page

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

    def __init__(self, settings: Settings, scope: Scope, experience: Experience) -> None:
        self._settings = settings
        self._scope = scope
        self._experience = experience
        self._lately = Lately()
        self._shunned = _SHUNNED[settings.follow_rel]

    def instead(self, leased: LeasedUrl, refusal: Refusal) -> tuple[Discovery, ...]:
        """What is to be asked for in place of a URL that is not."""
        if refusal.instead is None or refusal.instead == leased.url:
            return ()
        reason = self.refuse(refusal.instead, leased.depth)
        return (Discovery(refusal.instead, leased.depth, leased.url, reason, public_only=leased.public_only),)

    def refuse(self, url: Url, depth: int) -> str | None:
        """Why a URL found is not asked for: out of scope, or a trap."""
        reason = self._scope.refuse(url, depth)
        if reason is None and (refusal := self._experience.refuse(url)) is not None:
            reason = refusal.reason
        return reason

    def links(self, leased: LeasedUrl, page: Page, at: float) -> tuple[tuple[Discovery, ...], Event]:
        if not page.directives.follow:
            why = sources(page, "follow")
            return (), Event(at, "follow", "no", f"the page asks not to be followed: {why}")
        if page.listed:
            return self._listed(leased, page, at)
        links = [link for link in page.links if not self._is_shunned(link)] if self._shunned else page.links
        followed = [link.url for link in links if link.follow]
        found = self.news(leased, followed)
        refused = sum(discovery.refused is not None for discovery in found)
        marked = len(page.links) - len(followed)
        reason = (
            f"{len(followed)} links, {len(found)} of them not found lately, {refused} of those out of scope, "
            f"{marked} marked {' or '.join(('nofollow', *sorted(self._shunned)))}"
        )
        return found, Event(at, "follow", "yes", reason)

    def _listed(self, leased: LeasedUrl, page: Page, at: float) -> tuple[tuple[Discovery, ...], Event]:
        """What a sitemap or a feed names. All of it: what was found lately may have a hint now."""
        if is_one_too_many(leased):
            return (), Event(at, "follow", "no", f"more than {LISTS_MOST} sitemaps, feeds and redirects in a row")
        listed = page.listed
        if cleaned := self._experience.cleaned_of(item.url for item in listed):
            listed = tuple(item._replace(url=cleaned.get(item.url, item.url)) for item in listed)
        found = discoveries_of(leased, listed, at, self.refuse)
        refused = sum(discovery.refused is not None for discovery in found)
        reason = f"a list of {len(found)} URLs, {refused} of them out of scope{unread(page)}"
        return found, Event(at, "follow", "yes", reason)

    def sitemaps(self, robots_txt: Url, sitemaps: Sequence[Url]) -> tuple[Discovery, ...]:
        """What a robots.txt names, if this crawl takes it up."""
        wanted = self._settings.sitemaps and self._settings.scope != "page"
        return sitemaps_of(robots_txt, sitemaps, self._scope.refuse) if wanted else ()

    def _is_shunned(self, link: Link) -> bool:
        """Whether this crawl leaves out links marked as this one is."""
        return not self._shunned.isdisjoint(" ".join(link.rel).replace(",", " ").split())

    def news(self, leased: LeasedUrl, urls: Iterable[Url]) -> tuple[Discovery, ...]:
        """The links the frontier has to hear of. Those of a hub, which leads to many hosts, come first."""
        depth = leased.depth + 1
        news = self._lately.news(urls, depth)
        if cleaned := self._experience.cleaned_of(url for url, _ in news):
            news = [new for new in news if new[0] not in cleaned]
            news += self._lately.news(cleaned.values(), depth)
        priority = int(len({url.host_key for url, _ in news}) >= HUB_HOSTS)
        found, instead = [], []
        for url, times in news:
            reason = self._scope.refuse(url, depth)
            if reason is None and (refusal := self._experience.refuse(url)) is not None:
                reason = refusal.reason
                instead += [] if refusal.instead is None else [refusal.instead]
            found.append(Discovery(url, depth, leased.url, reason, priority=priority, inlinks=times))
        found += (
            Discovery(url, depth, leased.url, self.refuse(url, depth), priority=priority, inlinks=times)
            for url, times in self._lately.news(instead, depth)
        )
        return tuple(found)


def sources(page: Page, effect: str) -> str:
    """The directives that decided it; those that would have had it otherwise may be among them."""
    return ", ".join(f"{source.directive} in {source.origin}" for source in page.directives.why(effect))


def unread(page: Page) -> str:
    """What of it could not be read, to be put behind a sentence."""
    return f"; {page.unread}" if page.unread else ""
