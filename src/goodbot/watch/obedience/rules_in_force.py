"""Says which robots.txt was in force at which time, from dated copies."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, floor, inf
from typing import Final

from goodbot.exclusion import Access

GRACE_S: Final = 24 * 3600
"""How long a robot may go on with a robots.txt that has changed (RFC 9309 §2.4: 24 hours)."""

MOST_VERSIONS: Final = 1000
"""Versions of one robots.txt that count, the newest ones; before them the rules are not known."""


@dataclass(frozen=True, slots=True)
class RulesVersion:
    """One version of a robots.txt: copies with the same rules, one after the other."""

    since: float
    """When it was first seen, Unix seconds; 0 if it counts for all times."""
    last_at: float
    """When it was last seen; a version that counts for all times: infinity."""
    access: Access


class RulesInForce:
    """The versions of one site's robots.txt, by time.

    A version may have been in force from the last copy of the one before it to the first copy of the one after it,
    since a change is noticed later than it is made.
    """

    def __init__(self, versions: Sequence[RulesVersion]) -> None:
        """`versions` are in the order of time, and differ from one to the next."""
        self.versions: Final = tuple(versions)
        self._starts: list[float] = []
        self._choices: list[tuple[int, ...]] = []
        self._divide()

    @classmethod
    def of_copies(cls, accesses: Iterable[Access]) -> "RulesInForce":
        """Takes dated copies in any order. Copies whose rules are equal are one version; comments do not count. A copy
        of an outage says nothing about the rules, and is left out."""
        versions: list[RulesVersion] = []
        essence: object = None
        for access in sorted(accesses, key=lambda access: access.fetched_at):
            if access.result == "unreachable":
                continue
            seen = _essence(access)
            if versions and seen == essence:
                versions[-1] = RulesVersion(versions[-1].since, access.fetched_at, versions[-1].access)
            else:
                versions.append(RulesVersion(access.fetched_at, access.fetched_at, access))
            essence = seen
        return cls(versions[-MOST_VERSIONS:])

    @classmethod
    def always(cls, access: Access) -> "RulesInForce":
        """One robots.txt for all times."""
        return cls([RulesVersion(0.0, inf, access)])

    @property
    def is_dated(self) -> bool:
        """Whether it consists of dated copies."""
        return not self.versions or self.versions[-1].last_at != inf

    @property
    def settled_until(self) -> float:
        """The time of the last copy, Unix seconds: what the rules say about later requests may still change, if the
        next copy differs. Infinity if one robots.txt counts for all times."""
        return floor(self.versions[-1].last_at) if self.versions and self.is_dated else inf

    def choice_at(self, at: float) -> int:
        """Returns the number of the choice (see `choice`) at a time, Unix seconds. Takes 0.2 µs."""
        return bisect_right(self._starts, at) - 1

    def choice(self, number: int) -> tuple[int, ...]:
        """Returns the places in `versions` of all that may have been in force; the latest one comes first. None if the
        rules are not known."""
        return () if number < 0 else self._choices[number]

    def _divide(self) -> None:
        """Divides time into spans in which the choice is the same. The times of a log are whole seconds, so bounds are
        rounded in favour of the robot."""
        seen = [floor(version.since) for version in self.versions]
        spans = [
            (
                floor(self.versions[place - 1].last_at) if place else seen[0],
                ceil(self.versions[place + 1].since) + GRACE_S if place + 1 < len(self.versions) else inf,
            )
            for place in range(len(self.versions))
        ]
        for bound in sorted({*seen, *(time for span in spans for time in span if time != inf)}):
            last = bisect_right(seen, bound) - 1
            others = [place for place, (start, end) in enumerate(spans) if start <= bound < end and place != last]
            choice = (last, *reversed(others))
            if not self._choices or choice != self._choices[-1]:
                self._starts.append(bound)
                self._choices.append(choice)


def _essence(access: Access) -> object:
    """Returns what two copies have in common if their rules are equal: the records without comments and blank lines."""
    if access.in_force != "rules":
        return access.in_force
    lines = (line.partition(b"#")[0].split() for line in access.body.splitlines())
    return [line for line in lines if line]
