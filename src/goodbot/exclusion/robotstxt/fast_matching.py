"""The same answers as `RuleTable`, sooner, for URLs in which nothing is encoded: nearly all that are asked.

Why they are the same. A rule is plain if its signs stand for themselves in every dialect and no piece behind a `*`
begins with a hexadecimal digit. A target without `%` and `#` differs from its compared forms only in signs that became
a triplet `%XX`. No piece of a plain rule holds `%`, and none can begin inside a triplet, so a plain rule that matches
a compared form matches the target as written, which the other way round is in its own form. A rule that is not plain
begins with some plain signs; targets that begin so too are left to `RuleTable`, but for those that are their own
compared forms.

What it costs, for a target of n octets and rules of p octets: the probes for prefixes have different lengths, each the
length of a rule, so O(n + p) together; each wildcard one search for its longest piece, and if that is found the walk of
`Wildcard.matches`.
"""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from goodbot.exclusion.text.patterns import PLAIN_CHARACTERS, PatternTable, Shape, Wildcard

_HEAD = 6
_PLACES = 1 << 16
"""How many wildcards the heads that are kept may hold together."""

_ORIGIN = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.\-]*://[^/?#;]*)?/")
_PLAIN = re.compile(f"[{PLAIN_CHARACTERS}?]*")
_PARAMETER = r"[A-Za-z0-9\-._~]*(?:=[A-Za-z0-9\-._~]*)?"
_SAME = re.compile(rf"[{PLAIN_CHARACTERS}]*(?:\?{_PARAMETER}(?:&{_PARAMETER})*)?")
"""A target that is its own compared forms."""

_HEX = tuple("0123456789ABCDEF")
_ITSELF = "/robots.txt"

RuleAnswer = Callable[[str], bool]


class Gate(NamedTuple):
    """A wildcard: its rank, its longest piece, which the target must hold, and the whole question."""

    rank: int
    piece: str
    matches: RuleAnswer


class Head(NamedTuple):
    """What the first octets of a target leave to be asked.

    `doubtful`: a rule that is not plain may match. `best` is the rank by the rules no longer than the head, `lengths`
    are those of the longer ones, the longest first; then the wildcards that may yet count, for targets without a query
    and for all.
    """

    doubtful: bool
    best: int
    lengths: Sequence[int]
    unqueried: Sequence[Gate]
    gates: Sequence[Gate]


class Heads:
    """The rules by the first octets of a target. What is found for a head is kept, in bounded number."""

    def __init__(self, shapes: Sequence[Shape], table: PatternTable) -> None:
        self.known: dict[str, Head] = {}
        self.prefixes = table.ranked_prefixes()
        self._none = len(shapes)
        self._lengths: dict[str, set[int]] = {}
        for prefix in self.prefixes:
            self._lengths.setdefault(prefix[:_HEAD], set()).add(len(prefix))
        self._doubtful = {_beginning(shape)[:_HEAD] for shape in shapes if not _is_plain(shape)} | {_ITSELF[:_HEAD]}
        self._gates: dict[str, list[Gate]] = {}
        self._unqueried: dict[str, list[Gate]] = {}
        for wildcard in table.wildcards:
            self._place(wildcard)
        self._most = _PLACES // (len(table.wildcards) + 1) + 1

    def _place(self, wildcard: Wildcard) -> None:
        gate = Gate(wildcard.rank, max(wildcard.first, *wildcard.middle, wildcard.last, key=len), wildcard.matches)
        key = wildcard.first[:_HEAD]
        self._gates.setdefault(key, []).append(gate)
        if not any("?" in piece for piece in (wildcard.first, *wildcard.middle, wildcard.last)):
            self._unqueried.setdefault(key, []).append(gate)

    def enter(self, head: str) -> Head:
        """Finds what is left, and keeps it."""
        if len(self.known) >= self._most:
            self.known.clear()
        found = self.known[head] = self._find(head)
        return found

    def _find(self, head: str) -> Head:
        beginnings = [head[:length] for length in range(len(head) + 1)]
        doubtful = any(beginning in self._doubtful for beginning in beginnings)
        best = min(self.prefixes.get(beginning, self._none) for beginning in beginnings)
        lengths = sorted((length for length in self._lengths.get(head, ()) if length > _HEAD), reverse=True)
        unqueried, gates = (_gathered(gates, beginnings, best) for gates in (self._unqueried, self._gates))
        return Head(doubtful, best, lengths, unqueried, gates)


def _gathered(gates: dict[str, list[Gate]], beginnings: Sequence[str], best: int) -> Sequence[Gate]:
    """Those that begin so and have a better rank, the best first."""
    found = [gates[beginning] for beginning in beginnings if beginning in gates]
    if len(found) == 1 and found[0][-1].rank < best:
        return found[0]
    return sorted(gate for some in found for gate in some if gate.rank < best)


def quick_answer(  # noqa: C901
    shapes: Sequence[Shape], table: PatternTable, allow: Sequence[bool], careful: RuleAnswer
) -> RuleAnswer:
    """Whether a URL may be fetched. `allow` tells it of each rank, `careful` answers what is left out here."""
    heads = Heads(shapes, table)
    known, enter, rank_of_prefix = heads.known.get, heads.enter, heads.prefixes.get
    exact, none, same = table.exact, len(shapes), _SAME.fullmatch
    place = ("/", 0)

    def other_url(url: str) -> bool:
        """Remembers its origin: those that follow have mostly the same."""
        nonlocal place
        found = _ORIGIN.match(url)
        if found:
            place = found.group(), found.end() - 1
        return careful(url)

    def answer(url: str) -> bool:
        # One function, and what can be known before is: an answer takes less than a microsecond, of which a call of
        # another function would be a tenth.
        origin, path_at = place
        if not url.startswith(origin) or "%" in url or "#" in url:
            return other_url(url)
        target = url[path_at:]
        head = target[:_HEAD]
        doubtful, best, lengths, unqueried, gates = known(head) or enter(head)
        if doubtful and (target == _ITSELF or not same(target)):
            return careful(url)
        for length in lengths:
            longer = rank_of_prefix(target[:length])
            if longer is not None:
                best = longer
                break
        if exact:
            best = min(best, exact.get(target, none))
        for rank, piece, matches in gates if "?" in target else unqueried:
            if piece in target:
                if rank > best:
                    break
                if matches(target):
                    best = rank
                    break
        return allow[best]

    return answer


def _is_plain(shape: Shape) -> bool:
    first, *others = shape.plain.pieces
    if shape.plain != shape.encoded or not _PLAIN.fullmatch(first):
        return False
    return all(_PLAIN.fullmatch(piece) and not piece.startswith(_HEX) for piece in others)


def _beginning(shape: Shape) -> str:
    """The signs that each target it matches begins with, as written."""
    found = _PLAIN.match(shape.plain.pieces[0])
    return found.group() if found else ""
