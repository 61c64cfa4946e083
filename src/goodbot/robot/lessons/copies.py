"""Finds pages that are copies: by the canonical URL they state, by their text, and by mirrored origins. Bounded memory,
no I/O.

The first of equal pages represents them. What is remembered here belongs to one process and one run. For pages of
earlier runs the frontier keeps digests, which find equal texts, but not almost equal ones.
"""

import re
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from goodbot.lesson_values import IndexedPage
from goodbot.lru import LruCache, share_of
from goodbot.page.fingerprint import Fingerprint, fingerprint
from goodbot.url import Url
from goodbot.values import Page

MAX_TEXTS: Final = 8192
"""Representatives that texts are compared with: 1.2 kB each, 10 MB."""
MAX_DIGESTS: Final = 16_384
"""Digests of bodies: 0.4 kB each, 7 MB."""
MAX_CANONICALS: Final = 16_384
"""Pages that state another canonical URL, or redirect to one: 0.3 kB each, 5 MB."""
MAX_ORIGINS: Final = 4096
MAX_REMEMBERED: Final = 16_384
"""Pages read in an earlier run: 0.5 kB each, 8 MB."""

ALIKE: Final = 0.95
LONG_WORDS: Final = 200
"""Almost equal texts count as one if they are long and have the same title and headings. In short pages, as in titles,
the word that differs is what the page is about. See docs/decisions/0017."""

MIRRORED: Final = 3
"""An origin is a mirror of another one if this many of its pages state the same path there as canonical, and none
states anything else."""

MAX_TITLES: Final = 3
"""Pages with up to this many different titles may name one canonical URL; if more do, the site has made a mistake."""

_MAX_CHAIN: Final = 10
_NUMBER = re.compile(r"[0-9]++")


class Copy(NamedTuple):
    """The page that another one is a copy of, and how that is known."""

    of: Url
    reason: str


@dataclass(slots=True)
class _Text:
    """A representative: its URL, its title and headings, and its text."""

    url: Url
    heads: int
    mark: Fingerprint
    keys: tuple[int, ...]


@dataclass(slots=True)
class _Origin:
    """The origin that the canonical URLs of an origin's pages point to. `pages`: how many have the same path there;
    `is_own`: at least one page has not."""

    counterpart: str = ""
    pages: int = 0
    is_own: bool = False


@dataclass(slots=True)
class _Named:
    """Hashes of the titles of the pages that name one canonical URL; a title itself may be as long as a page."""

    titles: set[int] = field(default_factory=set)


