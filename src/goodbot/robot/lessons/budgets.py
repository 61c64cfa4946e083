"""Gives each site a budget: pages that lead to new URLs have to say something new. Bounded memory, no I/O.

No list of traps is complete, but every trap needs pages that lead to ever new URLs. Such pages have no new text except
their own URL, or link to no known page. On honest sites, pages that lead to new URLs have text of their own and link to
each other, and most pages lead to known URLs only. `KnownText` finds out what is new in a page.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from goodbot.lru import LruCache, share_of
from goodbot.robot.lessons.known_text import GROUND_BYTES, KnownText, NewText, PageView
from goodbot.url import Url
from goodbot.values import Discovery

UNCOUNTED: Final = 32
"""From this page of an origin on, the words of its pages are remembered. Only pages that lead to new URLs count; most
hosts have fewer of these."""

LEARNING: Final = 16
"""Then this many pages add to the known words before any page costs something."""

_FIRST_LOOKS: Final = 64
LOOK_EVERY: Final = 4
_DOUBT_SHARE: Final = 0.9
"""After `_FIRST_LOOKS` pages only one page in `LOOK_EVERY` is examined and counts for all of them, as long as the site
has more than `_DOUBT_SHARE` of its starting budget."""

MAX_EARNED: Final = 8.0
"""A page earns 1 for each word that occurs for the second time on the site, at most this. Random letters never occur
again, and words drawn from a list are soon all known."""

EMPTY_COSTS: Final = 1.0
"""The cost of a page that says nothing new, plus a quarter of it for each new URL beyond four that it leads to, at most
`MAX_EMPTY_COSTS`: a page of filters leads to dozens of combinations at once."""
_URLS_FREE: Final = 4
MAX_EMPTY_COSTS: Final = 2.0

LOOSE_COSTS: Final = 1.0
"""The cost of a page that leads to two or more new URLs and links to no known one, whatever its text: generated pages
link to nothing else. None of 27 real sites had more than 38 such pages: docs/decisions/0025."""

TEXT_COSTS: Final = 1 / 16
NUMBER_COSTS: Final = 1 / 8
"""The cost of each new URL that a page without new words leads to, at most 1 for a page: `TEXT_COSTS` if it has new
statements or at least three new numbers, else `NUMBER_COSTS`. So a site of 16,000 pages of known words is crawled
completely with a starting budget of 1,000."""
_MIN_NUMBERS: Final = 3

BRANCH_SHARE: Final = 0.5
"""A branch starts with this share of the site's budget, so that a trap in it ends before the whole site does."""

PROBE_SHARE: Final = 0.125
"""A site that is examined again gets this share of its starting budget."""

BRANCHES_FREED: Final = 8
"""The first 8 branches that close are not charged to the site; if more close, the whole site is treated as a trap."""

MAX_SITES: Final = 32 * 1024 * 1024 // GROUND_BYTES
"""Origins remembered: 32 MB."""
MAX_COUNTS: Final = 16_384
"""Origins whose pages are only counted so far, 0.2 kB each."""
_MAX_BRANCHES: Final = 64

_MOMENT: Final = re.compile(r"(?<![0-9])(?:19|20)[0-9]{12}(?![0-9])")
"""A date and time to the second. A page with one in its URL is an archived state of a page (RFC 7089), and archives
have one for every moment requested, so only new words count there."""

_PACES: Final = ((0.125, 8), (0.25, 4), (0.5, 2))
"""With less than this share of its starting budget left, a site is crawled slower by this factor."""


class Spent(NamedTuple):
    """A site or branch that has used up its budget (`left` 0) or half of it, with the evidence."""

    subject: str
    left: float
    evidence: str


class BudgetResult(NamedTuple):
    """The result of judging a page. `doubtful`: it cost 1 or more, so the URLs it leads to can wait."""

    spent: Sequence[Spent] = ()
    doubtful: bool = False


_UNJUDGED: Final = BudgetResult()


@dataclass(slots=True)
class Account:
    """What is left of a budget; the pages judged since it was last full, and how many of them cost something."""

    left: float
    pages: int = 0
    costly_pages: int = 0

    def take(self, price: float, weight: int, start: float) -> None:
        """Charges `price` (a gain if below 0) for a page that led to new URLs and counts for `weight` of them."""
        self.pages += weight
        self.left = min(start, max(0.0, self.left - price * weight))
        if price > 0:
            self.costly_pages += weight
        elif self.left >= start:
            self.costly_pages = 0


@dataclass(slots=True)
class _Site:
    """An origin with at least 32 pages that led to new URLs."""

    account: Account
    known_text: KnownText = field(default_factory=KnownText)
    branches: LruCache[str, Account] = field(default_factory=lambda: LruCache(_MAX_BRANCHES))
    leading_pages: int = 0
    looks: int = 0
    freed: int = 0


