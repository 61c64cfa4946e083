"""Makes the report of counts."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from goodbot.errors import InputError, quoted
from goodbot.registry import KnownRobot, Registry, Tier
from goodbot.registry.signed_request import KeyDirectory
from goodbot.watch.counting.frequent import FrequentItems
from goodbot.watch.counting.identities import Identities
from goodbot.watch.counting.pending_requests import settled, settled_addresses
from goodbot.watch.counting.request_kinds import target_of
from goodbot.watch.counting.robot_totals import RobotKey, RobotTotals
from goodbot.watch.counting.tally import Tally
from goodbot.watch.obedience.counts import ObedienceCounts
from goodbot.watch.obedience.rules_in_force import RulesInForce
from goodbot.watch.reader.opening import Damage
from goodbot.watch.report.anonymous import shortened, without_addresses
from goodbot.watch.report.obedience_report import RulesReport, disallowed_of, obedience_of
from goodbot.watch.report.other_addresses import JudgedOthers, Shown, judge_others, local_requests
from goodbot.watch.report.signature_report import signature_evidence, signatures_of
from goodbot.watch.report.watch_report import (
    PathReport,
    PooledReport,
    RobotReport,
    WatchReport,
)
from goodbot.watch.robot_reading import reading_of
from goodbot.watch.wire_text import readable

MOST_UNDECLARED: Final = 1000
"""Other addresses that a report lists."""

MOST_LISTED: Final = 20
"""Paths, addresses and User-Agents that a report lists."""


@dataclass(frozen=True, slots=True)
class JudgedBy:
    """The robots.txt by which the requests of a tally were judged, and its description."""

    rules: RulesInForce
    described: RulesReport


_ORDER: Final[tuple[Tier, ...]] = ("verified", "declared", "unknown", "impostor")


def make_report(
    tally: Tally,
    identities: Identities,
    registry: Registry,
    logs: Sequence[str] = (),
    damage: Sequence[Damage] = (),
    *,
    robot: str | None = None,
    anonymise: bool = False,
    judged_by: JudgedBy | None = None,
    directories: Sequence[KeyDirectory] = (),
) -> WatchReport:
    """Makes the report. `identities` and `registry` are those with which the tally was made.

    `robot`: only this known robot, by its name or token; raises InputError if there is no such robot. `anonymise`:
    addresses are shortened (see `shortened`). `directories`: the keys with which
    signatures were verified.
    """
    shown: Shown = shortened if anonymise else readable
    only = robot_name(robot, registry, (key.name for key in tally.robots)) if robot is not None else None
    keys = [key for key in tally.robots if only is None or key.name == only]
    keys.sort(key=lambda key: (_ORDER.index(key.tier), -tally.robots[key].counts.requests, key.name))
    rules = judged_by.rules if judged_by else None
    robots = [_robot(key, tally, identities, shown, anonymise, rules) for key in keys]
    local = local_requests(tally)
    disallowed = None
    if rules is not None:
        counts = settled_addresses(tally.disallowed, rules)
        disallowed = partial(disallowed_of, counts=counts, rules=rules, anonymise=anonymise)
    others = judge_others(tally, local, shown, disallowed) if only is None else JudgedOthers([], {}, {}, 0, [])
    left_out = Counter(one.verdict for one in others.undeclared[MOST_UNDECLARED:])
    answers = Counter(tally.robots_txt)
    if only is not None:
        answers = sum((Counter(one.robots_txt) for one in robots), Counter())
    return WatchReport(
        tuple(logs),
        tuple(damage),
        tally.lines,
        tally.skipped,
        tally.outside,
        dict(sorted(tally.formats.items(), key=lambda pair: -pair[1])),
        tally.counts,
        tally.durations,
        tally.clients.visitors.count(),
        tally.clients.visitors.is_exact,
        sum(local.values()),
        shown(max(local, key=local.__getitem__)) if local else "",
        others.proxies,
        tuple(robots),
        dict(sorted(answers.items())),
        tuple(others.undeclared[:MOST_UNDECLARED]),
        dict(left_out),
        others.verdicts,
        others.requests,
        _pooled(tally),
        _paths(tally.requested),
        signatures_of(tally, keys, directories, with_others=only is None),
        only,
        _named_otherwise(only, tally) if only is not None and not keys else 0,
        judged_by.described if judged_by else None,
        tuple(others.disobedient[:MOST_LISTED]),
        tuple((readable(host), count) for host, count in tally.elsewhere.top(MOST_LISTED)),
        tuple((readable(host), count) for host, count in tally.hosts.top(MOST_LISTED)),
    )


def robot_name(text: str, registry: Registry, counted: Iterable[str] = ()) -> str:
    """Returns the name of the robot that is meant, which was counted or is on record. Raises InputError if there is
    none."""
    wanted = text.strip().lower()
    for name in (*counted, *(known.name for known in registry.robots)):
        if name.lower() == wanted:
            return name
    known = registry.find_token(text) or registry.find(text)
    if known is None:
        similar = registry.similar_tokens(text)
        listed = "goodbot who --list names the robots with a record"
        more = f"did you mean {' or '.join(similar)}?" if similar else listed
        raise InputError(f"--robot: no robot is called {quoted(text)}; {more}")
    return known.name


def _named_otherwise(name: str, tally: Tally) -> int:
    """Counts the requests of other addresses whose first User-Agent contains a name: crawler-user-agents has patterns
    that fit only some forms of a User-Agent."""
    requests = zip(tally.clients.agents, tally.clients.columns["requests"], strict=True)
    return sum(count for agent, count in requests if name.lower() in agent.lower())


# ---- known robots ------------------------------------------------------------------------------------------------


def _robot(
    key: RobotKey, tally: Tally, identities: Identities, shown: Shown, anonymise: bool, rules: RulesInForce | None
) -> RobotReport:
    totals = tally.robots[key]
    rates = totals.rates.closed()
    agent = next((agent for agent, _ in totals.agents.top(1)), "")
    record = identities.robot_of(agent) if agent else None
    counts, durations = totals.counts, totals.durations
    addresses = totals.visitors.count()
    return RobotReport(
        key.name,
        key.tier,
        record,
        counts,
        durations,
        rates,
        dict(sorted(totals.robots_txt.items())),
        counts.requests / max(tally.counts.requests, 1),
        counts.bytes / max(tally.counts.bytes, 1),
        durations.total_s / tally.durations.total_s if tally.durations.total_s else None,
        counts.requests / max(60 * rates.active_minutes, 1),
        addresses,
        totals.visitors.is_exact,
        _addresses(totals, shown),
        tuple((readable(agent), count) for agent, count in totals.agents.top(MOST_LISTED)),
        _paths(totals.lines),
        _evidence(key, record, totals, identities, anonymise),
        totals.timeline,
        totals.signatures,
        obedience_of(_settled(totals, record, rules), record, rules, addresses, anonymise=anonymise) if rules else None,
    )


def _settled(totals: RobotTotals, record: KnownRobot | None, rules: RulesInForce) -> ObedienceCounts:
    return settled(totals.obedience, rules, reading_of(record)) if record else totals.obedience


def _addresses(totals: RobotTotals, shown: Shown) -> tuple[tuple[str, int], ...]:
    """Returns the busiest addresses; those that look alike when shortened are added up."""
    found: Counter[str] = Counter()
    for address, count in totals.addresses.top(len(totals.addresses.counts)):
        found[shown(address)] += count
    return tuple(found.most_common(MOST_LISTED))


def _evidence(
    key: RobotKey, record: KnownRobot | None, totals: RobotTotals, identities: Identities, anonymise: bool
) -> tuple[str, ...]:
    busiest = next((address for address, _ in totals.addresses.top(1)), None)
    if record is None or busiest is None:
        return ()
    identity = identities.identity_of(record, busiest, totals.counts.last_at or 0)
    by_signature = totals.signatures.verified and (key.tier, identity.tier == "verified") == ("verified", False)
    of_address = identity.evidence[:1] if by_signature else identity.evidence
    evidence = (*of_address, *signature_evidence(key, totals.signatures))
    return tuple(map(without_addresses, evidence)) if anonymise else evidence


# ---- the rest --------------------------------------------------------------------------------------------------------


def _pooled(tally: Tally) -> PooledReport:
    table = tally.clients
    exact = table.columns["missing"].count(0)
    return PooledReport(len(table), exact, table.pool.rows, table.pool.sums["requests"], table.pool.sums["bytes"])


def _paths(lines: FrequentItems) -> tuple[PathReport, ...]:
    """Returns the paths that were requested most, whatever the method and protocol."""
    found: Counter[str] = Counter()
    forms: Counter[str] = Counter()
    for line, count in lines.counts.items():
        target = target_of(line)
        found[target] += count
        forms[target] += 1
    top = sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))[:MOST_LISTED]
    return tuple(PathReport(readable(path), count, count + forms[path] * lines.error) for path, count in top)
