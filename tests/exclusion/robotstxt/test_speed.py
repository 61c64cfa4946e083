"""Bounds the cost of matching, counted in octets examined, by a multiple of the octets in pattern and path."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import SupportsIndex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goodbot.exclusion import DIALECTS, RobotsTxt
from goodbot.exclusion.robotstxt.fast_matching import RulesByHead
from goodbot.exclusion.robotstxt.first_matching import RuleScan, rules_near_any
from goodbot.exclusion.text.octets import Compared, compared_target
from goodbot.exclusion.text.patterns import Cut, RuleTable, Shape, Wildcard

FACTOR = 8
"""The bound form looks for `%`, `#`, `?`, robots.txt and the longest piece before it walks: it passes a target seven
times."""

SCAN_FACTOR = 64
"""A scan notes every one to four octets in a row of a long target, and looks each of these notes up."""

START = 200
"""What every question costs in addition: the first six octets are looked up in each length."""

Test = str | tuple[str, ...]


class Counted(str):
    """A target that counts the octets looked at in it. Its parts count for the same sum.

    A search counts what it passes: up to the end of what is found, or all.
    """

    steps: list[int]

    def __new__(cls, text: str, steps: list[int] | None = None) -> "Counted":
        made = super().__new__(cls, text)
        made.steps = [0] if steps is None else steps
        return made

    def _count(self, octets: int) -> None:
        self.steps[0] += octets + 1

    def __getitem__(self, key: SupportsIndex | slice) -> "Counted":
        part = Counted(super().__getitem__(key), self.steps)
        self._count(len(part))
        return part

    def __add__(self, other: str) -> "Counted":
        return Counted(super().__add__(other), self.steps)

    def __hash__(self) -> int:
        self._count(len(self))
        return super().__hash__()

    def __eq__(self, other: object) -> bool:
        self._count(len(self))
        return super().__eq__(other)

    def __lt__(self, other: str) -> bool:
        self._count(min(len(self), len(other)))
        return super().__lt__(other)

    def __contains__(self, piece: object) -> bool:
        assert isinstance(piece, str)
        return self.find(piece) >= 0

    def find(self, piece: str, start: SupportsIndex | None = 0, end: SupportsIndex | None = None) -> int:
        begin = 0 if start is None else int(start)
        found = super().find(piece, begin)
        self._count(found + len(piece) - begin if found >= 0 else max(len(self) - begin, 0))
        return found

    def startswith(self, what: Test, start: SupportsIndex | None = None, end: SupportsIndex | None = None) -> bool:
        self._count(len(what))
        return super().startswith(what)

    def endswith(self, what: Test, start: SupportsIndex | None = None, end: SupportsIndex | None = None) -> bool:
        self._count(len(what))
        return super().endswith(what)


def by_matcher(patterns: Sequence[str], path: Counted, dialect: str) -> bool:
    """Asks a compiled matcher."""
    text = "\n".join(["User-agent: *", *(f"Disallow: {pattern}" for pattern in patterns)])
    return not RobotsTxt.parse(text, dialect).matcher("me").allows(path)


def by_table(patterns: Sequence[str], path: Counted, dialect: str) -> bool:
    """Asks the table that answers for URLs with percent-encoding."""
    shapes = [Shape.same(Cut.wildcards(pattern)) for pattern in patterns]
    return RuleTable(shapes).best(Compared(path, path)) < len(patterns)


def by_scan(patterns: Sequence[str], path: Counted, dialect: str) -> bool:
    """Asks a scan, as the first questions do."""
    text = "\n".join(["User-agent: *", *(f"Disallow: {pattern}" for pattern in patterns)])
    counting = replace(DIALECTS[dialect], target=lambda url: Compared(path, path))
    return not RuleScan(RobotsTxt.parse(text, dialect).groups, counting).allows(path)


Way = Callable[[Sequence[str], Counted, str], bool]
WAYS: list[Way] = [by_matcher, by_table, by_scan]


def most_steps(way: Way, octets: int) -> int:
    """For so many octets of pattern and path."""
    return (SCAN_FACTOR if way is by_scan else FACTOR) * octets + START


def steps_of(way: Way, patterns: Sequence[str], path: str, dialect: str = "rfc9309") -> int:
    counted = Counted(path)
    way(patterns, counted, dialect)
    return counted.steps[0]


HOSTILE = [
    # pattern, path
    ("/*a*a*a*a*a*a*b$", "/" + "a" * 20_000),
    ("/*a*a*a*a*a*a*b", "/" + "a" * 20_000),
    ("/" + "*a" * 1_000 + "*b$", "/" + "a" * 20_000),
    ("/*" + "a" * 90 + "b", "/" + "a" * 20_000),
    ("/*" + "ab" * 1_000 + "c", "/" + "ab" * 10_000),
    ("/" + "*" * 10_000 + "b$", "/" + "a" * 20_000),
    ("/*?*=*&*=*&*=*&x", "/?" + "a=&" * 7_000),
    ("/" + "a" * 10_000, "/" + "a" * 9_999),
    ("/" + "a" * 10_000 + "$", "/" + "a" * 10_001),
]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("pattern", "path"), HOSTILE, ids=range(len(HOSTILE)))
def test_the_cost_of_a_hostile_pattern_is_bounded(pattern: str, path: str, way: Way) -> None:
    assert 0 < steps_of(way, [pattern], path) <= most_steps(way, len(pattern) + len(path))


PATTERNS = st.text(alphabet="ab/*?$", max_size=30).map("/".__add__)
PATHS = st.text(alphabet="ab/?", max_size=60).map("/".__add__)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=25)
@given(pattern=PATTERNS, path=PATHS)
def test_the_cost_of_any_pattern_is_bounded(dialect: str, way: Way, pattern: str, path: str) -> None:
    assert steps_of(way, [pattern], path, dialect) <= most_steps(way, len(pattern) + len(path))


@given(st.lists(PATTERNS, max_size=12), PATHS)
def test_no_rule_takes_more_among_others(patterns: list[str], path: str) -> None:
    """Each wildcard takes its own walks; the prefixes take some walks together."""
    wild = 1 + sum("*" in pattern or "$" in pattern for pattern in patterns)
    octets = sum(map(len, patterns))
    for way in (by_matcher, by_table):
        assert steps_of(way, patterns, path) <= FACTOR * (octets + wild * len(path)) + START


def test_nested_prefixes_take_one_pass_together() -> None:
    patterns = ["/" + "a" * length for length in range(1_000)]
    for path in ("/" + "a" * 2_000, "/aaaaaab", "/" + "a" * 500 + "b"):
        for way in (by_matcher, by_table):
            assert steps_of(way, patterns, path) <= FACTOR * (sum(map(len, patterns)) + len(path))


@pytest.mark.parametrize("way", [by_matcher, by_table])
def test_rules_that_begin_otherwise_cost_nothing(way: Way) -> None:
    few, many = (
        steps_of(way, [f"/x/{number}/" for number in range(count)], "/news/1/a.html") for count in (10, 10_000)
    )
    assert few <= many <= 5 * few


WILDCARDS = [f"/*a{number}" for number in range(3_000)]


def test_a_scan_does_not_pass_a_long_target_once_for_each_wildcard() -> None:
    path = "/" + "a" * 5_000
    assert steps_of(by_scan, WILDCARDS, path) <= most_steps(by_scan, sum(map(len, WILDCARDS)) + len(path))


def test_only_wildcards_that_may_match_one_of_many_long_targets_are_compiled() -> None:
    groups = RobotsTxt.parse("\n".join(["User-agent: *", *(f"Disallow: {pattern}" for pattern in WILDCARDS)])).groups
    targets = [compared_target("/" + "a" * (2_000 + number) + "2999") for number in range(50)]
    near = [pattern for _, pattern, _, _ in rules_near_any(groups, DIALECTS["rfc9309"], targets)]
    assert near == ["/*a2", "/*a29", "/*a299", *WILDCARDS[-10:]]


def test_wildcards_that_cannot_win_are_not_tried() -> None:
    patterns = ["/news/", *(f"/*{number}" for number in range(100))]
    assert steps_of(by_matcher, ["/news/1234567", *patterns], "/news/1234567/a") < 300


@given(PATTERNS, PATHS)
def test_matching_one_wildcard_passes_no_octet_twice(pattern: str, path: str) -> None:
    pieces, anchored = Cut.wildcards(pattern)
    if len(pieces) > 1:
        counted = Counted(path)
        Wildcard.of(0, pieces, anchored).matches(counted)
        assert counted.steps[0] <= len(path) + len(pattern) + len(pieces) + 1


def test_the_kept_heads_are_bounded() -> None:
    shapes = [Shape.same(Cut.wildcards(f"/a{number}*b")) for number in range(1_000)]
    heads = RulesByHead(shapes, RuleTable(shapes).plain)
    for number in range(5_000):
        heads.find(f"/{number:05}"[:6])
    assert len(heads.kept) < 100
