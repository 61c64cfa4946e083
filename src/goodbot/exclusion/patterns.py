"""Path patterns, ranked → a table that gives the best rank among those that match a target.

No pattern becomes a regular expression. What it costs, for a target of n octets against patterns of p octets
in all: literal prefixes one binary search and at most the nested prefixes of one path, O(n + p); a pattern
with `*` one left-to-right search of its pieces.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from goodbot.exclusion.octets import Compared


class Wildcard(NamedTuple):
    """A pattern with `*`, cut at its stars. `last` is what ends it; `anchored`: nothing may follow (`$`)."""

    rank: int
    first: str
    middle: tuple[str, ...]
    last: str
    anchored: bool

    def matches(self, target: str) -> bool:
        """Whether the pattern matches from the first octet on.

        Each piece is taken where it is found first. That is enough: a match with a later place leaves less
        room for the pieces behind it. No octet of the target is passed twice, so no pattern takes more than a
        walk over it for each of its searches (`str.find` may look at an octet up to 100 times for needles
        under 100 octets, and is linear above).
        """
        if not target.startswith(self.first):
            return False
        at = len(self.first)
        for piece in self.middle:
            found = target.find(piece, at)
            if found < 0:
                return False
            at = found + len(piece)
        if self.anchored:
            return len(target) - len(self.last) >= at and target.endswith(self.last)
        return target.find(self.last, at) >= 0


class PatternTable:
    """Patterns with a rank each (0 counts most): gives the best rank among those that match a target."""

    __slots__ = ("_exact", "_none", "_outer", "_prefixes", "_ranks", "_wildcards")

    def __init__(self, patterns: Sequence[str]) -> None:
        """`patterns` are in compared form, the rank of each is its place."""
        self._none = len(patterns)
        self._exact: dict[str, int] = {}
        self._wildcards: list[Wildcard] = []
        literal: dict[str, int] = {}
        for rank, pattern in enumerate(patterns):
            anchored = pattern.endswith("$")
            body = pattern[:-1] if anchored else pattern
            if body.endswith("*"):
                body, anchored = body.rstrip("*"), False
            if "*" in body:
                first, *middle, last = body.split("*")
                self._wildcards.append(Wildcard(rank, first, tuple(filter(None, middle)), last, anchored))
            else:
                (self._exact if anchored else literal).setdefault(body, rank)
        self._nest(literal)

    def _nest(self, literal: dict[str, int]) -> None:
        """Sorts the prefixes; each gets the place of the longest one it lies in (-1: none) and the best rank
        on that way."""
        self._prefixes = sorted(literal)
        self._outer: list[int] = []
        self._ranks: list[int] = []
        open_places: list[int] = []
        for place, prefix in enumerate(self._prefixes):
            while open_places and not prefix.startswith(self._prefixes[open_places[-1]]):
                open_places.pop()
            outer = open_places[-1] if open_places else -1
            self._outer.append(outer)
            self._ranks.append(min(literal[prefix], self._ranks[outer]) if outer >= 0 else literal[prefix])
            open_places.append(place)

    def best(self, target: str) -> int:
        """The lowest rank of the patterns that match; the number of patterns if none does."""
        best = self._exact.get(target, self._none) if self._exact else self._none
        # Every prefix of the target is the sorted neighbour before it, or lies around that neighbour.
        place = bisect_right(self._prefixes, target) - 1
        while place >= 0:
            if target.startswith(self._prefixes[place]):
                best = min(best, self._ranks[place])
                break
            place = self._outer[place]
        for wildcard in self._wildcards:
            if wildcard.rank > best:
                break
            if wildcard.matches(target):
                return wildcard.rank
        return best


class RuleTable:
    """The same over both compared forms (see `Compared`)."""

    __slots__ = ("_encoded", "_plain")

    def __init__(self, patterns: Iterable[Compared]) -> None:
        forms = list(patterns)
        self._plain = PatternTable([form.plain for form in forms])
        same = all(form.plain == form.encoded for form in forms)
        self._encoded = self._plain if same else PatternTable([form.encoded for form in forms])

    def best(self, target: Compared) -> int:
        """The rank of the rule that counts; the number of rules if none matches."""
        plain, encoded = target
        best = self._plain.best(plain)
        if self._encoded is self._plain and plain == encoded:
            return best
        return min(best, self._encoded.best(encoded))
