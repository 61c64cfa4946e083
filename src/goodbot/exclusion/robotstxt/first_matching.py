"""The first questions to a file: a walk over the rules, of which only those are read that may match.

To compile the rules costs more than some walks over them. A walk is linear in the rules, and in the target for each of
those whose first characters behind a `*` it holds.
"""

import re
import string
from collections.abc import Callable, Iterable, Iterator, Sequence

from goodbot.exclusion.robotstxt.dialect import Dialect
from goodbot.exclusion.text.octets import Compared
from goodbot.exclusion.text.patterns import PLAIN_SIGNS, Cut, Shape, Wildcard
from goodbot.exclusion.verdict import Group

# Signs that stand for themselves in every dialect: how a pattern begins, and what follows its first `*`, or its first
# `?`, which as the first is in no value.
_BEGINNING = re.compile(f"[{PLAIN_SIGNS}]*")
_SEEN = re.compile(rf"([{PLAIN_SIGNS}]*)\**(\??[A-Za-z0-9/_.-]*)")
_TWO_SIGNS = frozenset("/" + sign for sign in string.ascii_letters + string.digits)

_INDEX = "index.htm"
"""What holds this may match the directory it is in (Google)."""

_HEAD = len(_INDEX)
"""As far as a beginning is looked at alone: it may end in `index.htm`, but holds nothing behind it."""


_LOOK = 64
"""So much of a beginning is compared where there are many targets."""

_TEXTS_MOST = 20_000
"""Characters of all targets in which what follows a `*` is searched."""

_SHORT = 300
_GRAM = 4
"""Of a text longer than `_SHORT`, all substrings of 1 to 4 characters are collected, so that it is not searched once
per rule."""
_PART = 1 << 14
_GRAMS_MOST = 1 << 17
"""About 12 MB."""


def walk(groups: Sequence[Group], dialect: Dialect, url: str) -> bool:
    """Whether a robot to which these groups speak may fetch `url`."""
    target = dialect.target(url)
    if dialect.is_itself(target):
        return True
    best: int | None = None
    allowed = dialect.allows_unmatched(groups)
    seen = set[tuple[bool, str, int]]()  # the same rule again changes nothing
    for allow, pattern, _, group in near_rules(groups, dialect, target):
        rule = allow, pattern, group.line
        if rule in seen:
            continue
        seen.add(rule)
        for shape in dialect.shapes(pattern, allow, group):
            if (best is None or shape.key < best) and _matches(shape, target):
                best, allowed = shape.key, allow
    return allowed


def near_rules(groups: Sequence[Group], dialect: Dialect, target: Compared) -> Iterator[tuple[bool, str, int, Group]]:
    """The rules that may match, as far as that is seen from characters that stand for themselves: whether they allow,
    their patterns, lines and groups."""
    # One loop, since it passes all rules: a call for each would take as long as all that is done here.
    fields, paths, match = dialect.rule_fields, dialect.paths, _SEEN.match
    plain, encoded = target
    begins, reach = plain.startswith, plain + _INDEX
    text = plain if plain == encoded else f"{plain}\n{encoded}"
    may_hold = _may_hold(text, search=True)
    one_path = len(paths("/ /")) == 1  # on a line, or else its beginning says nothing of the others
    far, near = set(_TWO_SIGNS), set[str]()  # beginnings of rules that cannot match, and others: many begin alike
    far.discard(reach[:2])
    for group in groups:
        for line, field, value in group.records:
            if one_path:
                if value[:2] in far or (head := value[:_HEAD]) in far:
                    continue
                if head not in near:
                    if not _begins(head, reach):
                        far.add(head)
                        continue
                    near.add(head)
                seen = match(value)
                if seen and not (begins(seen[1]) and may_hold(seen[2])) and _INDEX not in value:
                    continue
            if field in fields:
                for pattern in paths(value):
                    yield field == "allow", pattern, line, group


def rules_near_any(
    groups: Sequence[Group], dialect: Dialect, targets: Iterable[Compared]
) -> Iterator[tuple[bool, str, int, Group]]:
    """The rules that may match one of several targets, as far as characters that stand for themselves say: see
    `near_rules`. Linear in the rules."""
    fields, paths, match = dialect.rule_fields, dialect.paths, _SEEN.match
    one_path = len(paths("/ /")) == 1
    every = list(targets)
    begun = {target.plain[:length] for target in every for length in range(_LOOK + 1)}
    texts = "\n".join({text for target in every for text in (target.plain, target.encoded)})
    may_hold = _may_hold(texts, search=len(texts) <= _TEXTS_MOST)
    for group in groups:
        for line, field, value in group.records:
            seen = match(value) if one_path and _INDEX not in value else None
            if seen and (seen[1][:_LOOK] not in begun or not may_hold(seen[2])):
                continue
            if field in fields:
                for pattern in paths(value):
                    yield field == "allow", pattern, line, group


def _may_hold(text: str, *, search: bool) -> Callable[[str], bool]:
    """False only if the piece is certainly not in the text; with `search`, exact."""
    if len(text) <= _SHORT:
        return text.__contains__
    grams = {""}
    for begin in range(0, len(text), _PART):
        places = range(begin, min(begin + _PART, len(text)))
        grams.update(text[at : at + length] for at in places for length in range(1, _GRAM + 1))
        if len(grams) > _GRAMS_MOST:
            return text.__contains__ if search else lambda piece: True

    def may_hold(piece: str) -> bool:
        return piece[:_GRAM] in grams and (not search or piece in text)

    return may_hold


def _begins(head: str, reach: str) -> bool:
    begun = _BEGINNING.match(head)
    return begun is None or reach.startswith(begun.group())


def _matches(shape: Shape, target: Compared) -> bool:
    plain, encoded, _ = shape
    if _cut_matches(plain, target.plain):
        return True
    return (plain is not encoded or target.plain is not target.encoded) and _cut_matches(encoded, target.encoded)


def _cut_matches(cut: Cut, target: str) -> bool:
    pieces, anchored = cut
    if len(pieces) > 1:
        return Wildcard.of(0, pieces, anchored).matches(target)
    return target == pieces[0] if anchored else target.startswith(pieces[0])
