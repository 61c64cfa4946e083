"""What one address did, in figures that can be judged."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from typing import Final

from goodbot.watch.counting.client_table import ClientTable
from goodbot.watch.counting.clients import AGENT_PLACES, PAGE_PLACES
from goodbot.watch.counting.request_kinds import RequestKind
from goodbot.watch.counting.tally import Tally

DAY_S: Final = 86_400


@dataclass(frozen=True, slots=True)
class Client:
    """The requests of one address that named no declared robot, or of several that act as one."""

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

    @property
    def mean_gap_s(self) -> float:
        """Seconds between two requests of a session."""
        return self.gap_sum_s / self.gaps if self.gaps else 0.0

    @property
    def gap_variation(self) -> float:
        """The standard deviation of the gaps divided by their mean; 0 for a clockwork, about 1 for chance."""
        if not self.gap_sum_s:
            return math.inf
        variance = self.gap_squares / self.gaps - self.mean_gap_s**2
        return math.sqrt(max(variance, 0.0)) / self.mean_gap_s

    @property
    def different_pages(self) -> int:
        """How many different pages, estimated; at most about 260, see `has_many_pages`."""
        return min(self.pages, _estimate(self.page_bits, PAGE_PLACES))

    @property
    def has_many_pages(self) -> bool:
        """Whether there are more different pages than can be estimated."""
        return self.page_bits.bit_count() == PAGE_PLACES

    @property
    def agents(self) -> int:
        """How many different User-Agents, estimated."""
        return min(self.requests, _estimate(self.agent_bits, AGENT_PLACES))

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


_COLUMNS: Final = tuple(field.name for field in fields(Client) if field.name not in ("address", "agent"))


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
    return Client(address, every[0].agent, **figures)


def site_asset_share(tally: Tally) -> float:
    """Returns which share of the requests for pages and assets is for assets, declared robots left out."""
    pages, assets = tally.counts.kinds[RequestKind.PAGE], tally.counts.kinds[RequestKind.ASSET]
    for robot in tally.robots.values():
        pages -= robot.counts.kinds[RequestKind.PAGE]
        assets -= robot.counts.kinds[RequestKind.ASSET]
    return assets / (pages + assets) if pages + assets else 0.0


def _estimate(bits: int, places: int) -> int:
    """Estimates how many different things set these bits (linear counting, Whang et al. 1990)."""
    empty = places - bits.bit_count()
    return round(places * math.log(places / max(empty, 1)))
