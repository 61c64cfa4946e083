"""Finds the best-ranked path patterns among those that match a target.

No pattern becomes a regular expression. The cost for a target of n octets and patterns of p octets in all: for literal
prefixes one binary search and at most the nested prefixes of one path, O(n + p); for each pattern with `*` one
left-to-right search of its pieces.
"""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Final, NamedTuple

from goodbot.exclusion.text.octets import Compared

PLAIN_CHARACTERS: Final = r"A-Za-z0-9\-._~:/\[\]@!&'()+,;="
"""The characters that stand for themselves in a path in every dialect, written as in a class of a regular
expression."""


class Cut(NamedTuple):
    """A pattern cut at each `*`. A single piece is a prefix or, if `anchored`, the whole target. `anchored`: the match
    must reach the end of the target."""

    pieces: tuple[str, ...]
    anchored: bool

    @classmethod
    def prefix(cls, path: str) -> "Cut":
        """Cuts a pattern that matches what begins with `path`; no character is special."""
        return cls((path,), False)

    @classmethod
    def wildcards(cls, pattern: str) -> "Cut":
        """Cuts a pattern in which `*` matches any run of octets, also none, and `$` at the end matches the end (RFC
        9309 §2.2.3)."""
        if "*" not in pattern and "$" not in pattern:
            return cls((pattern,), False)
        anchored = pattern.endswith("$")
        body = pattern[:-1] if anchored else pattern
        if body.endswith("*"):
            body, anchored = body.rstrip("*"), False
        return cls(tuple(body.split("*")), anchored)

    @classmethod
    def whole(cls, pattern: str) -> "Cut":
        """Cuts a pattern in which `*` matches any run of octets, and which must match the whole target."""
        return cls.wildcards(pattern + "$")

    def matches(self, target: str) -> bool:
        """Whether the pattern matches one form of a target."""
        if len(self.pieces) > 1:
            return Wildcard.of(0, self.pieces, self.anchored).matches(target)
        return target == self.pieces[0] if self.anchored else target.startswith(self.pieces[0])


class Shape(NamedTuple):
    """One pattern, cut, for both forms of a target (see `Compared`).

    If both forms are equal they are one object. The matching rule with the lowest `key` counts, of equal ones the first
    in the file.
    """

    plain: Cut
    encoded: Cut
    key: int

    @classmethod
    def same(cls, cut: Cut, key: int = 0) -> "Shape":
        """Makes a shape that is the same in both forms."""
        return cls(cut, cut, key)

    def matches(self, target: Compared) -> bool:
        """Whether the pattern matches the target in at least one of the two forms."""
        if self.plain.matches(target.plain):
            return True
        one_form = self.plain is self.encoded and target.plain is target.encoded
        return not one_form and self.encoded.matches(target.encoded)


class Wildcard(NamedTuple):
    """A pattern with `*`. `last` is its last piece; `anchored`: the match must reach the end of the target."""

    rank: int
    first: str
    middle: tuple[str, ...]
    last: str
    anchored: bool

    @classmethod
    def of(cls, rank: int, pieces: Sequence[str], anchored: bool) -> "Wildcard":
        """Makes a wildcard from the pieces of a pattern cut at each `*`."""
        first, *middle, last = pieces
        return cls(rank, first, tuple(filter(None, middle)), last, anchored)

    def matches(self, target: str) -> bool:
        """Whether the pattern matches from the first octet on.

        The first occurrence of each piece is used. That is enough: a later one leaves less room for the pieces after
        it. No octet of the target is passed twice, so all searches together cost one walk over the target (`str.find`
        may look at an octet up to 100 times for pieces under 100 octets, and is linear above).
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
    """Finds the best rank (0 is the best) among the patterns that match a target."""

    __slots__ = ("_duplicates", "_none", "_outer", "_own", "_prefixes", "_ranks", "exact", "wildcards")

    def __init__(self, patterns: Sequence[Cut]) -> None:
        """The rank of a pattern is its position in `patterns`."""
        self._none = len(patterns)
        self.exact: dict[str, int] = {}
        self.wildcards: list[Wildcard] = []
        self._duplicates: dict[int, list[int]] = {}
        literal: dict[str, int] = {}
        for rank, (pieces, anchored) in enumerate(patterns):
            if len(pieces) > 1:
                self.wildcards.append(Wildcard.of(rank, pieces, anchored))
                continue
            known = (self.exact if anchored else literal).setdefault(pieces[0], rank)
            if known != rank:
                self._duplicates.setdefault(known, []).append(rank)
        self._nest(literal)

    def _nest(self, literal: dict[str, int]) -> None:
        """Sorts the prefixes. Each gets the position of the longest other prefix that it begins with (-1: none), its
        own rank, and the best rank of itself and those prefixes."""
        self._prefixes = sorted(literal)
        self._own = [literal[prefix] for prefix in self._prefixes]
        self._outer: list[int] = []
        self._ranks: list[int] = []
        enclosing: list[int] = []
        for place, prefix in enumerate(self._prefixes):
            while enclosing and not prefix.startswith(self._prefixes[enclosing[-1]]):
                enclosing.pop()
            outer = enclosing[-1] if enclosing else -1
            self._outer.append(outer)
            self._ranks.append(min(self._own[place], self._ranks[outer]) if outer >= 0 else self._own[place])
            enclosing.append(place)

    def ranked_prefixes(self) -> dict[str, int]:
        """Returns, for each prefix, the best rank of itself and the prefixes that it begins with."""
        return dict(zip(self._prefixes, self._ranks, strict=True))

    def _longest_prefix(self, target: str) -> int:
        """Returns the position of the longest prefix of the target, -1 if there is none."""
        # Among the sorted prefixes, the last one before the target begins with every prefix of the target.
        place = bisect_right(self._prefixes, target) - 1
        while place >= 0 and not target.startswith(self._prefixes[place]):
            place = self._outer[place]
        return place

    def best(self, target: str) -> int:
        """Returns the lowest rank among the patterns that match, or the number of patterns if none does."""
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
        """Returns the ranks of all patterns that match."""
        ranks = {self.exact[target]} if target in self.exact else set()
        place = self._longest_prefix(target)
        while place >= 0:
            ranks.add(self._own[place])
            place = self._outer[place]
        for rank in tuple(ranks):
            ranks.update(self._duplicates.get(rank, ()))
        ranks.update([wildcard.rank for wildcard in self.wildcards if wildcard.matches(target)])
        return ranks


class RuleTable:
    """Does the same for both compared forms (see `Compared`)."""

    __slots__ = ("_encoded", "plain")

    def __init__(self, shapes: Sequence[Shape]) -> None:
        self.plain = PatternTable([shape.plain for shape in shapes])
        same = all(shape.plain is shape.encoded for shape in shapes)
        self._encoded = self.plain if same else PatternTable([shape.encoded for shape in shapes])

    def best(self, target: Compared) -> int:
        """Returns the rank of the rule that counts, or the number of rules if none matches."""
        plain, encoded = target
        best = self.plain.best(plain)
        if self._encoded is self.plain and plain == encoded:
            return best
        return min(best, self._encoded.best(encoded))

    def all(self, target: Compared) -> list[int]:
        """Returns the ranks of all rules that match, the best first."""
        plain, encoded = target
        ranks = self.plain.all(plain)
        if self._encoded is not self.plain or plain != encoded:
            ranks |= self._encoded.all(encoded)
        return sorted(ranks)
