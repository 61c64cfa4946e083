"""Families of URLs that go on for ever and say nothing new. Bounded memory, no I/O.

A family is a folder, with the names of the parameters where there are any, or all that lies below the first folder.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from goodbot.lru import LruCache, share_of
from goodbot.page.fingerprint import Fingerprint

FAMILIES_MOST: Final = 4096
"""Of all hosts of a crawl; 1 kB each as a rule, 4 MB. At most 22 kB, where titles are few and texts many: 90 MB."""

PICTURES_MOST: Final = 1 << 14
"""Of all families of a crawl, 0.1 kB each, 2 MB."""

WINDOW: Final = 40
FRESH_MOST: Final = 2
"""A family is closed when of its last 40 pages looked at 2 said something new: 5 %."""

TREE_WINDOW: Final = 120
TREE_FRESH_MOST: Final = 3
"""For all below a folder."""

_SHARE: Final = 0.5
_TREE_SHARE: Final = 0.9
"""Of all pages counted so many said nothing new: a few empty pages in a row close no folder that has others, and least
of all a whole site."""

ALIKE: Final = 0.9
_TITLES_MOST: Final = 13
"""A year of months and one: the pages of a calendar have their names as titles."""

_TEXTS_MOST: Final = 4
_FIRST_LOOKS: Final = 48
_LOOK_EVERY: Final = 16
_DOUBT: Final = 6
"""Every page is looked at in the beginning, and as long as the last six looks saw nothing new; then one in sixteen."""

_NUMBER = re.compile(r"[0-9]++")
_NUMBERED = re.compile(r"[^0-9]{0,12}+(?!(?:19|20)[0-9][0-9](?![0-9]))[0-9]++[^0-9]{0,12}+")
"""Names that are numbered: `tag-17`, `17.html`. They are apart from the other pages of their folder. `may-2026` is not:
each month would be a family of its own."""
_NAME_CHARS: Final = 200


def families_of(text: str) -> tuple[str, str]:
    """The family of a URL, and that of all below its first folder ("" for what lies in none)."""
    start = text.find("/", 8)
    address, mark, query = text.partition("?")
    cut = address.rindex("/") + 1
    folder, name = address[:cut], address[cut:]
    if mark:
        names = sorted({part.partition("=")[0][:_NAME_CHARS] for part in query.split("&", 40)[:40]})
        family = f"{folder}{_NUMBER.sub('0', name)}?{'&'.join(names)}"
    elif cut == start + 1 or _NUMBERED.fullmatch(name):  # of the whole site's folder: what differs in numbers only
        family = folder + _NUMBER.sub("0", name)
    else:
        family = folder + "*"
    end = address.find("/", start + 1) + 1
    return family, address[:end] + "**" if end else ""


@dataclass(slots=True)
class UrlFamily:
    """What was seen of one: pages, looks, and for each of the last looks whether it saw something new (a bit). `known`:
    texts by the hash of their title, which may be as long as a page."""

    window: int
    fresh_most: int
    first: str
    pages: int = 0
    looked: int = 0
    stale: int = 0
    news: int = 0
    known: dict[int, list[Fingerprint]] = field(default_factory=dict)
    same: str = ""

    def wants_look(self) -> bool:
        """Whether the page that was just counted is to be looked at."""
        if self.looked < _FIRST_LOOKS or self.pages % _LOOK_EVERY == 0:
            return True
        return not self.news & ((1 << _DOUBT) - 1)

    def look(self, url: str, title: str, text: Callable[[], Fingerprint], has_more: Callable[[], bool]) -> bool:
        """Takes what a page says; whether that is new. `has_more`: it has something new beside its text: a picture, or
        links that lead out of the family, to new URLs.

        A title that was not seen lately is new whatever the text, which is not looked at; and of pages that say nothing
        nothing can be told.
        """
        mark = hash(title)
        known = self.known.get(mark)
        alike = known is not None and text().words > 0 and any(old.likeness(text()) >= ALIKE for old in known)
        fresh = not alike or has_more()
        if known is None:
            if len(self.known) >= _TITLES_MOST:
                self.known.pop(next(iter(self.known)))
            self.known[mark] = []
        elif not alike:
            self.known[mark] = [*known[-_TEXTS_MOST + 1 :], text()]
        elif not fresh:
            self.same = url
        self.looked += 1
        self.stale += not fresh
        self.news = ((self.news << 1) | fresh) & ((1 << self.window) - 1)
        return fresh

    def says_nothing_new(self) -> bool:
        """Whether it is to be closed."""
        if self.looked < self.window or self.news.bit_count() > self.fresh_most:
            return False
        return self.stale >= self.pages * (_TREE_SHARE if self.window == TREE_WINDOW else _SHARE)


class UrlFamilies:
    """What was seen of the families of all hosts."""

    def __init__(self, processes: int = 1) -> None:
        self._known: LruCache[str, UrlFamily] = LruCache(share_of(FAMILIES_MOST, processes))
        self._pictures: LruCache[tuple[str, str], bool] = LruCache(share_of(PICTURES_MOST, processes))

    def shows_new(self, name: str, pictures: Iterable[str]) -> bool:
        """Whether one of the pictures was not shown in this family lately; remembers them all."""
        new = [picture for picture in pictures if self._pictures.get((name, picture)) is None]
        for picture in new:
            self._pictures.put((name, picture), True)
        return bool(new)

    def visited(self, text: str) -> Iterator[tuple[str, UrlFamily]]:
        """Counts a page; the families it lies in, by name."""
        family, tree = families_of(text)
        for name, window, most in ((family, WINDOW, FRESH_MOST), (tree, TREE_WINDOW, TREE_FRESH_MOST)):
            if name:
                known = self._known.get_or(name, lambda w=window, m=most: UrlFamily(w, m, text))  # type: ignore[misc]
                known.pages += 1
                yield name, known

    def forget(self, name: str) -> None:
        """It is closed, or opened again."""
        self._known.pop(name)


def evidence_of(name: str, family: UrlFamily) -> str:
    """Why a family is closed."""
    fresh, window = family.news.bit_count(), family.window
    few = f"only {fresh}" if fresh else "none"
    return (
        f"a trap: {family.pages} pages of {name} were visited, and {few} of the last {window} said anything new "
        f"({family.same} says what others did)"
    )
