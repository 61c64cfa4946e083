"""Path patterns, ranked → a table that gives the best rank among those that match a target.

No pattern becomes a regular expression. What it costs, for a target of n octets against patterns of p octets
in all: literal prefixes one binary search and at most the nested prefixes of one path, O(n + p); a pattern
with `*` one left-to-right search of its pieces.
"""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Final, NamedTuple

from goodbot.exclusion.text.octets import Compared

PLAIN_CHARACTERS: Final = r"A-Za-z0-9\-._~:/\[\]@!&'()+,;="
"""What stands for itself in a path in every dialect: the inside of a class in a regular expression."""


class Cut(NamedTuple):
    """A pattern cut at its stars; `anchored`: nothing may follow. One piece is a prefix, or the whole target."""

    pieces: tuple[str, ...]
    anchored: bool

    @classmethod
    def prefix(cls, path: str) -> "Cut":
        """What begins with `path`, in which no sign is special."""
        return cls((path,), False)

    @classmethod
    def wildcards(cls, pattern: str) -> "Cut":
        """`*` is any run, also none; `$` at the end is the end (RFC 9309 §2.2.3)."""
        if "*" not in pattern and "$" not in pattern:
            return cls((pattern,), False)
        anchored = pattern.endswith("$")
        body = pattern[:-1] if anchored else pattern
        if body.endswith("*"):
            body, anchored = body.rstrip("*"), False
        return cls(tuple(body.split("*")), anchored)

    @classmethod
    def whole(cls, pattern: str) -> "Cut":
        """`*` is any run, and the pattern is one of the whole target."""
        return cls.wildcards(pattern + "$")

    def matches(self, target: str) -> bool:
        """Whether the pattern matches one form of a target."""
        if len(self.pieces) > 1:
            return Wildcard.of(0, self.pieces, self.anchored).matches(target)
        return target == self.pieces[0] if self.anchored else target.startswith(self.pieces[0])


class Shape(NamedTuple):
    """What one pattern is compared as, in both forms of a target (see `Compared`).

    Where both are equal they are one object. `key` is lowest for the rule that counts; of equals it is the first in
    the file.
    """

    plain: Cut
    encoded: Cut
    key: int

    @classmethod
    def same(cls, cut: Cut, key: int = 0) -> "Shape":
        """The same in both forms."""
        return cls(cut, cut, key)

    def matches(self, target: Compared) -> bool:
        """Whether the pattern matches the target in at least one of the two forms."""
        if self.plain.matches(target.plain):
            return True
        one_form = self.plain is self.encoded and target.plain is target.encoded
        return not one_form and self.encoded.matches(target.encoded)


class Wildcard(NamedTuple):
    """A pattern with `*`. `last` is what ends it; `anchored`: nothing may follow."""

    rank: int
    first: str
    middle: tuple[str, ...]
    last: str
    anchored: bool

    @classmethod
    def of(cls, rank: int, pieces: Sequence[str], anchored: bool) -> "Wildcard":
        """From a pattern cut at its stars."""
        first, *middle, last = pieces
        return cls(rank, first, tuple(filter(None, middle)), last, anchored)

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

    __slots__ = ("_none", "_outer", "_own", "_prefixes", "_ranks", "_twins", "exact", "wildcards")

    def __init__(self, patterns: Sequence[Cut]) -> None:
        """The rank of a pattern is its place."""
        self._none = len(patterns)
        self.exact: dict[str, int] = {}
        self.wildcards: list[Wildcard] = []
        self._twins: dict[int, list[int]] = {}
        literal: dict[str, int] = {}
        for rank, (pieces, anchored) in enumerate(patterns):
            if len(pieces) > 1:
                self.wildcards.append(Wildcard.of(rank, pieces, anchored))
                continue
            known = (self.exact if anchored else literal).setdefault(pieces[0], rank)
            if known != rank:
                self._twins.setdefault(known, []).append(rank)
        self._nest(literal)

    def _nest(self, literal: dict[str, int]) -> None:
        """Sorts the prefixes; each gets the place of the longest one it lies in (-1: none), its own rank, and the
        best rank on that way."""
        self._prefixes = sorted(literal)
        self._own = [literal[prefix] for prefix in self._prefixes]
        self._outer: list[int] = []
        self._ranks: list[int] = []
        open_places: list[int] = []
        for place, prefix in enumerate(self._prefixes):
            while open_places and not prefix.startswith(self._prefixes[open_places[-1]]):
                open_places.pop()
            outer = open_places[-1] if open_places else -1
            self._outer.append(outer)
            self._ranks.append(min(self._own[place], self._ranks[outer]) if outer >= 0 else self._own[place])
            open_places.append(place)

    def ranked_prefixes(self) -> dict[str, int]:
        """The best rank of each prefix and those it lies in."""
        return dict(zip(self._prefixes, self._ranks, strict=True))

    def _longest_prefix(self, target: str) -> int:
        """The place of the longest prefix of the target, -1 if there is none."""
        # Every prefix of the target is the sorted neighbour before it, or lies around that neighbour.
        place = bisect_right(self._prefixes, target) - 1
        while place >= 0 and not target.startswith(self._prefixes[place]):
            place = self._outer[place]
        return place

    def best(self, target: str) -> int:
        """The lowest rank of the patterns that match; the number of patterns if none does."""
        best = self.exact.get(target, self._none) if self.exact else self._none
        place = self._longest_prefix(target)
        if place >= 0:
            best = min(best, self._ranks[place])
        for wildcard in self.wildcards:
            if wildcard.rank > best:
                break
            if wildcard.matches(target):
                return wildcard.rank
        return best

    def all(self, target: str) -> set[int]:
        """The ranks of all patterns that match."""
        ranks = {self.exact[target]} if target in self.exact else set()
        place = self._longest_prefix(target)
        while place >= 0:
            ranks.add(self._own[place])
            place = self._outer[place]
        ranks.update(twin for rank in tuple(ranks) for twin in self._twins.get(rank, ()))
        ranks.update(wildcard.rank for wildcard in self.wildcards if wildcard.matches(target))
        return ranks


class RuleTable:
    """The same over both compared forms (see `Compared`)."""

    __slots__ = ("_encoded", "plain")

    def __init__(self, shapes: Sequence[Shape]) -> None:
        self.plain = PatternTable([shape.plain for shape in shapes])
        same = all(shape.plain is shape.encoded for shape in shapes)
        self._encoded = self.plain if same else PatternTable([shape.encoded for shape in shapes])

    def best(self, target: Compared) -> int:
        """The rank of the rule that counts; the number of rules if none matches."""
        plain, encoded = target
        best = self.plain.best(plain)
        if self._encoded is self.plain and plain == encoded:
            return best
        return min(best, self._encoded.best(encoded))

    def all(self, target: Compared) -> list[int]:
        """The ranks of all rules that match, the best first."""
        return sorted(self.plain.all(target.plain) | self._encoded.all(target.encoded))
