"""Pages that are other pages' copies: by their own word, by their text, by the whole origin. Bounded memory, no I/O.

The first of equal pages represents them. What is remembered is of one process and one run. Of pages read before, the
frontier knows digests: those tell what is the same, not what is almost the same.
"""

import re
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from goodbot.lesson_values import IndexedPage
from goodbot.lru import LruCache, share_of
from goodbot.page.fingerprint import Fingerprint, fingerprint
from goodbot.url import Url
from goodbot.values import Page

TEXTS_MOST: Final = 8192
"""Representatives compared with: 1.2 kB each, 10 MB."""
DIGESTS_MOST: Final = 16_384
"""Bodies known: 0.4 kB each, 7 MB."""
CANONICALS_MOST: Final = 16_384
"""Pages that name another, or lead to one: 0.3 kB each, 5 MB."""
ORIGINS_MOST: Final = 4096
REMEMBERED_MOST: Final = 16_384
"""Pages read in an earlier run: 0.5 kB each, 8 MB."""

ALIKE: Final = 0.95
LONG_WORDS: Final = 200
"""Texts that are almost the same are one, if they are long and have the same title and headings: in short pages the
word that differs is what the page is about, as it is in titles. See docs/decisions/0017."""

MIRRORED: Final = 3
"""Pages that name the same path of one other origin, and none that does not: the whole origin is its mirror."""

TITLES_MOST: Final = 3
"""Pages of so many titles may name one canonical URL; who names it from everywhere has made a mistake."""

_CHAIN_MOST: Final = 10
_NUMBER = re.compile(r"[0-9]++")


class Copy(NamedTuple):
    """Which page it is a copy of, and how that is known."""

    of: Url
    reason: str


@dataclass(slots=True)
class _Text:
    """A representative: its text, its title and headings, and where it is found."""

    url: Url
    heads: int
    mark: Fingerprint
    keys: tuple[int, ...]


@dataclass(slots=True)
class _Origin:
    """Whom an origin names: pages that name the same path elsewhere, and whether one did not."""

    counterpart: str = ""
    pages: int = 0
    is_own: bool = False


@dataclass(slots=True)
class _Named:
    """Hashes of the titles of those who name one canonical URL: a title may be as long as a page."""

    titles: set[int] = field(default_factory=set)


