"""Remembers the text of one site, to judge whether a page says something new. Bounded memory, no I/O."""

from array import array
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from goodbot.page.page_words import URL_SEPARATORS, lines_of, numbers_in, statements_of, words_of
from goodbot.url import Url

GROUND_BYTES: Final = 272 * 1024
"""Memory for one site."""

_WORDS: Final = 1 << 15
_KNOWN: Final = 0xFFFF
"""Slots for words, two bytes each: a hash of the last word that fell there, or `_KNOWN` once a word has occurred twice.
All later words that fall on a `_KNOWN` slot count as known."""

_LINKS: Final = 1 << 19
"""Slots for URLs, one bit each. After 150,000 URLs a quarter of the bits are set, so a quarter of the new URLs count as
known."""
_STATEMENTS: Final = 1 << 15
"""Slots for statements, four bytes each: a hash of the last one that fell there. One that was overwritten counts as
new when it occurs again. That does not help a trap, which repeats its statements before they are overwritten. With two
bytes one new statement in 65,536 counted as known, enough to lose pages beside a trap in one crawl of about 130."""

_MAX_STATEMENTS: Final = 8
"""A page with this many new statements is new enough; its other lines are not read."""

_MAX_LINKS: Final = 500
"""Links of one page that are examined."""
_MENU: Final = 1 << 13
_MENU_SHARE: Final = 0.25
"""A URL that at least this share of the pages link to is part of the site's menu. Slots for counts, two bytes each."""
_MAX_LOOKS: Final = 1 << 15
"""After so many pages all counts are halved."""


class PageView(NamedTuple):
    """A page: its URL, the URLs of its own origin that it links to, and its HTML."""

    url: Url
    links: Sequence[Url]
    html: str


class NewText(NamedTuple):
    """What is new in a page, compared with the other pages of its site.

    `words`: how many words occur on the site for the second time. `statements` counts sentences, lines and pictures
    with new words; counting stops soon after 8. `numbers` counts those that differ from earlier ones only in their
    numbers; it is 1 if only the sequence of all numbers of the page is new. Text that repeats the page's URL or the
    URLs of its links counts in neither. `woven`: the page links to a known page that is not in the menu."""

    words: int
    statements: int
    numbers: int
    woven: bool


class KnownText:
    """The known text of one site, learned from the pages that lead to new URLs."""

    __slots__ = ("_links", "_looks", "_menu", "_statement_hashes", "_words")

    def __init__(self) -> None:
        self._words = array("H", bytes(2 * _WORDS))
        self._links = bytearray(_LINKS // 8)
        self._statement_hashes = array("I", bytes(4 * _STATEMENTS))
        self._menu = array("H", bytes(2 * _MENU))
        self._looks = 0

    def new_of(self, urls: Iterable[Url]) -> list[Url]:
        """Returns the URLs that were not known before; all are known from now on."""
        return [url for url in urls if _add(self._links, url.text)]

    def examine(self, view: PageView, new: Iterable[Url]) -> NewText:
        """Takes a page that leads to `new` URLs, and returns what is new in it."""
        links = dict.fromkeys(url.text for url in view.links[:_MAX_LINKS])
        address = view.url.text.lower()
        named = {*" ".join(links).lower().translate(URL_SEPARATORS).split(), *numbers_in(address)}
        own = set(address.translate(URL_SEPARATORS).split())
        words = self._new_words(word for word in words_of(view.html) if word not in own)
        statements, numbers = self._new_statements(view.html, address, named)
        others = links.keys() - {view.url.text, *(url.text for url in new)}
        return NewText(words, statements, numbers, self._is_woven(others))

    def _is_woven(self, links: Iterable[str]) -> bool:
        """Returns whether one of the links leads to a known page that is not in the menu. Counts them all."""
        self._looks += 1
        if self._looks == _MAX_LOOKS:
            self._looks //= 2
            self._menu = array("H", (count // 2 for count in self._menu))
        counts, least, woven = self._menu, self._looks * _MENU_SHARE, False
        for text in links:
            place = hash(text) % _MENU
            counts[place] += 1
            woven = woven or (counts[place] < least and _holds(self._links, text))
        return woven

    def _new_words(self, words: Iterable[str]) -> int:
        """Returns how many words occur for the second time; remembers all."""
        known, news = self._words, 0
        for word in words:
            mark = hash(word)
            place, mark = mark % _WORDS, (mark >> 32) % _KNOWN
            if known[place] == mark:
                known[place] = _KNOWN
                news += 1
            elif known[place] != _KNOWN:
                known[place] = mark
        return news

    def _new_statements(self, html: str, address: str, named: set[str]) -> tuple[int, int]:
        """Returns how many statements are new, and how many others have only new numbers. Remembers those it reads."""
        statements = numbers = 0
        for line in lines_of(html):
            if not self._is_new("line", line):
                continue
            for words in statements_of(line, address, named):
                if self._is_new("words", " ".join(words)):
                    plain = " ".join(filter(str.isalpha, words))
                    is_new = plain != "" and self._is_new("plain", plain)
                    statements += is_new
                    numbers += not is_new
            if statements >= _MAX_STATEMENTS:
                break
        if not statements and not numbers:
            numbers = int(self._has_new_numbers(html, address, named))
        return statements, numbers

    def _has_new_numbers(self, html: str, address: str, named: set[str]) -> bool:
        """Returns whether the sequence of numbers is new, compared with the other pages that had only known lines."""
        found = (word for line in lines_of(html) for words in statements_of(line, address, named) for word in words)
        numbers = " ".join(word for word in found if not word.isalpha() and any(map(str.isdecimal, word)))
        return numbers != "" and self._is_new("numbers", numbers)

    def _is_new(self, kind: str, text: str) -> bool:
        """Returns whether a text of this kind has not occurred recently; remembers it."""
        key = hash((kind, text))
        place, mark = key % _STATEMENTS, key >> 32 & 0xFFFFFFFF
        was, self._statement_hashes[place] = self._statement_hashes[place], mark
        return was != mark


def _holds(bits: bytearray, text: str) -> bool:
    place = hash(text) % (len(bits) * 8)
    return bits[place >> 3] & (1 << (place & 7)) != 0


def _add(bits: bytearray, text: str) -> bool:
    """Sets the bit of a text; returns whether it was not set before."""
    place = hash(text) % (len(bits) * 8)
    bit = 1 << (place & 7)
    new = not bits[place >> 3] & bit
    bits[place >> 3] |= bit
    return new
