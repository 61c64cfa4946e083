"""Judges the requests of a block by the robots.txt that was in force: the same for both counters."""

import re
from collections.abc import Container, Iterable, Sequence
from functools import cached_property, partial
from math import inf
from typing import Final

from goodbot.exclusion import Verdict
from goodbot.registry import KnownRobot
from goodbot.watch.counting.counting_options import CountingOptions
from goodbot.watch.counting.disallowed_addresses import AddressBlock, AddressEvidence
from goodbot.watch.counting.obedience_terms import Judgement, ObedienceTerms, Outcome
from goodbot.watch.counting.request_cache import MOST_CACHED
from goodbot.watch.obedience.counts import (
    LINE_CHARS,
    MOST_LINES,
    BrokenRule,
    LoggedLine,
    ObedienceBlock,
    PendingRequests,
    PendingTimes,
    VersionBlock,
    VisitTimes,
)
from goodbot.watch.obedience.nofollow_pages import NofollowPages
from goodbot.watch.obedience.rules_in_force import RulesInForce
from goodbot.watch.robot_reading import RobotReading, named_agents, reading_of, reading_of_agent
from goodbot.watch.wire_text import readable

RobotRow = tuple[int, str, int, int]
"""A request of a robot: time, request line, size, and the place of its line in the block."""

OtherRow = tuple[int, str, int, str, str | None]
"""A request of a client without a record: time, request line, place of its line, address, User-Agent."""

MOST_TERMS: Final = 500
"""Robots whose terms are kept from one block to the next."""

_WORD_ENDS: Final = re.compile(r'["\s]')
"""What surrounds a Referer in a line of any format."""


