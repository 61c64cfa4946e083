"""What one address did, in figures that can be judged."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from itertools import compress
from typing import Final

from goodbot.watch.counting.client_table import ClientTable
from goodbot.watch.counting.clients import AGENT_PLACES, PAGE_PLACES
from goodbot.watch.counting.tally import Tally

DAY_S: Final = 86_400

MOST_COUNTED: Final = 100
"""Requests of one address that count when it is found out what is usual on a site."""


@dataclass(frozen=True, slots=True)
class Client:
    """The requests of one address that name no known robot, or of several that act as one."""

    address: str
    agent: str
    """The first User-Agent (wire text)."""
    requests: int
    bytes: int
    pages: int
    assets: int
    robots_txt: int
    probes: int
    invalid: int
    heads: int
    referred: int
    unreferred: int
    unnamed: int
    client_errors: int
    server_errors: int
    gaps: int
    gap_sum_s: int
    gap_squares: int
    sessions: int
    agent_bits: int
    page_bits: int
    hour_bits: int
    first_at: int
    last_at: int
    peak_run: int
    missing: int
    """Requests that may be in the pool, at most."""
    addresses: int = 1

    @property
    def mean_gap_s(self) -> float:
        """Seconds between two requests of a session."""
        return self.gap_sum_s / self.gaps if self.gaps else 0.0

    @property
    def gap_variation(self) -> float:
        """The standard deviation of the gaps divided by their mean; 0 for a clockwork, about 1 for chance."""
        if not self.gap_sum_s or not self.gaps:
            return math.inf
        variance = self.gap_squares / self.gaps - self.mean_gap_s**2
        return math.sqrt(max(variance, 0.0)) / self.mean_gap_s

    @property
    def different_pages(self) -> int:
        """How many different pages, estimated, at most about 260. The standard error is 12 % for 100 pages, more for
        more."""
        return min(self.pages, _estimate(self.page_bits, PAGE_PLACES))

    @property
    def has_many_pages(self) -> bool:
        """Whether there are more different pages than can be estimated."""
        return self.page_bits.bit_count() == PAGE_PLACES

    @property
    def least_pages(self) -> int:
        """How many different pages at least."""
        return self.page_bits.bit_count()

    @property
    def agents(self) -> int:
        """How many different User-Agents, estimated."""
        return min(self.requests, _estimate(self.agent_bits, AGENT_PLACES))

    @property
    def least_agents(self) -> int:
        """How many different User-Agents at least."""
        return self.agent_bits.bit_count()

    @property
    def hours(self) -> int:
        """In how many hours of the day there were requests, 0 to 24."""
        return self.hour_bits.bit_count()

    @property
    def days(self) -> float:
        return (self.last_at - self.first_at) / DAY_S

    @property
    def pages_per_minute(self) -> float:
        """Pages in a minute of a session; 0 without any time between requests."""
        return 60 * self.pages / self.gap_sum_s if self.gap_sum_s > 0 else 0.0


_COLUMNS: Final = tuple(field.name for field in fields(Client) if field.name not in ("address", "agent", "addresses"))


def clients(table: ClientTable) -> Iterator[Client]:
    """Yields the addresses that have a row."""
    columns = [table.columns[name] for name in _COLUMNS]
    for (address, slot), agent in zip(table.slots.items(), table.agents, strict=True):
        yield Client(address, agent, *(column[slot] for column in columns))


def joined(members: Iterable[Client], address: str) -> Client:
    """Adds up clients as if they were one."""
    every = [*members]

    def total(name: str) -> int:
        return sum(getattr(client, name) for client in every)

    def union(name: str) -> int:
        bits = 0
        for client in every:
            bits |= getattr(client, name)
        return bits

    figures = {name: union(name) if name.endswith("_bits") else total(name) for name in _COLUMNS}
    figures["first_at"] = min(client.first_at for client in every)
    figures["last_at"] = max(client.last_at for client in every)
    figures["peak_run"] = max(client.peak_run for client in every)
    return Client(address, every[0].agent, **figures, addresses=len(every))


def site_asset_share(tally: Tally) -> float:
    """Returns which share of the requests for pages and assets is for assets; known robots are left out, and no
    address counts for more than `MOST_COUNTED` requests, so that one robot does not hide what is usual."""
    columns = tally.clients.columns
    return _share(columns["assets"], columns["pages"])


def site_referrer_share(tally: Tally) -> float:
    """Returns with which share of their pages browsers send a Referer: those addresses that load at least as many
    assets as pages. 0 if there are none, since there is nothing to compare with. Addresses count as above."""
    columns = tally.clients.columns
    pages, assets = columns["pages"], columns["assets"]
    is_browser = [0 < page <= asset for page, asset in zip(pages, assets, strict=True)]
    return _share(compress(columns["referred"], is_browser), compress(columns["unreferred"], is_browser))


def _share(counted: Iterable[int], others: Iterable[int]) -> float:
    total = part = 0.0
    for count, other in zip(counted, others, strict=True):
        every = count + other
        weight = min(1.0, MOST_COUNTED / every) if every else 0.0
        total += weight * every
        part += weight * count
    return part / total if total else 0.0


def _estimate(bits: int, places: int) -> int:
    """Estimates how many different things set these bits (linear counting, Whang et al. 1990)."""
    empty = places - bits.bit_count()
    return round(places * math.log(places / max(empty, 1)))
