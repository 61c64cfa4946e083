"""Which verdicts differ between two robots.txt files, and for whom. Pure.

Only rules that one of the files has for a robot and the other has not can change its verdicts. So the URLs to ask about
are made out of these rules, and out of those that match the same URLs; robots with the same groups in both files are
asked about once.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from goodbot.exclusion import Access, Group, RobotsTxt, Verdict
from goodbot.exclusion.text.product_token import first_name
from goodbot.exclusion.verdict import RULE_FIELDS
from goodbot.watch.history.probes import MAX_PATTERN_CHARS, probes
from goodbot.watch.history.timing_changes import TimingChange, timing_changes

ALL: Final = "*"
"""Stands for a robot that no group names."""

MAX_QUESTIONS: Final = 20_000
"""How many pairs of robot and URL are asked about."""

MAX_WORK: Final = 12_000_000
"""How many comparisons of a URL with a wildcard are made, about; and how many rules are read, ten times fewer."""

MAX_EXPLAINED: Final = 1_000_000
"""How many comparisons are made to find the rules that decide about the paths that changed."""

MAX_PATHS: Final = 3
"""How many example paths one change shows."""

MAX_CHANGES: Final = 200
"""How many changes in one direction are listed."""


@dataclass(frozen=True, slots=True)
class VerdictChange:
    """Paths that were opened or closed for some robots by one rule.

    `robots` are product tokens as written in the files; `*` stands for all robots that neither file names. If `*` is
    among them and `excepted` is empty, the change is for every robot; `excepted` are the named robots that it is not
    for. `paths` are examples, the shortest first; `rule` (`"Disallow: /x"`) decides about them. It is at `line` of the
    new file, or, if `is_gone`, it was at `line` of the old one. Without a rule, `reason` says why; if `is_gone`, it
    begins with "before: " and says why the paths were closed.
    """

    robots: tuple[str, ...]
    excepted: tuple[str, ...]
    paths: tuple[str, ...]
    rule: str | None
    line: int | None
    is_gone: bool
    reason: str


@dataclass(frozen=True, slots=True)
class VerdictChanges:
    """What differs between two robots.txt files. `is_bounded`: the files are so large that not every rule was tried."""

    opened: tuple[VerdictChange, ...] = ()
    closed: tuple[VerdictChange, ...] = ()
    timing: tuple[TimingChange, ...] = ()
    is_bounded: bool = False

    def __bool__(self) -> bool:
        return bool(self.opened or self.closed or self.timing)


def verdict_changes(old: Access, new: Access) -> VerdictChanges:
    """Returns the differences as robots see them that follow RFC 9309. Never raises on content; the work is bounded
    (see `MAX_QUESTIONS`)."""
    before, after = _of_rfc9309(old), _of_rfc9309(new)
    if _same_file(before, after):
        return VerdictChanges()
    return _Comparison(before, after).changes()


def _of_rfc9309(access: Access) -> Access:
    return access if access.dialect == "rfc9309" else access.in_dialect("rfc9309")


def _same_file(old: Access, new: Access) -> bool:
    return old.in_force == new.in_force and (old.in_force != "rules" or old.body == new.body)


_Rules = frozenset[tuple[str, str]]
"""The rules of a robot: field and pattern. Neither their order nor their number matters."""


@dataclass(slots=True)
class _Found:
    robots: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)


_Key = tuple[bool, str | None, int | None, bool, str]
"""What one change is about: closed, rule, line, is gone, reason."""


class _Comparison:
    def __init__(self, old: Access, new: Access) -> None:
        self._old, self._new = old, new
        self._sides = _NamedGroups(old.rules), _NamedGroups(new.rules)
        self._found: dict[tuple[_Key, tuple[str, ...]], _Found] = {}
        self._is_bounded = False

    def changes(self) -> VerdictChanges:
        robots = self._robots
        reads, questions = MAX_WORK // 10, MAX_QUESTIONS
        for members in self._classes(robots):
            old, new = (side.groups_of(members[0]) for side in self._sides)
            reads -= sum(len(group.records) for group in (*old, *new))
            if reads < 0 or questions <= 0:
                self._is_bounded = True
                break
            questions -= self._compare(members, _rules_of(old), _rules_of(new), questions)
        timing, is_whole = timing_changes(self._old.rules, self._new.rules, robots, self._unnamed)
        self._is_bounded |= not is_whole
        opened, closed = self._listed(closed=False), self._listed(closed=True)
        return VerdictChanges(opened, closed, timing, self._is_bounded)

    @cached_property
    def _robots(self) -> dict[str, str]:
        """The names of robots in both files, compared → as written, and `*`."""
        old, new = self._sides
        return {ALL: ALL, **old.names, **new.names}

    @cached_property
    def _unnamed(self) -> str:
        """The name of a robot that neither file names."""
        name = "anybot"
        while name in self._robots:
            name += "x"
        return name

    def _classes(self, robots: Iterable[str]) -> Iterator[list[str]]:
        """Yields the robots that have the same groups in both files, those of `*` first."""
        old, new = self._sides
        classes: dict[tuple[tuple[int, ...], tuple[int, ...]], list[str]] = {}
        for name in robots:
            classes.setdefault((old.places_of(name), new.places_of(name)), []).append(name)
        yield from classes.values()

    def _compare(self, members: list[str], old: _Rules, new: _Rules, most: int) -> int:
        """Compares the verdicts of one robot for the others; returns how many questions that took."""
        differing = {pattern for _, pattern in old ^ new}
        if not differing:
            return 0
        others = {pattern for _, pattern in old | new} - differing
        wildcards = sum(pattern.count("*") for pattern in (*differing, *others))
        most = min(most, MAX_WORK // (wildcards + 100))
        paths, is_whole = probes(differing, others, most)
        self._is_bounded |= not is_whole or any(len(pattern) > MAX_PATTERN_CHARS for pattern in differing)
        agent = self._unnamed if members[0] == ALL else members[0]
        questions = [(path, agent) for path in paths]
        before, after = self._old.rules.answers(questions), self._new.rules.answers(questions)
        changed = [(path, new) for path, old, new in zip(paths, before, after, strict=True) if old != new]
        explained = MAX_EXPLAINED // (wildcards + 100) + 1
        self._is_bounded |= len(changed) > explained
        for path, is_allowed in changed[:explained]:
            self._add(members, agent, path, is_allowed=is_allowed)
        return len(questions)

    def _add(self, members: list[str], agent: str, path: str, *, is_allowed: bool) -> None:
        verdict = self._new.verdict(path, agent)
        is_gone = is_allowed and verdict.rule is None
        decides: Verdict = self._old.verdict(path, agent) if is_gone else verdict
        reason = "" if decides.rule else f"before: {decides.reason}" if is_gone else decides.reason
        key = (not is_allowed, decides.rule, decides.line, is_gone, reason)
        found = self._found.setdefault((key, tuple(members)), _Found(members))
        found.paths.append(path)

    def _listed(self, *, closed: bool) -> tuple[VerdictChange, ...]:
        """Joins the changes that have the same rule and paths, for different robots."""
        joined: dict[tuple[_Key, tuple[str, ...]], list[str]] = {}
        for (key, _), found in self._found.items():
            if key[0] == closed:
                paths = tuple(sorted(dict.fromkeys(found.paths), key=lambda path: (len(path), path))[:MAX_PATHS])
                joined.setdefault((key, paths), []).extend(found.robots)
        if len(joined) > MAX_CHANGES:
            self._is_bounded = True
        return tuple(
            VerdictChange(*self._named(robots), paths, rule, line, is_gone, reason)
            for ((_, rule, line, is_gone, reason), paths), robots in list(joined.items())[:MAX_CHANGES]
        )

    def _named(self, robots: list[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        chosen = set(robots)
        excepted = [shown for name, shown in self._robots.items() if name not in chosen] if ALL in chosen else []
        return tuple(self._robots[name] for name in robots), tuple(excepted)


class _NamedGroups:
    """The groups of a file by the names of robots, compared as RFC 9309 says."""

    def __init__(self, rules: RobotsTxt) -> None:
        self._groups = rules.groups
        self.names: dict[str, str] = {}
        self._places: dict[str, dict[int, None]] = {}
        for place, group in enumerate(rules.groups):
            for value in group.agents:
                name = first_name(value)
                if name:
                    self.names.setdefault(name.lower(), name)
                    self._places.setdefault(name.lower(), {})[place] = None

    def places_of(self, name: str) -> tuple[int, ...]:
        return tuple(self._places.get(name) or self._places.get(ALL) or ())

    def groups_of(self, name: str) -> list[Group]:
        return [self._groups[place] for place in self.places_of(name)]


def _rules_of(groups: Iterable[Group]) -> _Rules:
    return frozenset(
        (field, value) for group in groups for _, field, value in group.records if value and field in RULE_FIELDS
    )