class Copies:
    """Remembers the pages of one process, and finds copies among them."""

    def __init__(self, processes: int = 1) -> None:
        self._texts: LruCache[str, _Text] = LruCache(share_of(MAX_TEXTS, processes))
        self._places: LruCache[int, str] = LruCache(share_of(MAX_TEXTS * 5, processes))
        self._digests: LruCache[str, Url] = LruCache(share_of(MAX_DIGESTS, processes))
        self._bodies: LruCache[str, str] = LruCache(share_of(MAX_DIGESTS, processes))
        self._indexed_texts: LruCache[tuple[str, str], Url] = LruCache(share_of(MAX_REMEMBERED, processes))
        self._text_of_url: LruCache[str, tuple[str, str]] = LruCache(share_of(MAX_REMEMBERED, processes))
        self._leads: LruCache[str, str] = LruCache(share_of(MAX_CANONICALS, processes))
        self._named: LruCache[str, _Named] = LruCache(share_of(MAX_CANONICALS, processes))
        self._lost: LruCache[str, bool] = LruCache(share_of(MAX_CANONICALS, processes))
        self._origins: LruCache[str, _Origin] = LruCache(MAX_ORIGINS)

    def __len__(self) -> int:
        """The number of pages that others are compared with: by their bytes, and with an index also by their text."""
        return len(self._bodies)

    # ---- by the canonical URL that a page states

    def names(self, page: Page, canonical: Url) -> Copy | None:
        """Returns the original if a page is a copy of the canonical URL it states, or of the page that this leads to.
        `canonical` is another URL, which may be requested."""
        self._leads.put(page.url.text, canonical.text)
        titles = self._named.get_or(canonical.text, _Named).titles
        if len(titles) <= MAX_TITLES:
            titles.add(hash(_NUMBER.sub("0", page.title)))
        end = self._end(page.url)
        if end is None or _is_variant(page.url, canonical) or self.mistake(page.url, canonical):
            return None
        onward = "" if end == canonical.text else f", which leads to {end}"
        return Copy(Url(end), f"the page says that it is a copy of {canonical}{onward}")

    def mistake(self, url: Url, canonical: Url) -> str | None:
        """Returns why it is a mistake that a page names that canonical URL, as far as known; None if it is not."""
        named = self._named.get(canonical.text)
        if named is not None and len(named.titles) > MAX_TITLES:
            return f"pages of more than {MAX_TITLES} titles name {canonical} as their canonical URL"
        end = self._end(url)
        if end is None:
            return f"the canonical URL {canonical} leads back to the page"
        if self._lost.get(canonical.text) or self._lost.get(end):
            return f"there is no page at the canonical URL {canonical}"
        return None

    def _end(self, url: Url) -> str | None:
        """Follows canonical URLs and redirects from a page to their end; None if they lead back to it, or do not
        end."""
        place = url.text
        for _ in range(_MAX_CHAIN):
            onward = self._leads.get(place)
            if onward is None:
                return place
            if onward == url.text:
                return None
            place = onward
        return None  # an endless chain has no original

    def led(self, url: Url, target: Url) -> None:
        """Records a redirect: a page that names `url` as canonical thereby names `target`."""
        self._leads.put(url.text, target.text)

    def lost(self, url: Url) -> None:
        """Records that there is no such page: naming it as canonical is a mistake, and equal pages are no longer copies
        of it."""
        self._lost.put(url.text, True)
        self._forget(url)

    # ---- by the origin

    def mirrors(self, url: Url, canonical: Url | None) -> str | None:
        """Records the canonical URL that a page states (None: none); returns the origin of which this one is a mirror,
        once enough pages show it."""
        known = self._origins.get_or(url.origin, _Origin)
        if canonical is not None and canonical.target == url.target and canonical.origin != url.origin:
            known.is_own = known.is_own or known.counterpart not in ("", canonical.origin)
            known.counterpart = canonical.origin
            known.pages += 1
        else:
            known.is_own = True
        return known.counterpart if known.pages >= MIRRORED and not known.is_own else None

    # ---- by the text

    def remember(self, indexed_page: IndexedPage) -> None:
        """Adds a page that is in the index but has not been read in this run."""
        url, digest, text = indexed_page
        if self._texts.get(url.text) or self._bodies.get(url.text):
            return
        if digest is not None and self._digests.get(digest) is None:
            self._digests.put(digest, url)
            self._bodies.put(url.text, digest)
        if text is not None and self._indexed_texts.get((url.origin, text)) is None:
            self._indexed_texts.put((url.origin, text), url)
            self._text_of_url.put(url.text, (url.origin, text))

    def same(self, page: Page, digest: str | None, text: str | None = None, before: Url | None = None) -> Copy | None:
        """Returns the representative of a page that may be indexed; None if the page represents itself from now on.
        `text`: see `IndexedPage`; `before`: the original it was a copy of, if the page has not changed."""
        url = page.url
        self._forget(url)
        if digest is not None:
            known = self._digests.get(digest)
            if known is not None and known != url:
                return Copy(known, f"the same bytes as {known}")
        if text is not None and len(self._indexed_texts):
            known = self._indexed_texts.get((url.origin, text))
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
                return Copy(before, f"unchanged, and a copy of {before}")
            self._texts.put(url.text, _Text(url, heads, mark, keys))
            for key in keys:
                self._places.put(key, url.text)
        if digest is not None:
            self._digests.put(digest, url)
            self._bodies.put(url.text, digest)
        return None

    def _alike(self, keys: tuple[int, ...], heads: int, mark: Fingerprint) -> Copy | None:
        """Finds a page with the same title and text, or with the same title and headings and almost the same text."""
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
        """Forgets the earlier content of a page: it is judged anew, and so are its copies when they are visited."""
        text_key = self._text_of_url.pop(url.text)
        if text_key is not None:
            self._indexed_texts.pop(text_key)
        body = self._bodies.pop(url.text)
        if body is not None and self._digests.get(body) == url:
            self._digests.pop(body)
        before = self._texts.pop(url.text)
        if before is not None:
            for key in before.keys:
                if self._places.get(key) == url.text:
                    self._places.pop(key)


def _is_variant(url: Url, canonical: Url) -> bool:
    """Returns whether the two differ only in scheme, `www.`, a trailing slash or upper case: on many sites one
    redirects to the other, so that no original would be left. Their texts decide."""
    return _folded(url) == _folded(canonical)


def _folded(url: Url) -> str:
    return f"{url.authority.removeprefix('www.')}{url.target}".lower().rstrip("/")
