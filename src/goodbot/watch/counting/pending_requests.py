"""Settles pending requests: they came after the last copy of robots.txt that was known when they were counted.

The result is the same as if all copies had been known then.
"""

from dataclasses import replace

from goodbot.watch.counting.identities import Identities
from goodbot.watch.counting.obedience_terms import ObedienceTerms, Outcome
from goodbot.watch.counting.tally import Tally
from goodbot.watch.obedience.counts import ObedienceCounts
from goodbot.watch.obedience.rules_in_force import RulesInForce
from goodbot.watch.robot_reading import RobotReading, reading_of


def settle_tally(tally: Tally, rules: RulesInForce, identities: Identities) -> None:
    """Settles the pending requests of all robots that came before the last copy, before more are counted."""
    for totals in tally.robots.values():
        if totals.obedience.pending:
            agent = next((agent for agent, _ in totals.agents.top(1)), "")
            robot = identities.robot_of(agent)
            if robot is not None:
                _settle(totals.obedience, rules, reading_of(robot), rules.settled_until)


def settled(counts: ObedienceCounts, rules: RulesInForce, reading: RobotReading) -> ObedienceCounts:
    """Returns the counts with all pending requests settled by the rules that are known now; `counts` stay as they
    are."""
    if not counts.pending:
        return counts
    versions = {
        since: replace(version, rules={line: replace(broken) for line, broken in version.rules.items()})
        for since, version in counts.versions.items()
    }
    pending = {request: replace(one, broken=replace(one.broken)) for request, one in counts.pending.items()}
    copied = replace(counts, versions=versions, pending=pending)
    _settle(copied, rules, reading, None)
    return copied


def _settle(counts: ObedienceCounts, rules: RulesInForce, reading: RobotReading, until: float | None) -> None:
    terms: dict[int, ObedienceTerms] = {}

    def terms_at(at: int) -> ObedienceTerms:
        choice = rules.choice_at(at)
        if choice not in terms:
            terms[choice] = ObedienceTerms(rules, choice, reading)
        return terms[choice]

    for request, pending in list(counts.pending.items()):
        broken = pending.broken
        if until is not None and broken.last_at > until:
            continue
        del counts.pending[request]
        outcomes = {terms_at(at).judge(request).outcome for at in (broken.first_at, broken.last_at)}
        if outcomes == {Outcome.DISALLOWED}:
            counts.add_disallowed(pending)
        else:
            counts.add_in_grace(pending)
