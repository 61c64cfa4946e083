"""Judges the addresses that name no known robot, for the report."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain

from goodbot.watch.addresses import is_local_address
from goodbot.watch.counting.tally import Tally
from goodbot.watch.judging import (
    VERDICTS,
    Client,
    ClientGroup,
    Judgement,
    Verdict,
    clients,
    find_groups,
    is_named_program,
    judge,
    site_asset_share,
    site_referrer_share,
    strength,
)
from goodbot.watch.report.obedience_report import DisallowedOf
from goodbot.watch.report.watch_report import UndeclaredReport
from goodbot.watch.wire_text import readable

Shown = Callable[[str], str]
"""Makes an address as the report shows it."""

ByVerdict = dict[Verdict, int]


@dataclass(frozen=True, slots=True)
class JudgedOthers:
    """The addresses that behaved like robots, the surest first; how many addresses got which verdict, and how many
    requests they sent; how many are proxies, which are not judged and counted as `no evidence`."""

    undeclared: list[UndeclaredReport]
    verdicts: ByVerdict
    requests: ByVerdict
    proxies: int
    disobedient: list[UndeclaredReport]
    """Others with disallowed requests, most of them first: addresses that are possibly robots, or programs by name."""


def local_requests(tally: Tally) -> Counter[str]:
    """Returns the requests of each local address."""
    others = zip(tally.clients.slots, tally.clients.columns["requests"], strict=True)
    of_robots = (pair for totals in tally.robots.values() for pair in totals.addresses.counts.items())
    found: Counter[str] = Counter()
    for address, count in chain(others, of_robots):
        if is_local_address(address):
            found[address] += count
    return found


def judge_others(
    tally: Tally, local: Counter[str], shown: Shown, disallowed_of: DisallowedOf | None = None
) -> JudgedOthers:
    """Judges the addresses, but for proxies: local addresses that used several User-Agents, of robots too.

    A member of a group is listed by itself too if its own verdict is stronger.
    """
    shares = site_asset_share(tally), site_referrer_share(tally)
    every = list(clients(tally.clients))
    of_robots = {address for totals in tally.robots.values() for address in totals.addresses.counts}
    proxies = {one.address for one in every if one.address in local and (one.agents > 1 or one.address in of_robots)}
    judged = [client for client in every if client.address not in proxies]
    groups = find_groups(judged, *shares)
    of_group = {address: group.verdict for group in groups for address in group.members}
    result = JudgedOthers([], dict.fromkeys(VERDICTS, 0), dict.fromkeys(VERDICTS, 0), len(proxies), [])
    alone: set[str] = set()
    for client in every:
        judgement = judge(client, *shares) if client.address not in proxies else _NOT_JUDGED
        known = of_group.get(client.address, "no evidence")
        verdict = min(judgement.verdict, known, key=strength)
        result.verdicts[verdict] += 1
        result.requests[verdict] += client.requests
        if disallowed_of and (verdict == "possible" or (verdict == "no evidence" and is_named_program(client))):
            one = _of_client(client, judgement, shown, disallowed_of)
            if one.disallowed is not None and one.disallowed.requests:
                result.disobedient.append(one)
        if strength(verdict) < strength(known):
            alone.add(client.address)
            result.undeclared.append(_of_client(client, judgement, shown, disallowed_of))
    result.undeclared.extend(
        _of_group(group, len(alone.intersection(group.members)), shown, disallowed_of) for group in groups
    )
    result.disobedient.sort(key=lambda one: (-_disallowed(one), one.address))
    result.undeclared.sort(key=lambda one: (strength(one.verdict), -one.points, -one.requests, one.address))
    return result


def _disallowed(one: UndeclaredReport) -> int:
    return one.disallowed.requests if one.disallowed else 0


_NOT_JUDGED = Judgement(0, "no evidence", ())


def _of_client(
    client: Client, judgement: Judgement, shown: Shown, disallowed_of: DisallowedOf | None
) -> UndeclaredReport:
    return UndeclaredReport(
        shown(client.address),
        (),
        1,
        None,
        0,
        readable(client.agent),
        client.agents,
        client.requests,
        client.bytes,
        client.pages,
        client.robots_txt,
        client.sessions,
        client.first_at,
        client.last_at,
        client.missing,
        judgement.points,
        judgement.verdict,
        judgement.evidence,
        disallowed_of([client.address]) if disallowed_of else None,
    )


def _of_group(
    group: ClientGroup, also_alone: int, shown: Shown, disallowed_of: DisallowedOf | None
) -> UndeclaredReport:
    whole = group.client
    return UndeclaredReport(
        group.network,
        tuple(dict.fromkeys(map(shown, group.members))),
        len(group.members),
        group.together,
        also_alone,
        readable(whole.agent),
        1,
        whole.requests,
        whole.bytes,
        whole.pages,
        whole.robots_txt,
        whole.sessions,
        whole.first_at,
        whole.last_at,
        whole.missing,
        group.judgement.points,
        group.verdict,
        (*group.evidence, *group.judgement.evidence),
        disallowed_of([*group.members]) if disallowed_of else None,
    )
