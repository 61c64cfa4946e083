"""Settles pending requests: they came after the last copy of robots.txt that was known when they were counted.

The result is the same as if all copies had been known then.
"""

from copy import deepcopy
from math import inf

from goodbot.watch.counting.disallowed_addresses import DisallowedAddresses
from goodbot.watch.counting.identities import Identities
from goodbot.watch.counting.obedience_judge import add_time
from goodbot.watch.counting.obedience_terms import ObedienceTerms, Outcome
from goodbot.watch.counting.tally import Tally
from goodbot.watch.obedience.counts import ObedienceCounts, VersionBlock
from goodbot.watch.obedience.rules_in_force import RulesInForce
from goodbot.watch.robot_reading import RobotReading, reading_of


def settle_tally(tally: Tally, rules: RulesInForce, identities: Identities) -> None:
    """Settles what came before the last copy, before more is counted."""
    for totals in tally.robots.values():
        if totals.obedience.is_pending:
            agent = next((agent for agent, _ in totals.agents.top(1)), "")
            robot = identities.robot_of(agent)
            if robot is not None:
                _settle(totals.obedience, _Terms(rules, reading_of(robot)), rules.settled_until)
    _settle_addresses(tally.disallowed, rules, rules.settled_until)


def settled(counts: ObedienceCounts, rules: RulesInForce, reading: RobotReading) -> ObedienceCounts:
    """Returns the counts with everything settled by the rules that are known now; `counts` stay as they are."""
    if not counts.is_pending:
        return counts
    copied = deepcopy(counts)
    _settle(copied, _Terms(rules, reading), inf)
    return copied


def settled_addresses(counts: DisallowedAddresses, rules: RulesInForce) -> DisallowedAddresses:
    """Does the same for clients without a record."""
    if not counts.pending:
        return counts
    copied = deepcopy(counts)
    _settle_addresses(copied, rules, inf)
    return copied


class _Terms:
    """The terms for one robot, by time."""

    def __init__(self, rules: RulesInForce, reading: RobotReading) -> None:
        self._rules = rules
        self._reading = reading
        self._terms: dict[int, ObedienceTerms] = {}

    def at(self, at: int) -> ObedienceTerms:
        choice = self._rules.choice_at(at)
        if choice not in self._terms:
            self._terms[choice] = ObedienceTerms(self._rules, choice, self._reading)
        return self._terms[choice]

    def disallow(self, request: str, first_at: int, last_at: int) -> bool:
        """Whether requests are disallowed, the first and the last one."""
        outcomes = {self.at(at).judge(request).outcome for at in (first_at, last_at)}
        return outcomes == {Outcome.DISALLOWED}


def _settle(counts: ObedienceCounts, terms: _Terms, until: float) -> None:
    for request, pending in list(counts.pending.items()):
        broken = pending.broken
        if broken.last_at <= until:
            del counts.pending[request]
            if terms.disallow(request, broken.first_at, broken.last_at):
                counts.add_disallowed(pending)
            else:
                counts.add_in_grace(pending)
    _settle_times(counts, terms, until)


def _settle_times(counts: ObedienceCounts, terms: _Terms, until: float) -> None:
    times = counts.pending_times
    blocks: dict[float, VersionBlock] = {}
    for second in sorted(second for second in times.seconds if second <= until):
        now = terms.at(second)
        lines = [line for line in times.outside if line.at == second]
        add_time(blocks.setdefault(now.since, VersionBlock()), now, second, times.seconds.pop(second), lines)
    times.outside = [line for line in times.outside if line.at > until]
    for since, block in blocks.items():
        counts.version(since).add(block)


def _settle_addresses(counts: DisallowedAddresses, rules: RulesInForce, until: float) -> None:
    terms: dict[str, _Terms] = {}
    for key, pending in list(counts.pending.items()):
        if pending.last_at <= until:
            del counts.pending[key]
            if pending.name not in terms:
                terms[pending.name] = _Terms(rules, RobotReading((pending.name,)))
            if terms[pending.name].disallow(pending.request, pending.first_at, pending.last_at):
                counts.add_disallowed(pending)
