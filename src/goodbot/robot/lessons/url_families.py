"""Closes endless families of URLs whose pages say nothing new. Bounded memory, no I/O.

A family is a folder, together with the names of the parameters if there are any, or all that lies below a site's first
folder.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from goodbot.lru import LruCache, share_of
from goodbot.page.fingerprint import Fingerprint

MAX_FAMILIES: Final = 4096
"""Families of all hosts of a crawl; usually 1 kB each, 4 MB. At most 22 kB, with few titles and many texts: 90 MB."""

MAX_PICTURES: Final = 1 << 14
"""Pictures of all families of a crawl, 0.1 kB each, 2 MB."""

WINDOW: Final = 40
MAX_FRESH: Final = 2
"""A family is closed if at most 2 of the last 40 pages examined had something new: 5 %."""

TREE_WINDOW: Final = 120
MAX_TREE_FRESH: Final = 3
"""The same for all that lies below a folder."""

_SHARE: Final = 0.5
_TREE_SHARE: Final = 0.9
"""This share of all pages counted must have said nothing new. So a few empty pages in a row do not close a folder that
has others, let alone a whole site."""

ALIKE: Final = 0.9
_MAX_TITLES: Final = 13
"""The months of a year and one more: the pages of a calendar have the names of the months as titles."""

_MAX_TEXTS: Final = 4
_FIRST_LOOKS: Final = 48
_LOOK_EVERY: Final = 16
_DOUBT: Final = 6
"""Every page is examined in the beginning, and as long as the last six examined said nothing new; then one in
sixteen."""

_NUMBER = re.compile(r"[0-9]++")
_NUMBERED = re.compile(r"[^0-9]{0,12}+(?!(?:19|20)[0-9][0-9](?![0-9]))[0-9]++[^0-9]{0,12}+")
"""Names that are numbered: `tag-17`, `17.html`. They are separate from the other pages of their folder. `may-2026` does
not match, because each month would be a family of its own."""
_NAME_CHARS: Final = 200


def families_of(text: str) -> tuple[str, str]:
    """Returns the family of a URL, and that of all below its first folder ("" if it lies in none)."""
    start = text.find("/", 8)
    address, mark, query = text.partition("?")
    cut = address.rindex("/") + 1
    folder, name = address[:cut], address[cut:]
    if mark:
        names = sorted({part.partition("=")[0][:_NAME_CHARS] for part in query.split("&", 40)[:40]})
        family = f"{folder}{_NUMBER.sub('0', name)}?{'&'.join(names)}"
    elif cut == start + 1 or _NUMBERED.fullmatch(name):  # in the root folder: only what differs in numbers
        family = folder + _NUMBER.sub("0", name)
    else:
        family = folder + "*"
    end = address.find("/", start + 1) + 1
    return family, address[:end] + "**" if end else ""


@dataclass(slots=True)
class UrlFamily:
    """What is known of one family: pages, examined pages, and a bit for each of the last ones that says whether it had
    something new. `known`: texts by the hash of their title, which may itself be as long as a page."""

    window: int
    fresh_most: int
    first: str
    pages: int = 0
    looked: int = 0
    stale: int = 0
    news: int = 0
    known: dict[int, list[Fingerprint]] = field(default_factory=dict)
    same: str = ""

    def needs_look(self) -> bool:
        """Returns whether the page that was just counted should be examined."""
        if self.looked < _FIRST_LOOKS or self.pages % _LOOK_EVERY == 0:
            return True
        return not self.news & ((1 << _DOUBT) - 1)

    def look(self, url: str, title: str, text: Callable[[], Fingerprint], has_more: Callable[[], bool]) -> bool:
        """Takes a page; returns whether it says something new. `has_more`: whether it has something new apart from its
        text: a picture, or links to new URLs outside the family.

        A page whose title was not seen recently is new whatever its text, which is not read. A page without text always
        counts as new.
        """
        mark = hash(title)
        known = self.known.get(mark)
        alike = known is not None and text().words > 0 and any(old.likeness(text()) >= ALIKE for old in known)
        fresh = not alike or has_more()
        if known is None:
            if len(self.known) >= _MAX_TITLES:
                self.known.pop(next(iter(self.known)))
            self.known[mark] = []
        elif not alike:
            self.known[mark] = [*known[-_MAX_TEXTS + 1 :], text()]
        elif not fresh:
            self.same = url
        self.looked += 1
        self.stale += not fresh
        self.news = ((self.news << 1) | fresh) & ((1 << self.window) - 1)
        return fresh

    def says_nothing_new(self) -> bool:
        """Returns whether the family should be closed."""
        if self.looked < self.window or self.news.bit_count() > self.fresh_most:
            return False
        return self.stale >= self.pages * (_TREE_SHARE if self.window == TREE_WINDOW else _SHARE)


class UrlFamilies:
    """What is known of the families of all hosts."""

    def __init__(self, processes: int = 1) -> None:
        self._known: LruCache[str, UrlFamily] = LruCache(share_of(MAX_FAMILIES, processes))
        self._pictures: LruCache[tuple[str, str], bool] = LruCache(share_of(MAX_PICTURES, processes))

    def __len__(self) -> int:
        return len(self._known)

    def shows_new(self, name: str, pictures: Iterable[str]) -> bool:
        """Returns whether one of the pictures was not shown in this family recently; remembers them all."""
        new = [picture for picture in pictures if self._pictures.get((name, picture)) is None]
        for picture in new:
            self._pictures.put((name, picture), True)
        return bool(new)

    def visited(self, text: str) -> Iterator[tuple[str, UrlFamily]]:
        """Counts a page; yields the families it lies in, by name."""
        family, tree = families_of(text)
        for name, window, most in ((family, WINDOW, MAX_FRESH), (tree, TREE_WINDOW, MAX_TREE_FRESH)):
            if name:
                known = self._known.get_or(name, lambda w=window, m=most: UrlFamily(w, m, text))  # type: ignore[misc]
                known.pages += 1
                yield name, known

    def forget(self, name: str) -> None:
        """Forgets a family that was closed, or opened again."""
        self._known.pop(name)


def evidence_of(name: str, family: UrlFamily) -> str:
    """Returns why a family is closed."""
    fresh, window = family.news.bit_count(), family.window
    few = f"only {fresh}" if fresh else "none"
    return (
        f"a trap: {family.pages} pages of {name} were visited, and {few} of the last {window} said anything new "
        f"(for example, {family.same} says the same as other pages)"
    )
