"""What a robot process has learned on its way: how URLs are cleaned, which are traps, which pages are copies.

Bounded memory: 120 MB at most, when all of it is full; a crawl of 85,000 pages needs a quarter of it. No I/O.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from goodbot.config import Settings
from goodbot.robot.cleaning import CleanParams, Drops, clean, drops_of, is_plain
from goodbot.robot.copies import Copies, Copy
from goodbot.robot.learned import Learned, Refusal
from goodbot.robot.oddity import odd
from goodbot.robot.recent import Recent
from goodbot.robot.traps import Traps, Visit
from goodbot.url import Url
from goodbot.values import LeasedUrl, Lesson, Outcome, Page, Response, Said

ORIGINS_MOST: Final = 4096
"""Whose Clean-param records are kept at hand."""

Allows = Callable[[Url, int], bool]
"""Whether a URL found so deep may be asked for: it belongs to the crawl, and no robots.txt at hand forbids it."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a page is beside itself. `sorry`: why it is a soft 404; `copy`: whose copy it is, `alike`: by its text."""

    sorry: str | None = None
    copy: Copy | None = None
    alike: bool = False

    @property
    def reason(self) -> str | None:
        """Why it is not indexed, if it is not."""
        return self.sorry or (self.copy.reason if self.copy is not None else None)


_NOTHING: Final = Judgement()


class Experience:
    """Of one process. What `Settings` turn off is neither looked at nor learned."""

    def __init__(self, settings: Settings, allows: Allows) -> None:
        self._cleans = settings.clean_urls
        self._sees_copies = settings.duplicates
        self._sees_traps = settings.traps
        self._allows = allows
        self._learned = Learned()
        self._traps = Traps(self._learned)
        self._copies = Copies()
        self._drops: Recent[str, tuple[CleanParams, Drops]] = Recent(ORIGINS_MOST)

    # ---- lessons

    def take(self, lessons: Iterable[Lesson]) -> None:
        """Learned before, or by another."""
        self._learned.take(lessons)

    def news(self) -> list[Lesson]:
        """What was learned since it was asked last."""
        return self._traps.news()

    def hears(self, origin: str, records: CleanParams) -> None:
        """The Clean-param records of the robots.txt of an origin, as often as it is asked; none: forgets those."""
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
        """Those links that are to be asked for under another URL, and that."""
        dirty = ((url, self.cleaned(url)) for url in urls if not is_plain(url.text))
        return {url: cleaned for url, cleaned in dirty if cleaned != url}

    def cleaned(self, url: Url) -> Url:
        """A link or the target of a redirect as it is to be asked for."""
        if self._cleans:
            heard = self._drops.get(url.origin) if len(self._drops) else None
            url = clean(url, heard[1] if heard is not None else None)
        if self._sees_traps and "?" in url.text:
            text = self._learned.without_learned(url.text)
            url = url if text == url.text else Url(text)
        return url

    def refuse(self, url: Url) -> Refusal | None:
        """Why a link is a trap, or leads to a mirror."""
        if self._sees_traps and (reason := odd(url.text)):
            return Refusal(reason)
        return self._learned.refuse(url.text)

    def refuse_leased(self, leased: LeasedUrl) -> Refusal | None:
        """Why what waited is not asked for now. Seeds are, and where redirects lead, and what was visited before."""
        return None if leased.depth == 0 or leased.hops or leased.seen is not None else self.refuse(leased.url)

    # ---- pages

    def visited(self, visit: Visit, depth: int, *, follows: bool) -> Judgement:
        """Takes a page. Who asks not to be followed names no other page either."""
        sorry = self._traps.visited(visit) if self._sees_traps else None
        copy = self._own_word(visit, depth) if self._sees_copies and follows and sorry is None else None
        return Judgement(sorry, copy) if sorry or copy else _NOTHING

    def _own_word(self, visit: Visit, depth: int) -> Copy | None:
        canonical = visit.page.canonical
        if canonical is not None:
            canonical = self.cleaned(canonical)
            if canonical != visit.url and not self._allows(canonical, depth):
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

    def _learn_mirror(self, visit: Visit, canonical: Url | None) -> None:
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
        """Whose copy a page is by its text, that lets itself be indexed. See `Copies.same`."""
        if not self._sees_copies or not response.body:
            return None
        return self._copies.same(page, digest, text, before)

    def remember(self, said: Iterable[Said]) -> None:
        """Pages in the index that are not read now."""
        if self._sees_copies:
            for item in said:
                self._copies.remember(item)

    def settled(self, outcome: Outcome) -> None:
        """What became of a URL that is no page."""
        if outcome.state in ("gone", "failed") or (outcome.from_index and outcome.same_as is None):
            self._copies.lost(outcome.url)
        elif outcome.status is not None and 300 <= outcome.status < 400 and outcome.links:
            self._copies.led(outcome.url, outcome.links[0].url)
