"""Finds addresses of one network that use one User-Agent and may be one robot."""

import math
import statistics
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from typing import Final

from goodbot.human import counted
from goodbot.watch.judging.behaviour import Judgement, Verdict, judge, strength
from goodbot.watch.judging.client import Client, joined

LEAST_MEMBERS: Final = 3
LEAST_REQUESTS: Final = 3
"""Requests of a member on average: fewer show no likeness."""

LEAST_PAGES: Final = 20
"""Pages and robots.txt files of all members together."""

PREFIX: Final = {4: 24, 6: 48}
"""The size of a network, by IP version."""

WIDE_PREFIX: Final = {4: 16, 6: 32}
"""The size of the networks in which the rest is looked for."""

WIDE_LEAST_MEMBERS: Final = 5
"""Members of a group of a wide network, at least. They also have to be alike."""

LOADING_SHARE: Final = 0.25
"""If more addresses than this share of the members load assets under the same User-Agent, the User-Agent
belongs to a real browser."""


ALIKE: Final = 0.35
"""Figures of the members are alike if their standard deviation is less than this share of their mean. The pauses of
people who read the same site have a mean of about the same size, so more would show nothing."""


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

    @property
    def verdict(self) -> Verdict:
        """The verdict on the group: never stronger than the evidence that its members are one robot."""
        return max(self.together, self.judgement.verdict, key=strength)


@dataclass(slots=True)
class _Network:
    """The addresses of one network with one User-Agent."""

    members: list[Client] = field(default_factory=list)
    loading: int = 0
    """Addresses that load assets, which are not members."""


def find_groups(every: Iterable[Client], asset_share: float = 1.0, referrer_share: float = 1.0) -> list[ClientGroup]:
    """Returns the groups that are judged at least possible, those with most points first. `asset_share` and
    `referrer_share`: see `judge`.

    Takes one pass over the addresses for networks of the size `PREFIX`, and one for those of the size `WIDE_PREFIX`,
    where addresses that are in a group already are left out.
    """
    clients = [client for client in every if client.agent_bits.bit_count() <= 1]
    groups: list[ClientGroup] = []
    for prefix, least in ((PREFIX, LEAST_MEMBERS), (WIDE_PREFIX, WIDE_LEAST_MEMBERS)):
        grouped = {address for group in groups for address in group.members}
        for network, found in _by_network(clients, prefix, grouped).items():
            if len(found.members) >= least and found.loading <= LOADING_SHARE * len(found.members):
                group = _group(network[0], found.members, asset_share, referrer_share)
                if group and (prefix is PREFIX or group.together != "possible"):
                    groups.append(group)
    return sorted(groups, key=lambda group: (-group.judgement.points, group.network, group.client.agent))


def network_of(address: str, prefix: dict[int, int] = PREFIX) -> str | None:
    """Returns the network of an address (IPv4 /24, IPv6 /48, unless `prefix` says otherwise); None for a name."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return None
    return str(ip_network((parsed, prefix[parsed.version]), strict=False))


def _by_network(
    clients: list[Client], prefix: dict[int, int], grouped: set[str]
) -> defaultdict[tuple[str, str], _Network]:
    found: defaultdict[tuple[str, str], _Network] = defaultdict(_Network)
    for client in clients:
        network = network_of(client.address, prefix)
        if network is None or client.address in grouped:
            continue
        one = found[network, client.agent]
        if client.assets:
            one.loading += 1
        else:
            one.members.append(client)
    return found


def _group(network: str, members: list[Client], asset_share: float, referrer_share: float) -> ClientGroup | None:
    if sum(client.pages + client.robots_txt for client in members) < LEAST_PAGES:
        return None
    members.sort(key=lambda client: (-client.requests, client.address))
    whole = joined(members, network)
    judgement = judge(whole, asset_share, referrer_share)
    if judgement.verdict == "no evidence":
        return None
    together, evidence = _together(members, whole)
    return ClientGroup(network, tuple(client.address for client in members), whole, together, evidence, judgement)


def _together(members: list[Client], whole: Client) -> tuple[Verdict, tuple[str, ...]]:
    """Says how sure it is that addresses are one robot."""
    evidence = [
        f"{len(members)} addresses of one network use one User-Agent, and none loads images, style sheets or scripts"
    ]
    requests = [client.requests for client in members]
    if statistics.mean(requests) >= LEAST_REQUESTS and _variation(requests) < ALIKE:
        evidence.append(f"each sent about {whole.requests / len(members):,.0f} requests")
    gaps = [client.mean_gap_s for client in members if client.gaps >= LEAST_REQUESTS]
    if 2 * len(gaps) >= len(members) and len(gaps) >= LEAST_MEMBERS and _variation(gaps) < ALIKE:
        evidence.append(f"each waited about {statistics.mean(gaps):,.0f} s between requests")
    if whole.pages >= LEAST_REQUESTS * len(members) and whole.different_pages > 0.8 * whole.pages:
        pages = counted(whole.least_pages, "different page")
        evidence.append(f"they divided the pages: {counted(whole.pages, 'request')} for at least {pages}")
    readers = sum(client.robots_txt > 0 for client in members)
    if 2 * readers >= len(members):
        evidence.append(f"{readers} of them requested robots.txt")
    alike = len(evidence) - 1
    if len(members) >= 10 and alike >= 2:
        return "certain", tuple(evidence)
    is_likely = alike >= 2 or (alike == 1 and len(members) >= 5)
    return ("likely" if is_likely else "possible"), tuple(evidence)


def _variation(values: list[float] | list[int]) -> float:
    mean = statistics.mean(values)
    return statistics.pstdev(values) / mean if mean else math.inf
