"""Judges requests of one robot by the robots.txt of each phase, and keeps the answers."""

from typing import Final

from goodbot.exclusion import product_token
from goodbot.exclusion.verdict import RULE_FIELDS
from goodbot.watch.counting.obedience_terms import ObedienceTerms, Outcome
from goodbot.watch.counting.request_cache import MOST_CACHED
from goodbot.watch.obedience.pace import Limit
from goodbot.watch.obedience.rules_in_force import RulesInForce
from goodbot.watch.robot_reading import RobotReading, RulesForRobot
from goodbot.watch.study.plan import StudyPlan

ROBOTS_TXT: Final = -1
"""The answer for a request for robots.txt."""

NOT_JUDGED: Final = -2
"""The answer for a request that is not for a URL of the site."""


class PhaseRules(dict[str, int]):
    """For each request line, the phases that disallow it, as bits; else `ROBOTS_TXT` or `NOT_JUDGED`. Each answer is
    found when it is first needed."""

    def __init__(self, terms: list[ObedienceTerms], rules: list[frozenset[tuple[str, str]]]) -> None:
        super().__init__()
        self._terms = terms
        self._rules = rules

    def __missing__(self, request: str) -> int:
        outcomes = [terms.judge(request).outcome for terms in self._terms]
        for terms in self._terms:
            terms.answers.clear()
        if outcomes[0] is Outcome.ROBOTS_TXT:
            found = ROBOTS_TXT
        elif outcomes[0] is Outcome.NOT_JUDGED:
            found = NOT_JUDGED
        else:
            found = sum(1 << place for place, outcome in enumerate(outcomes) if outcome is Outcome.DISALLOWED)
        self[request] = found
        return found

    def gap(self, phase: int, at: int) -> Limit | None:
        """Returns the time between requests that a phase asks for at a time, Unix seconds; None if none."""
        terms = self._terms[phase]
        if not terms.has_limits:
            return None
        return next((limit for limit in terms.limits(at) if limit.documents == 1), None)

    def closes_more(self, phase: int, control: int) -> bool:
        """Whether a phase has a rule for the robot that may close a URL which is open in the control phase."""
        mine, others = self._rules[phase], self._rules[control]
        if any(field == "disallow" for field, _ in mine - others):
            return True
        return any(field == "allow" for field, _ in others - mine) and any(field == "disallow" for field, _ in mine)


class RulesOfPhases:
    """The rules of all phases, for any robot."""

    def __init__(self, plan: StudyPlan) -> None:
        self._accesses = {"rfc9309": [phase.access() for phase in plan.phases]}
        self._found: dict[RobotReading, PhaseRules] = {}

    def of(self, reading: RobotReading) -> PhaseRules:
        """Returns the rules for a robot."""
        found = self._found.get(reading)
        if found is None:
            found = self._found[reading] = self._make(reading)
        return found

    def trim(self) -> None:
        """Forgets answers if they are many, before the next block."""
        if sum(map(len, self._found.values())) > MOST_CACHED:
            for rules in self._found.values():
                rules.clear()

    def _make(self, reading: RobotReading) -> PhaseRules:
        if reading.dialect not in self._accesses:
            plain = self._accesses["rfc9309"]
            self._accesses[reading.dialect] = [access.in_dialect(reading.dialect) for access in plain]
        accesses = self._accesses[reading.dialect]
        terms = [ObedienceTerms(RulesInForce.always(access), 0, reading) for access in accesses]
        names = [RulesForRobot(access, reading).name for access in accesses]
        rules = []
        for access, name in zip(accesses, names, strict=True):
            matcher = access.rules.matcher(name)
            agents = {product_token(agent).lower() for group in matcher.groups for agent in group.agents}
            is_free = reading.named_only and product_token(name).lower() not in agents
            records = () if is_free else matcher.records()
            rules.append(frozenset((field, value) for _, field, value in records if value and field in RULE_FIELDS))
        return PhaseRules(terms, rules)
