"""Makes the facts of an audit from the records of a crawl and the pages that were read."""

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from typing import Final

from goodbot.audit.site_facts import PageFacts, UrlFacts
from goodbot.check.page_checks import SEARCH_ENGINES
from goodbot.exclusion import Access, Directives, Verdict
from goodbot.exclusion.text.shown_text import unicode_only
from goodbot.lru import LruCache
from goodbot.page.extract import Extract
from goodbot.robot.crawl.answer_facts import redirected_to
from goodbot.robot.lessons.cleaning import Drops, clean, drops_of, is_plain
from goodbot.store.merge.limits import found_on
from goodbot.url import Url, resolve, resolve_all
from goodbot.values import OWN_REFUSALS, REDIRECTS, Headers, Page, UrlRecord

MAX_LANG_CHARS: Final = 200
MAX_DIRECTIVE_CHARS: Final = 300
_ORIGINS_KEPT: Final = 256
_OWN_GUARD: Final = tuple(f"{kind}:" for kind in sorted(OWN_REFUSALS))
"""Failures that the robot decided on itself, so they say nothing about the site."""


def url_facts(record: UrlRecord) -> UrlFacts | None:
    """Returns what the last visit of a URL found; None if it was not visited."""
    url, why, status = record.url.text, record.why, record.status
    match record.state:
        case "visited" if status in REDIRECTS:
            return UrlFacts(url, "redirect", status, why, redirected_to(why))
        case "visited":
            return UrlFacts(url, "page", status, why)
        case "gone" | "disallowed":
            return UrlFacts(url, record.state, status, why)
        case "failed" if not why.startswith(_OWN_GUARD):
            return UrlFacts(url, "failed", status, why)
    return None


def engine_directives(metas: Sequence[tuple[str, str]], headers: Headers) -> list[Directives]:
    """Returns the directives of a page for each of `SEARCH_ENGINES`."""
    return [Directives.parse(metas, headers, agent) for agent in SEARCH_ENGINES]


def noindex_of(each: Iterable[Directives]) -> str | None:
    """Returns the directives that forbid indexing, for the first search engine that they apply to; None if all may
    index the page."""
    forbidding = next((directives for directives in each if not directives.index), None)
    if forbidding is None:
        return None
    named = ", ".join(f"{source.directive} in {source.origin}" for source in forbidding.why("index")[:5])
    return unicode_only(named[:MAX_DIRECTIVE_CHARS] or "noindex")


def page_facts(
    page: Page, *, is_html: bool, lang: str | None, noindex: str | None, size_bytes: int, taken_s: float | None
) -> PageFacts:
    """Returns what the audit keeps of a page. `lang` is that of the html element, as written; `noindex` see
    `noindex_of`."""
    return PageFacts(
        url=page.url.text,
        is_html=is_html,
        title=unicode_only(page.title),
        lang=None if lang is None else unicode_only(lang[:MAX_LANG_CHARS]),
        language=page.language,
        noindex=noindex,
        canonical=None if page.canonical is None else page.canonical.text,
        size_bytes=size_bytes,
        taken_s=taken_s,
    )


def links_but(page: Page, found: Extract, rels: Set[str]) -> Iterator[Url]:
    """Yields the URLs to which the page links. Leaves out a URL if all its links have one of these rel values and no
    text. `found` has every link; `Page.links` has each URL once."""
    left = {link.url for link in page.links if not link.anchor and not rels.isdisjoint(link.rel)}
    if left - {page.url}:
        base = (resolve(page.url, found.base) if found.base is not None else None) or page.url
        others = [link.href for link in found.links if not link.anchor and rels.isdisjoint(link.rel)]
        left = left.difference(resolve_all(base, others))
    return (link.url for link in page.links if link.url not in left)


class RequestedUrls:
    """Finds the URLs that a crawl requests for links: without tracking parameters, and without the parameters that
    Clean-param records of robots.txt name. Keeps the records of the last 256 origins in memory."""

    def __init__(self, load_robots: Callable[[str], Access | None]) -> None:
        self._load = load_robots
        self._kept: LruCache[str, tuple[Drops | None]] = LruCache(_ORIGINS_KEPT)

    def both(self, urls: Iterable[Url]) -> set[str]:
        """Returns the URLs as written and as requested."""
        urls = list(urls)
        cleaned = (clean(url, self._drops(url.origin)).text for url in urls if not is_plain(url.text))
        return {url.text for url in urls} | set(cleaned)

    def _drops(self, origin: str) -> Drops | None:
        kept = self._kept.get(origin)
        if kept is None:
            access = self._load(origin)
            usable = access is not None and access.result == "successful"
            kept = (drops_of(access.rules.clean_params) if access is not None and usable else None,)
            self._kept.put(origin, kept)
        return kept[0]


def source_of(record: UrlRecord) -> str | None:
    """Returns the page at which a URL was found first; None for a seed or a submission."""
    return next((source for event in record.events if (source := found_on(event)) is not None), None)


class DisallowedUrls:
    """Says which URLs robots.txt disallows for a search engine. Keeps the files of the last 256 origins in memory."""

    def __init__(self, load_robots: Callable[[str], Access | None]) -> None:
        self._load = load_robots
        self._kept: LruCache[str, Callable[[str], Verdict | None]] = LruCache(_ORIGINS_KEPT)

    def __call__(self, url: str) -> Verdict | None:
        """Returns the verdict that disallows the URL for a search engine; None if all may fetch it, or if the
        robots.txt is not known."""
        origin = Url(url).origin
        disallowed = self._kept.get(origin)
        if disallowed is None:
            disallowed = self._of_origin(origin)
            self._kept.put(origin, disallowed)
        return disallowed(url)

    def _of_origin(self, origin: str) -> Callable[[str], Verdict | None]:
        access = self._load(origin)
        if access is None or access.result != "successful":
            return lambda url: None
        rules = access.rules

        def disallowed(url: str) -> Verdict | None:
            verdicts = (rules.verdict(url, agent) for agent in SEARCH_ENGINES if not rules.allows(url, agent))
            return next(verdicts, None)

        return disallowed
