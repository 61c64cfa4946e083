"""All test vectors, each input once, and the choice of some of them."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from goodbot.vectors.case import Case, Expectations
from goodbot.vectors.families.groups import group_cases
from goodbot.vectors.families.limits import limit_cases
from goodbot.vectors.families.lines import line_cases
from goodbot.vectors.families.octets import octet_cases
from goodbot.vectors.families.precedence import precedence_cases
from goodbot.vectors.families.wildcards import wildcard_cases
from goodbot.vectors.tables.dialect_points import dialect_cases
from goodbot.vectors.tables.examples import example_cases
from goodbot.vectors.tables.grouping import grouping_cases
from goodbot.vectors.tables.patterns import pattern_cases
from goodbot.vectors.tables.unreadable import unreadable_cases

VERSION: Final = "1.0"
"""Of the set of vectors: the second number grows with each new case, the first if a result changes."""

LICENCE: Final = "CC0-1.0"
"""SPDX identifier: anybody may use the vectors for anything."""

SOURCES: Final[Sequence[Callable[[], Iterable[Case]]]] = (
    example_cases,
    pattern_cases,
    grouping_cases,
    dialect_cases,
    unreadable_cases,
    octet_cases,
    line_cases,
    group_cases,
    wildcard_cases,
    precedence_cases,
    limit_cases,
)


def all_cases() -> list[Case]:
    """Returns all cases, in a fixed order, each input once. If several cases have the same input, the first one gives
    topic and note, and the others add their results."""
    found: dict[tuple[bytes, str, str], Case] = {}
    for each in (case for source in SOURCES for case in source()):
        first = found.setdefault((each.robots, each.agent, each.url), each)
        if first is not each:
            merged = replace(first, expected=_merged(first.expected, each.expected))
            found[each.robots, each.agent, each.url] = merged
    return list(found.values())


def _merged(first: Expectations, others: Expectations) -> Expectations:
    """Adds the results of other dialects. What one source knows to be a `must` is one."""
    new = {
        dialect: result
        for dialect, result in others.items()
        if dialect not in first or (result.kind == "must" and first[dialect].kind != "must")
    }
    return {**first, **new}


def selected(cases: Iterable[Case], dialects: Collection[str] = (), sections: Collection[str] = ()) -> Iterator[Case]:
    """Yields the cases that have a result for these dialects, with these results only; and the same for sections. A
    section is named as in the results or by its beginning, in any case. Without dialects or sections, yields all."""
    begun = tuple(section.casefold() for section in sections)
    for each in cases:
        expected = {
            dialect: result
            for dialect, result in each.expected.items()
            if (not dialects or dialect in dialects) and (not begun or result.section.casefold().startswith(begun))
        }
        if expected:
            yield replace(each, expected=expected)
