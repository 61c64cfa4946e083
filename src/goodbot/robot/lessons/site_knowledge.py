"""Brings together what one process learns about sites: how to clean URLs, which URLs are traps, which pages are copies.

Bounded memory: each part states its own bound. No I/O.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from goodbot.config import Settings
from goodbot.lesson_values import IndexedPage, Lesson
from goodbot.live import Holding
from goodbot.lru import LruCache, share_of
from goodbot.robot.lessons.budgets import PROBE_SHARE, Budgets
from goodbot.robot.lessons.cleaning import CleanParams, Drops, clean, drops_of, is_plain
from goodbot.robot.lessons.copies import Copies, Copy
from goodbot.robot.lessons.lessons_in_force import LessonsInForce, Refusal
from goodbot.robot.lessons.traps import Traps, TrapSigns, VisitedPage
from goodbot.robot.lessons.url_shape import trap_in_url
from goodbot.url import Url
from goodbot.values import LeasedUrl, Outcome, Page, Response

MAX_ORIGINS: Final = 4096
"""Origins whose Clean-param records are kept in memory."""

_OF_COPIES: Final = ("mirror", "canonical")
"""Lessons that the setting `duplicates` controls; `traps` controls the others."""


def applies(settings: Settings, lesson: Lesson) -> bool:
    """Returns whether a crawl with these settings applies such a lesson."""
    return settings.duplicates if lesson.kind in _OF_COPIES else settings.traps


Allows = Callable[[Url, int], bool]
"""Returns whether a URL found at a depth is in scope, and no known robots.txt disallows it."""


@dataclass(frozen=True, slots=True)
class PageJudgement:
    """How a page relates to others. `soft_404`: why it is a soft 404; `copy`: the page it is a copy of, `alike`: by its
    text; `doubtful`: it may belong to a trap, so the URLs it leads to can wait."""

    soft_404: str | None = None
    copy: Copy | None = None
    alike: bool = False
    doubtful: bool = False

    @property
    def reason(self) -> str | None:
        """Why it is not indexed; None if it is."""
        return self.soft_404 or (self.copy.reason if self.copy is not None else None)


CLEAN_PARAMS_BYTES: Final = 8 * 1024 * 1024
"""Memory for the Clean-param records of all origins. Those of a single origin may take 10 MB; they are then kept
alone."""


def _weight_bytes(records: tuple[CleanParams, Drops]) -> int:
    return sum(400 + 2 * len(path) + sum(120 + len(name) for name in names) for names, path in records[0])


class SiteKnowledge:
    """The knowledge of one worker process. The bounds are divided among the `processes` of the crawl. What `Settings`
    turn off is neither learned nor applied."""

    def __init__(self, settings: Settings, allows: Allows, processes: int = 1) -> None:
        self._settings = settings
        self._cleans = settings.clean_urls
        self._sees_copies = settings.duplicates
        self._sees_traps = settings.traps
        self._allows = allows
        self._learned = LessonsInForce()
        self._budgets = Budgets(settings.trap_pages, processes)
        self._traps = Traps(self._learned, self._budgets, processes)
        self._copies = Copies(processes)
        self._drops: LruCache[str, tuple[CleanParams, Drops]] = LruCache(
            MAX_ORIGINS, limit_bytes=share_of(CLEAN_PARAMS_BYTES, processes), weigh=_weight_bytes
        )

    def holdings(self) -> tuple[Holding, ...]:
        """Returns how many pages new ones are compared with, and how many URL families are watched."""
        return Holding("compared_pages", len(self._copies)), Holding("url_families", self._traps.families)

    # ---- lessons

    def take(self, lessons: Iterable[Lesson]) -> None:
        """Takes lessons of an earlier run or of another process, except those that the settings turn off."""
        for lesson in lessons:
            if applies(self._settings, lesson):
                self._learned.take((lesson,))
                self._take_budget(lesson)

    def _take_budget(self, lesson: Lesson) -> None:
        """Restores the budget that an earlier run left; the whole budget if an operator dropped the lesson (`times`
        0)."""
        origin, _, subject = lesson.about.partition(" ")
        match lesson.kind, subject, lesson.lapsed:
            case "budget", "spent", True:
                self._budgets.resume(origin, PROBE_SHARE if lesson.times else 1.0)
            case "budget", "spent", False:
                self._budgets.limit(origin, 0.0)
            case "budget", "half", False:
                self._budgets.limit(origin, 0.5)

    def pace(self, url: Url) -> int:
        """Returns the factor by which its host is crawled slower, because the site yields little."""
        return self._budgets.pace(url.origin) if self._sees_traps else 1

    def look_again(self, now: float) -> None:
        """Ends the lessons whose time is over. Call it often: it costs nothing until one is due."""
        if now >= self._learned.due_at:
            self._traps.lapse(now)

    def lesson_about(self, url: Url) -> Lesson | None:
        """Returns the lesson in force that keeps `url` out, or replaces it by another URL."""
        return self._learned.lesson_about(url.text)

    def news(self) -> list[Lesson]:
        """Returns what was learned since the last call."""
        return self._traps.news()

    def take_clean_params(self, origin: str, records: CleanParams) -> None:
        """Stores the Clean-param records of an origin's robots.txt, at every check; an empty list removes them."""
        if not self._cleans or not (records or len(self._drops)):
            return
        known = self._drops.get(origin)
        if known is not None and known[0] is records:
            return
        self._drops.pop(origin)
        drops = drops_of(records)
        if drops is not None:
            self._drops.put(origin, (records, drops))

    # ---- URLs

    def cleaned_of(self, urls: Iterable[Url]) -> dict[Url, Url]:
        """Returns the links that are requested under another URL, each with that URL."""
        dirty = ((url, self.cleaned(url)) for url in urls if not is_plain(url.text))
        return {url: cleaned for url, cleaned in dirty if cleaned != url}

    def cleaned(self, url: Url) -> Url:
        """Returns the URL under which a link or the target of a redirect is requested."""
        if self._cleans:
            records = self._drops.get(url.origin) if len(self._drops) else None
            url = clean(url, records[1] if records is not None else None)
        if self._sees_traps and "?" in url.text:
            text = self._learned.without_learned(url.text)
            url = url if text == url.text else Url(text)
        return url

    def refuse(self, url: Url) -> Refusal | None:
        """Returns why a link is a trap or leads to a mirror; None if neither."""
        if self._sees_traps and (reason := trap_in_url(url.text)):
            return Refusal(reason)
        return self._learned.refuse(url.text)

    def refuse_leased(self, leased: LeasedUrl) -> Refusal | None:
        """Returns why a waiting URL is not requested now; None if it is. Seeds, targets of redirects and pages visited
        before are never refused."""
        return None if leased.depth == 0 or leased.hops or leased.seen is not None else self.refuse(leased.url)

    # ---- pages

    def visited(self, visit: VisitedPage, depth: int, *, follows: bool) -> PageJudgement:
        """Judges a page. If its links may not be followed, its canonical URL does not count either."""
        self.look_again(visit.at)
        seen = self._traps.visited(visit) if self._sees_traps else TrapSigns()
        copy = self._stated_copy(visit, depth) if self._sees_copies and follows and seen.soft_404 is None else None
        return PageJudgement(seen.soft_404, copy, doubtful=seen.doubtful)

    def _stated_copy(self, visit: VisitedPage, depth: int) -> Copy | None:
        canonical = visit.page.canonical
        if canonical is not None:
            canonical = self.cleaned(canonical)
            if canonical != visit.url and not (self.refuse(canonical) is None and self._allows(canonical, depth)):
                canonical = None
        if "html" in visit.response.media_type:
            self._learn_mirror(visit, canonical)
        if canonical is None or canonical in (visit.url, self.cleaned(visit.url)):
            return None
        if self._learned.is_known("canonical", visit.url.origin, canonical.text):
            return None
        copy = self._copies.names(visit.page, canonical)
        if copy is None and (mistake := self._copies.mistake(visit.url, canonical)):
            self._traps.teach(visit.url, "canonical", canonical.text, mistake, visit.at)
        return copy

    def _learn_mirror(self, visit: VisitedPage, canonical: Url | None) -> None:
        counterpart = self._copies.mirrors(visit.url, canonical)
        if counterpart is not None:
            origin = visit.url.origin
            evidence = f"a mirror: all pages of {origin} say that they are copies of those at {counterpart}"
            self._traps.teach(visit.url, "mirror", counterpart, evidence, visit.at)

    def same(
        self,
        page: Page,
        response: Response,
        digest: str | None,
        text: str | None = None,
        before: Url | None = None,
    ) -> Copy | None:
        """Takes a page that may be indexed, and returns the page that it is a copy of, judged by content; None if it is
        no copy. See `Copies.same`."""
        if not self._sees_copies or not response.body:
            return None
        return self._copies.same(page, digest, text, before)

    def remember(self, indexed_pages: Iterable[IndexedPage]) -> None:
        """Adds pages of the index that were not read in this run."""
        if self._sees_copies:
            for item in indexed_pages:
                self._copies.remember(item)

    def settled(self, outcome: Outcome) -> None:
        """Notes if the outcome shows that the URL has no page of its own any more: gone, failed, redirected or out of
        the index."""
        leaves = outcome.from_index and outcome.same_as is None and not outcome.rereads
        if outcome.state in ("gone", "failed") or leaves:
            self._copies.lost(outcome.url)
        elif outcome.status is not None and 300 <= outcome.status < 400 and outcome.links:
            self._copies.led(outcome.url, outcome.links[0].url)