class Budgets:
    """The budgets of all origins of a process. `start`: how many pages in a row may lead to new URLs and say nothing
    new before the site is left."""

    def __init__(self, start: int, processes: int = 1) -> None:
        self._start = float(start)
        self._counts: LruCache[str, int] = LruCache(MAX_COUNTS)
        self._sites: LruCache[str, _Site] = LruCache(share_of(MAX_SITES, processes))
        self._resumed: LruCache[str, float] = LruCache(MAX_COUNTS)

    def resume(self, origin: str, share: float) -> None:
        """Sets the budget to this share of its start: the site is examined again, or an operator asked for it."""
        site = self._sites.get(origin)
        if site is not None:
            site.account = Account(self._start * share)
        else:
            self._resumed.put(origin, self._start * share)

    def limit(self, origin: str, share: float) -> None:
        """Sets the budget to at most this share of its start: an earlier run left no more."""
        left = self._resumed.get(origin)
        if self._sites.get(origin) is None and (left is None or left > self._start * share):
            self._resumed.put(origin, self._start * share)

    def pace(self, origin: str) -> int:
        """Returns the factor by which the site is crawled slower."""
        site = self._sites.get(origin)
        if site is None:
            return 1
        share = site.account.left / self._start
        return next((pace for most, pace in _PACES if share < most), 1)

    def visited(self, url: Url, found: Sequence[Discovery], view: Callable[[], PageView]) -> BudgetResult:
        """Judges a page by the links on it that were new to the process; calls `view` only if its text is needed."""
        origin = url.origin
        new = [item.url for item in found if item.refused is None and item.inlinks == 1]
        if not new or any(other.origin != origin and other.site != url.site for other in new):
            return _UNJUDGED  # it leads to no new URL, or to new URLs of another site
        site = self._sites.get(origin) or self._begin(origin)
        if site is None or not (new := site.known_text.new_of(new)):
            return _UNJUDGED
        site.leading_pages += 1
        in_doubt = site.account.left < self._start * _DOUBT_SHARE
        weight = 1 if in_doubt or site.looks < _FIRST_LOOKS else LOOK_EVERY
        if site.leading_pages % weight:
            return _UNJUDGED
        site.looks += 1
        new_text = site.known_text.examine(view(), new)
        if _MOMENT.search(url.text):
            new_text = new_text._replace(statements=0, numbers=0)
        price = price_of(new_text, len(new))
        spent = tuple(self._charge(site, url, price, weight)) if site.looks > LEARNING else ()
        return BudgetResult(spent, price >= LOOSE_COSTS)

    def _begin(self, origin: str) -> _Site | None:
        """Starts the account of a site at its 32nd page that led to new URLs."""
        count = (self._counts.get(origin) or 0) + 1
        left = self._resumed.pop(origin)
        if left is None and count < UNCOUNTED:
            self._counts.put(origin, count)
            return None
        self._counts.pop(origin)
        site = _Site(Account(self._start if left is None else left))
        self._sites.put(origin, site)
        return site

    def _charge(self, site: _Site, url: Url, price: float, weight: int) -> Iterator[Spent]:
        account, start = site.account, self._start
        had_half = self._has_half(site)
        account.take(price, weight, start)
        name = branch_of(url.text)
        if name:
            branch = site.branches.get_or(name, lambda: Account(start * BRANCH_SHARE))
            branch.take(price, weight, start * BRANCH_SHARE)
            if not branch.left:
                yield Spent(name, 0.0, _evidence(f"pages below {name}", branch))
                site.branches.pop(name)
                if site.freed < BRANCHES_FREED:
                    site.freed += 1
                    account.left = min(start, account.left + start * BRANCH_SHARE)
                    return
        if had_half and not self._has_half(site):
            yield Spent("", 0.5, _evidence(f"pages of {url.origin}", account))
        if not account.left:
            yield Spent("", 0.0, _evidence(f"pages of {url.origin}", account))

    def _has_half(self, site: _Site) -> bool:
        """Returns whether a site has more than half of its budget. What one branch has used up counts as left, because
        the site gets it back if that branch closes."""
        left, half = site.account.left, self._start / 2
        if left <= half and site.freed < BRANCHES_FREED:
            left += max((self._start * BRANCH_SHARE - branch.left for branch in site.branches.values()), default=0.0)
        return left > half


def price_of(new_text: NewText, new_urls: int) -> float:
    """Returns the cost of a page that leads to so many new URLs; a negative cost is a gain."""
    if new_urls > 1 and not new_text.woven:
        return LOOSE_COSTS
    if new_text.words:
        return -min(new_text.words, MAX_EARNED)
    if not (new_text.statements or new_text.numbers):
        return min(EMPTY_COSTS * max(1.0, new_urls / _URLS_FREE), MAX_EMPTY_COSTS)
    each = TEXT_COSTS if new_text.statements or new_text.numbers >= _MIN_NUMBERS else NUMBER_COSTS
    return min(each * new_urls, LOOSE_COSTS)


def branch_of(text: str) -> str:
    """Returns the part of the site that a URL lies in: its first folder, with a `?` if the URL has a query. In the root
    folder it is the page itself with a `?`, or "" if the URL has no query."""
    start = text.find("/", 8)
    address, mark, _ = text.partition("?")
    end = address.find("/", start + 1) + 1
    if end:
        return address[:end] + mark
    return address + mark if mark else ""


def _evidence(pages: str, account: Account) -> str:
    return (
        f"a trap: of {account.pages} {pages} that led to new URLs, {account.costly_pages} had too little new text "
        "or linked to no known page"
    )