class Copies:
    """The pages of one process, for as long as they are remembered."""

    def __init__(self, processes: int = 1) -> None:
        self._texts: LruCache[str, _Text] = LruCache(share_of(TEXTS_MOST, processes))
        self._places: LruCache[int, str] = LruCache(share_of(TEXTS_MOST * 5, processes))
        self._digests: LruCache[str, Url] = LruCache(share_of(DIGESTS_MOST, processes))
        self._bodies: LruCache[str, str] = LruCache(share_of(DIGESTS_MOST, processes))
        self._said: LruCache[tuple[str, str], Url] = LruCache(share_of(REMEMBERED_MOST, processes))
        self._sayings: LruCache[str, tuple[str, str]] = LruCache(share_of(REMEMBERED_MOST, processes))
        self._leads: LruCache[str, str] = LruCache(share_of(CANONICALS_MOST, processes))
        self._named: LruCache[str, _Named] = LruCache(share_of(CANONICALS_MOST, processes))
        self._lost: LruCache[str, bool] = LruCache(share_of(CANONICALS_MOST, processes))
        self._origins: LruCache[str, _Origin] = LruCache(ORIGINS_MOST)

    # ---- by the page's own word

    def names(self, page: Page, canonical: Url) -> Copy | None:
        """Whether a page is a copy of the canonical URL it states, or of what that leads to; `canonical` may be asked
        for, and is another URL."""
        self._leads.put(page.url.text, canonical.text)
        titles = self._named.get_or(canonical.text, _Named).titles
        if len(titles) <= TITLES_MOST:
            titles.add(hash(_NUMBER.sub("0", page.title)))
        end = self._end(page.url)
        if end is None or _is_variant(page.url, canonical) or self.mistake(page.url, canonical):
            return None
        onward = "" if end == canonical.text else f", which leads to {end}"
        return Copy(Url(end), f"the page says that it is a copy of {canonical}{onward}")

    def mistake(self, url: Url, canonical: Url) -> str | None:
        """Why a page that names that canonical URL is mistaken, as far as is known."""
        named = self._named.get(canonical.text)
        if named is not None and len(named.titles) > TITLES_MOST:
            return f"pages of more than {TITLES_MOST} titles name {canonical} as their canonical URL"
        end = self._end(url)
        if end is None:
            return f"the canonical URL {canonical} leads back"
        if self._lost.get(canonical.text) or self._lost.get(end):
            return f"there is no page at the canonical URL {canonical}"
        return None

    def _end(self, url: Url) -> str | None:
        """Where a page leads that names another, if need be by others; None: back to itself, or on and on."""
        place = url.text
        for _ in range(_CHAIN_MOST):
            onward = self._leads.get(place)
            if onward is None:
                return place
            if onward == url.text:
                return None
            place = onward
        return None  # an endless chain has no end to be a copy of

    def led(self, url: Url, target: Url) -> None:
        """A redirect: who names `url` names `target`."""
        self._leads.put(url.text, target.text)

    def lost(self, url: Url) -> None:
        """There is no such page: who names it as canonical is mistaken, and who says the same stands for itself."""
        self._lost.put(url.text, True)
        self._forget(url)

    # ---- by the origin

    def mirrors(self, url: Url, canonical: Url | None) -> str | None:
        """Takes whom a page of an origin names, None: nobody; the origin it is a mirror of, once that is plain."""
        known = self._origins.get_or(url.origin, _Origin)
        if canonical is not None and canonical.target == url.target and canonical.origin != url.origin:
            known.is_own = known.is_own or known.counterpart not in ("", canonical.origin)
            known.counterpart = canonical.origin
            known.pages += 1
        else:
            known.is_own = True
        return known.counterpart if known.pages >= MIRRORED and not known.is_own else None

    # ---- by the text

    def remember(self, said: IndexedPage) -> None:
        """A page in the index that is not read in this run, or not yet."""
        url, digest, text = said
        if self._texts.get(url.text) or self._bodies.get(url.text):
            return
        if digest is not None and self._digests.get(digest) is None:
            self._digests.put(digest, url)
            self._bodies.put(url.text, digest)
        if text is not None and self._said.get((url.origin, text)) is None:
            self._said.put((url.origin, text), url)
            self._sayings.put(url.text, (url.origin, text))

    def same(self, page: Page, digest: str | None, text: str | None = None, before: Url | None = None) -> Copy | None:
        """The representative of a page that lets itself be indexed; None: it is its own from now on. `text`: see
        `IndexedPage`; `before`: whose copy it was, if it is still what it was."""
        url = page.url
        self._forget(url)
        if digest is not None:
            known = self._digests.get(digest)
            if known is not None and known != url:
                return Copy(known, f"the same bytes as {known}")
        if text is not None and len(self._said):
            known = self._said.get((url.origin, text))
            if known is not None:
                return Copy(known, f"the same text as {known}")
        if page.text:
            mark, heads = fingerprint(page.text), hash((page.title, page.headings))
            bands = mark.bands() if mark.words >= LONG_WORDS else ()
            origin = url.origin
            keys = tuple(hash((origin, key)) for key in (hash((page.title, mark.exact)), *bands))
            copy = self._alike(keys, heads, mark)
            if copy is not None:
                return copy
            if before is not None and not (self._texts.get(before.text) or self._lost.get(before.text)):
                return Copy(before, f"it is what it was, a copy of {before}")
            self._texts.put(url.text, _Text(url, heads, mark, keys))
            for key in keys:
                self._places.put(key, url.text)
        if digest is not None:
            self._digests.put(digest, url)
            self._bodies.put(url.text, digest)
        return None

    def _alike(self, keys: tuple[int, ...], heads: int, mark: Fingerprint) -> Copy | None:
        """One with the same title and text, or with the same title and headings and almost the same text."""
        for number, key in enumerate(keys):
            place = self._places.get(key)
            other = self._texts.get(place) if place is not None else None
            if other is None:
                continue
            likeness = other.mark.likeness(mark)
            if number == 0 and likeness == 1.0:
                return Copy(other.url, f"the same text as {other.url}")
            if number and likeness >= ALIKE and other.heads == heads:
                return Copy(other.url, f"almost the same text as {other.url} ({likeness:.1%})")
        return None

    def _forget(self, url: Url) -> None:
        """What it said before: it is judged anew, and so are its copies when they are visited."""
        saying = self._sayings.pop(url.text)
        if saying is not None:
            self._said.pop(saying)
        body = self._bodies.pop(url.text)
        if body is not None and self._digests.get(body) == url:
            self._digests.pop(body)
        before = self._texts.pop(url.text)
        if before is not None:
            for key in before.keys:
                if self._places.get(key) == url.text:
                    self._places.pop(key)


def _is_variant(url: Url, canonical: Url) -> bool:
    """Whether the two differ in scheme, `www.`, a slash at the end or upper case only: one of them leads to the other
    on many sites, so that nobody would be left. Their texts tell."""
    return _folded(url) == _folded(canonical)


def _folded(url: Url) -> str:
    return f"{url.authority.removeprefix('www.')}{url.target}".lower().rstrip("/")