class BlockLines:
    """The lines of a block, cut when one is needed."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def __getitem__(self, place: int) -> str:
        return self._lines[place][:LINE_CHARS].rstrip(b"\r").decode("latin-1")

    @cached_property
    def _lines(self) -> list[bytes]:
        return self._data.split(b"\n")


class ObedienceJudge:
    """Judges requests. The answer for a request line and a robot is computed once."""

    def __init__(
        self,
        rules: RulesInForce,
        nofollow: NofollowPages | None = None,
        site: str | None = None,
        *,
        is_counted_on: bool = False,
    ) -> None:
        """`is_counted_on`: more will be counted later, when more copies of robots.txt may be known."""
        self._rules = rules
        self._site = site
        self._settled_until = rules.settled_until if is_counted_on else inf
        self._nofollow = nofollow
        self._nofollow_urls = nofollow.urls if nofollow is not None else frozenset[str]()
        self._terms: dict[tuple[int, RobotReading], ObedienceTerms] = {}
        self._readings: dict[str | None, RobotReading] = {}
        self._named = frozenset[str]().union(*(named_agents(version.access) for version in rules.versions))

    @classmethod
    def of(cls, options: CountingOptions) -> "ObedienceJudge | None":
        """Returns the judge for these options; None without a robots.txt."""
        if options.rules is None:
            return None
        return cls(options.rules, options.nofollow, options.host, is_counted_on=options.is_counted_on)

    def trim(self) -> None:
        """Forgets answers if there are many, before the next block."""
        answers = sum(len(terms.answers) for terms in self._terms.values())
        if len(self._terms) > MOST_TERMS or answers > MOST_CACHED:
            self._terms.clear()
        if len(self._readings) > MOST_CACHED:
            self._readings.clear()

    def judge_robot(
        self, robot: KnownRobot, rows: Iterable[RobotRow], lines: BlockLines, elsewhere: Container[int] = ()
    ) -> ObedienceBlock:
        """Judges the requests of a known robot, which come in the order of the log. `elsewhere`: the places of lines
        with requests to other hosts."""
        reading, block = reading_of(robot), ObedienceBlock()
        for row in rows:
            if elsewhere and row[3] in elsewhere:
                block.not_judged += 1
            else:
                self._judge(block, reading, row, lines)
        return block

    def _judge(self, block: ObedienceBlock, reading: RobotReading, row: RobotRow, lines: BlockLines) -> None:
        at, request, _, place = row
        terms = self._terms_of(self._rules.choice_at(at), reading)
        judgement = terms.answers.get(request) or terms.judge(request)
        if judgement.outcome is Outcome.ROBOTS_TXT:
            if block.robots_txt_at is None:
                block.robots_txt_at = at
            return
        block.before += block.robots_txt_at is None
        if self._nofollow_urls:
            self._add_followed(block, terms.name, at, request, lines[place])
        if not terms.is_known:
            block.not_known += 1
        elif judgement.outcome is Outcome.NOT_JUDGED:
            block.not_judged += 1
        else:
            version = block.versions.get(terms.since)
            if version is None:
                version = block.versions[terms.since] = VersionBlock()
            version.requests += 1
            self._add_verdict(block, version, terms, judgement, row, lines)
            if terms.has_limits or terms.has_hours:
                line = lines[place] if terms.is_outside(at) else None
                if at > self._settled_until:
                    _add_pending_time(block.pending_times, at, line)
                else:
                    add_time(version, terms, at, 1, [LoggedLine(at, line)] if line is not None else [])

    def _add_verdict(
        self,
        block: ObedienceBlock,
        version: VersionBlock,
        terms: ObedienceTerms,
        judgement: Judgement,
        row: RobotRow,
        lines: BlockLines,
    ) -> None:
        verdict = judgement.verdict
        at, request, size, place = row
        if verdict is None or judgement.outcome is not Outcome.DISALLOWED:
            version.in_grace += judgement.outcome is Outcome.IN_GRACE
            return
        line = verdict.line or 0
        if at > self._settled_until:
            pending = block.pending.get(request)
            if pending is None:
                pending = block.pending[request] = PendingRequests(terms.since, line, _broken(verdict, at))
            broken = pending.broken
        else:
            version.disallowed += 1
            version.bytes += size
            found = version.rules.get(line)
            if found is None:
                found = version.rules[line] = _broken(verdict, at)
            broken = found
        broken.requests += 1
        broken.bytes += size
        broken.first_at, broken.last_at = min(broken.first_at, at), max(broken.last_at, at)
        if len(broken.lines) < MOST_LINES:
            broken.lines.append(LoggedLine(at, lines[place]))

    def _add_followed(self, block: ObedienceBlock, robot: str, at: int, request: str, line: str) -> None:
        pages = self._nofollow_urls.intersection(_WORD_ENDS.split(line)).difference(_WORD_ENDS.split(request))
        if self._nofollow is not None and any(self._nofollow.forbids(page, robot, at) for page in pages):
            block.followed.requests += 1
            if len(block.followed.lines) < MOST_LINES:
                block.followed.lines.append(line)

    def judge_others(self, rows: Iterable[OtherRow], lines: BlockLines, elsewhere: Container[int] = ()) -> AddressBlock:
        """Judges the requests of clients without a record, by the names in their User-Agents. `elsewhere`: as for
        robots."""
        block, choice_at, readings = AddressBlock(), self._rules.choice_at, self._readings
        for at, request, place, address, agent in rows:
            if elsewhere and place in elsewhere:
                continue
            reading = readings.get(agent) or self._reading_of(agent)
            terms = self._terms_of(choice_at(at), reading)
            judgement = terms.answers.get(request) or terms.judge(request)
            if judgement.outcome is Outcome.DISALLOWED:
                evidence = partial(_evidence, judgement, terms.since, at, lines, place)
                if at > self._settled_until:
                    block.add_pending(address, terms.name, request, at, evidence)
                else:
                    block.add(address, evidence)
        block.reduce()
        return block

    def _reading_of(self, agent: str | None) -> RobotReading:
        reading = self._readings[agent] = reading_of_agent(readable(agent or ""), self._named)
        return reading

    def _terms_of(self, choice: int, reading: RobotReading) -> ObedienceTerms:
        terms = self._terms.get((choice, reading))
        if terms is None:
            terms = self._terms[choice, reading] = ObedienceTerms(self._rules, choice, reading, self._site)
        return terms


def _broken(verdict: Verdict, at: int) -> BrokenRule:
    return BrokenRule(verdict.rule or verdict.reason, verdict.group_agents, 0, 0, at, at, [])


def add_time(version: VersionBlock, terms: ObedienceTerms, at: int, count: int, lines: Sequence[LoggedLine]) -> None:
    """Counts requests of one second by the limits and the Visit-time of their version. `lines`: of those outside."""
    for limit in terms.limits(at):
        seconds = version.seconds.setdefault(limit, {})
        seconds[at] = seconds.get(at, 0) + count
    if terms.has_hours:
        is_outside = terms.is_outside(at)
        version.visits.merge(VisitTimes(count, count * is_outside, [*lines] if is_outside else []))


def _add_pending_time(times: PendingTimes, at: int, outside: str | None) -> None:
    times.seconds[at] = times.seconds.get(at, 0) + 1
    if outside is not None and len(times.outside) < MOST_LINES:
        times.outside.append(LoggedLine(at, outside))


def _evidence(judgement: Judgement, since: float, at: int, lines: BlockLines, place: int) -> AddressEvidence:
    verdict = judgement.verdict
    assert verdict is not None  # noqa: S101  (a disallowed request has one)
    return AddressEvidence(at, lines[place], verdict.rule or verdict.reason, verdict.line or 0, since)
