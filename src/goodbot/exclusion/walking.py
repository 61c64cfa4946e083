"""The first questions to a file: a walk over the rules, of which only those are read that may match.

To compile the rules costs more than some walks over them. A walk is linear in the rules, and in the target for each of
those that may match it.
"""

import re
import string
from collections.abc import Iterator, Sequence

from goodbot.exclusion.dialect import Dialect
from goodbot.exclusion.octets import Compared
from goodbot.exclusion.patterns import PLAIN_SIGNS, Cut, Shape, Wildcard
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


def walk(groups: Sequence[Group], dialect: Dialect, url: str) -> bool:
    """Whether a robot to which these groups speak may fetch `url`."""
    target = dialect.target(url)
    if dialect.is_itself(target):
        return True
    best: int | None = None
    allowed = True
    for allow, pattern, group in _near(groups, dialect, target):
        for shape in dialect.shapes(pattern, allow, group):
            if (best is None or shape.key < best) and _matches(shape, target):
                best, allowed = shape.key, allow
    return allowed


def _near(groups: Sequence[Group], dialect: Dialect, target: Compared) -> Iterator[tuple[bool, str, Group]]:
    """The rules that may match, as far as that is seen from signs that stand for themselves."""
    # One loop, since it passes all rules: a call for each would take as long as all that is done here.
    fields, paths, match = dialect.rule_fields, dialect.paths, _SEEN.match
    plain, encoded = target
    begins, reach = plain.startswith, plain + _INDEX
    one_path = len(paths("/ /")) == 1  # on a line, or else its beginning says nothing of the others
    far, near = set(_TWO_SIGNS), set[str]()  # beginnings of rules that cannot match, and others: many begin alike
    far.discard(reach[:2])
    for group in groups:
        for _, field, value in group.records:
            if one_path:
                if value[:2] in far or (head := value[:_HEAD]) in far:
                    continue
                if head not in near:
                    if not _begins(head, reach):
                        far.add(head)
                        continue
                    near.add(head)
                seen = match(value)
                if seen and not (begins(seen[1]) and (seen[2] in plain or seen[2] in encoded)) and _INDEX not in value:
                    continue
            if field in fields:
                for pattern in paths(value):
                    yield field == "allow", pattern, group


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
