"""Finds addresses that act as one: one network, one User-Agent, one rhythm."""

import math
import statistics
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from typing import Final

from goodbot.watch.judging.behaviour import Judgement, Verdict, judge
from goodbot.watch.judging.client import Client, joined

LEAST_MEMBERS: Final = 3
LEAST_REQUESTS: Final = 3
"""Requests of a member on average: fewer show no likeness."""

LEAST_PAGES: Final = 20
"""Pages of all members together."""

PREFIX: Final = {4: 24, 6: 48}
"""The size of a network, by IP version."""

Rhythm = tuple[float, float]


@dataclass(frozen=True, slots=True)
class ClientGroup:
    """Addresses that may be one robot. `together` says how sure it is that they belong together, and why; `judgement`
    what they are if they do."""

    network: str
    members: tuple[str, ...]
    """The addresses, the busiest first."""
    client: Client
    """What all of them did."""
    together: Verdict
    evidence: tuple[str, ...]
    judgement: Judgement


def find_groups(every: Iterable[Client], asset_share: float = 1.0) -> list[ClientGroup]:
    """Returns the groups that are judged at least possible, those with most points first. Takes one pass over the
    addresses."""
    by_key: defaultdict[tuple[str, str], list[Client]] = defaultdict(list)
    for client in every:
        network = network_of(client.address)
        if network and client.agent_bits.bit_count() <= 1 and not client.assets:
            by_key[network, client.agent].append(client)
    found = (_group(network, members, asset_share) for (network, _), members in by_key.items())
    return sorted(filter(None, found), key=lambda group: (-group.judgement.points, group.network))


def network_of(address: str) -> str | None:
    """Returns the network of an address (IPv4 /24, IPv6 /48); None for a name."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return None
    return str(ip_network((parsed, PREFIX[parsed.version]), strict=False))


def _group(network: str, members: list[Client], asset_share: float) -> ClientGroup | None:
    if len(members) < LEAST_MEMBERS or sum(client.pages for client in members) < LEAST_PAGES:
        return None
    members.sort(key=lambda client: (-client.requests, client.address))
    whole = joined(members, network)
    judgement = judge(whole, asset_share)
    if judgement.verdict == "no evidence":
        return None
    together, evidence = _together(members, whole)
    return ClientGroup(network, tuple(client.address for client in members), whole, together, evidence, judgement)


def _together(members: list[Client], whole: Client) -> tuple[Verdict, tuple[str, ...]]:
    """Says how sure it is that addresses are one robot."""
    evidence = [f"{len(members)} addresses of one network use one User-Agent, and none loads images, styles or scripts"]
    alike = 0
    requests = [client.requests for client in members]
    if statistics.mean(requests) >= LEAST_REQUESTS and _variation(requests) < 0.5:
        alike += 1
        evidence.append(f"each sent about {whole.requests / len(members):,.0f} requests")
    gaps = [client.mean_gap_s for client in members if client.gaps >= LEAST_REQUESTS]
    if len(gaps) >= LEAST_MEMBERS and _variation(gaps) < 0.5:
        alike += 1
        evidence.append(f"each waited about {statistics.mean(gaps):,.0f} s between requests")
    if whole.pages >= LEAST_REQUESTS * len(members) and whole.different_pages > 0.8 * whole.pages:
        alike += 1
        evidence.append("they shared the pages: hardly any was requested twice")
    if len(members) >= 10 and alike >= 2:
        return "certain", tuple(evidence)
    return ("likely" if alike >= 1 else "possible"), tuple(evidence)


def _variation(values: list[float] | list[int]) -> float:
    mean = statistics.mean(values)
    return statistics.pstdev(values) / mean if mean else math.inf
