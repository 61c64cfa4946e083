"""Gives the same answers as `RuleTable`, faster, for URLs without percent-encoding: nearly all URLs.

Why the answers are the same: a rule is plain if its characters stand for themselves in every dialect and no piece after
a `*` begins with a hexadecimal digit. A target without `%` and `#` differs from its compared forms only in characters
that became a triplet `%XX`. No piece of a plain rule contains `%`, and none can begin inside a triplet; so a plain rule
that matches a compared form also matches the target as written, and the other way round. A rule that is not plain
begins with some plain characters; `RuleTable` answers for the targets that begin with them too, unless such a target
equals its compared forms.

Cost, for a target of n octets and rules of p octets: the prefix look-ups have different lengths, each the length of a
rule, so O(n + p) together; each wildcard costs one search for its longest piece and, if that is found, one walk of
`Wildcard.matches`.
"""

import re
from collections.abc import Callable, Sequence

from goodbot.exclusion.text.patterns import PLAIN_CHARACTERS, PatternTable, Shape, Wildcard

_HEAD_CHARS = 6
_WILDCARDS_KEPT = 1 << 16
"""How many wildcards the kept heads may list together."""

_ORIGIN = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.\-]*://[^/?#;]*)?/")
_PLAIN = re.compile(f"[{PLAIN_CHARACTERS}?]*")
_PARAMETER = r"[A-Za-z0-9\-._~]*(?:=[A-Za-z0-9\-._~]*)?"
_UNCHANGED = re.compile(rf"[{PLAIN_CHARACTERS}]*(?:\?{_PARAMETER}(?:&{_PARAMETER})*)?")
"""A target that equals its compared forms."""

_HEX = tuple("0123456789ABCDEF")
_ITSELF = "/robots.txt"

RuleAnswer = Callable[[str], bool]


# Plain tuples, because these are unpacked for every answer, and unpacking a named tuple takes 40 ns more.

WildcardTest = tuple[int, str, RuleAnswer]
"""One wildcard: its rank, its longest piece, which the target must contain, and the whole test."""

HeadRules = tuple[bool, int, Sequence[int], Sequence[WildcardTest], Sequence[WildcardTest]]
"""The rules that may match the targets with one head (their first octets).

First whether a rule that is not plain may match. Then the best rank among rules no longer than the head, and the
lengths of the longer prefixes, the longest first. Then the wildcards that may still decide: for targets without a
query, and for all targets.
"""


class RulesByHead:
    """Finds the rules for the first octets of a target, and keeps a bounded number of results in `kept`."""

    def __init__(self, shapes: Sequence[Shape], table: PatternTable) -> None:
        self.kept: dict[str, HeadRules] = {}
        self.prefixes = table.ranked_prefixes()
        self._none = len(shapes)
        self._lengths: dict[str, set[int]] = {}
        for prefix in self.prefixes:
            self._lengths.setdefault(prefix[:_HEAD_CHARS], set()).add(len(prefix))
        self._doubtful = {_beginning(shape)[:_HEAD_CHARS] for shape in shapes if not _is_plain(shape)} | {
            _ITSELF[:_HEAD_CHARS]
        }
        self._wildcards: dict[str, list[WildcardTest]] = {}
        self._unqueried: dict[str, list[WildcardTest]] = {}
        for wildcard in table.wildcards:
            self._add(wildcard)
        self._most = _WILDCARDS_KEPT // (len(table.wildcards) + 1) + 1

    def _add(self, wildcard: Wildcard) -> None:
        piece = max(wildcard.first, *wildcard.middle, wildcard.last, key=len)
        test = wildcard.rank, piece, wildcard.matches
        key = wildcard.first[:_HEAD_CHARS]
        self._wildcards.setdefault(key, []).append(test)
        if not any("?" in piece for piece in (wildcard.first, *wildcard.middle, wildcard.last)):
            self._unqueried.setdefault(key, []).append(test)

    def find(self, head: str) -> HeadRules:
        """Finds the rules for a head, and keeps the result."""
        if len(self.kept) >= self._most:
            self.kept.clear()
        found = self.kept[head] = self._find(head)
        return found

    def _find(self, head: str) -> HeadRules:
        beginnings = [head[:length] for length in range(len(head) + 1)]
        doubtful = any(beginning in self._doubtful for beginning in beginnings)
        best = min(self.prefixes.get(beginning, self._none) for beginning in beginnings)
        lengths = sorted((length for length in self._lengths.get(head, ()) if length > _HEAD_CHARS), reverse=True)
        unqueried, wildcards = (_merged(tests, beginnings, best) for tests in (self._unqueried, self._wildcards))
        return doubtful, best, lengths, unqueried, wildcards


def _merged(tests: dict[str, list[WildcardTest]], beginnings: Sequence[str], best: int) -> Sequence[WildcardTest]:
    """Returns the wildcards with one of these beginnings and a better rank than `best`, the best first."""
    found = [tests[beginning] for beginning in beginnings if beginning in tests]
    if len(found) == 1 and found[0][-1][0] < best:
        return found[0]
    return sorted(test for some in found for test in some if test[0] < best)


def quick_answer(  # noqa: C901
    shapes: Sequence[Shape], table: PatternTable, allow: Sequence[bool], exact_answer: RuleAnswer
) -> RuleAnswer:
    """Returns a function that says whether a URL may be fetched. `allow` has the answer for each rank; `exact_answer`
    decides about the URLs that are not decided here."""
    rules = RulesByHead(shapes, table)
    kept, find, rank_of_prefix = rules.kept.get, rules.find, rules.prefixes.get
    exact, none, unchanged = table.exact, len(shapes), _UNCHANGED.fullmatch
    last_origin = ("/", 0)

    def other_url(url: str) -> bool:
        """Remembers the origin, since the URLs that follow mostly have the same one."""
        nonlocal last_origin
        found = _ORIGIN.match(url)
        if found:
            last_origin = found.group(), found.end() - 1
        return exact_answer(url)

    def answer(url: str) -> bool:
        # One function, with everything prepared beforehand: an answer takes less than a microsecond, and a call of
        # another function would add a tenth to that.
        origin, path_at = last_origin
        if not url.startswith(origin) or "%" in url or "#" in url:
            return other_url(url)
        target = url[path_at:]
        head = target[:_HEAD_CHARS]
        doubtful, best, lengths, unqueried, wildcards = kept(head) or find(head)
        if doubtful and (target == _ITSELF or not unchanged(target)):
            return exact_answer(url)
        for length in lengths:
            longer = rank_of_prefix(target[:length])
            if longer is not None:
                best = longer
                break
        if exact:
            best = min(best, exact.get(target, none))
        for rank, piece, matches in wildcards if "?" in target else unqueried:
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
    """Returns the characters with which every target that the shape matches begins, as written."""
    found = _PLAIN.match(shape.plain.pieces[0])
    return found.group() if found else ""
